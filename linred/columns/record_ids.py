"""Columns of record ids, which name a record in place of its number."""

import numpy as np

from linred.columns.adapters.base import CompositeColumn
from linred.columns.adapters.kinds import adapter_of


def plain_ids(ids, n_records):
    """(an array or a list of integers, or a list of text; whether it is text) of a column; missing ids are an error."""
    adapter, array = _read(ids)
    if array is not None and array.dtype.kind in "iu":
        values, are_text = array.astype(array.dtype.newbyteorder("="), copy=False), False
    else:
        values = adapter.values()
        are_text = bool(values) and isinstance(values[0], str | bytes)
        _check_ids(values, are_text)
    if len(values) != n_records:
        raise ValueError(f"ids has {len(values)} records and x {n_records}")
    return values, are_text


def _read(ids):
    """(`ColumnAdapter`, NumPy form or None) of ids that are one column of some length."""
    try:
        adapter = adapter_of("ids", ids)
        array, _ = adapter.array(), len(adapter)
        if not isinstance(adapter, CompositeColumn) and (array is None or array.ndim == 1):
            return adapter, array
    except (ValueError, TypeError):
        pass
    raise ValueError(f"ids is a {type(ids).__name__}, not a column of integers or of text")


def _check_ids(values, are_text):
    kind = (str, bytes) if are_text else (int, np.integer)
    for record, one in enumerate(values):
        if isinstance(one, bool) or not isinstance(one, kind):
            raise ValueError(f"ids[{record}] = {one!r} is not {'text' if are_text else 'an integer'}")
        if not are_text and not -(2**127) <= one < 2**127:
            raise ValueError(f"ids[{record}] = {one!r} has more than 128 bits")

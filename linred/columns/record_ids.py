"""Columns of record ids, which name a record in place of its number."""

import numpy as np

from linred.columns.adapters.derived import CompositeColumn
from linred.columns.adapters.kinds import adapter_of


def plain_ids(ids, n_records):
    """(an array or a list of integers, or a list of text; whether it is text) of a column; missing ids are an error."""
    try:
        adapter = adapter_of("ids", ids)
        array, n_ids = adapter.array(), len(ids)
        if isinstance(adapter, CompositeColumn) or (array is not None and array.ndim != 1):
            raise TypeError
    except (ValueError, TypeError):
        raise ValueError(f"ids is a {type(ids).__name__}, not a column of integers or of text") from None
    are_integers = array is not None and array.dtype.kind in "iu"
    values = array if are_integers else adapter.values()
    are_text = not are_integers and _are_text(values)
    if n_ids != n_records:
        raise ValueError(f"ids has {n_ids} records and x {n_records}")
    return values, are_text


def _are_text(values):
    """Whether ids are all text, or all integers; a ValueError names one that is neither."""
    are_text = bool(values) and isinstance(values[0], str | bytes)
    kind = (str, bytes) if are_text else (int, np.integer)
    for record, one in enumerate(values):
        if isinstance(one, bool) or not isinstance(one, kind):
            raise ValueError(f"ids[{record}] = {one!r} is not {'text' if are_text else 'an integer'}")
        if not are_text and not -(2**127) <= one < 2**127:
            raise ValueError(f"ids[{record}] = {one!r} has more than 128 bits")
    return are_text

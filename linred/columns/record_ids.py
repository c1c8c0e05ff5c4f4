"""Columns of record ids, which name a record in place of its number.

An integer and its decimal text are one id, whatever kind of column holds them: 5, "5" and b"5". Text that is not the
shortest decimal of an integer, such as "05" or "5.0", is an id of its own.
"""

import re

import numpy as np

from linred.columns.adapters.derived import CompositeColumn
from linred.columns.adapters.kinds import adapter_of
from linred.columns.missing import is_missing

_DECIMAL = re.compile(rb"0|-?[1-9][0-9]*")
LARGEST = 2**127
"""Ids are integers in [-LARGEST, LARGEST); the decimal text of any other integer is an id like any text."""


def plain_ids(ids, n_records):
    """Ids as an array of integers, or as a list of integers, bytes (of any other text) and tuples of bytes (of several
    columns); a ValueError names a record whose id is missing, or is neither an integer nor text."""
    try:
        adapter = adapter_of("ids", ids)
        array, n_ids = adapter.array(), len(adapter)
        if array is not None and array.ndim != 1:
            raise TypeError
    except (ValueError, TypeError):
        raise ValueError(f"ids is a {type(ids).__name__}, not a column of integers or of text") from None
    if n_ids != n_records:
        raise ValueError(f"ids has {n_ids} records and x {n_records}")
    if array is not None and array.dtype.kind in "iu":
        return array
    if isinstance(adapter, CompositeColumn):
        rows = enumerate(adapter.values())
        return [tuple(_text(record, part) for part in parts) for record, parts in rows]
    return [_plain(_text(record, one)) for record, one in enumerate(adapter.values())]


def _text(record, one):
    """An id as bytes: of an integer its decimal digits, of text its UTF-8."""
    if isinstance(one, bytes):
        return one
    if isinstance(one, str):
        return one.encode(errors="surrogatepass")
    if isinstance(one, int | np.integer) and not isinstance(one, bool):
        return b"%d" % one
    what = "missing" if is_missing(one) else f"a {type(one).__name__}, not an integer or text"
    raise ValueError(f"ids[{record}] is {what}")


def _plain(text):
    number = int(text) if len(text) <= 40 and _DECIMAL.fullmatch(text) else LARGEST
    return number if -LARGEST <= number < LARGEST else text

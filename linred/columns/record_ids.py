"""Columns of record ids. An id addresses a record's randomness in place of the record's number.

An integer and its decimal text are one id in every kind of column: 5, "5" and b"5". Any other text, such as "05" or
"5.0", is an id of its own, because it may name another record.
"""

import re

import numpy as np

from linred._common import validation
from linred.columns.adapters.derived import CompositeColumn
from linred.columns.adapters.kinds import adapter_of
from linred.columns.missing import is_missing

_DECIMAL = re.compile(rb"0|-?[1-9][0-9]{0,38}")
LARGEST = 2**127
"""Ids in [-LARGEST, LARGEST) are addressed as integers; larger integers are hashed as their decimal text."""


def plain_ids(ids, n_records):
    """Return ids as an array of integers, or as a list of integers, bytes and tuples of bytes.

    Bytes are texts other than decimals of integers below 128 bits, and tuples are ids of several columns. A
    table of one column is that column. A ValueError names the first record whose id is missing or of another type.
    """
    try:
        adapter = adapter_of("ids", ids)
        array, n_ids = adapter.array(), len(adapter)
        if array is not None and array.ndim != 1:
            raise TypeError
    except (ValueError, TypeError):
        kind = validation.type_name(ids)
        raise ValueError(f"ids is a {kind}, not a column of integers or of text, or a table of such columns") from None
    if n_ids != n_records:
        raise ValueError(f"ids has {n_ids} records and x {n_records}")
    if array is not None and array.dtype.kind in "iu":
        return array
    return _of_table(adapter) if isinstance(adapter, CompositeColumn) else _of_column(adapter.values())


def _of_table(table):
    try:
        rows = table.values()
    except ValueError:  # zip() found columns of several lengths
        raise ValueError("ids is a table whose columns have different numbers of records") from None
    if rows and len(rows[0]) == 1:
        return _of_column([value for (value,) in rows])
    return [tuple(_as_bytes(record, part) for part in row) for record, row in enumerate(rows)]


def _of_column(values):
    types = set(map(type, values))
    if types <= {int}:
        try:
            return np.array(values, np.int64)
        except OverflowError:  # an id of more than 64 bits
            pass
    if types <= {str}:
        texts = [value.encode(errors="surrogatepass") for value in values]
    else:
        texts = [_as_bytes(record, value) for record, value in enumerate(values)]
    return [_integer_or_bytes(text) for text in texts]


def _as_bytes(record, value):
    """Return the decimal digits of an integer, or the UTF-8 of a text."""
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode(errors="surrogatepass")
    if isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64):
        return b"%d" % value
    what = "missing" if is_missing(value) else f"a {validation.type_name(value)}"
    raise ValueError(f"ids[{record}] is {what}: each record needs an integer or a text as its id")


def _integer_or_bytes(text):
    number = int(text) if _DECIMAL.fullmatch(text) else LARGEST
    return number if -LARGEST <= number < LARGEST else text

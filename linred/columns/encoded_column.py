"""`EncodedColumn`: integer codes and their labels, made from objects, arrays, categories or several columns."""

from typing import NamedTuple

import numpy as np

from linred.columns.alphabet import as_list, check_labels, in_order, unhashable
from linred.columns.missing import is_missing

FEW_INTEGERS = 1024
"""If all integers of a column are below this, the column serves as its own codes. That is one pass over the column;
values that do not occur are removed from the table of counts later."""


class EncodedColumn(NamedTuple):
    """A column of records as codes: record i has the value labels[codes[i]]."""

    codes: np.ndarray
    labels: tuple
    all_labels_stay: bool = True  # False if labels are a range, from which values that do not occur are dropped


def narrow(codes, n_labels):
    """Return codes in the smallest unsigned type that holds n_labels labels."""
    return codes.astype(np.min_scalar_type(max(0, n_labels - 1)), copy=False)


def of_objects(name, values, sort):
    """Encode a list of Python objects, by a dict."""
    try:
        occurring = set(values)
    except TypeError:
        record = next(i for i, value in enumerate(values) if not _is_hashable(value))
        raise ValueError(f"{name}[{record}] is {unhashable(values[record])}") from None
    labels = in_order(name, occurring, sort)
    if len(labels) < len(occurring):
        labels, values = (*labels, None), [None if is_missing(value) else value for value in values]
    code_of = {label: code for code, label in enumerate(labels)}
    codes = np.fromiter(map(code_of.__getitem__, values), np.int64, len(values))
    return EncodedColumn(narrow(codes, len(labels)), labels)


def _is_hashable(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True


def of_array(name, array, sort):
    """Encode a NumPy array; booleans, integers and times are encoded without making Python objects of them."""
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}, which is not one column of records")
    if array.dtype.kind == "b":
        return EncodedColumn(array.astype(np.uint8), (False, True), all_labels_stay=False)
    if array.dtype.kind in "iu" and array.size:
        return _of_integers(array)
    if array.dtype.kind in "mM" and array.size and not np.isnat(array).any():
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        times = _of_integers(native.view(np.int64))
        return times._replace(labels=tuple(np.array(times.labels).view(native.dtype)))
    return of_objects(name, as_list(array), sort)


def _of_integers(array):
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    unsigned = array.view(f"u{array.itemsize}")
    most = int(unsigned.max())
    if most < FEW_INTEGERS and most <= np.iinfo(array.dtype).max:  # negative: sign bit set, so `most` is large
        return EncodedColumn(array, tuple(range(most + 1)), all_labels_stay=False)
    lowest, n_values = unsigned[array.argmin()], int(array.max()) - int(array.min()) + 1
    above_lowest, codes = _distinct(unsigned - lowest, n_values)  # unsigned differences cannot overflow
    labels = (above_lowest.astype(unsigned.dtype) + lowest).view(array.dtype)
    return EncodedColumn(codes, tuple(labels.tolist()))


def _distinct(values, n_values):
    """Return (the distinct values in order, the place of each value among them), for values in [0, n_values).

    A table of the whole range avoids sorting if it is not much larger than the column.
    """
    if n_values > max(2**16, 2 * values.size):
        distinct, codes = np.unique(values, return_inverse=True)
        return distinct, narrow(codes, distinct.size)
    occurs = np.zeros(n_values, bool)
    occurs[values] = True
    distinct = np.flatnonzero(occurs)
    return distinct, narrow(np.cumsum(occurs) - 1, distinct.size)[values]


def of_categories(name, codes, categories):
    """Encode a categorical column, whose categories are its alphabet in this order; code -1 is a missing value."""
    labels = check_labels(f"the categories of {name}", categories) if categories else ()
    if (codes < 0).any():
        codes = np.where(codes < 0, len(labels), codes)
        labels = (*labels, None)
    return EncodedColumn(narrow(codes, len(labels)), labels)


def of_columns(name, keys, columns):
    """Encode several columns as one column of tuples: the tuples that occur, ordered as the columns' alphabets are."""
    tuples, codes = [()], np.zeros(columns[0].codes.size, np.int64)
    for key, column in zip(keys, columns, strict=True):
        if column.codes.size != codes.size:
            raise ValueError(f"{name}[{key!r}] has {column.codes.size} records, the column before it has {codes.size}")
        n_labels = len(column.labels)
        pairs = codes.astype(np.int64) * n_labels + column.codes.astype(np.int64)
        seen, codes = _distinct(pairs, len(tuples) * n_labels)
        tuples = [(*tuples[pair // n_labels], column.labels[pair % n_labels]) for pair in seen.tolist()]
    return EncodedColumn(codes, tuple(tuples))

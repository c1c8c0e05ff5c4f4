"""Columns of records to codes: lists, NumPy, pandas, Polars, Arrow; tables of columns; missing and undeclared values.

A column is a list or a one-dimensional array of any kind. A table is a frame, a dict of columns or a two-dimensional
array, and its records are tuples. None and NaN are missing: a category of their own, labelled None. None of pandas,
Polars and Arrow is imported: their columns are known by what they can do.
"""

from typing import NamedTuple

import numpy as np


class Column(NamedTuple):
    codes: np.ndarray
    labels: tuple
    all_labels_stay: bool = True  # False: labels are a whole range of integers, of which some may not occur

    def only(self, kept):
        return Column(self.codes, tuple(label for label, keep in zip(self.labels, kept, strict=True) if keep))


def check_labels(name, labels, n_symbols=None):
    """Labels as a tuple: hashable, distinct, and one for each symbol."""
    if labels is None:
        return tuple(range(n_symbols))
    labels = tuple(labels.tolist() if hasattr(labels, "tolist") else labels)
    if n_symbols is not None and len(labels) != n_symbols:
        raise ValueError(f"{name} has {len(labels)} labels for {n_symbols} symbols")
    first_place = {}
    for place, label in enumerate(labels):
        try:
            if first_place.setdefault(label, place) != place:
                raise ValueError(f"{name}[{place}] = {label!r} is there before, at [{first_place[label]}]")
        except TypeError:
            raise ValueError(f"{name}[{place}] = {label!r} is not hashable") from None
    return labels


def encode(name, column, labels=None):
    """A column or a table of columns as `Column`: codes of uint8, uint16 or uint32, and their labels.

    A column of such codes whose labels are declared to be 0, 1, 2, ... is taken as it is, without a look at its values:
    every kernel that reads codes checks their range.
    """
    declared = None if labels is None else check_labels(f"{name}_labels", labels)
    if _are_codes(column) and declared == tuple(range(len(declared or ()))):
        return Column(column, declared)
    parts = _columns_of(name, column)
    encoded = _encode_column(name, column) if parts is None else _combine(name, parts)
    return encoded if declared is None else _declare(name, encoded, declared)


def _are_codes(column):
    return isinstance(column, np.ndarray) and column.ndim == 1 and column.dtype in (np.uint8, np.uint16, np.uint32)


def _columns_of(name, table):
    """[(name, column), ...] where `table` is a table of columns; None where it is one column."""
    if isinstance(table, dict):
        parts = list(table.items())
    elif hasattr(table, "columns") and hasattr(table, "shape"):  # a pandas or Polars frame, an Arrow table
        columns = table.column_names if hasattr(table, "column_names") else table.columns
        parts = [(column, table[column]) for column in columns]
    elif isinstance(table, np.ndarray) and table.ndim == 2:
        parts = [(j, table[:, j]) for j in range(table.shape[1])]
    else:
        return None
    if not parts:
        raise ValueError(f"{name} is a table without columns")
    return parts


def _encode_column(name, column):
    categories = _categories_of(name, column)
    if categories is not None:
        return _from_categories(name, *categories)
    array = _as_array(column)
    if array is None:
        return _from_objects(name, list(column))
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; one column of records is needed")
    small = _from_integers(array) if array.dtype.kind in "iu" and array.size else None
    if small is not None:
        return small
    if array.dtype.kind in "biu" and array.size:
        values, codes = np.unique(array, return_inverse=True)
        return Column(_narrow(codes, values.size), tuple(values.tolist()))
    return _from_objects(name, list(array) if array.dtype.kind in "mM" else array.tolist())


def _categories_of(name, column):
    """(codes with -1 for missing, categories) of a pandas, Polars or Arrow categorical; None for any other column."""
    if hasattr(column, "cat") and hasattr(column.cat, "codes"):  # pandas Series
        return column.cat.codes.to_numpy(), column.cat.categories.tolist()
    if hasattr(column, "codes") and hasattr(column, "categories"):  # pandas Categorical
        return np.asarray(column.codes), column.categories.tolist()
    if str(getattr(column, "dtype", "")).startswith("Enum") and hasattr(column, "to_physical"):  # Polars Enum
        return column.to_physical().cast(int).fill_null(-1).to_numpy(), column.dtype.categories.to_list()
    if hasattr(column, "dictionary_encode"):  # an Arrow column, plain, dictionary or chunked
        return _arrow_categories(name, column)
    return None


def _arrow_categories(name, column):
    """An ordered dictionary declares its alphabet; any other is an encoding, of which what occurs is sorted."""
    if not hasattr(column.type, "ordered"):
        try:
            column = column.dictionary_encode()
        except NotImplementedError:
            raise ValueError(f"{name} is an Arrow column of {column.type}, whose values cannot be labels") from None
    if hasattr(column, "unify_dictionaries"):  # chunks may each have a dictionary of their own
        column = column.unify_dictionaries().combine_chunks()
        column = column.chunk(0) if hasattr(column, "chunk") and column.num_chunks else column
    codes, categories = np.asarray(column.indices.fill_null(-1)), column.dictionary.to_pylist()
    if column.type.ordered:
        return codes, categories
    occurring = [categories[code] for code in np.unique(codes[codes >= 0]).tolist()]
    occurring = sorted({label for label in occurring if not _is_missing(label)})
    place = {label: code for code, label in enumerate(occurring)}
    recode = np.array([*(place.get(label, -1) for label in categories), -1])  # the last is for missing, code -1
    return recode[codes], occurring


def _as_array(column):
    """The NumPy form of a column; None where there is none that keeps its values: a list, or Polars with nulls."""
    if isinstance(column, np.ndarray):
        return column
    if hasattr(column, "null_count") and column.null_count():
        return None
    return column.to_numpy() if hasattr(column, "to_numpy") else None


def _from_integers(array):
    """Codes by subtraction where the range of the integers is small; None where it is not."""
    low, high = int(array.min()), int(array.max())
    if high - low >= max(2**16, 4 * array.size):
        return None
    if _are_codes(array) and low < 256:  # codes already: no pass to shift them
        return Column(array, tuple(range(high + 1)), all_labels_stay=False)
    wide = array if array.dtype.kind == "u" else array.astype(np.int64, copy=False)
    return Column(
        _narrow(wide - wide.dtype.type(low), high - low + 1), tuple(range(low, high + 1)), all_labels_stay=False
    )


def _from_objects(name, values):
    """Python objects, by a dict; None and NaN are missing."""
    try:
        occurring = set(values)
    except TypeError:
        record = next(i for i, value in enumerate(values) if getattr(value, "__hash__", None) is None)
        raise ValueError(f"{name}[{record}] = {values[record]!r} is not hashable") from None
    labels = _sorted_labels(name, {value for value in occurring if not _is_missing(value)})
    if any(map(_is_missing, occurring)):
        labels, values = (*labels, None), [None if _is_missing(value) else value for value in values]
    code_of = {label: code for code, label in enumerate(labels)}
    return Column(_narrow(np.fromiter(map(code_of.__getitem__, values), np.int64, len(values)), len(labels)), labels)


def _is_missing(value):
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA, which is neither equal nor unequal to itself
        return True


def _sorted_labels(name, values):
    try:
        return tuple(sorted(values))
    except TypeError:
        raise ValueError(f"{name} has values that cannot be sorted: pass {name}_labels to say their order") from None


def _from_categories(name, codes, categories):
    labels = check_labels(f"the categories of {name}", categories)
    if (codes < 0).any():
        codes = np.where(codes < 0, len(labels), codes)
        labels = (*labels, None)
    return Column(_narrow(codes, len(labels)), labels)


def _combine(name, parts):
    """Tuples of the parts' labels, those that occur, in the order of the parts' alphabets."""
    columns = [_encode_column(f"{name}[{key!r}]", part) for key, part in parts]
    tuples, codes = [()], np.zeros(columns[0].codes.size, np.int64)
    for (key, _), column in zip(parts, columns, strict=True):
        if column.codes.size != codes.size:
            raise ValueError(
                f"{name}[{key!r}] has {column.codes.size} records and {name}[{parts[0][0]!r}] {codes.size}"
            )
        seen, codes = np.unique(codes * len(column.labels) + column.codes, return_inverse=True)
        tuples = [(*tuples[i // len(column.labels)], column.labels[i % len(column.labels)]) for i in seen.tolist()]
    return Column(_narrow(codes, len(tuples)), tuple(tuples))


def _declare(name, column, declared):
    """The column's codes by the place of its labels among the declared ones."""
    if declared[: len(column.labels)] == column.labels:
        return Column(column.codes, declared)
    place = {label: code for code, label in enumerate(declared)}
    recode = np.array([place.get(label, -1) for label in column.labels], np.int64)
    codes = recode[column.codes]
    if (codes < 0).any():
        record = int(np.argmax(codes < 0))
        raise ValueError(f"{name}[{record}] = {column.labels[column.codes[record]]!r} is not in {name}_labels")
    return Column(_narrow(codes, len(declared)), declared)


def _narrow(codes, n_labels):
    dtype = np.uint8 if n_labels <= 2**8 else np.uint16 if n_labels <= 2**16 else np.uint32
    return codes.astype(dtype, copy=False)

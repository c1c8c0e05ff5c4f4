"""Columns of records to codes: lists, NumPy, pandas, Polars, Arrow; tables of columns; missing and undeclared values.

A column is a list or a one-dimensional array of any kind. A table is a frame, a dict of columns or a two-dimensional
array, and its records are tuples. None, NaN and what else means "missing" is a category of its own, labelled None.
None of pandas, Polars and Arrow is imported: their columns are known by what they can do. `decode` goes back.
"""

from typing import NamedTuple

import numpy as np

from linred._kernels import recoding


class Column(NamedTuple):
    codes: np.ndarray
    labels: tuple
    all_labels_stay: bool = True  # False: labels are a whole range of integers, of which some may not occur

    def only(self, kept):
        return Column(self.codes, tuple(label for label, keep in zip(self.labels, kept, strict=True) if keep))


def check_labels(name, labels, n_symbols=None):
    """Labels as a tuple: hashable, distinct, and one for each symbol; a missing one is None."""
    if labels is None:
        return tuple(range(n_symbols))
    if isinstance(labels, set | frozenset | dict) or not hasattr(labels, "__iter__"):
        raise ValueError(f"{name} is a {type(labels).__name__}, not a sequence of labels in order")
    labels = tuple(None if _is_missing(label) else label for label in _as_list(labels))
    if not labels:
        raise ValueError(f"{name} has no labels")
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
    """A column or a table of columns as `Column`: integer codes, and their labels.

    A column of integers whose labels are declared to be 0, 1, 2, ... is taken as it is, without a look at its
    values: every kernel that reads codes checks their range.
    """
    declared = None if labels is None else check_labels(f"{name}_labels", labels)
    if _are_codes(column) and declared == tuple(range(len(declared or ()))):
        return Column(column, declared)
    parts = columns_of(name, column)
    sort = declared is None
    encoded = _encode_column(name, column, sort) if parts is None else _combine(name, parts, sort)
    return encoded if declared is None else _declare(name, encoded, declared)


def _are_codes(column):
    return type(column) is np.ndarray and column.ndim == 1 and column.dtype.kind in "iu" and column.dtype.isnative


def columns_of(name, table):
    """[(name, column), ...] where `table` is a table of columns; None where it is one column."""
    if isinstance(table, dict):
        parts = list(table.items())
    elif isinstance(table, np.ndarray):
        parts = [(j, table[:, j]) for j in range(table.shape[1])] if table.ndim == 2 else None
    elif hasattr(table, "column_names"):  # Arrow
        parts = list(zip(table.column_names, table.columns, strict=True))
    elif hasattr(table, "get_columns") and hasattr(table, "shape"):  # Polars
        parts = [(part.name, part) for part in table.get_columns()]
    elif hasattr(table, "iloc") and len(table.shape) == 2:  # pandas
        parts = [(key, table.iloc[:, j]) for j, key in enumerate(table.columns)]
    else:
        return None
    if parts == []:
        raise ValueError(f"{name} is a table without columns")
    return parts


def _encode_column(name, column, sort):
    if (
        isinstance(column, str | bytes | set | frozenset)
        or not hasattr(column, "__iter__")
        or hasattr(column, "collect")
    ):
        raise ValueError(f"{name} is a {type(column).__name__}, not a column of records in order")
    if hasattr(column, "to_physical") and getattr(column.dtype, "time_unit", None) == "ns":
        raise ValueError(f"{name} is a Polars column of {column.dtype}: Python has no nanoseconds, cast it to 'us'")
    categories = _categories_of(name, column, sort)
    if categories is not None:
        return _from_categories(name, *categories)
    array = _as_array(column)
    if array is None:
        return _from_objects(name, _as_list(column), sort)
    if array.ndim != 1:
        raise ValueError(f"{name} has shape {array.shape}; one column of records is needed")
    if array.dtype.kind == "b":
        return Column(array.astype(np.uint8), (False, True), all_labels_stay=False)
    if array.dtype.kind in "iu" and array.size:
        return _from_integers(array)
    if array.dtype.kind in "mM" and array.size and not np.isnat(array).any():
        native = array.astype(array.dtype.newbyteorder("="), copy=False)
        times = _from_integers(native.view(np.int64))
        return Column(times.codes, tuple(np.array(times.labels).view(native.dtype)), times.all_labels_stay)
    return _from_objects(name, _as_list(array), sort)


def _as_list(column):
    """Python values, where the column can give them; of times NumPy's own, which tolist() would make integers."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "mM":
        return list(column)
    convert = getattr(column, "to_list", None) or getattr(column, "tolist", None)
    return convert() if convert else list(column)


def _as_array(column):
    """The NumPy form of a column; None where there is none that keeps its values: a list, integers with nulls."""
    if isinstance(column, np.ndarray):
        return None if isinstance(column, np.ma.MaskedArray) else column
    if hasattr(column, "isna") and hasattr(column, "to_numpy"):  # pandas, where missing integers would become floats
        extension = not isinstance(column.dtype, np.dtype)
        return column.to_numpy(dtype=object) if extension and column.isna().any() else column.to_numpy()
    if not hasattr(column, "null_count"):
        return None
    is_arrow = hasattr(column, "type")
    n_missing, dtype = (column.null_count, column.type) if is_arrow else (column.null_count(), column.dtype)
    plain = str(dtype).lower().lstrip("u") in ("int8", "int16", "int32", "int64")
    return np.asarray(column) if plain and not n_missing else None  # Polars, Arrow


def _categories_of(name, column, sort):
    """(codes with -1 for missing, categories) of a pandas, Polars or Arrow categorical; None for any other column."""
    if hasattr(column, "cat") and hasattr(column.cat, "codes"):  # pandas Series
        return column.cat.codes.to_numpy(), column.cat.categories.tolist()
    if hasattr(column, "codes") and hasattr(column, "categories"):  # pandas Categorical
        return np.asarray(column.codes), column.categories.tolist()
    if str(getattr(column, "dtype", "")).startswith("Enum") and hasattr(column, "to_physical"):  # Polars Enum
        return column.to_physical().cast(int).fill_null(-1).to_numpy(), column.dtype.categories.to_list()
    if hasattr(column, "dictionary_encode"):  # an Arrow column, plain, dictionary or chunked
        return _arrow_categories(name, column, sort)
    return None


def _arrow_categories(name, column, sort):
    """An ordered dictionary declares its alphabet; any other is an encoding, of which what occurs is sorted."""
    column, indices, categories = arrow_dictionary(name, column)
    labels = categories
    if not column.type.ordered:
        occurs = np.bincount(indices, minlength=len(categories) + 1)
        labels = _in_order(name, {categories[code] for code in np.flatnonzero(occurs[:-1]).tolist()}, sort)
    place = {}
    for label in labels:
        if not _is_missing(label):
            place.setdefault(label, len(place))
    recode = np.array([*(place.get(label, -1) for label in categories), -1])
    return recode[indices], list(place)


def arrow_dictionary(name, column):
    """(an Arrow column as one dictionary array, its indices, its categories); missing is the index after the last."""
    if not hasattr(column.type, "ordered"):
        try:
            column = column.dictionary_encode()
        except NotImplementedError:
            raise ValueError(f"{name} is an Arrow column of {column.type}, whose values cannot be labels") from None
    if hasattr(column, "unify_dictionaries"):  # chunks may each have a dictionary of their own
        column = column.unify_dictionaries().combine_chunks()
        column = column.chunk(0) if hasattr(column, "chunk") and column.num_chunks else column
    indices, categories = column.indices, column.dictionary.to_pylist()
    if indices.null_count:
        indices = indices.cast("int64").fill_null(len(categories))
    return column, np.asarray(indices), categories


FEW_INTEGERS = 1024
"""Integers in a range so small are counted over all of it; what does not occur is left out of the table of counts."""


def _from_integers(array):
    """Codes without sorting, where a table of the whole range is no larger than the column."""
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    sign_bit = 2 ** (8 * array.itemsize - 1) if array.dtype.kind == "i" else FEW_INTEGERS
    most = int(array.view(f"u{array.itemsize}").max())
    if most < min(FEW_INTEGERS, sign_bit):  # one pass: what is negative has its sign bit set
        return Column(array, tuple(range(most + 1)), all_labels_stay=False)
    low, high = int(array.min()), int(array.max())
    if high - low >= max(2**16, 2 * array.size):
        values, codes = np.unique(array, return_inverse=True)
        return Column(_narrow(codes, values.size), tuple(values.tolist()))
    wide = array if array.dtype.kind == "u" else array.astype(np.int64, copy=False)
    values, codes = _distinct((wide - wide.dtype.type(low)).astype(np.int64), high - low + 1)
    return Column(codes, tuple((values.astype(object) + low).tolist()))


def _distinct(values, n_values):
    """(the distinct ones of values in [0, n_values), in order; the place of each value among them), without sorting."""
    occurs = np.zeros(n_values, bool)
    occurs[values] = True
    distinct = np.flatnonzero(occurs)
    return distinct, _narrow(np.cumsum(occurs) - 1, distinct.size)[values]


def _from_objects(name, values, sort):
    """Python objects, by a dict."""
    try:
        occurring = set(values)
    except TypeError:
        record = next(i for i, value in enumerate(values) if not _is_hashable(value))
        raise ValueError(f"{name}[{record}] = {values[record]!r} is not hashable") from None
    labels = _in_order(name, occurring, sort)
    if len(labels) < len(occurring):
        labels, values = (*labels, None), [None if _is_missing(value) else value for value in values]
    code_of = {label: code for code, label in enumerate(labels)}
    return Column(_narrow(np.fromiter(map(code_of.__getitem__, values), np.int64, len(values)), len(labels)), labels)


def _is_hashable(value):
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _is_missing(value):
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # pandas.NA is neither equal nor unequal to itself; an array is many things
        return not hasattr(value, "__len__")


def _in_order(name, occurring, sort):
    """The values that are not missing, sorted unless their order will be declared."""
    values = [value for value in occurring if not _is_missing(value)]
    if not sort:
        return tuple(values)
    try:
        return tuple(sorted(values))
    except TypeError:
        raise ValueError(f"{name} has values that cannot be sorted: pass {name}_labels to say their order") from None


def _from_categories(name, codes, categories):
    labels = check_labels(f"the categories of {name}", categories) if categories else ()
    if (codes < 0).any():
        codes = np.where(codes < 0, len(labels), codes)
        labels = (*labels, None)
    return Column(_narrow(codes, len(labels)), labels)


def _combine(name, parts, sort):
    """Tuples of the parts' labels, those that occur, in the order of the parts' alphabets."""
    columns = [_encode_column(f"{name}[{key!r}]", part, sort) for key, part in parts]
    tuples, codes = [()], np.zeros(columns[0].codes.size, np.int64)
    for (key, _), column in zip(parts, columns, strict=True):
        if column.codes.size != codes.size:
            raise ValueError(f"{name}[{key!r}] has {column.codes.size} records and the column before it {codes.size}")
        n_pairs = len(tuples) * len(column.labels)
        mixed = codes.astype(np.int64) * len(column.labels) + column.codes.astype(np.int64)
        few = n_pairs <= max(2**16, 2 * codes.size)
        seen, codes = _distinct(mixed, n_pairs) if few else np.unique(mixed, return_inverse=True)
        tuples = [(*tuples[i // len(column.labels)], column.labels[i % len(column.labels)]) for i in seen.tolist()]
    return Column(_narrow(codes, len(tuples)), tuple(tuples))


def _declare(name, column, declared):
    """The column's codes by the place of its labels among the declared ones."""
    codes = _places(column, declared)
    unknown = codes == len(declared)
    if unknown.any():
        record = int(np.argmax(unknown))
        raise ValueError(f"{name}[{record}] = {column.labels[column.codes[record]]!r} is not in {name}_labels")
    return Column(codes, declared)


def _places(column, labels):
    """Codes by the place of the column's labels among `labels`, len(labels) for those that are not there."""
    if labels[: len(column.labels)] == column.labels:
        return column.codes
    return recoding.recode(column.codes, _recode(column.labels, labels))


def _recode(values, labels):
    """The place of each value among `labels`, len(labels) for those that are not there."""
    place = {label: code for code, label in enumerate(labels)}
    return _narrow(np.array([place.get(value, len(labels)) for value in values], np.int64), len(labels) + 1)


def codes_in(name, column, labels):
    """Codes of a column or a table of columns by the place of each value among `labels`, len(labels) for any other."""
    n_labels = len(labels)
    if _are_codes(column) and labels == tuple(range(n_labels)):
        if column.size == 0 or (column.min() >= 0 and column.max() < n_labels):
            return column
        return _narrow(np.where((column < 0) | (column >= n_labels), n_labels, column), n_labels + 1)
    if hasattr(column, "linred_places"):  # a column of CSV
        return column.linred_places(labels)
    parts = columns_of(name, column)
    if parts is None and hasattr(column, "dictionary_encode"):
        _, indices, categories = arrow_dictionary(name, column)
        table = _recode([*(None if _is_missing(one) else one for one in categories), None], labels)
        return recoding.recode(indices, table)
    encoded = _encode_column(name, column, False) if parts is None else _combine(name, parts, False)
    return _places(encoded, labels)


def value_at(name, column, record):
    """One value of a column, or the tuple of one record of a table, for an error that names it."""
    parts = columns_of(name, column)
    if parts is not None:
        return tuple(value_at(name, part, record) for _, part in parts)
    value = column.iloc[record] if hasattr(column, "iloc") else column[record]
    return value.as_py() if hasattr(value, "as_py") else value.item() if isinstance(value, np.generic) else value


def _narrow(codes, n_labels):
    dtype = np.uint8 if n_labels <= 2**8 else np.uint16 if n_labels <= 2**16 else np.uint32
    return codes.astype(dtype, copy=False)


class TextIds(list):
    """Record ids that are text or bytes."""


def plain_ids(ids, n_records):
    """A column of record ids as an array of integers, a list of integers or `TextIds`; missing ones are an error."""
    if (
        isinstance(ids, str | bytes | dict | set | frozenset)
        or not hasattr(ids, "__len__")
        or getattr(ids, "ndim", 1) != 1
        or columns_of("ids", ids) is not None
    ):
        raise ValueError(f"ids is a {type(ids).__name__}, not a column of integers or of text")
    array = _as_array(ids)
    if array is not None and array.dtype.kind in "iu" and array.ndim == 1:
        values = array.astype(array.dtype.newbyteorder("="), copy=False)
    else:
        values = _as_list(ids)
        text = bool(values) and isinstance(values[0], str | bytes)
        kind = (str, bytes) if text else (int, np.integer)
        for record, one in enumerate(values):
            if isinstance(one, bool) or not isinstance(one, kind):
                raise ValueError(f"ids[{record}] = {one!r} is not {'text' if text else 'an integer'}")
            if not text and not -(2**127) <= one < 2**127:
                raise ValueError(f"ids[{record}] = {one!r} has more than 128 bits")
        values = TextIds(values) if text else values
    if len(values) != n_records:
        raise ValueError(f"ids has {len(values)} records and x {n_records}")
    return values

"""Codes back to columns: the same kind of column as one that is given, its name, index, chunks and type kept.

None of pandas, Polars and Arrow is imported: a column brings its own package.
"""

import math
import sys

import numpy as np

from linred import records


def decoder(name, column, labels):
    """A function from codes to labels, as the kind of column, or table of columns, that `column` is.

    None among the labels is a missing value. A ValueError where a column of that kind has no room for one of the
    labels, or for missing values: here, before any code is drawn.
    """
    parts = records.columns_of(name, column)
    if parts is None:
        return _column_decoder(name, column, labels)
    decoders = []
    for place, (key, part) in enumerate(parts):
        part_labels = tuple(None if label is None else label[place] for label in labels)
        decoders.append((key, _column_decoder(f"{name}[{key!r}]", part, part_labels)))
    return lambda codes: _like_table(column, [(key, decode(codes)) for key, decode in decoders])


def _like_table(table, decoded):
    """The table of (name, column) pairs, of which names may repeat."""
    names, columns = zip(*decoded, strict=True)
    if isinstance(table, dict):
        return dict(decoded)
    if isinstance(table, np.ndarray):
        return np.stack(columns, axis=1)
    if hasattr(table, "iloc"):
        return sys.modules["pandas"].concat(columns, axis=1)
    return type(table)(columns) if hasattr(table, "get_columns") else type(table).from_arrays(columns, names)


def _column_decoder(name, column, labels):
    try:
        if isinstance(column, np.ndarray):
            return _numpy_decoder(column, labels)
        package = type(column).__module__.partition(".")[0]
        return _DECODERS.get(package, _list_decoder)(column, labels)
    except (TypeError, ValueError, OverflowError) as error:
        kind = f"{type(column).__name__} of {getattr(column, 'dtype', getattr(column, 'type', 'objects'))}"
        detail = str(error).partition("\n")[0]
        raise ValueError(f"{name} is a {kind}, which has no room for every label of the mechanism: {detail}") from None


def _list_decoder(column, labels):
    values = _objects(labels)
    kind = tuple if isinstance(column, tuple) else list
    return lambda codes: kind(values[codes].tolist())


def _numpy_decoder(column, labels):
    if isinstance(column, np.ma.MaskedArray):
        missing, some = np.array([label is None for label in labels]), next((x for x in labels if x is not None), 0)
        values = _numpy_labels(column.dtype, [some if label is None else label for label in labels])
        return lambda codes: np.ma.array(values[codes], mask=missing[codes])
    values = _numpy_labels(column.dtype, labels)
    if column.dtype.kind in "iu" and labels == tuple(range(len(labels))):
        return lambda codes: codes.astype(column.dtype, copy=False)
    return lambda codes: values[codes]


def _objects(labels):
    values = np.empty(len(labels), object)
    for code, label in enumerate(labels):
        values[code] = label
    return values


def _numpy_labels(dtype, labels):
    """An array of labels, of `dtype`, or as wide as the longest text needs."""
    if dtype.kind == "O":
        return _objects(labels)
    if None in labels and dtype.kind not in "fmM":
        raise ValueError("missing values may be drawn")
    if dtype.kind in "US":
        longest = np.array(labels)
        if longest.dtype.kind != dtype.kind:
            raise TypeError(f"they are not all {np.dtype(dtype.kind).name}")
        return longest.astype(np.promote_types(longest.dtype, dtype))
    values = np.array([math.nan if label is None and dtype.kind == "f" else label for label in labels], dtype)
    if any(label is not None and label != value for label, value in zip(labels, values, strict=True)):
        raise TypeError("they are of another kind")
    return values


def _pandas_decoder(column, labels):
    pandas = sys.modules["pandas"]
    if not hasattr(column, "iloc"):  # an Index, or what a Series holds
        decode = _pandas_decoder(pandas.Series(column), labels)
        if isinstance(column, pandas.Index):
            return lambda codes: pandas.Index(decode(codes), name=column.name)
        return lambda codes: decode(codes).array
    if hasattr(column, "cat"):
        dtype = column.dtype
        new = [label for label in labels if label is not None and label not in set(dtype.categories)]
        if new:
            dtype = pandas.CategoricalDtype([*dtype.categories, *new], dtype.ordered)
        place = {label: code for code, label in enumerate(dtype.categories)}
        recode = np.array([-1 if label is None else place[label] for label in labels])
        values = pandas.Categorical.from_codes(recode, dtype=dtype)
    elif isinstance(column.dtype, np.dtype):
        values = pandas.Series(_numpy_labels(column.dtype, labels), dtype=column.dtype).array
    else:
        values = pandas.array(list(labels), dtype=column.dtype)
    return lambda codes: pandas.Series(
        values.take(codes.astype(np.intp)), index=column.index, name=column.name, dtype=values.dtype
    )


def _polars_decoder(column, labels):
    values = type(column)(column.name, list(labels), dtype=column.dtype, strict=True)
    return lambda codes: values.gather(codes.astype(np.uint32, copy=False))


def _arrow_decoder(column, labels):
    pyarrow = sys.modules["pyarrow"]
    dictionary = pyarrow.types.is_dictionary(column.type)
    values = pyarrow.array(list(labels), column.type.value_type if dictionary else column.type)

    def decode(codes):
        array = values.take(pyarrow.array(codes))
        return array.dictionary_encode().cast(column.type) if dictionary else array

    if not hasattr(column, "chunks"):
        return decode
    ends = np.cumsum([len(chunk) for chunk in column.chunks])[:-1]
    return lambda codes: pyarrow.chunked_array([decode(part) for part in np.split(codes, ends)], column.type)


_DECODERS = {"pandas": _pandas_decoder, "polars": _polars_decoder, "pyarrow": _arrow_decoder}

"""Codes back to columns: the same kind of column as one that is given, its name, index, chunks and type kept.

None of pandas, Polars and Arrow is imported: a column brings its own package.
"""

import math
import sys

import numpy as np

from linred.columns import encode


def decoder(name, column, labels):
    """A function from codes to labels, as the kind of column, or table of columns, that `column` is.

    None among the labels is a missing value. A ValueError where a column of that kind has no room for one of the
    labels, or for missing values: here, before any code is drawn.
    """
    parts = encode.columns_of(name, column)
    if parts is None:
        return _column_decoder(name, column, labels)
    for label in labels:
        if label is not None and not (isinstance(label, tuple) and len(label) == len(parts)):
            raise ValueError(f"{name} is a table of {len(parts)} columns, and {label!r} is a label of the mechanism")
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
        return sys.modules["pandas"].concat(columns, axis=1).set_axis(table.columns, axis=1)
    return type(table)(columns) if hasattr(table, "get_columns") else type(table).from_arrays(columns, names)


def _column_decoder(name, column, labels):
    packages = {cls.__module__.partition(".")[0] for cls in type(column).__mro__}  # of a subclass too
    make = next((_DECODERS[package] for package in _DECODERS if package in packages), _list_decoder)
    try:
        return make(column, labels)
    except Exception as error:  # each package has its own
        kind = f"{type(column).__name__} of {getattr(column, 'dtype', getattr(column, 'type', 'objects'))}"
        detail = str(error).partition("\n")[0]
        raise ValueError(f"{name} is a {kind}, which has no room for every label of the mechanism: {detail}") from error


def _check_kept(labels, values):
    """That a column's values are the labels that were put into it, not what is left of them."""
    for label, value in zip(labels, values, strict=True):
        if label is not None and (value is None or label != value):
            raise ValueError(f"{label!r} would become {value!r}")


def _list_decoder(column, labels):
    values = _objects(labels)
    kind = tuple if isinstance(column, tuple) else list
    return lambda codes: kind(values[codes].tolist())


def _objects(labels):
    values = np.empty(len(labels), object)
    for code, label in enumerate(labels):
        values[code] = label
    return values


def _numpy_decoder(column, labels):
    if isinstance(column, np.ma.MaskedArray):
        missing, some = np.array([label is None for label in labels]), next((x for x in labels if x is not None), 0)
        values = _numpy_labels(column.dtype, [some if label is None else label for label in labels])
        return lambda codes: np.ma.array(values[codes], mask=missing[codes])
    values = _numpy_labels(column.dtype, labels)
    if column.dtype.kind in "iu" and labels == tuple(range(len(labels))):
        return lambda codes: codes.astype(column.dtype, copy=False)
    return lambda codes: values[codes]


def _numpy_labels(dtype, labels):
    """An array of labels, of `dtype`, or as wide as the longest text needs."""
    if dtype.kind == "O":
        return _objects(labels)
    if None in labels and dtype.kind not in "fmM":
        raise ValueError("missing values may be drawn")
    if dtype.kind in "US":
        values = np.array(labels)
        values = values.astype(np.promote_types(values.dtype, dtype))
    else:
        values = np.array([math.nan if label is None and dtype.kind == "f" else label for label in labels], dtype)
    _check_kept(labels, values if dtype.kind in "mM" else values.tolist())
    return values


def _pandas_decoder(column, labels):
    pandas = sys.modules["pandas"]
    if not hasattr(column, "iloc"):  # an Index, or what a Series holds
        decode = _pandas_decoder(pandas.Series(column), labels)
        if isinstance(column, pandas.Index):
            return lambda codes: pandas.Index(decode(codes), name=column.name)
        return lambda codes: decode(codes).array
    if hasattr(column, "cat"):
        own = column.cat.categories.tolist()
        categories, recode = _with_new(_without_unseen(own, column.cat.codes, labels), labels, column.cat.ordered)
        dtype = column.dtype if categories == own else pandas.CategoricalDtype(categories, column.cat.ordered)
        values = pandas.Categorical.from_codes(recode, dtype=dtype)
    elif isinstance(column.dtype, np.dtype):
        values = pandas.Series(_numpy_labels(column.dtype, labels), dtype=column.dtype).array
    else:
        values = pandas.array(list(labels), dtype=column.dtype)
        _check_kept(labels, values.tolist())
    return lambda codes: pandas.Series(
        values.take(codes.astype(np.intp)), index=column.index, name=column.name, dtype=values.dtype
    )


def _without_unseen(categories, codes, labels):
    """The categories but for those of records that are no label: never drawn, they are not to be published either."""
    occurs = np.bincount(np.asarray(codes, np.int64) + 1, minlength=len(categories) + 1)[1:] > 0
    known = set(labels)
    return [one for one, some in zip(categories, occurs, strict=True) if one in known or not some]


def _with_new(categories, labels, ordered):
    """(categories and after them the labels that are not there, the place of each label among them or -1)."""
    place = {label: code for code, label in enumerate(categories)}
    for label in labels:
        if label is not None and label not in place:
            if ordered:
                raise ValueError(f"{label!r} is not among its ordered categories")
            place[label] = len(place)
    return list(place), np.array([-1 if label is None else place[label] for label in labels])


def _polars_decoder(column, labels):
    values = type(column)(column.name, list(labels), dtype=column.dtype, strict=True)
    _check_kept(labels, values.to_list())
    return lambda codes: values.gather(codes.astype(np.uint32, copy=False))


def _arrow_decoder(column, labels):
    pyarrow = sys.modules["pyarrow"]
    if pyarrow.types.is_dictionary(column.type):
        decode = _arrow_dictionary_decoder(pyarrow, column, labels)
    else:
        taken = {"string_view": "large_string", "binary_view": "large_binary"}.get(str(column.type), column.type)
        values = pyarrow.array(list(labels), taken)  # views cannot be taken from
        _check_kept(labels, values.to_pylist())

        def decode(codes):
            return values.take(pyarrow.array(codes)).cast(column.type)

        decode(np.zeros(1, np.uint8))  # not every type can be taken from
    if not hasattr(column, "chunks"):
        return decode
    ends = np.cumsum([len(chunk) for chunk in column.chunks], dtype=np.intp)
    begins = ends - [len(chunk) for chunk in column.chunks]
    return lambda codes: pyarrow.chunked_array(
        [decode(codes[begin:end]) for begin, end in zip(begins, ends, strict=True)], column.type
    )


def _arrow_dictionary_decoder(pyarrow, column, labels):
    """By the labels, or by the column's own dictionary if it is ordered; one for all chunks. One that is not has its
    values in the order in which they came: it would tell x of the first records, and values that are no label."""
    own = []
    if column.type.ordered:
        _, indices, own = encode.arrow_dictionary("x", column)
        own = _without_unseen(own, np.where(indices < len(own), indices.astype(np.int64), -1), labels)
    categories, recode = _with_new([one for one in own if one is not None], labels, column.type.ordered)
    dictionary = pyarrow.array(categories, column.type.value_type)
    _check_kept(categories, dictionary.to_pylist())
    width = column.type.index_type.bit_width - (not str(column.type.index_type).startswith("u"))
    if len(categories) > 2**width:
        raise ValueError(f"{len(categories)} labels are too many for its indices")

    def decode(codes):
        places = recode[codes]
        indices = pyarrow.array(places, column.type.index_type, mask=places < 0)
        return pyarrow.DictionaryArray.from_arrays(indices, dictionary, ordered=column.type.ordered)

    return decode


_DECODERS = {
    "pandas": _pandas_decoder,
    "polars": _polars_decoder,
    "pyarrow": _arrow_decoder,
    "numpy": _numpy_decoder,
}

"""The columns of pandas, Polars and Arrow frames: how they are read, sorted into bins, and put together again.

None of the packages is imported: a frame brings its own.
"""

import math
import re
import sys

import numpy as np

from linred._common import validation
from linred.columns import encode
from linred.columns.labels import KINDS, kind_of


def is_lazy(frame):
    return _package(frame) == "polars" and hasattr(frame, "map_batches") and not hasattr(frame, "get_columns")


def _package(value):
    """Of a frame or a column: "pandas", "polars", "pyarrow" or "numpy"; None for any other."""
    packages = {cls.__module__.partition(".")[0] for cls in type(value).__mro__}  # of a subclass too
    return next((package for package in ("pandas", "polars", "pyarrow", "numpy") if package in packages), None)


def columns_of(frame):
    """[(name, column), ...], of which names may repeat."""
    is_frame = isinstance(frame, dict) or _package(frame) in ("pandas", "polars", "pyarrow")
    columns = encode.columns_of("frame", frame) if is_frame else None
    if columns is None:
        raise ValueError(f"frame is a {type(frame).__name__}, not a pandas, Polars or Arrow table")
    for name, column in columns if isinstance(frame, dict) else ():
        first = columns[0][1]
        if not hasattr(column, "__len__"):
            raise ValueError(f"column {name!r} is a {type(column).__name__}, not a column of records in order")
        if len(column) != len(first):
            raise ValueError(f"column {name!r} has {len(column)} records, and the first column {len(first)}")
    return columns


def read(parts, by_name):
    """{name: column}, numbers in their bins where a part has some."""
    return {name: _Bins(name, part, by_name[name]) if part.edges else by_name[name] for name, part in parts.items()}


def as_labels_are(role, by_name, labels):
    """A table where labels are tuples of its columns' values, the only column otherwise."""
    known = [label for label in labels if label is not None]
    of_table = bool(known) and all(isinstance(label, tuple) and len(label) == len(by_name) for label in known)
    if len(by_name) > 1 and not of_table:
        raise ValueError(f"{role} names {len(by_name)} columns, and {known[0]!r} is a label of the mechanism")
    for place, (name, column) in enumerate(by_name.items()):
        _check_kind(name, column, [label[place] for label in known] if of_table else known)
    return by_name if of_table else next(iter(by_name.values()))


_ALIKE, FIRST_RECORDS = {"true or false": "numbers", "whole numbers": "numbers"}, 100


def _check_kind(name, column, labels):
    """That the first values are not all text where labels are numbers, say."""
    values = [encode.value_at(name, column, record) for record in range(min(FIRST_RECORDS, len(column)))]
    kinds = kind_of([None if encode._is_missing(value) else value for value in values]), kind_of(labels)
    known = all(kind in (*KINDS.values(), "tuple") for kind in kinds)
    if known and _ALIKE.get(kinds[0], kinds[0]) != _ALIKE.get(kinds[1], kinds[1]):
        raise ValueError(f"column {name!r} has {kinds[0]}; the mechanism was made for {kinds[1]}, as {labels[0]!r}")


class _Bins:
    """The bins of a column's numbers, as `linred.columns.encode` reads a categorical: -1 is for missing."""

    def __init__(self, name, part, column):
        codes = part.codes(_numbers(name, column))
        self.codes, self.categories = np.where(codes > len(part.edges), -1, codes), np.array(part.bins, object)

    def __len__(self):
        return self.codes.size

    def __getitem__(self, record):
        return None if self.codes[record] < 0 else self.categories[self.codes[record]]

    def __iter__(self):
        return map(self.__getitem__, range(len(self)))


def _numbers(name, column):
    """A column as floats, NaN for missing."""
    dtype = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if re.fullmatch(r"u?int\d+|float\d*|double", dtype) and not isinstance(column, np.ma.MaskedArray):
        of_pandas = hasattr(column, "isna")
        return column.to_numpy(dtype=float, na_value=math.nan) if of_pandas else np.asarray(column, dtype=float)
    numbers = np.full(len(column), math.nan)
    for record, value in enumerate(encode._as_list(column)):
        if not encode._is_missing(value):
            if not hasattr(value, "__float__"):
                raise ValueError(
                    f"column {name!r}[{record}] = {validation.shortened(value)} is not a number, to be in a bin"
                )
            numbers[record] = value
    return numbers


def as_text(column, texts):
    """A list of texts as the kind of column that `column` is."""
    package = _package(column)
    if package == "pandas":
        series, index = sys.modules["pandas"].Series, getattr(column, "index", None)
        return series(texts, index=index, name=getattr(column, "name", None), dtype=series(["text"]).dtype)
    if package == "polars":
        return type(column)(column.name, texts, dtype=sys.modules["polars"].String)
    if package == "pyarrow":
        return sys.modules["pyarrow"].array(texts, "string")
    return np.array(texts, object) if package == "numpy" else tuple(texts) if isinstance(column, tuple) else texts


def assembled(frame, columns, places, drawn):
    """The frame of its columns at some places, with those that were drawn in place of their namesakes."""
    package = _package(frame)
    if package == "polars":
        return frame.select([columns[place][0] for place in places]).with_columns(list(drawn.values()))
    if package == "pyarrow":
        return _assembled_arrow(frame.select(places), drawn)
    if package != "pandas":
        return {name: drawn.get(name, column) for name, column in (columns[place] for place in places)}
    result = frame.iloc[:, places].copy()
    for name, column in drawn.items():
        result[name] = column
    return result


def _assembled_arrow(table, drawn):
    """With its schema, but for a column that is text now, or has missing values; what pandas noted is then not true."""
    columns, fields, metadata = list(table.columns), list(table.schema), table.schema.metadata or {}
    for place, field in enumerate(fields):
        if field.name in drawn:
            columns[place] = column = drawn[field.name]
            fields[place] = field.with_type(column.type).with_nullable(field.nullable or column.null_count > 0)
            if column.type != field.type:
                metadata = {name: value for name, value in metadata.items() if name != b"pandas"}
    return type(table).from_arrays(columns, schema=sys.modules["pyarrow"].schema(fields, metadata or None))

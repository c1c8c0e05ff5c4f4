"""Selects the adapter of a column, a table or a frame by its type's package and name, and those of the base classes."""

from functools import lru_cache

from linred._common.validation import type_name
from linred.columns.adapters.arrow_arrays import ArrowColumn, ArrowTable, CapsuleColumn, is_exported
from linred.columns.adapters.base import ColumnAdapter
from linred.columns.adapters.derived import CompositeColumn
from linred.columns.adapters.lists import DictTable, ListColumn
from linred.columns.adapters.numpy_arrays import ArrayTable, MaskedColumn, NumpyColumn
from linred.columns.adapters.pandas_series import PandasColumn, PandasTable
from linred.columns.adapters.polars_series import PolarsColumn, PolarsLazyTable, PolarsTable

_COLUMNS = {
    "numpy.MaskedArray": MaskedColumn,
    "numpy.ndarray": NumpyColumn,
    "pandas.Series": PandasColumn,
    "pandas.Index": PandasColumn,
    "pandas.ExtensionArray": PandasColumn,
    "polars.Series": PolarsColumn,
    "pyarrow.Array": ArrowColumn,
    "pyarrow.ChunkedArray": ArrowColumn,
}
_FRAMES = {
    "builtins.dict": DictTable,
    "pandas.DataFrame": PandasTable,
    "polars.DataFrame": PolarsTable,
    "pyarrow.RecordBatch": ArrowTable,
    "pyarrow.Table": ArrowTable,
}
_TABLES = _FRAMES | {"numpy.ndarray": ArrayTable}
_LAZY_FRAMES = {"polars.LazyFrame": PolarsLazyTable}


def _kind(kinds, value):
    """Return the adapter of a value by the name of its type or a base class, so that no package is imported."""
    return next((kinds[name] for name in _type_names(type(value)) if name in kinds), None)


@lru_cache(maxsize=256)
def _type_names(cls):
    return tuple(f"{base.__module__.partition('.')[0]}.{base.__name__}" for base in cls.__mro__)


def adapter_of(name, column):
    """Return the `ColumnAdapter` of a column or a table of columns; an adapter is returned as it is.

    A column is a list or a one-dimensional array of any kind. A table is a frame, a dict of columns or a
    two-dimensional array, and its records are tuples. Error messages call it `name`.
    """
    kind = _kind(_TABLES, column)
    if kind is None or (kind is ArrayTable and column.ndim != 2):
        return _column_of(name, column)
    table = kind(column)
    parts = [(key, _column_of(f"{name}[{key!r}]", part)) for key, part in table.columns()]
    if not parts:
        raise ValueError(f"{name} is a table without columns")
    return CompositeColumn(name, table, parts)


def symbol_of(name, columns):
    """Return the `ColumnAdapter` of {name: column}: of the only column, or of several as one composite symbol."""
    return adapter_of(name, columns if len(columns) > 1 else next(iter(columns.values())))


def passing(name, column):
    """Return a column for publication, without values that no record has: see `ColumnAdapter.passing`."""
    kind = _kind(_COLUMNS, column)
    return column if kind is None else kind(name, column).passing()


def _column_of(name, column):
    if isinstance(column, ColumnAdapter):
        return column
    kind = _kind(_COLUMNS, column)
    if kind is not None:
        return kind(name, column)
    is_lazy = hasattr(column, "collect")
    if not is_lazy and is_exported(column):
        return CapsuleColumn(name, column)
    if is_lazy or isinstance(column, str | bytes | set | frozenset | dict) or not hasattr(column, "__iter__"):
        raise ValueError(f"{name} is a {type_name(column)}, not a column of records in order")
    return ListColumn(name, column)


def frame_of(frame):
    """Return the `TableAdapter` of a frame, whose columns must all have the same number of records."""
    kind = _kind(_FRAMES | _LAZY_FRAMES, frame)
    if kind is None:
        raise ValueError(f"frame is a {type_name(frame)}, not a pandas, Polars or Arrow table or a dict of columns")
    if not kind(frame).names:
        raise ValueError("frame is a table without columns")
    for name, column in frame.items() if kind is DictTable else ():
        if not hasattr(column, "__len__"):
            raise ValueError(f"column {name!r} is a {type_name(column)}, not a column of records in order")
        n_first = len(next(iter(frame.values())))
        if len(column) != n_first:
            raise ValueError(f"column {name!r} has {len(column)} records, and the first column {n_first}")
    return kind(frame)

"""Series, DataFrame and LazyFrame of Polars. One of these exists only once Polars is imported."""

import re
import sys
from functools import partial

import numpy as np

from linred.columns import encoded_column
from linred.columns.adapters.base import ColumnAdapter, TableAdapter, drawn_categories
from linred.columns.alphabet import check_kept


class PolarsColumn(ColumnAdapter):
    """A Series."""

    @property
    def dtype_name(self):
        return str(self.dtype.base_type())  # the text of an Enum lists its categories

    @property
    def _is_enum(self):
        return isinstance(self.dtype, sys.modules["polars"].Enum)

    def array(self):
        plain = re.fullmatch("U?Int(8|16|32|64)", str(self.dtype)) and not self.column.null_count()
        return self.column.to_numpy() if plain else None

    def encoded(self, sort):
        """Encode an Enum by its categories, and a Categorical by its texts: its codes depend on earlier columns."""
        if getattr(self.dtype, "time_unit", None) == "ns":
            raise ValueError(
                f"{self.name} is a Polars column of {self.dtype}: Python has no nanoseconds; cast it to microseconds"
            )
        if self._is_enum:
            codes = self.column.to_physical().cast(int).fill_null(-1).to_numpy()
            return encoded_column.of_categories(self.name, codes, self.dtype.categories.to_list())
        return super().encoded(sort)

    def make_decoder(self, labels):
        dtype = self.dtype
        if self._is_enum:
            dtype = sys.modules["polars"].Enum(drawn_categories(dtype.categories.to_list(), labels, is_ordered=True))
        values = type(self.column)(self.column.name, list(labels), dtype=dtype, strict=True)
        check_kept(labels, values.to_list())
        return lambda codes: values.gather(codes.astype(np.uint32, copy=False))

    def text_column(self, texts):
        return type(self.column)(self.column.name, texts, dtype=sys.modules["polars"].String)

    def passing(self):
        """Return the column with only the categories of its Enums that occur; a Categorical exports no others."""
        series, dtype = _without_hidden(self.column), _occurring(self.column)
        if dtype == self.dtype:
            return series
        return series.cast(_with_enums(dtype, _as_text)).cast(dtype)  # not every nested Enum casts to another


def _without_hidden(series):
    """Return the series without values that nulls may hide, and without those of rows that were filtered out."""
    values = _compact(series.drop_nulls())
    if not series.null_count():
        return values
    is_value = series.is_not_null()
    places = is_value.cum_sum().cast(int) - 1
    return values.gather(places.set(~is_value, None))


def _compact(series):
    """Copy a series without nulls: texts and lists share their memory with rows that were filtered out."""
    polars, dtype = sys.modules["polars"], series.dtype
    if isinstance(dtype, polars.String):
        return series + ""  # the shortest way to a copy of the bytes
    if isinstance(dtype, polars.Binary):
        return series.bin.encode("hex").str.decode("hex")
    if isinstance(dtype, polars.Struct) and dtype.fields:
        fields = [_without_hidden(field) for field in series.struct.unnest().get_columns()]
        return polars.DataFrame(fields).to_struct(series.name)
    if isinstance(dtype, polars.Array) and dtype.size:
        return _compact(series.arr.to_list()).list.to_array(dtype.size)
    return _compact_lists(series) if isinstance(dtype, polars.List) else series


def _compact_lists(series):
    polars, lengths = sys.modules["polars"], series.list.len().to_numpy()
    values = _without_hidden(series.filter(lengths > 0).explode()).alias("value")
    owners = polars.Series("owner", np.repeat(np.arange(lengths.size), lengths))
    lists = polars.DataFrame([owners, values]).group_by("owner", maintain_order=True).agg("value")["value"]
    lists = polars.concat([lists.alias(series.name), polars.Series(series.name, [[]], series.dtype)])
    places = np.where(lengths > 0, np.cumsum(lengths > 0) - 1, len(lists) - 1)
    return lists.gather(places.astype(np.uint32))


def _occurring(series):
    """Return the type of a series with only those categories of its Enums that occur."""
    polars, dtype = sys.modules["polars"], series.dtype
    if isinstance(dtype, polars.Enum):
        occurring = set(series.unique().to_list())
        return polars.Enum([category for category in dtype.categories.to_list() if category in occurring])
    if isinstance(dtype, polars.List):
        return polars.List(_occurring(series.explode()))
    if isinstance(dtype, polars.Array):
        return polars.Array(_occurring(series.arr.explode()), dtype.size)
    if isinstance(dtype, polars.Struct):
        return polars.Struct(
            [polars.Field(one.name, _occurring(series.struct.field(one.name))) for one in dtype.fields]
        )
    return dtype


def _with_enums(dtype, replace):
    """Return a type with each Enum in it replaced by replace(Enum)."""
    polars = sys.modules["polars"]
    if isinstance(dtype, polars.Enum):
        return replace(dtype)
    if isinstance(dtype, polars.List):
        return polars.List(_with_enums(dtype.inner, replace))
    if isinstance(dtype, polars.Array):
        return polars.Array(_with_enums(dtype.inner, replace), dtype.size)
    if isinstance(dtype, polars.Struct):
        return polars.Struct([polars.Field(one.name, _with_enums(one.dtype, replace)) for one in dtype.fields])
    return dtype


def _as_text(enum):
    return sys.modules["polars"].String()


def _declared(enum):
    """Return the type itself, or Categorical for an Enum without categories, as a frame without records gives it."""
    return enum if len(enum.categories) else sys.modules["polars"].Categorical()


class PolarsTable(TableAdapter):
    """A DataFrame."""

    def columns(self):
        return [(column.name, column) for column in self.table.get_columns()]

    def replaced(self, places, new, keep_metadata=False):
        columns = self.table.get_columns()
        return type(self.table)([new.get(place, columns[place]) for place in places])


class PolarsLazyTable(PolarsTable):
    """A LazyFrame. Before it is collected, only the names and types of its columns are known."""

    @property
    def names(self):
        return self.table.collect_schema().names()

    def in_memory(self, names):
        return PolarsTable(self.table.select(names).collect())

    def mapped(self, function, needed):
        """Return the lazy result of a function that is first called with no records, which raises its errors now.

        Optimisations are off, because the frame must arrive whole: records are drawn by their numbers, and a predicate
        that is pushed down would select records by their unprotected x. A lazy frame declares its types before the
        values of an Enum are known, so an Enum that passes becomes a Categorical.
        """
        schema = self.table.collect_schema()
        result = function(sys.modules["polars"].DataFrame(schema=schema))
        types = {name: _with_enums(dtype, _declared) for name, dtype in result.schema.items()}
        read = [name for name in schema.names() if name in needed or name in result.columns]
        optimisations = ("predicate_pushdown", "projection_pushdown", "slice_pushdown", "streamable")
        return self.table.select(read).map_batches(
            partial(_cast, function, types), schema=types, **dict.fromkeys(optimisations, False)
        )


def _cast(function, types, frame):
    """Return function(frame), cast to the types that were declared before the frame was read."""
    result = function(frame)
    return result.cast({name: _with_enums(dtype, _as_text) for name, dtype in result.schema.items()}).cast(types)

"""Polars: Series, DataFrame, LazyFrame. The package is there, where one of these is."""

import re
import sys

import numpy as np

from linred.columns import encoded_column
from linred.columns.adapters.base import ColumnAdapter, TableAdapter
from linred.columns.alphabet import check_kept


class PolarsColumn(ColumnAdapter):
    def array(self):
        plain = re.fullmatch("U?Int(8|16|32|64)", str(self.dtype)) and not self.column.null_count()
        return self.column.to_numpy() if plain else None

    def encoded(self, sort):
        """An Enum declares its categories; the physical codes of a Categorical depend on what came before them."""
        if getattr(self.dtype, "time_unit", None) == "ns":
            raise ValueError(
                f"{self.name} is a Polars column of {self.dtype}: Python has no nanoseconds, cast it to 'us'"
            )
        if isinstance(self.dtype, sys.modules["polars"].Enum):
            codes = self.column.to_physical().cast(int).fill_null(-1).to_numpy()
            return encoded_column.of_categories(self.name, codes, self.dtype.categories.to_list())
        return super().encoded(sort)

    def make_decoder(self, labels):
        values = type(self.column)(self.column.name, list(labels), dtype=self.dtype, strict=True)
        check_kept(labels, values.to_list())
        return lambda codes: values.gather(codes.astype(np.uint32, copy=False))

    def text_column(self, texts):
        return type(self.column)(self.column.name, texts, dtype=sys.modules["polars"].String)


class PolarsTable(TableAdapter):
    def columns(self):
        return [(column.name, column) for column in self.table.get_columns()]

    def replaced(self, places, drawn):
        columns = self.table.get_columns()
        return type(self.table)([drawn.get(place, columns[place]) for place in places])


class PolarsLazyTable(PolarsTable):
    """A frame that is read when it is collected: of its columns, only names and types are known before."""

    @property
    def names(self):
        return self.table.collect_schema().names()

    def in_memory(self, names):
        return PolarsTable(self.table.select(names).collect())

    def mapped(self, function, needed):
        """A predicate that were pushed down would choose records by the x that is to be hidden; and records are drawn
        by their numbers, so that the frame must come whole."""
        schema = self.table.collect_schema()
        result = function(sys.modules["polars"].DataFrame(schema=schema))  # of no records: what is wrong is said now
        read = [name for name in schema.names() if name in needed or name in result.columns]
        optimisations = ("predicate_pushdown", "projection_pushdown", "slice_pushdown", "streamable")
        return self.table.select(read).map_batches(
            function, schema=result.schema, **dict.fromkeys(optimisations, False)
        )

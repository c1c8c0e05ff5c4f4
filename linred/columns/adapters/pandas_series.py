"""pandas: Series, Index, its arrays, DataFrame. The package is there, where one of these is."""

import math
import sys
from functools import cached_property

import numpy as np

from linred.columns import encoded_column
from linred.columns.adapters.base import ColumnAdapter, TableAdapter
from linred.columns.adapters.numpy_arrays import label_array
from linred.columns.alphabet import check_kept, with_new


class PandasColumn(ColumnAdapter):
    """A Series, an Index or an array of pandas."""

    @cached_property
    def _series(self):
        kind = sys.modules["pandas"].Series
        return self.column if isinstance(self.column, kind) else kind(self.column)

    @property
    def _is_categorical(self):
        return isinstance(self.dtype, sys.modules["pandas"].CategoricalDtype)

    def value_at(self, record):
        value = getattr(self.column, "iloc", self.column)[record]
        return value.item() if isinstance(value, np.generic) else value

    def array(self):
        """Of objects where values are missing from an extension array: integers would become floats."""
        extension = not isinstance(self.dtype, np.dtype)
        return self.column.to_numpy(dtype=object if extension and self.column.isna().any() else None)

    def encoded(self, sort):
        if not self._is_categorical:
            return super().encoded(sort)
        categorical = self._series.cat
        return encoded_column.of_categories(self.name, categorical.codes.to_numpy(), categorical.categories.tolist())

    def floats(self):
        return self.column.to_numpy(dtype=float, na_value=math.nan)

    def make_decoder(self, labels):
        pandas, values, own = sys.modules["pandas"], self._label_values(labels), self._series

        def decode(codes):
            drawn = values.take(codes.astype(np.intp))
            series = pandas.Series(drawn, index=own.index, name=own.name, dtype=values.dtype)
            if isinstance(self.column, pandas.Index):
                return pandas.Index(series, name=self.column.name)
            return series if self.column is own else series.array

        return decode

    def _label_values(self, labels):
        pandas, series = sys.modules["pandas"], self._series
        if self._is_categorical:
            own, ordered = series.cat.categories.tolist(), series.cat.ordered
            categories, recode = with_new(own, series.cat.codes, labels, ordered)
            dtype = self.dtype if categories == own else pandas.CategoricalDtype(categories, ordered)
            return pandas.Categorical.from_codes(recode, dtype=dtype)
        if isinstance(series.dtype, np.dtype):  # of the Series: that of an array of pandas may only wrap one
            return pandas.Series(label_array(series.dtype, labels), dtype=series.dtype).array
        values = pandas.array(list(labels), dtype=self.dtype)
        check_kept(labels, values.tolist())
        return values

    def text_column(self, texts):
        series, own = sys.modules["pandas"].Series, self._series
        return series(texts, index=own.index, name=own.name, dtype=series(["text"]).dtype)


class PandasTable(TableAdapter):
    @property
    def index_names(self):
        return self.table.index.names

    @property
    def names(self):
        return self.table.columns.tolist()

    def columns(self):
        return [(name, self.table.iloc[:, place]) for place, name in enumerate(self.table.columns)]

    def replaced(self, places, drawn):
        result = self.table.iloc[:, list(places)].copy()
        for new_place, place in enumerate(places):
            if place in drawn:
                result.isetitem(new_place, drawn[place])
        return result

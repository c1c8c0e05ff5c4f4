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

    def __init__(self, name, column):
        super().__init__(name, column)
        self._pandas = sys.modules["pandas"]
        self._is_series = isinstance(column, self._pandas.Series)
        self._is_categorical = isinstance(self.dtype, self._pandas.CategoricalDtype)

    @cached_property
    def _series(self):
        return self.column if self._is_series else self._pandas.Series(self.column)

    def value_at(self, record):
        value = self.column.iloc[record] if self._is_series else self.column[record]
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
        pandas, values, own = self._pandas, self._label_values(labels), self._series

        def decode(codes):
            drawn = values.take(codes.astype(np.intp))
            return pandas.Series(drawn, index=own.index, name=own.name, dtype=values.dtype)

        if self._is_series:
            return decode
        if isinstance(self.column, pandas.Index):
            return lambda codes: pandas.Index(decode(codes), name=self.column.name)
        return lambda codes: decode(codes).array

    def _label_values(self, labels):
        """The labels as an array of pandas."""
        pandas, series = self._pandas, self._series
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
        series, own = self._pandas.Series, self._series
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

"""Series, Index, arrays and DataFrame of pandas. One of these exists only once pandas is imported."""

import math
import sys
from functools import cached_property

import numpy as np

from linred.columns import encoded_column
from linred.columns.adapters.arrow_buffers import rebuilt
from linred.columns.adapters.base import ColumnAdapter, TableAdapter, drawn_categories
from linred.columns.adapters.numpy_arrays import label_array
from linred.columns.alphabet import check_kept


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
        value = self.read(getattr(self.column, "iloc", self.column).__getitem__, record)
        return value.item() if isinstance(value, np.generic) else value

    def array(self):
        """Return objects if an extension array has missing values, which would turn integers into floats."""
        extension = not isinstance(self.dtype, np.dtype)
        return self.read(self.column.to_numpy, object if extension and self.column.isna().any() else None)

    def encoded(self, sort):
        if not self._is_categorical:
            return super().encoded(sort)
        categorical = self._series.cat
        categories = self.read(categorical.categories.tolist)
        return encoded_column.of_categories(self.name, categorical.codes.to_numpy(), categories)

    def floats(self):
        return self.column.to_numpy(dtype=float, na_value=math.nan)

    def make_decoder(self, labels):
        pandas, values, own = sys.modules["pandas"], self._label_values(labels), self._series

        def decode(codes):
            drawn = values.take(codes.astype(np.intp))
            series = pandas.Series(drawn, index=passing_index(own.index), name=own.name, dtype=values.dtype)
            if isinstance(self.column, pandas.Index):
                return pandas.Index(series, name=self.column.name)
            return series if self.column is own else series.array

        return decode

    def _label_values(self, labels):
        pandas, series = sys.modules["pandas"], self._series
        if self._is_categorical:
            own, is_ordered = series.cat.categories.tolist(), series.cat.ordered
            categories = drawn_categories(own, labels, is_ordered)
            dtype = self.dtype if categories == own else pandas.CategoricalDtype(categories, is_ordered)
            place = {category: code for code, category in enumerate(categories)}
            return pandas.Categorical.from_codes([place.get(label, -1) for label in labels], dtype=dtype)
        if isinstance(series.dtype, np.dtype):  # of the Series: an array of pandas may wrap one of NumPy
            return pandas.Series(label_array(series.dtype, labels), dtype=series.dtype).array
        values = pandas.array(list(labels), dtype=self.dtype)
        check_kept(labels, values.tolist())
        return values

    def text_column(self, texts):
        series, own = sys.modules["pandas"].Series, self._series
        return series(texts, index=passing_index(own.index), name=own.name, dtype=series(["text"]).dtype)

    def passing(self):
        pandas, own = sys.modules["pandas"], self._series
        array = self._passing_array(own.array)
        if isinstance(self.column, pandas.Index):
            return self.column if array is own.array else pandas.Index(array, name=self.column.name)
        if self.column is not own:
            return array
        index = passing_index(own.index)
        if array is own.array and index is own.index and not own.attrs:
            return own
        return pandas.Series(array, index=index, name=own.name, copy=True)

    def _passing_array(self, array):
        """Return an array of pandas without the values that its categories, slices or masks hide."""
        pandas = sys.modules["pandas"]
        if self._is_categorical:
            return array.astype(_occurring(self._series))
        if isinstance(self.dtype, pandas.ArrowDtype) or getattr(self.dtype, "storage", None) == "pyarrow":
            return pandas.array(rebuilt(array.__arrow_array__()), dtype=self.dtype)
        if isinstance(self.dtype, pandas.SparseDtype) and array.sp_index.npoints == len(array):
            return array.astype(pandas.SparseDtype(self.dtype.subtype))  # no record has the value that fills gaps
        if isinstance(self.dtype, np.dtype) or not hasattr(self.dtype, "numpy_dtype") or not array.isna().any():
            return array
        array, mask = array.copy(), array.isna()  # a masked array keeps values under its mask
        array[mask] = self.dtype.type(0)
        array[mask] = pandas.NA
        return array


def _occurring(series):
    """Return the dtype of a categorical with only the categories that occur: sorted, unless they are ordered."""
    used = series.cat.remove_unused_categories().cat
    categories = used.categories
    if not used.ordered:
        try:
            categories = categories.sort_values()
        except TypeError:  # values of several types
            categories = sorted(categories, key=repr)
    return sys.modules["pandas"].CategoricalDtype(categories, used.ordered)


class PandasTable(TableAdapter):
    """A DataFrame."""

    @property
    def index_names(self):
        return self.table.index.names

    @property
    def names(self):
        return self.table.columns.tolist()

    def columns(self):
        return [(name, self.table.iloc[:, place]) for place, name in enumerate(self.table.columns)]

    def replaced(self, places, new, keep_metadata=False):
        result = self.table.iloc[:, list(places)].copy()
        result.index, result.columns = passing_index(result.index), passing_index(result.columns)
        for new_place, place in enumerate(places):
            if place in new:
                result.isetitem(new_place, new[place].array)  # a Series would be aligned by its index
        if not keep_metadata:
            result.attrs = {}
        return result


def passing_index(index):
    """Return an index for publication, without levels and categories that do not occur."""
    if not isinstance(index, sys.modules["pandas"].MultiIndex):
        return PandasColumn("index", index).passing()
    index = index.remove_unused_levels()
    return index.set_levels([PandasColumn("index", level).passing() for level in index.levels])

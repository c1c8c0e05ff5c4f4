"""Columns of numbers that are sorted into bins."""

import numpy as np

from linred.columns import encoded
from linred.columns.adapters.base import ColumnAdapter
from linred.columns.alphabet import as_objects


class BinnedColumn(ColumnAdapter):
    """The bins of another column's numbers; what is drawn is text, as the kind of column that the other is."""

    def __init__(self, spec, column):
        """spec: `ColumnSpec` with edges. column: `ColumnAdapter`."""
        super().__init__(column.name, column)
        codes = spec.codes(column.numbers())
        self._bins, self._codes = spec.bins, np.where(codes > len(spec.edges), -1, codes)

    def values(self):
        return [self.value_at(record) for record in range(len(self))]

    def value_at(self, record):
        return None if self._codes[record] < 0 else self._bins[self._codes[record]]

    def encoded(self, sort):
        return encoded.of_categories(self.name, self._codes, self._bins)

    def make_decoder(self, labels):
        texts = as_objects(labels)
        return lambda codes: self.text_column(texts[codes].tolist())

    def text_column(self, texts):
        return self.column.text_column(texts)

"""NumPy arrays: one-dimensional, masked, and two-dimensional ones, which are tables."""

import math

import numpy as np

from linred.columns import encoded_column
from linred.columns.adapters.base import ColumnAdapter, TableAdapter
from linred.columns.alphabet import as_objects, check_kept


class NumpyColumn(ColumnAdapter):
    """A one-dimensional array."""

    @property
    def are_codes(self):
        array = self.column
        return type(array) is np.ndarray and array.ndim == 1 and array.dtype.kind in "iu" and array.dtype.isnative

    def array(self):
        return self.column

    def codes_in(self, encoder):
        if not (encoder.is_range and self.are_codes):
            return super().codes_in(encoder)
        codes, n_labels = self.column, len(encoder.labels)
        if codes.size == 0 or (codes.min() >= 0 and codes.max() < n_labels):
            return codes
        unknown = (codes < 0) | (codes >= n_labels)  # int64, because the column's own type may not hold n_labels
        return encoded_column.narrow(np.where(unknown, n_labels, codes.astype(np.int64)), n_labels + 1)

    def make_decoder(self, labels):
        values = label_array(self.dtype, labels)
        if self.dtype.kind in "iu" and labels == tuple(range(len(labels))):
            return lambda codes: codes.astype(self.dtype, copy=False)
        return lambda codes: values[codes]

    def text_column(self, texts):
        return np.array(texts, object)


class MaskedColumn(NumpyColumn):
    """A masked array. A masked value is missing."""

    def array(self):
        return None

    def floats(self):
        return self.column.astype(float).filled(math.nan)

    def make_decoder(self, labels):
        missing, some = np.array([label is None for label in labels]), next((x for x in labels if x is not None), 0)
        values = label_array(self.dtype, [some if label is None else label for label in labels])
        return lambda codes: np.ma.array(values[codes], mask=missing[codes])

    def passing(self):
        if self.dtype.names:
            return self.column
        visible = self.column.filled(np.zeros((), self.dtype))  # the data under the mask would be published
        return np.ma.array(visible, mask=self.column.mask)  # without its fill_value, which no record may have


def label_array(dtype, labels):
    """Return the labels as an array of `dtype`, widened if a text is longer."""
    if dtype.kind == "O":
        return as_objects(labels)
    if None in labels and dtype.kind not in "fmM":
        raise ValueError("an array of this type has no missing values")
    if dtype.kind in "US":
        values = np.array(labels)
        values = values.astype(np.promote_types(values.dtype, dtype))
    else:
        values = np.array([math.nan if label is None and dtype.kind == "f" else label for label in labels], dtype)
    check_kept(labels, values if dtype.kind in "mM" else values.tolist())
    return values


class ArrayTable(TableAdapter):
    """A two-dimensional array with a row for each record."""

    def columns(self):
        return [(place, self.table[:, place]) for place in range(self.table.shape[1])]

    def replaced(self, places, new, keep_metadata=False):
        return np.stack([new.get(place, self.table[:, place]) for place in places], axis=1)

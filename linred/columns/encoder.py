"""Values to codes: `Encoder` for an alphabet that is known, `encode` for one that is read off a column too."""

from functools import cached_property

import numpy as np

from linred._kernels import recoding
from linred.columns.adapters.kinds import adapter_of
from linred.columns.alphabet import check_labels
from linred.columns.encoded_column import EncodedColumn, narrow


class Encoder:
    """Codes by the place of each value in an alphabet, the number of labels for any other value.

    Made once for an alphabet, and used for every column, batch and file. labels: see `check_labels`.

    >>> Encoder(("a", "b", None)).codes("x", ["b", "c", float("nan"), "a"]).tolist()
    [1, 3, 2, 0]
    """

    def __init__(self, labels):
        self.labels, self.is_range = labels, labels == tuple(range(len(labels)))

    @cached_property
    def with_missing(self):
        """The encoder of the alphabet and of missing values, where these are none of its labels."""
        return Encoder((*self.labels, None))

    @cached_property
    def _place(self):
        return {label: place for place, label in enumerate(self.labels)}

    def codes(self, name, column):
        """Of a column, a table of columns or an adapter; an error calls it by `name`."""
        return adapter_of(name, column).codes_in(self)

    def recoding_table(self, values):
        """Codes of a few values, None for missing, as a table for `recoding.recode`."""
        n_labels = len(self.labels)
        return narrow(np.array([self._place.get(value, n_labels) for value in values], np.int64), n_labels + 1)

    def recoded(self, column):
        """Codes of an `EncodedColumn`."""
        if self.labels[: len(column.labels)] == column.labels:
            return column.codes
        return recoding.recode(column.codes, self.recoding_table(column.labels))

    def first_unknown(self, codes):
        """The first record whose value is no label; None where there is none."""
        n_labels = len(self.labels)
        return None if codes.max(initial=0) < n_labels else int(np.argmax(codes == n_labels))


def encode(name, column, labels=None):
    """A column or a table of columns as `EncodedColumn`: over declared labels, all other values being an error, or over
    those that occur, sorted.

    A column of integers whose labels are declared to be 0, 1, 2, ... is taken as it is, without a look at its
    values: every kernel that reads codes checks their range.
    """
    if labels is None:
        return adapter_of(name, column).encoded(sort=True)
    encoder, adapter = Encoder(check_labels(f"{name}_labels", labels)), adapter_of(name, column)
    if encoder.is_range and adapter.are_codes:
        return EncodedColumn(column, encoder.labels)
    codes = adapter.codes_in(encoder)
    record = encoder.first_unknown(codes)
    if record is not None:
        raise ValueError(f"{name}[{record}] is not in {name}_labels=, which must list every value of the column")
    return EncodedColumn(codes, encoder.labels)

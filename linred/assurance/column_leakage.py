"""What a column that is published unchanged reveals about S, counted in one pass and in bounded memory."""

from itertools import islice

import numpy as np

from linred.columns.encoded_column import EncodedColumn
from linred.columns.schema import Leak
from linred.distribution.joint import Joint
from linred.distribution.tally import Tally
from linred.privacy import metrics

MOST_CELLS = 2**22
"""Largest table of counts of S and the column: 32 MB of integers."""
MOST_VALUES, N_BINS = 4096, 256
"""Largest number of values that are counted separately; number of bins for numbers with more distinct values."""
OTHERS = ("others",)
"""Label of all values that are not counted separately. A tuple cannot be a value of a column."""


class ColumnLeakage:
    """Counts a column that would be published unchanged against S.

    The first `MOST_VALUES` values are counted separately, all others as one. Numbers with more distinct values in the
    first batch are sorted into bins of equal size. Both can only lower the measured leakage.

    Attributes
    ----------
    measured : False if its values cannot be distinguished, such as lists, or need too large a table.
    """

    def __init__(self, name):
        self.name, self.measured, self._tally = name, True, Tally(f"S and {name}", MOST_CELLS)
        self._edges, self._values, self._others = None, {}, False

    def add(self, s, column):
        """Count a batch of records: S as an `EncodedColumn`, the column as an `ArrowColumn`."""
        if self.measured:
            try:
                self._tally.add(s, self._encoded(column))
            except (ValueError, TypeError, ArithmeticError, NotImplementedError):
                self.measured = False

    def _encoded(self, column):
        if self._edges is None and not self._others:
            found = column.dictionary()
            values = found.labels[:-1]
            if not self._values and len(values) > MOST_VALUES:
                self._edges = _edges_of(column)
            if self._edges is None:
                self._values.update(dict.fromkeys(values))
                self._others = len(self._values) > MOST_VALUES
                if not self._others:
                    return found
        return self._among_others(column) if self._edges is None else self._in_bins(column)

    def _in_bins(self, column):
        numbers, n_bins = column.parsed_numbers(), self._edges.size + 1
        codes = np.where(np.isnan(numbers), n_bins, np.searchsorted(self._edges, numbers, side="right"))
        return EncodedColumn(codes, (*range(n_bins), None))

    def _among_others(self, column):
        known = [value for value in islice(self._values, MOST_VALUES) if value is not None]
        return EncodedColumn(column.among(known), (*known, OTHERS))

    def leak(self, n_records):
        """Return the `Leak` after all n_records were counted."""
        if self._tally.n_records != n_records:
            raise RuntimeError(
                f"{self._tally.n_records:,} of {n_records:,} records were counted for column {self.name!r}"
            )
        counts = self._tally.counts
        counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
        n_s, n_values = counts.shape
        information = metrics.mutual_information(Joint.from_counts(counts))
        by_chance = (n_s - 1) * (n_values - 1) / (2.0 * n_records)
        guessed = float(counts.max(axis=0).sum() / n_records)
        at_least = self._others or self._edges is not None
        return Leak(self.name, n_values, information, by_chance, guessed, at_least)


def _edges_of(column):
    """Return edges of bins with about equally many records; None if the values are not numbers."""
    try:
        numbers = column.parsed_numbers()
    except (ValueError, TypeError, NotImplementedError):
        return None
    numbers = numbers[np.isfinite(numbers)]
    return np.unique(np.quantile(numbers, np.arange(1, N_BINS) / N_BINS)) if numbers.size else None

"""What a column that is published as it is tells about S, counted in one pass and in bounded memory."""

from itertools import islice

import numpy as np

from linred.columns.encoded_column import EncodedColumn
from linred.columns.schema import Leak
from linred.distribution.joint import Joint
from linred.distribution.tally import Tally
from linred.privacy import metrics

MOST_CELLS = 2**22
"""Of the table of counts of S and the column: 32 MB of numbers."""
MOST_VALUES, N_BINS = 4096, 256
"""Values that are told apart, and bins of numbers that are more."""
OTHERS = ("others",)
"""The label of all values that are not told apart; a tuple is no value of a column."""


class ColumnLeakage:
    """A column that would pass, counted against S. The first `MOST_VALUES` values are told apart, all others are one;
    numbers that are more from the start are sorted into bins of equal size. Both can only lose information.

    Attributes
    ----------
    measured : False where its values cannot be told apart, those of lists say, or are too many.
    """

    def __init__(self, name):
        self.name, self.measured, self._tally = name, True, Tally(f"S and {name}", MOST_CELLS)
        self._edges, self._values, self._others = None, {}, False

    def add(self, s, column):
        """Count records: S as an `EncodedColumn`, the column as an `ArrowColumn`."""
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
        """The `Leak`, once all of so many records were counted."""
        if self._tally.n_records != n_records:
            raise RuntimeError(f"{self._tally.n_records:,} of {n_records:,} records were counted for {self.name!r}")
        counts = self._tally.counts
        counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
        n_s, n_values = counts.shape
        information = metrics.mutual_information(Joint.from_counts(counts))
        by_chance = (n_s - 1) * (n_values - 1) / (2.0 * n_records)
        guessed = float(counts.max(axis=0).sum() / n_records)
        at_least = self._others or self._edges is not None
        return Leak(self.name, n_values, information, by_chance, guessed, at_least)


def _edges_of(column):
    """Edges of bins that hold about as many records each; None where the values are no numbers."""
    try:
        numbers = column.parsed_numbers()
    except (ValueError, TypeError, NotImplementedError):
        return None
    numbers = numbers[np.isfinite(numbers)]
    return np.unique(np.quantile(numbers, np.arange(1, N_BINS) / N_BINS)) if numbers.size else None

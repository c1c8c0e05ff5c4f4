"""Counts records that come in batches, each with labels of its own."""

import math

import numpy as np

from linred._kernels import counting
from linred.distribution.joint import Joint
from linred.errors import FileError

MOST_LABELS = 2**22
"""The largest alphabet of either column."""


class Tally:
    """Counts of pairs of labels, over alphabets that grow with each batch.

    what : the columns that are counted, for errors. most_cells : the largest table of counts that is allowed.
    """

    def __init__(self, what, most_cells):
        self._what, self._most_cells = what, most_cells
        self._places, self.counts = ({}, {}), np.zeros((0, 0), np.int64)

    @property
    def n_records(self):
        """Number of records counted so far."""
        return int(self.counts.sum())

    @property
    def labels(self):
        """The labels of both columns, in the order in which they came."""
        return [tuple(place) for place in self._places]

    def add(self, s, x):
        """Count the records of two `EncodedColumn`s of the same length."""
        where = []
        for place, column in zip(self._places, (s, x), strict=True):
            where.append([place.setdefault(label, len(place)) for label in column.labels])
        shape = tuple(map(len, self._places))
        check_size(self._what, shape, self._most_cells)
        if shape != self.counts.shape:
            grown = np.zeros(shape, np.int64)
            grown[: self.counts.shape[0], : self.counts.shape[1]] = self.counts
            self.counts = grown
        counts = counting.count_pairs(s.codes, x.codes, len(s.labels), len(x.labels), names=("s", "x"))
        np.add.at(self.counts, np.ix_(*where), counts)  # two codes may have one label: NaN and null

    def joint(self, alphabets):
        """Return the Joint over two alphabets that contain all labels that came."""
        s, x = ([place[label] for label in alphabet] for place, alphabet in zip(self._places, alphabets, strict=True))
        return Joint.from_counts(self.counts[np.ix_(s, x)], *alphabets)


def check_size(what, shape, most_cells):
    """Check that a table of counts for alphabets of this shape fits into memory."""
    if math.prod(shape) > most_cells or max(shape) > MOST_LABELS:
        raise FileError(
            f"{what} have {shape[0]:,} and {shape[1]:,} values, too many for a table of counts: "
            "put numbers into --bins, or choose other columns"
        )

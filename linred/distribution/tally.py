"""Counts of records that come in batches, each with labels of its own."""

import math

import numpy as np

from linred._kernels import counting
from linred.distribution.joint import Joint
from linred.errors import FileError

MOST_LABELS = 2**22
"""Of either column."""


class Tally:
    """Counts of pairs of labels, over alphabets that grow as batches come. what: of which columns, for an error."""

    def __init__(self, what, most_cells):
        self._what, self._most_cells = what, most_cells
        self._places, self.counts = ({}, {}), np.zeros((0, 0), np.int64)

    @property
    def n_records(self):
        return int(self.counts.sum())

    @property
    def labels(self):
        """Those of both columns, as they came."""
        return [tuple(place) for place in self._places]

    def add(self, s, x):
        """Count two `EncodedColumn`s as long as each other."""
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
        np.add.at(self.counts, np.ix_(*where), counts)  # NaN and null, say, are two codes of one label

    def joint(self, alphabets):
        """The Joint over two alphabets that hold the labels that came, in their order."""
        s, x = ([place[label] for label in alphabet] for place, alphabet in zip(self._places, alphabets, strict=True))
        return Joint.from_counts(self.counts[np.ix_(s, x)], *alphabets)


def check_size(what, shape, most_cells):
    """That a table of counts of so many labels fits into memory."""
    if math.prod(shape) > most_cells or max(shape) > MOST_LABELS:
        raise FileError(
            f"{what} have {shape[0]:,} and {shape[1]:,} values, too many for a table of counts: "
            "sort numbers into --bins, or choose other columns"
        )

"""Tables: distributions over Y in compressed rows, and their builder."""

from typing import NamedTuple

import numpy as np


class Tables(NamedTuple):
    """Distributions over Y in compressed rows: table t has the symbols y[indptr[t]:indptr[t+1]], summing to one."""

    indptr: np.ndarray
    y: np.ndarray
    probability: np.ndarray


class Whole(NamedTuple):
    """The probabilities of a mechanism in whole numbers below 2^63, which are sampled exactly.

    keep, total : x is kept with probability keep / total, both |S| x |X|, 0 <= keep <= total and total > 0.
    weight : of each entry of the `Tables`, in proportion to its probability; positive.
    """

    keep: np.ndarray
    total: np.ndarray
    weight: np.ndarray

    def parts(self, table_of, indptr, y):
        """Return the keyword arguments of `Mechanism` for tables with these symbols; each double is rounded once."""
        total = self.total.astype(np.float64)
        sums = np.add.reduceat(self.weight, indptr[:-1]).astype(np.float64)
        tables = Tables(indptr, y, self.weight / np.repeat(sums, np.diff(indptr)))
        keep, move = (part.astype(np.float64) / total for part in (self.keep, self.total - self.keep))
        return {"keep": keep, "move": move, "table_of": table_of, "tables": tables, "whole": self}


class TableBuilder:
    """Builds `Tables` one distribution at a time; table 0 is P_Y."""

    def __init__(self, p_y):
        self._rows = []
        self.add(p_y)

    def add(self, p):
        """Append a table with the nonzero entries of p, of length |X|, and return its index.

        An all-zero p gives an empty table, which must not be sampled.
        """
        y = np.flatnonzero(p).astype(np.int32)
        self._rows.append((y, p[y]))
        return len(self._rows) - 1

    def tables(self):
        ends = np.cumsum([0, *(y.size for y, _ in self._rows)])
        return Tables(ends, *(np.concatenate(part) for part in zip(*self._rows, strict=True)))

"""Tables: distributions over Y in compressed rows, and their builder."""

from typing import NamedTuple

import numpy as np


class Tables(NamedTuple):
    """Distributions over Y in compressed rows: table t has the symbols y[indptr[t]:indptr[t+1]], summing to one."""

    indptr: np.ndarray
    y: np.ndarray
    probability: np.ndarray


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

"""P(y|s,x) as it is sampled, for statistics: doubles nearest to the integers, one s at a time, in few values."""

from typing import NamedTuple

import numpy as np

from linred.sampling.exact_certificate import Channel


class Rows(NamedTuple):
    """P(y|s,x) of one s. Symbols x that are drawn anew in the same way are a group: they share their values at every y
    but x itself.

    own : P(x|s,x), |X|.
    group : the group of each x, |X|.
    others : P(y|s,x) of the x in a group that are not y, groups x |X|.
    """

    own: np.ndarray
    group: np.ndarray
    others: np.ndarray

    def weights(self, of_x):
        """Sums of something over the x of each group that are not y, groups x |X|."""
        of_groups = np.bincount(self.group, of_x, len(self.others))[:, None]
        return np.where(self._holds_y(), of_groups - of_x, of_groups)

    def _holds_y(self):
        return self.group == np.arange(len(self.others))[:, None]

    def range(self):
        """(min over x, max over x) of P(y|s,x), each |X|: where P(y|s) lies whatever P(x|s) is."""
        empty = self.weights(np.ones(self.own.size)) == 0.0
        low = np.where(empty, np.inf, self.others).min(axis=0)
        high = np.where(empty, -np.inf, self.others).max(axis=0)
        return np.minimum(low, self.own), np.maximum(high, self.own)


class Realised:
    """The channel of a Sampler: `of(s)` is its `Rows`."""

    def __init__(self, sampler):
        from scipy.sparse import csr_array

        self._channel, self.sees_s = Channel(sampler), sampler.sees_s
        indptr, y, weight = self._channel._pieces
        share = np.ldexp(weight.astype(np.float64), -64)
        self._tables = csr_array((share, y, indptr), shape=(indptr.size - 1, sampler.shape[1]))
        self._tables.sum_duplicates()

    def of(self, s):
        s = s if self.sees_s else 0
        table, whole_keep = self._channel._table[s], self._channel._keep[s]
        keep, move = (np.ldexp(part.astype(np.float64), -64) for part in (whole_keep, 2**64 - whole_keep))
        moves, of_x = np.unique(move, return_inverse=True)
        kinds, group = np.unique(table * moves.size + of_x.ravel(), return_inverse=True)
        tables, nth = np.divmod(kinds, moves.size)
        others, group = self._tables[tables].toarray() * moves[nth, None], group.ravel()
        return Rows(keep + others[group, np.arange(keep.size)], group, others)

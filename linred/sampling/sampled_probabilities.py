"""P(y|s,x) as it is sampled: `Channel` in whole numbers, `Realised` in the nearest doubles, for statistics."""

from typing import NamedTuple

import numpy as np


class Channel:
    """P(y|s,x) of a sampler's tables, in whole numbers."""

    def __init__(self, sampler):
        joint, kernel = sampler.joint, sampler.kernel
        rows = kernel.rows.reshape(joint.shape[0] if sampler.sees_s else 1, -1)[:, : joint.shape[1]]
        first_cells, first_rows, table = np.unique(rows["first_cell"], return_index=True, return_inverse=True)
        self.pieces = _pieces_of(kernel.cells, first_cells, rows["log2_cells"].ravel()[first_rows])
        self.keep = np.broadcast_to(rows["keep"].astype(object), joint.shape)
        self.table = np.broadcast_to(table.reshape(rows.shape), joint.shape)
        self._joint, self.unseen = joint, joint.unseen if sampler.sees_s else joint.p_x[None, :] == 0.0

    def unseen_row(self):
        """Return P(y|s,x) for pairs that the fit never saw, as (numerators, denominator)."""
        numerators = np.zeros(self._joint.shape[1], object)
        self._draw(self.table[tuple(np.argwhere(self.unseen)[0])][None], np.ones(1, object), numerators)
        return numerators, 2**64

    def given(self, s, x):
        """Return P(y|s,x), as (numerators, denominator)."""
        numerators = np.zeros(self._joint.shape[1], object)
        self._draw(self.table[s, [x]], 2**64 - self.keep[s, [x]], numerators)
        numerators[x] += self.keep[s, x] << 64
        return numerators, 2**128

    def released_given(self, s):
        """Return P(y|s) = sum_x P(x|s) P(y|s,x), as (numerators, denominator)."""
        weights = _whole_weights(self._joint, s)
        numerators = (weights * self.keep[s]) << 64
        tables, of_x = np.unique(self.table[s], return_inverse=True)
        moved = np.zeros(tables.size, object)
        np.add.at(moved, of_x, weights * (2**64 - self.keep[s]))
        self._draw(tables, moved, numerators)
        return numerators, int(weights.sum()) << 128

    def kept_given(self, s):
        """Return the share of the records of s whose y is x, as (numerator, denominator)."""
        indptr, y, weight = self.pieces
        tables, n_x = self.table[s], self._joint.shape[1]
        sizes = indptr[tables + 1] - indptr[tables]
        pieces, x = _ranges(indptr[tables], sizes), np.repeat(np.arange(n_x), sizes)
        own, redrawn = y[pieces] == x, np.zeros(n_x, object)
        np.add.at(redrawn, x[own], weight[pieces[own]])
        weights = _whole_weights(self._joint, s)
        kept = (self.keep[s] << 64) + (2**64 - self.keep[s]) * redrawn
        return int((weights * kept).sum()), int(weights.sum()) << 128

    def _draw(self, tables, mass, numerators):
        """Add mass[t] * 2^64 P(y | table t) to numerators[y], over all given tables t."""
        indptr, y, weight = self.pieces
        sizes = indptr[tables + 1] - indptr[tables]
        pieces = _ranges(indptr[tables], sizes)
        np.add.at(numerators, y[pieces], np.repeat(mass, sizes) * weight[pieces])


class Rows(NamedTuple):
    """P(y|s,x) of one s. Symbols x that change with equal probability by the same table form a group.

    Within a group, P(y|s,x) is the same for every x other than y.

    Attributes
    ----------
    own : P(x|s,x), |X|.
    group : the group of each x, |X|.
    others : P(y|s,x) for the x of each group other than y, groups x |X|.
    """

    own: np.ndarray
    group: np.ndarray
    others: np.ndarray

    def weights(self, of_x):
        """Return the sum of `of_x` over the x of each group other than y, groups x |X|."""
        of_groups = np.bincount(self.group, of_x, len(self.others))[:, None]
        holds_y = self.group == np.arange(len(self.others))[:, None]
        return np.where(holds_y, of_groups - of_x, of_groups)

    def range(self):
        """Return (min over x, max over x) of P(y|s,x), each |X|: bounds on P(y|s) for any P(x|s)."""
        empty = self.weights(np.ones(self.own.size)) == 0.0
        low = np.where(empty, np.inf, self.others).min(axis=0)
        high = np.where(empty, -np.inf, self.others).max(axis=0)
        return np.minimum(low, self.own), np.maximum(high, self.own)


class Realised:
    """P(y|s,x) of a sampler's tables, in doubles."""

    def __init__(self, sampler):
        from scipy.sparse import csr_array

        self._channel = Channel(sampler)
        indptr, y, weight = self._channel.pieces
        share = np.ldexp(weight.astype(np.float64), -64)
        self._tables = csr_array((share, y, indptr), shape=(indptr.size - 1, sampler.shape[1]))
        self._tables.sum_duplicates()

    def of(self, s):
        """Return the `Rows` of one s."""
        table, whole_keep = self._channel.table[s], self._channel.keep[s]
        keep, move = (np.ldexp(part.astype(np.float64), -64) for part in (whole_keep, 2**64 - whole_keep))
        moves, of_x = np.unique(move, return_inverse=True)
        kinds, group = np.unique(table * moves.size + of_x.ravel(), return_inverse=True)
        tables, nth = np.divmod(kinds, moves.size)
        others, group = self._tables[tables].toarray() * moves[nth, None], group.ravel()
        return Rows(keep + others[group, np.arange(keep.size)], group, others)


def _pieces_of(cells, first_cells, log2_cells):
    """Return (indptr, y, weight): the pieces of tables of alias cells, weights out of 2^64. A y may have several."""
    sizes = np.left_shift(1, log2_cells.astype(np.int64))
    cell = cells[_ranges(first_cells.astype(np.int64), sizes)]
    shift = np.repeat(log2_cells.astype(np.uint64), sizes)
    own = cell["threshold"] >> shift
    full = (2 ** (64 - np.arange(64, dtype=object)))[shift.astype(np.intp)]
    y, weight = np.stack([cell["own"], cell["alias"]], axis=1), np.stack([own.astype(object), full - own], axis=1)
    there = np.stack([own > 0, np.ones(own.size, bool)], axis=1)  # a cell that is not divided is one piece
    ends = np.cumsum(there.sum(axis=1))[np.cumsum(sizes) - 1]
    return np.concatenate([[0], ends]), y[there].astype(np.intp), weight[there]


def _ranges(starts, sizes):
    """Return sizes[0] integers counted from starts[0], then sizes[1] integers from starts[1], and so on."""
    return np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())


def _whole_weights(joint, s):
    """Return whole numbers that are in proportion to P(x|s)."""
    if joint.counts is not None:
        return joint.counts[s].astype(object)
    mantissa, exponent = np.frexp(joint.p_x_given_s[s])
    mantissa = np.ldexp(mantissa, 53).astype(np.int64).astype(object)
    return mantissa << (exponent - exponent[mantissa != 0].min()).clip(0).astype(object)

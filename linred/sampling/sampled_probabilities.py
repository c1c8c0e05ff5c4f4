"""P(y|s,x) as it is sampled: `Channel` in whole numbers, `Realised` in the nearest doubles, for statistics."""

from typing import NamedTuple

import numpy as np

from linred.distribution.whole_weights import weights_given


class Channel:
    """P(y|s,x) of a sampler's tables, in whole numbers.

    x is kept with probability keep / total. Otherwise y is drawn from a table, whose pieces have weights out of their
    sum.
    """

    def __init__(self, sampler):
        joint, kernel = sampler.joint, sampler.kernel
        n_rows = joint.shape[0] if sampler.sees_s else 1
        rows = kernel.rows.reshape(n_rows, -1)[:, : joint.shape[1]]
        first_cells, first_rows, table = np.unique(rows["first_cell"], return_index=True, return_inverse=True)
        ends = first_cells, rows["log2_cells"].ravel()[first_rows]
        total = np.array(2**64, object)
        if kernel.limits is not None:
            total = kernel.limits.reshape(n_rows, -1)[:, : joint.shape[1]].astype(object)
        pieces_of = _pieces_of if kernel.limits is None else _whole_pieces_of
        self.pieces, self.sums = pieces_of(kernel.cells, *ends)
        self.keep = np.broadcast_to(rows["keep"].astype(object), joint.shape)
        self.total = np.broadcast_to(total, joint.shape)
        self.table = np.broadcast_to(table.reshape(rows.shape), joint.shape)
        self._joint, self.unseen = joint, joint.unseen if sampler.sees_s else joint.p_x[None, :] == 0.0

    def unseen_row(self):
        """Return P(y|s,x) for pairs that the fit never saw, as (numerators, denominator)."""
        table = self.table[tuple(np.argwhere(self.unseen)[0])][None]
        return self._drawn(table, np.ones(1, object)), int(self.sums[table[0]])

    def given(self, s, x):
        """Return P(y|s,x), as (numerators, denominator)."""
        one = np.zeros(self._joint.shape[1], object)
        one[x] = 1
        return self._of_weights(s, one)

    def released_given(self, s):
        """Return P(y|s) = sum_x P(x|s) P(y|s,x), as (numerators, denominator)."""
        return self._of_weights(s, weights_given(self._joint, s))

    def kept_given(self, s):
        """Return the share of the records of s whose y is x, as (numerator, denominator)."""
        indptr, y, weight = self.pieces
        tables, n_x = self.table[s], self._joint.shape[1]
        sizes = indptr[tables + 1] - indptr[tables]
        pieces, x = _ranges(indptr[tables], sizes), np.repeat(np.arange(n_x), sizes)
        own, redrawn = y[pieces] == x, np.zeros(n_x, object)
        np.add.at(redrawn, x[own], weight[pieces[own]])
        weights = weights_given(self._joint, s)
        kept, moved, denominator = self._kept_and_moved(s, weights)
        return int((kept + moved * redrawn).sum()), int(weights.sum()) * denominator

    def _of_weights(self, s, weights):
        """Return the mean of P(y|s,x) over weights of x, as (numerators, denominator)."""
        kept, moved, denominator = self._kept_and_moved(s, weights)
        tables, of_x = np.unique(self.table[s], return_inverse=True)
        of_tables = np.zeros(tables.size, object)
        np.add.at(of_tables, of_x, moved)
        return kept + self._drawn(tables, of_tables), int(weights.sum()) * denominator

    def _kept_and_moved(self, s, weights):
        """Return (kept, moved, denominator): of each x, the weight kept, and that moved for a piece of weight one."""
        keep, total, sums = self.keep[s], self.total[s], self.sums[self.table[s]]
        if (total == total[0]).all() and (sums == sums[0]).all():
            return weights * keep * sums, weights * (total - keep), int(total[0] * sums[0])
        kept, moved = (weights * keep, total), (weights * (total - keep), total * sums)
        (kept, of_kept), (moved, of_moved) = (_in_lowest_terms(*part) for part in (kept, moved))
        denominator = int(np.lcm.reduce(np.unique(np.concatenate([of_kept, of_moved]))))
        return kept * (denominator // of_kept), moved * (denominator // of_moved), denominator

    def _drawn(self, tables, mass):
        """Return the sum over the given tables t and their pieces of mass[t] * weight, for each y."""
        indptr, y, weight = self.pieces
        sizes = indptr[tables + 1] - indptr[tables]
        pieces, numerators = _ranges(indptr[tables], sizes), np.zeros(self._joint.shape[1], object)
        np.add.at(numerators, y[pieces], np.repeat(mass, sizes) * weight[pieces])
        return numerators


def _in_lowest_terms(numerators, denominators):
    common = np.gcd(numerators, denominators)
    return numerators // common, denominators // common


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


class OneTable(NamedTuple):
    """P(y|s,x) of one s whose x all draw from one table, as `Rows`, without |X|^2 numbers.

    own : P(x|s,x), |X|. move : probability of a draw for each x. table : the distribution that y is drawn from.
    """

    own: np.ndarray
    move: np.ndarray
    table: np.ndarray

    @property
    def group(self):
        """The group of each x: a group for each x."""
        return np.arange(self.own.size)

    @property
    def others(self):
        """P(y|s,x) for the x of each group other than y, |X| x |X|."""
        return self.move[:, None] * self.table

    def weights(self, of_x):
        """Return the sum of `of_x` over the x of each group other than y, |X| x |X|."""
        return np.where(np.eye(self.own.size, dtype=bool), 0.0, np.asarray(of_x)[:, None])

    def range(self):
        """Return (min over x, max over x) of P(y|s,x), each |X|."""
        if self.own.size == 1:
            return self.own, self.own
        least, most = np.partition(self.move, 1)[:2], np.partition(self.move, -2)[-2:]
        low = np.where(self.move == least[0], least[1], least[0])
        high = np.where(self.move == most[1], most[0], most[1])
        if np.count_nonzero(self.move == least[0]) > 1:
            low[:] = least[0]
        if np.count_nonzero(self.move == most[1]) > 1:
            high[:] = most[1]
        return np.minimum(low * self.table, self.own), np.maximum(high * self.table, self.own)


class Realised:
    """P(y|s,x) of a sampler's tables, in doubles."""

    def __init__(self, sampler):
        from scipy.sparse import csr_array

        self._channel = Channel(sampler)
        (indptr, y, weight), sums = self._channel.pieces, self._channel.sums
        share = (weight / np.repeat(sums, np.diff(indptr))).astype(np.float64)
        self._tables = csr_array((share, y, indptr), shape=(indptr.size - 1, sampler.shape[1]))
        self._tables.sum_duplicates()

    def of(self, s):
        """Return the `Rows` of one s, as `OneTable` if all x draw from one table with several probabilities."""
        table, whole_keep, total = (part[s] for part in (self._channel.table, self._channel.keep, self._channel.total))
        keep, move = ((part / total).astype(np.float64) for part in (whole_keep, total - whole_keep))
        moves, of_x = np.unique(move, return_inverse=True)
        if moves.size > 1 and (table == table[0]).all():
            to = self._tables[[table[0]]].toarray()[0]
            return OneTable(keep + move * to, move, to)
        kinds, group = np.unique(table * moves.size + of_x.ravel(), return_inverse=True)
        tables, nth = np.divmod(kinds, moves.size)
        others, group = self._tables[tables].toarray() * moves[nth, None], group.ravel()
        return Rows(keep + others[group, np.arange(keep.size)], group, others)


def _pieces_of(cells, first_cells, log2_cells):
    """Return ((indptr, y, weight), sums) of tables of alias cells: weights out of 2^64. A y may have several pieces."""
    sizes = np.left_shift(1, log2_cells.astype(np.int64))
    cell = cells[_ranges(first_cells.astype(np.int64), sizes)]
    shift = np.repeat(log2_cells.astype(np.uint64), sizes)
    own = cell["threshold"] >> shift
    full = (2 ** (64 - np.arange(64, dtype=object)))[shift.astype(np.intp)]
    y, weight = np.stack([cell["own"], cell["alias"]], axis=1), np.stack([own.astype(object), full - own], axis=1)
    there = np.stack([own > 0, np.ones(own.size, bool)], axis=1)  # a cell that is not divided is one piece
    return _compressed(y, weight, there, sizes), np.full(sizes.size, 2**64, object)


def _whole_pieces_of(cells, first_cells, log2_cells):
    """Return ((indptr, y, weight), sums) of tables in whole numbers, divided by their greatest common divisors."""
    sizes = np.left_shift(1, log2_cells.astype(np.int64))
    cell, ends = cells[_ranges(first_cells.astype(np.int64), sizes)], np.cumsum(sizes)
    before = np.append(np.uint64(0), cell["threshold"][:-1])
    before[ends - sizes] = 0
    weight = (cell["threshold"] - before)[:, None]
    unit = np.gcd.reduceat(weight.ravel(), ends - sizes)
    weight, sums = weight // np.repeat(unit, sizes)[:, None], cell["threshold"][ends - 1] // unit
    return _compressed(cell["own"][:, None], weight.astype(object), weight > 0, sizes), sums.astype(object)


def _compressed(y, weight, there, sizes):
    """Return (indptr, y, weight) of the pieces that are there, cells x pieces, in tables of so many cells."""
    ends = np.cumsum(there.sum(axis=1))[np.cumsum(sizes) - 1]
    return np.concatenate([[0], ends]), y[there].astype(np.intp), weight[there]


def _ranges(starts, sizes):
    """Return sizes[0] integers counted from starts[0], then sizes[1] integers from starts[1], and so on."""
    return np.repeat(starts - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())

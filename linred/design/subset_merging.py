"""Subset merging for `baselines.watchdog`: which symbols of X share a group, within which records are resampled.

Within a group y is drawn from P_X, so each of its symbols has the lifts of the group as a whole. The share of unchanged
records is the sum of P(x)^2 / P(group of x). If two groups meet all limits, so does their union, and dividing a group
leaves more records unchanged: a good partition consists of small groups that meet the limits.
"""

from functools import partial

import numpy as np

from linred.privacy.comparisons import comparisons

ORDERS = (lambda excess, p: excess, lambda excess, p: excess / p, lambda excess, p: p)
"""What is largest in the group that is merged next. No order is the best one for all distributions."""

PROGRESS = 1e-12
"""Smallest share of unchanged records that counts as a gain; smaller gains are rounding noise and could cycle."""

NOISE = 1e-15
"""Excess that may be rounding noise where a probability was subtracted from a sum."""


def partition(joint, target):
    """Return the number of the group of each symbol of X, 0 if it never occurs; `baselines.watchdog` has the search."""
    seen = joint.p_x > 0.0
    p, p_x, excess = joint.p_x_given_s[:, seen], joint.p_x[seen], partial(_excess, target, joint.p_s)
    found = [_Groups(p, p_x, excess, _merged(p, p_x, excess, order)) for order in ORDERS]
    best = max(found, key=lambda groups: groups.kept().sum())
    while any([best.exchange(x) for x in range(p_x.size)]):
        pass
    group_of = np.zeros(seen.size, np.intp)
    group_of[seen] = np.unique(best.group_of, return_inverse=True)[1]
    return group_of


def _excess(target, p_s, q, p_y):
    """Return the sum of numerator - e^limit denominator over the ratios of each group that exceed their limit.

    q, p_y : P(group|s) and P(group), a column for each group.
    """
    excess = np.zeros(p_y.size)
    for one in comparisons(target, p_s, q, p_y):
        growth = np.exp(np.minimum(one.limit, 700.0))  # e^limit overflows beyond
        over = np.maximum(one.numerators - growth * one.denominators, 0.0)
        excess += over.reshape(-1, p_y.size).sum(axis=0)
    return excess


def _merged(q, p, excess, order):
    """Merge single symbols until no group exceeds the limits, or one is left; return the group of each symbol."""
    squares, over, group_of = p * p, excess(q, p), np.arange(p.size)
    while p.size > 1 and over.any():
        i = int(np.where(over > 0.0, order(over, p), -np.inf).argmax())
        over_together = excess(q + q[:, [i]], p + p[i])
        lost = squares / p + squares[i] / p[i] - (squares + squares[i]) / (p + p[i])
        price = lost / np.maximum(over + over[i] - over_together, 1e-300)
        price[i] = np.inf
        j = int(price.argmin())
        over[j] = over_together[j]
        q, p, squares, over = _united(q, i, j), _united(p, i, j), _united(squares, i, j), np.delete(over, i)
        group_of[group_of == i] = j
        group_of -= group_of > i
    return group_of


def _united(sums, i, j):
    """Return sums over groups once group i is a part of group j."""
    sums = sums.copy()
    sums[..., j] += sums[..., i]
    return np.delete(sums, i, axis=-1)


class _Groups:
    """A partition of the symbols: P(group|s), P(group) and the sum of P(x)^2 in each group, of which one is empty.

    p, p_x : P(x|s) and P(x). The last entry is 0 and stands for no symbol.
    """

    def __init__(self, p, p_x, excess, group_of):
        self.p, self.p_x = np.pad(p, ((0, 0), (0, 1))), np.append(p_x, 0.0)
        self.excess, self.group_of = excess, group_of
        self.q, self.p_y, self.squares = self._sums(group_of, range(p_x.size + 1))
        self.n_calls, self.last_call, self.last_change = 0, np.zeros(p_x.size, int), np.zeros(p_x.size + 1, int)

    def _sums(self, group_of, groups):
        members = [np.flatnonzero(group_of == group) for group in groups]
        parts = self.p, self.p_x, self.p_x**2
        return [np.stack([part[..., x].sum(axis=-1) for x in members], axis=-1) for part in parts]

    def kept(self):
        """Return the share of all records that each group leaves unchanged."""
        return _quotient(self.squares, self.p_y)

    def exchange(self, x):
        """Move x to another group, and one symbol of that group or none to the group of x; return whether that helps.

        Of the exchanges after which both groups meet the limits, it is the one that leaves the most records unchanged.
        """
        back, to = self._choices(x)
        gain = self._gain(x, back, to)
        some = gain > PROGRESS
        if not some.any():
            return False
        own, back, to, gain = self.group_of[x], back[some], to[some], gain[some]
        p, p_x = self.p[:, [x]] - self.p[:, back], self.p_x[x] - self.p_x[back]
        q, p_y = (
            np.hstack([self.q[:, [own]] - p, self.q[:, to] + p]),
            np.append(self.p_y[own] - p_x, self.p_y[to] + p_x),
        )
        excess = self.excess(q, p_y).reshape(2, -1).max(axis=0)
        best = int(np.where(excess <= NOISE, gain, -np.inf).argmax())
        return self._exchanged(x, back[best], to[best])

    def _choices(self, x):
        """Return (symbols that may come back, |X| for none; the groups that they come from), an empty group included.

        Exchanges between groups that have not changed since the last call for x are left out: they did not help then.
        """
        own, n_x = self.group_of[x], self.group_of.size
        to = np.append(self.group_of, np.arange(n_x + 1))
        there = self.p_y > 0.0
        there[there.argmin()] = True  # the first empty group
        is_new = np.maximum(self.last_change, self.last_change[own]) >= self.last_call[x]
        self.n_calls += 1
        self.last_call[x] = self.n_calls
        choices = np.flatnonzero((there & is_new)[to] & (to != own))
        return np.minimum(choices, n_x), to[choices]

    def _gain(self, x, back, to):
        """Return by how much each exchange raises the share of unchanged records."""
        own, kept = self.group_of[x], self.kept()
        p, square = self.p_x[x] - self.p_x[back], self.p_x[x] ** 2 - self.p_x[back] ** 2
        of_own = _quotient(self.squares[own] - square, self.p_y[own] - p)
        return of_own + _quotient(self.squares[to] + square, self.p_y[to] + p) - kept[own] - kept[to]

    def _exchanged(self, x, back, to):
        """Do an exchange if both groups meet the limits, computed without a subtraction; return whether they do."""
        group_of, both = self.group_of.copy(), [self.group_of[x], to]
        group_of[x] = to
        if back < group_of.size:
            group_of[back] = both[0]
        q, p_y, squares = self._sums(group_of, both)
        if self.excess(q, p_y).any():
            return False
        self.q[:, both], self.p_y[both], self.squares[both] = q, p_y, squares
        self.group_of, self.last_change[both] = group_of, self.n_calls
        return True


def _quotient(squares, p):
    return np.divide(squares, p, out=np.zeros_like(p), where=p > 0.0)

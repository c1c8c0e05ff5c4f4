"""The constraints on Q(y|s) and W(y|s,x) that a target sets: their numbers, rows of a linear programme, dual prices.

The variables are lifts, Q(y|s) / P(y), so that a solver's tolerance is relative to each symbol, however rare it is.
LDP <= eps requires the lifts of y to lie in some interval [L, e^eps L]: T = Q/P - L is in [0, (e^eps - 1) L]. Log-lift
<= lam adds only e^-lam <= L <= e^(lam - eps), where eps = 2 lam if LDP has no limit or a larger one.
"""

import math
from typing import NamedTuple

import numpy as np

from linred.privacy.comparisons import of_lifts, of_pairs, of_secrets

ROOM = 2.0**-40
"""Margin in nats for the solver's tolerance."""

ROOM_OF_SHARES = 2.0**-30
"""Margin for the solver's tolerance on shares of changed records."""

NO_ROWS = np.zeros((0, 0))

RARE = 1e-8
"""P(x) below this value is smaller than a solver's tolerance."""

LEAST = 1e-8
"""Smallest target in nats. Smaller ones are below HiGHS's tolerance; zero replaces them and costs hardly more."""

LARGEST_LDP = 16.0
"""Largest limit in nats of LDP, of pairs, of secrets and given x. Larger ones make the programme ill-conditioned and
save almost no changes."""


class Limits(NamedTuple):
    """The constraints on Q(y|s) and W(y|s,x), over symbols that all occur. Limits are in nats; inf means no limit.

    `rows` holds all limits but those of LDP and of lifts: rows @ v <= 0 for each y, where v holds the lifts of y, one
    for each s, and then the smallest lift of y in each of the secrets, which is at least `least_of_secrets`.
    """

    p_s: np.ndarray
    p_x: np.ndarray  # the marginal to preserve; if keep_marginal is False, only the scale of each symbol
    keep_marginal: bool
    ldp: float = math.inf
    max_lift: float = math.inf
    min_lift: float = math.inf
    rows: np.ndarray = NO_ROWS
    least_of_secrets: np.ndarray = NO_ROWS.ravel()
    given_x: float = math.inf
    changed: float = 1.0  # largest share of the records of one s

    @classmethod
    def of(cls, target, merged, keep_marginal):
        """Return the limits of a settled `Target` over the classes of a `Merged`."""
        max_lift, min_lift = of_lifts(target)
        if max_lift >= -math.log(merged.p_s.min()):  # no lift is above 1 / P(s)
            max_lift = math.inf
        ratios = target.ldp, max_lift, min_lift, *_rows_of(target, merged), target.given_x
        return cls(merged.p_s, merged.p_x, keep_marginal, *ratios, target.max_changed_by_s)

    def for_solver(self):
        """Return limits with a margin for rounding, and those of LDP and given x capped at LARGEST_LDP."""
        ldp, max_lift, min_lift, given_x = map(_with_room, (self.ldp, self.max_lift, self.min_lift, self.given_x))
        if min(ldp, max_lift + min_lift) < math.inf:
            ldp = min(ldp, LARGEST_LDP)
        given_x = min(given_x, LARGEST_LDP) if given_x < math.inf else given_x
        changed = self.changed - min(ROOM_OF_SHARES, self.changed / 1024.0) if self.changed < 1.0 else 1.0
        return self._replace(ldp=ldp, max_lift=max_lift, min_lift=min_lift, given_x=given_x, changed=changed)

    def for_highs(self):
        """Return the limits of `for_solver`, with those below HiGHS's tolerance set to zero."""
        limits = self.for_solver()
        names = ("ldp", "max_lift", "min_lift", "given_x")
        return limits._replace(**{name: 0.0 for name in names if getattr(limits, name) < LEAST})

    @property
    def are_intervals(self):
        """Whether there are no other limits than those of LDP and of lifts."""
        return not self.rows.size and self.given_x == math.inf and self.changed == 1.0

    def intervals(self):
        """Return (e^eps, smallest L, largest L) for P_Y = P_X: the lifts of a symbol are in [L, e^eps L].

        If neither LDP nor both sides of the lifts are limited, L is fixed and e^eps is infinite; see `largest_lifts`.
        """
        above, below = self.max_lift, self.min_lift
        eps = min(self.ldp, above + below)
        if eps == math.inf:
            return math.inf, math.exp(-below), math.exp(-below)
        eps = min(eps, 700.0)
        return math.exp(eps), math.exp(-min(eps, below)), math.exp(min(0.0, above - eps))

    def largest_lifts(self):
        """Return the largest lift that each s can have: P(s) times the lift is a probability."""
        return np.minimum(math.exp(min(self.max_lift, 700.0)), 1.0 / self.p_s)


def _with_room(limits):
    return limits - np.minimum(ROOM, limits / 1024.0)


def _rows_of(target, merged):
    """Return (rows, least lifts of secrets): see `Limits`."""
    n_s, found = merged.p_s.size, []
    for _, limits in of_pairs(target, merged.s):
        first, second = np.nonzero(direct(limits))
        rows = np.zeros((first.size, n_s))
        rows[np.arange(first.size), first] = 1.0
        rows[np.arange(first.size), second] = -np.exp(_with_room(np.minimum(limits[first, second], LARGEST_LDP)))
        found.append(rows)
    secrets = [(weights[:, merged.s], limit) for weights, limit in of_secrets(target, merged.joint.p_s)]
    secrets = [(weights, min(limit, LARGEST_LDP)) for weights, limit in secrets if limit < math.inf]
    width = n_s + len(secrets)
    found = [np.pad(rows, ((0, 0), (0, width - n_s))) for rows in found]
    for place, (weights, limit) in enumerate(secrets):
        own = np.zeros((2 * len(weights), width))
        own[:, :n_s] = np.vstack([weights, -weights])
        own[:, n_s + place] = np.repeat([-math.exp(_with_room(limit)), 1.0], len(weights))
        found.append(own)
    rows = np.vstack(found) if found else np.zeros((0, n_s))
    return rows, np.array([math.exp(-limit) for _, limit in secrets])


def direct(matrix, slack=0.0):
    """Return which finite entries off the diagonal no detour replaces: two smaller ones, by way of a third symbol.

    slack : by what share a detour may be longer.
    """
    needed = ~np.eye(len(matrix), dtype=bool) & (matrix < math.inf)
    half = 0.5 * matrix  # a sum of two entries may overflow
    for third in range(len(matrix)):
        first, second = half[:, third, None], half[third]
        needed &= ~((first + second <= half * (1.0 + slack)) & (first < half) & (second < half))
    return needed


class Prices(NamedTuple):
    """Dual prices of the constraints on Q(y|s), any that are valid: `of_rows` must not be negative."""

    of_cells: np.ndarray  # of Q(y|s), |S| x |X|: what the rest of the programme pays for it
    of_sums: np.ndarray  # of sum_y Q(y|s) = 1
    of_marginals: np.ndarray  # of P_Y = P_X
    of_rows: np.ndarray  # of `Limits.rows`, rows x |X|

    @classmethod
    def none(cls, limits):
        (n_s,), (n_y,) = limits.p_s.shape, limits.p_x.shape
        return cls(np.zeros((n_s, n_y)), np.zeros(n_s), np.zeros(n_y), np.zeros((len(limits.rows), n_y)))

    def overcharge_rare(self, limits, charge, of_changes):
        """Replace, in place, the prices of symbols that are rarer than the solver's tolerance.

        Their prices are noise. A charge above the cost of any move keeps the dual bound valid, and the bound loses next
        to nothing because these symbols have so little mass.
        """
        rare = (limits.p_x < RARE) & limits.keep_marginal
        self.of_cells[:, rare], self.of_marginals[rare] = -charge * of_changes[:, None], -charge
        self.of_rows[:, rare] = 0.0


class Changed:
    """The limit on the share of the records of each s that change: sum of mass * variable over its changes."""

    def __init__(self, programme, limits, s, variable, mass):
        self.limits, self._rows = limits, None
        if limits.changed < 1.0:
            self._rows = programme.inequalities.add(np.full(limits.p_s.size, limits.for_solver().changed))
            programme.inequalities.term(self._rows[s], variable, mass)

    def prices(self, solved):
        """Return what changing all records of s costs beside the objective, for each s."""
        if self._rows is None:
            return np.zeros(self.limits.p_s.size)
        return np.maximum(0.0, -solved.of_inequalities[self._rows])

    def constant(self, solved):
        return -float(self.prices(solved).sum()) * self.limits.changed


class GivenX:
    """The limit for someone who knows x: M(x, y) <= W(y|s,x) <= e^limit M(x, y) for all s that occur with x.

    M is stated in units of the largest `of_entry` of (x, y). If P_Y = P_X, it is then at most one.
    """

    def __init__(self, programme, limits, sources, entry, of_entry):
        self.shape = sources.x.size, limits.p_x.size
        self._rows, self.most = None, 1.0
        if limits.given_x == math.inf:
            return
        self.most, self._is_capped = math.exp(limits.for_highs().given_x), limits.given_x > LARGEST_LDP
        of_entry = of_entry.reshape(self.shape)
        symbols, of_source = np.unique(sources.x, return_inverse=True)
        unit = np.zeros((symbols.size, self.shape[1]))
        np.maximum.at(unit, of_source, of_entry)
        self._unit, self._x = unit[of_source], of_source
        self._largest = np.ones(unit.shape) if limits.keep_marginal else 1.0 / unit
        least = programme.variables(np.zeros(unit.size)).reshape(unit.shape)
        self._rows = [programme.inequalities.add(np.zeros(of_entry.size)) for _ in range(2)]
        for rows, sign, factor in zip(self._rows, (1.0, -1.0), (self.most, 1.0), strict=True):
            programme.inequalities.term(rows, entry, sign * (of_entry / self._unit).ravel())
            programme.inequalities.term(rows, least[of_source].ravel(), -sign * factor)

    def _multipliers(self, solved):
        """Return valid multipliers: those of a programme with a capped limit hold for the cap alone, but 0 is valid."""
        if self._is_capped:
            return [np.zeros(self.shape)] * 2
        return [np.maximum(0.0, -solved.of_inequalities[rows]).reshape(self.shape) for rows in self._rows]

    def prices(self, solved):
        """Return what an entry W(y|r) costs by these limits, sources x symbols."""
        if self._rows is None:
            return 0.0
        above, below = self._multipliers(solved)
        return (above - below) / self._unit

    def constant(self, solved):
        if self._rows is None:
            return 0.0
        above, below = self._multipliers(solved)
        of_least = np.zeros(self._largest.shape)
        np.add.at(of_least, self._x, below - self.most * above)
        return float((np.minimum(of_least, 0.0) * self._largest).sum())


class Released:
    """The variables and constraints of Q(y|s) in a linear programme, and their dual prices.

    The `lifts` add up to Q(y|s) / P_X(y). `sums` says whether sum_y Q(y|s) = 1 needs an equation. If the marginal is
    kept, one equation depends on the others and would contradict them by rounding: it is omitted, and has no price.
    """

    def __init__(self, programme, limits, sums):
        self.limits = limits
        (n_s,), (n_y,) = limits.p_s.shape, limits.p_x.shape
        s, y = cells(n_s, n_y)
        least, above = programme.variables(np.zeros(n_y)), programme.variables(np.zeros(n_s * n_y))
        low, high = (1.0, 1.0) if limits.keep_marginal else (0.0, math.inf)
        marginal = programme.variables(np.zeros(n_y), low, high)  # P_Y / P_X
        self._least, self._above, self.lifts = least, above, (least[y], above)
        follows = limits.p_s.argmax() if sums else limits.p_x.argmax()
        by_s, by_y = np.full(n_s, sums), np.ones(n_y, bool)
        (by_s if sums else by_y)[follows] &= not limits.keep_marginal
        equations = programme.equations
        self._sums, self._marginals = equations.add_some(by_s, 1.0), equations.add_some(by_y, 0.0)
        for part in self.lifts:
            equations.term(self._sums[s], part, limits.p_x[y])
        equations.term(self._marginals, least, 1.0)
        equations.term(self._marginals[y], above, limits.p_s[s])
        equations.term(self._marginals, marginal, -1.0)
        self._limit_lifts(programme.inequalities, marginal, y)
        self._limit_rows(programme)

    def _limit_lifts(self, inequalities, marginal, y):
        """Add the limits of LDP and of lifts."""
        limits, least = self.limits.for_highs(), self._least
        factor, low, high = limits.intervals()
        if factor < math.inf or limits.max_lift < math.inf:
            row = inequalities.add(np.zeros(y.size))
            inequalities.term(row, self._above, 1.0)
            if factor < math.inf:
                inequalities.term(row, least[y], 1.0 - factor)
            else:
                inequalities.term(row, least[y], 1.0)
                inequalities.term(row, marginal[y], -math.exp(limits.max_lift))
        for sign, bound in ((-1.0, low), (1.0, high)):
            row = inequalities.add(np.zeros(least.size))
            inequalities.term(row, least, sign)
            inequalities.term(row, marginal, -sign * bound)

    def _limit_rows(self, programme):
        """Add `Limits.rows`."""
        matrix, n_s, n_y = self.limits.rows, self.limits.p_s.size, self._least.size
        self._rows = np.zeros((0, n_y), np.intp)
        if not matrix.size:
            return
        extra = programme.variables(np.zeros((matrix.shape[1] - n_s) * n_y)).reshape(-1, n_y)
        self._rows = programme.inequalities.add(np.zeros(len(matrix) * n_y)).reshape(-1, n_y)
        row, column = np.nonzero(matrix)
        variable = np.vstack([self._above.reshape(n_s, n_y), extra])
        programme.inequalities.term(self._rows[row], variable[column], matrix[row, column, None])
        programme.inequalities.term(self._rows, self._least, matrix[:, :n_s].sum(axis=1, keepdims=True))

    def q(self, solved):
        return (solved.x[self._least] + solved.x[self._above].reshape(-1, self._least.size)) * self.limits.p_x

    def prices(self, solved):
        """Return the `Prices` of all constraints but of_cells; 0 for the equation that is omitted."""
        price, none = solved.of_equations, Prices.none(self.limits)
        of_sums, of_marginals = (np.where(rows >= 0, price[rows], 0.0) for rows in (self._sums, self._marginals))
        of_rows = np.maximum(0.0, -solved.of_inequalities[self._rows])
        return none._replace(of_sums=of_sums, of_marginals=of_marginals / self.limits.p_x, of_rows=of_rows)


def dual_bound(limits, prices):
    """Return a lower bound of sum price(s, y) Q(y|s) over all feasible Q, by weak duality, for any prices.

    Once the sums over y and over s, and `Limits.rows`, are priced too, the columns y separate. In a column scaled to
    P(y) = 1, the minimum over L <= q_s <= e^eps L is linear in L, so it is attained at an end of the range of L. The
    smallest lift of a secret is between its least value and one, because the mean lift is one.
    """
    factor, *ends = limits.intervals()
    n_s = limits.p_s.size
    by_rows = limits.rows.T @ prices.of_rows / limits.p_x if limits.rows.size else np.zeros((n_s, limits.p_x.size))
    reduced = prices.of_cells - prices.of_sums[:, None] - limits.p_s[:, None] * prices.of_marginals + by_rows[:n_s]
    rises, falls = np.maximum(reduced, 0.0).sum(axis=0), np.minimum(reduced, 0.0).sum(axis=0)
    if factor < math.inf:
        by_y = np.min([least * (rises + factor * falls) for least in ends], axis=0)
    else:
        by_y = ends[0] * rises + limits.largest_lifts() @ np.minimum(reduced, 0.0)
    extra = by_rows[n_s:]
    by_y = by_y + prices.of_marginals + np.minimum(extra, extra * limits.least_of_secrets[:, None]).sum(axis=0)
    # If P_Y is free, all of its mass could be on the cheapest symbol.
    return float(prices.of_sums.sum() + (limits.p_x @ by_y if limits.keep_marginal else by_y.min()))


def cells(n, m):
    """Return the row and the column of each cell of an n x m matrix."""
    return np.repeat(np.arange(n), m), np.tile(np.arange(m), n)

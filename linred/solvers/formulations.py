"""The linear programmes of `linred.optimal`: constraints on Q(y|s), costs, and dual bounds.

The variables are lifts, Q(y|s) / P(y), so that a solver's tolerance is relative to each symbol, however rare it is.
LDP <= eps requires the lifts of y to lie in some interval [L, e^eps L]: T = Q/P - L is in [0, (e^eps - 1) L]. Log-lift
<= lam adds only e^-lam <= L <= e^(lam - eps), where eps = 2 lam if LDP has no limit or a larger one.

There are two linear programmes:

`network`  for mechanisms that use S. The excess of P(.|s) over Q(.|s) flows along arcs between symbols. Few arcs are
           needed if the distortion satisfies the triangle inequality: one from each symbol to a common node at cost
           one (Hamming), or arcs between neighbours (|i-j|).
`channel`  has a row W(.|r) for each source r. A source is a symbol x if the mechanism does not use S, and a pair (s, x)
           if it does and the distortion violates the triangle inequality.
"""

import math
from typing import NamedTuple

import numpy as np

from linred.solvers import lp
from linred.solvers.transport import SLACK

ROOM = 2.0**-40
"""Margin in nats for the solver's tolerance."""

RARE = 1e-8
"""P(x) below this value is smaller than a solver's tolerance."""

LEAST = 1e-8
"""Smallest target in nats. Smaller ones are below HiGHS's tolerance; zero replaces them and costs hardly more."""

LARGEST_LDP = 16.0
"""Largest LDP target in nats. Larger ones make the programme ill-conditioned and save almost no changes."""


class Limits(NamedTuple):
    """The constraints on Q(y|s), over symbols that all occur. Limits are in nats; inf means no limit."""

    p_s: np.ndarray
    p_x: np.ndarray  # the marginal to preserve; if keep_marginal is False, only the scale of each symbol
    ldp: float
    log_lift: float
    keep_marginal: bool

    def for_solver(self):
        """Return limits with a margin for rounding, and LDP capped at LARGEST_LDP."""
        ldp, log_lift = (limit - min(ROOM, limit / 1024.0) for limit in (self.ldp, self.log_lift))
        return self._replace(ldp=min(ldp, LARGEST_LDP), log_lift=log_lift)

    def for_highs(self):
        """Return the limits of `for_solver`, with those below HiGHS's tolerance set to zero."""
        limits = self.for_solver()
        ldp, log_lift = (0.0 if limit < LEAST else limit for limit in (limits.ldp, limits.log_lift))
        return limits._replace(ldp=ldp, log_lift=log_lift)

    def intervals(self):
        """Return (e^eps, smallest L, largest L) for P_Y = P_X."""
        log_lift, ldp = self.log_lift, min(self.ldp, 2.0 * self.log_lift, 700.0)
        return math.exp(ldp), math.exp(-min(ldp, log_lift)), math.exp(min(0.0, log_lift - ldp))


class Sources(NamedTuple):
    """The sources r of a channel: `share` is P(r|s), sparse, |S| x sources; r becomes the symbol x[r] at no cost."""

    share: object
    x: np.ndarray


class Answer(NamedTuple):
    """The solution of a linear programme."""

    matrix: np.ndarray  # Q(y|s); W(y|r) for a channel
    cost: float
    bound: float  # dual bound: no feasible matrix costs less
    finished: bool = True  # False if the time limit was reached


def _arcs_of(d, n_x):
    """Return the arcs (start, end, cost of a unit of mass) for a metric d, without those that other arcs replace.

    If d is None (Hamming), each symbol has one arc, to a common node with the number -1.
    """
    if d is None:
        return np.arange(n_x), np.full(n_x, -1), np.ones(n_x)
    needed = ~np.eye(n_x, dtype=bool)
    for z in range(n_x):
        first, second = d[:, z, None], d[z]
        needed &= ~((first + second <= d * (1.0 + SLACK)) & (first < d) & (second < d))
    start, to = np.nonzero(needed)
    return start, to, d[start, to]


def symbols_as_sources(p):
    """Return `Sources` with one source for each x, the same for all s."""
    from scipy.sparse import csc_array

    return Sources(csc_array(p), np.arange(p.shape[1]))


def pairs_as_sources(p):
    """Return `Sources` with one source for each pair (s, x) that occurs."""
    from scipy.sparse import csc_array

    s, x = np.nonzero(p)
    return Sources(csc_array((p[s, x], (s, np.arange(s.size))), shape=(p.shape[0], s.size)), x)


def network(limits, p, d=None, time_limit=None):
    """Return the `Answer` with the least transport cost from P(x|s) = p to a feasible Q(y|s), for a metric d.

    d : None for Hamming.
    """
    n_s, n_x = p.shape
    starts, ends, costs = _arcs_of(d, n_x)
    programme = lp.LinearProgram()
    released = _Released(programme, limits, sums=True)
    s, arc = _pairs(n_s, starts.size)
    used = (p[s, starts[arc]] > 0.0) | (ends[arc] >= 0)  # a symbol without mass sends none to the common node
    s, arc = s[used], arc[used]
    start, to, cost = starts[arc], ends[arc], costs[arc]
    unit, inside = limits.p_x, to >= 0
    of_flow = np.where(inside, np.minimum(unit[start], unit[to]), unit[start])  # scaled so that coefficients are <= 1
    flow = programme.variables(limits.p_s[s] * cost * of_flow)
    balance = programme.inequalities
    row = balance.add(-(p / unit).ravel())  # P + inflow <= Q + outflow
    for part in released.lifts:
        balance.term(row, part, -1.0)
    balance.term(row[s * n_x + start], flow, -of_flow / unit[start])
    balance.term(row[(s * n_x + to)[inside]], flow[inside], (of_flow / unit[to])[inside])
    solved = programme.solve(time_limit)
    price = solved.of_inequalities[row].reshape(p.shape) / unit
    of_sums, of_marginals = released.prices(solved)
    _overcharge_rare(limits, price, of_marginals, 2.0)
    bound = least_cost_of_moves(p, limits.p_s, d, price) + dual_bound(limits, price, of_sums, of_marginals)
    return Answer(released.q(solved), solved.cost, bound)


def _overcharge_rare(limits, price, of_marginals, charge):
    """Replace, in place, the dual prices of symbols that are rarer than the solver's tolerance.

    Their prices are noise. A charge above the cost of any move keeps the dual bound valid, and the bound loses next to
    nothing because these symbols have so little mass.
    """
    rare = (limits.p_x < RARE) & limits.keep_marginal
    price[:, rare], of_marginals[rare] = -charge * limits.p_s[:, None], -charge


def least_cost_of_moves(p, p_s, d, price):
    """Return the sum over s and x of P(x|s) min_y (p_s d(x, y) - price(s, y))."""
    if d is None:
        anywhere = p_s - price.max(axis=1)
        return float((p * np.minimum(-price, anywhere[:, None])).sum())
    return float(sum(row @ (weight * d - of_y).min(axis=1) for row, weight, of_y in zip(p, p_s, price, strict=True)))


def channel(limits, sources, cost, *, fixed=None, time_limit=None):
    """Return the `Answer` with the cheapest W(y|r) whose Q(y|s) = sum_r P(r|s) W(y|r) is feasible, or equals `fixed`.

    cost : sources x symbols, the cost of W(y|r) = 1.
    """
    (n_s, n_r), n_y = sources.share.shape, limits.p_x.size
    programme = lp.LinearProgram()
    released = _Released(programme, limits, sums=False) if fixed is None else None
    r, y = _pairs(n_r, n_y)
    weight = limits.p_s @ sources.share
    of_entry = (np.minimum(weight[:, None], limits.p_x) / weight[:, None]).ravel()  # scaled as the flows of `network`
    entry = programme.variables(cost.ravel() * of_entry)
    equations = programme.equations
    one = equations.add(np.ones(n_r))
    equations.term(one[r], entry, of_entry)
    row = equations.add(np.zeros(n_s * n_y) if fixed is None else (fixed / limits.p_x).ravel())
    adds = sources.share[:, r].tocoo()  # P(r|s) for each s and each entry
    nth, of_y = adds.col, y[adds.col]
    equations.term(row[adds.row * n_y + of_y], entry[nth], adds.data * of_entry[nth] / limits.p_x[of_y])
    for part in released.lifts if released else ():
        equations.term(row, part, -1.0)
    solved = programme.solve(time_limit)
    price = solved.of_equations[row].reshape(n_s, n_y) / limits.p_x
    of_sums, of_marginals = released.prices(solved) if released else (None, np.zeros(n_y))
    _overcharge_rare(limits, price, of_marginals, 2.0 + float(np.abs(solved.of_equations[one] / weight).max()))
    bound = dual_bound(limits, price, of_sums, of_marginals) if released else float(np.vdot(fixed, price))
    bound += float((cost - sources.share.T @ price).min(axis=1).sum())
    return Answer((solved.x[entry] * of_entry).reshape(n_r, n_y), solved.cost, bound)


class _Released:
    """The variables and constraints of Q(y|s) in a linear programme, and their dual prices.

    The `lifts` add up to Q(y|s) / P_X(y). `sums` says whether sum_y Q(y|s) = 1 needs an equation. If the marginal is
    kept, one equation depends on the others and would contradict them by rounding: it is omitted, and has no price.
    """

    def __init__(self, programme, limits, sums):
        self.limits = limits
        (n_s,), (n_y,) = limits.p_s.shape, limits.p_x.shape
        s, y = _pairs(n_s, n_y)
        least, above = programme.variables(np.zeros(n_y)), programme.variables(np.zeros(n_s * n_y))
        low, high = (1.0, 1.0) if limits.keep_marginal else (0.0, math.inf)
        marginal = programme.variables(np.zeros(n_y), low, high)  # P_Y / P_X
        self._least, self._above, self.lifts = least, above, (least[y], above)
        follows = limits.p_s.argmax() if sums else limits.p_x.argmax()
        by_s, by_y = np.full(n_s, sums), np.ones(n_y, bool)
        (by_s if sums else by_y)[follows] &= not limits.keep_marginal
        equations, inequalities = programme.equations, programme.inequalities
        self._sums, self._marginals = equations.add_some(by_s, 1.0), equations.add_some(by_y, 0.0)
        for part in self.lifts:
            equations.term(self._sums[s], part, limits.p_x[y])
        equations.term(self._marginals, least, 1.0)
        equations.term(self._marginals[y], above, limits.p_s[s])
        equations.term(self._marginals, marginal, -1.0)
        factor, low, high = limits.for_highs().intervals()
        row = inequalities.add(np.zeros(n_s * n_y))
        inequalities.term(row, above, 1.0)
        inequalities.term(row, least[y], 1.0 - factor)
        for sign, bound in ((-1.0, low), (1.0, high)):
            row = inequalities.add(np.zeros(n_y))
            inequalities.term(row, least, sign)
            inequalities.term(row, marginal, -sign * bound)

    def q(self, solved):
        return (solved.x[self._least] + solved.x[self._above].reshape(-1, self._least.size)) * self.limits.p_x

    def prices(self, solved):
        """Return the dual prices of the sums over y and of the marginal; 0 for the equation that is omitted."""
        price = solved.of_equations
        of_sums, of_marginals = (np.where(rows >= 0, price[rows], 0.0) for rows in (self._sums, self._marginals))
        return of_sums, of_marginals / self.limits.p_x


def dual_bound(limits, price, of_sums, of_marginals):
    """Return a lower bound of sum price(s, y) Q(y|s) over all feasible Q, by weak duality, for any prices.

    Once the sums over y and over s are priced too, the columns y separate. In a column scaled to P(y) = 1, the minimum
    over L <= q_s <= e^eps L is linear in L, so it is attained at an end of the range of L.
    """
    factor, *ends = limits.intervals()
    reduced = price - of_sums[:, None] - limits.p_s[:, None] * of_marginals
    rises, falls = np.maximum(reduced, 0.0).sum(axis=0), np.minimum(reduced, 0.0).sum(axis=0)
    by_y = of_marginals + np.min([least * (rises + factor * falls) for least in ends], axis=0)
    # If P_Y is free, all of its mass could be on the cheapest symbol.
    return float(of_sums.sum() + (limits.p_x @ by_y if limits.keep_marginal else by_y.min()))


def _pairs(n, m):
    return np.repeat(np.arange(n), m), np.tile(np.arange(m), n)

"""The linear programmes of `linred.optimal`, with the limits of `constraints`: costs, solutions and dual bounds.

`network`  for mechanisms that use S. The excess of P(.|s) over Q(.|s) flows along arcs between symbols. Few arcs are
           needed if the distortion satisfies the triangle inequality: one from each symbol to a common node at cost
           one (Hamming), or arcs between neighbours (|i-j|).
`channel`  has a row W(.|r) for each source r. A source is a symbol x if the mechanism does not use S, and a pair (s, x)
           if it does and the distortion violates the triangle inequality.
"""

from typing import NamedTuple

import numpy as np

from linred.solvers import lp
from linred.solvers.constraints import Changed, GivenX, Prices, Released, cells, direct, dual_bound
from linred.solvers.transport import SLACK


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
    start, to = np.nonzero(direct(d, SLACK))
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

    d : None for Hamming; otherwise there can be no limit on the share of changed records.
    """
    n_s, n_x = p.shape
    starts, ends, costs = _arcs_of(d, n_x)
    programme = lp.LinearProgram()
    released = Released(programme, limits, sums=True)
    s, arc = cells(n_s, starts.size)
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
    changed = Changed(programme, limits, s, flow, of_flow)
    solved = programme.solve(time_limit)
    prices = released.prices(solved)
    prices.of_cells[:] = solved.of_inequalities[row].reshape(p.shape) / unit
    of_changes = limits.p_s + changed.prices(solved)
    prices.overcharge_rare(limits, 2.0, of_changes)
    bound = least_cost_of_moves(p, of_changes, d, prices.of_cells) + dual_bound(limits, prices)
    return Answer(released.q(solved), solved.cost, bound + changed.constant(solved))


def least_cost_of_moves(p, p_s, d, price):
    """Return the sum over s and x of P(x|s) min_y (p_s d(x, y) - price(s, y)).

    p_s : cost of changing all records of s.
    """
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
    released = Released(programme, limits, sums=False) if fixed is None else None
    r, y = cells(n_r, n_y)
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
    moves = y[nth] != sources.x[r[nth]]
    changed = Changed(programme, limits, adds.row[moves], entry[nth[moves]], (adds.data * of_entry[nth])[moves])
    given_x = GivenX(programme, limits, sources, entry, of_entry)
    solved = programme.solve(time_limit)
    prices = released.prices(solved) if released else Prices.none(limits)
    prices.of_cells[:] = solved.of_equations[row].reshape(n_s, n_y) / limits.p_x
    prices.overcharge_rare(limits, 2.0 + float(np.abs(solved.of_equations[one] / weight).max()), limits.p_s)
    bound = dual_bound(limits, prices) if released else float(np.vdot(fixed, prices.of_cells))
    of_changes = (sources.share.T @ changed.prices(solved))[:, None] * (np.arange(n_y) != sources.x[:, None])
    reduced = cost - sources.share.T @ prices.of_cells + of_changes + given_x.prices(solved)
    bound += float(reduced.min(axis=1).sum()) + changed.constant(solved) + given_x.constant(solved)
    return Answer((solved.x[entry] * of_entry).reshape(n_r, n_y), solved.cost, bound)

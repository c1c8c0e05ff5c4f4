"""The linear programme of the robust optimum: P(y|s,x) that keeps P(y|s) within limits for every P(S, X) in a box.

P(y|s) is the mean of P(y|s,x) over x. Its maximum over the distributions P(x|s) between lower limits l and upper
limits h is, by duality, the minimum over v of

    v (1 - sum_x l(x)) + sum_x l(x) P(y|s,x) + sum_x (h(x) - l(x)) max(0, P(y|s,x) - v),

so that a linear programme can limit it with one variable for v and one for each max(0, .). The minimum of P(y|s), and
the extremes of P(y) over P(s) in a box, are limited in the same way. All variables are relative to P(y), so that a
solver's tolerance is relative to each symbol.
"""

import math
from typing import NamedTuple

import numpy as np

from linred.solvers import lp
from linred.solvers.formulations import Answer


class Box(NamedTuple):
    """The terms of P(y|s) = sum_r P(r|s) W(y|r) and the limits of P(r|s) and of P(s).

    s, source : of each term. low, high : limits of P(source|s). s_low, s_high : limits of P(s), |S|.
    """

    s: np.ndarray
    source: np.ndarray
    low: np.ndarray
    high: np.ndarray
    s_low: np.ndarray
    s_high: np.ndarray


class Ratios(NamedTuple):
    """The limits of log P(y|s)/P(y|s'), |S| x |S|, of log P(y|s)/P(y) and of log P(y)/P(y|s); inf for no limit."""

    pairs: np.ndarray
    max_lift: float
    min_lift: float


def robust_channel(box, ratios, cost, weight, p_y, time_limit=None):
    """Return the `Answer` with the cheapest W(y|r) that meets the limits for all distributions in a box.

    Parameters
    ----------
    box : `Box`; each term of an s has another source
    ratios : `Ratios`
    weight : P(r) of each source, 0 for those that no record has
    cost : sources x symbols, the cost of W(y|r) = 1
    p_y : P(y), all positive: sum_r P(r) W(y|r) is kept at this

    Guarantee
    ---------
    The bound is a dual bound: no W that meets the limits costs less. With r sources and t terms, the programme has
    |Y| (r + 2 t) variables, and 2 |S|^2 |Y| more if lifts are limited.
    """
    programme = lp.LinearProgram()
    likeliest = np.zeros(weight.size)
    np.maximum.at(likeliest, box.source, box.high)
    unit = np.minimum(1.0, p_y / likeliest[:, None])  # scaled so that coefficients are at most one
    entry = programme.variables((cost * unit).ravel(), high=1.0 / unit.ravel()).reshape(unit.shape)
    equations = programme.equations
    equations.term(equations.add(np.ones(weight.size))[:, None], entry, unit)
    equations.term(equations.add(np.ones(p_y.size)), entry, weight[:, None] * unit / p_y)
    mean = _Mean(box.s, box.low, box.high, 1.0 / p_y)
    terms = entry[box.source], unit[box.source] / p_y
    largest, smallest = (mean.beyond(programme, sign, *terms) for sign in (1.0, -1.0))
    s, other = np.nonzero(ratios.pairs < math.inf)
    rows = programme.inequalities.add(np.zeros(s.size * p_y.size)).reshape(s.size, p_y.size)
    programme.inequalities.term(rows, largest[s], 1.0)
    programme.inequalities.term(rows, smallest[other], -np.exp(ratios.pairs[s, other])[:, None])
    for sign, limit, own, others in (
        (-1.0, ratios.max_lift, largest, smallest),
        (1.0, ratios.min_lift, smallest, largest),
    ):
        if limit < math.inf:
            _limit_lifts(programme, box, mean.most, (sign, math.exp(limit)), own, others)
    solved = programme.solve(time_limit)
    return Answer(solved.x[entry] * unit, solved.cost, solved.bound)


class _Mean:
    """The means of some values over all distributions between lower and upper limits, for several groups of terms.

    group : of each term. low, high : limits of the probability of each term; in a group they sum to one.
    most : the largest value, for each column.
    """

    def __init__(self, group, low, high, most):
        self.group, self.low, self.high, self.most = group, low[:, None], high[:, None], most
        self.left = np.maximum(0.0, 1.0 - np.bincount(group, low))[:, None]

    def beyond(self, programme, sign, value, scale):
        """Return variables that are at least the largest mean (sign 1), or at most the smallest mean (sign -1).

        value : variables, terms x columns, each to be multiplied by its scale.
        """
        shape = self.left.size, self.most.size
        limits, inequalities = np.tile(self.most, shape[0]), programme.inequalities
        end, threshold = (programme.variables(np.zeros(limits.size), high=limits).reshape(shape) for _ in range(2))
        scale = np.broadcast_to(scale, value.shape)
        excess = programme.variables(np.zeros(value.size), high=(self.most / scale).ravel()).reshape(value.shape)
        rows = inequalities.add(np.zeros(value.size)).reshape(value.shape)
        inequalities.term(rows, value, sign)
        inequalities.term(rows, threshold[self.group], -sign / scale)
        inequalities.term(rows, excess, -1.0)
        rows = inequalities.add(np.zeros(limits.size)).reshape(shape)
        inequalities.term(rows, threshold, sign * self.left)
        inequalities.term(rows[self.group], value, sign * self.low * scale)
        inequalities.term(rows[self.group], excess, (self.high - self.low) * scale)
        inequalities.term(rows, end, -sign)
        return end


def _limit_lifts(programme, box, most, limit, own, others):
    """Limit P(y|s) / P(y) if the sign is -1, and P(y) / P(y|s) if it is 1, for all P(s) in the box.

    limit : (sign, the largest ratio). own : the extreme of P(y|s) for which the ratio is largest. others : that of
    P(y|s') for all other s'.
    """
    (sign, factor), (n_s, _) = limit, own.shape
    s, other = (part.ravel() for part in np.indices((n_s, n_s)))
    value = np.where((s == other)[:, None], own[s], others[other])
    p_y = _Mean(s, box.s_low[other], box.s_high[other], most).beyond(programme, sign, value, 1.0)
    rows = programme.inequalities.add(np.zeros(own.size)).reshape(own.shape)
    programme.inequalities.term(rows, own if sign < 0.0 else p_y, 1.0)
    programme.inequalities.term(rows, p_y if sign < 0.0 else own, -factor)

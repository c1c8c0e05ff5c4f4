"""The robust optimum for large alphabets: keep x, or draw y from one table for each s.

The mechanism is P(y|s,x) = a(s,x) [y = x] + (1 - a(s,x)) t(y|s). With m = 1 - a, M(s) = sum_x P(x|s) m(s,x) and
T(s,y) = t(y|s) M(s), the largest P(y|s) over a box of P(x|s) is

    high(s,y) a(s,y) + T(s,y) r(s,y),  r(s,y) = max of sum_x P'(x) m(s,x) / M(s) over the P' in the box with
    P'(y) = high(s,y),

because its own x contributes most to y. The smallest P(y|s) is the same with low and min. The sums of the mechanism and
P_Y = P_X are linear in a and T; the ratios r are not. Sequential linear programming therefore makes them linear around
the last point, within a trust region of a. Each solution is mixed with P_X until it meets the limit, and accepted if it
is then cheaper: all points meet the limit, so the search can stop at any time.
"""

import logging
import math
import time
from typing import NamedTuple

import numpy as np

from linred.solvers import lp, resampling_programme
from linred.solvers.resampling_programme import Ends, Link, Programme

log = logging.getLogger("linred")

LEAST_MOVED = 1e-6
"""Smallest probability of moving a record, so that M(s) is never 0."""

WAYS, SMALL = ((0.3, 1.0), (1.0,)), 2000
"""Shares of the box in the order in which they are searched; up to SMALL cells (s, x) both ways are tried, beyond only
the last. With a smaller box first, the search finds better points where some s are rare."""

STAGE_ROUNDS, MOST_ROUNDS = 10, 40
"""Most programmes for a share of the box, and for the whole box."""

LEAST_WIDTH = 0.02
"""Smallest probability of moving x that the radius of the trust region is relative to."""

FIRST_RADIUS, LEAST_RADIUS, MOST_RADIUS = 1.0, 1e-3, 50.0
"""Radius of the trust region of a at first, and that at which the search stops."""

PRICE, MOST_PRICE = 20.0, 1000.0
"""Price of a violation of the limit, in shares of records: the first, and where it is no longer raised."""

SMALL_VIOLATION = 1e-6
"""Violation up to which the price is not raised."""

SMALL_GAIN = 3e-4
"""Relative gain of a programme below which the search stops."""

CLOSE, LEAST_SHARE = 1e-3, 1e-9
"""Accuracy of the share of P_X that is mixed in: relative to it and to what is left, and at least in all."""

FIRST_REPAIR, MOST_REPAIRS = 1e-3, 40
"""Share of the records of a rare s that is resampled to meet the limit, at first, and how often it is doubled."""


class Limits(NamedTuple):
    """The box of P(x|s) over the symbols that occur, and the largest log P(y|s)/P(y|s').

    p, p_s : P(x|s) and P(s) of the records. low, high : limits of P(x|s), |S| x |X|. spare : upper limit of the mass of
    the symbols that never occur, which always move.
    """

    p: np.ndarray
    p_s: np.ndarray
    p_y: np.ndarray
    low: np.ndarray
    high: np.ndarray
    spare: np.ndarray
    ldp: float

    def attainable(self):
        """Return the same box without limits that no distribution attains."""
        low, high = self.low, np.minimum(self.high, 1.0)
        others_low = low.sum(axis=1, keepdims=True) - low
        others_high = high.sum(axis=1, keepdims=True) - high + self.spare[:, None]
        return self._replace(
            low=np.clip(1.0 - others_high, low, self.p), high=np.clip(1.0 - others_low, self.p, high),
            spare=np.clip(1.0 - low.sum(axis=1), 0.0, self.spare),
        )  # fmt: skip

    def shrunk(self, share):
        """Return a box whose limits are a share of the way from P(x|s) to those of this box."""
        ends = (self.p + share * (part - self.p) for part in (self.low, self.high))
        return self._replace(**dict(zip(("low", "high"), ends, strict=True)), spare=share * self.spare).attainable()


class Found(NamedTuple):
    """a : probability of keeping x, |S| x |X|. moved : T(s,y)."""

    a: np.ndarray
    moved: np.ndarray
    cost: float


def cheapest(limits, q, d, end, sees_s=True):
    """Return `Found`: the cheapest a and T that sequential linear programming finds from a start.

    q : P(y|s) of the start, for instance the optimum without a box. d : cost matrix, None if every change costs one.
    end : time by `time.monotonic` at which to stop. The result meets the limit whenever that is.
    sees_s : if False, a(s,x) and t(y|s) are the same for all s.
    """
    search = _Search if sees_s else _WithoutS
    return search(limits.attainable(), d, end).run(q)


def redrawing(limits, d=None):
    """Return `Found` that draws the same share of all records from P_X: the least share that meets the limit."""
    limits = limits.attainable()
    start = mixed(np.ones_like(limits.p), np.zeros_like(limits.p), limits.p_y, LEAST_MOVED)
    a, moved = _toward_marginal(limits, *start)
    return Found(a, moved, cost_of(limits, d, a, moved))


def are_met_by_x(limits):
    """Return whether X itself meets the limit, if there are no symbols that never occur."""
    box = limits.attainable()
    alone = len(box.low) == 1
    within = alone or (box.high <= math.exp(limits.ldp) * _lowest_other(box.low)).all()
    return bool(within and not limits.spare.any())


def least_changes(limits):
    """Return a lower bound of the share of records that any mechanism within the limit changes.

    If P(x = y|s) is at its upper limit h, then P(y|s) >= h K, where K = P(y|s,y). So P(y|s') >= h K e^-eps for all
    other s', wherever they are in the box, and then P(y|s) >= h K e^(-2 eps) for the P(x|s) of the records. P(y) is the
    mean of these over the records, so K <= P(y) / (h (P(s) e^(-2 eps) + (1 - P(s)) e^-eps)).
    """
    if len(limits.p) == 1:
        return 0.0
    least = (1.0 - limits.p_s) * math.exp(-limits.ldp) + limits.p_s * math.exp(-2.0 * limits.ldp)
    likeliest = limits.attainable().high * least[:, None]
    kept = np.minimum(1.0, np.divide(limits.p_y, likeliest, out=np.ones_like(limits.p), where=likeliest > 0.0))
    return max(0.0, float(limits.p_s @ (limits.p * (1.0 - kept)).sum(axis=1)))


class _Search:
    """Sequential linear programming for mechanisms that use S.

    price : of a violation. levels : which level of each y limits P(y|s) from above; the other limits it from below, if
    there are two s, since P(y|s) is not compared with itself. With more s, there is one level.
    """

    sees_s = True

    def __init__(self, limits, d, end):
        self.limits, self.d, self.end, self.price = limits, d, end, PRICE
        n_s = limits.p_s.size
        self.levels = np.arange(2) if n_s == 2 else np.zeros(n_s, int)

    def run(self, q):
        """Return the cheapest `Found` of all points of the search, each brought within the limit."""
        start = self.start(q)
        best = self.repaired(*start)
        log.info("robust resampling, start: cost %.6g", best.cost)
        for stages in WAYS if self.limits.p.size <= SMALL else WAYS[-1:]:
            point = start
            for share in stages:
                stage = type(self)(self.limits.shrunk(share), self.d, self.end)
                for step in stage.descend(*point, STAGE_ROUNDS if share < 1.0 else MOST_ROUNDS):
                    point = step
                    if share == 1.0:
                        best = min(best, self.repaired(*point), key=lambda one: one.cost)
                log.info("robust resampling, share %.2g of the box: best cost %.6g", share, best.cost)
            best = min(best, self.repaired(*point), key=lambda one: one.cost)
        return best

    def merit(self, a, moved):
        """Return the cost of a point with the price of its violation."""
        return cost_of(self.limits, self.d, a, moved) + self.price * violation(self.limits, a, moved)

    def descend(self, a, moved, most_rounds):
        """Yield (a, T) of each accepted step."""
        limits, radius = self.limits, FIRST_RADIUS
        here, small = self.merit(a, moved), 0
        for nth in range(most_rounds):
            solved = self.solve(_Local(limits, a, moved, self.sees_s), radius, SMALL_GAIN * here)
            if solved is None:
                return
            there = self.merit(*solved)
            log.info("robust resampling, round %d: merit %.6g, radius %.2g", nth, there, radius)
            gain, least = here - there, SMALL_GAIN * here
            if gain > 0.0:
                (a, moved), here, radius = solved, there, min(MOST_RADIUS, 3.0 * radius)
                yield a, moved
            else:
                used = (np.abs(solved[0] - a) / _unit(limits, a)).max()
                radius = 0.3 * min(radius, float(used))
            small = small + 1 if abs(gain) < least else 0
            if radius < LEAST_RADIUS or small == 2:
                if self.price >= MOST_PRICE or violation(limits, a, moved) < SMALL_VIOLATION:
                    return
                self.price, radius, small = self.price * 4.0, FIRST_RADIUS, 0
                here = self.merit(a, moved)

    def solve(self, local, radius, tolerance):
        """Return (a, T) of the programme that is linear around a point; None if there is no time left."""
        limits = self.limits
        if time.monotonic() >= self.end:
            return None
        cost_m, cost_t = _gradient(limits, self.d, local.a, local.moved)
        scale = limits.p_y
        low, high = _region(limits, local.a, radius)
        ends, links = [], []
        for i, (box, factor, level) in enumerate(
            ((limits.high, math.exp(limits.ldp), self.levels), (limits.low, 1.0, self.levels[::-1]))
        ):
            ratio = np.broadcast_to(local.ratios[i][:, None], local.a.shape)
            ends.append(Ends(box / scale, ratio, local.table / scale, np.zeros_like(local.a), factor, level))
            links.append(_link(limits, local, i))
        programme = Programme(
            limits.p, limits.p_s, limits.p_y, -cost_m, cost_t * scale, low, high, tuple(ends), tuple(links),
            int(self.levels.max()) + 1, self.price,
        )  # fmt: skip
        solved = resampling_programme.solve(programme, (local.a, local.moved / scale), tolerance, self.end)
        log.info("interior point: %d steps, gap %.2g, finished %s", solved.steps, solved.gap, solved.finished)
        return solved.a, solved.t * scale

    def start(self, q):
        """Return (a, T) of the coupling of P(x|s) with q that changes the fewest records."""
        return _start(self.limits, q)

    def repaired(self, a, moved):
        """Return `Found` for a and T, brought within the limit by resampling more.

        First, the rarer s of each pair beyond the limit: a growing share of its records is resampled from P(y|s), which
        keeps P(y|s) and P_Y and makes P(y|s) less uncertain. Then all s alike, from P_X. The cheaper of this and of the
        second step alone.
        """
        limits = self.limits
        a, moved = with_exact_sums(limits, a, moved)
        found = [_toward_marginal(limits, *some) for some in ((a, moved), _rare_resampled(limits, a, moved))]
        found = [Found(*some, cost_of(limits, self.d, *some)) for some in found]
        return min(found, key=lambda one: one.cost)


class _WithoutS(_Search):
    """The same search for mechanisms that do not use S: P_Y = P_X holds if t(y) is proportional to P(y) m(y)."""

    sees_s = False

    def start(self, q):
        """Return the start of mechanisms that use S, averaged over s."""
        limits = self.limits
        a, _ = _start(limits, q)
        return for_all_s(limits, limits.p_s @ (limits.p * a) / limits.p_y)

    def repaired(self, a, moved):
        """Return `Found` for a, brought within the limit by moving more."""
        a, moved = _toward_marginal(self.limits, a, moved, sees_s=False)
        return Found(a, moved, cost_of(self.limits, self.d, a, moved))

    def solve(self, local, radius, tolerance):
        """Do as `_Search.solve`, by HiGHS: the programme of `resampling_programme` with one a for all s, t = 1 - a."""
        limits, programme = self.limits, lp.LinearProgram()
        if time.monotonic() >= self.end:
            return None
        (n_s, n_y), scale, a = local.a.shape, limits.p_y, local.a[:1]
        together = limits._replace(p=scale[None], p_s=np.ones(1))
        of_m, of_moved = _gradient(together, self.d, a, scale * (1.0 - a))
        low, high = (part[0] for part in _region(together, a, radius))
        a = programme.variables(-(of_m[0] + scale * of_moved[0]), high=high - low)  # above its lower limit
        levels = programme.variables(np.zeros((int(self.levels.max()) + 1) * n_y)).reshape(-1, n_y)
        slack = programme.variables(self.price * scale)
        rows, table = programme.inequalities, local.table / scale
        for i, (sign, box, factor, level) in enumerate(
            ((1.0, limits.high, math.exp(limits.ldp), self.levels), (-1.0, limits.low, 1.0, self.levels[::-1]))
        ):
            link, ratio = _link(limits, local, i, scale), local.ratios[i][:, None]
            above, below = (programme.variables(np.zeros(n_s)) for _ in range(2))  # the excess is their difference
            threshold = programme.variables(np.zeros(n_s), high=1.0)
            excess = programme.variables(np.zeros(n_s * n_y)).reshape(n_s, n_y)
            slope = box / scale - ratio
            row = rows.add((-sign * (ratio + slope * low)).ravel()).reshape(n_s, n_y)
            rows.term(row, a, sign * slope)
            rows.term(row, above[:, None], sign * table)
            rows.term(row, below[:, None], -sign * table)
            rows.term(row, levels[level], -sign * factor)
            rows.term(row, slack, -1.0)
            row = rows.add(np.tile(-sign * (1.0 - low), n_s)).reshape(n_s, n_y)
            rows.term(row, excess, -1.0)
            rows.term(row, a, -sign)
            rows.term(row, threshold[:, None], -sign)
            row = rows.add(-sign * (link.constant + link.g @ (1.0 - low)))
            rows.term(row, above, -sign)
            rows.term(row, below, sign)
            rows.term(row, threshold, sign * link.left)
            rows.term(row[:, None], a, -sign * link.g)
            rows.term(row[:, None], excess, link.room)
        try:
            solved = programme.solve(self.end - time.monotonic())
        except lp.NotSolvedError as error:
            log.info("robust resampling: %s", error)
            return None
        return for_all_s(limits, low + solved.x[a])


def _region(limits, a, radius):
    """Return the limits of a in the trust region around a point."""
    width = radius * _unit(limits, a)
    return np.maximum(0.0, a - width), np.minimum(1.0 - LEAST_MOVED, a + width)


def _unit(limits, a):
    """Return what the radius of the trust region is relative to: the probability of moving x, or of any x of s."""
    m = 1.0 - a
    return np.maximum(np.maximum(m, (limits.p * m).sum(axis=1, keepdims=True)), LEAST_WIDTH)


def _link(limits, local, i, p=None):
    """Return the `Link` of the largest (i = 0) or smallest (i = 1) mean of m over the box, less its ratio times M."""
    left, spare = np.maximum(0.0, 1.0 - limits.low.sum(axis=1)), limits.spare * (i == 0)
    g = limits.low - local.ratios[i][:, None] * (limits.p if p is None else p)
    return Link(g, limits.high - limits.low, left - spare, spare)


def for_all_s(limits, a):
    """Return (a, T), both |S| x |X|, of the mechanism that keeps x with probability a(x) whatever s is."""
    m = 1.0 - a
    table = limits.p_y * m / (limits.p_y @ m)
    return np.tile(a, (limits.p_s.size, 1)), (limits.p @ m)[:, None] * table


def toward_marginal(limits, a, moved, share, sees_s=True):
    """Return (a, T) with a share of all records resampled from P_X; without S, roughly so."""
    return mixed(a, moved, limits.p_y, share) if sees_s else for_all_s(limits, (1.0 - share) * a[0])


def with_exact_sums(limits, a, moved):
    """Return a and T in their limits with exact sums: what a symbol has too much of goes to those that lack some."""
    a, moved = np.clip(a, 0.0, 1.0 - LEAST_MOVED), np.maximum(moved, 0.0)
    moved = moved * ((1.0 - (limits.p * a).sum(axis=1)) / moved.sum(axis=1))[:, None]
    marginal = limits.p_s @ (limits.p * a + moved)
    keep = np.minimum(1.0, limits.p_y / marginal)
    lack = np.maximum(0.0, limits.p_y - marginal)
    if lack.any():
        a, moved = a * keep, moved * keep
        lost = 1.0 - (limits.p * a + moved).sum(axis=1)
        moved = moved + lost[:, None] * (lack / lack.sum())
    return a, moved


def _rare_resampled(limits, a, moved):
    """Return a and T with a share of the records of rare s resampled from P(y|s)."""
    own, factor, share = limits.p * a + moved, math.exp(limits.ldp), np.zeros(len(a))
    for _ in range(MOST_REPAIRS):
        some = mixed(a, moved, own, share[:, None])
        low, high = extremes(limits, *some)
        pairs = _pairs_beyond(low, high, factor)
        if not pairs.any():
            break
        one, other = np.nonzero(pairs)
        rarer = np.unique(np.where(limits.p_s[one] < limits.p_s[other], one, other))
        if (share[rarer] == 1.0).all():
            break
        share[rarer] = np.minimum(1.0, np.maximum(FIRST_REPAIR, 2.0 * share[rarer]))
    return some


def _pairs_beyond(low, high, factor):
    """Return whether P(y|s) is beyond the limit relative to P(y|s') for some y, |S| x |S|."""
    found = np.zeros((len(low), len(low)), bool)
    for s in np.flatnonzero((high > factor * _lowest_other(low)).any(axis=1)).tolist():
        found[s] = (high[s] > factor * low).any(axis=1)
        found[s, s] = False
    return found


def _toward_marginal(limits, a, moved, sees_s=True):
    """Return a and T with the least share of P_X that brings the ratios within the limit, by bisection."""

    def meets(share):
        return worst_ratio(limits, *toward_marginal(limits, a, moved, share, sees_s)) <= limits.ldp

    low, high = 0.0, 0.0 if meets(0.0) else 1.0
    while high - low > max(LEAST_SHARE, CLOSE * min(high, 1.0 - low)):
        share = 0.5 * (low + high) if low else high / 8.0
        low, high = (low, share) if meets(share) else (share, high)
    return toward_marginal(limits, a, moved, high, sees_s)


def mixed(a, moved, toward, share):
    return (1.0 - share) * a, (1.0 - share) * moved + share * toward


class _Local:
    """What the programme around a point needs: the tables, the ratios, and the worst distributions for m = 1 - a."""

    def __init__(self, limits, a, moved, sees_s=True):
        self.a, self.moved = a, moved
        m = 1.0 - a
        self.table = moved / (limits.p * m).sum(axis=1, keepdims=True)
        mean = (limits.p * m).sum(axis=1) if sees_s else m[0] @ limits.p_y
        self.ratios = np.stack([_Knapsack(limits, m, sign).largest() / mean for sign in (1.0, -1.0)])


class _Knapsack:
    """The largest (sign 1) or the smallest (sign -1) mean of m over the distributions of a box, for each s."""

    def __init__(self, limits, m, sign):
        self.limits, self.m, self.sign = limits, m, sign
        low, room = limits.low, limits.high - limits.low
        order = np.argsort(-sign * m, axis=1)
        self.room = room
        self.left = np.maximum(0.0, 1.0 - low.sum(axis=1))
        spare = limits.spare
        sorted_room, sorted_m = (np.take_along_axis(part, order, 1) for part in (room, m))
        ones = np.ones((len(m), 1))
        if sign > 0.0:
            sorted_room, sorted_m = np.hstack([spare[:, None], sorted_room]), np.hstack([ones, sorted_m])
        else:
            sorted_room, sorted_m = np.hstack([sorted_room, spare[:, None]]), np.hstack([sorted_m, ones])
        zero = np.zeros((len(m), 1))
        self.mass = np.hstack([zero, np.cumsum(sorted_room, axis=1)])
        self.value = np.hstack([zero, np.cumsum(sorted_room * sorted_m, axis=1)])
        first = 1 if sign > 0.0 else 0
        before = self.mass[:, first : first + m.shape[1]]
        self.before = np.empty_like(m)
        np.put_along_axis(self.before, order, before, 1)
        self.base = (low * m).sum(axis=1)

    def filled(self, mass):
        """Return the value of a mass of each (s, y) that fills the rooms in order."""
        return np.stack([np.interp(*one) for one in zip(mass, self.mass, self.value, strict=True)])

    def largest(self):
        return self.base + self.filled(self.left[:, None])[:, 0]

    def with_own(self, own):
        """Return the extreme mean for each y if P(y) is at its upper limit (sign 1) or at its lower limit."""
        left = np.broadcast_to(self.left[:, None], self.m.shape)
        used = own - self.limits.low  # of the room of y
        others = np.maximum(0.0, left - used)
        passed = self.before >= others
        value = self.filled(np.where(passed, others, others + self.room))
        return self.base[:, None] + used * self.m + np.where(passed, value, value - self.room * self.m)


def extremes(limits, a, moved, exact=True):
    """Return (smallest, largest) P(y|s) over the box, |S| x |Y|; if not exact, bounds, as in the programme."""
    m = 1.0 - a
    table = moved / (limits.p * m).sum(axis=1, keepdims=True)
    found = []
    for sign, own in ((-1.0, limits.low), (1.0, limits.high)):
        knapsack = _Knapsack(limits, m, sign)
        found.append(own * a + table * (knapsack.with_own(own) if exact else knapsack.largest()[:, None]))
    return found


def violation(limits, a, moved):
    """Return the sum over y of what P(y|s) and P(y|s') must both give way to meet the limit."""
    low, high = extremes(limits, a, moved, exact=False)
    factor = math.exp(limits.ldp)
    return float(np.maximum(0.0, high - factor * _lowest_other(low)).max(axis=0).sum() / (1.0 + factor))


def _lowest_other(low):
    first, second = np.partition(low, 1, axis=0)[:2]
    return np.where(np.arange(len(low))[:, None] == low.argmin(axis=0), second, first)


def worst_ratio(limits, a, moved):
    """Return the largest log P(y|s) / P(y|s') of different s over the box."""
    low, high = extremes(limits, a, moved)
    if len(low) == 1:
        return 0.0
    lowest_other = _lowest_other(low)
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(high > 0.0, np.log(high / lowest_other), 0.0).max())


def cost_of(limits, d, a, moved):
    """Return the expected cost of a and T."""
    m = 1.0 - a
    mean = (limits.p * m).sum(axis=1)
    return float(limits.p_s @ ((limits.p * m * _costs(d, moved)).sum(axis=1) / mean))


def _costs(d, moved):
    """Return the cost of moving each x by T(s,.)."""
    return moved.sum(axis=1, keepdims=True) - moved if d is None else moved @ d.T


def _gradient(limits, d, a, moved):
    """Return the derivatives of `cost_of` by m and by T."""
    m = 1.0 - a
    weight = limits.p * m
    mean = weight.sum(axis=1, keepdims=True)
    costs = _costs(d, moved)
    own = (weight * costs).sum(axis=1, keepdims=True) / mean
    scale = limits.p_s[:, None] / mean
    return scale * limits.p * (costs - own), scale * (mean - weight if d is None else weight @ d)


def _start(limits, q):
    """Return (a, T) of the coupling of P(x|s) with q that changes the fewest records."""
    p = limits.p
    a = np.minimum(1.0, np.divide(q, p, out=np.ones_like(p), where=p > 0.0))
    a = np.minimum(a, 1.0 - LEAST_MOVED)
    mean = (p * (1.0 - a)).sum(axis=1, keepdims=True)
    a = np.where(p > 0.0, a, 1.0 - mean)
    moved = np.maximum(q - p * a, 0.0)
    return a, moved * (mean / moved.sum(axis=1, keepdims=True))

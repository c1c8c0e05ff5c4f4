"""The programme of fewest changes where s is seen and P_Y = P_X, by an interior-point method made for it.

In lifts, z = P(x|s)/P(x) before and q = z - g + h after, with loss g >= 0 and gain h >= 0:

    least sum p_s p_x g   with  a = q - L >= 0,  b = e^eps L - q >= 0,  low <= L <= high,
                                sum_x p_x (q - z) = 0 for each s,  sum_s p_s (q - z) = 0 for each x.

Mehrotra's predictor-corrector method. Given the prices m_s of the rows, columns x are apart, and in a column all cells
are but for its L and the price y_x of its sum: so a Newton step takes O(|S||X|) and one system of |S| equations. q = 1,
that is P(y|s) = P(y), is inside and keeps all sums; so each iterate does, and may be the answer when time is over.
"""

import logging
import time

import numpy as np

from linred.solvers import formulations
from linred.solvers.exact_sums import with_both_means

log = logging.getLogger("linred")

START, SMALL_GAP = 0.5, 2.0**-40
"""The gap to begin with, about, and the one to end with: shares of records."""

MOST_STEPS, PATIENCE = 300, 40
"""Steps in all, and steps in which the gap must halve."""

LIGHTEST = 2.0**-40
"""Relative to the mean weight of a cell: lighter ones count alike."""

TO_THE_WALL, REFINEMENTS = 0.995, 2
"""How much of the way to where a slack or a price would be 0 is gone; how often a direction is solved for."""

CORRECTIONS, WORTH_IT, NEAR = 3, 0.05, (0.1, 10.0)
"""Directions that are tried in its place, how much longer the step must become, and products near the centre."""

AT_REST, STILL_SUMS = 1e-9, 2.0**-42
"""Relative: a lift that has moved by less was not meant to move; sums that are off by more are not to be mended."""


def fewest_changes(limits, p, end):
    """An `Answer`, which is not a vertex and, where time runs out, not yet the optimum."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a step that is not finite is not taken
        point, gap, in_time = _walk(limits, p, end)
    price = limits.p_s[:, None] * (point.zg - 1.0) * point.may_lose
    bound = formulations.least_cost_of_moves(p, limits.p_s, None, price)
    bound += formulations.dual_bound(limits, price, limits.p_s * point.m, point.y)
    return formulations.Answer(_rounded(point) * limits.p_x, point.cost(), bound, in_time or gap <= SMALL_GAP)


def _walk(limits, p, end):
    """(the last point, its gap, whether there was time)."""
    point, best, since, in_time = _Point(p / limits.p_x, limits), np.inf, 0, True
    for step in range(MOST_STEPS):
        gap = point.gap()
        best, since = (gap, 0) if gap < 0.5 * best else (best, since + 1)
        in_time = time.monotonic() < end
        if step % 10 == 0:
            log.info("interior point, step %d: cost %.9g, gap %.2g", step, point.cost(), gap)
        if gap <= SMALL_GAP or since > PATIENCE or not in_time or not point.move():
            break
    log.info("interior point: %d steps, cost %.9g, gap %.2g", step, point.cost(), gap)
    return point, gap, in_time


def _rounded(point):
    """Lifts, those that hardly moved just as they were; unless that holds the others too tight for their sums."""
    q = with_both_means(*point.at_rest(), point.p_s[:, 0], point.p_x)
    off = max(np.abs(q @ point.p_x - 1.0).max(), np.abs(point.p_s[:, 0] @ q - 1.0).max())
    return q if off <= STILL_SUMS else point.z + point.u


class _Point:
    """An iterate. za, zb, zg, zh, ze, zf are the prices of a, b, g, h, e = L - low, f = high - L >= 0."""

    VARIABLES = ("u", "l", "a", "b", "g", "h", "e", "f"), ("m", "y", "za", "zb", "zg", "zh", "ze", "zf")
    PAIRS = (("a", "za"), ("b", "zb"), ("g", "zg"), ("h", "zh"), ("e", "ze"), ("f", "zf"))

    def __init__(self, z, limits):
        self.z, self.p_s, self.p_x = z, limits.p_s[:, None], limits.p_x
        self.factor, low, high = limits.for_solver().intervals()
        self.may_lose = z > 0.0  # elsewhere q may be what it likes, and g, h stand idle
        self.moves_l = 1.0 if high > low * (1.0 + 1e-12) else 0.0  # L is given where only lifts are limited
        of_q, of_l = self.p_s * self.p_x, self.p_x * self.moves_l
        of_loss = of_q * self.may_lose
        self.weights = {"a": of_q, "b": of_q, "g": of_loss, "h": of_loss, "e": of_l, "f": of_l}
        self.l = np.full(self.p_x.size, np.sqrt(low * high))
        self.u = 1.0 - z  # q - z
        self.a, self.b = np.broadcast_to(1.0 - self.l, z.shape), np.broadcast_to(self.factor * self.l - 1.0, z.shape)
        self.e, self.f = (self.l - low, high - self.l) if self.moves_l else (np.ones_like(self.l),) * 2
        self.shares = self._shares()
        start = {slack: START * share for slack, share in self.shares.items()}
        self.za, self.zb = start["a"] / self.a, start["b"] / self.b
        self.ze, self.zf = self.moves_l * start["e"] / self.e, self.moves_l * start["f"] / self.f
        spare = 2.0 * start["g"]
        self.g = np.where(self.may_lose, np.maximum(-self.u, 0.0) + spare, 1.0)
        self.h = np.where(self.may_lose, np.maximum(self.u, 0.0) + spare, 1.0)
        both = np.where(self.may_lose, self.g + self.h, 1.0)
        self.zg, self.zh = self.h / both, self.g / both  # they sum to one, and products are about right
        self.m, self.y = np.zeros(z.shape[0]), np.zeros(self.p_x.size)

    def _shares(self):
        """What a product of slack and price has of the gap on the central path: as much as any other, times its weight.
        With equal products whatever the weights are, rare symbols would stop every step.
        """
        count = sum(np.count_nonzero(weight) for weight in self.weights.values())
        least = LIGHTEST * self.weights["a"].mean()
        return {slack: 1.0 / (count * np.maximum(weight, least)) for slack, weight in self.weights.items()}

    def cost(self):
        return float(np.vdot(self.weights["g"], self.g))

    def gap(self, step=None, primal=0.0, dual=0.0):
        """Complementarity, here or after a step: what the cost is above the dual's where all equations hold."""
        total = 0.0
        for slack, price in self.PAIRS:
            here, there = getattr(self, slack), getattr(self, price)
            if step is not None:
                here, there = here + primal * step[slack], there + dual * step[price]
            total += float(np.vdot(np.broadcast_to(self.weights[slack], here.shape), here * there))
        return total

    def move(self):
        """One step, as far as it goes; whether there was one.

        Where Newton would go at once shows the centring and the curvature to allow for. Then products of slacks and
        prices that would get far from their mean are drawn to it, as long as that makes the step longer (Gondzio).
        """
        system = _System(self)
        straight = system.direction({}, {})
        gap = self.gap()
        centring = (self.gap(straight, *self._lengths(straight, 1.0)) / gap) ** 3
        centre = {slack: centring * gap * share for slack, share in self.shares.items()}
        allowed = {slack: straight[slack] * straight[price] for slack, price in self.PAIRS}
        step = system.direction(centre, allowed)
        lengths = self._lengths(step, TO_THE_WALL)
        for _ in range(CORRECTIONS):
            allowed = self._drawn_to(centre, allowed, step, lengths)
            other = system.direction(centre, allowed)
            longer = self._lengths(other, TO_THE_WALL)
            if sum(longer) < sum(lengths) + WORTH_IT:
                break
            step, lengths = other, longer
        if not all(np.isfinite(part).all() for part in step.values()):
            return False
        before = self.__dict__.copy()
        for names, length in zip(self.VARIABLES, lengths, strict=True):
            for name in names:
                setattr(self, name, getattr(self, name) + length * step[name])
        if self.p_s[:, 0] @ np.abs(self.u @ self.p_x) + self.p_x @ np.abs(self.p_s[:, 0] @ self.u) > SMALL_GAP:
            self.__dict__ = before  # near a vertex the equations may be too much alike to be solved
            return False
        gains, loses = self.may_lose & (self.u > 0.0), self.may_lose & (self.u <= 0.0)
        self.h = np.where(gains, self.u + self.g, self.h)  # h - g is u, whatever rounding did
        self.g = np.where(loses, self.h - self.u, self.g)
        return True

    def _drawn_to(self, centre, allowed, step, lengths):
        """`allowed` so that the products after a longer step come nearer to the centre."""
        primal, dual = (min(1.0, 1.1 * length + 0.1) for length in lengths)
        drawn = {}
        for slack, price in self.PAIRS:
            product = (getattr(self, slack) + primal * step[slack]) * (getattr(self, price) + dual * step[price])
            toward = np.clip(product, NEAR[0] * centre[slack], NEAR[1] * centre[slack]) - product
            drawn[slack] = allowed[slack] - np.maximum(toward, -NEAR[1] * centre[slack])
        return drawn

    def _lengths(self, step, share):
        """How far slacks, and how far prices, can go before one is 0, times a share; at most 1."""
        lengths = []
        for names in zip(*self.PAIRS, strict=True):
            most = 1.0 / share
            for name in names:
                here, by = getattr(self, name), step[name]
                ratio = np.divide(here, -by, out=np.full_like(here, np.inf), where=by < 0.0)
                most = min(most, float(ratio.min()))
            lengths.append(share * most)
        return lengths

    def at_rest(self):
        """(lifts, and what they may be): those that hardly moved are as they were, and may not move."""
        low, high = np.broadcast_to(self.l, self.z.shape), np.broadcast_to(self.factor * self.l, self.z.shape)
        rest = (np.abs(self.u) <= AT_REST * self.z) & (self.z >= low) & (self.z <= high)
        q = np.clip(self.z + self.u, low, high)
        return tuple(np.where(rest, self.z, part) for part in (q, low, high))


class _System:
    """The equations of a Newton step at a point, solved for two right sides.

    With A = za/a, B = zb/b, G = e^eps and D = g/zg + h/zh, a cell has K du = R + C dL + dm + dy, where
    K = 1/D + A + B and C = A + G B. Its column has sum p_s du = 0 and one equation for dL, the rows sum p_x du = 0.
    """

    def __init__(self, point):
        from scipy.linalg import lu_factor

        self.at = at = point
        big = at.factor
        self.A, self.B = at.za / at.a, at.zb / at.b
        self.by_d = np.where(at.may_lose, 1.0 / (at.g / at.zg + at.h / at.zh), 0.0)
        self.by_k = 1.0 / (self.by_d + self.A + self.B)
        self.C = self.A + big * self.B
        of_k = at.p_s * self.by_k
        self.k0 = of_k.sum(axis=0)
        self.mean_c = (of_k * self.C).sum(axis=0) / self.k0
        self.v = self.C - self.mean_c  # so that dL and dy come apart
        stiffness = (at.p_s * (self.A + big**2 * self.B - self.C**2 * self.by_k)).sum(axis=0)
        stiffness += self.k0 * self.mean_c**2 + at.ze / at.e + at.zf / at.f
        self.by_stiffness = at.moves_l / np.where(at.moves_l > 0.0, stiffness, 1.0)
        rows = self.by_k * at.p_x
        self._scale = rows.sum(axis=1, keepdims=True)
        rows = rows / self._scale
        schur = (rows * self.v * self.by_stiffness) @ (of_k * self.v).T - (rows / self.k0) @ of_k.T
        # All m may rise by what all y fall: of those take the step whose mean is 0. And a bit, so that no row sticks.
        schur += (1.0 + 2.0**-44) * np.eye(len(schur)) + at.p_s.T
        self._factors = lu_factor(schur, check_finite=False)

    def direction(self, centre, curvature):
        """The step to complementary products of `centre`, less the curvature of a step before."""
        from scipy.linalg import lu_solve

        at, big = self.at, self.at.factor
        bend = {slack: centre.get(slack, 0.0) - curvature.get(slack, 0.0) for slack, _ in at.PAIRS}
        ra, rb = bend["a"] / at.a - at.za, bend["b"] / at.b - at.zb
        rg, rh = at.may_lose * (bend["g"] / at.zg - at.g), at.may_lose * (bend["h"] / at.zh - at.h)
        re, rf = at.moves_l * (bend["e"] / at.e - at.ze), at.moves_l * (bend["f"] / at.f - at.zf)
        off = at.za - at.zb + at.m[:, None] + at.y - (at.zg - 1.0)  # what the dual equations miss
        off_l = (at.p_s * (at.za + ra - big * (at.zb + rb))).sum(axis=0) - (at.ze + re) + (at.zf + rf)
        right = (rh - rg) * self.by_d + ra - rb + off
        of_k = at.p_s * self.by_k
        level = -((of_k * right).sum(axis=0) + at.p_s[:, 0] @ at.u) / self.k0
        pull = (of_k * self.v * right).sum(axis=0) - off_l - self.mean_c * (at.p_s[:, 0] @ at.u)

        def of_cells(dm):
            dl = self.by_stiffness * (pull + (of_k * self.v * dm[:, None]).sum(axis=0))
            dy = level - dm @ of_k / self.k0
            return self.by_k * (right + self.v * dl + dm[:, None] + dy), dl, dy

        dm = np.zeros(at.m.size)
        du, dl, dy = of_cells(dm)
        for _ in range(REFINEMENTS):  # rows of rare s are nearly alike at the end, and one solution is not enough
            missing = (at.u + du) @ at.p_x / self._scale[:, 0]
            dm = dm - lu_solve(self._factors, missing, check_finite=False)
            du, dl, dy = of_cells(dm)
        dt = (du - (rh - rg)) * self.by_d
        da, db = du - dl, big * dl - du
        dg, dh = rg - at.may_lose * at.g / at.zg * dt, rh + at.may_lose * at.h / at.zh * dt
        dza, dzb = ra - self.A * da, rb - self.B * db
        dze, dzf = re - at.ze / at.e * dl, rf + at.zf / at.f * dl
        primal = {"u": du, "l": dl, "a": da, "b": db, "g": dg, "h": dh, "e": dl, "f": -dl}
        dual = {"m": dm, "y": dy - self.mean_c * dl, "za": dza, "zb": dzb, "zg": dt, "zh": -dt, "ze": dze, "zf": dzf}
        return primal | dual

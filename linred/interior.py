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

from linred import programmes
from linred.selection import with_both_sums

log = logging.getLogger("linred")

SMALL_GAP = 2.0**-40
MOST_STEPS, PATIENCE = 300, 20
"""Steps in all, and steps in which the gap must halve."""

TO_THE_WALL = 0.995
AT_REST, STILL_SUMS = 1e-9, 2.0**-42
"""Relative: a lift that has moved by less was not meant to move; sums that are off by more are not to be mended."""


def fewest_changes(limits, p, end):
    """An `Answer`, which is not a vertex and, where time runs out, not yet the optimum."""
    point = _Point(p / limits.p_x, limits)
    best, since = np.inf, 0
    for step in range(MOST_STEPS):
        gap = point.gap()
        if step % 10 == 0:
            log.info("interior point, step %d: cost %.9g, gap %.2g", step, point.cost(), gap)
        best, since = (gap, 0) if gap < 0.5 * best else (best, since + 1)
        if gap <= SMALL_GAP or since > PATIENCE or time.monotonic() >= end:
            break
        if not point.move():
            log.info("interior point, step %d: no further for rounding, gap %.2g", step, gap)
            break
    q = with_both_sums(*point.at_rest(), limits.p_s, limits.p_x)
    if max(np.abs(q @ limits.p_x - 1.0).max(), np.abs(limits.p_s @ q - 1.0).max()) > STILL_SUMS:
        q = point.z + point.u  # what would rest holds the rest too tight
    price = limits.p_s[:, None] * (point.zg - 1.0) * point.may_lose
    bound = programmes.least_cost_of_moves(p, limits.p_s, None, price)
    bound += programmes.dual_bound(limits, price, limits.p_s * point.m, point.y)
    return programmes.Answer(q * limits.p_x, point.cost(), bound, time.monotonic() < end)


class _Point:
    """An iterate. za, zb, zg, zh, ze, zf are the prices of a, b, g, h, e = L - low, f = high - L >= 0."""

    def __init__(self, z, limits):
        self.z, self.p_s, self.p_x = z, limits.p_s[:, None], limits.p_x
        self.factor, low, high = limits.for_solver().intervals()
        self.may_lose = z > 0.0  # elsewhere q may be what it likes, and g, h stand idle
        self.weight = self.p_s * self.p_x
        self.weight_of_loss = self.weight * self.may_lose
        self.moves_l = 1.0 if high > low * (1.0 + 1e-12) else 0.0  # L is given where only lifts are limited
        self.l = np.full(self.p_x.size, np.sqrt(low * high))
        self.u = 1.0 - z  # q - z
        self.g = np.where(self.may_lose, np.maximum(-self.u, 0.0) + 0.1, 1.0)
        self.h = np.where(self.may_lose, np.maximum(self.u, 0.0) + 0.1, 1.0)
        self.a, self.b = np.broadcast_to(1.0 - self.l, z.shape), np.broadcast_to(self.factor * self.l - 1.0, z.shape)
        self.zg, self.zh = np.where(self.may_lose, 0.5, 1.0), np.where(self.may_lose, 0.5, 1.0)
        self.za, self.zb = 0.1 / self.a, 0.1 / self.b
        self.e, self.f = (self.l - low, high - self.l) if self.moves_l else (np.ones_like(self.l),) * 2
        self.ze, self.zf = 0.1 * self.moves_l / self.e, 0.1 * self.moves_l / self.f
        self.m, self.y = np.zeros(z.shape[0]), np.zeros(self.p_x.size)

    PAIRS = (("a", "za"), ("b", "zb"), ("g", "zg"), ("h", "zh"), ("e", "ze"), ("f", "zf"))

    def _weights(self):
        of_l = self.p_x * self.moves_l
        return self.weight, self.weight, self.weight_of_loss, self.weight_of_loss, of_l, of_l

    def cost(self):
        return float(np.vdot(self.weight_of_loss, self.g))

    def gap(self, step=None, primal=0.0, dual=0.0):
        """Complementarity, here or after a step: what the cost is above the dual's where all equations hold."""
        total = 0.0
        for weight, (slack, price) in zip(self._weights(), self.PAIRS, strict=True):
            here, there = getattr(self, slack), getattr(self, price)
            if step is not None:
                here, there = here + primal * step[slack], there + dual * step[price]
            total += float(np.vdot(np.broadcast_to(weight, here.shape), here * there))
        return total

    def move(self):
        """One step: where Newton would go at once, then with the centring and the curvature that this one shows.
        Whether there was one."""
        system = _System(self)
        straight = system.direction(0.0, {})
        gap = self.gap()
        primal, dual = self._lengths(straight, 1.0)
        centring = (self.gap(straight, primal, dual) / gap) ** 3
        mean = gap / sum(float(weight.sum()) for weight in self._weights())
        curvature = {slack: straight[slack] * straight[price] for slack, price in self.PAIRS}
        step = system.direction(centring * mean, curvature)
        if not all(np.isfinite(part).all() for part in step.values()):
            return False
        primal, dual = self._lengths(step, TO_THE_WALL)
        for name in ("u", "l", "a", "b", "g", "h", "e", "f"):
            setattr(self, name, getattr(self, name) + primal * step[name])
        for name in ("m", "y", "za", "zb", "zg", "zh", "ze", "zf"):
            setattr(self, name, getattr(self, name) + dual * step[name])
        return True

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
        bend = {slack: centre - curvature.get(slack, 0.0) for slack, _ in at.PAIRS}
        ra, rb = bend["a"] / at.a - at.za, bend["b"] / at.b - at.zb
        rg, rh = (
            at.may_lose * (bend[slack] / price - here)
            for slack, price, here in (("g", at.zg, at.g), ("h", at.zh, at.h))
        )
        re, rf = (
            at.moves_l * (bend[slack] / here - price) for slack, here, price in (("e", at.e, at.ze), ("f", at.f, at.zf))
        )
        off = at.za - at.zb + at.m[:, None] + at.y - (at.zg - 1.0)  # what the dual equations miss
        off_l = (at.p_s * (at.za + ra - big * (at.zb + rb))).sum(axis=0) - (at.ze + re) + (at.zf + rf)
        right = (rh - rg) * self.by_d + ra - rb + off
        of_k = at.p_s * self.by_k
        level = -((of_k * right).sum(axis=0) + at.p_s[:, 0] @ at.u) / self.k0
        pull = (of_k * self.v * right).sum(axis=0) - off_l - self.mean_c * (at.p_s[:, 0] @ at.u)
        rows = self.by_k * (right + level + self.v * (self.by_stiffness * pull))
        dm = lu_solve(self._factors, -((at.u + rows) @ at.p_x) / self._scale[:, 0], check_finite=False)
        dl = self.by_stiffness * (pull + (of_k * self.v * dm[:, None]).sum(axis=0))
        level = level - dm @ of_k / self.k0
        du = self.by_k * (right + self.v * dl + dm[:, None] + level)
        dt = (du - (rh - rg)) * self.by_d
        da, db = du - dl, big * dl - du
        return {
            "u": du,
            "l": dl,
            "m": dm,
            "y": level - self.mean_c * dl,
            "a": da,
            "b": db,
            "e": dl,
            "f": -dl,
            "g": rg - at.may_lose * at.g / at.zg * dt,
            "h": rh + at.may_lose * at.h / at.zh * dt,
            "zg": dt,
            "zh": -dt,
            "za": ra - self.A * da,
            "zb": rb - self.B * db,
            "ze": re - at.ze / at.e * dl,
            "zf": rf + at.zf / at.f * dl,
        }

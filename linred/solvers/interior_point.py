"""An interior-point method for the fewest changes, for mechanisms that use S and keep P_Y = P_X.

The linear programme in lifts, with z = P(x|s)/P(x) before and q = z - g + h after, loss g >= 0 and gain h >= 0:

    minimise sum p_s p_x g   subject to  a = q - L >= 0,  b = e^eps L - q >= 0,  low <= L <= high,
                                         sum_x p_x (q - z) = 0 for each s,  sum_s p_s (q - z) = 0 for each x.

This is Mehrotra's predictor-corrector method, adapted to the structure of the programme. Given the dual prices m_s of
the rows, the columns x separate; within a column the cells are linked only by its L and by the price y_x of its sum. So
a Newton step takes O(|S||X|) operations beside one system of |S| equations. The method starts at q = 1, that is
P(y|s) = P(y), which is strictly feasible. Every iterate satisfies all sums, and can be returned when the time limit is
reached.
"""

import logging
import time

import numpy as np

from linred.solvers import constraints, formulations
from linred.solvers.exact_sums import with_both_means

log = logging.getLogger("linred")

START, SMALL_GAP = 0.5, 2.0**-40
"""Approximate gap at the start, and the gap at which the method stops: shares of records."""

MOST_STEPS, PATIENCE = 300, 40
"""Maximum number of steps, and the number of steps in which the gap must halve."""

LIGHTEST = 2.0**-40
"""Smallest weight of a cell relative to the mean weight; lighter cells get this weight on the central path."""

STEP_FRACTION, REFINEMENTS = 0.995, 2
"""Fraction of the way to the boundary (a slack or price of 0) that a step takes; number of solves for a direction."""

CORRECTIONS, MIN_LENGTHENING, CENTRAL_RANGE = 3, 0.05, (0.1, 10.0)
"""Centrality corrections of a direction: how many are tried, by how much one must lengthen the step, and the range of
products, relative to the central path, that need no correction."""

UNMOVED, SUM_TOLERANCE = 1e-9, 2.0**-42
"""Relative change of a lift that counts as noise; tolerance on the sums once such lifts are reset to their start."""


def fewest_changes(limits, p, end):
    """Return the `Answer`, which is not a vertex and, if the time limit is reached, not yet the optimum."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a step that is not finite is not taken
        point, gap, in_time = _iterate(limits, p, end)
    price = limits.p_s[:, None] * (point.zg - 1.0) * point.may_lose
    prices = constraints.Prices(price, limits.p_s * point.m, point.y, np.zeros((0, point.y.size)))
    bound = formulations.least_cost_of_moves(p, limits.p_s, None, price) + constraints.dual_bound(limits, prices)
    return formulations.Answer(_rounded(point) * limits.p_x, point.cost(), bound, in_time or gap <= SMALL_GAP)


def _iterate(limits, p, end):
    """Return (the last point, its gap, whether the method stopped before the time limit)."""
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
    """Return the lifts with those that hardly moved reset to their start, unless the sums cannot be exact then."""
    q = with_both_means(*point.with_unmoved_fixed(), point.p_s[:, 0], point.p_x)
    off = max(np.abs(q @ point.p_x - 1.0).max(), np.abs(point.p_s[:, 0] @ q - 1.0).max())
    return q if off <= SUM_TOLERANCE else point.z + point.u


class _Point:
    """An iterate. za, zb, zg, zh, ze, zf are the dual prices of a, b, g, h, e = L - low and f = high - L, all >= 0."""

    VARIABLES = ("u", "l", "a", "b", "g", "h", "e", "f"), ("m", "y", "za", "zb", "zg", "zh", "ze", "zf")
    PAIRS = (("a", "za"), ("b", "zb"), ("g", "zg"), ("h", "zh"), ("e", "ze"), ("f", "zf"))

    def __init__(self, z, limits):
        self.z, self.p_s, self.p_x = z, limits.p_s[:, None], limits.p_x
        solver = limits.for_solver()
        self.factor, low, high = solver.intervals()
        self.fixed_top = solver.largest_lifts()[:, None] if self.factor == np.inf else None  # L is fixed then
        self.may_lose = z > 0.0  # where z = 0 nothing can be lost: q is free, and g and h are unused
        self.moves_l = 1.0 if high > low * (1.0 + 1e-12) else 0.0  # L is fixed if only lifts are limited
        of_q, of_l = self.p_s * self.p_x, self.p_x * self.moves_l
        of_loss = of_q * self.may_lose
        self.weights = {"a": of_q, "b": of_q, "g": of_loss, "h": of_loss, "e": of_l, "f": of_l}
        self.l = np.full(self.p_x.size, np.sqrt(low * high))
        self.u = 1.0 - z  # q - z
        self.a, self.b = (np.broadcast_to(part, z.shape) for part in (1.0 - self.l, self.top() - 1.0))
        self.e, self.f = (self.l - low, high - self.l) if self.moves_l else (np.ones_like(self.l),) * 2
        self.shares = self._shares()
        start = {slack: START * share for slack, share in self.shares.items()}
        self.za, self.zb = start["a"] / self.a, start["b"] / self.b
        self.ze, self.zf = self.moves_l * start["e"] / self.e, self.moves_l * start["f"] / self.f
        spare = 2.0 * start["g"]
        self.g = np.where(self.may_lose, np.maximum(-self.u, 0.0) + spare, 1.0)
        self.h = np.where(self.may_lose, np.maximum(self.u, 0.0) + spare, 1.0)
        both = np.where(self.may_lose, self.g + self.h, 1.0)
        self.zg, self.zh = self.h / both, self.g / both  # sum to one, with products near the central path
        self.m, self.y = np.zeros(z.shape[0]), np.zeros(self.p_x.size)

    def top(self):
        """Return the largest lifts, e^eps L unless L is fixed."""
        return self.factor * self.l if self.fixed_top is None else self.fixed_top

    def _shares(self):
        """Return the products of slack and price on the central path, as shares of the gap.

        Each product times its weight contributes equally to the gap. If the products themselves were equal, rare
        symbols would shorten every step.
        """
        count = sum(np.count_nonzero(weight) for weight in self.weights.values())
        least = LIGHTEST * self.weights["a"].mean()
        return {slack: 1.0 / (count * np.maximum(weight, least)) for slack, weight in self.weights.items()}

    def cost(self):
        return float(np.vdot(self.weights["g"], self.g))

    def gap(self, step=None, primal=0.0, dual=0.0):
        """Return the complementarity gap, here or after a step: primal less dual cost if all equations hold."""
        total = 0.0
        for slack, price in self.PAIRS:
            here, there = getattr(self, slack), getattr(self, price)
            if step is not None:
                here, there = here + primal * step[slack], there + dual * step[price]
            total += float(np.vdot(np.broadcast_to(self.weights[slack], here.shape), here * there))
        return total

    def move(self):
        """Take one step; return False if no step can be taken.

        The affine-scaling direction (predictor) determines the centring and the second-order term of the corrector
        (Mehrotra). Products of slacks and prices that would then be far from the central path are corrected towards it
        as long as that lengthens the step (Gondzio).
        """
        system = _System(self)
        affine = system.direction({}, {})
        gap = self.gap()
        centring = (self.gap(affine, *self._lengths(affine, 1.0)) / gap) ** 3
        centre = {slack: centring * gap * share for slack, share in self.shares.items()}
        curvature = {slack: affine[slack] * affine[price] for slack, price in self.PAIRS}
        step = system.direction(centre, curvature)
        lengths = self._lengths(step, STEP_FRACTION)
        for _ in range(CORRECTIONS):
            curvature = self._towards_centre(centre, curvature, step, lengths)
            other = system.direction(centre, curvature)
            longer = self._lengths(other, STEP_FRACTION)
            if sum(longer) < sum(lengths) + MIN_LENGTHENING:
                break
            step, lengths = other, longer
        if not all(np.isfinite(part).all() for part in step.values()):
            return False
        before = self.__dict__.copy()
        for names, length in zip(self.VARIABLES, lengths, strict=True):
            for name in names:
                setattr(self, name, getattr(self, name) + length * step[name])
        if self.p_s[:, 0] @ np.abs(self.u @ self.p_x) + self.p_x @ np.abs(self.p_s[:, 0] @ self.u) > SMALL_GAP:
            self.__dict__ = before  # near a vertex the system can be too ill-conditioned to solve
            return False
        gains, loses = self.may_lose & (self.u > 0.0), self.may_lose & (self.u <= 0.0)
        self.h = np.where(gains, self.u + self.g, self.h)  # restores h - g = u after rounding
        self.g = np.where(loses, self.h - self.u, self.g)
        return True

    def _towards_centre(self, centre, curvature, step, lengths):
        """Return `curvature` with the correction that moves the products after a longer step towards the centre."""
        primal, dual = (min(1.0, 1.1 * length + 0.1) for length in lengths)
        corrected, (low, high) = {}, CENTRAL_RANGE
        for slack, price in self.PAIRS:
            product = (getattr(self, slack) + primal * step[slack]) * (getattr(self, price) + dual * step[price])
            toward = np.clip(product, low * centre[slack], high * centre[slack]) - product
            corrected[slack] = curvature[slack] - np.maximum(toward, -high * centre[slack])
        return corrected

    def _lengths(self, step, share):
        """Return the primal and the dual step length, at most 1: a share of the way to where a slack or price is 0."""
        lengths = []
        for names in zip(*self.PAIRS, strict=True):
            most = 1.0 / share
            for name in names:
                here, by = getattr(self, name), step[name]
                ratio = np.divide(here, -by, out=np.full_like(here, np.inf), where=by < 0.0)
                most = min(most, float(ratio.min()))
            lengths.append(share * most)
        return lengths

    def with_unmoved_fixed(self):
        """Return (lifts, lower limits, upper limits) with the lifts that hardly moved fixed at their start."""
        low, high = np.broadcast_to(self.l, self.z.shape), np.broadcast_to(self.top(), self.z.shape)
        unmoved = (np.abs(self.u) <= UNMOVED * self.z) & (self.z >= low) & (self.z <= high)
        q = np.clip(self.z + self.u, low, high)
        return tuple(np.where(unmoved, self.z, part) for part in (q, low, high))


class _System:
    """The linear system of a Newton step at a point, factorised once for several right-hand sides.

    With A = za/a, B = zb/b, G = e^eps and D = g/zg + h/zh, each cell satisfies K du = R + C dL + dm + dy, where
    K = 1/D + A + B and C = A + G B. Each column satisfies sum_s p_s du = 0 and one equation for dL; each row satisfies
    sum_x p_x du = 0.
    """

    def __init__(self, point):
        from scipy.linalg import lu_factor

        self.at = at = point
        big = at.factor if at.fixed_top is None else 1.0  # if L is fixed, any factor of its change will do
        self.big, self.A, self.B = big, at.za / at.a, at.zb / at.b
        self.by_d = np.where(at.may_lose, 1.0 / (at.g / at.zg + at.h / at.zh), 0.0)
        self.by_k = 1.0 / (self.by_d + self.A + self.B)
        self.C = self.A + big * self.B
        of_k = at.p_s * self.by_k
        self.k0 = of_k.sum(axis=0)
        self.mean_c = (of_k * self.C).sum(axis=0) / self.k0
        self.v = self.C - self.mean_c  # decouples dL from dy
        stiffness = (at.p_s * (self.A + big**2 * self.B - self.C**2 * self.by_k)).sum(axis=0)
        stiffness += self.k0 * self.mean_c**2 + at.ze / at.e + at.zf / at.f
        self.by_stiffness = at.moves_l / np.where(at.moves_l > 0.0, stiffness, 1.0)
        rows = self.by_k * at.p_x
        self._scale = rows.sum(axis=1, keepdims=True)
        rows = rows / self._scale
        schur = (rows * self.v * self.by_stiffness) @ (of_k * self.v).T - (rows / self.k0) @ of_k.T
        # A constant can be added to all m and subtracted from all y: the term p_s selects the step with mean 0 over s.
        # The 2^-44 is a regularisation for rows that would otherwise be singular.
        schur += (1.0 + 2.0**-44) * np.eye(len(schur)) + at.p_s.T
        self._factors = lu_factor(schur, check_finite=False)

    def direction(self, centre, curvature):
        """Return the step towards the products `centre`, with the second-order term `curvature` of an earlier one."""
        from scipy.linalg import lu_solve

        at, big = self.at, self.big
        bend = {slack: centre.get(slack, 0.0) - curvature.get(slack, 0.0) for slack, _ in at.PAIRS}
        ra, rb = bend["a"] / at.a - at.za, bend["b"] / at.b - at.zb
        rg, rh = at.may_lose * (bend["g"] / at.zg - at.g), at.may_lose * (bend["h"] / at.zh - at.h)
        re, rf = at.moves_l * (bend["e"] / at.e - at.ze), at.moves_l * (bend["f"] / at.f - at.zf)
        off = at.za - at.zb + at.m[:, None] + at.y - (at.zg - 1.0)  # dual residual
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
        for _ in range(REFINEMENTS):  # near the optimum, rows of rare s are nearly parallel: one solve is inaccurate
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

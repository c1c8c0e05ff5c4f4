"""An interior-point method for the linear programmes of `robust_resampling`, whose cells are linked by row and column.

Variables: a and t for each cell (s, y), levels l and a violation z for each column y, two excesses e for each row s.
Inequalities: a within limits, t >= 0, z >= 0, and for the two ends i = 0, 1 of P(y|s) / P(y)

    sign_i (factor_i l - A_i a - B_i t - C_i e_i - D_i) + z >= 0,  sign = 1, -1.

Equations: sum_y (p a + P(y) t) = 1 for each s, sum_s P(s) (p a / P(y) + t) = 1 for each y, and those of the excesses
(`Link`): the largest and the smallest mean of 1 - a over a box, each a linear programme in a threshold v for each row
and what exceeds the threshold in each cell, by duality.

Given the unknowns of the columns and rows, the cells separate; given those of the rows, so do the columns. A Newton
step thus takes O(|S||X|) operations, one product of a matrix of 7 |S| x 2 |X| with its transpose, and one system of
7 |S| equations. The memory is O(|S||X|).
"""

import logging
import time
from typing import NamedTuple

import numpy as np

log = logging.getLogger("linred")

MOST_STEPS, PATIENCE = 150, 25
"""Maximum number of steps, and the number of steps in which the gap must halve."""

STEP_FRACTION = 0.99
"""Fraction of the way to the boundary (a slack or price of 0) that a step takes."""

CORRECTIONS, MIN_LENGTHENING, CENTRAL_RANGE = 3, 0.05, (0.1, 10.0)
"""Centrality corrections of a direction: how many are tried, by how much one must lengthen the step, and the range of
products, relative to the central path, that need no correction."""

LIGHTEST = 2.0**-30
"""Smallest weight of an inequality relative to the mean weight; lighter ones get this weight on the central path."""

SIGNS = np.array([1.0, -1.0])
E, MU, PI, V = 0, 2, 3, 5
"""The unknowns of a row: the two excesses, the price of its sum, the prices of the equations of the excesses, and the
two thresholds."""

N_ROW = 7


class Ends(NamedTuple):
    """The coefficients A, B, C, D of one end of P(y|s) / P(y), each |S| x |Y|, its factor, and the level of each s."""

    a: np.ndarray
    t: np.ndarray
    e: np.ndarray
    constant: np.ndarray
    factor: float
    level: np.ndarray


class Link(NamedTuple):
    """The equation e = left v + sum_y (g (1 - a) + sign room max(0, sign (1 - a - v))) + constant of an excess."""

    g: np.ndarray
    room: np.ndarray
    left: np.ndarray
    constant: np.ndarray


class Programme(NamedTuple):
    """p, p_s, p_y : P(y|s), P(s), P(y). cost_a, cost_t : |S| x |Y|. low, high : limits of a, |S| x |Y|.

    ends : `Ends` of the largest and of the smallest P(y|s) / P(y). links : the two g, |S| x |Y|, with right-hand sides.
    n_levels : number of levels in each column.
    """

    p: np.ndarray
    p_s: np.ndarray
    p_y: np.ndarray
    cost_a: np.ndarray
    cost_t: np.ndarray
    low: np.ndarray
    high: np.ndarray
    ends: tuple
    links: tuple
    n_levels: int
    price: float


class Solution(NamedTuple):
    """a, t : |S| x |Y|. slack : the relative violation of the inequalities of each column."""

    a: np.ndarray
    t: np.ndarray
    slack: np.ndarray
    gap: float
    steps: int
    finished: bool


def solve(programme, start, tolerance, end):
    """Return a `Solution` from a start (a, t), to a gap of `tolerance`, or the best before the time `end`."""
    point, best, since = _Point(programme, *start), np.inf, 0
    for step in range(MOST_STEPS):
        gap, off = point.gap(), point.off()
        best, since = (gap, 0) if gap < 0.5 * best else (best, since + 1)
        log.debug("step %d: gap %.2g, off %.2g", step, gap, off)
        if (gap <= tolerance and off <= tolerance) or since > PATIENCE or time.monotonic() >= end:
            break
        if not point.move():
            break
    finished = gap <= tolerance and off <= tolerance
    return Solution(point.v[0], point.v[1], point.v[4], gap, step, finished)


def _all(parts):
    return zip(*parts, strict=True)


class _Point:
    """An iterate: v = (a, t, l, e), prices y = (mu, nu, pi) of the equations, slacks and prices of the inequalities."""

    def __init__(self, programme, a, t):
        self.of = of = programme
        share = 0.2 * float((of.high - of.low).min())
        inside = np.minimum(0.1 * (of.high - of.low), 0.5 * share / np.maximum(of.ends[0].a, 1.0))
        a, t = (1.0 - share) * a, (1.0 - share) * t + share
        moved = np.clip(a, of.low + inside, of.high - inside) - a
        a, t = a + moved, t - of.p / of.p_y * moved  # all sums stay as they are
        m, (n_s, n_y) = 1.0 - a, of.p.shape
        threshold = np.tile(np.clip((of.p * m).sum(axis=1), 0.1, 0.9), (2, 1))
        x = [np.maximum(sign * (m - v[:, None]), 0.0) + 0.05 for sign, v in zip(SIGNS, threshold, strict=True)]
        e = np.zeros((2, n_s))
        self.v = [a, t, np.zeros((of.n_levels, n_y)), e, np.zeros(n_y), np.stack(x), threshold]
        self.v[3] = self.sums(self.v)[2]
        up, low = (one.a * a + one.t * t + one.e * own[:, None] for one, own in zip(of.ends, self.v[3], strict=True))
        for k in range(of.n_levels):
            highest = up[of.ends[0].level == k].max(axis=0)
            self.v[2][k] = (highest + low[of.ends[1].level == k].min(axis=0)) / (1.0 + of.ends[0].factor)
        self.v[4] = np.maximum(0.0, -np.minimum(*self.values(self.v)[3:5]).min(axis=0)) + 0.05
        self.y = [np.zeros(n_s), np.zeros(n_y), np.zeros((2, n_s))]
        weight = np.broadcast_to(of.p_y / n_s, of.p.shape)
        weight = np.maximum(weight, LIGHTEST * weight.mean())
        cell = weight / (12.0 * weight.sum())
        self.weight = [*[cell] * 5, np.maximum(of.p_y, LIGHTEST * of.p_y.mean()) / 12.0, *[np.stack([cell] * 2)] * 2]
        self.weight += [np.tile(np.maximum(of.p_s, 1e-3 / n_s) / 24.0, (2, 1))] * 2
        self.s = self.values(self.v)
        self.z = [of.price * weight / slack for weight, slack in zip(self.weight, self.s, strict=True)]
        self.z[5] = np.maximum(of.price * of.p_y - (self.z[3] + self.z[4]).sum(axis=0), 0.5 * of.price * of.p_y)

    def values(self, v, constant=1.0):
        """Return the slacks of the inequalities at v; their change along v if constant is 0."""
        of, (a, t, levels, e, slack, x, threshold) = self.of, v
        found = [a - constant * of.low, constant * of.high - a, t]
        for sign, one, own in zip(SIGNS, of.ends, e, strict=True):
            inner = one.a * a + one.t * t + one.e * own[:, None] + constant * one.constant
            found.append(sign * (one.factor * levels[one.level] - inner) + slack)
        above = x + SIGNS[:, None, None] * (a + threshold[:, :, None] - constant)
        return [*found, slack, x, above, threshold, constant - threshold]

    def adjoint(self, z):
        """Return the transpose of `values` at prices z, as (a, t, l, e, violation)."""
        of = self.of
        a, t, levels, e = z[0] - z[1], z[2].copy(), np.zeros_like(self.v[2]), []
        for sign, one, price in zip(SIGNS, of.ends, z[3:5], strict=True):
            price = sign * price
            a = a - one.a * price
            t -= one.t * price
            np.add.at(levels, one.level, one.factor * price)
            e.append(-(one.e * price).sum(axis=1))
        above = SIGNS[:, None, None] * z[7]
        slack = (z[3] + z[4]).sum(axis=0) + z[5]
        return [a + above.sum(axis=0), t, levels, np.stack(e), slack, z[6] + z[7], above.sum(axis=2) + z[8] - z[9]]

    def sums(self, v):
        """Return what the equations lack at v: (rows, columns, links)."""
        of, (a, t, _, e, _, x, threshold) = self.of, v
        rows = (of.p * a + of.p_y * t).sum(axis=1)
        columns = of.p_s @ (of.p / of.p_y * a + t)
        links = [
            one.left * v + (one.g * (1.0 - a) + sign * one.room * excess).sum(axis=1) + one.constant - own
            for sign, one, own, excess, v in _all((SIGNS, of.links, e, x, threshold))
        ]
        return [1.0 - rows, 1.0 - columns, np.stack(links)]

    def of_prices(self, y):
        """Return the transpose of the equations at prices y, as (a, t, e, x, thresholds)."""
        of, (mu, nu, pi) = self.of, y
        a = of.p * mu[:, None] + of.p_s[:, None] * of.p / of.p_y * nu
        x, threshold = [], []
        for sign, one, price in zip(SIGNS, of.links, pi, strict=True):
            a = a + one.g * price[:, None]
            x.append(-sign * one.room * price[:, None])
            threshold.append(-one.left * price)
        return [a, of.p_y * mu[:, None] + of.p_s[:, None] * nu, pi, np.stack(x), np.stack(threshold)]

    def gap(self):
        return float(sum((s * z).sum() for s, z in zip(self.s, self.z, strict=True)))

    def off(self):
        """Return the largest violation of an equation or of a slack, as a share of the records."""
        missing, of = self.sums(self.v), self.of
        values = self.values(self.v)
        lack = max(float((w * np.abs(v - s)).sum()) for w, v, s in _all((self.weight, values, self.s)))
        return max(lack, float(of.p_s @ np.abs(missing[0])), float(of.p_y @ np.abs(missing[1])))

    def move(self):
        """Take a predictor-corrector step (Mehrotra 1992); return False if none can be taken."""
        with np.errstate(all="ignore"):
            system = _System(self)
            mean = self.gap()
            zero = [0.0] * 10
            affine = system.direction(zero)
            lengths = self._lengths(affine, 1.0)
            after = sum(
                ((s + lengths[0] * ds) * (z + lengths[1] * dz)).sum()
                for s, z, ds, dz in zip(self.s, self.z, affine[2], affine[3], strict=True)
            )
            centring = max(1e-6, min(1.0, (after / mean) ** 3))
            centre = [centring * mean * weight for weight in self.weight]
            bend = [one - ds * dz for one, ds, dz in _all((centre, affine[2], affine[3]))]
            step = system.direction(bend)
            lengths = self._lengths(step, STEP_FRACTION)
            for _ in range(CORRECTIONS):
                bend = self._towards_centre(centre, bend, step, lengths)
                other = system.direction(bend)
                longer = self._lengths(other, STEP_FRACTION)
                if not sum(longer) > sum(lengths) + MIN_LENGTHENING:
                    break
                step, lengths = other, longer
            if not all(np.isfinite(part).all() for parts in step for part in parts):
                return False
        if max(lengths) < 1e-8:
            return False
        for here, by, length in _all(((self.v, self.y, self.s, self.z), step, (0, 1, 0, 1))):
            for i, part in enumerate(by):
                here[i] = here[i] + lengths[length] * part
        return True

    def _towards_centre(self, centre, bend, step, lengths):
        """Return `bend` with the correction that moves the products after a longer step to the centre (Gondzio)."""
        primal, dual = (min(1.0, 1.1 * length + 0.1) for length in lengths)
        corrected, (low, high) = [], CENTRAL_RANGE
        for one, part, s, z, ds, dz in _all((centre, bend, self.s, self.z, step[2], step[3])):
            product = (s + primal * ds) * (z + dual * dz)
            toward = np.clip(product, low * one, high * one) - product
            corrected.append(part + np.maximum(toward, -high * one))
        return corrected

    def _lengths(self, step, share):
        """Return the primal and the dual step length, at most 1: a share of the way to where a slack or price is 0."""
        found = []
        for here, by in ((self.s, step[2]), (self.z, step[3])):
            most = 1.0 / share
            for part, change in zip(here, by, strict=True):
                ratio = np.where(change < 0.0, -part / change, np.inf)
                most = min(most, float(ratio.min()))
            found.append(share * most)
        return found


class _System:
    """The linear system of a Newton step: cells, then columns, are eliminated; a system of 5 |S| equations is left."""

    def __init__(self, point):
        from scipy.linalg import lu_factor

        self.at = at = point
        of, n_l = at.of, at.of.n_levels
        n_s, n_y = of.p.shape
        self.w = w = [z / s for s, z in zip(at.s, at.z, strict=True)]
        h11, h12, h22 = w[0] + w[1], 0.0, w[2]
        self.by_x = []
        row = [[None, None] for _ in range(N_ROW)]  # the coefficients of a and t of a cell with each unknown of its row
        column = [[np.zeros(of.p.shape), np.zeros(of.p.shape)] for _ in range(n_l + 2)]
        rr = np.zeros((N_ROW, N_ROW, n_s))
        cc = np.zeros((n_l + 2, n_l + 2, n_y))
        rc = np.zeros((N_ROW, n_l + 2, n_s, n_y))
        for i, (one, weight) in enumerate(zip(of.ends, w[3:5], strict=True)):
            sign = SIGNS[i]
            wa, wt, we = weight * one.a, weight * one.t, weight * one.e
            h11, h12, h22 = h11 + wa * one.a, h12 + wa * one.t, h22 + wt * one.t
            row[E + i] = [we * one.a, we * one.t]
            rr[E + i, E + i] = (we * one.e).sum(axis=1)
            rr[E + i, PI + i] = rr[PI + i, E + i] = 1.0
            link, of_x, of_above = of.links[i], w[6][i], w[7][i]
            by_x = 1.0 / (of_x + of_above)  # the excess of m over the threshold is eliminated first
            both, passed = of_x * of_above * by_x, of_above * link.room * by_x
            h11 = h11 + both
            row[V + i], row[PI + i] = [both, 0.0], [link.g + passed, 0.0]
            rr[V + i, V + i] = both.sum(axis=1) + w[8][i] + w[9][i]
            rr[V + i, PI + i] = rr[PI + i, V + i] = passed.sum(axis=1) - link.left
            rr[PI + i, PI + i] = -(link.room**2 * by_x).sum(axis=1)
            self.by_x.append(by_x)
            for k in range(n_l):
                here = (one.level == k)[:, None]
                for which, part in enumerate((wa, wt)):
                    column[k][which] -= one.factor * here * part
                cc[k, k] += (one.factor**2 * here * weight).sum(axis=0)
                rc[i, k] -= one.factor * here * we
                part = (sign * one.factor * here * weight).sum(axis=0)
                cc[k, n_l] += part
                cc[n_l, k] += part
            column[n_l][0] -= sign * wa
            column[n_l][1] -= sign * wt
            rc[i, n_l] -= sign * we
            cc[n_l, n_l] += weight.sum(axis=0)
        cc[n_l, n_l] += w[5]
        row[MU] = [of.p, np.broadcast_to(of.p_y, of.p.shape)]
        column[n_l + 1] = [of.p_s[:, None] * of.p / of.p_y, np.broadcast_to(of.p_s[:, None], of.p.shape)]
        by = 1.0 / (h11 * h22 - h12 * h12)
        self.h = h22 * by, -h12 * by, h11 * by
        self.row, self.column = row, column
        solved_row = [self._cells(*one) for one in row]
        solved_column = [self._cells(*one) for one in column]
        for i in range(N_ROW):
            for j in range(i, N_ROW):
                part = (row[i][0] * solved_row[j][0] + row[i][1] * solved_row[j][1]).sum(axis=1)
                rr[i, j] -= part
                if i != j:
                    rr[j, i] -= part
            for k in range(n_l + 2):
                rc[i, k] -= row[i][0] * solved_column[k][0] + row[i][1] * solved_column[k][1]
        for k in range(n_l + 2):
            for j in range(n_l + 2):
                part = column[k][0] * solved_column[j][0] + column[k][1] * solved_column[j][1]
                cc[k, j] -= part.sum(axis=0)
        self.cc = np.ascontiguousarray(cc.transpose(2, 0, 1))
        self.rc = np.ascontiguousarray(rc.transpose(3, 1, 0, 2)).reshape(n_y, n_l + 2, N_ROW * n_s)
        self.by_cc = np.linalg.solve(self.cc, self.rc)
        schur = np.zeros((N_ROW, n_s, N_ROW, n_s))
        each = np.arange(n_s)
        schur[:, each, :, each] = rr.transpose(2, 0, 1)
        schur = schur.reshape(N_ROW * n_s, N_ROW * n_s)
        flat = (n_y * (n_l + 2), N_ROW * n_s)
        schur -= self.rc.reshape(flat).T @ self.by_cc.reshape(flat)
        # The sums of the rows imply one of the columns: the term selects the prices of the rows with mean 0 over s.
        own = slice(MU * n_s, (MU + 1) * n_s)
        scale = np.abs(np.diag(schur)[own]).max()
        schur[own, own] -= scale * np.outer(of.p_s, of.p_s)
        size = np.sqrt(np.abs(np.diag(schur)))
        self.unit = 1.0 / np.where(size > 0.0, size, 1.0)
        self.factors = lu_factor(schur * self.unit[:, None] * self.unit, check_finite=False)

    def _cells(self, a, t):
        h11, h12, h22 = self.h
        return h11 * a + h12 * t, h12 * a + h22 * t

    def direction(self, bend):
        """Return (dv, dy, ds, dz) towards products of slack and price `bend`."""
        at, of = self.at, self.at.of
        n_s, n_l = of.p.shape[0], of.n_levels
        values = at.values(at.v)
        lack = [v - s for v, s in zip(values, at.s, strict=True)]
        pull = at.adjoint([b / s - w * r for b, s, w, r in _all((bend, at.s, self.w, lack))])
        prices = at.of_prices(at.y)
        fa, ft = pull[0] - of.cost_a - prices[0], pull[1] - of.cost_t - prices[1]
        missing = at.sums(at.v)
        f_link, f_v, f_x = missing[2], pull[6] - prices[4], pull[5] - prices[3]
        for i, (sign, link, by_x) in enumerate(zip(SIGNS, of.links, self.by_x, strict=True)):
            part = sign * self.w[7][i] * by_x * f_x[i]
            fa = fa - part
            f_v[i] -= part.sum(axis=1)
            f_link[i] += (sign * link.room * by_x * f_x[i]).sum(axis=1)
        f_row = np.stack([*(pull[3] - prices[2]), missing[0], *f_link, *f_v])
        f_column = np.concatenate([pull[2], (pull[4] - of.price * of.p_y)[None], missing[1][None]])
        ga, gt = self._cells(fa, ft)
        for i, (a, t) in enumerate(self.row):
            f_row[i] -= (a * ga + t * gt).sum(axis=1)
        for k, (a, t) in enumerate(self.column):
            f_column[k] -= (a * ga + t * gt).sum(axis=0)
        f_column, f_row = f_column.T, f_row.ravel()
        rows = self._rows(f_row - np.einsum("yk,ykr->r", f_column, self.by_cc))
        columns = np.linalg.solve(self.cc, f_column[..., None])[..., 0] - self.by_cc @ rows
        columns, rows = columns.T, rows.reshape(N_ROW, n_s)
        for (a, t), unknown in zip(self.row, rows, strict=True):
            fa, ft = fa - a * unknown[:, None], ft - t * unknown[:, None]
        for (a, t), unknown in zip(self.column, columns, strict=True):
            fa, ft = fa - a * unknown, ft - t * unknown
        da, dt = self._cells(fa, ft)
        dx = [
            by_x * (f - sign * weight * (da + v[:, None]) + sign * link.room * price[:, None])
            for sign, link, by_x, f, weight, v, price in _all(
                (SIGNS, of.links, self.by_x, f_x, self.w[7], rows[V:], rows[PI : PI + 2])
            )
        ]
        dv = [da, dt, columns[:n_l], rows[E : E + 2], columns[n_l], np.stack(dx), rows[V:]]
        dy = [rows[MU], columns[n_l + 1], rows[PI : PI + 2]]
        ds = [change + r for change, r in zip(at.values(dv, 0.0), lack, strict=True)]
        dz = [b / s - z - w * change for b, s, z, w, change in _all((bend, at.s, at.z, self.w, ds))]
        return dv, dy, ds, dz

    def _rows(self, right):
        from scipy.linalg import lu_solve

        return self.unit * lu_solve(self.factors, self.unit * right, check_finite=False)

"""Linear programmes for every limit of `linred.Target`, and the figures they limit, written out from their definitions.

Nothing of linred is used. S and X are axes of a matrix P(s,x); K(y|s,x) has the shape (|S|, |X|, |X|).
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

INF = math.inf


class Figures(NamedTuple):
    """What Y reveals, in nats, and what is changed. `pairs[s, t]` is the largest log of P(y|s) / P(y|t) over y."""

    pairs: np.ndarray
    ldp: float
    max_lift: float
    min_lift: float
    log_lift: float
    secrets: tuple
    given_x: float
    changed: float
    changed_by_s: np.ndarray


def figures(p_sx, k, secrets=()):
    """Return the `Figures` of P(s,x) and K(y|s,x); `secrets` are arrays of a group code for each s."""
    p_sx = np.asarray(p_sx)
    p_s, q = p_sx.sum(axis=1), _released(p_sx, k)
    p_y = p_s @ q
    pairs = _ratios(q)
    pairs[p_s == 0.0] = pairs[:, p_s == 0.0] = 0.0
    given_x = (_ratios(k[p_sx[:, x] > 0.0, x]).max(initial=0.0) for x in range(p_sx.shape[1]))
    max_lift, min_lift = (max(_log_ratio(*sides).max() for sides in _lifts(q, p_y, p_s, up)) for up in (True, False))
    kept = np.einsum("sx,sxx->s", p_sx, k)
    of_secrets = tuple(_ratios(of_groups(p_s, codes) @ q).max(initial=0.0) for codes in secrets)
    by_s = np.divide(p_s - kept, p_s, out=np.zeros_like(p_s), where=p_s > 0.0)
    log_lift = max(max_lift, min_lift)
    return Figures(pairs, pairs.max(), max_lift, min_lift, log_lift, of_secrets, max(given_x), 1.0 - kept.sum(), by_s)


def _lifts(q, p_y, p_s, up):
    return [(row, p_y) if up else (p_y, row) for row in q[p_s > 0.0]]


def _released(p_sx, k):
    """Return P(y|s); a row of zeros where P(s) = 0."""
    p_s = p_sx.sum(axis=1, keepdims=True)
    return np.einsum("sx,sxy->sy", np.divide(p_sx, p_s, out=np.zeros_like(p_sx), where=p_s > 0.0), k)


def of_groups(p_s, codes):
    """Return P(s|f), a row for each group f of positive probability."""
    p_sf = np.array([np.where(np.asarray(codes) == code, p_s, 0.0) for code in np.unique(codes)])
    p_f = p_sf.sum(axis=1)
    return p_sf[p_f > 0.0] / p_f[p_f > 0.0, None]


def _ratios(rows):
    """Return the largest log of rows[i] / rows[j] over the columns, for each i and j."""
    return np.array([[_log_ratio(a, b).max(initial=0.0) for b in rows] for a in rows]).reshape(len(rows), len(rows))


def _log_ratio(numerators, denominators):
    """Return log(numerators / denominators): 0/0 is no leakage, p/0 is infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(numerators > 0.0, np.log(numerators / denominators), np.where(denominators > 0.0, -INF, 0.0))


class Programme:
    """A linear programme min c.v + c0 in variables v >= 0, of which P(y|s) and the cost of each s are linear functions.

    q[s] : |X| x n matrix, P(y|s) = q[s] @ v. loss[s] @ v + loss0[s] : the expected cost given s.
    """

    def __init__(self, p_sx):
        self.p_sx = np.asarray(p_sx, float)
        self.p_s, self.p_x = self.p_sx.sum(axis=1), self.p_sx.sum(axis=0)
        self.n_s, self.n_x = self.p_sx.shape
        self.s = np.flatnonzero(self.p_s > 0.0)
        self.p = np.divide(self.p_sx, self.p_s[:, None], out=np.zeros_like(self.p_sx), where=self.p_s[:, None] > 0.0)
        self.equal, self.no_more = [], []  # pairs (matrix, right sides)

    def limit_ratio(self, numerators, denominators, limit):
        """Require numerators @ v <= e^limit denominators @ v, row by row."""
        if limit < INF:
            self.no_more.append((numerators - math.exp(limit) * denominators, np.zeros(numerators.shape[0])))

    def limit_ratios(self, rows, limit):
        """Require it of each ordered pair of distributions."""
        for a in range(len(rows)):
            for b in range(len(rows)):
                if a != b:
                    self.limit_ratio(rows[a], rows[b], limit)

    def p_y(self):
        return sum(self.p_s[s] * self.q[s] for s in self.s)

    def solve(self):
        """Return (cost, v), or (inf, None) where nothing is feasible."""
        cost = sum(self.p_s[s] * self.loss[s] for s in self.s)
        solved = linprog(
            np.asarray(cost.todense()).ravel(),
            *_stacked(self.no_more),
            *_stacked(self.equal),
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if solved.status == 2:
            return INF, None
        assert solved.status == 0, solved.message
        return float(solved.fun + self.p_s @ self.loss0), solved.x


def _stacked(parts):
    if not parts:
        return None, None
    return sparse.vstack([matrix for matrix, _ in parts], format="csr"), np.concatenate([right for _, right in parts])


class OfCells(Programme):
    """The variables are K(y|s,x) where P(s,x) > 0, or K(y|x) where P(x) > 0 if S is not used."""

    def __init__(self, p_sx, distortion, sees_s):
        super().__init__(p_sx)
        d = 1.0 - np.eye(self.n_x) if distortion is None else np.asarray(distortion, float)
        cells = np.argwhere(self.p_sx > 0.0)
        rows, self.row = np.unique(cells[:, 0 if sees_s else 1 :], axis=0, return_inverse=True)
        self.cells, self.n_rows, n = cells, len(rows), len(rows) * self.n_x
        mine = [np.flatnonzero(cells[:, 0] == s) for s in range(self.n_s)]
        self.q = [
            sum((self.p[s, cells[c, 1]] * self.k(c) for c in of_s), sparse.csr_array((self.n_x, n)))
            for s, of_s in enumerate(mine)
        ]
        self.loss = [
            sum(
                (self.p[s, x] * sparse.csr_array(d[x : x + 1]) @ self.k(c) for c in of_s for x in [cells[c, 1]]),
                sparse.csr_array((1, n)),
            )
            for s, of_s in enumerate(mine)
        ]
        self.loss0 = np.zeros(self.n_s)
        sums = sparse.kron(sparse.eye_array(self.n_rows), np.ones((1, self.n_x)))
        self.equal.append((sums, np.ones(self.n_rows)))

    def k(self, cell):
        """Return the |X| x n matrix that selects K(.|s,x) of a cell."""
        row = self.row[cell]
        at = row * self.n_x + np.arange(self.n_x)
        return sparse.csr_array((np.ones(self.n_x), (np.arange(self.n_x), at)), (self.n_x, self.n_rows * self.n_x))

    def limit_given_x(self, limit):
        for x in range(self.n_x):
            self.limit_ratios([self.k(c) for c in np.flatnonzero(self.cells[:, 1] == x)], limit)

    def channel(self, v):
        k = np.zeros((self.n_s, self.n_x, self.n_x))
        for c, (s, x) in enumerate(self.cells):
            k[s, x] = v[self.row[c] * self.n_x :][: self.n_x]
        return k


class OfGroups(Programme):
    """The variables are P(y|s) and the share g(s,y) >= P(x=y|s) - P(y|s) of the records of s that leave y."""

    def __init__(self, p_sx):
        super().__init__(p_sx)
        size = self.p.size
        eye = sparse.eye_array(size, 2 * size, format="csr")
        leave = sparse.eye_array(size, 2 * size, k=size, format="csr")
        self.q = [eye[s * self.n_x : (s + 1) * self.n_x] for s in range(self.n_s)]
        of_s = [leave[s * self.n_x : (s + 1) * self.n_x] for s in range(self.n_s)]
        self.loss = [sparse.csr_array(rows.sum(axis=0)[None]) for rows in of_s]
        self.loss0 = np.zeros(self.n_s)
        self.no_more.append((-eye - leave, -self.p.ravel()))
        for s in self.s:
            self.equal.append((sparse.csr_array(self.q[s].sum(axis=0)[None]), np.ones(1)))

    def channel(self, v):
        """Keep min(P(x|s), P(y|s)), and move what is left in proportion to what is missing."""
        q, k = v[: self.p.size].reshape(self.p.shape), np.zeros((self.n_s, self.n_x, self.n_x))
        for s in self.s:
            leave, enter = np.maximum(self.p[s] - q[s], 0.0), np.maximum(q[s] - self.p[s], 0.0)
            share = np.divide(leave, self.p[s], out=np.zeros(self.n_x), where=self.p[s] > 0.0)
            k[s] = np.diag(1.0 - share) + np.outer(share, enter / (enter.sum() or 1.0))
        return k


def fewest_changes(
    p_sx,
    *,
    ldp=INF,
    log_lift=INF,
    max_lift=INF,
    min_lift=INF,
    pairs=None,
    secrets=(),
    given_x=INF,
    max_changed_by_s=1.0,
    sees_s=True,
    keep_marginal=True,
    distortion=None,
    p_y_given_s=None,
):
    """Return (least expected share of changed records or distortion, K(y|s,x)), or (inf, None) if none is feasible.

    pairs : |S| x |S| limits of P(y|s) / P(y|t), inf for none. secrets : (an array of a group code for each s, limit).
    `max_changed_by_s` needs the Hamming distortion. Symbols x that never occur are not published. p_y_given_s : fixes
    P(y|s), |S| x |X|.
    """
    whole = given_x < INF or distortion is not None or not sees_s
    programme = OfCells(p_sx, distortion, sees_s) if whole else OfGroups(p_sx)
    q, p_y = programme.q, programme.p_y()
    programme.limit_ratios([q[s] for s in programme.s], ldp)
    for s in programme.s:
        programme.limit_ratio(q[s], p_y, min(max_lift, log_lift))
        programme.limit_ratio(p_y, q[s], min(min_lift, log_lift))
        for t in programme.s if pairs is not None else ():
            programme.limit_ratio(q[s], q[t], pairs[s][t] if s != t else INF)
        if max_changed_by_s < 1.0:
            programme.no_more.append((programme.loss[s], np.array([max_changed_by_s - programme.loss0[s]])))
    for codes, limit in secrets:
        of_group = [sum(w * q[s] for s, w in enumerate(row) if w) for row in of_groups(programme.p_s, codes)]
        programme.limit_ratios(of_group, limit)
    if p_y_given_s is not None:
        programme.equal += [(q[s], p_y_given_s[s]) for s in programme.s]
    if given_x < INF and sees_s:
        programme.limit_given_x(given_x)
    kept = np.arange(programme.n_x) if keep_marginal else np.flatnonzero(programme.p_x == 0.0)
    programme.equal.append((sparse.csr_array(p_y)[kept], programme.p_x[kept]))
    cost, v = programme.solve()
    return cost, None if v is None else programme.channel(v)


def least_limit(p_sx, name, max_changed, *, low=0.0, high=40.0, **limits):
    """Return the least limit `name` that some mechanism with at most this share of changed records meets, to 1e-9."""
    while high - low > 1e-9:
        middle = 0.5 * (low + high)
        enough = fewest_changes(p_sx, **{name: middle}, **limits)[0] <= max_changed
        low, high = (low, middle) if enough else (middle, high)
    return high

"""The robust optimum written out by vertices: every corner of the box is a distribution that must meet the limits.

Nothing of linred is used, and no duality: for small alphabets, all corners are listed.
"""

import itertools
import math

import numpy as np
from scipy.optimize import linprog
from scipy.stats import beta

INF = math.inf


def clopper_pearson(hits, n, level):
    """Return (lower, upper) limits, each wrong with probability at most `level`."""
    hits, n = np.broadcast_arrays(np.asarray(hits, float), np.asarray(n, float))
    low = np.where(hits > 0, beta.ppf(level, hits, n - hits + 1), 0.0)
    high = np.where(hits < n, beta.isf(level, hits + 1, n - hits), 1.0)
    return low, high


def corners(low, high):
    """Return the corners of the distributions between limits: all entries but one are at a limit."""
    found = []
    for free in range(low.size):
        others = [i for i in range(low.size) if i != free]
        for ends in itertools.product(*((low[i], high[i]) for i in others)):
            p = np.insert(np.array(ends), free, 1.0 - sum(ends))
            if low[free] - 1e-15 <= p[free] <= high[free] + 1e-15:
                found.append(np.clip(p, 0.0, 1.0))
    return np.unique(np.round(found, 15), axis=0)


def boxes(counts, level):
    """Return (corners of P(.|s) for each s, corners of P(S)) of the simultaneous box; 2 % of the level is for P(S)."""
    counts = np.asarray(counts)
    n_s = counts.sum(axis=1)
    of_x = clopper_pearson(counts, n_s[:, None], 0.98 * level / (2 * counts.size))
    of_s = clopper_pearson(n_s, n_s.sum(), 0.02 * level / (2 * n_s.size))
    return [corners(*ends) for ends in zip(*of_x, strict=True)], corners(*of_s)


def worst(k, of_x, of_s):
    """Return the largest (LDP, max-lift, min-lift) of P(y|s,x) = k[s, x, y] over all corners, by brute force."""
    q = [p @ k[s] for s, p in enumerate(of_x)]
    ldp = max(
        (_log_ratio(q[s].max(axis=0), q[t].min(axis=0)) for s in range(len(q)) for t in range(len(q)) if s != t),
        default=0.0,
    )
    max_lift = min_lift = 0.0
    for rows in itertools.product(*q):
        rows = np.array(rows)
        for w in of_s:
            p_y = w @ rows
            max_lift = max(max_lift, *(_log_ratio(row, p_y) for row in rows))
            min_lift = max(min_lift, *(_log_ratio(p_y, row) for row in rows))
    return ldp, max_lift, min_lift


def _log_ratio(above, below):
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.where(above > 0.0, np.log(above / below), 0.0).max())


def fewest_changes(counts, level, *, ldp=INF, max_lift=INF, min_lift=INF, sees_s=True, distortion=None):
    """Return the least expected cost of any K(y|s,x) with P_Y = P_X that meets the limits at all corners."""
    counts = np.asarray(counts)
    (n_s, n_x), p = counts.shape, counts / counts.sum()
    of_x, of_s = boxes(counts, level)
    n_k = (n_s if sees_s else 1) * n_x * n_x
    n = n_k + 2 * n_s * n_x

    def entry(s, x, y):
        return ((s if sees_s else 0) * n_x + x) * n_x + y

    def end(s, y, is_high):
        return n_k + (2 * s + is_high) * n_x + y

    cost, equations, right, inequalities = np.zeros(n), [], [], []
    for s, x, y in itertools.product(range(n_s), range(n_x), range(n_x)):
        cost[entry(s, x, y)] += p[s, x] * (float(x != y) if distortion is None else distortion[x][y])
    for s, x in itertools.product(range(n_s if sees_s else 1), range(n_x)):
        row = np.zeros(n)
        row[[entry(s, x, y) for y in range(n_x)]] = 1.0
        equations.append(row)
        right.append(1.0)
    for y in range(n_x):
        row = np.zeros(n)
        for s, x in itertools.product(range(n_s), range(n_x)):
            row[entry(s, x, y)] += p[s, x]
        equations.append(row)
        right.append(p[:, y].sum())
        for s in range(n_s):
            for corner in of_x[s]:
                row = np.zeros(n)
                row[[entry(s, x, y) for x in range(n_x)]] = corner
                for sign, is_high in ((1.0, True), (-1.0, False)):
                    one = sign * row
                    one[end(s, y, is_high)] = -sign
                    inequalities.append(one)
            for t in range(n_s) if ldp < INF else ():
                if s != t:
                    row = np.zeros(n)
                    row[end(s, y, True)], row[end(t, y, False)] = 1.0, -math.exp(ldp)
                    inequalities.append(row)
            for w, (limit, own) in itertools.product(of_s, ((max_lift, True), (min_lift, False))):
                if limit < INF:
                    p_y = np.zeros(n)
                    for t in range(n_s):
                        p_y[end(t, y, own if s == t else not own)] += w[t]
                    mine = np.zeros(n)
                    mine[end(s, y, own)] = 1.0
                    inequalities.append(mine - math.exp(limit) * p_y if own else p_y - math.exp(limit) * mine)
    inequalities = np.array(inequalities)
    solved = linprog(cost, inequalities, np.zeros(len(inequalities)), np.array(equations), right, method="highs")
    assert solved.status == 0, solved.message
    return solved.fun

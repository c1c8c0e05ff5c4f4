"""`linred.optimal` against HiGHS alone on the same linear programme, at an LDP of 1 nat unless the row names a limit.

The rival's programme for LDP has the variables L and T = Q - L, the fastest of several formulations that we tried; for
other limits it has Q itself. It returns only the optimal value. linred also returns the mechanism, its integer tables
and their certificate. Large programmes are timed once. `pairs` limits neighbours in the order of the labels to 1 nat.
"""

from functools import partial

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array, vstack

import linred
from benchmarks.common import compare
from benchmarks.data import adult, counts

LDP = 1.0
QUICK = {"time_limit": 100.0}
"""HiGHS is faster with a time limit: see `linred.solvers.lp.FIRST_TIME_LIMIT`."""


def random_joint(n_s, n_x, concentration):
    rng = np.random.default_rng(0)
    return linred.Joint.from_conditional(rng.dirichlet(np.full(n_x, concentration), n_s), rng.dirichlet(np.ones(n_s)))


def disjoint_classes(n_x):
    """Return a Joint like that of carrier and aircraft: most symbols occur with one s only."""
    rng = np.random.default_rng(0)
    table = np.zeros((16, n_x), int)
    owner = rng.integers(0, 16, n_x)
    table[owner, np.arange(n_x)] = rng.integers(1, 300, n_x)
    shared = rng.choice(n_x, 20, replace=False)
    table[(owner[shared] + 1) % 16, shared] = rng.integers(1, 300, 20)
    return linred.Joint.from_counts(table)


def sparse(n_rows, n_columns, *terms):
    row, column, value = (np.concatenate([np.broadcast_to(t[i], np.shape(t[1])) for t in terms]) for i in range(3))
    return coo_array((value, (row, column)), shape=(n_rows, n_columns)).tocsr()


def highs_seeing_s(joint, method):
    """Solve for L, T and the loss where P(x|s) > 0. All are scaled by |X| so that they are about one."""
    (n_s, n_x), n = joint.shape, joint.p_sx.size
    p, p_s, p_x = joint.p_x_given_s * n_x, joint.p_s, joint.p_x * n_x
    s, x = np.divmod(np.arange(n), n_x)
    cells = np.flatnonzero(p.ravel() > 0.0)
    least, above, loss = np.arange(n_x), n_x + np.arange(n), n_x + n + np.arange(cells.size)
    size, at, one = n_x + n + cells.size, np.arange(n), np.arange(cells.size)
    no_more = sparse(
        n + cells.size,
        size,
        (at, above, 1.0),
        (at, least[x], -np.expm1(LDP)),
        *((n + one, part, -1.0) for part in (least[x[cells]], above[cells], loss)),
    )
    equal = sparse(
        n_s + n_x,
        size,
        (s, least[x], 1.0 / n_x),
        (s, above, 1.0 / n_x),
        (n_s + least, least, 1.0),
        (n_s + x, above, p_s[s]),
    )
    bounds = np.zeros((size, 2))
    bounds[:, 1] = np.inf
    bounds[:n_x] = np.stack([np.exp(-LDP) * p_x, p_x], axis=1)
    cost = np.zeros(size)
    cost[loss] = p_s[s[cells]] / p_s.max()
    right = np.concatenate([np.zeros(n), -p.ravel()[cells]])
    right_of_equal = np.append(np.ones(n_s), p_x)
    solved = linprog(cost, no_more, right, equal, right_of_equal, bounds, method, options=QUICK)
    return solved.fun * p_s.max() / n_x


def highs_without_s(joint, method):
    """Solve for W(y|x), L and T."""
    n_x, n = joint.shape[1], joint.p_sx.size
    n_w = n_x**2
    p, p_s, p_x = joint.p_x_given_s, joint.p_s, joint.p_x
    at, w = np.arange(n), np.arange(n_w)
    s, y = np.divmod(at, n_x)
    least, above = n_w + np.arange(n_x), n_w + n_x + at
    row, entry = np.repeat(at, n_x), (np.arange(n_x) * n_x + y[:, None]).ravel()
    equal = sparse(
        n + 2 * n_x,
        n_w + n_x + n,
        (row, entry, p[s].ravel()),
        (at, least[y], -1.0),
        (at, above, -1.0),
        (n + w // n_x, w, 1.0),
        (n + n_x + np.arange(n_x), least, 1.0),
        (n + n_x + y, above, p_s[s]),
    )
    no_more = sparse(n, n_w + n_x + n, (at, above, 1.0), (at, least[y], -np.expm1(LDP)))
    cost = np.concatenate([(p_x[:, None] * (1.0 - np.eye(n_x))).ravel(), np.zeros(n_x + n)])
    right = np.concatenate([np.zeros(n), np.ones(n_x), p_x])
    return linprog(cost, no_more, np.zeros(n), equal, right, method=method, options=QUICK).fun


def highs_with_limits(joint, method, max_lift=np.inf, pairs=None):
    """Solve for Q and the loss where P(x|s) > 0, as lifts: both are divided by P(x)."""
    (n_s, n_x), n = joint.shape, joint.p_sx.size
    p_s, p_x, z = joint.p_s, joint.p_x, (joint.p_x_given_s / joint.p_x).ravel()
    at, (s, x) = np.arange(n), np.divmod(np.arange(n), n_x)
    cells = np.flatnonzero(z)
    one = np.arange(cells.size)
    no_more = [sparse(cells.size, n + cells.size, (one, cells, -1.0), (one, n + one, -1.0))]
    if pairs is not None:
        first, second = np.nonzero(np.isfinite(pairs) & (pairs > 0.0))
        row, y = np.divmod(np.arange(first.size * n_x), n_x)
        terms = ((first, 1.0), (second, -np.exp(pairs[first, second])[row]))
        of_pairs = [(row * n_x + y, which[row] * n_x + y, value) for which, value in terms]
        no_more.append(sparse(row.size, n + cells.size, *of_pairs))
    no_more = vstack(no_more)
    equal = sparse(n_s + n_x, n + cells.size, (s, at, p_x[x]), (n_s + x, at, p_s[s]))
    bounds = np.zeros((n + cells.size, 2))
    bounds[:, 1] = np.inf
    bounds[:n, 1] = np.minimum(np.exp(max_lift), 1.0 / p_s[s])
    cost = np.concatenate([np.zeros(n), (p_s[s] * p_x[x])[cells]])
    right = np.zeros(no_more.shape[0])
    right[: cells.size] = -z[cells]
    return linprog(cost, no_more, right, equal, np.ones(n_s + n_x), bounds, method, options=QUICK).fun


def same(joint, rival, **asked):
    """Check that linred and the rival find the same optimum."""
    ours, theirs = linred.optimal(joint, **asked).dtv(), rival(joint)
    assert abs(ours - theirs) < 1e-6, (ours, theirs)


def rows_of_limits():
    """Yield the rows for other limits than that of LDP."""
    flights, large = counts("flights_carrier_dest"), random_joint(73, 717, 0.5)
    apart = {n: np.abs(np.subtract.outer(np.arange(n), np.arange(n))) for n in (7, 16, 73)}
    pairs = {n: np.select([steps == 0, steps == 1], [0.0, 1.0], np.inf) for n, steps in apart.items()}
    cases = (
        ("Adult, 7 x 15, `max_lift=1`", adult(), {"max_lift": 1.0}, "highs-ds", 9),
        ("flights, 16 x 105, `max_lift=1`", flights, {"max_lift": 1.0}, "highs-ds", 5),
        ("73 x 717, random, `max_lift=1`", large, {"max_lift": 1.0}, "highs-ipm", 1),
        ("Adult, 7 x 15, `pairs`", adult(), {"pairs": pairs[7]}, "highs-ds", 9),
        ("flights, 16 x 105, `pairs`", flights, {"pairs": pairs[16]}, "highs-ipm", 5),
        ("73 x 717, random, `pairs`", large, {"pairs": pairs[73]}, "highs-ipm", 1),
    )
    for what, joint, limits, method, rounds in cases:
        rival = partial(highs_with_limits, method=method, **limits)
        if rounds > 1:
            same(joint, rival, **limits)
        ours = partial(linred.optimal, joint, **limits)
        yield compare(what, ours, f"HiGHS, {method[6:]}", partial(rival, joint), rounds=rounds, warm=rounds > 1)


def rows():
    seeing = (
        ("Adult, 7 x 15", adult(), "highs-ds", 9),
        ("flights, carrier and destination, 16 x 105", counts("flights_carrier_dest"), "highs-ipm", 5),
        ("16 x 4,044, most symbols occur with one s only", disjoint_classes(4044), "highs-ipm", 1),
        ("73 x 717, random", random_joint(73, 717, 0.5), "highs-ipm", 1),
    )
    without = (
        ("Adult, 7 x 15, without s", adult(), "highs-ds", 9),
        ("flights, 16 x 105, without s", counts("flights_carrier_dest"), "highs-ds", 3),
        ("10 x 150, random, without s", random_joint(10, 150, 1.0), "highs-ds", 1),
    )
    for sees_s, cases, highs in ((True, seeing, highs_seeing_s), (False, without, highs_without_s)):
        for what, joint, method, rounds in cases:
            ours, rival = partial(linred.optimal, joint, ldp=LDP, sees_s=sees_s), partial(highs, method=method)
            if rounds > 1:
                same(joint, rival, ldp=LDP, sees_s=sees_s)
            yield compare(what, ours, f"HiGHS, {method[6:]}", partial(rival, joint), rounds=rounds, warm=rounds > 1)
    yield from rows_of_limits()
    joint, targets = adult(), np.linspace(0.05, 3.0, 100)
    curve = partial(linred.tradeoff, joint, ldp=targets, mechanisms=["optimal"])

    def a_hundred_times():
        return [highs_seeing_s(joint, "highs-ds") for _ in targets]

    yield compare("a curve of 100 points, Adult", curve, "HiGHS, ds, solved a hundred times", a_hundred_times, rounds=3)
    large = random_joint(73, 717, 0.5)
    for name, make in (("selective", linred.selective), ("optimal", linred.optimal)):
        closed_form = partial(linred.non_markov, large, ldp=LDP)
        ours = partial(make, large, ldp=LDP)
        yield compare(f"73 x 717, `{name}`", ours, "`non_markov`, closed form", closed_form, rounds=3)

"""The search for large alphabets: against brute force, against the full programme, and under a time limit."""

import itertools
import math
import time

import numpy as np
import pytest
from scipy.optimize import linprog

import linred
from linred import Joint
from linred.assurance.confidence_set import ConfidenceSet
from linred.solvers import resampling_programme, robust_resampling
from linred.solvers.resampling_programme import Ends, Link, Programme
from linred.solvers.robust_resampling import Limits
from support.joints import counts
from support.robust_programmes import boxes, fewest_changes, worst

LEVEL = 0.05


def limits_of(table, ldp):
    """Return the `Limits` of a table of counts, with every s that has records."""
    table = np.asarray(table)
    known, p_x = ConfidenceSet.of(table, LEVEL), table.sum(axis=0) / table.sum()
    x = p_x > 0.0
    n_s = table.sum(axis=1, keepdims=True)
    p = np.where(n_s > 0, table / np.maximum(n_s, 1), p_x)
    spare = np.minimum(1.0, known.high[:, ~x].sum(axis=1))
    return Limits(p[:, x], n_s[:, 0] / table.sum(), p_x[x], known.low[:, x], known.high[:, x], spare, ldp)


def random_counts(seed, n):
    rng = np.random.default_rng(seed)
    for i in range(n):
        n_s, n_x = rng.integers(2, 4), rng.integers(2, 5)
        table = rng.multinomial(rng.integers(100, 20000), rng.dirichlet(np.full(n_s * n_x, 1.0))).reshape(n_s, n_x)
        table[:, 0] *= i % 3 > 0
        if np.count_nonzero(table.sum(axis=0)) > 1 and table.sum(axis=1).all():
            yield table


def dense(limits, a, moved):
    """Return P(y|s,x) over the symbols that occur and, last, one for all that never occur."""
    m = np.hstack([1.0 - a, np.ones((len(a), 1))])
    tables = moved / (limits.p * (1.0 - a)).sum(axis=1, keepdims=True)
    rows = m[:, :, None] * tables[:, None, :]
    rows[:, np.arange(a.shape[1]), np.arange(a.shape[1])] += a
    return rows


def found_for(table, ldp, sees_s=True, end=math.inf):
    """Return (limits, what the search finds from the optimum for the P(S, X) of the records)."""
    limits = limits_of(table, ldp)
    q = linred.optimal(Joint.from_counts(table), ldp=ldp).p_y_given_s[:, table.sum(axis=0) > 0]
    return limits, robust_resampling.cheapest(limits, q, None, end, sees_s)


def check(limits, found, sees_s=True):
    q = limits.p * found.a + found.moved
    np.testing.assert_allclose(q.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(limits.p_s @ q, limits.p_y, rtol=1e-9, atol=1e-13)
    assert (found.a >= 0.0).all()
    assert (found.a <= 1.0).all()
    assert (found.moved >= 0.0).all()
    assert robust_resampling.worst_ratio(limits.attainable(), found.a, found.moved) <= limits.ldp
    if not sees_s:
        assert (found.a == found.a[0]).all()
        tables = found.moved / found.moved.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(tables, np.broadcast_to(tables[0], tables.shape), rtol=1e-9)


@pytest.mark.parametrize("sees_s", [True, False])
def test_extremes_against_all_corners(sees_s):
    """The adversary of the search against vertices that are listed one by one."""
    for table in random_counts(1, 25):
        limits, found = found_for(table, 1.0, sees_s)
        check(limits, found, sees_s)
        x = table.sum(axis=0) > 0
        rows, n_x = dense(limits, found.a, found.moved), table.shape[1]
        k = np.zeros((*table.shape, n_x))
        k[:, :, x] = rows[:, -1:]
        k[np.ix_(np.arange(len(table)), x, x)] = rows[:, :-1]
        found_worst = worst(k, *boxes(table, LEVEL))[0]
        assert found_worst == pytest.approx(
            robust_resampling.worst_ratio(limits.attainable(), found.a, found.moved), rel=1e-6
        )
        assert found_worst <= 1.0 + 1e-8


def test_never_below_the_full_programme_and_mostly_near():
    """The search is not exact: its cost is at most 10 % above the optimum in most cases, and never below."""
    ratios = []
    for table in random_counts(2, 25):
        for ldp in (0.5, 1.0):
            _, found = found_for(table, ldp)
            least = fewest_changes(table, LEVEL, ldp=ldp)
            assert found.cost >= least - 1e-7
            assert robust_resampling.least_changes(limits_of(table, ldp)) <= least + 1e-9
            ratios.append(found.cost / max(least, 1e-3))
    assert np.median(ratios) < 1.03
    assert np.quantile(ratios, 0.8) < 1.1


@pytest.mark.parametrize(
    ("name", "ldp", "most"),
    [
        ("adult_marital_status_occupation", 0.5, 9.95),
        ("adult_marital_status_occupation", 1.0, 2.60),
        ("adult_marital_status_occupation", 2.0, 0.28),
        ("adult_sex_occupation", 0.5, 10.15),
        ("adult_sex_occupation", 1.0, 5.73),
        ("adult_sex_occupation", 2.0, 0.96),
        ("flights_carrier_dest", 1.0, 43.8),
    ],
)
def test_known_prices(name, ldp, most):
    """At most a trial's percentages of changed records, which are up to 11 % above the optimum, to about a percent."""
    limits, found = found_for(counts(name).counts, ldp)
    check(limits, found)
    assert 0.85 * most < 100.0 * found.cost < most


def test_without_s_against_the_full_programme():
    """Full programme: 65.5 % with marital status; 9.15 % with sex, where one table for all x costs a third more."""
    limits, found = found_for(counts("adult_marital_status_occupation").counts, 1.0, sees_s=False)
    check(limits, found, sees_s=False)
    assert 0.65 < found.cost < 0.69
    limits, found = found_for(counts("adult_sex_occupation").counts, 1.0, sees_s=False)
    check(limits, found, sees_s=False)
    assert found.cost < 0.13


def test_an_s_without_records():
    """Every P(x|s) is possible for it, so each of its x must have a distribution of y that is within the limit."""
    table = np.array([[3000, 1000, 500], [1000, 2000, 900], [0, 0, 0]])
    limits = limits_of(table, 1.0)
    found = robust_resampling.cheapest(limits, limits.p, None, math.inf)
    check(limits, found)
    rows = dense(limits, found.a, found.moved)[2]
    assert (rows <= math.e * (limits.p * found.a + found.moved)[:2].min(axis=0)).all()
    assert found.cost < 0.2


@pytest.mark.parametrize("sees_s", [True, False])
def test_the_search_can_stop_at_any_time(sees_s):
    table = counts("flights_carrier_dest").counts
    costs = []
    for seconds in (0.0, 0.3, 3.0):
        begin = time.monotonic()
        limits, found = found_for(table, 1.0, sees_s, begin + seconds)
        assert time.monotonic() - begin < seconds + 5.0
        check(limits, found, sees_s)
        costs.append(found.cost)
    assert costs == sorted(costs, reverse=True)


def test_costs_of_moves():
    """With a cost matrix, the search minimises that cost, and costs less than the search for the fewest changes."""
    table = counts("adult_sex_occupation").counts
    limits = limits_of(table, 0.5)
    d = np.abs(np.subtract.outer(np.arange(limits.p_y.size), np.arange(limits.p_y.size))) / limits.p_y.size
    fewest = robust_resampling.cheapest(limits, limits.p, None, math.inf)
    found = robust_resampling.cheapest(limits, limits.p, d, math.inf)
    check(limits, found)
    rows = dense(limits, found.a, found.moved)[:, :-1]
    cost = float(np.einsum("s,sx,sxy,xy->", limits.p_s, limits.p, rows, d))
    assert found.cost == pytest.approx(cost, rel=1e-9)
    assert found.cost < 0.98 * robust_resampling.cost_of(limits, d, fewest.a, fewest.moved)


def random_programme(rng, n_s, n_y, n_levels):
    p, p_s = rng.dirichlet(np.ones(n_y), n_s), rng.dirichlet(np.full(n_s, 5.0))
    p_y = p_s @ p
    width = 0.2 * p
    a0 = rng.uniform(0.3, 0.7, p.shape)
    ends, links = [], []
    level = np.zeros(n_s, int) if n_levels == 1 else np.arange(2)
    for sign, factor, levels in ((1.0, 2.0, level), (-1.0, 1.0, level[::-1])):
        ratio = np.full(p.shape, 1.0 + 0.1 * sign)
        ends.append(Ends((p + sign * width) / p_y, ratio, np.ones(p.shape), np.zeros(p.shape), factor, levels))
        links.append(Link(0.8 * p - ratio * p, 2.0 * width, np.full(n_s, 0.2), np.zeros(n_s)))
    cost_a = -p_s[:, None] * p * rng.uniform(0.9, 1.1, p.shape)
    low, high = a0 - 0.3, np.minimum(1.0, a0 + 0.3)
    programme = Programme(p, p_s, p_y, cost_a, np.zeros(p.shape), low, high, tuple(ends), tuple(links), n_levels, 5.0)
    return programme, a0, (1.0 - a0) * p / p_y


def cost_by_highs(of):
    """Return the optimum of a `Programme`, written out with dense rows."""
    (n_s, n_y), n_l = of.p.shape, of.n_levels
    sizes = [n_s * n_y] * 2 + [n_l * n_y, 2 * n_s, n_y, 2 * n_s * n_y, 2 * n_s]
    starts = np.cumsum([0, *sizes])
    a, t, levels, e, slack, x, v = (np.arange(start, stop) for start, stop in itertools.pairwise(starts))
    a, t, levels = a.reshape(n_s, n_y), t.reshape(n_s, n_y), levels.reshape(n_l, n_y)
    e, x, v = e.reshape(2, n_s), x.reshape(2, n_s, n_y), v.reshape(2, n_s)
    cost = np.zeros(starts[-1])
    cost[a], cost[t], cost[slack] = of.cost_a, of.cost_t, of.price * of.p_y
    bounds = np.tile([0.0, np.inf], (cost.size, 1))
    bounds[levels.ravel(), 0], bounds[e.ravel(), 0], bounds[v.ravel(), 1] = -np.inf, -np.inf, 1.0
    bounds[a.ravel()] = np.stack([of.low.ravel(), of.high.ravel()], axis=1)
    equations, right, inequalities, limits = [], [], [], []

    def row(terms):
        one = np.zeros(cost.size)
        for index, value in terms:
            one[index] += value
        return one

    for s in range(n_s):
        equations.append(row([(a[s], of.p[s]), (t[s], of.p_y)]))
        right.append(1.0)
        for i, sign in enumerate((1.0, -1.0)):
            link = of.links[i]
            terms = [(e[i, s], 1.0), (v[i, s], -link.left[s]), (a[s], link.g[s]), (x[i, s], -sign * link.room[s])]
            equations.append(row(terms))
            right.append(link.g[s].sum() + link.constant[s])
    for y in range(n_y):
        equations.append(row([(a[:, y], of.p_s * of.p[:, y] / of.p_y[y]), (t[:, y], of.p_s)]))
        right.append(1.0)
        for s in range(n_s):
            for i, sign in enumerate((1.0, -1.0)):
                end = of.ends[i]
                terms = [(a[s, y], sign * end.a[s, y]), (t[s, y], sign * end.t[s, y]), (e[i, s], sign * end.e[s, y])]
                terms += [(levels[end.level[s], y], -sign * end.factor), (slack[y], -1.0)]
                inequalities.append(row(terms))
                limits.append(-sign * end.constant[s, y])
                inequalities.append(row([(x[i, s, y], -1.0), (a[s, y], -sign), (v[i, s], -sign)]))
                limits.append(-sign)
    solved = linprog(cost, np.array(inequalities), limits, np.array(equations), right, bounds, method="highs")
    assert solved.status == 0, solved.message
    return solved.fun


@pytest.mark.parametrize(("n_s", "n_y", "n_levels"), [(2, 4, 2), (3, 5, 1), (4, 9, 1)])
def test_the_interior_point_method_against_highs(n_s, n_y, n_levels):
    rng = np.random.default_rng(n_y)
    for _ in range(6):
        programme, a, t = random_programme(rng, n_s, n_y, n_levels)
        solved = resampling_programme.solve(programme, (a, t), 1e-8, math.inf)
        assert solved.finished
        cost = (programme.cost_a * solved.a + programme.cost_t * solved.t).sum()
        slack = programme.price * programme.p_y @ solved.slack
        assert cost + slack == pytest.approx(cost_by_highs(programme), abs=1e-6)

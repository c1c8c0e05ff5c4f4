"""Optimal transport against the full linear programme over P(y|s,x), written as in the paper."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

import linred
from linred import Joint
from linred._kernels import coupling, numpy_twins
from linred.solvers import spanning_tree, transport
from support.joints import alphas, count_tables, example_1, random_joint


def full_programme(joint, alpha, cost, budget=None, forbidden=None):
    """min sum P(s,x) P(y|s,x) cost(x,y) over all channels with equation (3), by HiGHS; dense, from the definition.

    `budget` = (d, value) adds E d(X,Y) <= value; `forbidden` says which moves x to y are not allowed.
    """
    n_s, n_x = joint.shape
    reduced = (1 - alpha) * joint.p_x_given_s + alpha * joint.p_x
    equations, right = [], []
    for s in range(n_s):
        for x in range(n_x):
            row = np.zeros((n_s, n_x, n_x))
            row[s, x, :] = 1.0
            equations.append(row.ravel())
            right.append(1.0)
        if joint.p_s[s] > 0:
            for y in range(n_x):
                row = np.zeros((n_s, n_x, n_x))
                row[s, :, y] = joint.p_x_given_s[s]
                equations.append(row.ravel())
                right.append(reduced[s, y])
    weights = joint.p_sx[:, :, None] * cost
    limit = {}
    if budget is not None:
        limit = {"A_ub": (joint.p_sx[:, :, None] * budget[0]).reshape(1, -1), "b_ub": [budget[1]]}
    most = np.ones((n_s, n_x, n_x)) if forbidden is None else np.tile(1.0 - forbidden, (n_s, 1, 1))
    bounds = [(0.0, bound) for bound in most.ravel()]
    solved = linprog(weights.ravel(), A_eq=np.array(equations), b_eq=right, bounds=bounds, method="highs", **limit)
    assert solved.status == 0, solved.message
    return solved.fun


def distortions(rng, n):
    """With and without the Monge property and the triangle inequality; ties, zeros off the diagonal, asymmetry."""
    position, points = np.arange(n, dtype=float), rng.random((n, 2))
    steps = np.abs(position[:, None] - position)
    every = {
        "hamming": 1.0 - np.eye(n),
        "absolute": steps,
        "squared": steps**2,
        "uneven line": np.abs(np.subtract.outer(*[np.sort(points[:, 0])] * 2)),
        "uphill costs more": np.where(position[:, None] < position, 3.0, 1.0) * steps,
        "euclidean": np.linalg.norm(points[:, None] - points, axis=2),
        "euclidean squared": np.linalg.norm(points[:, None] - points, axis=2) ** 2,
        "next is free": np.maximum(steps - 1.0, 0.0),
        "capped": np.minimum(steps, 2.0),
        "random": rng.random((n, n)),
        "random with ties": rng.integers(0, 3, (n, n)).astype(float),
        "nothing": np.zeros((n, n)),
    }
    for d in every.values():
        np.fill_diagonal(d, 0.0)
    return every


NAMES = list(distortions(np.random.default_rng(0), 3))
SHAPES = [(1, 1), (1, 4), (4, 1), (2, 4), (3, 3), (6, 3), (2, 7)]


@pytest.mark.parametrize("coupling", ["northwest", "proportional"])
def test_records_changed_are_the_least_that_the_full_programme_allows(coupling):
    rng = np.random.default_rng(1)
    for n_s, n_x in SHAPES:
        for zeros, ties in [(0.0, False), (0.4, False), (0.0, True), (0.4, True)]:
            joint, alpha = random_joint(rng, n_s, n_x, zeros, ties), rng.choice([0.0, 0.3, 0.7, 1.0])
            value = linred.non_markov(joint, alpha, coupling=coupling).dtv()
            assert value == pytest.approx(full_programme(joint, alpha, 1.0 - np.eye(n_x)), abs=1e-8)


@pytest.mark.parametrize("name", NAMES)
def test_distortion_is_the_least_that_the_full_programme_allows(name, solver):
    rng = np.random.default_rng(2)
    for n_s, n_x in SHAPES:
        for zeros, ties in [(0.0, False), (0.4, True)]:
            joint, alpha = random_joint(rng, n_s, n_x, zeros, ties), rng.choice([0.3, 0.7, 1.0])
            d = distortions(rng, n_x)[name]
            mechanism = linred.non_markov(joint, alpha, distortion=d)
            value = mechanism.expected_distortion(d)
            optimum = full_programme(joint, alpha, d)
            assert value == pytest.approx(optimum, abs=1e-8)
            assert mechanism.gap <= 1e-12
            fewest = full_programme(joint, alpha, 1.0 - np.eye(n_x), budget=(d, optimum + 1e-10))
            assert mechanism.dtv() == pytest.approx(fewest, abs=1e-7), "among equal costs, fewest records changed"


@pytest.mark.parametrize("name", NAMES)
@given(counts=count_tables, alpha=alphas, seed=st.integers(0, 2**32 - 1))
def test_a_solvers_answer_is_made_exact(name, counts, alpha, seed):
    joint = Joint.from_counts(counts)
    d = distortions(np.random.default_rng(seed), counts.shape[1])[name]
    mechanism = linred.non_markov(joint, alpha, distortion=d)
    channel = mechanism.p_y_given_sx
    assert channel.min() >= 0.0
    np.testing.assert_allclose(channel.sum(axis=2), 1.0, rtol=0, atol=1e-14)
    seen = counts.sum(axis=1) > 0
    by_channel = np.einsum("sx,sxy->sy", joint.p_x_given_s, channel)
    np.testing.assert_allclose(by_channel[seen], mechanism.p_y_given_s[seen], rtol=0, atol=1e-12)
    for row in channel[counts == 0]:
        np.testing.assert_array_equal(row, joint.p_x)


@pytest.mark.parametrize("never", [1e6, 1e10, 1e12, 1e100, 1e308])
def test_a_very_large_cost_stands_for_never(never, solver):
    """A prohibitive cost forbids moves: the optimum is that of the programme without them."""
    rng = np.random.default_rng(8)
    n_feasible = 0
    for _ in range(25):
        joint, n_x = random_joint(rng, 2, 6), 6
        d = rng.random((n_x, n_x))
        np.fill_diagonal(d, 0.0)
        forbidden = (rng.random((n_x, n_x)) < 0.3) & ~np.eye(n_x, dtype=bool)
        mechanism = linred.non_markov(joint, 0.6, distortion=np.where(forbidden, never, d))
        used = np.einsum("sx,sxy->xy", joint.p_sx, mechanism.p_y_given_sx)
        if used[forbidden].any():
            continue  # infeasible without the forbidden moves
        n_feasible += 1
        optimum = full_programme(joint, 0.6, d, forbidden=forbidden)
        assert mechanism.expected_distortion(d) == pytest.approx(optimum, abs=1e-8)
    assert n_feasible > 10


def test_a_bad_basis_is_polished_to_the_optimum():
    """From any basis tree of a solver, the pivots end at the optimum."""
    rng = np.random.default_rng(5)
    for n_x, n_y in [(1, 1), (1, 5), (4, 3), (7, 9)]:
        supply, demand, cost = rng.dirichlet(np.ones(n_x)), rng.dirichlet(np.ones(n_y)), rng.random((n_x, n_y))
        poor_plan = np.outer(supply, demand) * rng.random((n_x, n_y))
        tree = spanning_tree.spanning_tree(poor_plan, cost)
        arcs, mass, reduced_cost, _ = transport._polish(tree, supply, demand, cost)
        assert reduced_cost.min() >= -1e-12
        x, y = arcs.T
        np.testing.assert_allclose(reduced_cost[x, y], 0.0, rtol=0, atol=1e-15)
        np.testing.assert_allclose(np.bincount(x, mass, n_x), supply, rtol=0, atol=1e-15)
        np.testing.assert_allclose(np.bincount(y, mass, n_y), demand, rtol=0, atol=1e-15)


def test_sums_that_do_not_agree_end_somewhere():
    cost = np.array([[1.0, 2.0], [3.0, 1.0]])
    tree = spanning_tree.spanning_tree(np.array([[1e-9, 0.0], [0.0, 1e-20]]), cost)
    _, mass, _, _ = transport._polish(tree, np.array([1e-9, 1e-20]), np.array([2e-9, 1e-21]), cost)
    assert mass.min() >= 0.0


def test_costs_of_any_range():
    joint = Joint.from_conditional([[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]], [0.5, 0.5])
    low = 1e-20
    for high in (1e20, 1e280, 1e308):
        d = np.array([[0, low, 10 * low], [low, 0, low], [high, low, 0]])
        mechanism = linred.non_markov(joint, 1.0, distortion=d)
        assert mechanism.expected_distortion(d) == pytest.approx(3e-21, rel=1e-12)


def test_monge_and_triangle_are_told_apart():
    known = {
        name: (np.sign(coupling.monge_margin(d)), transport.holds_triangle_inequality(d))
        for name, d in distortions(np.random.default_rng(6), 12).items()
    }
    assert known["absolute"] == known["uneven line"] == known["uphill costs more"] == known["nothing"] == (0, True)
    assert known["squared"] == (1, False)
    assert known["next is free"] == (0, False)
    assert known["hamming"] == known["euclidean"] == known["capped"] == (-1, True)
    assert known["euclidean squared"] == known["random"] == (-1, False)


@given(st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_monge_and_triangle_equal_their_definitions(n, seed):
    for d in distortions(np.random.default_rng(seed), n).values():
        by_definition = numpy_twins.monge_margin(d)
        assert np.sign(coupling.monge_margin(d)) == (0 if abs(by_definition) < 1e-12 else np.sign(by_definition))
        assert transport.holds_triangle_inequality(d) == (not numpy_twins.shorter_detour(d, 1e-12))


def test_closed_forms_call_no_solver(monkeypatch):
    monkeypatch.setattr("linred.solvers.lp.transport", lambda *_: pytest.fail("a solver was called"))
    joint = random_joint(np.random.default_rng(7), 5, 12)
    for name in ("absolute", "squared", "uneven line", "uphill costs more", "hamming", "nothing"):
        d = distortions(np.random.default_rng(7), 12)[name]
        assert linred.non_markov(joint, 0.5, distortion=d).gap == 0.0


def test_figures_of_errata_3():
    joint, steps = example_1(), np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    squared = linred.non_markov(joint, 0.5, distortion=steps**2)
    assert round(squared.expected_distortion(steps**2), 3) == 0.192
    absolute = linred.non_markov(joint, 0.5, distortion=steps)
    assert round(absolute.expected_distortion(steps), 3) == 0.189
    assert round(absolute.dtv(), 4) == 0.105
    # Proposition 2 for (i-j)^2: the best coupling of excess with deficit alone costs .357.
    rows = [transport._cheapest_moves(row, steps**2) for row in 0.5 * (joint.p_x_given_s - joint.p_x)]
    indptr, x, y, mass = transport.collect([moves for *moves, _ in rows])
    s = np.repeat([0, 1], np.diff(indptr))
    assert round(float((joint.p_s[s] * mass) @ (steps**2)[x, y]), 3) == 0.357

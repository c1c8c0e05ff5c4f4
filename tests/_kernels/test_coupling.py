"""Couplings, their tables and properties of distortions equal their NumPy twins; large alphabets."""

import itertools

import numpy as np
import pytest

import linred
from linred._kernels import coupling, numpy_twins


@pytest.mark.parametrize("n_x", [1, 2, 3, 5, 8, 100])
def test_excess_equals_its_twin(n_x):
    rng = np.random.default_rng(11)
    p = rng.dirichlet(np.full(n_x, 0.5), 7)
    p_x = p.mean(axis=0)
    p[0] = p_x * (1.0 + 1e-15 * rng.normal(size=n_x))
    for alpha in (0.0, 0.3, 1.0):
        ours, twin = coupling.excess(p, p_x, alpha), numpy_twins.excess(p, p_x, alpha)
        np.testing.assert_allclose(ours, twin, rtol=0, atol=1e-15)
        np.testing.assert_allclose(ours.sum(axis=1), 0.0, rtol=0, atol=1e-16)
        assert not ours[0].any(), "rounding noise is not excess"


def dense_plan(flows, row, n_x):
    indptr, x, y, mass = flows
    span = slice(indptr[row], indptr[row + 1])
    plan = np.zeros((n_x, n_x))
    np.add.at(plan, (x[span], y[span]), mass[span])
    assert (np.diff(x[span].astype(int) * n_x + y[span]) > 0).all(), "flows are ordered by x, then y, each once"
    return plan


@pytest.mark.parametrize("n_x", [1, 2, 3, 4, 8, 33, 500])
def test_northwest_equals_its_twin(n_x):
    rng = np.random.default_rng(5)
    supply, demand = rng.dirichlet(np.full(n_x, 0.5), (2, 9))
    supply[rng.random(supply.shape) < 0.2] = 0.0
    supply[:, 0] += 1.0 - supply.sum(axis=1)
    delta = supply - demand
    for row in range(9):
        plan = dense_plan(coupling.northwest(supply, demand), row, n_x)
        np.testing.assert_allclose(plan, numpy_twins.northwest(supply[row], demand[row]), rtol=0, atol=1e-14)
        excess, deficit = np.maximum(delta[row], 0), np.maximum(-delta[row], 0)
        plan = dense_plan(coupling.northwest(delta), row, n_x)
        np.testing.assert_allclose(plan, numpy_twins.northwest(excess, deficit), rtol=0, atol=1e-14)
        sparse = np.zeros((n_x, n_x))
        if excess.any() and deficit.any():
            x, y, mass = numpy_twins.northwest_flows(delta[row])
            some = mass > 1e-15
            np.add.at(sparse, (x[some], y[some]), mass[some])
        np.testing.assert_allclose(plan, sparse, rtol=0, atol=1e-14)


def test_northwest_leaves_no_dust_on_ties():
    flows = coupling.northwest(np.array([[0.14, 0.035, -0.105, -0.07]]))
    np.testing.assert_array_equal(flows[1], [0, 0, 1])
    np.testing.assert_array_equal(flows[2], [2, 3, 3])
    np.testing.assert_allclose(flows[3], [0.105, 0.035, 0.035], rtol=1e-14)


def test_northwest_meets_every_small_demand_to_its_last_places():
    rng = np.random.default_rng(10)
    for _ in range(50):
        tails = np.exp(-0.5 * np.linspace(-15, 15, 40)[None, :] ** 2 + rng.normal(0, 0.3, (2, 40)))
        supply, demand = tails / tails.sum(axis=1, keepdims=True)
        _, x, y, mass = coupling.northwest(supply[None, :], demand[None, :])
        met, pivot = np.bincount(y, mass, 40), demand.argmax()
        np.testing.assert_allclose(np.delete(met, pivot), np.delete(demand, pivot), rtol=1e-14)
        np.testing.assert_allclose(met[pivot], demand[pivot], rtol=1e-14)
        np.testing.assert_allclose(np.bincount(x, mass, 40), supply, rtol=1e-13)


def test_northwest_without_demand_moves_nothing():
    for flows in (coupling.northwest(np.array([[1e-17, 0.0]])), coupling.northwest(np.zeros((1, 3)))):
        np.testing.assert_array_equal(flows[0], [0, 0])


@pytest.mark.parametrize("complete", [False, True])
def test_tables_amount_to_the_twins_matrix(complete):
    rng = np.random.default_rng(6)
    for n_s, n_x in [(1, 1), (3, 2), (4, 7), (2, 20)]:
        p = rng.dirichlet(np.ones(n_x), n_s)
        p[rng.random(p.shape) < 0.3] = 0.0
        p[p.sum(axis=1) == 0, 0] = 1.0
        p /= p.sum(axis=1, keepdims=True)
        p_y = rng.dirichlet(np.ones(n_x)) * (np.arange(n_x) != 1)
        p_y /= p_y.sum()
        q = 0.4 * p + 0.6 * p_y
        flows = coupling.northwest(p, q) if complete else coupling.northwest(p - q)
        keep, move, table_of, indptr, y, probability = coupling.tables_from_flows(p, q, p_y, flows, complete)
        assert min(keep.min(), move.min()) >= 0.0
        np.testing.assert_allclose(keep + move, 1.0, rtol=0, atol=1e-15)
        tables = np.zeros((indptr.size - 1, n_x))
        np.add.at(tables, (np.repeat(np.arange(indptr.size - 1), np.diff(indptr)), y), probability)
        np.testing.assert_allclose(tables.sum(axis=1), 1.0, rtol=1e-14)
        dense = move[:, :, None] * tables[table_of] + keep[:, :, None] * np.eye(n_x)
        np.testing.assert_allclose(dense, numpy_twins.tables_from_flows(p, q, p_y, flows, complete), rtol=0, atol=1e-14)


def test_monge_margin_has_the_sign_of_its_twin():
    rng = np.random.default_rng(8)
    for n_x, n_y in [(1, 1), (1, 5), (2, 2), (4, 3), (5, 7)]:
        x, y = np.arange(n_x, dtype=float)[:, None], np.arange(n_y, dtype=float)
        for d in (np.abs(x - y), (x - y) ** 2, -((x - y) ** 2), rng.integers(0, 9, (n_x, n_y)).astype(float)):
            ours, twin = coupling.monge_margin(d), numpy_twins.monge_margin(d)
            assert np.sign(ours) == np.sign(twin)


def test_shorter_detour_equals_its_twin():
    rng = np.random.default_rng(7)
    points = rng.random((9, 2))
    metric = np.linalg.norm(points[:, None] - points, axis=2)
    for d in (metric, metric**2, rng.random((9, 9)), np.zeros((1, 1)), np.ones((5, 5)) - np.eye(5)):
        for slack in (0.0, 1e-12, 0.3):
            found = coupling.shorter_detour(d, slack)
            assert (found is not None) == numpy_twins.shorter_detour(d, slack)
            if found is not None:
                x, y, z = found
                assert d[x, z] * (1.0 - slack) > d[x, y] + d[y, z]


def test_one_planted_detour_is_found_wherever_it_is():
    for x, z in itertools.permutations(range(6), 2):
        d = np.ones((6, 6)) - np.eye(6)
        d[x, z] = 2.5
        assert coupling.shorter_detour(d, 0.0)[::2] == (x, z)


@pytest.mark.long
def test_a_thousand_by_a_thousand_gives_equation_3():
    rng = np.random.default_rng(1)
    joint = linred.Joint.from_conditional(rng.dirichlet(np.full(1000, 0.3), 1000), rng.dirichlet(np.ones(1000)))
    for rule in ("northwest", "proportional"):
        mechanism = linred.non_markov(joint, 0.7, coupling=rule)
        for s in range(0, 1000, 111):
            dense = mechanism.destinations[mechanism.table_of[s]].toarray() * mechanism.move[s][:, None]
            dense[np.arange(1000), np.arange(1000)] += mechanism.keep[s]
            np.testing.assert_allclose(joint.p_x_given_s[s] @ dense, mechanism.p_y_given_s[s], rtol=0, atol=1e-13)


@pytest.mark.long
def test_a_hundred_thousand_symbols_need_no_square():
    rng = np.random.default_rng(2)
    joint = linred.Joint.from_counts(rng.poisson(0.5, (3, 100_000)))
    mechanism = linred.non_markov(joint, linred.alpha_for(joint, ldp=1.0))
    assert linred.ldp(mechanism.released) <= 1.0
    assert 0.0 < mechanism.dtv() < linred.markov(joint, mechanism.alpha).dtv()


@pytest.mark.long
def test_a_transport_of_four_hundred_symbols_by_both_solvers(solver):
    rng = np.random.default_rng(3)
    points = rng.random((400, 3))
    d = np.linalg.norm(points[:, None] - points, axis=2) ** 1.5
    joint = linred.Joint.from_conditional(rng.dirichlet(np.ones(400), 2), [0.4, 0.6])
    mechanism = linred.non_markov(joint, 0.5, distortion=d)
    assert mechanism.gap <= 1e-12
    by_channel = np.einsum("sx,sxy->sy", joint.p_x_given_s, mechanism.p_y_given_sx)
    np.testing.assert_allclose(by_channel, mechanism.p_y_given_s, rtol=0, atol=1e-13)

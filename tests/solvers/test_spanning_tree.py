"""Basis trees of transport problems, against SciPy's graph functions, linear algebra and exact Fractions."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from linred.solvers import spanning_tree

SHAPES = [(1, 1), (1, 5), (4, 3), (7, 9)]


def transport(n_x, n_y):
    """Return (supply, demand, cost, a feasible plan with cycles)."""
    rng = np.random.default_rng(n_x + n_y)
    supply, demand = rng.dirichlet(np.ones(n_x)), rng.dirichlet(np.ones(n_y))
    return supply, demand, rng.random((n_x, n_y)), np.outer(supply, demand)


def n_parts(arcs, n_x, n_nodes):
    x, y = np.array(arcs, int).reshape(-1, 2).T
    graph = coo_array((np.ones(x.size), (x, n_x + y)), shape=(n_nodes, n_nodes))
    return connected_components(graph, directed=False)[0]


@pytest.mark.parametrize(("n_x", "n_y"), SHAPES)
def test_it_spans_all_and_has_no_cycle(n_x, n_y):
    _, _, cost, plan = transport(n_x, n_y)
    plan = plan * (np.random.default_rng(1).random(plan.shape) < 0.4)
    tree = spanning_tree.spanning_tree(plan, cost)
    assert len(tree) == n_x + n_y - 1
    assert n_parts(tree, n_x, n_x + n_y) == 1


def test_flows_come_first_and_the_largest_of_them_are_kept():
    """With flows between all nodes it is the tree of largest flows, SciPy's minimum spanning tree."""
    _, _, cost, plan = transport(6, 8)
    tree = spanning_tree.spanning_tree(plan, cost)
    least = minimum_spanning_tree(np.block([[np.zeros((6, 6)), 1.0 - plan], [np.zeros((8, 14))]]))
    assert sorted(tree) == sorted((i, j - 6) for i, j in zip(*map(np.ndarray.tolist, least.nonzero()), strict=True))
    two = np.diag([0.5, 0.3, 0.2])
    tree = spanning_tree.spanning_tree(two, np.array([[9, 5, 1], [9, 9, 2], [9, 9, 9]]))
    assert tree == [(0, 0), (1, 1), (2, 2), (0, 2), (1, 2)], "then arcs of least reduced cost"


@pytest.mark.parametrize(("n_x", "n_y"), SHAPES)
def test_flows_use_up_supply_and_demand(n_x, n_y):
    supply, demand, cost, plan = transport(n_x, n_y)
    tree = spanning_tree.spanning_tree(plan, cost)
    neighbors = spanning_tree.neighbors_on(tree, n_x, n_y)
    mass = spanning_tree.flows_on(tree, neighbors, supply, demand)
    equations = np.zeros((n_x + n_y, len(tree)))
    for arc, (i, j) in enumerate(tree):
        equations[[i, n_x + j], arc] = 1.0
    np.testing.assert_allclose(
        mass, np.linalg.lstsq(equations, np.concatenate([supply, demand]), rcond=None)[0], rtol=0, atol=1e-14
    )


def test_flows_far_apart_are_rounded_once():
    """On x_0 - y_0 - x_1 - y_1 the middle flow is a difference that doubles would lose."""
    supply, demand = np.array([1e-30, 1.0]), np.array([1e-30 + 1e-45, 1.0 - 1e-16])
    tree = [(0, 0), (1, 0), (1, 1)]
    mass = spanning_tree.flows_on(tree, spanning_tree.neighbors_on(tree, 2, 2), supply, demand)
    assert mass.tolist() == [1e-30, float(Fraction(demand[0]) - Fraction(supply[0])), demand[1]]


def test_doubles_are_whole_numbers():
    values = [0.0, 5e-324, 1e-30, 0.1, 1.0, 1.7e308]
    assert spanning_tree.as_doubles(spanning_tree.as_integers(values)).tolist() == values


@pytest.mark.parametrize(("n_x", "n_y"), SHAPES)
def test_parts_and_paths(n_x, n_y):
    _, _, cost, plan = transport(n_x, n_y)
    tree = spanning_tree.spanning_tree(plan, cost)
    neighbors = spanning_tree.neighbors_on(tree, n_x, n_y)
    for arc, (i, j) in enumerate(tree):
        inside = spanning_tree.part_of(i, arc, neighbors)
        assert inside[i]
        assert not inside[n_x + j]
        crossing = [other for other, (a, b) in enumerate(tree) if inside[a] != inside[n_x + b]]
        assert crossing == [arc], "removing an arc splits the tree into two parts that only this arc connects"
        assert spanning_tree.path_on(i, n_x + j, neighbors) == [arc]
    for end in range(n_x + n_y):
        node = 0
        for arc in spanning_tree.path_on(0, end, neighbors):
            i, j = tree[arc]
            assert node in (i, n_x + j)
            node = n_x + j if node == i else i
        assert node == end

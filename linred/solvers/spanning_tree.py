"""Spanning trees of a transport, whose nodes are the x and then the y: the flows on one are the only ones, and exact.

Arcs are pairs (x, y); a node's neighbours are pairs (arc, node at the other end).
"""

import numpy as np

_UNIT = 2**1074
"""Every double is a whole number of 1/_UNIT."""


def as_integers(values):
    return [numerator * (_UNIT // denominator) for numerator, denominator in map(float.as_integer_ratio, values)]


def as_doubles(integers):
    return np.array([integer / _UNIT for integer in integers])  # rounded once


class Forest:
    """Arcs (i, j) between n_x supplies and n_y demands that form no cycle (union-find)."""

    def __init__(self, n_x, n_y):
        self.arcs, self._shape, self._part = [], (n_x, n_y), list(range(n_x + n_y))

    def _root(self, node):
        part = self._part
        while part[node] != node:
            part[node] = node = part[part[node]]
        return node

    def join(self, i, j):
        """Add an arc; False where it would close a cycle."""
        a, b = self._root(i), self._root(self._shape[0] + j)
        if a == b:
            return False
        self._part[a] = b
        self.arcs.append((i, j))
        return True

    def join_all(self, arcs):
        """Add those of the arcs, as places in a plan, that close no cycle."""
        for i, j in zip(*(index.tolist() for index in np.unravel_index(arcs, self._shape)), strict=True):
            self.join(i, j)


def spanning_tree(plan, reduced_cost):
    """The basis of a plan: its flows, the largest first; between parts that they leave, arcs of least reduced cost."""
    n_x, n_y = plan.shape
    forest = Forest(n_x, n_y)
    flows = np.flatnonzero(plan > 0.0)
    forest.join_all(flows[np.argsort(-plan.ravel()[flows], kind="stable")])
    if len(forest.arcs) < n_x + n_y - 1:
        forest.join_all(np.argsort(reduced_cost, axis=None, kind="stable"))
    return forest.arcs


def neighbors_on(tree, n_x, n_y):
    """The neighbours of each node."""
    neighbors = [[] for _ in range(n_x + n_y)]
    for arc, (i, j) in enumerate(tree):
        neighbors[i].append((arc, n_x + j))
        neighbors[n_x + j].append((arc, i))
    return neighbors


def flows_on(tree, neighbors, supply, demand):
    """The only flows on a tree that use up supply and demand: a leaf's arc carries all that the leaf has left.

    The most probable symbol is the root, which is no leaf: it takes what the sums of supply and demand differ by.
    """
    left = as_integers([*supply.tolist(), *demand.tolist()])
    root = left.index(max(left))
    degree = [len(arcs) for arcs in neighbors]
    mass = [None] * len(tree)
    leaves = [node for node, n_arcs in enumerate(degree) if n_arcs == 1 and node != root]
    while leaves:
        leaf = leaves.pop()
        for arc, other in neighbors[leaf]:
            if mass[arc] is None:
                mass[arc] = left[leaf]
                left[other] -= left[leaf]
                degree[other] -= 1
                if degree[other] == 1 and other != root:
                    leaves.append(other)
    return as_doubles(mass)


def walk(start, neighbors, without_arc=None):
    """(node, arc, other) for every other node that hangs together with `start`: each after the node that it is by."""
    reached, pending = {start}, [start]
    while pending:
        node = pending.pop()
        for arc, other in neighbors[node]:
            if arc != without_arc and other not in reached:
                reached.add(other)
                pending.append(other)
                yield node, arc, other


def part_of(start, without_arc, neighbors):
    """Which nodes hang together with `start` once an arc is taken away."""
    inside = np.zeros(len(neighbors), bool)
    inside[[start, *(other for _, _, other in walk(start, neighbors, without_arc))]] = True
    return inside


def path_on(start, end, neighbors):
    """The arcs from one node to another, in order."""
    next_on_path = {other: (arc, node) for node, arc, other in walk(end, neighbors)}
    path = []
    while start != end:
        arc, start = next_on_path[start]
        path.append(arc)
    return path

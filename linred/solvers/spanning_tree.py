"""Basis trees of a transport problem: a spanning tree determines its flows uniquely, so they can be computed exactly.

Nodes are numbered: first the x, then the y. Arcs are pairs (x, y). The neighbours of a node are pairs (arc, node at the
other end).
"""

import numpy as np

_UNIT = 2**1074
"""Every double is an integer multiple of 1/_UNIT."""


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
        """Add an arc and return True; return False if it would close a cycle."""
        a, b = self._root(i), self._root(self._shape[0] + j)
        if a == b:
            return False
        self._part[a] = b
        self.arcs.append((i, j))
        return True

    def join_all(self, arcs):
        """Add the arcs that close no cycle, in order; `arcs` are flat indices into a transport plan."""
        for i, j in zip(*(index.tolist() for index in np.unravel_index(arcs, self._shape)), strict=True):
            self.join(i, j)


def spanning_tree(plan, reduced_cost):
    """Return the basis tree of a transport plan: its flows, largest first, connected by arcs of least reduced cost."""
    n_x, n_y = plan.shape
    forest = Forest(n_x, n_y)
    flows = np.flatnonzero(plan > 0.0)
    forest.join_all(flows[np.argsort(-plan.ravel()[flows], kind="stable")])
    if len(forest.arcs) < n_x + n_y - 1:
        forest.join_all(np.argsort(reduced_cost, axis=None, kind="stable"))
    return forest.arcs


def neighbors_on(tree, n_x, n_y):
    """Return the neighbours of each node."""
    neighbors = [[] for _ in range(n_x + n_y)]
    for arc, (i, j) in enumerate(tree):
        neighbors[i].append((arc, n_x + j))
        neighbors[n_x + j].append((arc, i))
    return neighbors


def flows_on(tree, neighbors, supply, demand):
    """Return the unique flows on a tree that meet supply and demand: the arc of a leaf carries all of the leaf's mass.

    The node with the largest mass is the root and never a leaf: it absorbs the difference between the totals of supply
    and demand. Supply, demand and flows are doubles, or integers.
    """
    left = [*supply.tolist(), *demand.tolist()]
    if supply.dtype.kind == "f":
        left = as_integers(left)
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
    return as_doubles(mass) if supply.dtype.kind == "f" else np.array(mass)


def walk(start, neighbors, without_arc=None):
    """Yield (node, arc, other) for each node `other` connected with `start`; `node` is yielded before, as an `other`.

    The arc `without_arc` counts as removed.
    """
    reached, pending = {start}, [start]
    while pending:
        node = pending.pop()
        for arc, other in neighbors[node]:
            if arc != without_arc and other not in reached:
                reached.add(other)
                pending.append(other)
                yield node, arc, other


def part_of(start, without_arc, neighbors):
    """Return a mask of the nodes that remain connected with `start` when an arc is removed."""
    inside = np.zeros(len(neighbors), bool)
    inside[[start, *(other for _, _, other in walk(start, neighbors, without_arc))]] = True
    return inside


def path_on(start, end, neighbors):
    """Return the arcs on the path from one node to another, in order."""
    next_on_path = {other: (arc, node) for node, arc, other in walk(end, neighbors)}
    path = []
    while start != end:
        arc, start = next_on_path[start]
        path.append(arc)
    return path

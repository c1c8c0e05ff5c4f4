"""Vertices among the couplings that change the fewest records: with few moves, or with a large I(X;Y).

For each s, the flows from excess to deficit form a transport polytope. I(X;Y) is convex in the flows, so its maximum is
at a vertex, where the flows form no cycle. Finding the best vertex is hard. A local search from two starting points
exchanges the destinations of two flows of one s as long as that increases I(X;Y).
"""

import numpy as np

from linred._kernels import coupling
from linred.solvers import spanning_tree, transport

MOST_PAIRS = 2**22
"""Number of exchanges that are evaluated at a time."""

MIN_GAIN = 1e-13
"""Smallest gain in nats that counts as progress; smaller gains are rounding noise and could cycle."""


def sparse(delta):
    """Return few flows, in the format of `coupling.northwest`: equal masses are matched first, then the large ones."""
    rows = []
    for row in delta:
        order = _equal_amounts_first(row)
        _, x, y, mass = coupling.northwest(np.ascontiguousarray(row[order])[None, :])
        plain = coupling.northwest(row[None, :])
        rows.append((order[x], order[y], mass) if mass.size < plain[3].size else plain[1:])
    return transport.collect(rows)


def _equal_amounts_first(row):
    """Return the symbols in an order in which the north-west corner rule matches equal excess and deficit."""
    excess, deficit = _ends(row)
    excess, deficit = excess[np.argsort(-row[excess])], deficit[np.argsort(row[deficit])]
    matched, j = [], 0
    for i in excess:
        while j < deficit.size and -row[deficit[j]] > row[i] * (1.0 + transport.TIE):
            j += 1
        if j < deficit.size and -row[deficit[j]] >= row[i] * (1.0 - transport.TIE):
            matched.append((i, deficit[j]))
            j += 1
    pairs = np.array(matched, np.intp).reshape(-1, 2).T
    rest = (part[~np.isin(part, pairs)] for part in (excess, deficit))
    return np.concatenate([*pairs, *rest, np.flatnonzero(row == 0.0)])


def informative(joint, delta):
    """Return flows with a large I(X;Y): the better of two local searches, from the north-west corner and `sparse`."""
    climbs = [_climb(joint, delta, flows) for flows in (coupling.northwest(delta), sparse(delta))]
    # I(X;Y) up to a term that is equal for all couplings that change the fewest records
    plans, _ = max(climbs, key=lambda climb: _x_log_x(climb[1]).sum())
    return transport.collect([_exact(row, plan) for row, plan in zip(delta, plans, strict=True)])


def _climb(joint, delta, flows):
    """Improve flows by exchanges until none helps; return (a plan, excess x deficit, per s; P(x, y) for x != y)."""
    indptr, x, y, mass = flows
    s = np.repeat(np.arange(delta.shape[0]), np.diff(indptr))
    all_moved, plans = np.zeros((delta.shape[1], delta.shape[1])), []
    np.add.at(all_moved, (x, y), joint.p_s[s] * mass)
    for row, start, end in zip(delta, indptr, indptr[1:], strict=False):
        excess, deficit = _ends(row)
        plan = np.zeros((excess.size, deficit.size))
        plan[np.searchsorted(excess, x[start:end]), np.searchsorted(deficit, y[start:end])] = mass[start:end]
        plans.append(plan)

    def improve(s):
        """Exchange flows of s and remove cycles as long as that helps; return whether it did."""
        places, plan, weight = np.ix_(*_ends(delta[s])), plans[s], joint.p_s[s]
        moved = all_moved[places]
        before = _x_log_x(moved).sum()
        while _exchange(plan, moved, weight) or _undo_cycle(plan, moved, weight):
            pass
        all_moved[places] = moved
        return _x_log_x(moved).sum() > before + MIN_GAIN

    while any([improve(s) for s in np.flatnonzero(joint.p_s)]):  # not a generator: any() would stop at the first
        pass
    return plans, all_moved


def _ends(row):
    return np.flatnonzero(row > 0.0), np.flatnonzero(row < 0.0)


def _exchange(plan, moved, weight):
    """Swap the destinations of the two flows for which that helps most, in place; return whether any swap helps."""
    i, j = np.nonzero(plan)
    best, gain_of_best = None, MIN_GAIN
    height = max(1, MOST_PAIRS // max(1, i.size))
    for start in range(0, i.size, height):
        a, b = np.meshgrid(np.arange(start, min(i.size, start + height)), np.arange(i.size), indexing="ij")
        keep = (a < b) & (i[a] != i[b]) & (j[a] != j[b])
        a, b = a[keep], b[keep]
        if a.size == 0:
            continue
        mass = weight * np.minimum(plan[i[a], j[a]], plan[i[b], j[b]])
        gain = sum(
            _x_log_x(np.maximum(moved[cells] + sign * mass, 0.0)) - _x_log_x(moved[cells])
            for cells, sign in (((i[a], j[a]), -1), ((i[b], j[b]), -1), ((i[a], j[b]), 1), ((i[b], j[a]), 1))
        )
        if gain.max() > gain_of_best:
            at = int(gain.argmax())
            best, gain_of_best = (a[at], b[at]), gain[at]
    if best is None:
        return False
    a, b = best
    _shift(plan, moved, weight, [(i[a], j[a]), (i[a], j[b]), (i[b], j[b]), (i[b], j[a])])
    return True


def _undo_cycle(plan, moved, weight):
    """Cancel a cycle of flows in the better direction, until a flow is zero, in place; return whether there was one."""
    cycle = _cycle(plan)
    if cycle is None:
        return False
    gains = []
    for way in (cycle, cycle[1:] + cycle[:1]):
        trial = plan.copy(), moved.copy()
        _shift(*trial, weight, way)
        gains.append((_x_log_x(trial[1]).sum(), way))
    _shift(plan, moved, weight, max(gains, key=lambda gain: gain[0])[1])
    return True


def _shift(plan, moved, weight, cycle):
    """Subtract the least mass of the first, third, ... cell of a cycle from these cells and add it to the others."""
    less, more = tuple(zip(*cycle[::2], strict=True)), tuple(zip(*cycle[1::2], strict=True))
    mass = plan[less].min()
    plan[less] -= mass
    plan[more] += mass
    moved[less] = np.maximum(moved[less] - weight * mass, 0.0)
    moved[more] += weight * mass


def _cycle(plan):
    """Return the cells of a cycle of flows, in order, or None if there is none."""
    forest = spanning_tree.Forest(*plan.shape)
    for i, j in np.argwhere(plan).tolist():
        if not forest.join(i, j):
            neighbors = spanning_tree.neighbors_on(forest.arcs, *plan.shape)
            return [(i, j)] + [forest.arcs[arc] for arc in spanning_tree.path_on(i, len(plan) + j, neighbors)]
    return None


def _exact(row, plan):
    """Return (x, y, mass) of a plan without cycles, with exact masses computed from excess and deficit."""
    excess, deficit = _ends(row)
    if plan.size == 0:
        return excess[:0], deficit[:0], row[:0]
    tree = spanning_tree.spanning_tree(plan, np.zeros_like(plan))
    neighbors = spanning_tree.neighbors_on(tree, *plan.shape)
    mass = spanning_tree.flows_on(tree, neighbors, row[excess], -row[deficit])
    i, j = np.array(tree).T
    flows = mass > transport.TIE * np.minimum(row[excess][i], -row[deficit][j])
    return excess[i[flows]], deficit[j[flows]], mass[flows]


def _x_log_x(p):
    return p * np.log(p, out=np.zeros_like(p), where=p > 0.0)

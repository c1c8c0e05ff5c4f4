"""Vertices among the couplings that change the fewest records: few moves, or moves that tell much about X.

For each s, flows from excess to deficit form a transport polytope. I(X;Y) is convex in them, so it is largest at a
vertex, a choice of flows without cycles; to find the best is hard. It is sought from two starts by exchanges, in which
two flows of one s swap destinations, as long as one of them helps.
"""

import numpy as np

from linred._kernels import coupling
from linred.solvers import spanning_tree, transport

MOST_PAIRS = 2**22
"""Exchanges that are looked at together."""

HELPS = 1e-13
"""Nats: less is rounding, and might go on for ever."""


def sparse(delta):
    """Flows as `coupling.northwest` gives them, few of them: equal amounts first, then the large ones."""
    rows = []
    for row in delta:
        order = _equal_amounts_first(row)
        _, x, y, mass = coupling.northwest(np.ascontiguousarray(row[order])[None, :])
        plain = coupling.northwest(row[None, :])
        rows.append((order[x], order[y], mass) if mass.size < plain[3].size else plain[1:])
    return transport.collect(rows)


def _equal_amounts_first(row):
    """The symbols in an order in which the north-west corner meets equal excess and deficit at the same time."""
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
    """Flows with a large I(X;Y): the better of two climbs, from the north-west corner and from `sparse`."""
    climbs = [_climb(joint, delta, flows) for flows in (coupling.northwest(delta), sparse(delta))]
    # I(X;Y), up to what all couplings that change the fewest records have in common
    plans, _ = max(climbs, key=lambda climb: _x_log_x(climb[1]).sum())
    return transport.collect([_exact(row, plan) for row, plan in zip(delta, plans, strict=True)])


def _climb(joint, delta, flows):
    """Flows improved by exchanges until none helps: (plans, excess x deficit, for each s; P(x, y) for x != y)."""
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
        """Exchange flows of s and undo cycles as long as it helps; whether it did."""
        places, plan, weight = np.ix_(*_ends(delta[s])), plans[s], joint.p_s[s]
        moved = all_moved[places]
        before = _x_log_x(moved).sum()
        while _exchange(plan, moved, weight) or _undo_cycle(plan, moved, weight):
            pass
        all_moved[places] = moved
        return _x_log_x(moved).sum() > before + HELPS

    while any([improve(s) for s in np.flatnonzero(joint.p_s)]):  # a list: every s has its turn
        pass
    return plans, all_moved


def _ends(row):
    return np.flatnonzero(row > 0.0), np.flatnonzero(row < 0.0)


def _exchange(plan, moved, weight):
    """Let two flows swap their destinations where that helps most, in place; whether any does."""
    i, j = np.nonzero(plan)
    best, gain_of_best = None, HELPS
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
    """Turn a cycle of flows the way that helps more, until one of them ends, in place; whether there was a cycle."""
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
    """Take from the first, third, ... cell of a cycle what its least has, and add it to the others."""
    less, more = tuple(zip(*cycle[::2], strict=True)), tuple(zip(*cycle[1::2], strict=True))
    mass = plan[less].min()
    plan[less] -= mass
    plan[more] += mass
    moved[less] = np.maximum(moved[less] - weight * mass, 0.0)
    moved[more] += weight * mass


def _cycle(plan):
    """The cells of a cycle among the flows, in its order, or None."""
    forest = spanning_tree.Forest(*plan.shape)
    for i, j in np.argwhere(plan).tolist():
        if not forest.join(i, j):
            neighbors = spanning_tree.neighbors_on(forest.arcs, *plan.shape)
            return [(i, j)] + [forest.arcs[arc] for arc in spanning_tree.path_on(i, len(plan) + j, neighbors)]
    return None


def _exact(row, plan):
    """(x, y, mass) of a plan without cycles, its masses computed again from excess and deficit."""
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

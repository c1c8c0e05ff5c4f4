"""The cheapest way to turn P(x|s) into P(y|s) for each s, exactly, under any distortion.

For each s this is an optimal transport. What decides the method is the distortion d (errata 3):

- Triangle inequality, d(x,z) <= d(x,y) + d(y,z): what stays costs nothing and moving it never helps, so only the excess
  of P(x|s) over P(y|s) moves, to where there is a deficit. That changes the fewest records too.
  Otherwise all of P(x|s) may have to move.
- Monge property, d(x,y) + d(x',y') <= d(x,y') + d(x',y) for x < x', y < y': no two moves should cross, so the
  north-west corner is optimal, in linear time; the only optimum, where all are <. |i-j| has both properties, (i-j)^2
  the second only. `coupling.monge_margin` looks at neighbours, O(|X|^2): every other difference is a sum of theirs.

Where neither helps, a linear programme is solved by `lp`, and its answer is made exact here: flows are computed
again on its basis tree, and potentials on the same tree say how far from the optimum it can be. So it is too where d is
Monge with equalities but breaks the triangle inequality, max(0, |i-j| - 1) say: the corner is then one optimum of
many, and not the one that changes the fewest records.
"""

import numpy as np

from linred._kernels import coupling
from linred.solvers import lp, spanning_tree

SLACK = 2.0**-40
"""Relative to the costs compared: a triangle, or a reduced cost, violated by less is rounding."""

TIE = 2.0**-48
"""Relative to the smaller of the two symbols that a flow joins: a smaller flow is rounding. See csrc/coupling.h."""


def cheapest_flows(p, q, delta, d):
    """Flows from each row of p to that of q = p - delta that cost the least under d; of those, the fewest changes.

    Returns (flows, complete, gaps): flows as `coupling.northwest` gives them; whether they hold all of p or
    only what moves; and for each s a bound on how far its cost is above the optimum, 0.0 for closed forms.
    """
    exponent = max(0, int(np.frexp(d.max())[1]) - 900)
    if exponent:  # so that no sum of costs overflows
        d = np.ldexp(d, -exponent)
    monge, triangle = coupling.monge_margin(d), holds_triangle_inequality(d)
    if monge >= 0.0 and triangle:
        return coupling.northwest(delta), False, np.zeros(len(p))
    if monge > 0.0:
        return coupling.northwest(p, q), True, np.zeros(len(p))
    if triangle:
        rows = [_cheapest_moves(row, d) for row in delta]
    else:
        rows = [_cheapest_coupling(*marginals, d) for marginals in zip(p, q, strict=True)]
    flows = collect([moves for *moves, _ in rows])
    return flows, not triangle, np.ldexp([gap for *_, gap in rows], exponent)


def holds_triangle_inequality(d):
    """d(x,z) <= d(x,y) + d(y,z) for all x, y, z. O(|X|^2) where d is Monge, else O(|X|^3)."""
    if coupling.monge_margin(d) < 0.0:
        return coupling.shorter_detour(d, SLACK) is None
    # Monge with a zero diagonal: d(x,z) >= d(x,y) + d(y,z) for y between. So if the way from one end to the other costs
    # no more than all its steps, every way costs its steps, and no detour is cheaper.
    upward, downward = d.diagonal(1).sum(), d.diagonal(-1).sum()
    return bool(d[0, -1] * (1.0 - SLACK) <= upward and d[-1, 0] * (1.0 - SLACK) <= downward)


def _cheapest_moves(delta, d):
    """(x, y, mass, gap) from excess to deficit."""
    excess, deficit = np.flatnonzero(delta > 0.0), np.flatnonzero(delta < 0.0)
    if not (excess.size and deficit.size):  # rounding alone has no destination
        return excess[:0], excess[:0], delta[:0], 0.0
    supply, demand, cost = delta[excess], -delta[deficit], d[np.ix_(excess, deficit)]
    if coupling.monge_margin(cost) >= 0.0:
        _, x, y, mass = coupling.northwest(delta[None, :])
        return x, y, mass, 0.0
    arcs, mass, reduced_cost, _ = _exact_transport(supply, demand, cost)
    return excess[arcs[:, 0]], deficit[arcs[:, 1]], mass, _gap(arcs, mass, reduced_cost)


def _cheapest_coupling(p, q, d):
    """(x, y, mass, gap) from all of p to all of q; of the optimal couplings, one that changes the fewest records."""
    rows, columns = np.flatnonzero(p), np.flatnonzero(q)
    supply, demand, cost = p[rows], q[columns], d[np.ix_(rows, columns)]
    arcs, mass, reduced_cost, slack = _exact_transport(supply, demand, cost)
    tight = reduced_cost <= slack
    if tight.sum() > len(arcs):  # the flows on tight arcs, and only they, are optimal: choose among them
        changed = np.where(rows[:, None] == columns, 0.0, 1.0)
        never = 2.0 * changed.size  # dearer than any cycle of changes that one arc outside could save
        arcs, mass, _, _ = _exact_transport(supply, demand, np.where(tight, changed, never))
    return rows[arcs[:, 0]], columns[arcs[:, 1]], mass, _gap(arcs, mass, reduced_cost)


def _gap(arcs, mass, reduced_cost):
    """How far flows can be above the optimum: what they pay above the potentials, and what those overcharge."""
    paid, overcharge = reduced_cost[arcs[:, 0], arcs[:, 1]], max(0.0, -float(reduced_cost.min()))
    return max(0.0, float(paid @ mass) + overcharge * float(mass.sum()))


def _exact_transport(supply, demand, cost):
    """(arcs, mass, reduced costs, their slack) of an optimal transport, exact on its basis; only arcs with flow."""
    plan, u, v = lp.transport(supply, demand, cost)
    tree = spanning_tree.spanning_tree(plan, cost - u[:, None] - v)
    arcs, mass, reduced_cost, slack = _polish(tree, supply, demand, cost)
    return arcs[mass > 0.0], mass[mass > 0.0], reduced_cost, slack


def _polish(tree, supply, demand, cost):
    """(arcs, flows, reduced costs, their slack) of a basis tree optimal for these marginals, from one nearly so.

    A solver's tree is off by its tolerances: a flow may be below zero, or a reduced cost, above all where masses are
    tiny or costs far apart. Pivots of the transport simplex, first dual, then primal, take it the rest of the way;
    mostly there are none. Flows and potentials are sums along the tree, in integers and so without rounding.
    """
    n_x = supply.size
    dust = TIE * np.minimum(supply[:, None], demand)
    for _ in range(100 * (n_x + demand.size)):
        neighbors = spanning_tree.neighbors_on(tree, *cost.shape)
        arcs = np.array(tree, np.int64).reshape(-1, 2)
        mass = spanning_tree.flows_on(tree, neighbors, supply, demand)
        mass[np.abs(mass) <= dust[arcs[:, 0], arcs[:, 1]]] = 0.0
        reduced_cost, slack = _reduced_costs(neighbors, cost)
        if mass.min() < 0.0:
            leaving = int(np.argmin(mass))
            short = spanning_tree.part_of(tree[leaving][0], leaving, neighbors)
            candidates = np.where(~short[:n_x, None] & short[n_x:], reduced_cost, np.inf)
            if np.isinf(candidates).all():  # the sums differ by more than these symbols have: nothing can carry it
                return arcs, np.maximum(mass, 0.0), reduced_cost, slack
        elif (reduced_cost < -slack).any():
            candidates = np.where(reduced_cost < -slack, reduced_cost, np.inf)
            i, j = np.unravel_index(np.argmin(candidates), cost.shape)
            path = spanning_tree.path_on(int(i), n_x + int(j), neighbors)
            leaving = min(path[::2], key=mass.__getitem__)  # every other arc gives what the entering one takes
        else:
            return arcs, mass, reduced_cost, slack
        tree[leaving] = tuple(int(i) for i in np.unravel_index(np.argmin(candidates), cost.shape))
    raise RuntimeError(f"no optimal basis found for a transport of {cost.shape[0]} x {cost.shape[1]}")


def _reduced_costs(neighbors, cost):
    """cost - u - v with potentials u of the x and v of the y that sum to the cost on every arc of the tree; and what
    rounding may make of 0 there."""
    n_x, potential = cost.shape[0], [0] * len(neighbors)
    for node, _, other in spanning_tree.walk(0, neighbors):
        i, j = min(node, other), max(node, other) - n_x
        potential[other] = spanning_tree.as_integers([float(cost[i, j])])[0] - potential[node]
    u, v = spanning_tree.as_doubles(potential[:n_x])[:, None], spanning_tree.as_doubles(potential[n_x:])
    return cost - u - v, SLACK * np.maximum(cost, np.maximum(np.abs(u), np.abs(v)))


def collect(rows):
    """Flows from the (x, y, mass) of each s: ordered by x then y, as `tables_from_flows` takes them."""
    orders = [np.lexsort((y, x)) for x, y, _ in rows]
    indptr = np.cumsum([0, *(order.size for order in orders)], dtype=np.int64)
    ordered = [[part[order] for part in row] for row, order in zip(rows, orders, strict=True)]
    x, y, mass = (np.concatenate(parts) for parts in zip(*ordered, strict=True))
    return indptr, x.astype(np.int32), y.astype(np.int32), mass

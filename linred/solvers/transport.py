"""Exact optimal transport from P(x|s) to P(y|s) for each s, under any distortion.

The properties of the distortion d decide the method (errata 3):

- Triangle inequality, d(x,z) <= d(x,y) + d(y,z): mass that stays costs nothing and moving it never helps. So only the
  excess of P(x|s) over P(y|s) moves, to the symbols with a deficit, which also changes the fewest records. Without the
  triangle inequality all of P(x|s) may have to move.
- Monge property, d(x,y) + d(x',y') <= d(x,y') + d(x',y) for x < x', y < y': no two moves need to cross, so the
  north-west corner rule gives an optimal plan in linear time. It is the only optimum if all inequalities are strict.
  |i-j| has both properties, (i-j)^2 only the second. `coupling.monge_margin` tests neighbours only, O(|X|^2), because
  every other difference is a sum of theirs.

If neither property helps, `lp` solves a linear programme and this module makes the plan exact: it recomputes the flows
on the basis tree, and potentials on the same tree bound the distance from the optimum. The same is done if d is Monge
with equalities but violates the triangle inequality, such as max(0, |i-j| - 1): the north-west corner is then one of
many optima, and not the one that changes the fewest records.
"""

import numpy as np

from linred._kernels import coupling
from linred.solvers import lp, spanning_tree

SLACK = 2.0**-40
"""Tolerance, relative to the costs compared, for triangle inequalities and reduced costs."""

TIE = 2.0**-48
"""Flows below this multiple of the smaller of the two masses they connect are rounding noise. See csrc/coupling.h."""


def cheapest_flows(p, q, delta, d):
    """Return the transport plans from each row of p to that of q = p - delta with the least cost under d.

    Among plans of equal cost, those that change the fewest records. Returns (flows, complete, gaps): flows in the
    format of `coupling.northwest`; whether they hold all of p or only the moved mass; and for each s an upper bound on
    the distance of its cost from the optimum, 0.0 for closed forms.
    """
    d, exponent = _scaled(d)
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


def cheapest_whole_flows(supply, demand, d):
    """Do as `cheapest_flows` in integers, exactly: return ([(x, y, mass) of each row], complete, gaps).

    supply, demand : integers below 2^63, |S| x |X|, with equal sums of rows. Gaps are in the unit of mass.
    """
    d, exponent = _scaled(d)
    monge, triangle = coupling.monge_margin(d), holds_triangle_inequality(d)
    rows = []
    for a, b in zip(supply, demand, strict=True):
        if triangle:
            rows.append(_cheapest_moves(a - b, d))
        elif monge > 0.0 or not a.any():
            rows.append((*whole_northwest(a, b), 0.0))
        else:
            rows.append(_cheapest_coupling(a, b, d))
    return [moves for *moves, _ in rows], not triangle, np.ldexp([gap for *_, gap in rows], exponent)


def whole_northwest(supply, demand):
    """Return (x, y, mass) of the north-west corner rule for integers with equal sums, which must be below 2^63."""
    x, y = np.flatnonzero(supply), np.flatnonzero(demand)
    ends_x, ends_y = np.cumsum(supply[x]), np.cumsum(demand[y])
    ends = np.union1d(ends_x, ends_y)
    return x[np.searchsorted(ends_x, ends)], y[np.searchsorted(ends_y, ends)], np.diff(ends, prepend=0)


def whole_flows_near(plan, supply, demand):
    """Return (x, y, mass) that meet supply and demand in integers, on the arcs of a plan in doubles as far as possible.

    plan : |X| x |X|, doubles in any unit.
    """
    x, y = np.flatnonzero(supply), np.flatnonzero(demand)
    if not x.size:
        return x, x, supply[:0]
    cost = np.zeros((x.size, y.size))
    tree = spanning_tree.spanning_tree(plan[np.ix_(x, y)], cost)
    arcs, mass, _, _ = _polish(tree, supply[x], demand[y], cost)
    return x[arcs[:, 0]][mass > 0], y[arcs[:, 1]][mass > 0], mass[mass > 0]


def _scaled(d):
    """Return (d divided by 2^exponent, exponent), so that no sum of costs overflows."""
    exponent = max(0, int(np.frexp(d.max())[1]) - 900)
    return np.ldexp(d, -exponent) if exponent else d, exponent


def holds_triangle_inequality(d):
    """Return whether d(x,z) <= d(x,y) + d(y,z) for all x, y, z. O(|X|^2) if d is Monge, else O(|X|^3)."""
    if coupling.monge_margin(d) < 0.0:
        return coupling.shorter_detour(d, SLACK) is None
    # Monge with a zero diagonal implies d(x,z) >= d(x,y) + d(y,z) for y between x and z. So if the distance between the
    # two ends is no more than the sum of the steps, every distance is the sum of its steps, and no detour is shorter.
    upward, downward = d.diagonal(1).sum(), d.diagonal(-1).sum()
    return bool(d[0, -1] * (1.0 - SLACK) <= upward and d[-1, 0] * (1.0 - SLACK) <= downward)


def _cheapest_moves(delta, d):
    """Return (x, y, mass, gap) of the optimal transport from excess to deficit, in doubles or in integers."""
    excess, deficit = np.flatnonzero(delta > 0), np.flatnonzero(delta < 0)
    if not (excess.size and deficit.size):  # only rounding noise
        return excess[:0], excess[:0], delta[:0], 0.0
    supply, demand, cost = delta[excess], -delta[deficit], d[np.ix_(excess, deficit)]
    if coupling.monge_margin(cost) >= 0.0:
        if delta.dtype.kind != "f":
            return *whole_northwest(np.maximum(delta, 0), np.maximum(-delta, 0)), 0.0
        _, x, y, mass = coupling.northwest(delta[None, :])
        return x, y, mass, 0.0
    arcs, mass, reduced_cost, _ = _exact_transport(supply, demand, cost)
    return excess[arcs[:, 0]], deficit[arcs[:, 1]], mass, _gap(arcs, mass, reduced_cost)


def _cheapest_coupling(p, q, d):
    """Return (x, y, mass, gap) of an optimal transport from p to q with the fewest changed records."""
    rows, columns = np.flatnonzero(p), np.flatnonzero(q)
    supply, demand, cost = p[rows], q[columns], d[np.ix_(rows, columns)]
    arcs, mass, reduced_cost, slack = _exact_transport(supply, demand, cost)
    tight = reduced_cost <= slack
    if tight.sum() > len(arcs):  # several plans are optimal, exactly those on tight arcs: choose among them
        changed = np.where(rows[:, None] == columns, 0.0, 1.0)
        prohibitive = 2.0 * changed.size  # no cycle through an arc that is not tight saves as much
        arcs, mass, _, _ = _exact_transport(supply, demand, np.where(tight, changed, prohibitive))
    return rows[arcs[:, 0]], columns[arcs[:, 1]], mass, _gap(arcs, mass, reduced_cost)


def _gap(arcs, mass, reduced_cost):
    """Return an upper bound on the distance from the optimum: the reduced costs paid plus the dual infeasibility."""
    paid, infeasibility = reduced_cost[arcs[:, 0], arcs[:, 1]], max(0.0, -float(reduced_cost.min()))
    return max(0.0, float(paid @ mass) + infeasibility * float(mass.sum()))


def _exact_transport(supply, demand, cost):
    """Return (arcs with flow, mass, reduced costs, tolerance on them) of an optimal transport, exact on its basis."""
    plan, u, v = lp.transport(supply.astype(np.float64), demand.astype(np.float64), cost)
    tree = spanning_tree.spanning_tree(plan, cost - u[:, None] - v)
    arcs, mass, reduced_cost, slack = _polish(tree, supply, demand, cost)
    return arcs[mass > 0.0], mass[mass > 0.0], reduced_cost, slack


def _polish(tree, supply, demand, cost):
    """Return (arcs, flows, reduced costs, tolerance on them) of an optimal basis tree, from a nearly optimal one.

    The tree of a solver is optimal only to the solver's tolerance: a flow or a reduced cost may be negative, in
    particular if masses are tiny or costs differ widely. Pivots of the transport simplex, first dual, then primal, make
    it optimal; mostly none are needed. Flows and potentials are sums along the tree, computed in integers and therefore
    without rounding.
    """
    n_x = supply.size
    is_whole = supply.dtype.kind != "f"
    dust = (0 if is_whole else TIE) * np.minimum(supply[:, None], demand)
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
            if np.isinf(candidates).all():  # the totals differ by more than the mass of these symbols
                return arcs, np.maximum(mass, 0.0), reduced_cost, slack
        elif (reduced_cost < -slack).any():
            candidates = np.where(reduced_cost < -slack, reduced_cost, np.inf)
            i, j = np.unravel_index(np.argmin(candidates), cost.shape)
            path = spanning_tree.path_on(int(i), n_x + int(j), neighbors)
            leaving = min(path[::2], key=mass.__getitem__)  # every other arc on the path loses the entering flow
        else:
            return arcs, mass, reduced_cost, slack
        tree[leaving] = tuple(int(i) for i in np.unravel_index(np.argmin(candidates), cost.shape))
    raise RuntimeError(f"no optimal basis tree found for a transport problem of {cost.shape[0]} x {cost.shape[1]}")


def _reduced_costs(neighbors, cost):
    """Return (cost - u - v, bound of its rounding error on the tree).

    The potentials u of the x and v of the y sum to the cost on every arc of the tree.
    """
    n_x, potential = cost.shape[0], [0] * len(neighbors)
    for node, _, other in spanning_tree.walk(0, neighbors):
        i, j = min(node, other), max(node, other) - n_x
        potential[other] = spanning_tree.as_integers([float(cost[i, j])])[0] - potential[node]
    u, v = spanning_tree.as_doubles(potential[:n_x])[:, None], spanning_tree.as_doubles(potential[n_x:])
    return cost - u - v, SLACK * np.maximum(cost, np.maximum(np.abs(u), np.abs(v)))


def collect(rows):
    """Return the (x, y, mass) of each s as one set of flows, sorted by x then y, as `tables_from_flows` expects."""
    orders = [np.lexsort((y, x)) for x, y, _ in rows]
    indptr = np.cumsum([0, *(order.size for order in orders)], dtype=np.int64)
    ordered = [[part[order] for part in row] for row, order in zip(rows, orders, strict=True)]
    x, y, mass = (np.concatenate(parts) for parts in zip(*ordered, strict=True))
    return indptr, x.astype(np.int32), y.astype(np.int32), mass

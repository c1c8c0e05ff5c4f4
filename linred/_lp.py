"""Linear programmes: the only caller of SciPy's HiGHS and of POT."""

import importlib.util

import numpy as np

HIGHS_TOLERANCE = 1e-10
"""The tightest that HiGHS takes, on a problem scaled to total mass one and largest cost one."""

COST_CAP = 1e5
"""Times the median cost: dearer arcs cost just that. What a cap may spoil is mended on the basis tree."""


def transport(supply, demand, cost):
    """An optimal transport as (plan, potentials of supply, of demand): near a vertex, not exact.

    `linred.transport` makes it exact. By POT's network simplex where it is installed, else by HiGHS.
    """
    # Tolerances are relative to the largest cost: cap what stands for "never", or it would make all others equal.
    some = cost[cost > 0.0]
    scale = float(min(some.max(), COST_CAP * np.median(some))) if some.size else 1.0
    mass = float(supply.sum())
    supply, demand, cost = supply / mass, demand / demand.sum(), np.minimum(cost, scale) / scale
    solve = _transport_by_pot if _has_pot() else _transport_by_highs
    plan, u, v = solve(supply, demand, cost)
    return plan * mass, u * scale, v * scale


def _has_pot():
    return importlib.util.find_spec("ot") is not None


def _transport_by_pot(supply, demand, cost):
    from ot.lp import emd

    plan, log = emd(supply, demand, np.ascontiguousarray(cost), numItermax=10**9, log=True, check_marginals=False)
    if log["warning"] is not None:
        return _transport_by_highs(supply, demand, cost)
    return plan, log["u"], log["v"]


def _transport_by_highs(supply, demand, cost):
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    n_x, n_y = cost.shape
    arcs = np.arange(n_x * n_y)
    ends = np.concatenate([arcs // n_y, n_x + arcs % n_y])  # each arc is in the equation of its x and of its y
    equations = csr_array((np.ones(ends.size), (ends, np.tile(arcs, 2))), shape=(n_x + n_y, arcs.size))
    # One equation follows from the others; with it, sums that differ by an ulp would be infeasible.
    kept = np.delete(np.arange(n_x + n_y), n_x + np.argmax(demand))
    result = linprog(
        cost.ravel(),
        A_eq=equations[kept],
        b_eq=np.concatenate([supply, demand])[kept],
        method="highs-ds",
        options={
            "primal_feasibility_tolerance": HIGHS_TOLERANCE,
            "dual_feasibility_tolerance": HIGHS_TOLERANCE,
        },
    )
    if result.status != 0:
        raise RuntimeError(f"HiGHS did not solve a transport of {n_x} x {n_y}: {result.message}")
    potential = np.zeros(n_x + n_y)
    potential[kept] = result.eqlin.marginals
    return result.x.reshape(cost.shape), potential[:n_x], potential[n_x:]

"""Linear programmes: the only module that calls SciPy's HiGHS and POT."""

import importlib.util
import logging
import math
import time
from typing import NamedTuple

import numpy as np

log = logging.getLogger("linred")

TOLERANCES = ("primal_feasibility_tolerance", "dual_feasibility_tolerance")
HIGHS_TOLERANCE, DEFAULT_TOLERANCE = 1e-10, 1e-7
"""The smallest tolerance that HiGHS accepts, for a problem with total mass one and largest cost one; its default."""

COST_CAP = 1e5
"""Costs of arcs are capped at this multiple of the median cost. Pivots on the basis tree then correct the plan."""

TIME_IS_OVER = "the time limit was reached (raise time_limit=)"

FIRST_TIME_LIMIT = 300.0
"""Seconds for the first attempt. HiGHS spends up to a hundredth of its time limit, or 1,000 seconds without a limit, on
a search for dependent equations. In large programmes that search takes longer than everything else."""

INFEASIBLE = 2
"""SciPy's status of a programme without a solution."""

LARGE = 2000
"""Number of variables above which the interior-point method of HiGHS is faster than its dual simplex."""


class Rows:
    """Equations or inequalities with their right-hand sides, built term by term."""

    def __init__(self):
        self._right, self._terms, self.n_rows = [], [], 0

    def add(self, right):
        """Add rows; return their numbers."""
        self._right.append(right)
        self.n_rows += len(right)
        return np.arange(self.n_rows - len(right), self.n_rows)

    def add_some(self, which, right):
        """Add rows where `which` is True; return their numbers, and -1 elsewhere."""
        numbers = np.full(which.size, -1)
        numbers[which] = self.add(np.broadcast_to(right, which.shape)[which])
        return numbers

    def term(self, row, variable, value):
        """Add value * variable to a row. The arguments broadcast; terms of row -1 are ignored."""
        parts = np.broadcast_arrays(row, variable, value)
        written = parts[0].ravel() >= 0
        self._terms.append([part.ravel()[written] for part in parts])

    def matrix(self, n_variables):
        """Return (A, b) with sparse A in the form that `linprog` accepts; (None, None) if there are no rows."""
        from scipy.sparse import csr_array

        if not self.n_rows:
            return None, None
        row, variable, value = (np.concatenate(part) for part in zip(*self._terms, strict=True))
        return csr_array((value, (row, variable)), shape=(self.n_rows, n_variables)), np.concatenate(self._right)


class NotSolvedError(RuntimeError):
    """The time limit was reached, or HiGHS failed."""


class InfeasibleError(NotSolvedError):
    """Nothing satisfies the equations and inequalities."""


class Solution(NamedTuple):
    """The solution of a linear programme, with dual prices: the rate at which the cost grows with a right-hand side.

    bound : no feasible x costs less, by weak duality and whatever the solver did; -inf if a variable with a negative
        reduced cost has no upper limit.
    """

    x: np.ndarray
    cost: float
    of_equations: np.ndarray
    of_inequalities: np.ndarray
    bound: float


class LinearProgram:
    """min cost @ x subject to equations and inequalities (<=), built term by term."""

    def __init__(self):
        self._parts, self._n_variables = [], 0
        self.equations, self.inequalities = Rows(), Rows()

    def variables(self, cost, low=0.0, high=math.inf):
        """Add variables; return their numbers."""
        cost = np.asarray(cost, float)
        self._parts.append((cost, np.full(cost.size, low), np.full(cost.size, high)))
        self._n_variables += cost.size
        return np.arange(self._n_variables - cost.size, self._n_variables)

    def solve(self, time_limit=None):
        """Return a `Solution`, a vertex that is feasible and optimal to about HIGHS_TOLERANCE.

        Raise NotSolvedError if there is none within the time limit.
        """
        from scipy.optimize import linprog

        cost, low, high = (np.concatenate(part) for part in zip(*self._parts, strict=True))
        bounds = np.stack([low, high], axis=1)
        a_eq, b_eq = self.equations.matrix(cost.size)
        a_ub, b_ub = self.inequalities.matrix(cost.size)
        scale = float(cost.max(initial=0.0)) or 1.0
        end = time.monotonic() + (math.inf if time_limit is None else time_limit)
        n_rows = self.equations.n_rows, self.inequalities.n_rows
        log.info("HiGHS: %d variables, %d equations, %d inequalities", cost.size, *n_rows)
        first, second = ("highs-ipm", "highs-ds") if cost.size > LARGE else ("highs-ds", "highs-ipm")
        attempts = [(first, HIGHS_TOLERANCE), (second, HIGHS_TOLERANCE), (first, DEFAULT_TOLERANCE)]
        patience = FIRST_TIME_LIMIT
        while attempts:
            begin, (method, tolerance) = time.monotonic(), attempts[0]
            if begin >= end:
                raise NotSolvedError(TIME_IS_OVER)
            limit = min(patience, end - begin)
            options = dict.fromkeys(TOLERANCES, tolerance) | {"time_limit": limit if limit < math.inf else None}
            result = linprog(cost / scale, a_ub, b_ub, a_eq, b_eq, bounds, method, options=options)
            log.info("%s: %s in %.1f s", method, result.message.split("(")[0].strip(), time.monotonic() - begin)
            if result.status == 0:
                prices = [rows.marginals * scale for rows in (result.eqlin, result.ineqlin)]
                prices[1] = np.minimum(prices[1], 0.0)
                bound = _dual_bound(cost, low, high, zip((a_eq, a_ub), (b_eq, b_ub), prices, strict=True))
                return Solution(np.maximum(result.x, low), float(cost @ result.x), *prices, bound)
            if result.status == 1:  # the time limit of the attempt was reached: repeat it without one
                patience = math.inf
            else:
                del attempts[0]
        kind = InfeasibleError if result.status == INFEASIBLE else NotSolvedError
        raise kind(f"HiGHS did not solve a linear programme of {cost.size} variables: {result.message}")


def _dual_bound(cost, low, high, constraints):
    """Return the least of cost @ x - sum of prices * (a @ x - b) over low <= x <= high.

    constraints : (a, b, prices), one for the equations and one for the inequalities.
    """
    reduced, bound = cost.copy(), 0.0
    for a, b, prices in constraints:
        if a is not None:
            reduced -= a.T @ prices
            bound += math.fsum(b * prices)
    end = np.where(reduced > 0.0, low, np.where(reduced < 0.0, high, 0.0))
    return bound + math.fsum(reduced * end)


def transport(supply, demand, cost):
    """Return (transport plan, potentials of supply, potentials of demand) of an optimal transport, near a vertex.

    The result is not exact; `linred.solvers.transport` makes it so. POT's network simplex is used if it is installed,
    HiGHS otherwise.
    """
    # Tolerances are relative to the largest cost. Without a cap, a prohibitive cost would make all others look equal.
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
    ends = np.concatenate([arcs // n_y, n_x + arcs % n_y])  # an arc is in the equation of its x and in that of its y
    equations = csr_array((np.ones(ends.size), (ends, np.tile(arcs, 2))), shape=(n_x + n_y, arcs.size))
    # One equation depends on the others. With it, totals that differ by an ulp would make the programme infeasible.
    kept = np.delete(np.arange(n_x + n_y), n_x + np.argmax(demand))
    sums, options = np.concatenate([supply, demand])[kept], dict.fromkeys(TOLERANCES, HIGHS_TOLERANCE)
    result = linprog(cost.ravel(), A_eq=equations[kept], b_eq=sums, method="highs-ds", options=options)
    if result.status != 0:
        raise RuntimeError(f"HiGHS did not solve a transport problem of {n_x} x {n_y}: {result.message}")
    potential = np.zeros(n_x + n_y)
    potential[kept] = result.eqlin.marginals
    return result.x.reshape(cost.shape), potential[:n_x], potential[n_x:]

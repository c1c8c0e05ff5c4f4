"""A curve of `linred.tradeoff` against `linred.optimal` called once for each of its points, on the same grid.

For a grid of shares, `tradeoff` starts the search for each point from the optima of the points before. For a grid of
limits it shares nothing: SciPy does not let HiGHS start from an earlier basis, and our interior-point method takes more
steps from an earlier solution than from its own start. `tradeoff` computes all measures of a point, the rival none.
"""

from functools import partial

import numpy as np

import linred
from benchmarks.common import compare
from benchmarks.data import adult, counts

SHARES, LIMITS = np.geomspace(0.005, 0.3, 12), np.linspace(0.2, 3.0, 14)


def one_by_one(joint, **grid):
    ((name, points),) = grid.items()
    return [linred.optimal(joint, **{name: float(point)}) for point in points]


def same(joint, shares):
    """Check that both find the same LDP, to the tolerance of each search."""
    curve = linred.tradeoff(joint, max_changed=shares, mechanisms="optimal")["optimal"]["ldp"]
    cold = [linred.ldp(mechanism.released) for mechanism in one_by_one(joint, max_changed=shares)]
    assert np.abs(curve - cold).max() <= 1e-6, (curve, cold)


def rows():
    flights = counts("flights_carrier_dest")
    cases = (
        ("Adult, 7 x 15, 12 shares", adult(), {"max_changed": SHARES}, 5),
        ("flights, 16 x 105, 12 shares", flights, {"max_changed": SHARES}, 5),
        ("Adult, 7 x 15, 14 LDP limits", adult(), {"ldp": LIMITS}, 9),
        ("flights, 16 x 105, 14 LDP limits", flights, {"ldp": LIMITS}, 9),
    )
    for what, joint, grid, rounds in cases:
        if "max_changed" in grid:
            same(joint, grid["max_changed"])
        curve = partial(linred.tradeoff, joint, mechanisms="optimal", **grid)
        cold = partial(one_by_one, joint, **grid)
        yield compare(what, curve, "`optimal`, point by point", cold, rounds=rounds)

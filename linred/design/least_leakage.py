"""Targets by utility: the least leakage among the mechanisms that change at most a share of the records.

The least cost of a mechanism, a share of changed records or an expected distortion, decreases as a limit grows. So a
search finds the smallest limit whose optimum costs no more than the share; each of its steps computes one optimum.
"""

import dataclasses
import math
from collections.abc import Callable
from decimal import ROUND_CEILING, Context
from functools import partial
from typing import NamedTuple

from linred._common import validation
from linred.errors import CannotMeetError
from linred.mechanism.mechanism import Mechanism
from linred.privacy import metrics

LEAST = ("ldp", "log_lift", "max_lift")
"""The figures that can be made as small as possible."""

TOLERANCE = 1e-6
"""Nats. The returned limit is at most this much above the smallest one."""

FIRST = 16.0
"""Nats. The search starts below this limit; larger limits save almost no changes and are not tried."""


class Share(NamedTuple):
    """The largest cost of a mechanism: a share of changed records, or an expected distortion."""

    name: str  # of the argument
    most: float
    cost: Callable[[Mechanism], float]

    @classmethod
    def of(cls, max_changed, max_distortion, distortion, least, alpha=None):
        """Return the checked `Share` of the arguments of `optimal`, or None if neither limit is given."""
        if max_changed is None and max_distortion is None:
            if least is not None:
                raise ValueError(f"least = {validation.shortened(least)} needs max_changed= or max_distortion=")
            return None
        if least is not None and least not in LEAST:
            raise ValueError(f"least = {validation.shortened(least)} is not one of {', '.join(map(repr, LEAST))}")
        name = "max_changed" if max_distortion is None else "max_distortion"
        for other, value in (("max_changed", max_changed), ("alpha", alpha)):
            if other != name and value is not None:
                raise ValueError(f"{name}= and {other}= are both given: give one of them")
        if (max_distortion is None) != (distortion is None):
            wanted = "max_changed= counts changed records, not their distortion: give max_distortion="
            raise ValueError("max_distortion= needs distortion=" if distortion is None else wanted)
        if max_distortion is None:
            return cls(name, validation.number(name, max_changed, 0.0, 1.0), Mechanism.dtv)
        most = validation.number(name, max_distortion, 0.0, math.inf)
        return cls(name, most, partial(Mechanism.expected_distortion, d=distortion))


def least_leakage(least, target, share, optimum, known=None):
    """Return the optimum for the smallest limit on a figure that costs no more than a share.

    Parameters
    ----------
    least : name in `LEAST`.
    target : settled `Target` that the mechanism must meet besides.
    share : `Share`, the largest cost.
    optimum : function of a settled target that returns the mechanism with the least cost; raises a CannotMeetError if
        there is none.
    known : dict, optional
        What earlier calls computed, with any shares and otherwise the same arguments: {limit: (mechanism, cost)}. It
        narrows the search, and receives what this call computes.

    Guarantee
    ---------
    The cost of the result is at most the share. Its limit is at most TOLERANCE above the smallest one for which
    `optimum` has such a cost, and is part of its target. About a dozen optima, half as many if some are known.
    """
    limit, known = getattr(target, least), {} if known is None else known

    def at(figure):
        """Return (mechanism, cost) for a limit; (None, inf) if nothing meets it."""
        if figure not in known:
            try:
                mechanism = optimum(dataclasses.replace(target, **{least: min(figure, limit)}))
                known[figure] = mechanism, share.cost(mechanism)
            except CannotMeetError:
                if figure == math.inf:
                    raise
                known[figure] = None, math.inf
        return known[figure]

    loosest, cost = at(math.inf)
    if cost > share.most:
        raise CannotMeetError(
            f"{share.name} = {share.most:g} is too small for the target: the least that is feasible is "
            f"{figure_above(cost)}"
        )
    high = min(limit, FIRST, getattr(metrics, least)(loosest.released))
    if at(high)[1] > share.most:
        return loosest
    if at(0.0)[1] > share.most:
        _search(at, share.most, known)
    return known[_smallest(known, share.most)][0]


def _smallest(known, most):
    """Return the smallest known limit that costs no more than `most`."""
    return min(figure for figure, (_, cost) in known.items() if cost <= most)


def _search(at, most, known):
    """Find the limit at which the cost is `most`, between known limits that cost more and no more (Brent's method)."""
    from scipy.optimize import brentq

    def excess(limit):
        """Return the log of cost / `most`, which is nearly linear in the limit; finite where nothing meets it."""
        cost = at(limit)[1]
        return math.log(min(max(cost / most, 1e-12), 1e12)) if most > 0.0 else min(cost, 1.0)

    high = _smallest(known, most)
    low = max(figure for figure, (_, cost) in known.items() if figure < high and cost > most)
    if high - low > TOLERANCE:
        root = brentq(excess, low, high, xtol=0.25 * TOLERANCE)
        excess(root)
        excess(min(high, root + 0.5 * TOLERANCE))


def figure_above(cost):
    """Return a cost with six digits, rounded up, so that a limit as large as the text is feasible."""
    return f"{Context(6, ROUND_CEILING).create_decimal_from_float(float(cost)).normalize():f}"

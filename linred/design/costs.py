"""Costs of mechanisms, and the cheapest of those that a linear programme and other methods find."""

import math
import warnings

import numpy as np

from linred.errors import CannotMeetError, NotOptimalWarning
from linred.solvers import lp

GOOD, NOTABLE = 1e-9, 1e-6
"""Gaps relative to the cost of a change: up to GOOD no other mechanism is tried, above NOTABLE a warning is issued."""

NOT_EXACT = "the linear programme was not solved accurately enough for these targets, symbols and costs"

CAP = 1e5
"""Ratio to the cheapest change at which the first linear programme caps all costs."""


class Costs:
    """A distortion (None for Hamming): the cost of a mechanism, and the cost matrix of a linear programme."""

    def __init__(self, distortion):
        self.distortion = distortion
        self.d = None if distortion is None or _is_hamming(distortion) else distortion
        some = np.ones(1) if distortion is None else distortion[distortion > 0.0]
        self.costliest = float(some.max(initial=0.0)) or 1.0
        self.cheapest = float(some.min(initial=self.costliest))

    def caps(self):
        """Yield increasing caps on the costs in a linear programme.

        A solver's tolerance is relative to the largest cost, so a prohibitive cost would make all others look equal.
        """
        ratio = CAP
        while (cap := ratio * self.cheapest) < self.costliest:
            yield cap
            ratio *= ratio
        yield self.costliest

    def among(self, x, cap):
        """Return the capped costs between the symbols `x`, scaled so that the cap is one."""
        return None if self.d is None else np.minimum(self.d[np.ix_(x, x)], cap) / cap

    def of(self, mechanism):
        return mechanism.dtv() if self.distortion is None else mechanism.expected_distortion(self.distortion)

    def hides(self, cap, mechanism):
        """Return whether the cap makes the mechanism look cheaper than it is."""
        if cap >= self.costliest:
            return False
        above = mechanism.expected_distortion(np.maximum(self.distortion - cap, 0.0))
        return above > GOOD * self.unit(self.of(mechanism))

    def unit(self, cost):
        """Return the unit of gaps: the cost of the cheapest change, or of the whole mechanism if that is larger."""
        return max(self.cheapest, cost)

    def noted(self, mechanism, bound):
        """Return the mechanism with its distortion and its gap to the lower bound."""
        return mechanism.replace(distortion=self.distortion, gap=max(0.0, self.of(mechanism) - bound))


def cheapest(costs, attempt, others, requirement, inexact=NOT_EXACT):
    """Return the cheapest known mechanism with its gap; warn if the gap is notable.

    attempt : function of a cap on the costs: (mechanism, lower bound of the cost, whether the solver finished); may
        raise.
    others : function that returns (mechanisms that need no linear programme, lower bound of the cost).
    requirement : text for the warning: the target or alpha of all these mechanisms.
    inexact : text for the warning: why the gap is notable although the solver finished; None for no warning.
    """
    known, bound, trouble = [], 0.0, None
    for cap in costs.caps():
        try:
            mechanism, least, finished = attempt(cap)
        except lp.InfeasibleError:
            raise CannotMeetError(
                f"no mechanism meets {requirement}: the limits exclude one another; raise max_changed_by_s= or another "
                "limit"
            ) from None
        except (lp.NotSolvedError, CannotMeetError) as error:
            trouble = str(error)
            break
        known.append(mechanism)
        bound, trouble = max(bound, least), None if finished else lp.TIME_IS_OVER
        if trouble or not costs.hides(cap, mechanism):
            break
    cost = min(map(costs.of, known), default=math.inf)
    if trouble or cost - bound > GOOD * costs.unit(cost):
        more, least = others()
        known, bound = known + more, max(bound, least)
    if not known:
        raise CannotMeetError(f"no mechanism in 64-bit tables was found that meets {requirement}: {trouble}")
    best = costs.noted(min(known, key=costs.of), bound)
    cost = costs.of(best)
    if best.gap > (GOOD if trouble else NOTABLE) * costs.unit(cost) and (trouble or inexact):
        warnings.warn(
            f"{trouble or inexact}: the mechanism returned ({best.described()}) meets {requirement} at a cost of "
            f"{cost:.6g}, at most {best.gap:.2g} above the optimum",
            NotOptimalWarning,
            stacklevel=5,
        )
    return best


def _is_hamming(d):
    """Return whether every change costs the same."""
    others = d[~np.eye(len(d), dtype=bool)]
    return bool(others.size and others[0] > 0.0 and (others == others[0]).all())

"""`linred.selective`: selective reduction, which moves only the extreme lifts of each x, only as far as needed.

The paper names it as its first future direction. Each x has an interval of lifts [L, e^eps L] such that the mass cut
off above equals the mass missing below, so that P(x) is preserved. Lifts outside are moved to the ends of the interval.
The sums of the rows are then off; the differences are spread over the slack that the intervals leave, along rows and
columns in turn, until both sums are right. Each pass is linear in |S||X|.
"""

from contextlib import suppress
from functools import partial

import numpy as np

from linred._common import validation
from linred._common.types import LabelMatrix, Prefer
from linred.design.closed_form import non_markov
from linred.design.coupling import chosen, meeting
from linred.distribution.joint import Joint
from linred.errors import CannotMeetError
from linred.mechanism.mechanism import Mechanism
from linred.privacy.comparisons import of_lifts
from linred.privacy.takes_target import takes_target
from linred.privacy.target import Target
from linred.solvers.constraints import Limits
from linred.solvers.exact_sums import CLOSE, with_both_means, with_exact_sums


@takes_target(meets=("ldp", "log_lift", "max_lift", "min_lift"))
def selective(
    joint: Joint, *, target: Target, distortion: LabelMatrix | None = None, prefer: Prefer | None = None
) -> Mechanism:
    """Return a near-optimal mechanism without a linear programme, for alphabets that are too large for `optimal`.

    It uses S when sampling.

    Parameters
    ----------
    joint : Joint
        P(S, X).
    ldp, log_lift, max_lift, min_lift : float, optional
        Limits of a `linred.Target` in nats, one or several.
    distortion : matrix, mapping, function, "absolute" or "squared", optional
        Nonnegative costs, 0 for keeping a symbol, minimised by the transport plans; see `non_markov`.
    prefer : {"information", "sparse", "smooth"}, optional
        Which of the couplings that change the fewest records to return; see `non_markov`.

    Guarantee
    ---------
    The sampled integers meet the target, and P_Y equals P_X to 1e-12, as for `optimal`. The cost is at most that of
    `non_markov`, which is returned in the rare case that it is cheaper. `gap` bounds how many more records change than
    under the best mechanism with P_Y = P_X; with a distortion no lower bound is known, and `gap` is the whole cost.
    O(|S||X| log |S|) and about ten passes.

    >>> from linred import Joint
    >>> joint = Joint.from_conditional([[0.2, 0.1, 0.5, 0.2], [0.5, 0.3, 0.1, 0.1]], [0.3, 0.7])
    >>> mechanism = selective(joint, ldp=1.0)
    >>> round(mechanism.dtv(), 4), round(mechanism.dtv() - mechanism.gap, 4)
    (0.0632, 0.0343)
    """
    validation.joint(joint)
    coupling, distortion = chosen(joint, prefer, distortion)
    found, bound = reduced(joint, target)
    cost = Mechanism.dtv
    if distortion is not None:
        cost, bound = partial(Mechanism.expected_distortion, d=distortion), 0.0
    mechanism = meeting(joint, target, found, name="selective", coupling=coupling, distortion=distortion)
    with suppress(CannotMeetError):
        other = non_markov(joint, target=target, distortion=distortion, prefer=prefer)
        mechanism = min(mechanism, other, key=cost)
    return mechanism.replace(gap=max(0.0, cost(mechanism) - bound))


def reduced(joint, target):
    """Return (Joint of S and Y, a lower bound of the share of records changed by any mechanism with P_Y = P_X)."""
    s, x = np.flatnonzero(joint.p_s > 0.0), np.flatnonzero(joint.p_x > 0.0)
    p_s, p_x = joint.p_s[s] / joint.p_s.sum(), joint.p_x[x]
    lifts = joint.p_x_given_s[np.ix_(s, x)] / p_x
    limits = Limits(p_s, p_x, True, target.ldp, *of_lifts(target))
    low, high = _intervals(lifts, limits)
    above, below = (p_s @ np.maximum(part, 0.0) for part in (lifts - high, low - lifts))
    low, high = _intervals(lifts, limits.for_solver())
    q = with_both_means(np.clip(lifts, low, high), low, high, p_s, p_x)
    p_y_given_s = np.zeros(joint.shape)
    p_y_given_s[np.ix_(s, x)] = with_exact_sums(q * p_x, p_s, p_x)
    released = Joint.from_parts(p_y_given_s, joint.p_s, joint.p_x, joint.s_labels, joint.x_labels)
    return released, float(p_x @ np.maximum(above, below))


def _intervals(lifts, limits):
    """Return the ends of [L, factor L] for each x: the mass above balances the mass below, within the limits of L.

    The difference (above - below) decreases with L and is linear between the points where a lift enters or leaves the
    interval. If only one side of the lifts is limited, the interval is the same for all x.
    """
    p_s, n_x, (factor, lowest, highest) = limits.p_s, lifts.shape[1], limits.intervals()
    if factor == np.inf:
        return np.full(lifts.shape, lowest), np.broadcast_to(limits.largest_lifts()[:, None], lifts.shape)
    places = np.concatenate([lifts / factor, lifts])
    turns = np.concatenate([factor * p_s, -p_s])[:, None].repeat(n_x, axis=1)
    order = places.argsort(axis=0, kind="stable")
    places, turns = (np.take_along_axis(part, order, axis=0) for part in (places, turns))
    slopes = np.cumsum(np.vstack([np.full(n_x, -factor * p_s.sum()), turns]), axis=0)
    excess = p_s @ lifts + np.cumsum(slopes[:-1] * np.diff(places, axis=0, prepend=0.0), axis=0)
    first, x = (excess <= CLOSE).argmax(axis=0), np.arange(n_x)
    slope = np.minimum(slopes[first, x], -np.finfo(float).tiny)
    least = places[first, x] - np.where(excess[first, x] < -CLOSE, excess[first, x] / slope, 0.0)
    least = np.clip(least, lowest, highest)
    return least, factor * least

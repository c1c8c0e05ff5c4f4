"""How far to go: the alpha that meets a target by the formula, and the mechanism that meets it as it is sampled."""

import math

import numpy as np

from linred._common import validation
from linred.errors import CannotMeetError
from linred.privacy import metrics
from linred.privacy.target import Target, takes_target


@takes_target
def alpha_for(joint, *, target):
    """The smallest alpha whose linear reduction meets a target, or both targets at once, in nats.

    Guarantee
    ---------
    `linred.ldp` and `linred.log_lift` of `linear_reduction(joint, alpha)` are at or under the targets, and so are the
    exact figures of (1-alpha) P(x|s) + alpha P(x) over the reals, for the doubles that the Joint holds (and P(x) that
    are 0 or above 1e-280): alpha is rounded up (errata 10). It is above the real minimum by rounding only, and so just
    above 0.0 where the target is the figure of the Joint itself. Closed form (errata 6), O(|S||X|).

    >>> import linred
    >>> joint = linred.Joint.from_conditional([[0.2, 0.1, 0.5, 0.2], [0.5, 0.3, 0.1, 0.1]], [0.3, 0.7])
    >>> round(alpha_for(joint, ldp=1.0), 12)
    0.37640076465
    """
    return share_for(validation.joint(joint), joint.p_x, target)


def share_for(joint, toward, target):
    """The smallest share in which P(x|s) and P(x) must be mixed with a distribution to meet a target, rounded up."""
    (highest, lowest), p_x = joint.column_extremes, joint.p_x
    share = max(
        _share_for_ratio(highest, lowest, toward, target.ldp),
        _share_for_ratio(highest, p_x, toward, target.log_lift),
        _share_for_ratio(p_x, lowest, toward, target.log_lift),
    )
    step = 2.0**-53
    while not target.is_met_by(_mixed_figures(joint, toward, share)):
        share, step = min(1.0, share + step), 2.0 * step
    return share


def meeting_by_alpha(joint, target, build, independent):
    """As `meeting`, for mechanisms build(alpha) of the linear reduction, alpha little above `alpha_for`."""
    return meeting(joint, target, lambda limits: build(alpha_for(joint, target=limits)), independent)


def meeting(joint, target, build, independent):
    """The mechanism build(limits), limits being little under the target, that meets the target in its integers; for a
    target that is as good as zero `independent()`, if need be."""
    for limits in _limits_to_try(joint, target):
        mechanism = build(limits)
        if target.is_met_by(mechanism.sampler().certificate()):
            break
    else:
        if min(target) > _as_good_as_zero(joint):
            x = int(np.where(joint.p_x > 0.0, joint.p_x, np.inf).argmin())
            raise CannotMeetError(
                f"{target} cannot be met by this coupling in 64-bit tables: P(x) of "
                f"{joint.x_labels[x]!r} is {joint.p_x[x]:.3g}; merge it with another symbol, or take markov"
            )
        mechanism = independent()
    return mechanism.replace(target=target)


def _resolution(joint):
    """How far floats and 64-bit tables may be off, in nats."""
    return 2.0**-48 + 4.0 * 2.0**-64 / joint.p_x[joint.p_x > 0.0].min()


def _as_good_as_zero(joint):
    """A target below it is met by drawing from P_X whatever s and x are, if by nothing else: a thousand times what the
    tables may be off, but no more than 1e-9. Above it, a user would want to know."""
    return min(1024.0 * _resolution(joint), 2.0**-30)


def _limits_to_try(joint, target):
    """The targets less a margin: at first what floats and 64-bit tables may be off, then ever more."""
    if min(target) > 0.0 and alpha_for(joint, target=target) == 0.0:
        yield target  # nothing to do
    margin = min(_resolution(joint), min(target) / 1024.0)
    while 0.0 < margin < min(target):
        yield Target(*(limit - margin for limit in target))
        margin *= 8.0


def _share_for_ratio(numerators, denominators, toward, target):
    """The least a with (1-a) numerator + a toward <= e^target ((1-a) denominator + a toward), for every symbol.

    It is n / (n + toward (e^target - 1)) with n = numerator - e^target denominator, where n > 0 (errata 6), written
    without cancellation."""
    if target == math.inf:
        return 0.0
    growth = math.expm1(min(target, 700.0))  # beyond that a double has no e^target, and the share is below 1e-300
    distance = numerators - denominators
    excess = distance - growth * denominators
    over = excess > 0.0
    return float((excess[over] / (distance + growth * (toward - denominators))[over]).max(initial=0.0))


def _mixed_figures(joint, toward, share):
    """Upper bounds of LDP and log-lift of P(x|s) mixed with a distribution; rounding keeps the order of extremes."""
    highest, lowest, p_x = ((1.0 - share) * part + share * toward for part in (*joint.column_extremes, joint.p_x))
    if toward is joint.p_x:
        p_x = toward  # not its own mixture, which rounding may move
    log_lift = max(_log_ratio_above(highest, p_x), _log_ratio_above(p_x, lowest))
    return Target(_log_ratio_above(highest, lowest), log_lift)


def _log_ratio_above(numerators, denominators):
    """Above the real figure: three roundings at either end of a ratio, one in it, one in the log: under 8 half-ulps.
    0.0 is exact: both ends are then the same double."""
    x = metrics.largest_ratio(numerators, denominators)
    figure = metrics.log_ratio(numerators[x], denominators[x])
    return figure + 2.0**-49 * (1.0 + figure) if figure > 0.0 else 0.0

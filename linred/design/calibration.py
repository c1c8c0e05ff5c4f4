"""Calibration: the alpha whose linear reduction meets a target, and the mechanism whose sampled integers meet it."""

import math

import numpy as np

from linred._common import validation
from linred.distribution.joint import Joint
from linred.errors import CannotMeetError
from linred.privacy import metrics
from linred.privacy.target import Target, takes_target


@takes_target
def alpha_for(joint: Joint, *, target: Target) -> float:
    """Return the smallest alpha in [0, 1] whose linear reduction meets a target.

    Parameters
    ----------
    joint : Joint
        P(S, X).
    ldp, log_lift : float, optional
        Target: upper limits in nats, one or both.

    Guarantee
    ---------
    alpha is rounded up (errata 10). `linred.ldp` and `linred.log_lift` of `linear_reduction(joint, alpha)` do not
    exceed the limits, and neither do the exact figures of (1-alpha) P(x|s) + alpha P(x) over the reals, for the
    doubles that the Joint holds and P(x) that are 0 or above 1e-280. alpha exceeds the real minimum by rounding only;
    it is therefore just above 0.0 if the target equals the figure of the Joint itself. Closed form (errata 6),
    O(|S||X|).

    >>> import linred
    >>> joint = linred.Joint.from_conditional([[0.2, 0.1, 0.5, 0.2], [0.5, 0.3, 0.1, 0.1]], [0.3, 0.7])
    >>> round(alpha_for(joint, ldp=1.0), 12)
    0.37640076465
    """
    return share_for(validation.joint(joint), joint.p_x, target)


def share_for(joint, toward, target):
    """Return the smallest share of a distribution that must be mixed into P(x|s) and P(x) to meet a target, rounded up.

    toward : the distribution that is mixed in.
    """
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
    """Return `meeting` for mechanisms build(alpha) of the linear reduction, with alpha slightly above `alpha_for`."""
    return meeting(joint, target, lambda limits: build(alpha_for(joint, target=limits)), independent)


def meeting(joint, target, build, independent):
    """Return build(limits) for limits slightly below the target, such that the sampled integers meet the target.

    If no margin suffices and the target is practically zero, return `independent()`.
    """
    for limits in _limits_to_try(joint, target):
        mechanism = build(limits)
        if target.is_met_by(mechanism.sampler().certificate()):
            break
    else:
        if min(target) > _as_good_as_zero(joint):
            x = int(np.where(joint.p_x > 0.0, joint.p_x, np.inf).argmin())
            raise CannotMeetError(
                f"{target} cannot be met: P(x) of x_labels[{x}] (order of 1e{math.floor(math.log10(joint.p_x[x]))}) is "
                "too small for 64-bit tables: merge it with another symbol, or use markov"
            )
        mechanism = independent()
    return mechanism.replace(target=target)


def _resolution(joint):
    """Return a bound in nats on the error of doubles and of 64-bit tables."""
    return 2.0**-48 + 4.0 * 2.0**-64 / joint.p_x[joint.p_x > 0.0].min()


def _as_good_as_zero(joint):
    """Return the target (nats) up to which drawing y independently of s and x is an acceptable answer.

    It is a thousand times the error of the tables, at most 1e-9. For larger targets the caller should learn that no
    mechanism was found.
    """
    return min(1024.0 * _resolution(joint), 2.0**-30)


def _limits_to_try(joint, target):
    """Yield the target less a margin: at first the error of doubles and 64-bit tables, then eight times as much, ..."""
    if min(target) > 0.0 and alpha_for(joint, target=target) == 0.0:
        yield target  # the Joint itself meets it
    margin = min(_resolution(joint), min(target) / 1024.0)
    while 0.0 < margin < min(target):
        yield Target(*(limit - margin for limit in target))
        margin *= 8.0


def _share_for_ratio(numerators, denominators, toward, target):
    """Return the least a with (1-a) numerator + a toward <= e^target ((1-a) denominator + a toward) for all symbols.

    It is n / (n + toward (e^target - 1)) with n = numerator - e^target denominator, where n > 0 (errata 6), written
    without cancellation.
    """
    if target == math.inf:
        return 0.0
    growth = math.expm1(min(target, 700.0))  # e^target overflows beyond, and the share is then below 1e-300
    distance = numerators - denominators
    excess = distance - growth * denominators
    over = excess > 0.0
    return float((excess[over] / (distance + growth * (toward - denominators))[over]).max(initial=0.0))


def _mixed_figures(joint, toward, share):
    """Return upper bounds of LDP and log-lift of P(x|s) mixed with a distribution.

    Rounding is monotone, so the extremes of the mixture are the mixtures of the extremes.
    """
    highest, lowest, p_x = ((1.0 - share) * part + share * toward for part in (*joint.column_extremes, joint.p_x))
    if toward is joint.p_x:
        p_x = toward  # exactly: rounding could move the mixture of P(x) with itself
    log_lift = max(_log_ratio_above(highest, p_x), _log_ratio_above(p_x, lowest))
    return Target(_log_ratio_above(highest, lowest), log_lift)


def _log_ratio_above(numerators, denominators):
    """Return an upper bound of the largest log ratio over the reals.

    There are three roundings in the numerator, three in the denominator, one in the ratio and one in the logarithm:
    less than 8 half-ulps. 0.0 is exact, because numerator and denominator are then the same double.
    """
    x = metrics.largest_ratio(numerators, denominators)
    figure = metrics.log_ratio(numerators[x], denominators[x])
    return figure + 2.0**-49 * (1.0 + figure) if figure > 0.0 else 0.0

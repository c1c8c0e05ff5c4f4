"""How far to go: the alpha that meets a target by the formula, and the mechanism that meets it as it is sampled."""

import math
from typing import NamedTuple

import numpy as np

from linred import _check, metrics


class Target(NamedTuple):
    """What a mechanism was made to meet, in nats; inf where nothing was asked."""

    ldp: float
    log_lift: float

    def __str__(self):
        named = ((name, value) for name, value in zip(self._fields, self, strict=True) if value < math.inf)
        return " and ".join(f"{name} <= {value!r}" for name, value in named)

    def is_met_by(self, figures):
        return figures.ldp <= self.ldp and figures.log_lift <= self.log_lift


def target(ldp, log_lift):
    """The `Target`; one of them may be None."""
    if ldp is None and log_lift is None:
        raise ValueError("a target is needed: ldp=, log_lift= or both")
    return Target(
        math.inf if ldp is None else _check.number("ldp", ldp, 0.0, math.inf),
        math.inf if log_lift is None else _check.number("log_lift", log_lift, 0.0, math.inf),
    )


def alpha_for(joint, *, ldp=None, log_lift=None):
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
    _check.joint(joint)
    ldp, log_lift = target(ldp, log_lift)
    alpha, step = max(_alpha_for_ldp(joint, ldp), _alpha_for_log_lift(joint, log_lift)), 2.0**-53
    while not (_ldp_bound(joint, alpha) <= ldp and _log_lift_bound(joint, alpha) <= log_lift):
        alpha, step = min(1.0, alpha + step), 2.0 * step
    return alpha


def meeting(joint, alpha, ldp, log_lift, build, independent):
    """The mechanism build(joint, alpha), alpha little above `alpha_for`, that meets the targets in its integers; for a
    target that is as good as zero `independent()`, if need be."""
    if alpha is not None:
        raise ValueError(f"alpha = {alpha!r} and a target are both given: ldp= and log_lift= choose alpha")
    if ldp is None and log_lift is None:
        raise ValueError("alpha is None and no target is given: pass alpha, or ldp= or log_lift= or both")
    asked = target(ldp, log_lift)
    for alpha in _alphas_to_try(joint, asked):
        mechanism = build(joint, alpha)
        if asked.is_met_by(mechanism.sampler().certificate()):
            break
    else:
        if min(asked) > _as_good_as_zero(joint):
            x = int(np.where(joint.p_x > 0.0, joint.p_x, np.inf).argmin())
            raise ValueError(
                f"{asked} cannot be met by this coupling in 64-bit tables: P(x) of "
                f"{joint.x_labels[x]!r} is {joint.p_x[x]:.3g}; merge it with another symbol, or take markov"
            )
        mechanism = independent()
    mechanism.target = asked
    return mechanism


def _resolution(joint):
    """How far floats and 64-bit tables may be off, in nats."""
    return 2.0**-48 + 4.0 * 2.0**-64 / joint.p_x[joint.p_x > 0.0].min()


def _as_good_as_zero(joint):
    """A target below it is met by drawing from P_X whatever s and x are, if by nothing else: a thousand times what the
    tables may be off, but no more than 1e-9. Above it, a user would want to know."""
    return min(1024.0 * _resolution(joint), 2.0**-30)


def _alphas_to_try(joint, target):
    """alpha for the targets less a margin: at first what floats and 64-bit tables may be off, then ever more."""
    if min(target) > 0.0 and alpha_for(joint, ldp=target.ldp, log_lift=target.log_lift) == 0.0:
        yield 0.0  # nothing to do
    margin = min(_resolution(joint), min(target) / 1024.0)
    while 0.0 < margin < min(target):
        yield alpha_for(joint, ldp=target.ldp - margin, log_lift=target.log_lift - margin)
        margin *= 8.0


def _alpha_for_ldp(joint, target):
    """max over x of n / (n + P(x)(e^target - 1)), n = max_s P(x|s) - e^target min_s P(x|s), written without
    cancellation: with h, l the extremes, n = (h - l) - (e^target - 1) l and the denominator adds what is >= 0."""
    if target == math.inf:
        return 0.0
    (highest, lowest), p_x = joint._column_extremes, joint.p_x
    growth = math.expm1(min(target, 700.0))  # beyond that a double has no e^target, and alpha is below 1e-300
    excess = (highest - lowest) - growth * lowest
    over = excess > 0.0
    return float((excess[over] / ((highest - lowest) + growth * (p_x - lowest))[over]).max(initial=0.0))


def _alpha_for_log_lift(joint, target):
    """The largest share of max_s P(x|s) - P(x), or of P(x) - min_s P(x|s), that is beyond the target."""
    if target == math.inf:
        return 0.0
    (highest, lowest), p_x = joint._column_extremes, joint.p_x
    alpha = 0.0
    for distance, allowed in (
        (highest - p_x, math.expm1(min(target, 700.0)) * p_x),
        (p_x - lowest, -math.expm1(-target) * p_x),
    ):
        over = distance > allowed
        alpha = max(alpha, float(((distance - allowed)[over] / distance[over]).max(initial=0.0)))
    return alpha


def _reduced_extremes(joint, alpha):
    """The column extremes of `linear_reduction(joint, alpha)`, from those of joint: rounding keeps order."""
    return ((1.0 - alpha) * extreme + alpha * joint.p_x for extreme in joint._column_extremes)


def _ldp_bound(joint, alpha):
    highest, lowest = _reduced_extremes(joint, alpha)
    x = metrics._largest_ratio(highest, lowest)
    return _rounded_up(metrics._log_ratio(highest[x], lowest[x]))


def _log_lift_bound(joint, alpha):
    highest, lowest = _reduced_extremes(joint, alpha)
    return max(
        _rounded_up(metrics._log_ratio(numerators[x], denominators[x]))
        for numerators, denominators in ((highest, joint.p_x), (joint.p_x, lowest))
        for x in (metrics._largest_ratio(numerators, denominators),)
    )


def _rounded_up(figure):
    """Above the real figure: three roundings at either end of a ratio, one in it, one in the log: under 8 half-ulps.

    0.0 is exact: both ends are then the same double."""
    return figure + 2.0**-49 * (1.0 + figure) if figure > 0.0 else 0.0

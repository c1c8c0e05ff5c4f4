"""Calibration: the alpha whose linear reduction meets a target, and the mechanism whose sampled integers meet it."""

import dataclasses
import math

import numpy as np

from linred._common import validation
from linred.distribution.joint import Joint
from linred.errors import CannotMeetError
from linred.privacy.comparisons import comparisons, of_pairs, of_secrets
from linred.privacy.takes_target import RATIOS, takes_target
from linred.privacy.target import Target

LOGS = ("ldp", "log_lift", "max_lift", "min_lift", "dp")
"""The limits of P(y|s) that are one number of nats."""


@takes_target(meets=RATIOS)
def alpha_for(joint: Joint, *, target: Target) -> float:
    """Return the smallest alpha in [0, 1] whose linear reduction meets a target.

    Parameters
    ----------
    joint : Joint
        P(S, X).
    ldp, log_lift, max_lift, min_lift, dp, neighbors, pairs, secrets
        The limits of a `linred.Target`, one or several.

    Guarantee
    ---------
    alpha is rounded up (errata 10). The figures of `linear_reduction(joint, alpha)` do not exceed the limits,
    and neither do the exact figures of (1-alpha) P(x|s) + alpha P(x) over the reals, for the
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

    toward : the distribution that is mixed in. Only limits of P(y|s) count.
    """
    compared = list(comparisons(target, joint.p_s, joint.p_x_given_s, joint.p_x))
    shares = (share_for_ratio(one.numerators, one.denominators, toward, one.limit) for one in compared)
    share, step = max(shares, default=0.0), 2.0**-53
    while share < 1.0 and not all(_is_met_by_mixture(one, joint.p_x, toward, share) for one in compared):
        share, step = min(1.0, share + step), 2.0 * step
    return share


def meets(joint, target):
    """Return whether the Joint of S and Y meets the limits of a settled target on P(y|s), for certain."""
    compared = comparisons(target, joint.p_s, joint.p_x_given_s, joint.p_x)
    return all(_is_met_by_mixture(one, joint.p_x, joint.p_x, 0.0) for one in compared)


def meeting_by_alpha(joint, target, build, independent, meets_zeros=False):
    """Return `meeting` for mechanisms build(alpha) of the linear reduction, with alpha slightly above `alpha_for`."""
    return meeting(joint, target, lambda limits: build(share_for(joint, joint.p_x, limits)), independent, meets_zeros)


def meeting(joint, target, build, independent, meets_zeros=False):
    """Return build(limits) for limits slightly below the target, such that the sampled integers meet the target.

    If no margin suffices and the target is practically zero, return `independent()`. A limit of 0 leaves no room for a
    margin: unless build `meets_zeros`, only build(target) is tried, and only if the Joint already meets the target.
    """
    for limits in _limits_to_try(joint, target, meets_zeros):
        mechanism = build(limits).replace(target=target)
        if mechanism.sampler().certificate().met:
            return mechanism
    if smallest(target, joint.p_s) > _as_good_as_zero(joint):
        raise CannotMeetError(f"{target} cannot be met: {_why(joint, target)}")
    mechanism = independent().replace(target=target)
    if not mechanism.sampler().certificate().met:
        raise CannotMeetError(
            f"{target} cannot be met in 64-bit tables: if y is drawn independently of s, more records of some s change "
            "than max_changed_by_s= allows: raise it, or give a small positive limit in place of 0"
        )
    return mechanism


def _why(joint, target):
    if target.max_changed_by_s < 1.0:
        return "the share max_changed_by_s= is too small for the other limits: raise it"
    x = int(np.where(joint.p_x > 0.0, joint.p_x, np.inf).argmin())
    return (
        f"P(x) of x_labels[{x}] (order of 1e{math.floor(math.log10(joint.p_x[x]))}) is "
        "too small for 64-bit tables: merge it with another symbol, or use markov"
    )


def smallest(target, p_s, above=-math.inf):
    """Return the smallest limit (nats) on ratios of P(y|s) that is above a number; inf if there is none."""
    found = [getattr(target, name) for name in LOGS if name != "dp"] + [limit for _, limit in of_secrets(target, p_s)]
    limits = [np.array(found), *(matrix.ravel() for _, matrix in of_pairs(target, np.flatnonzero(p_s > 0.0)))]
    limits = np.concatenate(limits)
    return float(limits[limits > above].min(initial=math.inf))


def less(target, margin):
    """Return a settled target whose limits in nats are lower by a margin, but not below 0."""
    changes = {name: max(0.0, getattr(target, name) - margin) for name in LOGS if getattr(target, name) < math.inf}
    changes["given_x"] = target.given_x - min(margin, target.given_x / 1024.0)
    if target.pairs is not None:
        changes["pairs"] = np.maximum(0.0, target.pairs - margin)
    if target.secrets is not None:
        changes["secrets"] = tuple(secret._replace(limit=max(0.0, secret.limit - margin)) for secret in target.secrets)
    return dataclasses.replace(target, **changes)


def _resolution(joint):
    """Return a bound in nats on the error of doubles and of 64-bit tables."""
    return 2.0**-48 + 4.0 * 2.0**-64 / joint.p_x[joint.p_x > 0.0].min()


def _as_good_as_zero(joint):
    """Return the target (nats) up to which drawing y independently of s is an acceptable answer.

    It is a thousand times the error of the tables, at most 1e-9. For larger targets the caller should learn that no
    mechanism was found.
    """
    return min(1024.0 * _resolution(joint), 2.0**-30)


def _limits_to_try(joint, target, meets_zeros):
    """Yield the target less a margin: at first the error of doubles and 64-bit tables, then eight times as much, ..."""
    least = smallest(target, joint.p_s, above=0.0)
    if share_for(joint, joint.p_x, target) == 0.0:
        yield target  # the Joint itself meets it
    if not meets_zeros and smallest(target, joint.p_s) == 0.0:
        return
    margin = min(_resolution(joint), least / 1024.0)
    while 0.0 < margin < least:
        yield less(target, margin)
        if least == math.inf:
            break
        margin *= 8.0


def share_for_ratio(numerators, denominators, toward, limit):
    """Return the least a with (1-a) numerator + a toward <= e^limit ((1-a) denominator + a toward) for all symbols.

    It is n / (n + toward (e^limit - 1)) with n = numerator - e^limit denominator, where n > 0 (errata 6), written
    without cancellation.
    """
    growth = np.expm1(np.minimum(limit, 700.0))  # e^limit overflows beyond, and the share is then below 1e-300
    distance = numerators - denominators
    excess = distance - growth * denominators
    over = excess > 0.0
    return float((excess[over] / (distance + growth * (toward - denominators))[over]).max(initial=0.0))


def _is_met_by_mixture(compared, p_x, toward, share):
    """Return whether ratios meet their limit once a share of a distribution is mixed in, for certain.

    Rounding is monotone, so the extremes of the mixture are the mixtures of the extremes.
    """
    mixed = {
        # exactly: rounding could move the mixture of P(x) with itself
        name: part if part is p_x is toward else (1.0 - share) * part + share * toward
        for name, part in (("numerators", compared.numerators), ("denominators", compared.denominators))
    }
    return bool((_log_ratios_above(compared._replace(**mixed)) <= np.ravel(compared.limit)).all())


def _log_ratios_above(compared):
    """Return upper bounds of `Comparison.log_ratios`, over the reals.

    There are three roundings in the numerator, three in the denominator, one in the ratio and one in the logarithm:
    less than 8 half-ulps; and two for each further term of a sum. 0.0 is exact if numerator and denominator are the
    same double.
    """
    figures, n_terms = compared.log_ratios(), compared.n_terms
    more = 2.0**-49 + (n_terms - 1) * 2.0**-51
    return np.where(figures > 0.0, figures + more * (1.0 + figures), 0.0 if n_terms == 1 else more)

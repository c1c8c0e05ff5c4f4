"""Local approximations: near independence the figures are linear or quadratic; error bounds come with them.

With r(s,x) = P(x|s)/P(x) - 1, the logarithms of lifts equal r to first order, and I(S;X) is half the chi-square
divergence sum P(s) P(x) r^2 to second order (the local information geometry of Huang and Zheng; the paper's second
future direction). The linear reduction multiplies r by 1-alpha, so LDP and log-lift fall as 1-alpha, and chi-square as
its square.

Taylor's remainder bounds the error. log(1+r) = r - r^2 / (2 (1+t)^2) with t between 0 and r, and the relative entropy
of each cell exceeds its linear part, which sums to zero, by r^2 / (2 (1+t)). The paper approximates where the radius,
max |r|, is at most one. That condition does not make the approximation accurate; the interval does.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from linred._common import validation
from linred.distribution.joint import Joint


class Approximation(NamedTuple):
    """A local figure, and an interval [least, most] that contains the exact one."""

    value: float
    least: float
    most: float


class Local(NamedTuple):
    """Local figures of a Joint: `linred.local`."""

    ldp: Approximation
    log_lift: Approximation
    mutual_information: Approximation
    chi_square: float  # dimensionless
    radius: float  # max |P(x|s)/P(x) - 1|
    valid: bool  # whether the radius is at most one, the paper's condition; no promise of accuracy


def local(joint: Joint, base: float = math.e) -> Local:
    """Return local figures of a Joint of S and X, or of S and Y (`mechanism.released`), with intervals.

    Guarantee
    ---------
    Each interval contains the exact figure, up to rounding. Intervals are wide unless the radius is small, and for LDP
    and log-lift `most` is infinite if some P(x|s) is 0. A linear reduction multiplies the radius by 1-alpha, so the
    paper's condition holds for alpha >= 1 - 1/radius. O(|S||X|).

    >>> from linred import Joint
    >>> figures = local(Joint([[0.26, 0.24], [0.24, 0.26]]))
    >>> [round(part, 6) for part in (figures.ldp.value, figures.mutual_information.value, figures.radius)]
    [0.08, 0.0008, 0.04]
    """
    log_base = validation.log_of_base(base)
    occurs, seen = validation.joint(joint).p_s > 0.0, joint.p_x > 0.0
    p_s, p_x = joint.p_s[occurs], joint.p_x[seen]
    r = (joint.p_x_given_s[np.ix_(occurs, seen)] - p_x) / p_x
    highest, lowest = float(r.max()), float(r.min())
    radius = max(highest, -lowest)
    chi_square = float(p_s @ r**2 @ p_x)
    # Error of one logarithm. An LDP is the difference of two, whose errors have the same sign.
    off = 0.5 * max(highest**2, (lowest / (1.0 + lowest)) ** 2 if lowest > -1.0 else math.inf)
    ldp, log_lift = float((r.max(axis=0) - r.min(axis=0)).max()), radius
    information = 0.5 * chi_square
    most = math.log1p(chi_square)  # by Jensen's inequality
    if lowest > -1.0:
        most = min(most, information / (1.0 + lowest))
    figures = (
        (ldp, max(0.0, ldp - off), ldp + off),
        (log_lift, max(0.0, log_lift - off), log_lift + off),
        (information, information / (1.0 + max(highest, 0.0)), most),
    )
    of_ldp, of_log_lift, of_information = (Approximation(*(part / log_base for part in figure)) for figure in figures)
    return Local(of_ldp, of_log_lift, of_information, chi_square, radius, radius <= 1.0)

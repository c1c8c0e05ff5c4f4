"""Local approximations: near independence the figures are linear or quadratic; error bounds come with them.

With r(s,x) = P(x|s)/P(x) - 1, the logarithms of lifts equal r to first order, and I(S;X) is half the chi-square
divergence sum P(s) P(x) r^2 to second order (the local information geometry of Huang and Zheng; the paper's second
future direction, which `linred.modes` completes). The linear reduction multiplies r by 1-alpha, so LDP and log-lift
fall as 1-alpha, and chi-square as its square.

Taylor's remainder bounds the error. log(1+r) = r - r^2 / (2 (1+t)^2) with t between 0 and r, and the relative entropy
of each cell exceeds its linear part, which sums to zero, by r^2 / (2 (1+t)). The paper approximates where the radius,
max |r|, is at most one. That condition does not make the approximation accurate; the interval does.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from linred._common import validation
from linred.distribution.joint import Joint
from linred.privacy import metrics
from linred.privacy.chi_square import deviations, divergences

ROUNDING = 2.0**-45
"""Intervals are widened by this share of 1 + their upper end, which covers the roundings of r and of exact figures."""


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
    Each interval contains the exact figure; it is widened outward for rounding. Intervals are wide unless the radius is
    small, and for LDP and log-lift `most` is infinite if some P(x|s) is 0. A linear reduction multiplies the radius by
    1-alpha, so the paper's condition holds for alpha >= 1 - 1/radius. O(|S||X|).

    >>> from linred import Joint
    >>> figures = local(Joint([[0.26, 0.24], [0.24, 0.26]]))
    >>> [round(part, 6) for part in (figures.ldp.value, figures.mutual_information.value, figures.radius)]
    [0.08, 0.0008, 0.04]
    """
    log_base = validation.log_of_base(base)
    r, p_s, p_x, *_ = deviations(joint)
    highest, lowest = float(r.max()), float(r.min())
    chi_square = float(divergences(r, p_s) @ p_x)
    information = 0.5 * chi_square
    most = math.log1p(chi_square)  # by Jensen's inequality
    if lowest > -1.0:
        most = min(most, information / (1.0 + lowest))
    of_ldp, of_log_lift = _logarithms(r, log_base)
    of_information = _outward(information, information / (1.0 + max(highest, 0.0)), most, log_base)
    radius = max(highest, -lowest)
    return Local(of_ldp, of_log_lift, of_information, chi_square, radius, radius <= 1.0)


class FirstOrder(NamedTuple):
    """The paper's approximations of LDP(S->Y) and log-lift(S->Y), and intervals (least, most) of the exact figures."""

    ldp: float
    log_lift: float
    ldp_interval: tuple[float, float]
    log_lift_interval: tuple[float, float]


def first_order(joint: Joint, alpha: float, base: float = math.e) -> FirstOrder:
    """Return (1-alpha) LDP(S->X) and (1-alpha) log-lift(S->X), the approximations of equation (6) of the paper.

    They may be too large or too small, so no guarantee may rest on them, and the paper's condition for them,
    |P(x|s)/P(x) - 1| <= 1, does not make them accurate: for P(x|s) of .002 and .998 at alpha = 0.5 it holds, the
    approximated LDP is 3.11, and the exact one 1.09. At alpha = 1 both are 0, which is exact, even if the LDP or
    log-lift of X is infinite.

    Guarantee
    ---------
    The LDP and log-lift of `linear_reduction(joint, alpha)` are in their intervals; an approximation outside its
    interval is wrong. Proof: Y has r_Y = P(y|s)/P(y) - 1 = (1-alpha) r_X. By Taylor's theorem log(1 + r) = r - e with
    0 <= e <= max(h^2, (l / (1+l))^2) / 2 for all r in [l, h], l = min r_Y <= 0 <= h = max r_Y. So the log-lift,
    max |log(1+r)|, differs from max |r| by at most that; the LDP, a difference of two logarithms whose errors have the
    same sign, differs from the largest difference of two r of one symbol by at most that. These are the intervals of
    `linred.local`; they are widened outward for rounding. O(|S||X|).

    >>> from linred import Joint
    >>> found = first_order(Joint([[0.375, 0.125], [0.125, 0.375]]), 0.5, base=2)
    >>> found[:2], [round(end, 4) for end in found.ldp_interval]
    ((0.7924812503605781, 0.5), [0.6412, 0.8015])
    """
    rest, log_base = 1.0 - validation.alpha(alpha), validation.log_of_base(base)
    of_ldp, of_log_lift = _logarithms(rest * deviations(joint).r, log_base)
    ldp, log_lift = (rest * of(joint, base) if rest else 0.0 for of in (metrics.ldp, metrics.log_lift))
    return FirstOrder(ldp, log_lift, of_ldp[1:], of_log_lift[1:])


def _logarithms(r, log_base):
    """Return the approximations of LDP and of log-lift for deviations r; `first_order` has the proof."""
    highest, lowest = float(r.max()), float(r.min())
    relative = lowest / (1.0 + lowest) if lowest > -1.0 else math.inf
    off = 0.5 * max(highest * highest, relative * relative)
    figures = float((r.max(axis=0) - r.min(axis=0)).max()), max(highest, -lowest)
    return [_outward(figure, figure - off, figure + off, log_base) for figure in figures]


def _outward(value, least, most, log_base):
    """Return the `Approximation` in the unit of the base, with its interval widened by the slack for rounding."""
    slack = ROUNDING * (1.0 + most)
    return Approximation(value / log_base, max(0.0, least - slack) / log_base, (most + slack) / log_base)

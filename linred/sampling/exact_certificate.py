"""What is guaranteed of the tables that are sampled: `sampler.certificate()`.

P(y|s) is computed in whole numbers, from the integers that are drawn from and from P(x|s) as count ratios, or as the
doubles that the Joint holds, which are whole numbers over a power of two. Figures are then rounded upwards.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from linred._common.render import Printed
from linred.privacy.leakage import Leakage
from linred.sampling.sampled_probabilities import Channel

HALF_ULP = 2.0**-53
SCALE = 1000
"""Probabilities are doubles times 2^1000 below: one may be 2^-64 of the smallest double, and must not become 0."""


@dataclass(frozen=True, repr=False, eq=False)
class Certificate(Printed, Leakage):
    """Figures in nats, each at or above the truth for the integers that are sampled, by 1e-14 (1 + truth) at most.

    The truth is that of P(s) and P(x|s) as the Joint has them: where those were estimated from records, it is not a
    guarantee for the population that the records came from.
    Where the mechanism sees s, records of pairs that the fit never saw are drawn from P_Y: ldp and maximal_leakage
    hold whatever share of an s they are. Lifts are against the P_Y of the fit, mutual_information is under its P(S, X).
    """

    p_y_given_s: np.ndarray  # nearest doubles, a row for each s; P(y) where P(s) = 0, as in a Joint
    p_y: np.ndarray

    rounding: ClassVar[str] = "up"
    words = "certificate"


def certificate(sampler):
    """The `Certificate` of a Sampler. O(|S||X| + nonzeros) operations on long integers: seconds for a million."""
    joint, channel = sampler.joint, Channel(sampler)
    occurring = np.flatnonzero(joint.p_s > 0.0).tolist()
    released = [channel.released_given(s) for s in occurring]
    if channel.unseen.any():
        released.append(channel.unseen_row())
    rows = np.array([(row << SCALE) / total for row, total in released], np.float64)
    seen, p_s = rows[: len(occurring)], joint.p_s[occurring] / math.fsum(joint.p_s)
    p_y = np.array([math.fsum(column) for column in (p_s[:, None] * seen).T.tolist()])
    roundings = 1 if joint.counts is not None else 3  # in P(y|s); where P(x|s) are doubles, two lie in them
    information = 0.0 if _all_equal(seen, released) else _information_above(seen, p_s, p_y, roundings)
    ldp, max_lift, min_lift, leakage = (0.0,) * 4 if _all_equal(rows, released) else _maxima_above(rows, p_y, roundings)
    p_y_given_s = np.tile(p_y, (joint.shape[0], 1))
    p_y_given_s[occurring] = seen
    unscaled = (np.ldexp(p, -SCALE) for p in (p_y_given_s, p_y))
    return Certificate(*Leakage.from_lifts(ldp, max_lift, min_lift, information, leakage), *unscaled)


def _all_equal(rows, released):
    """Whether all rows are the same distribution, in whole numbers; doubles may say no sooner."""
    first, total = released[0]
    pairs = zip(rows, released, strict=False)
    return all((row == rows[0]).all() and (whole * total == first * other).all() for row, (whole, other) in pairs)


def _maxima_above(rows, p_y, roundings):
    """LDP, max-lift, min-lift and maximal leakage, rounded up; P(y) has eight roundings at most."""
    highest, lowest = rows.max(axis=0), rows.min(axis=0)
    return (
        _log_above(highest, lowest, 2 * roundings),
        _log_above(highest, p_y, roundings + 8),
        _log_above(p_y, lowest, roundings + 8),
        _above(math.log(math.fsum(np.ldexp(highest, -SCALE))), roundings + 2),
    )


def _information_above(seen, p_s, p_y, roundings):
    """sum P(s) P(y|s) log(P(y|s) / P(y)), rounded up.

    A logarithm is off by its argument's roundings, 2 roundings + 16 half-ulps in all at most, and a term by as many of
    its own, for its factors and for NumPy's logarithm, which may be off by a few ulps."""
    lift = np.divide(seen, p_y, out=np.ones_like(seen), where=seen > 0.0)
    terms = p_s[:, None] * np.ldexp(seen, -SCALE) * np.log(lift)
    return _above(math.fsum(terms.ravel().tolist()), (2 * roundings + 16) * (1.0 + float(np.abs(terms).sum())))


def _log_above(numerators, denominators, roundings):
    """An upper bound of the largest log(numerator / denominator), 0/0 left out."""
    some = numerators > 0.0
    if (some & (denominators == 0.0)).any():
        return math.inf
    scaled_down = np.ldexp(numerators, -SCALE // 2)  # so that no ratio overflows
    largest = int(np.argmax(np.divide(scaled_down, denominators, out=np.zeros_like(numerators), where=some)))
    numerator, scaled = math.frexp(numerators[largest]), math.frexp(denominators[largest])
    scale = (numerator[1] - scaled[1]) * math.log(2.0)  # 0 but for ratios beyond a factor of two
    return _above(math.log(numerator[0] / scaled[0]) + scale, roundings + 1 + 2.0 * abs(scale))


def _above(figure, roundings):
    """figure and so many half-ulps of one, and a few of its own for log, sum and product."""
    return max(0.0, figure) + HALF_ULP * (roundings + 4.0 + 4.0 * abs(figure))

"""Computes the exact figures of the sampling tables: `sampler.certificate()`.

P(y|s) is computed in whole numbers, from the integers of the tables and from P(x|s), which is a ratio of counts or a
double of the Joint: a whole number over a power of two. The figures are then rounded up.
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
"""Probabilities are doubles times 2^SCALE here: one may be 2^-64 times the smallest double and must not become 0."""


@dataclass(frozen=True, repr=False, eq=False)
class Certificate(Printed, Leakage):
    """Exact figures of the sampling tables in nats, rounded up: at least the truth, by at most 1e-14 (1 + truth).

    They are exact for the P(s) and P(x|s) of the Joint. If these were estimated from records, the figures are plug-in
    estimates for the population that the records came from.

    If the mechanism uses S when sampling, pairs (s, x) that the fit never saw are drawn from P_Y, and ldp and
    maximal_leakage hold for any share of such records. Lifts are against the P_Y of the fit, and mutual_information is
    under its P(S, X).
    """

    p_y_given_s: np.ndarray  # nearest doubles, a row for each s; as in a Joint, P(y) if P(s) = 0
    p_y: np.ndarray

    rounding: ClassVar[str] = "up"
    words = "certificate"


def certificate(sampler):
    """Return the `Certificate` of a Sampler in O(|S||X| + nonzeros) operations on long integers; seconds for 10^6."""
    joint, channel = sampler.joint, Channel(sampler)
    occurring = np.flatnonzero(joint.p_s > 0.0).tolist()
    released = [channel.released_given(s) for s in occurring]
    if channel.unseen.any():
        released.append(channel.unseen_row())
    rows = np.array([(row << SCALE) / total for row, total in released], np.float64)
    seen, p_s = rows[: len(occurring)], joint.p_s[occurring] / math.fsum(joint.p_s)
    p_y = np.array([math.fsum(column) for column in (p_s[:, None] * seen).T.tolist()])
    roundings = 1 if joint.counts is not None else 3  # of P(y|s); two of the three are in P(x|s) as doubles
    information = 0.0 if _all_equal(seen, released) else _information_above(seen, p_s, p_y, roundings)
    ldp, max_lift, min_lift, leakage = (0.0,) * 4 if _all_equal(rows, released) else _maxima_above(rows, p_y, roundings)
    p_y_given_s = np.tile(p_y, (joint.shape[0], 1))
    p_y_given_s[occurring] = seen
    unscaled = (np.ldexp(p, -SCALE) for p in (p_y_given_s, p_y))
    return Certificate(*Leakage.from_lifts(ldp, max_lift, min_lift, information, leakage), *unscaled)


def _all_equal(rows, released):
    """Return whether all rows are the same distribution, in whole numbers; unequal doubles settle it sooner."""
    first, total = released[0]
    pairs = zip(rows, released, strict=False)
    return all((row == rows[0]).all() and (whole * total == first * other).all() for row, (whole, other) in pairs)


def _maxima_above(rows, p_y, roundings):
    """Return LDP, max-lift, min-lift and maximal leakage, rounded up; P(y) has at most eight roundings."""
    highest, lowest = rows.max(axis=0), rows.min(axis=0)
    return (
        _log_above(highest, lowest, 2 * roundings),
        _log_above(highest, p_y, roundings + 8),
        _log_above(p_y, lowest, roundings + 8),
        _above(math.log(math.fsum(np.ldexp(highest, -SCALE))), roundings + 2),
    )


def _information_above(seen, p_s, p_y, roundings):
    """Return sum P(s) P(y|s) log(P(y|s) / P(y)), rounded up.

    The error of a logarithm's argument is at most 2 roundings + 16 half-ulps. Each term has an error of at most as many
    half-ulps of its own, for its factors and for NumPy's logarithm, which may be off by a few ulps.
    """
    lift = np.divide(seen, p_y, out=np.ones_like(seen), where=seen > 0.0)
    terms = p_s[:, None] * np.ldexp(seen, -SCALE) * np.log(lift)
    return _above(math.fsum(terms.ravel().tolist()), (2 * roundings + 16) * (1.0 + float(np.abs(terms).sum())))


def _log_above(numerators, denominators, roundings):
    """Return an upper bound of the largest log(numerator / denominator); 0/0 does not count."""
    some = numerators > 0.0
    if (some & (denominators == 0.0)).any():
        return math.inf
    scaled_down = np.ldexp(numerators, -SCALE // 2)  # no ratio may overflow
    largest = int(np.argmax(np.divide(scaled_down, denominators, out=np.zeros_like(numerators), where=some)))
    numerator, scaled = math.frexp(numerators[largest]), math.frexp(denominators[largest])
    scale = (numerator[1] - scaled[1]) * math.log(2.0)  # not 0 only for ratios beyond a factor of two
    return _above(math.log(numerator[0] / scaled[0]) + scale, roundings + 1 + 2.0 * abs(scale))


def _above(figure, roundings):
    """Return the figure plus so many half-ulps of 1, and a few half-ulps of the figure for log, sum and product."""
    return max(0.0, figure) + HALF_ULP * (roundings + 4.0 + 4.0 * abs(figure))

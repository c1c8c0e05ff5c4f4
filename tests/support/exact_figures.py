"""The six figures of a sampler, computed with fractions and with logarithms of at least 50 digits."""

from fractions import Fraction

import mpmath
import numpy as np

from linred.privacy.leakage import Leakage
from support import stats


def conditionals(joint):
    """Return P(x|s) and P(s) as Fractions, for the s that occur."""
    weights = joint.counts if joint.counts is not None else joint.p_x_given_s
    rows, p_s = [], []
    for s in np.flatnonzero(joint.p_s > 0.0):
        row = [Fraction(value) for value in weights[s].tolist()]
        rows.append([value / sum(row) for value in row])
        p_s.append(Fraction(float(joint.p_s[s])) if joint.counts is None else sum(row))
    return np.flatnonzero(joint.p_s > 0.0), rows, [p / sum(p_s) for p in p_s]


def exact_figures(sampler, digits=50):
    """Return the six figures to at least 50 digits, from P(y|s,x) as read cell by cell."""
    joint, channel = sampler.joint, stats.channel(sampler)
    symbols, rows, p_s = conditionals(joint)
    released = []
    for s, row in zip(symbols, rows, strict=True):
        kernel = channel[s if sampler.sees_s else 0]
        released.append([sum(p * kernel[x, y] for x, p in enumerate(row)) for y in range(len(row))])
    p_y = [sum(p * row[y] for p, row in zip(p_s, released, strict=True)) for y in range(joint.shape[1])]
    unseen = np.argwhere(joint.unseen if sampler.sees_s else joint.p_x[None] == 0.0)
    all_rows = [*released, list(channel[tuple(unseen[0])])] if len(unseen) else released
    with mpmath.workdps(digits):
        ldp = max(log_ratio(max(column), min(column)) for column in zip(*all_rows, strict=True))
        max_lift = max(log_ratio(row[y], p) for row in all_rows for y, p in enumerate(p_y))
        min_lift = max(log_ratio(p, row[y]) for row in all_rows for y, p in enumerate(p_y))
        leakage = log_ratio(sum(max(column) for column in zip(*all_rows, strict=True)), Fraction(1))
        information = sum(
            _mp(p * q) * log_ratio(q, p_y[y])
            for p, row in zip(p_s, released, strict=True)
            for y, q in enumerate(row)
            if q
        )
        return Leakage(ldp, max(max_lift, min_lift), max_lift, min_lift, information, leakage)


def _mp(fraction):
    return mpmath.mpf(fraction.numerator) / mpmath.mpf(fraction.denominator)


def log_ratio(numerator, denominator):
    if numerator == 0:
        return mpmath.mpf("-inf") if denominator else mpmath.mpf(0)
    return mpmath.inf if denominator == 0 else mpmath.log(_mp(numerator / denominator))

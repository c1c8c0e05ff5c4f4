"""P(x|s) in whole numbers: what the exact certificate, and mechanisms with an LDP of exactly 0, compute with."""

import numpy as np


def weights_given(joint, s):
    """Return whole numbers in proportion to P(x|s), without a common divisor, as an array of Python integers.

    They are exact: the counts of s, or the doubles P(x|s).
    """
    return in_proportion(joint.p_x_given_s[s] if joint.counts is None else joint.counts[s])


def marginal_weights(joint):
    """Return whole numbers in proportion to P(x), likewise: the counts of all records, or the doubles P(x)."""
    return in_proportion(joint.p_x if joint.counts is None else joint.counts.sum(axis=0))


def in_proportion(values):
    """Return whole numbers in proportion to nonnegative doubles or integers, at least one of which is positive.

    >>> in_proportion(np.array([0.75, 0.0, 1.5])).tolist(), in_proportion(np.array([4, 6])).tolist()
    ([1, 0, 2], [2, 3])
    """
    whole = values.astype(object)
    if values.dtype.kind == "f":
        mantissa, exponent = np.frexp(values)
        mantissa = np.ldexp(mantissa, 53).astype(np.int64).astype(object)
        whole = mantissa << (exponent - exponent[mantissa != 0].min()).clip(0).astype(object)
    return whole // np.gcd.reduce(whole)

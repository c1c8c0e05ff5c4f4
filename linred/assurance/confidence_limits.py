"""Confidence bounds: what is known of probabilities after n records, each with its proof.

A level is the probability that a bound is wrong. Limits are rounded outwards by `SLACK`, relative, which is far more
than SciPy's inverse of the incomplete beta function is off.
"""

import hashlib

import numpy as np

SLACK = 1e-9
ROUNDINGS = 1e-12
"""What sums of doubles may be off one."""


class CountsRng:
    """Uniform numbers in (0, 1) for a purpose, drawn by a generator whose key is a digest of counts.

    The same counts always get the same numbers, in whatever order the records came, so that a figure can be computed
    again; other counts get others, so that no cell is lucky in all data sets; and nobody can ask for another draw.
    Levels are meant over the records and over these numbers, the digest being as good as random.
    """

    def __init__(self, purpose, counts):
        counts = np.ascontiguousarray(counts, dtype="<i8")
        digest = hashlib.blake2b(counts.tobytes() + repr(counts.shape).encode(), digest_size=16, person=purpose)
        self._generator = np.random.Philox(key=np.frombuffer(digest.digest(), "<u8"))

    def uniform(self, n):
        return (self._generator.random_raw(n) >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54


def highest(n_hits, n, level):
    """The upper Clopper-Pearson limit: the largest p for which n_hits of n or fewer happen with probability >= level.

    Guarantee
    ---------
    It is below the true p with probability `level` at most: so many hits or fewer are then less likely than `level`
    (Clopper & Pearson 1934). n = 0 says nothing: 1.

    >>> float(highest(0, 100, 0.05).round(6))  # 1 - .05 ** (1 / 100)
    0.029513
    """
    from scipy.special import betainccinv

    n_hits, n, level = np.broadcast_arrays(np.asarray(n_hits, np.float64), np.asarray(n, np.float64), level)
    limit, some = np.ones(n.shape), n_hits < n
    limit[some] = betainccinv(n_hits[some] + 1.0, n[some] - n_hits[some], level[some]) * (1.0 + SLACK)
    return np.minimum(limit, 1.0)


def lowest(n_hits, n, level):
    """The lower Clopper-Pearson limit: as `highest`, from below. n_hits = 0 says nothing: 0."""
    from scipy.special import betaincinv

    n_hits, n, level = np.broadcast_arrays(np.asarray(n_hits, np.float64), np.asarray(n, np.float64), level)
    limit, some = np.zeros(n.shape), n_hits > 0
    limit[some] = betaincinv(n_hits[some], n[some] - n_hits[some] + 1.0, level[some]) * (1.0 - SLACK)
    return limit


def evidence_of_two(level):
    """The u that the sum of -ln(p-value) of two independent tests reaches with probability `level` at most.

    Each is at most exponential, so the sum is at most Gamma(2): (1 + u) e^-u = level (Fisher 1932). Rounded up.

    >>> u = evidence_of_two(0.05)
    >>> round(u, 4), bool((1 + u) * np.exp(-u) <= 0.05)
    (4.7439, True)
    """
    from scipy.special import gammainccinv

    return float(gammainccinv(2.0, level)) * (1.0 + SLACK)


def limits_of_two(n_hits, n, level, n_steps):
    """Limits for ratios of two probabilities, of independent groups of records, for every way to share the evidence.

    Returns (highs, lows), each with a last axis of n_steps: for two groups s and s', at any step i,

        p_s / p_s' <= max over i of highs[s, i] / lows[s', i]  with probability 1 - level,

    and so, the groups changed over, p_s / p_s' >= min over i of lows[s, i] / highs[s', i].

    Proof: let t = -ln P(as few hits or fewer) for p_s, and t' = -ln P(as many hits or more) for p_s'. Both are at most
    exponential and independent, so t + t' <= u, `evidence_of_two`, with probability 1 - level. Then t lies in a step
    [t_i, t_i+1] of [0, u]; p_s is at most its limit at the level e^-t_i+1, which is highs[s, i]; and as t' <= u - t_i,
    p_s' is at least its limit at the level e^-(u - t_i), which is lows[s', i]. This is a third tighter than half of the
    level for each: 2.64 standard errors in place of 3.92 where both are equally uncertain, at 95 %.
    """
    steps = np.linspace(0.0, evidence_of_two(level), n_steps + 1)
    n_hits, n = np.asarray(n_hits)[..., None], np.asarray(n)[..., None]
    return highest(n_hits, n, np.exp(-steps[1:])), lowest(n_hits, n, np.exp(-steps[:0:-1]))


def largest_mean(values, low, high):
    """max of sum_i p_i values[..., i] over the distributions p with low <= p <= high, along the last axis.

    A fractional knapsack: what the lower limits leave goes to the largest values first. Where low sums to more than one
    or high to less, by more than rounding, there is no such distribution, and the answer is infinite.
    """
    order = np.argsort(-values, axis=-1)
    values, low, high = (
        np.take_along_axis(np.broadcast_to(part, values.shape), order, -1) for part in (values, low, high)
    )
    room, left = high - low, 1.0 - low.sum(axis=-1, keepdims=True)
    taken = np.clip(left - (np.cumsum(room, axis=-1) - room), 0.0, room)
    possible = (left[..., 0] >= -ROUNDINGS) & (high.sum(axis=-1) >= 1.0 - ROUNDINGS)
    return np.where(possible, ((low + taken) * values).sum(axis=-1), np.inf)


def smallest_mean(values, low, high):
    """As `largest_mean`, the minimum; minus infinity where there is no such distribution."""
    return -largest_mean(-values, low, high)

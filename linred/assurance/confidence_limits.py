"""Confidence limits of probabilities estimated from n records, each with its proof.

A level is the probability that a limit is wrong. Limits are rounded outward by the relative amount `SLACK`, which is
far more than the error of SciPy's inverse incomplete beta function.
"""

import hashlib

import numpy as np

SLACK = 1e-9
ROUNDINGS = 1e-12
"""Largest rounding error of a sum of doubles that should be one."""


class CountsRng:
    """Generator of uniform numbers in (0, 1) for one purpose, whose key is a digest of counts.

    The same counts always give the same numbers, whatever the order of the records, so a figure can be reproduced.
    Different counts give different numbers, so no cell is lucky in every data set. Nobody can ask for another draw.
    Levels are probabilities over the records and these numbers, with the digest treated as random.
    """

    def __init__(self, purpose, counts):
        counts = np.ascontiguousarray(counts, dtype="<i8")
        digest = hashlib.blake2b(counts.tobytes() + repr(counts.shape).encode(), digest_size=16, person=purpose)
        self._generator = np.random.Philox(key=np.frombuffer(digest.digest(), "<u8"))

    def uniform(self, n):
        return (self._generator.random_raw(n) >> np.uint64(11)).astype(np.float64) * 2.0**-53 + 2.0**-54


def highest(n_hits, n, level):
    """Return the upper Clopper-Pearson limit: the largest p with P(n_hits or fewer of n) >= level.

    Guarantee
    ---------
    The limit is below the true p with probability at most `level`, because n_hits or fewer then have a probability
    below `level` (Clopper & Pearson 1934). For n = 0 it is 1.

    >>> float(highest(0, 100, 0.05).round(6))  # 1 - .05 ** (1 / 100)
    0.029513
    """
    from scipy.special import betainccinv

    n_hits, n, level = np.broadcast_arrays(np.asarray(n_hits, np.float64), np.asarray(n, np.float64), level)
    limit, some = np.ones(n.shape), n_hits < n
    limit[some] = betainccinv(n_hits[some] + 1.0, n[some] - n_hits[some], level[some]) * (1.0 + SLACK)
    return np.minimum(limit, 1.0)


def lowest(n_hits, n, level):
    """Return the lower Clopper-Pearson limit, the mirror image of `highest`. For n_hits = 0 it is 0."""
    from scipy.special import betaincinv

    n_hits, n, level = np.broadcast_arrays(np.asarray(n_hits, np.float64), np.asarray(n, np.float64), level)
    limit, some = np.zeros(n.shape), n_hits > 0
    limit[some] = betaincinv(n_hits[some], n[some] - n_hits[some] + 1.0, level[some]) * (1.0 - SLACK)
    return limit


def evidence_of_two(level):
    """Return the u that the sum of -ln(p-value) of two independent tests reaches with probability at most `level`.

    Each summand is stochastically at most exponential, so the sum is at most Gamma(2): u solves (1 + u) e^-u = level
    (Fisher 1932). Rounded up.

    >>> u = evidence_of_two(0.05)
    >>> round(u, 4), bool((1 + u) * np.exp(-u) <= 0.05)
    (4.7439, True)
    """
    from scipy.special import gammainccinv

    return float(gammainccinv(2.0, level)) * (1.0 + SLACK)


def limits_of_two(n_hits, n, level, n_steps):
    """Return limits for ratios of two probabilities, from independent groups of records.

    Returns (highs, lows), each with a last axis of n_steps, the ways to share the evidence between the two groups. For
    two groups s and s',

        p_s / p_s' <= max over i of highs[s, i] / lows[s', i]  with probability 1 - level,

    and likewise, with the groups exchanged, p_s / p_s' >= min over i of lows[s, i] / highs[s', i].

    Proof: let t = -ln P(this many hits or fewer) for p_s, and t' = -ln P(this many hits or more) for p_s'. They are
    independent and stochastically at most exponential, so t + t' <= u, where u = `evidence_of_two`, with probability
    1 - level. On that event t lies in some step [t_i, t_i+1] of [0, u]. Then p_s is at most its limit at the level
    e^-t_i+1, which is highs[s, i]; and because t' <= u - t_i, p_s' is at least its limit at the level e^-(u - t_i),
    which is lows[s', i]. This is a third tighter than giving each group half of the level: 2.64 instead of 3.92
    standard errors at 95 % where both groups are equally uncertain.
    """
    steps = np.linspace(0.0, evidence_of_two(level), n_steps + 1)
    n_hits, n = np.asarray(n_hits)[..., None], np.asarray(n)[..., None]
    return highest(n_hits, n, np.exp(-steps[1:])), lowest(n_hits, n, np.exp(-steps[:0:-1]))


def largest_mean(values, low, high):
    """Return the maximum of sum_i p_i values[..., i] over all distributions p with low <= p <= high (last axis).

    This is a fractional knapsack: the mass that the lower limits leave goes to the largest values first. If low sums to
    more than one or high to less, beyond rounding, no such distribution exists and the result is infinite.
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
    """Return the minimum, as `largest_mean` the maximum; minus infinity if no such distribution exists."""
    return -largest_mean(-values, low, high)

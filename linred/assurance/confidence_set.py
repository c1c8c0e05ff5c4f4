"""The confidence set of P(S, X): a box that holds every P(x|s) and P(s) at once, from the counts of all records."""

from typing import NamedTuple

import numpy as np

from linred.assurance import confidence_limits

OF_S = 0.02
"""Share of the level for P(s). It is estimated from all records, and only lifts depend on it."""


class ConfidenceSet(NamedTuple):
    """Lower and upper limits of P(x|s), |S| x |X|, and of P(s), |S|.

    Guarantee
    ---------
    If the counts are of independent draws from P(S, X), then with probability at least 1 - level all P(x|s) and all
    P(s) lie within their limits, so that a mechanism may be chosen after looking at them. Proof: given the number of
    records of each s, each of the 2 |S||X| limits of P(x|s) is wrong with probability at most (1 - OF_S) level /
    (2 |S||X|) (Clopper & Pearson 1934); each of the 2 |S| limits of P(s) is with at most OF_S level / (2 |S|). These
    probabilities add up to the level.
    """

    low: np.ndarray
    high: np.ndarray
    s_low: np.ndarray
    s_high: np.ndarray

    @classmethod
    def of(cls, counts, level):
        """Return the set at the confidence 1 - level. counts : |S| x |X|."""
        counts = np.asarray(counts)
        n_s = counts.sum(axis=1)
        of_x, of_s = (1.0 - OF_S) * level / (2.0 * counts.size), OF_S * level / (2.0 * n_s.size)
        return cls(*_limits(counts, n_s[:, None], of_x), *_limits(n_s, n_s.sum(), of_s))


def _limits(n_hits, n, level):
    return confidence_limits.lowest(n_hits, n, level), confidence_limits.highest(n_hits, n, level)

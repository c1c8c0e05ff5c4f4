"""The confidence set of P(S, X): a box that holds every P(x|s) and P(s) at once, from the counts of all records."""

from typing import NamedTuple

import numpy as np

from linred.assurance import confidence_limits


class ConfidenceSet(NamedTuple):
    """Lower and upper limits of P(x|s), |S| x |X|, and of P(s), |S|.

    Guarantee
    ---------
    If the counts are of independent draws from P(S, X), then with probability at least 1 - level all P(x|s) and all
    P(s) lie within their limits. Proof: there are 2 (|S||X| + |S|) limits, each of which is wrong with probability at
    most level / (2 (|S||X| + |S|)) (Clopper & Pearson 1934), given the numbers of records of each s for P(x|s). What
    depends on the records only through the choice of a mechanism may therefore be chosen after looking at them.
    """

    low: np.ndarray
    high: np.ndarray
    s_low: np.ndarray
    s_high: np.ndarray

    @classmethod
    def of(cls, counts, level):
        """Return the set at the confidence 1 - level. counts : |S| x |X|."""
        counts = np.asarray(counts)
        n_s, shared = counts.sum(axis=1), level / (2.0 * (counts.size + counts.shape[0]))
        return cls(*_limits(counts, n_s[:, None], shared), *_limits(n_s, n_s.sum(), shared))


def _limits(n_hits, n, level):
    return confidence_limits.lowest(n_hits, n, level), confidence_limits.highest(n_hits, n, level)

"""Limits for every symbol of an alphabet of any size, against exact sums and simulations."""

import numpy as np
from scipy.stats import binom

import linred
from linred.assurance import confidence_limits, released
from support.joints import example_1
from support.populations import ERROR_RATE

KEY = bytes(range(32))
TWO = linred.Joint(example_1().p_sx)


def test_limits_of_any_alphabet_hold_all_at_once():
    """Over alphabets of any size, a limit above its p in `level` of the runs at most; and it is no trivial one."""
    rng, level, runs = np.random.default_rng(7), 0.05, 300
    for p in (np.full(3, 1 / 3), np.full(1000, 1e-3), np.array([0.9, *[1e-4] * 1000])):
        hits = rng.multinomial(1000, p, runs)
        low = released.lowest_of_any(hits, 1000, level)
        high = np.where(hits > 0, released.highest_of_any(np.maximum(hits, 1), 1000, level), 1.0)
        for wrong in ((low > p).any(axis=1).sum(), (high < p).any(axis=1).sum()):
            assert binom.sf(wrong - 1, runs, level) > ERROR_RATE
        assert low.max(axis=1).min() > 0.0 or p[0] == 1e-3
    assert released.lowest_of_any(np.array([0, 1]), np.array([10, 1]), 0.5).tolist() == [0.0, 0.0]


def test_the_share_of_rare_symbols_is_needed():
    """A level shared out over the y that occur only: the limits of rare ones fail too often. This is what
    `lowest_of_any` is for."""
    rng, level, n_y = np.random.default_rng(8), 0.05, 200_000
    n_wrong = np.zeros(2, int)
    for _ in range(300):
        n_hits = np.unique(rng.integers(n_y, size=1000), return_counts=True)[1]
        naive = confidence_limits.lowest(n_hits, 1000, level / n_hits.size)
        n_wrong += [(low > 1 / n_y).any() for low in (naive, released.lowest_of_any(n_hits, 1000, level))]
    assert binom.sf(n_wrong[0] - 1, 300, level) < ERROR_RATE
    assert binom.sf(n_wrong[1] - 1, 300, level) > ERROR_RATE

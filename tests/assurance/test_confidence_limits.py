"""Confidence bounds against scipy.stats, against linear programmes, and by exact sums over all outcomes."""

import math

import numpy as np
import pytest
from scipy import optimize, stats

from linred.assurance import confidence_limits


@pytest.mark.parametrize("level", [0.5, 0.05, 1e-6])
def test_limits_are_clopper_pearsons(level):
    for n in (1, 7, 50, 4000):
        for n_hits in {0, 1, n // 3, n - 1, n}:
            exact = stats.binomtest(n_hits, n).proportion_ci(1.0 - 2.0 * level, "exact")
            for ours, theirs in zip((confidence_limits.lowest, confidence_limits.highest), exact, strict=True):
                if ours is confidence_limits.lowest and n_hits == 0:
                    theirs = 0.0
                if ours is confidence_limits.highest and n_hits == n:
                    theirs = 1.0
                assert float(ours(n_hits, n, level)) == pytest.approx(theirs, rel=1e-6, abs=2e-12)


def test_limits_keep_their_level_exactly():
    """The probability of a limit that is wrong, summed over all outcomes, is at most the level; and not far below."""
    for n in (5, 40):
        hits, n_steps = np.arange(n + 1), 2000
        high, low = confidence_limits.highest(hits, n, 0.1), confidence_limits.lowest(hits, n, 0.1)
        p = (np.arange(n_steps) + 0.5) / n_steps
        probability = stats.binom.pmf(hits, n, p[:, None])
        for wrong in ((high < p[:, None]), (low > p[:, None])):
            missed = (probability * wrong).sum(axis=1)
            assert missed.max() <= 0.1 + 1e-12
            assert missed.max() > 0.09


def test_no_records_say_nothing():
    assert float(confidence_limits.highest(0, 0, 0.05)) == 1.0
    assert float(confidence_limits.lowest(0, 0, 0.05)) == 0.0


def test_evidence_of_two():
    for level in (0.5, 0.05, 1e-3, 1e-12):
        u = confidence_limits.evidence_of_two(level)
        assert (1.0 + u) * math.exp(-u) <= level
        assert (1.0 + u) * math.exp(-u) == pytest.approx(level, rel=1e-6)
        assert stats.gamma(2).sf(u) == pytest.approx(level, rel=1e-6)


@pytest.mark.parametrize("n_steps", [1, 8, 64])
def test_ratios_keep_their_level_exactly(n_steps):
    """For all outcomes of two groups: the probability that the bound of a ratio is below the truth."""
    sizes, level, tightest = (12, 9), 0.1, 0.0
    hits = np.stack(np.meshgrid(*(np.arange(n + 1) for n in sizes), indexing="ij"))
    highs, lows = confidence_limits.limits_of_two(hits, np.array(sizes)[:, None, None], level, n_steps)
    with np.errstate(divide="ignore"):
        above = (highs[0] / lows[1]).max(axis=-1)
        below = (lows[0] / highs[1]).min(axis=-1)
    for p in np.linspace(0.03, 0.97, 25):
        for q in np.linspace(0.03, 0.97, 25):
            probability = stats.binom.pmf(hits[0], sizes[0], p) * stats.binom.pmf(hits[1], sizes[1], q)
            missed = probability[above < p / q].sum()
            assert missed <= level
            assert probability[below > p / q].sum() <= level
            tightest = max(tightest, missed)
    assert tightest > (0.0 if n_steps == 1 else 0.02)


def test_ratios_are_a_third_tighter_than_two_halves_of_the_level():
    highs, lows = confidence_limits.limits_of_two(np.array([5000, 5000]), np.array([10000, 10000]), 0.05, 64)
    ours = math.log((highs[0] / lows[1]).max())
    halves = math.log(confidence_limits.highest(5000, 10000, 0.025) / confidence_limits.lowest(5000, 10000, 0.025))
    assert 0.6 < ours / halves < 0.7


def test_means_are_those_of_a_linear_programme():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = int(rng.integers(2, 9))
        p = rng.dirichlet(np.ones(n))
        low, high = np.clip(p - rng.random(n) * 0.2, 0.0, 1.0), np.clip(p + rng.random(n) * 0.2, 0.0, 1.0)
        values = rng.normal(size=(3, n))
        most, least = (
            confidence_limits.largest_mean(values, low, high),
            confidence_limits.smallest_mean(values, low, high),
        )
        for i, row in enumerate(values):
            for sign, ours in ((-1.0, most[i]), (1.0, least[i])):
                box = np.stack([low, high], axis=1)
                solved = optimize.linprog(sign * row, A_eq=np.ones((1, n)), b_eq=[1.0], bounds=box)
                assert ours == pytest.approx(sign * solved.fun, abs=1e-9)


def test_an_empty_box_is_infinite():
    values = np.array([1.0, 2.0])
    assert confidence_limits.largest_mean(values, np.array([0.6, 0.6]), np.ones(2)) == math.inf
    assert confidence_limits.largest_mean(values, np.zeros(2), np.array([0.4, 0.4])) == math.inf
    assert confidence_limits.smallest_mean(values, np.zeros(2), np.array([0.4, 0.4])) == -math.inf

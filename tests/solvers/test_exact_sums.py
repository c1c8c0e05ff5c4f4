"""Balancing gives tables of probabilities exact sums, and no entry becomes negative."""

import numpy as np
import pytest

from linred.solvers import exact_sums


@pytest.mark.parametrize("off", [1e-12, 1e-6, 1e-2])
def test_sums_along_both_ways(off):
    rng = np.random.default_rng(1)
    for _ in range(50):
        n_s, n_y = rng.integers(1, 8, 2)
        rows, weights = rng.dirichlet(np.full(n_y, 0.5), n_s), rng.dirichlet(np.ones(n_s))
        p_y = weights @ rows
        near = rows * (1.0 + off * rng.uniform(-1.0, 1.0, rows.shape))
        exact = exact_sums.with_exact_sums(near, weights, p_y)
        assert exact.min() >= 0.0
        np.testing.assert_allclose(exact.sum(axis=1), 1.0, rtol=0, atol=1e-15 * n_y)
        np.testing.assert_allclose(weights @ exact, p_y, rtol=0, atol=1e-15 * n_y)
        np.testing.assert_allclose(exact, rows, rtol=0, atol=4.0 * off)


def test_means_along_both_ways_within_limits():
    rng = np.random.default_rng(2)
    for _ in range(50):
        n_s, n_x = rng.integers(2, 8, 2)
        joint = rng.dirichlet(np.full(n_s * n_x, 2.0)).reshape(n_s, n_x)
        p_s, p_x = joint.sum(axis=1), joint.sum(axis=0)
        lifts = joint / np.outer(p_s, p_x)  # their means over rows and columns are one, so a solution exists
        low, high = 0.8 * lifts, 1.2 * lifts
        q = exact_sums.with_both_means(rng.uniform(low, high), low, high, p_s, p_x)
        assert (q >= low * (1.0 - 1e-12)).all()
        assert (q <= high * (1.0 + 1e-12)).all()
        np.testing.assert_allclose(q @ p_x, 1.0, rtol=0, atol=1e-12)
        np.testing.assert_allclose(p_s @ q, 1.0, rtol=0, atol=1e-12)

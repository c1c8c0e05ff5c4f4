"""Linear programmes for the optimal mechanism, against plain formulations solved independently."""

import numpy as np
import pytest

import linred
from support.joints import random_joint
from support.programmes import TARGETS, cost_of, metric
from support.promises import check_promises
from support.target_programmes import fewest_changes

JOINTS = [(2, 4, 0.0, False), (3, 5, 0.3, False), (4, 3, 0.2, True), (5, 5, 0.0, True), (2, 6, 0.4, True)]


@pytest.mark.parametrize("shape", JOINTS, ids=str)
@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("sees_s", [True, False])
@pytest.mark.parametrize("keep_marginal", [True, False])
@pytest.mark.parametrize("kind", ["hamming", "steps", "squares"])
def test_no_mechanism_costs_less(shape, target, sees_s, keep_marginal, kind):
    n_s, n_x, zeros, ties = shape
    joint = random_joint(np.random.default_rng(n_s * n_x), n_s, n_x, zeros, ties)
    d = metric(kind, n_x)
    mechanism = linred.optimal(
        joint, **target, sees_s=sees_s, keep_marginal=keep_marginal, distortion=None if kind == "hamming" else d
    )
    least = fewest_changes(joint.p_sx, **target, keep_marginal=keep_marginal, sees_s=sees_s, distortion=d)[0]
    assert cost_of(mechanism, d) == pytest.approx(least, rel=1e-7, abs=1e-8)
    assert mechanism.gap < 1e-9
    check_promises(mechanism, keep_marginal)


@pytest.mark.parametrize("shape", JOINTS, ids=str)
@pytest.mark.parametrize("kind", ["hamming", "steps", "squares"])
def test_the_best_markov_mechanism_of_a_linear_reduction(shape, kind):
    n_s, n_x, zeros, ties = shape
    joint, d = random_joint(np.random.default_rng(n_s * n_x), n_s, n_x, zeros, ties), metric(kind, n_x)
    mechanism = linred.optimal(joint, alpha=0.4, sees_s=False, distortion=None if kind == "hamming" else d)
    reduction = linred.linear_reduction(joint, 0.4)
    least = fewest_changes(joint.p_sx, p_y_given_s=reduction.p_x_given_s, sees_s=False, distortion=d)[0]
    assert cost_of(mechanism, d) == pytest.approx(least, rel=1e-7, abs=1e-8)
    assert mechanism.gap < 1e-9
    np.testing.assert_allclose(mechanism.p_y_given_s, reduction.p_x_given_s, rtol=1e-11, atol=1e-12)
    realised = np.einsum("sx,sxy->sy", joint.p_x_given_s, mechanism.p_y_given_sx)
    np.testing.assert_allclose(realised[joint.p_s > 0], reduction.p_x_given_s[joint.p_s > 0], rtol=0, atol=1e-11)

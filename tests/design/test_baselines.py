"""`linred.baselines` against matrices written out independently, and the least noise that meets a target."""

import numpy as np
import pytest
from hypothesis import given

import linred
from linred import Joint
from linred.design import baselines
from support.joints import adult, count_tables, example_1, random_joint, targets
from support.promises import check_promises

ALL = [baselines.k_rr, baselines.pram, baselines.watchdog]


@pytest.mark.parametrize("baseline", ALL)
@given(count_tables, targets)
def test_targets_are_met(baseline, counts, target):
    mechanism = baseline(Joint.from_counts(counts), **target)
    check_promises(mechanism, keep_marginal=mechanism.name != "k_rr")
    assert not mechanism.sees_s
    assert mechanism.name == baseline.__name__


def response(n_x, share):
    return (1.0 - share) * np.eye(n_x) + share / n_x


def invariant(p_x, share):
    """P(y|x) of randomised response followed by Bayes' rule, written out."""
    there = response(p_x.size, share)
    p_xz = p_x[:, None] * there
    return there @ (p_xz / p_xz.sum(axis=0)).T


def figures(joint, w):
    return linred.ldp(Joint.from_conditional(joint.p_x_given_s @ w, joint.p_s))


@pytest.mark.parametrize("joint", [example_1(), adult(), random_joint(np.random.default_rng(1), 4, 9)], ids=str)
@pytest.mark.parametrize("ldp", [0.3, 1.0])
def test_randomised_response_with_the_least_noise(joint, ldp):
    mechanism = baselines.k_rr(joint, ldp=ldp)
    w = mechanism.p_y_given_x
    n_x = joint.shape[1]
    share = n_x * w[0, 1]
    np.testing.assert_allclose(w, response(n_x, share), rtol=0, atol=1e-13)
    assert figures(joint, response(n_x, share * (1 - 1e-9))) > ldp
    np.testing.assert_allclose(mechanism.p_y, joint.p_x @ w, rtol=0, atol=1e-15)


@pytest.mark.parametrize("joint", [example_1(), adult(), random_joint(np.random.default_rng(1), 4, 9)], ids=str)
@pytest.mark.parametrize("ldp", [0.3, 1.0])
def test_invariant_post_randomisation_with_the_least_noise(joint, ldp):
    w = baselines.pram(joint, ldp=ldp).p_y_given_x
    shares = np.linspace(0.0, 1.0, 2001)
    by_share = [figures(joint, invariant(joint.p_x, share)) for share in shares[1:]]
    assert (np.diff(by_share) <= 1e-12).all(), "figures decrease with the noise, so bisection finds the least"
    least = shares[1 + int(np.argmax(np.array(by_share) <= ldp))]
    low, high = (np.trace(invariant(joint.p_x, share)) for share in (least, least - shares[1]))
    assert low - 1e-9 <= np.trace(w) <= high + 1e-9
    np.testing.assert_allclose(joint.p_x @ w, joint.p_x, rtol=0, atol=1e-14)


def test_a_generous_target_changes_nothing():
    for baseline in ALL:
        assert baseline(example_1(), ldp=2.0).dtv() == pytest.approx(0.0, abs=1e-15)


def test_a_target_of_zero_is_a_linear_reduction_only_where_it_draws_from_p_x():
    told = {baseline.__name__: baseline(example_1(), ldp=0.0) for baseline in ALL}
    assert {name: mechanism.alpha for name, mechanism in told.items()} == {"k_rr": None, "pram": 1.0, "watchdog": 1.0}
    assert told["k_rr"].described() == "k_rr, ldp <= 0.0"


@pytest.mark.parametrize("baseline", ALL)
def test_bad_arguments(baseline):
    with pytest.raises(ValueError, match="no target"):
        baseline(example_1())
    with pytest.raises(ValueError, match="log_lift = nan is outside"):
        baseline(example_1(), log_lift=float("nan"))
    with pytest.raises(TypeError, match="joint is a list"):
        baseline([[1.0]], ldp=1.0)

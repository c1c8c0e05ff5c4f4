"""`linred.selective` against the optimum and against its targets."""

import numpy as np
import pytest
from hypothesis import given

import linred
from linred import Joint
from support.joints import adult, count_tables, counts, example_1, random_joint, targets
from support.promises import check_promises


@given(count_tables, targets)
def test_it_meets_targets_and_its_bound_is_one(counts, target):
    joint = Joint.from_counts(counts)
    mechanism = linred.selective(joint, **target)
    check_promises(mechanism)
    least = linred.optimal(joint, **target)
    assert least.dtv() <= mechanism.dtv() + 1e-9
    assert mechanism.dtv() - mechanism.gap <= least.dtv() + 1e-12
    assert mechanism.dtv() <= linred.non_markov(joint, **target).dtv()


def test_where_proposition_1_is_better_it_is_taken():
    joint = Joint.from_counts([[2, 1, 1], [1, 2, 4]])
    mechanism = linred.selective(joint, ldp=1.0, prefer="sparse")
    assert mechanism.name == "non_markov"
    assert mechanism.dtv() == linred.non_markov(joint, ldp=1.0).dtv()
    assert 0.0 <= mechanism.gap < mechanism.dtv()
    d = np.array([[0.0, 1.0, 9.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
    costs = [f(joint, ldp=1.0, distortion=d).expected_distortion(d) for f in (linred.selective, linred.non_markov)]
    assert costs[0] <= costs[1]


def interval_by_bisection(lifts, p_s, factor):
    """Return the L for which the mass above [L, factor L] balances the mass below."""
    low, high = 0.0, lifts.max()
    for _ in range(200):
        least = 0.5 * (low + high)
        balance = p_s @ (np.maximum(lifts - factor * least, 0.0) - np.maximum(least - lifts, 0.0))
        low, high = (least, high) if balance > 0.0 else (low, least)
    return high


def test_intervals_are_balanced():
    from linred.design.selective import _intervals
    from linred.solvers.constraints import Limits

    joint = random_joint(np.random.default_rng(3), 6, 30, zeros=0.2)
    lifts = joint.p_x_given_s / joint.p_x
    for ldp in (0.3, 1.0, 3.0):
        low, high = _intervals(lifts, Limits(joint.p_s, joint.p_x, True, ldp))
        np.testing.assert_allclose(high, np.exp(ldp) * low, rtol=1e-15)
        expected = [interval_by_bisection(column, joint.p_s, np.exp(ldp)) for column in lifts.T]
        cut = joint.p_s @ np.maximum(lifts - high, 0.0)
        np.testing.assert_allclose(cut, joint.p_s @ np.maximum(low - lifts, 0.0), rtol=0, atol=1e-14)
        np.testing.assert_allclose(low[cut > 1e-12], np.array(expected)[cut > 1e-12], rtol=1e-10)
        assert (cut > 1e-12).sum() > 5


def test_only_extreme_s_move_where_rows_allow_it():
    """Two mirrored values of s: clipping leaves both row sums at one, so nothing else moves."""
    joint = Joint.from_conditional([[0.6, 0.25, 0.15], [0.15, 0.25, 0.6]], [0.5, 0.5])
    mechanism = linred.selective(joint, ldp=1.0)
    assert mechanism.p_y_given_s[:, 1] == pytest.approx([0.25, 0.25], abs=1e-15)
    assert mechanism.gap < 1e-11
    assert mechanism.dtv() == pytest.approx(linred.optimal(joint, ldp=1.0).dtv(), abs=1e-11)


@pytest.mark.parametrize(
    ("joint", "ldp", "ratio"),
    [(example_1(), 0.5, 1.001), (example_1(), 1.0, 1.001), (adult(), 0.5, 1.03), (adult(), 1.0, 1.19)],
)
def test_how_far_from_the_optimum(joint, ldp, ratio):
    mechanism, best, linear = (f(joint, ldp=ldp) for f in (linred.selective, linred.optimal, linred.non_markov))
    assert best.dtv() - 1e-12 <= mechanism.dtv() <= ratio * best.dtv()
    assert mechanism.dtv() < linear.dtv()


def test_with_a_distortion():
    joint = adult()
    d = np.abs(np.subtract.outer(np.arange(15.0), np.arange(15.0)))
    mechanism = linred.selective(joint, ldp=0.5, distortion=d)
    check_promises(mechanism)
    assert (
        mechanism.expected_distortion(d) >= linred.optimal(joint, ldp=0.5, distortion=d).expected_distortion(d) - 1e-9
    )
    assert mechanism.gap == mechanism.expected_distortion(d)


def test_a_large_alphabet():
    """A linear programme of these 200,000 cells would take far too long."""
    joint = random_joint(np.random.default_rng(4), 200, 1000, zeros=0.3)
    mechanism = linred.selective(joint, ldp=1.0)
    assert mechanism.target.is_met_by(mechanism.sampler().certificate())
    np.testing.assert_allclose(mechanism.joint.p_s @ mechanism.p_y_given_s, joint.p_x, rtol=0, atol=1e-12)
    assert 0.0 < mechanism.gap < 0.2 * mechanism.dtv()


@pytest.mark.parametrize("target", [{"ldp": 1.0, "log_lift": 800.0}, {"ldp": 800.0}, {"log_lift": 800.0}], ids=str)
def test_targets_beyond_what_exp_can_say(target):
    check_promises(linred.selective(example_1(), **target))


def test_probabilities_stay_probabilities_for_large_targets():
    rng = np.random.default_rng(89)
    p = rng.dirichlet(np.ones(4), 2)
    p[0, 2] *= 1e-60
    joint = Joint.from_conditional(p / p.sum(axis=1, keepdims=True), [0.3, 0.7])
    mechanism = linred.selective(joint, ldp=130.0)
    assert mechanism.keep.min() >= 0.0
    assert mechanism.p_y_given_s.min() >= 0.0


def test_flights():
    joint = counts("flights_carrier_dest")
    for ldp, ratio in ((0.5, 1.03), (1.0, 1.06), (2.0, 1.12)):
        mechanism = linred.selective(joint, ldp=ldp)
        assert mechanism.dtv() <= ratio * linred.optimal(joint, ldp=ldp).dtv()


def test_bad_arguments():
    for arguments, message in [
        ({}, "no target"),
        ({"ldp": -1.0}, r"ldp = -1.0 is outside \[0, inf\]"),
        ({"ldp": 1.0, "prefer": "x"}, "prefer = 'x' is not"),
    ]:
        with pytest.raises(ValueError, match=message):
            linred.selective(example_1(), **arguments)

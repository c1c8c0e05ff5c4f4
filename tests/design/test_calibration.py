"""Calibration: the smallest alpha for a target, and targets that the sampled integers meet."""

import decimal
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import linred
from linred import Joint
from linred.privacy.leakage import Leakage
from linred.privacy.takes_target import target_of
from support import stats
from support.exact_figures import exact_figures
from support.joints import count_tables, example_1, random_joint
from support.mechanisms import CLOSED_FORMS

targets = st.one_of(st.floats(0.0, 2.0), st.sampled_from([0.0, 1e-20, 1e-12, 1e-6, 0.5, 5.0]))


@given(count_tables, targets, st.one_of(st.none(), targets), st.sampled_from(sorted(CLOSED_FORMS)))
def test_targets_are_met_in_the_integers(counts, ldp, log_lift, name):
    joint = linred.Joint.from_counts(counts)
    mechanism = CLOSED_FORMS[name](joint, ldp=ldp, log_lift=log_lift)
    assert mechanism.target == target_of({"ldp": ldp, "log_lift": log_lift})
    truth = exact_figures(mechanism.sampler())
    assert truth.ldp <= ldp
    assert log_lift is None or truth.log_lift <= log_lift
    assert mechanism.sampler().certificate().ldp <= ldp
    assert linred.ldp(mechanism.released) <= ldp


@pytest.mark.parametrize("name", sorted(CLOSED_FORMS))
def test_a_target_costs_hardly_more_than_the_formula(name):
    rng = np.random.default_rng(5)
    for _ in range(40):
        joint = random_joint(rng, int(rng.integers(2, 6)), int(rng.integers(2, 12)))
        mechanism = CLOSED_FORMS[name](joint, ldp=0.5)
        assert 0.0 <= mechanism.alpha - linred.alpha_for(joint, ldp=0.5) <= 1e-10
        assert mechanism.sampler().certificate().ldp <= 0.5


@pytest.mark.parametrize("name", sorted(CLOSED_FORMS))
def test_a_target_of_zero_draws_whatever_s_and_x_are(name):
    joint = random_joint(np.random.default_rng(6), 4, 9)
    for target in ({"ldp": 0.0}, {"log_lift": 0.0}, {"ldp": 1e-18}):
        mechanism = CLOSED_FORMS[name](joint, **target)
        channel = stats.channel(mechanism.sampler())
        assert (channel == channel[0, 0]).all()
        assert mechanism.sampler().certificate().figures == Leakage.all_equal(0.0)


def test_a_target_that_is_met_already_changes_nothing():
    joint = example_1()
    assert linred.non_markov(joint, ldp=5.0).dtv() == 0.0
    independent = linred.Joint.from_counts(np.outer([3, 7], [1, 5, 2]))
    assert linred.non_markov(independent, ldp=1e-6).dtv() == 0.0
    assert linred.non_markov(independent, ldp=0.0).dtv() == linred.markov(independent, ldp=0.0).dtv() == 0.0
    assert linred.markov(independent, ldp=0.0).sampler().certificate().ldp == 0.0


def test_symbols_too_rare_for_the_tables_are_named_or_met_by_markov():
    p = np.array([[0.5, 0.5, 1e-25], [0.2, 0.8, 1e-30]])
    joint = linred.Joint.from_conditional(p / p.sum(axis=1, keepdims=True), [0.5, 0.5], x_labels=["a", "b", "rare"])
    message = r"ldp <= 0\.5 cannot be met: P\(x\) of x_labels\[2\] \(order of 1e-26\) is too small for 64-bit tables: "
    with pytest.raises(linred.CannotMeetError, match=f"^{message}merge it with another symbol, or use markov$"):
        linred.non_markov(joint, ldp=0.5)

    assert linred.markov(joint, ldp=0.5).sampler().certificate().ldp <= 0.5


def test_targets_that_tables_hardly_tell_from_zero_are_met_by_independence():
    joint = linred.Joint.from_counts([[10**9, 2 * 10**9, 1], [2 * 10**9, 10**9, 0]])
    for ldp in (1e-12, 1e-11, 1e-10):
        mechanism = linred.non_markov(joint, ldp=ldp)
        assert exact_figures(mechanism.sampler()).ldp <= ldp


def test_alpha_and_targets_exclude_each_other():
    joint = example_1()
    for build in (linred.markov, linred.non_markov):
        with pytest.raises(ValueError, match=r"alpha= and a target are both given"):
            build(joint, 0.5, ldp=1.0)
        with pytest.raises(ValueError, match="no target"):
            build(joint)
        with pytest.raises(ValueError, match=r"ldp = -1 is outside"):
            build(joint, ldp=-1)
        assert build(joint, 0.5).target is None


def test_alphas_of_alpha_for_are_met_in_the_integers_too():
    """Not guaranteed but nearly always true; users who calibrate in two steps expect it."""
    rng = np.random.default_rng(7)
    met = []
    for _ in range(100):
        joint = random_joint(rng, int(rng.integers(2, 6)), int(rng.integers(2, 12)))
        mechanism = linred.non_markov(joint, linred.alpha_for(joint, ldp=0.4))
        met.append(mechanism.sampler().certificate().ldp <= 0.4)
    assert np.mean(met) > 0.95


def figures_of_reduction(joint, alpha):
    """LDP and log-lift of (1-alpha) P(x|s) + alpha P(x) over the reals, for the given doubles, in 50 digits."""
    alpha, p_x = Fraction(alpha), [Fraction(p) for p in joint.p_x.tolist()]
    rows = [
        [(1 - alpha) * Fraction(p) + alpha * q for p, q in zip(row, p_x, strict=True)]
        for row, p_s in zip(joint.p_x_given_s.tolist(), joint.p_s.tolist(), strict=True)
        if p_s > 0
    ]
    ldp = lift = Fraction(1)
    for q, column in zip(p_x, zip(*rows, strict=True), strict=True):
        if q == 0:
            continue
        if min(column) == 0:
            return math.inf, math.inf
        ldp, lift = max(ldp, max(column) / min(column)), max(lift, max(column) / q, q / min(column))
    decimal.getcontext().prec = 50
    return tuple((decimal.Decimal(r.numerator) / decimal.Decimal(r.denominator)).ln() for r in (ldp, lift))


optional_targets = st.one_of(st.none(), st.floats(1e-6, 4.0), st.sampled_from([0.5, 1.0, 2.0, 0.1]))


@given(count_tables, optional_targets, optional_targets)
def test_alpha_for_meets_its_targets_in_the_reals_and_is_the_smallest(counts, ldp, log_lift):
    assume(ldp is not None or log_lift is not None)
    joint = Joint.from_counts(counts)
    alpha = linred.alpha_for(joint, ldp=ldp, log_lift=log_lift)
    released = linred.linear_reduction(joint, alpha)
    exact_ldp, exact_lift = figures_of_reduction(joint, alpha)
    slack = math.inf
    if ldp is not None:
        assert linred.ldp(released) <= ldp
        assert exact_ldp <= decimal.Decimal(ldp)
        slack = min(slack, float(decimal.Decimal(ldp) - exact_ldp))
    if log_lift is not None:
        assert linred.log_lift(released) <= log_lift
        assert exact_lift <= decimal.Decimal(log_lift)
        slack = min(slack, float(decimal.Decimal(log_lift) - exact_lift))
    assert alpha == 0.0 or slack < 2e-14, "the target is used up to rounding"


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 3.0))
def test_alpha_for_on_smooth_joints(seed, target):
    joint = random_joint(np.random.default_rng(seed), 3, 5)
    for name in ("ldp", "log_lift"):
        alpha = linred.alpha_for(joint, **{name: target})
        figure = figures_of_reduction(joint, alpha)[name == "log_lift"]
        assert figure <= decimal.Decimal(target)
        assert alpha == 0.0 or float(decimal.Decimal(target) - figure) < 2e-14


def test_extreme_targets():
    joint = Joint([[0.25, 0.25], [0.5, 0.0]])
    assert linred.alpha_for(joint, ldp=0.0) == 1.0
    assert linred.alpha_for(joint, log_lift=0.0) == 1.0
    assert linred.alpha_for(joint, ldp=math.inf) == 0.0
    assert 0.0 < linred.alpha_for(joint, ldp=1000.0) < 1e-15
    assert linred.alpha_for(example_1(), ldp=100.0, log_lift=100.0) == 0.0
    one_row = Joint([[0.405, 0.441, 0.07, 0.084]])
    assert linred.alpha_for(one_row, ldp=0.0, log_lift=0.0) == 0.0
    independent = Joint([[0.25, 0.25], [0.25, 0.25]])
    assert linred.alpha_for(independent, ldp=0.0, log_lift=0.0) == 0.0
    assert 1.0 - 1e-11 < linred.alpha_for(example_1(), ldp=1e-12) < 1.0


def test_both_targets_at_once_is_the_larger_alpha():
    joint = example_1()
    apart = linred.alpha_for(joint, ldp=1.0), linred.alpha_for(joint, log_lift=0.3)
    assert linred.alpha_for(joint, ldp=1.0, log_lift=0.3) == max(apart)

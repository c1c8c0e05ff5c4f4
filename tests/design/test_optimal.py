"""`linred.optimal` against plain linear programmes solved independently, and against the figures of errata.md."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linred
from linred import Joint
from support.joints import adult, count_tables, counts, example_1, random_joint, targets
from support.programmes import TARGETS, cost_of, metric
from support.promises import check_promises
from support.target_programmes import fewest_changes

DISTORTIONS = {
    "asymmetric": np.array([[0, 1, 5, 2], [3, 0, 1, 1], [0.5, 2, 0, 4], [1, 1, 2, 0]]),
    "free between some": np.array([[0, 0, 1, 1], [0, 0, 1, 1], [1, 1, 0, 2], [1, 1, 2, 0]]),
    "in the plane": np.hypot(*np.subtract.outer([0, 1, 3, 1], [0, 1, 3, 1])[None].repeat(2, axis=0) * [[[1]], [[0.5]]]),
    "free": np.zeros((4, 4)),
    "huge": 1e300 * metric("steps", 4),
    "tiny": 1e-300 * metric("squares", 4),
}


@pytest.mark.parametrize("kind", DISTORTIONS)
@pytest.mark.parametrize("sees_s", [True, False])
def test_any_distortion(kind, sees_s):
    joint, d = example_1(), DISTORTIONS[kind]
    mechanism = linred.optimal(joint, ldp=0.6, sees_s=sees_s, distortion=d)
    unit = d.max() or 1.0
    least = fewest_changes(joint.p_sx, ldp=0.6, sees_s=sees_s, distortion=d / unit)[0]
    assert mechanism.expected_distortion(d) / unit == pytest.approx(least, rel=1e-7, abs=1e-8)
    assert mechanism.gap <= 1e-9 * unit
    assert mechanism.report().utility.expected_distortion == mechanism.expected_distortion(d)
    check_promises(mechanism)


@pytest.mark.parametrize("never", [1e6, 1e9, 1e11])
@pytest.mark.parametrize("sees_s", [True, False])
@pytest.mark.parametrize("longest", [1, 2])
def test_a_cost_that_stands_for_never_hides_no_other(never, sees_s, longest):
    joint, steps = example_1(), metric("steps", 4)
    forbidden = steps > longest
    dear, cheap = (np.where(forbidden, cost, steps) for cost in (never, 1e3))
    least = fewest_changes(joint.p_sx, ldp=1.0, sees_s=sees_s, distortion=cheap)[0]
    assert least < 1.0, "no forbidden move is needed"
    mechanism = linred.optimal(joint, ldp=1.0, sees_s=sees_s, distortion=dear)
    assert cost_of(mechanism, cheap) == pytest.approx(least, abs=1e-9)
    assert cost_of(mechanism, np.where(forbidden, 1.0, 0.0)) < 1e-15
    assert mechanism.expected_distortion(dear) - mechanism.gap == pytest.approx(least, abs=1e-9)


@pytest.mark.parametrize("sees_s", [True, False])
def test_a_change_that_never_should_be_is_made_where_it_must(sees_s):
    """The first symbol reveals S, and moves from or to it have a prohibitive cost."""
    joint, never = Joint([[0.3, 0.1, 0.1], [0.1, 0.2, 0.2]]), 1e12
    d = np.array([[0.0, never, never], [never, 0.0, 1.0], [never, 1.0, 0.0]])
    mechanism = linred.optimal(joint, ldp=0.5, sees_s=sees_s, distortion=d)
    least = fewest_changes(joint.p_sx, ldp=0.5, sees_s=sees_s, distortion=d / never)[0]
    assert least > 0.01
    assert mechanism.expected_distortion(d) / never == pytest.approx(least, rel=1e-7)
    assert mechanism.gap < 1e-9 * never


@pytest.mark.parametrize("target", [{"ldp": 1e-9}, {"log_lift": 1e-9}, {"ldp": 1e-9, "log_lift": 6e-10}], ids=str)
@pytest.mark.parametrize("keep_marginal", [True, False])
def test_targets_below_a_solvers_tolerance(target, keep_marginal):
    joint, d = random_joint(np.random.default_rng(7), 3, 8), metric("squares", 8)
    mechanism = linred.optimal(joint, **target, sees_s=False, keep_marginal=keep_marginal, distortion=d)
    of_independence = fewest_changes(joint.p_sx, ldp=0.0, keep_marginal=keep_marginal, sees_s=False, distortion=d)[0]
    assert cost_of(mechanism, d) == pytest.approx(of_independence, rel=1e-6)
    assert mechanism.gap < 1e-5
    check_promises(mechanism, keep_marginal)


@pytest.mark.parametrize("ways", [{"ldp": 2.0}, {"alpha": 0.0}, {"alpha": 0.5}, {"ldp": 0.5}])
def test_the_distortion_is_remembered_without_s_too(ways):
    joint, d = Joint([[0.3, 0.2], [0.2, 0.3]]), 2.0 * (1.0 - np.eye(2))
    mechanism = linred.optimal(joint, **ways, sees_s=False, distortion=d)
    assert mechanism.report().utility.expected_distortion == pytest.approx(2.0 * mechanism.dtv())


@pytest.mark.parametrize("rarest", [1e-8, 1e-10, 1e-11])
@pytest.mark.parametrize("sees_s", [True, False])
def test_rare_symbols(rarest, sees_s):
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(6), 3) * [1, 1, 1, 1, 10 * rarest, rarest]
    joint = Joint.from_conditional(p / p.sum(axis=1, keepdims=True), [0.2, 0.3, 0.5])
    mechanism = linred.optimal(joint, ldp=0.3, sees_s=sees_s)
    assert mechanism.gap < 1e-6
    check_promises(mechanism)
    common = Joint.from_conditional(p[:, :4] / p[:, :4].sum(axis=1, keepdims=True), joint.p_s)
    assert mechanism.dtv() == pytest.approx(linred.optimal(common, ldp=0.3, sees_s=sees_s).dtv(), abs=1e-6)


@pytest.mark.parametrize("rarest", [1e-6, 1e-8, 1e-10, 1e-12, 1e-14, 1e-300, 5e-324])
def test_rare_symbols_of_a_linear_reduction_without_s(rarest):
    p = np.array([[0.5, rarest, 0.2, 0.1], [0.05, 3.0 * rarest, 0.05, 0.1]])
    joint = Joint(p / p.sum())
    mechanism = linred.optimal(joint, alpha=0.5, sees_s=False)
    common = linred.optimal(Joint([[0.5, 0.2, 0.1], [0.05, 0.05, 0.1]]), alpha=0.5, sees_s=False)
    assert mechanism.dtv() == pytest.approx(common.dtv(), abs=1e-9 + 10.0 * rarest)
    assert mechanism.gap < 1e-6


@pytest.mark.parametrize("name", ["adult_marital_status_occupation", "adult_sex_occupation", "flights_carrier_dest"])
@pytest.mark.parametrize("sees_s", [True, False])
def test_the_gap_that_the_readme_states(name, sees_s):
    for ldp in (0.5, 1.0, 2.0):
        assert linred.optimal(counts(name), ldp=ldp, sees_s=sees_s).gap < 1e-11


@pytest.mark.parametrize("cell", [1e-9, 1e-10, 3e-10, 1e-11, 1e-13])
def test_a_rare_pair(cell):
    joint = Joint.from_conditional([[0.3, 0.7 - cell, cell], [0.2, 0.3, 0.5]], [0.4, 0.6])
    mechanism = linred.optimal(joint, log_lift=0.3, sees_s=False)
    near = linred.optimal(Joint([[0.12, 0.28, 0.0], [0.12, 0.18, 0.3]]), log_lift=0.3, sees_s=False)
    assert mechanism.dtv() == pytest.approx(near.dtv(), abs=1e-7)


def test_what_coupling_cannot_meet_is_met_without_s():
    """64-bit tables have no coupling for a symbol of probability 1e-30; Lemma 1 redraws it like all others."""
    p = np.array([[0.3, 0.7, 1e-30], [0.5, 0.5, 3e-30]])
    joint = Joint.from_conditional(p / p.sum(axis=1, keepdims=True), [0.5, 0.5])
    for distortion in (None, metric("steps", 3)):
        with pytest.warns(linred.NotOptimalWarning, match="meets ldp <= 0.3"):
            mechanism = linred.optimal(joint, ldp=0.3, distortion=distortion)
        assert mechanism.sampler().certificate().ldp <= 0.3


def test_trouble_that_costs_nothing_is_not_told():
    """No coupling fits into 64-bit tables; redrawing the rare symbol among others is as good."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mechanism = linred.optimal(Joint([[0.5, 1e-20, 0.2], [0.1, 0.0, 0.2]]), ldp=1.0)
    assert mechanism.dtv() < 1e-19


def test_a_gap_that_matters_says_so():
    """64-bit tables represent a probability of 1e-13 to a relative 1e-6, so the limits need that margin."""
    p = np.random.default_rng(0).dirichlet(np.ones(6), 3) * [1, 1, 1, 1, 1e-12, 1e-13]
    joint = Joint.from_conditional(p / p.sum(axis=1, keepdims=True), [0.2, 0.3, 0.5])
    with pytest.warns(linred.NotOptimalWarning, match="not solved accurately enough for these targets"):
        mechanism = linred.optimal(joint, ldp=0.3, sees_s=False)
    assert mechanism.gap > 1e-6
    check_promises(mechanism)


def test_nearly_in_proportion_is_not_in_proportion():
    from linred.solvers.symbol_merging import Merged

    joint = Joint.from_conditional([[0.3, 0.2, 0.5], [0.3e-14, 0.0, 1.0 - 0.3e-14]], [0.5, 0.5])
    assert Merged(joint, symbols=True).p_x.size == 3
    check_promises(linred.optimal(joint, ldp=8.0, sees_s=False))


def test_with_alpha_and_s_it_is_proposition_1():
    joint = example_1()
    mechanism = linred.optimal(joint, alpha=0.5)
    np.testing.assert_array_equal(mechanism.p_y_given_sx, linred.non_markov(joint, 0.5).p_y_given_sx)


def test_lemma_1_is_returned_where_it_is_the_only_one():
    joint = Joint.from_conditional([[0.5, 0.2, 0.3], [0.1, 0.6, 0.3], [0.2, 0.2, 0.6]], [0.2, 0.3, 0.5])
    mechanism = linred.optimal(joint, alpha=0.3, sees_s=False)
    assert mechanism.name == "markov"
    assert mechanism.dtv() == linred.markov(joint, 0.3).dtv()


@pytest.mark.parametrize(
    ("target", "same_reduction", "best_markov", "best"), [(0.5, 0.3055, 0.2518, 0.1302), (1.0, 0.1639, 0.1136, 0.0632)]
)
def test_errata_5_columns_beyond_the_paper(target, same_reduction, best_markov, best):
    joint = example_1()
    alpha = linred.alpha_for(joint, ldp=target)
    assert round(linred.optimal(joint, alpha=alpha, sees_s=False).dtv(), 4) == same_reduction
    assert round(linred.optimal(joint, ldp=target, sees_s=False).dtv(), 4) == best_markov
    assert round(linred.optimal(joint, ldp=target).dtv(), 4) == best


def test_the_figures_on_adult():
    joint = adult()
    assert round(linred.markov(joint, ldp=1.0).dtv(), 2) == 0.68
    assert round(linred.optimal(joint, ldp=1.0, sees_s=False).dtv(), 3) == 0.058
    assert round(linred.non_markov(joint, ldp=1.0).dtv(), 3) == 0.101
    best = linred.optimal(joint, ldp=1.0)
    assert round(best.dtv(), 4) == 0.0084
    check_promises(best)


@given(count_tables, targets)
def test_each_freedom_can_only_help(counts, target):
    joint = Joint.from_counts(counts)
    best, best_markov = linred.optimal(joint, **target), linred.optimal(joint, **target, sees_s=False)
    for mechanism in (best, best_markov):
        check_promises(mechanism)
        assert mechanism.gap < 1e-8
    slack = 1e-9
    assert best.dtv() <= linred.non_markov(joint, **target).dtv() + slack
    assert best_markov.dtv() <= linred.markov(joint, **target).dtv() + slack
    assert best.dtv() <= best_markov.dtv() + slack
    for mechanism, sees_s in ((best, True), (best_markov, False)):
        free = linred.optimal(joint, **target, sees_s=sees_s, keep_marginal=False)
        check_promises(free, keep_marginal=False)
        assert free.dtv() <= mechanism.dtv() + slack


@given(count_tables, st.floats(0.0, 1.0))
def test_the_best_markov_is_between_proposition_1_and_lemma_1(counts, alpha):
    joint = Joint.from_counts(counts)
    between = linred.optimal(joint, alpha=alpha, sees_s=False)
    assert linred.non_markov(joint, alpha).dtv() <= between.dtv() + 1e-9
    assert between.dtv() <= linred.markov(joint, alpha).dtv() + 1e-15
    np.testing.assert_allclose(between.p_y, joint.p_x, rtol=0, atol=1e-12)


DEGENERATE = {
    "one s": [[3, 1, 2]],
    "one x": [[3], [1], [2]],
    "one of each": [[5]],
    "S a function of X": [[3, 0, 2, 0], [0, 4, 0, 1]],
    "X a function of S": [[3, 0], [0, 2], [4, 0]],
    "S is X": [[3, 0, 0], [0, 2, 0], [0, 0, 4]],
    "independent": [[2, 4], [3, 6]],
    "an s and an x that never occur": [[3, 0, 1], [0, 0, 0], [1, 0, 3]],
}


@pytest.mark.parametrize("kind", DEGENERATE)
@pytest.mark.parametrize("sees_s", [True, False])
@pytest.mark.parametrize("target", [*TARGETS, {"ldp": 0.0}, {"ldp": 1e-13}, {"log_lift": 0.0}, {"ldp": 40.0}], ids=str)
def test_degenerate_joints(kind, sees_s, target):
    joint = Joint.from_counts(DEGENERATE[kind])
    mechanism = linred.optimal(joint, **target, sees_s=sees_s)
    check_promises(mechanism)
    assert 0.0 <= mechanism.gap <= mechanism.dtv()
    if kind in ("one s", "one x", "one of each", "independent"):
        assert mechanism.dtv() == 0.0 or min(target.values()) == 0.0
    elif 0.3 <= min(target.values()) <= 4.0:
        least = fewest_changes(joint.p_sx, **target, sees_s=sees_s)[0]
        assert mechanism.dtv() == pytest.approx(least, rel=1e-7, abs=1e-8)


def test_a_distortion_that_only_scales_hamming():
    joint = example_1()
    mechanism = linred.optimal(joint, ldp=1.0, distortion=2.5 * (1.0 - np.eye(4)))
    assert mechanism.report().utility.expected_distortion == pytest.approx(2.5 * 0.0632353284613, rel=1e-9)
    assert mechanism.gap < 1e-9


def test_a_target_that_is_met_already_changes_nothing():
    joint = example_1()
    for sees_s in (True, False):
        mechanism = linred.optimal(joint, ldp=2.0, sees_s=sees_s)
        assert (mechanism.dtv(), mechanism.gap) == (0.0, 0.0)
        assert mechanism.target.ldp == 2.0


@pytest.mark.parametrize("sees_s", [True, False])
def test_when_time_is_over_the_linear_reduction_is_no_better(sees_s):
    joint = random_joint(np.random.default_rng(5), 12, 80)
    message = r"^the time limit was reached \(raise time_limit=\): .* meets ldp <= 0\.3 at a cost of 0\."
    with pytest.warns(linred.NotOptimalWarning, match=message):
        mechanism = linred.optimal(joint, ldp=0.3, sees_s=sees_s, time_limit=0.0)
    check_promises(mechanism)
    linear = linred.non_markov(joint, ldp=0.3) if sees_s else linred.markov(joint, ldp=0.3)
    assert mechanism.dtv() <= linear.dtv()
    least = linred.optimal(joint, ldp=0.3, sees_s=sees_s).dtv()
    assert mechanism.dtv() - mechanism.gap <= least + 1e-12, "the bound is valid"


def test_when_time_is_over_for_a_given_alpha():
    with pytest.warns(
        linred.NotOptimalWarning, match=r"the mechanism returned \(markov, alpha = 0\.5\) meets P\(y\|s\)"
    ):
        mechanism = linred.optimal(example_1(), alpha=0.5, sees_s=False, time_limit=0.0)
    assert mechanism.name == "markov"
    assert mechanism.gap >= mechanism.dtv() - linred.optimal(example_1(), alpha=0.5, sees_s=False).dtv()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "no target: give ldp=, log_lift= or another limit of linred.Target, or alpha="),
        ({"ldp": -0.1}, r"ldp = -0.1 is outside \[0, inf\]"),
        ({"ldp": math.nan}, "ldp = nan is outside"),
        ({"log_lift": "1"}, "log_lift is a str, not a number"),
        ({"alpha": 0.5, "ldp": 1.0}, "alpha= and a target are both given"),
        ({"alpha": 1.5}, r"alpha = 1.5 is outside \[0, 1\]"),
        ({"ldp": 1.0, "sees_s": "yes"}, "sees_s = 'yes' is not True or False"),
        ({"ldp": 1.0, "keep_marginal": 1}, "keep_marginal = 1 is not True or False"),
        ({"ldp": 1.0, "prefer": "best"}, "prefer = 'best' is not 'information', 'sparse' or 'smooth'"),
        ({"ldp": 1.0, "prefer": "sparse", "sees_s": False}, "prefer = 'sparse' needs sees_s=True"),
        ({"ldp": 1.0, "prefer": "sparse", "distortion": metric("steps", 4)}, "the distortion decides the coupling"),
        ({"ldp": 1.0, "distortion": np.ones((4, 4))}, r"distortion\[0, 0\] is not 0"),
        ({"ldp": 1.0, "distortion": np.zeros((3, 3))}, r"distortion has shape \(3, 3\)"),
        ({"ldp": 1.0, "time_limit": -1}, "time_limit = -1 is outside"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        linred.optimal(example_1(), **arguments)


def test_a_matrix_is_no_joint():
    with pytest.raises(TypeError, match=r"joint is a list, not a linred\.Joint"):
        linred.optimal([[0.5, 0.5]], ldp=1.0)

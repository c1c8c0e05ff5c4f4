"""`linred.markov` and `linred.non_markov`: Lemma 1, Proposition 1, and rejected arguments."""

import math

import numpy as np
import pytest
from hypothesis import given

import linred
from linred import Joint
from support.joints import alphas, count_tables, example_1
from support.mechanisms import CLOSED_FORMS


@pytest.mark.parametrize("kind", CLOSED_FORMS)
@given(count_tables, alphas)
def test_cells_that_the_fit_never_saw_draw_from_the_marginal(kind, counts, alpha):
    joint = Joint.from_counts(counts)
    mechanism = CLOSED_FORMS[kind](joint, alpha)
    unseen = counts == 0 if mechanism.sees_s else np.broadcast_to(counts.sum(axis=0) == 0, counts.shape)
    np.testing.assert_array_equal(mechanism.keep[unseen], 0.0)
    for row in mechanism.p_y_given_sx[unseen]:
        np.testing.assert_array_equal(row, joint.p_x)
    np.testing.assert_array_equal(
        mechanism.p_y_given_x[counts.sum(axis=0) == 0], np.tile(joint.p_x, ((counts.sum(axis=0) == 0).sum(), 1))
    )


@given(count_tables, alphas)
def test_lemma_1(counts, alpha):
    joint = Joint.from_counts(counts)
    mechanism = linred.markov(joint, alpha)
    assert not mechanism.sees_s
    assert mechanism.keep.strides[0] == 0, "stored in O(|X|)"
    assert mechanism.table_of.strides[0] == 0
    lemma = np.where(np.eye(counts.shape[1], dtype=bool), 1 - alpha * (1 - joint.p_x), alpha * joint.p_x)
    seen = joint.p_x > 0
    np.testing.assert_allclose(mechanism.p_y_given_x[seen], lemma[seen], rtol=0, atol=1e-15)
    assert mechanism.dtv() == pytest.approx(alpha * (1 - (joint.p_x**2).sum()), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("coupling", ["northwest", "proportional"])
@given(count_tables, alphas)
def test_proposition_1(coupling, counts, alpha):
    joint = Joint.from_counts(counts)
    mechanism = linred.non_markov(joint, alpha, coupling=coupling)
    assert mechanism.sees_s
    assert mechanism.gap == 0.0
    channel = mechanism.p_y_given_sx
    for s, x in np.argwhere(counts > 0):
        keep = min(1.0, 1.0 - alpha * (1.0 - joint.p_x[x] / joint.p_x_given_s[s, x]))
        assert channel[s, x, x] == pytest.approx(keep, rel=1e-13, abs=1e-15)
        moves = channel[s, x].copy()
        moves[x] = 0.0
        assert not moves[joint.p_x_given_s[s] > joint.p_x + 1e-12].any(), "nothing moves to a symbol in excess"
    least = 0.5 * (joint.p_s @ np.abs(alpha * (joint.p_x_given_s - joint.p_x))).sum()
    assert mechanism.dtv() == pytest.approx(least, rel=1e-12, abs=1e-15)
    assert mechanism.dtv() <= linred.markov(joint, alpha).dtv() + 1e-15


def test_no_reduction_and_full_reduction():
    joint = example_1()
    for kind in CLOSED_FORMS:
        untouched, erased = CLOSED_FORMS[kind](joint, 0.0), CLOSED_FORMS[kind](joint, 1.0)
        np.testing.assert_array_equal(untouched.p_y_given_sx, np.tile(np.eye(4), (2, 1, 1)))
        assert untouched.dtv() == 0.0
        assert linred.ldp(untouched.released) == linred.ldp(joint)
        assert linred.ldp(erased.released) == linred.log_lift(erased.released) == 0.0
        assert linred.mutual_information(erased.released) == 0.0


BAD = [
    (lambda joint: linred.markov(joint, -0.1), r"alpha = -0.1 is outside \[0, 1\]"),
    (lambda joint: linred.markov(joint, 1.0000001), "alpha = 1.0000001 is outside"),
    (lambda joint: linred.non_markov(joint, math.nan), "alpha = nan is outside"),
    (lambda joint: linred.linear_reduction(joint, "0.5"), "alpha is a str, not a number"),
    (lambda joint: linred.linear_reduction(joint, True), "alpha is a bool, not a number"),
    (lambda joint: linred.markov(joint, 10**400), "alpha is too large for a double"),
    (lambda joint: linred.non_markov(joint, None), "no target"),
    (lambda joint: linred.alpha_for(joint), "no target: give ldp=, log_lift= or another limit"),
    (lambda joint: linred.alpha_for(joint, ldp=-1), r"ldp = -1 is outside \[0, inf\]"),
    (lambda joint: linred.alpha_for(joint, ldp=1, log_lift=math.nan), "log_lift = nan is outside"),
    (
        lambda joint: linred.non_markov(joint, 0.5, coupling=np.array(["northwest"])),
        "coupling = <numpy.ndarray> is not",
    ),
    (lambda joint: linred.markov(joint, 0.5).report(base="2"), "base is a str, not a number"),
    (lambda joint: linred.non_markov(joint, 0.5, coupling="random"), "coupling = 'random' is not"),
    (
        lambda joint: linred.non_markov(joint, 0.5, coupling="proportional", distortion=1 - np.eye(4)),
        "coupling = 'proportional' and distortion are both given: the distortion decides the coupling",
    ),
    (lambda joint: linred.non_markov(joint, 0.5, distortion=np.ones((4, 4))), r"distortion\[0, 0\] is not 0"),
    (lambda joint: linred.non_markov(joint, 0.5, distortion=np.eye(4) - 1), r"distortion\[0, 1\] is negative"),
    (lambda joint: linred.non_markov(joint, 0.5, distortion=np.zeros((3, 3))), r"distortion has shape \(3, 3\)"),
    (
        lambda joint: linred.non_markov(joint, 0.5, distortion=np.full((4, 4), np.inf)),
        r"distortion\[0, 0\] is not a finite number",
    ),
    (
        lambda joint: linred.markov(joint, 0.5).expected_distortion([[0, np.nan]]),
        r"distortion\[0, 1\] is not a finite number",
    ),
    (lambda joint: linred.markov(joint, 0.5).report(base=0), "base = 0"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(example_1())


def test_only_joints_have_mechanisms():
    mechanism = linred.markov(example_1(), 0.5)
    for wrong in (None, np.eye(2), mechanism):
        for call in (linred.linear_reduction, linred.markov, linred.non_markov):
            with pytest.raises(TypeError, match=r"joint is a [\w.]+, not a linred\.Joint"):
                call(wrong, 0.5)
        with pytest.raises(TypeError, match=r"not a linred\.Joint"):
            linred.alpha_for(wrong, ldp=1.0)

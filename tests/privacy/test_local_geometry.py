"""Local approximations against the exact figures: the intervals hold, and the figures are right to their order."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linred
from linred import Joint
from support.joints import adult, alphas, count_tables, example_1


@given(count_tables, alphas)
def test_exact_figures_lie_in_their_intervals(counts, alpha):
    joint = linred.linear_reduction(Joint.from_counts(counts), alpha)
    figures = linred.local(joint, base=2)
    for name in ("ldp", "log_lift", "mutual_information"):
        exact, (_, least, most) = getattr(linred, name)(joint, 2), getattr(figures, name)
        assert least <= exact <= most
    assert (
        figures.radius < 1.0 or math.isinf(figures.ldp.most) or figures.radius == pytest.approx(max(1, figures.radius))
    )


tiny_shares = st.one_of(st.floats(0.0, 1e-6), alphas)


@given(count_tables, tiny_shares, st.booleans())
def test_exact_figures_lie_in_the_intervals_of_the_first_order(counts, alpha, near_one):
    joint, alpha = Joint.from_counts(counts), 1.0 - alpha if near_one else alpha
    found, released = linred.first_order(joint, alpha, 2), linred.linear_reduction(joint, alpha)
    assert found.ldp_interval[0] <= linred.ldp(released, 2) <= found.ldp_interval[1]
    assert found.log_lift_interval[0] <= linred.log_lift(released, 2) <= found.log_lift_interval[1]
    if alpha < 1.0:
        assert found[:2] == ((1 - alpha) * linred.ldp(joint, 2), (1 - alpha) * linred.log_lift(joint, 2))
    else:
        assert found[:2] == (0.0, 0.0)
        assert found.ldp_interval[1] < 1e-13


def test_intervals_of_the_first_order_are_of_use():
    """They are not wider than what Taylor's remainder says, and expose the paper's approximation where it is wrong."""
    wrong = Joint.from_conditional([[0.002, 0.998], [0.998, 0.002]], [0.5, 0.5])
    found = linred.first_order(wrong, 0.5)
    assert found.ldp == pytest.approx(3.11, abs=0.005)
    assert found.ldp_interval == pytest.approx((0.996 - 0.4921, 0.996 + 0.4921), abs=1e-4)
    near = linred.first_order(example_1(), 0.99)
    assert near.ldp_interval[1] - near.ldp_interval[0] < 2e-4
    assert near.ldp_interval[0] > 0.0


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match=r"alpha = 2 is outside \[0, 1\]"):
        linred.first_order(example_1(), 2)
    with pytest.raises(ValueError, match=r"base = 1\.0 is not a finite number above 1"):
        linred.first_order(example_1(), 0.5, base=1)


def test_against_the_definitions():
    joint = example_1()
    r = joint.p_x_given_s / joint.p_x - 1.0
    figures = linred.local(joint)
    assert figures.chi_square == pytest.approx((joint.p_s[:, None] * joint.p_x * r**2).sum(), rel=1e-13)
    assert figures.chi_square == pytest.approx((joint.p_sx**2 / np.outer(joint.p_s, joint.p_x)).sum() - 1.0, rel=1e-12)
    assert figures.radius == pytest.approx(np.abs(r).max(), rel=1e-14)
    assert figures.mutual_information.value == pytest.approx(figures.chi_square / 2, rel=1e-15)
    assert figures.ldp.value == pytest.approx(np.ptp(r, axis=0).max(), rel=1e-14)
    assert linred.local(joint, 2).ldp.value == pytest.approx(figures.ldp.value / math.log(2), rel=1e-14)


def test_errors_fall_with_the_order_that_the_expansion_says():
    """Halving r, by going half of what is left to alpha = 1: errors fall by 4 (linear), and by 8 (quadratic)."""
    joint = adult()
    errors = []
    for rest in (1e-2, 5e-3):
        released = linred.linear_reduction(joint, 1.0 - rest)
        figures = linred.local(released)
        errors.append(
            [
                abs(getattr(figures, name).value - getattr(linred, name)(released))
                for name in ("log_lift", "mutual_information")
            ]
        )
    ratios = np.divide(*errors)
    assert ratios == pytest.approx([4.0, 8.0], rel=0.1)


def test_chi_square_falls_with_the_square_and_the_radius_in_proportion():
    joint = example_1()
    before, after = linred.local(joint), linred.local(linred.linear_reduction(joint, 0.7))
    assert after.chi_square == pytest.approx(0.09 * before.chi_square, rel=1e-12)
    assert after.radius == pytest.approx(0.3 * before.radius, rel=1e-12)
    edge = 1.0 - 1.0 / before.radius
    assert [linred.local(linred.linear_reduction(joint, edge + step)).valid for step in (-1e-6, 1e-6)] == [False, True]


def test_beside_the_exact_figures_of_a_mechanism():
    mechanism = linred.markov(example_1(), 0.9)
    report = mechanism.local(base=2)
    assert report.utility.chi_square == pytest.approx(0.01 * 3, rel=1e-12), "(1-alpha)^2 (|X|-1), Lemma 1"
    exact = mechanism.mutual_information(2)
    assert report.utility.mutual_information.least <= exact <= report.utility.mutual_information.most
    text = str(report)
    assert "S to X: radius 1.273, outside the region" in text
    assert "S to Y: radius 0.1273, inside the region" in text
    assert f"{exact:#.4g}" in text

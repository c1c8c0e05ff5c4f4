"""Chi-square divergence and its modes, against the definitions cell by cell and against SciPy's SVD of all of B."""

import math

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st

import linred
from linred import Joint
from support.joints import adult, alphas, count_tables, example_1, random_joint


def by_hand(counts):
    """The divergence of each x by the other formula, sum_s P(s|x)^2 / P(s) - 1, in whole numbers until the end."""
    n, n_s, n_x = int(counts.sum()), counts.sum(axis=1).tolist(), counts.sum(axis=0).tolist()
    cells = counts.tolist()
    return [
        sum(cells[s][x] ** 2 * n / (n_s[s] * n_x[x] ** 2) for s in range(len(n_s)) if n_s[s]) - 1.0 if n_x[x] else 0.0
        for x in range(len(n_x))
    ]


@given(count_tables)
def test_chi_square_is_its_definition(counts):
    joint, expected = Joint.from_counts(counts), by_hand(counts)
    assert linred.max_chi_square(joint, by_y=True) == pytest.approx(expected, rel=1e-12, abs=1e-13)
    assert linred.max_chi_square(joint) == linred.max_chi_square(joint, by_y=True).max()
    assert linred.local(joint).chi_square == pytest.approx(joint.p_x @ np.array(expected), rel=1e-12, abs=1e-13)


def test_a_rare_s_does_not_overflow():
    joint = Joint.from_conditional([[1.0, 0.0], [0.0, 1.0]], [1.0, 1e-250])
    assert linred.max_chi_square(joint, by_y=True) == pytest.approx([1e-250, 1e250], rel=1e-12)
    assert linred.local(joint).chi_square == pytest.approx(1.0)
    assert linred.first_order(joint, 0.5).ldp == math.inf


def matrix_b(counts):
    """B over the symbols that occur, from the definition; and those symbols."""
    occurs, seen = counts.any(axis=1), counts.any(axis=0)
    p = counts[np.ix_(occurs, seen)] / counts.sum()
    root = np.sqrt(np.outer(p.sum(axis=1), p.sum(axis=0)))
    return p / root - root, occurs, seen


@given(count_tables)
def test_values_are_the_singular_values_of_b(counts):
    b, occurs, seen = matrix_b(counts)
    values = linred.modes(Joint.from_counts(counts)).values
    assert values.size == min(occurs.sum(), seen.sum()) - 1
    every = scipy.linalg.svdvals(b)
    assert values == pytest.approx(every[: values.size], abs=1e-13)
    assert every[values.size :] == pytest.approx(0.0, abs=1e-12)
    assert (np.diff(values) <= 0.0).all()
    assert (values <= 1.0).all()
    assert (values**2).sum() == pytest.approx(linred.local(Joint.from_counts(counts)).chi_square, rel=1e-12, abs=1e-13)


def check_functions(joint, tolerance):
    """Means 0, covariances the identity, correlations the values, and the lifts rebuilt from the modes."""
    values, of_s, of_x = linred.modes(joint)
    identity = np.eye(values.size)
    for functions, p in ((of_s, joint.p_s), (of_x, joint.p_x)):
        assert functions @ p == pytest.approx(0.0, abs=tolerance)
        assert (functions * p) @ functions.T == pytest.approx(identity, abs=tolerance)
        assert (functions[:, p == 0.0] == 0.0).all()
    assert of_s @ joint.p_sx @ of_x.T == pytest.approx(np.diag(values), abs=tolerance)
    rebuilt = np.outer(joint.p_s, joint.p_x) * (1.0 + of_s.T @ (values[:, None] * of_x))
    assert rebuilt == pytest.approx(joint.p_sx, abs=tolerance)
    heaviest = np.abs(of_s * np.sqrt(joint.p_s)).argmax(axis=1)
    assert (np.take_along_axis(of_s, heaviest[:, None], 1) > 0.0).all()


@given(count_tables)
def test_functions_of_the_modes(counts):
    check_functions(Joint.from_counts(counts), 1e-12)


@pytest.mark.parametrize("shape", [(2, 50), (40, 7), (12, 12)])
def test_functions_of_larger_joints(shape):
    check_functions(random_joint(np.random.default_rng(0), *shape, zeros=0.3), 1e-11)


def test_functions_without_any_dependence_still_have_mean_0():
    """All values are 0, so that every basis is one of singular vectors, sqrt(P(s)) among them."""
    joint = Joint.from_counts(np.outer([3, 7, 11], [1, 5, 2, 9]))
    assert linred.modes(joint).values == pytest.approx([0.0, 0.0], abs=1e-15)
    check_functions(joint, 1e-12)


@given(count_tables, st.integers(0, 2**32 - 1))
def test_no_functions_are_more_correlated_than_the_first_mode(counts, seed):
    joint, rng = Joint.from_counts(counts), np.random.default_rng(seed)
    values = linred.modes(joint).values
    largest = values[0] if values.size else 0.0
    f, g = (rng.normal(size=size) for size in joint.shape)
    f, g = f - joint.p_s @ f, g - joint.p_x @ g
    assert abs(f @ joint.p_sx @ g) <= largest * math.sqrt((joint.p_s @ f**2) * (joint.p_x @ g**2)) + 1e-13


@given(count_tables, alphas)
def test_a_linear_reduction_shrinks_the_values_alone(counts, alpha):
    joint = Joint.from_counts(counts)
    before, after = linred.modes(joint), linred.modes(linred.linear_reduction(joint, alpha))
    assert after.values == pytest.approx((1.0 - alpha) * before.values, abs=1e-13)


def test_functions_stay_under_a_linear_reduction():
    before, after = linred.modes(adult()), linred.modes(linred.linear_reduction(adult(), 0.3))
    assert after.of_s == pytest.approx(before.of_s, abs=1e-9)
    assert after.of_x == pytest.approx(before.of_x, abs=1e-9)


def test_a_bit_and_its_copy():
    values, of_s, of_x = linred.modes(Joint([[0.5, 0.0, 0.0], [0.0, 0.0, 0.5]]))
    assert values == pytest.approx([1.0])
    assert of_s == pytest.approx(np.array([[1.0, -1.0]]))
    assert of_x == pytest.approx(np.array([[1.0, 0.0, -1.0]]))
    for alone in (Joint([[0.3, 0.7]]), Joint([[0.3], [0.7]])):
        assert [part.shape for part in linred.modes(alone)] == [(0,), (0, alone.shape[0]), (0, alone.shape[1])]
        assert linred.max_chi_square(alone) == 0.0


def test_something_else():
    for measure in (linred.max_chi_square, linred.modes):
        with pytest.raises(TypeError, match="joint is a list, not a linred"):
            measure([[0.5, 0.5]])
    with pytest.raises(ValueError, match="by_y = 1 is not True or False"):
        linred.max_chi_square(example_1(), by_y=1)

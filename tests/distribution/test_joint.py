"""`Joint`: its constructors agree, its parts are consistent, and errors name the place of the fault."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linred
from linred import Joint
from support.joints import count_tables, example_1, random_joint


def test_the_three_constructors_agree_on_example_1():
    conditional = example_1()
    matrix = Joint(conditional.p_sx, [1, 2], list("abcd"))
    counts = Joint.from_counts(np.round(100 * conditional.p_sx).astype(int), [1, 2], list("abcd"))
    for joint in (conditional, matrix, counts):
        assert joint.shape == (2, 4)
        assert joint.s_labels == (1, 2)
        assert joint.x_labels == tuple("abcd")
        np.testing.assert_allclose(joint.p_s, [0.3, 0.7], rtol=1e-15)
        np.testing.assert_allclose(joint.p_x, [0.41, 0.24, 0.22, 0.13], rtol=1e-15)
        np.testing.assert_allclose(joint.p_sx, [[0.06, 0.03, 0.15, 0.06], [0.35, 0.21, 0.07, 0.07]], rtol=1e-15)
        np.testing.assert_allclose(joint.p_x_given_s, [[0.2, 0.1, 0.5, 0.2], [0.5, 0.3, 0.1, 0.1]], rtol=1e-15)
        np.testing.assert_allclose(joint.p_s_given_x.sum(axis=1), 1.0, rtol=1e-15)
        np.testing.assert_allclose(joint.p_s_given_x[2], [0.15 / 0.22, 0.07 / 0.22], rtol=1e-15)
    assert counts.n_records == 100
    assert matrix.n_records is None
    assert matrix.counts is None


@given(count_tables)
def test_parts_are_consistent_with_zero_rows_and_columns(counts):
    joint = Joint.from_counts(counts)
    assert joint.shape == counts.shape
    np.testing.assert_array_equal(joint.counts, counts)
    for rebuilt in (joint, Joint(joint.p_sx), Joint.from_conditional(joint.p_x_given_s, joint.p_s)):
        np.testing.assert_allclose(rebuilt.p_sx, counts / counts.sum(), rtol=1e-13)
        np.testing.assert_allclose(rebuilt.p_s[:, None] * rebuilt.p_x_given_s, rebuilt.p_sx, rtol=1e-13, atol=1e-16)
        np.testing.assert_allclose(rebuilt.p_x[:, None] * rebuilt.p_s_given_x, rebuilt.p_sx.T, rtol=1e-13, atol=1e-16)
        np.testing.assert_allclose(rebuilt.p_x_given_s.sum(axis=1), 1.0, rtol=1e-14)
        np.testing.assert_allclose(rebuilt.p_s_given_x.sum(axis=1), 1.0, rtol=1e-14)
        np.testing.assert_array_equal(rebuilt.p_sx == 0.0, counts == 0)


def test_a_symbol_that_never_occurs_stands_as_the_marginal():
    joint = Joint([[0.0, 0.0, 0.0], [0.3, 0.0, 0.1], [0.2, 0.0, 0.4]])
    np.testing.assert_array_equal(joint.p_x_given_s[0], joint.p_x)
    np.testing.assert_array_equal(joint.p_s_given_x[1], joint.p_s)
    declared = Joint.from_conditional([[1.0, 0.0], [0.25, 0.75]], [0.0, 1.0])
    np.testing.assert_array_equal(declared.p_x_given_s, [[0.25, 0.75], [0.25, 0.75]])


def test_sums_within_1e_9_are_renormalised():
    joint = Joint([[0.5, 0.2], [0.1, 0.2 + 9e-10]])
    assert abs(joint.p_sx.sum() - 1.0) < 1e-15
    joint = Joint.from_conditional([[0.5, 0.5 - 9e-10]], [1.0 + 9e-10])
    assert abs(joint.p_x_given_s.sum() - 1.0) < 1e-15
    assert joint.p_s.tolist() == [1.0]


@given(count_tables, st.integers(0, 2**32 - 1))
def test_counts_add_up(counts, seed):
    more = np.random.default_rng(seed).integers(0, 4, counts.shape)
    more[0, 0] += 1
    both = Joint.from_counts(counts) + Joint.from_counts(more)
    np.testing.assert_array_equal(both.counts, counts + more)
    assert both.n_records == counts.sum() + more.sum()


def test_a_sum_of_records_is_the_joint_of_all_records():
    rng = np.random.default_rng(1)
    s, x = rng.integers(0, 3, 1000), rng.integers(0, 5, 1000)
    labels = {"s_labels": range(3), "x_labels": range(5)}
    halves = [Joint.from_records(s[part], x[part], **labels) for part in (slice(0, 300), slice(300, None))]
    np.testing.assert_array_equal((halves[0] + halves[1]).counts, Joint.from_records(s, x, **labels).counts)


def test_what_is_given_cannot_be_changed_behind_the_figures():
    p_sx = np.array([[0.25, 0.25], [0.25, 0.25]])
    joint = Joint(p_sx)
    p_sx[0] = [0.5, 0.0]
    assert linred.ldp(joint) == 0.0
    for array in (joint.p_sx, joint.p_s, joint.p_x, joint.p_x_given_s, joint.p_s_given_x):
        assert not array.flags.writeable
    counts = np.ones((2, 2), np.int64)
    counted = Joint.from_counts(counts)
    counts[0, 0] = 100
    assert counted.counts[0, 0] == 1


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda joint: pickle.loads(pickle.dumps(joint))])
def test_joints_survive_copying_and_pickling(clone):
    joint = random_joint(np.random.default_rng(2), 3, 4)
    again = clone(joint)
    np.testing.assert_array_equal(again.p_x_given_s, joint.p_x_given_s)
    assert linred.ldp(again) == linred.ldp(joint)
    assert not again.p_x_given_s.flags.writeable


BAD = [
    (lambda: Joint([[0.5, -0.1], [0.3, 0.3]]), r"p_sx\[0, 1\] is negative"),
    (lambda: Joint([[0.5, np.nan]]), r"p_sx\[0, 1\] is not a finite number"),
    (lambda: Joint([[0.5, 0.1], [np.inf, 0.3]]), r"p_sx\[1, 0\] is not a finite number"),
    (lambda: Joint([[0.5, 0.1], [-np.inf, 0.3]]), r"p_sx\[1, 0\] is not a finite number"),
    (lambda: Joint([[0.5, 0.5 + 2e-9]]), r"p_sx sums to 1.00000000\d+, which differs from 1 by more than 1e-09"),
    (lambda: Joint([[0.0, 0.0]]), "p_sx sums to 0.0"),
    (lambda: Joint([0.5, 0.5]), r"p_sx has shape \(2,\): give a nonempty array with 2 dimensions"),
    (lambda: Joint([[[1.0]]]), r"p_sx has shape \(1, 1, 1\)"),
    (lambda: Joint(np.zeros((0, 3))), r"p_sx has shape \(0, 3\)"),
    (lambda: Joint([[0.5, 0.5], [0.0]]), "p_sx is not an array of numbers"),
    (lambda: Joint([["0.5", "0.5"]]), "p_sx is not an array of numbers"),
    (lambda: Joint([[10**400, 0.5]]), "p_sx is not an array of numbers"),
    (lambda: Joint(np.ma.array([[0.5, 0.5]], mask=[[0, 1]])), "numbers with 2 dimensions and no missing values"),
    (lambda: Joint([[0.5, 0.5]], x_labels={"a", "b"}), "x_labels is a set, not a sequence"),
    (lambda: Joint([[0.5, 0.5]], x_labels=5), "x_labels is a int, not a sequence"),
    (
        lambda: Joint([[0.5, 0.5]], x_labels=[np.nan, float("nan")]),
        r"^x_labels\[1\] repeats x_labels\[0\]",
    ),
    (lambda: Joint.from_conditional([[1e-200, 1 - 1e-200], [0, 1]], [1e-200, 1]), r"p_x_given_s\[0, 0\] \* p_s\[0\]"),
    (lambda: Joint([[0.5 + 0.1j, 0.5]]), "p_sx is not an array of numbers"),
    (lambda: Joint([[0.5, 0.5]], x_labels=["a"]), "x_labels has 1 labels for 2 symbols"),
    (lambda: Joint([[0.5, 0.5]], x_labels=["a", "a"]), r"^x_labels\[1\] repeats x_labels\[0\]"),
    (lambda: Joint([[0.5, 0.5]], x_labels=["a", []]), r"^x_labels\[1\] is a list that is not hashable"),
    (lambda: Joint.from_conditional([[0.5, 0.5], [0.5, 0.4]], [0.5, 0.5]), r"p_x_given_s\[1\] sums to 0.9"),
    (lambda: Joint.from_conditional([[0.5, 0.5]], [0.5, 0.5]), "p_s has 2 entries and p_x_given_s has 1 rows"),
    (lambda: Joint.from_conditional([[0.5, 0.5]], [0.5]), "p_s sums to 0.5"),
    (lambda: Joint.from_conditional([[0.5, 0.5]], [918273645.0]), "p_s sums to 10 or more, which differs from 1"),
    (lambda: Joint.from_conditional([[0.5, 0.5]], [-1.0]), r"p_s\[0\] is negative"),
    (lambda: Joint.from_counts([[1, -2]]), r"counts\[0, 1\] is negative"),
    (lambda: Joint.from_counts([[1, 2.5]]), r"counts\[0, 1\] is not a whole number"),
    (lambda: Joint.from_counts([[0, 0]]), "counts sums to 0, not"),
    (lambda: Joint.from_counts(np.full((32, 33), 2**53 - 1)), r"counts sums to 951160241300648\d{4}, not"),
    (lambda: Joint.from_counts([["1", "2"]]), "counts is not an array of numbers"),
    (lambda: Joint.from_counts([[1, 1]]) + Joint.from_counts([[1, 1, 1]]), "x_labels has 2 and 3 labels"),
    (
        lambda: Joint.from_counts([[1, 1]]) + Joint.from_counts([[1, 1]], x_labels="ab"),
        r"x_labels\[0\] is not the same",
    ),
    (lambda: Joint.from_counts([[1, 1]]) + Joint([[0.5, 0.5]]), "only Joints of counts can be added"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_input_is_named_with_its_place(make, message):
    with pytest.raises(ValueError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


def test_only_joints_add():
    with pytest.raises(TypeError):
        Joint.from_counts([[1, 1]]) + 1

"""Distances between labels: by name, between the centres of bins, in every form, and what is refused."""

import datetime
import decimal
import fractions
import re

import numpy as np
import pytest

import linred
from linred.columns.label_distance import distance_of, distortion_of
from linred.columns.schema import ColumnSpec
from support import adult_tables
from support.joints import random_joint

AGE = ColumnSpec("age", (20.0, 30.0, 60.0))
PAIRS = [("a", 1), ("a", 2), ("b", 1), ("c", 3)]


@pytest.mark.parametrize(
    "labels",
    [
        (1, 2, 4),
        ("1", "2", "4"),
        ("4e0", " 2.0", "+1"),
        (1.0, np.float64(2.0), np.int32(4)),
        (decimal.Decimal(1), fractions.Fraction(2), 4),
    ],
)
def test_numbers_and_text_that_reads_as_numbers_have_distances(labels):
    numbers = [float(label) for label in labels]
    for name, power in (("absolute", 1), ("squared", 2)):
        matrix = distortion_of("distortion", name, labels)
        assert matrix.tolist() == [[abs(a - b) ** power for b in numbers] for a in numbers]
        assert matrix.dtype == np.float64
        assert matrix.flags.c_contiguous
        assert not matrix.flags.writeable


def test_distances_of_bins_are_between_their_centres_and_open_bins_are_as_wide_as_their_neighbours():
    centres = {"age<20": 15.0, "20<=age<30": 25.0, "30<=age<60": 45.0, "age>=60": 75.0}
    labels = tuple(centres)[::-1]  # labels decide the order, and a bin without records has no label
    matrix = distortion_of("distortion", "absolute", labels[:3], AGE)
    expected = [centres[label] for label in labels[:3]]
    assert matrix.tolist() == [[abs(a - b) for b in expected] for a in expected]
    renamed = AGE.renamed("years")  # the labels keep the name of the fit
    assert np.array_equal(distortion_of("distortion", "absolute", labels[:3], renamed), matrix)


def test_two_edges_give_three_bins_of_one_width():
    bins = ColumnSpec("x", (1.0, 3.0))
    assert distortion_of("d", "absolute", bins.bins, bins).tolist() == [[0, 2, 4], [2, 0, 2], [4, 2, 0]]


def test_hamming_counts_the_columns_that_differ():
    expected = [[sum(a != b for a, b in zip(one, other, strict=True)) for other in PAIRS] for one in PAIRS]
    assert distance_of("d", "hamming", tuple(PAIRS)).tolist() == expected


@pytest.mark.parametrize("form", ["array", "mapping", "function"])
def test_all_forms_of_a_distortion_give_the_same_mechanism(form):
    joint = random_joint(np.random.default_rng(5), 3, 4)
    joint = linred.Joint(joint.p_sx, x_labels=["2", "3", "5", "9"])
    numbers = [2.0, 3.0, 5.0, 9.0]
    matrix = np.abs(np.subtract.outer(numbers, numbers))
    given = {
        "array": matrix.tolist(),
        "mapping": {(str(int(a)), str(int(b))): abs(a - b) for a in numbers for b in numbers if a != b},
        "function": lambda a, b: abs(float(a) - float(b)),
    }[form]
    for make in (linred.optimal, linred.non_markov, linred.selective):
        how = {"alpha": 0.5} if make is linred.non_markov else {"ldp": 0.3}
        named, other = (make(joint, **how, distortion=d) for d in ("absolute", given))
        assert np.array_equal(named.distortion, matrix)
        assert np.array_equal(other.distortion, matrix)
        assert np.array_equal(named.p_y_given_sx, other.p_y_given_sx)
        assert named.expected_distortion(given) == named.expected_distortion("absolute")


def test_the_expected_distortion_knows_the_bins_of_the_fit():
    frame = {"sex": ["f"] * 21 + ["m"] * 15, "age": [12, 25, 44, 70, 25, 29, 12, 63, 70] * 4}
    mechanism = linred.Sanitizer("sex", "age", alpha=0.5, bins={"age": [20, 30, 60]}).fit(frame).mechanism_
    centres = np.array([15.0, 25.0, 45.0, 75.0])
    matrix = np.abs(centres[:, None] - centres)
    p_xy = np.einsum("sx,sxy->xy", mechanism.joint.p_sx, mechanism.p_y_given_sx)
    assert mechanism.expected_distortion("absolute") == pytest.approx(float((p_xy * matrix).sum()), rel=1e-12)
    assert mechanism.expected_distortion("absolute") > 0.0


GIVE = "give a matrix of distances in place of the name"


@pytest.mark.parametrize(
    ("labels", "column", "kind"),
    [
        ((1, "secret"), None, "not a number"),
        ((1, None), None, "missing"),
        ((1, float("inf")), None, "not a number"),
        (("1", "nan"), None, "not a number"),
        (("1", "1_0"), None, "not a number"),
        ((1, True), None, "not a number"),
        ((1, 10**400), None, "not a number"),
        ((1, decimal.Decimal("sNaN")), None, "not a number"),
        ((1, datetime.date(2013, 1, 1)), None, "not a number"),
        ((("a", 1), ("b", 2)), None, "not a number"),
        (("age<20", "25"), AGE, "not a bin"),
        (("age<20", None), AGE, "missing"),
    ],
)
def test_labels_without_a_distance_are_refused_by_place(labels, column, kind):
    place = next(i for i, label in enumerate(labels) if i == 1 or isinstance(label, tuple))
    message = f"distortion = 'absolute': x_labels[{place}] is {kind}: {GIVE}"
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
        distortion_of("distortion", "absolute", labels, column)


def test_bins_with_one_edge_have_no_width():
    bins = ColumnSpec("age", (20.0,))
    message = f"distortion = 'squared': the bins of 'age' have no width, because they have only one edge: {GIVE}"
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}$"):
        distortion_of("distortion", "squared", bins.bins, bins)


@pytest.mark.parametrize(
    ("given", "labels", "message"),
    [
        ("euclid", (1, 2), "d = 'euclid' is not 'absolute', 'squared', 'hamming', a matrix, a mapping or a function"),
        ("squared", (0, 1e200), "d[0, 1] is not a finite number"),
        (
            "hamming",
            (1, 2),
            "x_labels[0] is not a tuple of columns, which d = 'hamming' needs: fit several public columns",
        ),
        ("hamming", ((1, 2), (1,)), "x_labels[1] is not a tuple as long as x_labels[0], which d"),
        (~np.eye(2, dtype=bool), (1, 2), "d has dtype bool: give a matrix of numbers"),
        ([[False, True], [True, False]], (1, 2), "d has dtype bool: give a matrix of numbers"),
        ([[0.0, np.inf], [1.0, 0.0]], (1, 2), "d[0, 1] is not a finite number"),
        ([[0.0, -1.0], [1.0, 0.0]], (1, 2), "d[0, 1] is negative"),
        ([[0.0, 1.0], [1.0, 2.0]], (1, 2), "d[1, 1] is not 0: a label and itself must have 0"),
        (np.zeros((3, 3)), (1, 2), "d has shape (3, 3): an alphabet of 2 labels needs (2, 2)"),
        ({(1, 2): 3.0}, (1, 2), "d[1, 0] is absent: give a number for each pair of different labels, both ways"),
        (lambda a, b: 1 / 0, (1, 2), "d[0, 1]: the function raised ZeroDivisionError"),
    ],
)
def test_what_is_no_distortion_is_refused(given, labels, message):
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}"):
        distortion_of("d", given, labels)


# Limits of pairs by distance


def test_limits_of_pairs_are_epsilon_for_each_unit_of_distance():
    assert linred.pairs_by_distance("absolute", ["1", "2", "4"], epsilon=0.5).tolist() == [
        [0.0, 0.5, 1.5], [0.5, 0.0, 1.0], [1.5, 1.0, 0.0],
    ]  # fmt: skip
    joint = linred.Joint.from_counts(np.ones((4, 2), int), PAIRS)
    assert linred.pairs_by_distance("hamming", joint).tolist() == distance_of("d", "hamming", tuple(PAIRS)).tolist()
    given = {("a", "b"): 2.0, ("b", "a"): np.inf}
    expected = [[0.0, 3.0, np.inf], [np.inf, 0.0, np.inf], [np.inf, np.inf, 0.0]]
    assert linred.pairs_by_distance(given, ["a", "b", "c"], epsilon=1.5).tolist() == expected
    for epsilon in (0.0, 2.0):  # inf stays inf, and 0 * inf is not NaN
        limits = linred.pairs_by_distance(lambda a, b: np.inf if a < b else 1.0, [1, 2], epsilon=epsilon)
        assert limits.tolist() == [[0.0, np.inf], [epsilon, 0.0]]
        assert not limits.flags.writeable


def test_ages_at_a_limit_for_each_bin_of_distance_cost_what_the_table_says():
    """Targets: S = age in ten bins, LDP .5 changes 5.39 %; .5 for each bin of distance 1.62 %."""
    joint = adult_tables.by_age()
    by_code = linred.pairs_by_distance("absolute", joint, epsilon=0.5)
    assert f"{100 * linred.optimal(joint, ldp=0.5).dtv():.2f}" == "5.39"
    assert f"{100 * linred.optimal(joint, pairs=by_code).dtv():.2f}" == "1.62"
    bins = ColumnSpec("age", tuple(map(float, adult_tables.AGE_BINS)))  # five years each
    by_year = linred.pairs_by_distance("absolute", bins.bins, epsilon=0.1, bins={"age": adult_tables.AGE_BINS.tolist()})
    assert np.allclose(by_year, by_code, rtol=1e-14, atol=0.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epsilon": -1.0}, "epsilon = -1.0 is outside [0, "),
        ({"epsilon": np.inf}, "epsilon = inf is outside [0, "),
        ({"labels": []}, "labels has no labels"),
        ({"labels": ["a", "b"]}, "distance = 'absolute': labels[0] is not a number: give"),
        ({"bins": {"age": []}}, "bins of 'age' has no edges: give at least two numbers"),
        ({"bins": [1, 2]}, "bins is not a dict of one column and its edges"),
        ({"bins": {"age": [1, 2], "b": [1]}}, "bins is not a dict of one column and its edges"),
        ({"bins": {"age": [1, 2]}}, "distance = 'absolute': labels[0] is not a bin: give"),
        ({"distance": [[0.0, -1.0], [1.0, 0.0]]}, "distance[0, 1] is negative"),
        ({"distance": "manhattan"}, "distance = 'manhattan' is not 'absolute'"),
    ],
)
def test_what_gives_no_limits_is_refused(arguments, message):
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}"):
        linred.pairs_by_distance(**{"distance": "absolute", "labels": [1, 2]} | arguments)

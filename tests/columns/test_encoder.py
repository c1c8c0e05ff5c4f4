"""Alphabets that are declared, and the `Encoder` of one."""

import pickle

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from linred import Joint
from linred.columns.encoder import Encoder
from support.columns import AGES, COLOURS, KINDS, X


def test_declared_labels_fix_the_alphabet_and_its_order():
    joint = Joint.from_records(COLOURS, AGES, s_labels=["red", "blue", "green", "black"], x_labels=[20, 30, 40, 50])
    assert joint.counts.tolist() == [[0, 2, 1, 0], [2, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    codes = Joint.from_records(np.array([0, 2], np.uint8), np.array([1, 1], np.uint8), range(4), range(2))
    assert codes.shape == (4, 2)
    assert codes.counts.tolist() == [[0, 1], [0, 0], [0, 1], [0, 0]]


def test_values_that_cannot_be_sorted_need_declared_labels():
    joint = Joint.from_records([1, "a", None], [0, 0, 1], s_labels=["a", 1, None])
    assert joint.counts.tolist() == [[1, 0], [1, 0], [0, 1]]
    assert Joint.from_records([1.0, float("nan")], [0, 0], s_labels=[1.0, float("nan")]).s_labels == (1.0, None)


BAD = [
    (lambda: Joint.from_records(["a", "b"], [1]), "s has 2 records and x has 1"),
    (lambda: Joint.from_records([], []), "s and x have no records"),
    (
        lambda: Joint.from_records(["a", "z"], [1, 2], s_labels=["a", "b"]),
        r"^s\[1\] is not in s_labels=",
    ),
    (lambda: Joint.from_records(["a", "b"], [1, 7], x_labels=[1, 2]), r"^x\[1\] is not in x_labels="),
    (lambda: Joint.from_records(["a", None], [1, 2], s_labels=["a", "b"]), r"^s\[1\] is not in s_labels="),
    (
        lambda: Joint.from_records(np.array([0, 9], np.uint8), [0, 1], s_labels=range(3)),
        r"s\[1\] is not a code below 3",
    ),
    (lambda: Joint.from_records(5, [1]), "s is a int, not a column of records"),
    (lambda: Joint.from_records(None, [1]), "s is a NoneType, not a column"),
    (lambda: Joint.from_records("ab", [1, 2]), "s is a str, not a column"),
    (lambda: Joint.from_records({1, 2}, [1, 2]), "s is a set, not a column"),
    (lambda: Joint.from_records({"a": 1}, [1]), r"s\['a'\] is a int, not a column"),
    (lambda: Joint.from_records(pl.LazyFrame({"a": [1]}), [1]), "s is a polars.*LazyFrame, not a column"),
    (lambda: Joint.from_records(pa.array([[1], [2]]), [1, 2]), "s is an Arrow column of list"),
    (lambda: Joint.from_records(["a"], [1], s_labels=[]), "s_labels has no labels"),
    (
        lambda: Joint.from_records([1, "a"], [1, 2]),
        "s has values that cannot be sorted: .* with s_labels=",
    ),
    (
        lambda: Joint.from_records([[1], [2]], [1, 2]),
        r"^s\[0\] is a list that is not hashable: use text",
    ),
    (lambda: Joint.from_records(np.zeros((2, 2, 2)), [1, 2]), r"s has shape \(2, 2, 2\)"),
    (lambda: Joint.from_records({}, [1, 2]), "s is a table without columns"),
    (lambda: Joint.from_records({"a": [1], "b": [1, 2]}, [1]), r"s\['b'\] has 2 records"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_records_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


COLUMN = ["b", None, "a", "new", float("nan"), "b"]


def test_an_encoder_gives_places_and_the_number_of_labels_for_all_else():
    assert Encoder(("b", "a")).codes("x", COLUMN).tolist() == [0, 2, 1, 2, 2, 0]
    assert Encoder(("b", "a")).with_missing.codes("x", COLUMN).tolist() == [0, 2, 1, 3, 2, 0]
    assert Encoder(("b", "a", None)).first_unknown(Encoder(("b", "a", None)).codes("x", COLUMN)) == 3
    assert Encoder(("b", "a")).first_unknown(np.array([0, 1], np.uint8)) is None


@pytest.mark.parametrize("kind", KINDS)
def test_codes_in_an_alphabet_are_those_of_a_list(kind):
    encoder = Encoder(("ccc", "zz", None, "a"))
    np.testing.assert_array_equal(encoder.codes("x", KINDS[kind](X)), encoder.codes("x", X))


def test_a_joint_keeps_its_encoders_and_no_pickle_has_them():
    joint = Joint.from_records(["f", "m"], ["a", "b"])
    before = pickle.dumps(joint)
    assert joint.s_encoder is joint.s_encoder
    assert joint.x_encoder.codes("x", ["b", "c"]).tolist() == [1, 2]
    assert pickle.dumps(joint) == before
    assert pickle.loads(before).s_encoder.labels == ("f", "m")

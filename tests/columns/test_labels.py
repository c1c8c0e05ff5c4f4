"""Labels in JSON: their types, and those that cannot be read."""

import datetime
import decimal
import re

import numpy as np
import pytest

import linred
from linred.columns import labels
from support.artifacts import stored

TYPED = (
    "text", "", "é\n\"", 5, -(2**70), 0.1, float("inf"), True, None, b"\x00\xff", ("a", 1, None), ((1, 2), "b"),
    datetime.date(2013, 1, 31), datetime.datetime(2013, 1, 31, 23, 59, 1, 5), datetime.time(1, 2),
    decimal.Decimal("1.10"), np.datetime64("2013-01-01", "D"), np.datetime64(123456789, "ns"), np.timedelta64(77, "s"),
)  # fmt: skip


def test_labels_keep_their_types(tmp_path):
    joint = linred.Joint.from_counts(np.ones((2, len(TYPED)), int), ["f", "m"], TYPED)
    again = linred.load(stored(linred.markov(joint, 0.5), tmp_path)).joint.x_labels
    assert again == TYPED
    assert [type(label) for label in again] == [type(label) for label in TYPED]


def test_numpy_labels_become_pythons(tmp_path):
    assert labels.from_json("x", labels.to_json("x", (np.int64(5), np.str_("a"), np.bool_(True)))) == (5, "a", True)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"decimal": "abc"}, "x[1] is not a valid decimal"),
        ({"decimal": "sNaN"}, "x[1] is a signalling NaN, which cannot be a label"),
        ({"decimal": [1]}, "x[1] is not a valid decimal"),
        ({"date": "2013-13-01"}, "x[1] is not a valid date"),
        ({"bytes": "zz"}, "x[1] is not a valid bytes"),
        ({"datetime64": [10**26, "s", 1]}, "x[1] is not a valid datetime64"),
        ({"datetime64": "2013"}, "x[1] is not a valid datetime64"),
        (
            {"code": "1"},
            "x[1] is an object, not a label with one of the types bytes, date, ",
        ),
        ({}, "x[1] is an object, not a label"),
    ],
)
def test_labels_that_cannot_be_read_are_named(value, message):
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}"):
        labels.from_json("x", ["a", value])

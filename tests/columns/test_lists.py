"""Lists, tuples, and columns of unknown kinds."""

from collections import OrderedDict, deque

import pytest

import linred
from linred.columns.adapters.kinds import adapter_of
from support.columns import EXPECTED, KEY, MECHANISM, S, X


@pytest.mark.parametrize("kind", [deque, lambda x: dict(enumerate(x)).values()], ids=["deque", "values of a dict"])
def test_what_is_drawn_for_an_unknown_kind_is_a_list(kind):
    assert MECHANISM.sanitize(S, kind(X), key=KEY, start=0) == EXPECTED


def test_an_unknown_kind_that_cannot_be_asked_for_one_value_may_have_unseen_ones():
    y = MECHANISM.sanitize(["f", "m"], {1: "a", 2: "new"}.values(), key=KEY, start=0, unseen="null")
    assert y[1] is None


def test_a_dict_of_columns_keeps_its_names_and_their_order():
    table = adapter_of("x", OrderedDict(b=["p", "q"], a=(1, 2)))
    codes = table.encoded(sort=True).codes
    assert table.decoder((("p", 1), ("q", 2)))(codes[::-1]) == {"b": ["q", "p"], "a": (2, 1)}
    assert table.value_at(1) == ("q", 2)


def test_an_iterator_is_read_once():
    joint = linred.Joint.from_records(iter(["f", "m"]), iter(["a", "b"]), x_labels=["a", "b"])
    assert joint.counts.tolist() == [[1, 0], [0, 1]]
    with pytest.raises(ValueError, match=r"^x\[0\] is not in x_labels"):
        linred.Joint.from_records(["f", "m"], iter(["a", "b"]), x_labels=["c"])
    with pytest.raises(ValueError, match=r"^x\[1\] is not in the mechanism's alphabet"):
        linred.markov(joint, 0.5).sanitize(None, iter(["a", "z"]))

"""Ids of records, in every kind of column."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import linred
from linred.columns.record_ids import plain_ids
from support.columns import KEY, MECHANISM, S, X


@pytest.mark.parametrize("ids", [list(range(2000)), [f"id {i}" for i in range(2000)]], ids=["numbers", "text"])
def test_ids_of_any_kind_of_column(ids):
    expected = MECHANISM.sanitize(S, X, key=KEY, ids=ids)
    for kind in (np.array, pd.Series, pl.Series, pa.array, tuple):
        assert MECHANISM.sanitize(S, X, key=KEY, ids=kind(ids)) == expected
    assert MECHANISM.sanitize(S[::-1], X[::-1], key=KEY, ids=ids[::-1]) == expected[::-1]


def test_ids_in_chunks_and_in_arrow_tables():
    names = [f"id {i}" for i in range(len(X))]
    expected = MECHANISM.sanitize(S, X, key=KEY, ids=names)
    assert MECHANISM.sanitize(S, X, key=KEY, ids=pa.chunked_array([names[:9], names[9:]])) == expected
    table = pa.table({"s": S, "x": X, "id": names})
    result = linred.sanitize_frame(table, MECHANISM, sensitive="s", public="x", id="id", key=KEY)
    assert result["x"].to_pylist() == expected


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ("ab", "ids is a str, not a column of integers or of text"),
        (iter([1, 2]), "ids is a .*iterator, not a column"),
        ({"a": [1, 2]}, "ids is a dict, not a column"),
        (np.zeros((2, 2), int), "ids is a ndarray, not a column"),
        (np.array(3), "ids is a ndarray, not a column"),
        ([1, None], r"ids\[1\] = None is not an integer"),
        (["a", 1], r"ids\[1\] = 1 is not text"),
        ([1, True], r"ids\[1\] = True is not an integer"),
        ([1, 2**127], r"ids\[1\] = \d+ has more than 128 bits"),
        ([1], "ids has 1 records and x 2"),
    ],
    ids=lambda case: type(case).__name__,
)
def test_bad_ids_are_named(ids, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        plain_ids(ids, 2)

"""The error of every kind of column that cannot hold a label."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import linred
from support.columns import KEY, uniform, values


@pytest.mark.parametrize(
    "column",
    [
        np.array([3, 5, 5, 9] * 50),
        np.array([3, 5, 5, 9] * 50, np.uint8),
        np.array([3, 5, 5, 9] * 50, float),
        pd.Series([3, 5, 5, 9] * 50),
        pd.Series([3, 5, 5, 9] * 50, dtype="Int64"),
        pl.Series([3, 5, 5, 9] * 50),
        pa.array([3, 5, 5, 9] * 50),
        np.array(["2020-01-01", "2021-01-01", "2022-01-01", "2021-01-01"] * 50, "M8[D]"),
        pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01", "2021-01-01"] * 50)),
        np.array([True, False, True, True] * 50),
        pd.Series([0.5, 1.5, 0.5, 2.5] * 50),
        np.ma.array([3, 5, 5, 9] * 50, mask=[False, False, False, True] * 50),
    ],
    ids=lambda column: f"{type(column).__name__} {getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_labels_that_are_no_text(column):
    s = [0, 1] * 100
    mechanism = linred.markov(linred.Joint.from_records(s, column), 0.9)
    y = mechanism.sanitize(None, column, key=KEY, start=0)
    assert type(y) is type(column)
    for attribute in ("dtype", "type"):
        if hasattr(column, attribute):
            assert getattr(y, attribute) == getattr(column, attribute)
    assert set(map(str, values(y))) == set(map(str, values(column)))
    assert values(y) != values(column)


@pytest.mark.parametrize("kind", [pd.Series, np.array, pl.Series])
def test_a_column_too_narrow_for_the_labels_is_refused(kind):
    mechanism = linred.markov(linred.Joint.from_counts(np.ones((1, 200))), 0.5)
    with pytest.raises(ValueError, match=r"x is a .* which cannot hold label 128 of the mechanism"):
        mechanism.sanitize(None, kind(np.arange(100, dtype=np.int8)))


@pytest.mark.parametrize(
    ("labels", "x", "message"),
    [
        ((2.5, 1), pa.array([1, 1]), "label 0"),
        (("a", 1), np.array(["a"]), "label 1"),
        (("a", 1), pd.Series(["a"], dtype="string"), "label 1"),
        ((b"a", b"a\0"), np.array([b"a"]), "label 1"),
        ((2**60 + 1, 1), np.array([1.0]), "label 0"),
        ((2**60 + 1, 1), pl.Series([1.0]), "label 0"),
        (("a", "b"), pl.Series(["a"], dtype=pl.Enum(["a"])), "label 1"),
        (("a", "b"), pd.Series(["a"], dtype=pd.CategoricalDtype(["a"], ordered=True)), "label 1"),
        ([f"v{i}" for i in range(300)], pa.array(["v0"]).cast(pa.dictionary(pa.int8(), pa.string())), "the 300 labels"),
    ],
)
def test_labels_that_a_column_would_change_are_refused_before_a_draw(labels, x, message):
    with pytest.raises(ValueError, match=f"x is a .* which cannot hold {message} of the mechanism") as e:
        uniform(*labels).sanitize(None, x)
    assert "\n" not in str(e.value)

"""Missing values in every kind of column."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import linred
from linred.columns.encoder import encode
from support.columns import KEY, KINDS, MECHANISM, S, X, values


@pytest.mark.parametrize(
    "column",
    [
        ["b", None, "a", "b"],
        np.array(["b", None, "a", "b"], object),
        pd.Series(["b", None, "a", "b"]),
        pd.Series(["b", None, "a", "b"], dtype="category"),
        pd.array(["b", pd.NA, "a", "b"]),
        pl.Series(["b", None, "a", "b"]),
        pl.Series(["b", None, "a", "b"], dtype=pl.Enum(["a", "b"])),
        pa.array(["b", None, "a", "b"]),
        pa.array(["a", "b", None, "a", "b"][1:]).dictionary_encode(),
    ],
    ids=lambda column: type(column).__name__,
)
def test_missing_values_are_a_category_of_their_own(column):
    encoded = encode("x", column)
    labels = [encoded.labels[code] for code in encoded.codes]
    assert labels == ["b", None, "a", "b"]
    assert encoded.labels[-1] is None


@pytest.mark.parametrize(
    "column", [np.array([2.0, np.nan, 1.0]), pd.Series([2, None, 1], dtype="Int64"), pl.Series([2, None, 1])], ids=str
)
def test_missing_numbers(column):
    assert encode("x", column).labels == (1, 2, None)


def test_missing_integers_stay_integers():
    column = pd.Series([2**53, 2**53 + 1, None], dtype="Int64")
    assert encode("x", column).labels == (2**53, 2**53 + 1, None)
    masked = np.ma.array([1, 2, 3], mask=[0, 1, 0])
    assert encode("x", masked).labels == (1, 3, None)
    assert encode("x", masked).codes.tolist() == [0, 2, 1]


def test_missing_values_are_a_category_where_the_fit_had_them():
    x = [None if i % 7 == 0 else x for i, x in enumerate(X)]
    mechanism = linred.non_markov(linred.Joint.from_records(S, x), 0.9)
    for kind in ("list", "numpy object", "pandas str", "pandas category", "polars String", "arrow", "arrow dictionary"):
        y = mechanism.sanitize(S, KINDS[kind](x), key=KEY, start=0)
        assert [None if value != value else value for value in values(y)] == mechanism.sanitize(S, x, key=KEY, start=0)
    assert None in mechanism.sanitize(S, x, key=KEY, start=0)
    with pytest.raises(ValueError, match=r"x is a numpy.ndarray of <U3, which cannot hold missing values"):
        mechanism.sanitize(S, np.array(X))


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_categories_tell_nothing_of_values_that_are_not_published(kind, ordered):
    x = ["SECRET", "ccc", "a", "bb", *X[4:]]
    if kind == "pandas":
        column = pd.Series(pd.Categorical(x, ["SECRET", "ccc", "zz", "a", "bb"], ordered=ordered))
    else:
        column = pa.DictionaryArray.from_arrays(
            [["SECRET", "ccc", "a", "bb"].index(one) for one in x], ["SECRET", "ccc", "a", "bb"], ordered=ordered
        )
    for unseen in ("null", "marginal"):
        y = MECHANISM.sanitize(S, column, key=KEY, start=0, unseen=unseen)
        shown = y.cat.categories.tolist() if kind == "pandas" else y.dictionary.to_pylist()
        assert shown == (["ccc", "a", "bb"] if ordered else ["a", "bb", "ccc"])
        assert values(y)[1:] == MECHANISM.sanitize(S, x, key=KEY, start=0, unseen=unseen)[1:]

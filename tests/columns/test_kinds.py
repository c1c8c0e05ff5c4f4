"""Every kind of column: the same codes, and the same kind comes out."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import linred
from linred.columns.adapters.kinds import adapter_of
from linred.columns.encoder import encode
from support.columns import COLOURS, EXPECTED, KEY, KINDS, MECHANISM, S, X, values

COLUMNS = {
    "list": COLOURS,
    "tuple": tuple(COLOURS),
    "numpy text": np.array(COLOURS),
    "numpy objects": np.array(COLOURS, object),
    "pandas": pd.Series(COLOURS, index=[9, 8, 7, 6, 5, 4]),
    "pandas categorical": pd.Series(COLOURS, dtype="category"),
    "pandas Categorical": pd.Categorical(COLOURS),
    "pandas index": pd.Index(COLOURS),
    "polars": pl.Series(COLOURS),
    "polars categorical": pl.Series(COLOURS, dtype=pl.Categorical),
    "polars enum": pl.Series(COLOURS, dtype=pl.Enum(["blue", "green", "red"])),
    "arrow": pa.array(COLOURS),
    "arrow chunked": pa.chunked_array([COLOURS[:2], COLOURS[2:]]),
    "arrow dictionary": pa.array(["blue", "green", "red", *COLOURS]).dictionary_encode()[3:],
    "arrow chunked dictionary": pa.chunked_array(
        [pa.array(["blue", "green", "red"]).dictionary_encode(), pa.array(COLOURS).dictionary_encode()]
    )[3:],
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_every_kind_of_column_gives_the_same_codes(kind):
    column = encode("x", COLUMNS[kind])
    assert column.labels == ("blue", "green", "red")
    assert column.codes.dtype == np.uint8
    np.testing.assert_array_equal(column.codes, [2, 0, 2, 1, 0, 2])


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_kind_comes_out(kind):
    x = KINDS[kind](X)
    y = MECHANISM.sanitize(S, x, key=KEY, start=0)
    assert type(y) is type(x)
    assert values(y) == EXPECTED
    for attribute in ("dtype", "type", "name"):
        if hasattr(x, attribute) and (attribute, kind) != ("dtype", "pandas category"):  # it has a category too many
            assert getattr(y, attribute) == getattr(x, attribute)
    if hasattr(x, "index") and hasattr(x, "iloc"):
        assert y.index.equals(x.index)
    if hasattr(x, "chunks"):
        assert [len(chunk) for chunk in y.chunks] == [len(chunk) for chunk in x.chunks]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_in_nothing_out(kind):
    x = KINDS[kind](X)[:0]
    y = MECHANISM.sanitize([], x)
    assert type(y) is type(x)
    assert len(y) == 0


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (pl.DataFrame({"a": X}).lazy(), "x is a polars.*LazyFrame, not a column"),
        (pl.col("a"), "x is a polars.*Expr, not a column"),
        (
            pd.DataFrame({"a": X, "b": X}),
            "x is a table of 2 columns, and label 0 of the mechanism is not a tuple of 2 values",
        ),
    ],
)
def test_what_is_no_column_of_the_mechanism(x, message):
    with pytest.raises(ValueError, match=message):
        MECHANISM.sanitize(S, x, unseen="marginal")


def test_an_adapter_is_its_own():
    column = adapter_of("x", X)
    assert adapter_of("y", column) is column
    assert MECHANISM.sanitize(adapter_of("s", S), column, key=KEY, start=0) == EXPECTED


def test_tables_are_no_columns_of_tables():
    with pytest.raises(ValueError, match=r"^x\['a'\] is a dict, not a column of records in order$"):
        adapter_of("x", {"a": {"b": [1]}})
    with pytest.raises(ValueError, match=r"^x\['a'\] is a pandas.DataFrame, not a column of records in order$"):
        adapter_of("x", {"a": pd.DataFrame({"b": [1]})})


def test_a_package_is_known_by_its_adapter_alone():
    """pandas, Polars and pyarrow are named in `linred.columns` by their own adapters, and by the table of kinds."""
    for path in Path(linred.__file__).parent.glob("columns/**/*.py"):
        named = set(re.findall(r'(?:import |from |modules\[")(pandas|polars|pyarrow)\b', path.read_text()))
        assert named <= {{"arrow": "pyarrow"}.get(path.stem.partition("_")[0], path.stem.partition("_")[0])}, path

"""Tables of columns as one composite symbol, and numbers in their bins."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import linred
from linred import Joint
from linred.columns.schema import ColumnSpec, FitSchema, parts_of
from linred.sampling import keystream
from support.columns import AGES, COLOURS, KEY, RNG, S, X, values
from support.frames import BIN_OF_AGE, BINS, DATA, EDGES, JOB, KINDS, SEX, collected, every_kind, fit, types

TABLE = {"colour": COLOURS, "age": AGES}


@pytest.mark.parametrize(
    "table",
    [
        TABLE,
        pd.DataFrame(TABLE),
        pl.DataFrame(TABLE),
        pa.table(TABLE),
        np.array(list(zip(COLOURS, AGES, strict=True)), object),
        list(zip(COLOURS, AGES, strict=True)),
    ],
    ids=lambda table: type(table).__name__,
)
def test_a_table_of_columns_is_a_composite_alphabet(table):
    joint = Joint.from_records(table, [0, 1, 0, 1, 1, 1])
    assert joint.s_labels == (("blue", 20), ("green", 30), ("red", 30), ("red", 40))
    assert joint.counts.tolist() == [[0, 2], [0, 1], [2, 0], [0, 1]]


def test_tables_with_equal_column_names():
    table = pa.table([pa.array([1, 2]), pa.array(["a", "b"])], names=["k", "k"])
    frame = pd.DataFrame([[1, "a"], [2, "b"]], columns=["k", "k"])
    for columns in (table, frame):
        assert Joint.from_records(columns, [0, 1]).s_labels == ((1, "a"), (2, "b"))


def test_tables_with_names_that_repeat():
    frame = pd.DataFrame(np.array([X, X[::-1]]).T, columns=["a", "a"])
    mechanism = linred.markov(linred.Joint.from_records(S, frame), 0.5)
    y = mechanism.sanitize(None, frame, key=KEY, start=0)
    assert y.shape == frame.shape
    assert list(y.columns) == ["a", "a"]
    table = pa.table([pa.array(X), pa.array(X[::-1])], names=["a", "a"])
    drawn = mechanism.sanitize(None, table, key=KEY, start=0)
    assert drawn.column_names == ["a", "a"]
    assert drawn.column(1).to_pylist() == y.iloc[:, 1].tolist()


TABLES = {
    "dict": dict,
    "pandas": lambda t: pd.DataFrame(t, index=range(5, 2005)),
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "array": lambda t: np.array(list(zip(*t.values(), strict=True)), object),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_of_columns_is_one_composite_symbol(kind):
    table = {"u": X, "v": RNG.integers(0, 2, len(X)).tolist()}
    mechanism = linred.non_markov(linred.Joint.from_records(S, table), 0.8)
    expected = mechanism.sanitize(S, table, key=KEY, start=0)
    y = mechanism.sanitize(S, TABLES[kind](table), key=KEY, start=0)
    assert type(y) is type(TABLES[kind](table))
    rows = y.tolist() if kind == "array" else list(zip(*(values(y[name]) for name in table), strict=True))
    assert list(map(tuple, rows)) == list(zip(*expected.values(), strict=True))
    assert list(zip(*expected.values(), strict=True)) != list(zip(*table.values(), strict=True))
    if kind == "pandas":
        assert y.index.equals(TABLES[kind](table).index)
        assert list(y.columns) == ["u", "v"]


def test_unseen_tuples_of_a_table_are_named():
    mechanism = linred.markov(linred.Joint.from_records(S, {"u": X, "v": X}), 0.5)
    with pytest.raises(ValueError, match=r"^x\[0\] is not in the mechanism's alphabet"):
        mechanism.sanitize(None, pd.DataFrame({"u": ["a"], "v": ["bb"]}))


@every_kind
def test_numbers_are_sorted_into_bins(kind):
    sanitizer = fit(public="age", bins=EDGES, key=KEY, context="c").fit(KINDS[kind](DATA))
    result = sanitizer.transform(KINDS[kind](DATA))
    mechanism = linred.non_markov(linred.Joint.from_records(SEX, BIN_OF_AGE, x_labels=BINS), 0.6)
    assert sanitizer.mechanism_.joint.x_labels == tuple(BINS)
    np.testing.assert_array_equal(sanitizer.mechanism_.joint.counts, mechanism.joint.counts)
    context = keystream.context_of_columns("c", parts_of("public", "age"))
    assert collected(result)["age"] == mechanism.sanitize(SEX, BIN_OF_AGE, key=KEY, context=context)
    assert list(collected(result)) == ["year", "job", "full", "age", "id"]
    assert types(result)["age"] == types(KINDS[kind]({"age": BINS}))["age"]
    assert sanitizer.mechanism_.fitted == FitSchema((ColumnSpec("sex"),), (ColumnSpec("age", (30.0, 50.5)),))


@every_kind
def test_bins_among_several_columns_and_in_s(kind):
    sanitizer = fit(sensitive="year", public=["job", "age"], bins={**EDGES, "year": [2002]}, key=KEY, context="c")
    result = collected(sanitizer.fit_transform(KINDS[kind](DATA)))
    s = ["year>=2002" if year >= 2002 else "year<2002" for year in DATA["year"]]
    x = {"job": JOB, "age": BIN_OF_AGE}
    in_order = sorted(set(zip(JOB, BIN_OF_AGE, strict=True)), key=lambda pair: (pair[0], BINS.index(pair[1])))
    mechanism = linred.non_markov(linred.Joint.from_records(s, x, x_labels=in_order), 0.6)
    assert sanitizer.mechanism_.joint.s_labels == mechanism.joint.s_labels == ("year<2002", "year>=2002")
    assert sanitizer.mechanism_.joint.x_labels == mechanism.joint.x_labels
    context = keystream.context_of_columns("c", parts_of("public", ["job", "age"]))
    assert {"job": result["job"], "age": result["age"]} == mechanism.sanitize(s, x, key=KEY, context=context) != x


@pytest.mark.parametrize(
    "ages",
    [
        pd.array([20, None, 70, 30], "Int32"),
        pd.Series([20, None, 70, 30], dtype=object),
        pd.Series([20, None, 70, 30], dtype=pd.ArrowDtype(pa.int8())),
        np.array([20, np.nan, 70, 30], np.float32),
        np.ma.array([20, 99, 70, 30], mask=[False, True, False, False]),
        pl.Series([20, None, 70, 30]),
        pl.Series([20.0, None, 70.0, 30.0]),
        pl.Series([20.0, float("nan"), 70.0, 30.0], dtype=pl.Float32),
        pa.array([20, None, 70, 30], pa.uint8()),
        pa.chunked_array([[20.0, None], [70.0, 30.0]], pa.float32()),
        pa.array([20, None, 70, 30], pa.decimal128(5, 2)),
        (20, None, 70, 30),
    ],
    ids=lambda column: f"{type(column).__name__} {getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_numbers_of_any_type_and_missing_ones(ages):
    frame = {"sex": ["f", "m", "f", "m"] * 20, "age": [20, None, 70, 30] * 20}
    sanitizer = fit(public="age", alpha=0.0, bins={"age": [30, 70]}).fit(frame)
    assert sanitizer.mechanism_.joint.x_labels == ("age<30", "30<=age<70", "age>=70", None)
    result = sanitizer.transform({"sex": ["f", "m", "f", "m"], "age": ages})["age"]
    values = collected(
        {"age": result} if isinstance(result, list | tuple) else pd.DataFrame({"age": np.asarray(result)})
    )
    assert list(values["age"]) == ["age<30", None, "age>=70", "30<=age<70"]


def test_bins_that_no_record_was_in_are_known():
    sanitizer = fit(public="age", bins={"age": [-5, 50]}, seed=1).fit(DATA)
    y = sanitizer.transform({"sex": ["f"] * 50, "age": [-10.0] * 50})["age"]
    assert set(y) == {"-5<=age<50", "age>=50"}
    with pytest.raises(ValueError, match=r"^column 'age'\[1\] is not in the mechanism's alphabet"):
        sanitizer.transform({"sex": ["f", "f"], "age": [20.0, None]})


def test_text_is_no_number():
    frame = {"sex": ["f", "m"], "age": ["20", "30"]}
    with pytest.raises(
        ValueError, match=r"^column 'age'\[0\] is a str that is not a number: bins need a column of numbers$"
    ):
        fit(public="age", bins=EDGES).fit(frame)

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from linred import Joint
from linred.columns.encoder import encode

COLOURS = ["red", "blue", "red", "green", "blue", "red"]
AGES = [30, 20, 30, 30, 20, 40]

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


@pytest.mark.parametrize(
    "ages",
    [
        AGES,
        np.array(AGES),
        np.array(AGES, np.uint8),
        np.array(AGES, np.int8),
        np.array(AGES, np.uint64) + np.uint64(2**63),
        pd.Series(AGES),
        pl.Series(AGES),
        pa.array(AGES),
    ],
    ids=str,
)
def test_integers_keep_the_values_that_occur(ages):
    joint = Joint.from_records(ages, COLOURS)
    offset = 2**63 if getattr(ages, "dtype", None) == np.uint64 else 0
    assert joint.s_labels == (20 + offset, 30 + offset, 40 + offset)
    assert joint.counts.tolist() == [[2, 0, 0], [0, 1, 2], [0, 0, 1]]


def test_the_whole_range_of_small_integers():
    column = np.arange(-128, 128, dtype=np.int8)
    np.testing.assert_array_equal(encode("x", column).codes, np.arange(256))
    far = np.array([-(2**62), 2**62, 5])
    assert encode("x", far).labels == (-(2**62), 5, 2**62)


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


def test_arrow_dictionaries_with_nulls_in_either_part():
    indices = pa.array([0, None, 2, 1], pa.uint8())
    column = pa.DictionaryArray.from_arrays(indices, pa.array(["b", None, "a"]))
    assert [encode("x", column).labels[code] for code in encode("x", column).codes] == ["b", None, "a", None]
    ordered = pa.DictionaryArray.from_arrays(indices, pa.array(["c", "b", "a"]), ordered=True)
    assert encode("x", ordered).labels == ("c", "b", "a", None)


def test_an_ordered_dictionary_that_repeats_a_value():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), pa.array(["b", "a", "b"]), ordered=True)
    joint = Joint.from_records([0] * 4, column)
    assert joint.x_labels == ("b", "a", None)
    assert joint.counts.tolist() == [[2, 1, 1]]


@pytest.mark.parametrize("unit", ["D", "s", "ns", "M"])
def test_times_as_labels(unit):
    times = np.array(["2020-01-02", "1960-01-01", "2020-01-02"], f"M8[{unit}]")
    joint = Joint.from_records([0, 0, 1], times, x_labels=np.unique(times))
    assert joint.counts.tolist() == [[1, 1], [0, 1]]
    assert joint.x_labels == tuple(np.unique(times))
    swapped = Joint.from_records([0, 0, 1], times.astype(times.dtype.newbyteorder()))
    assert swapped.x_labels == joint.x_labels
    assert swapped.counts.tolist() == [[1, 1], [0, 1]]


def test_few_values_in_a_wide_range_make_a_small_table():
    rng = np.random.default_rng(1)
    codes, prices = np.array([10001, 90210, 60601]), np.array([19990, 45000, 61000], np.uint32)
    s, x = rng.integers(0, 3, 1000), rng.integers(0, 3, 1000)
    joint = Joint.from_records(codes[s], prices[x])
    assert joint.s_labels == (10001, 60601, 90210)
    assert joint.x_labels == (19990, 45000, 61000)
    assert joint.n_records == 1000
    assert Joint.from_records(np.array([0, 65000]), np.array([-5, 2**40])).counts.tolist() == [[1, 0], [0, 1]]


def test_dates_and_booleans_and_tuples():
    seconds = np.array(["2026-01-02T00", "2026-01-01T00", "2026-01-02T00"], "datetime64[s]")
    assert encode("x", seconds).labels == (np.datetime64("2026-01-01T00", "s"), np.datetime64("2026-01-02T00", "s"))
    assert Joint.from_records([True, True], np.array([True, True])).x_labels == (True,)
    days = np.array(["2026-01-02", "NaT", "2026-01-01"], "datetime64[D]")
    assert encode("x", days).labels == (np.datetime64("2026-01-01"), np.datetime64("2026-01-02"), None)
    assert encode("x", [datetime.date(2026, 1, 2), datetime.date(2026, 1, 1)]).codes.tolist() == [1, 0]
    assert encode("x", np.array([True, False, True])).labels == (False, True)
    assert encode("x", [(1, "a"), (0, "b")]).labels == ((0, "b"), (1, "a"))


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


def test_declared_labels_fix_the_alphabet_and_its_order():
    joint = Joint.from_records(COLOURS, AGES, s_labels=["red", "blue", "green", "black"], x_labels=[20, 30, 40, 50])
    assert joint.counts.tolist() == [[0, 2, 1, 0], [2, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    codes = Joint.from_records(np.array([0, 2], np.uint8), np.array([1, 1], np.uint8), range(4), range(2))
    assert codes.shape == (4, 2)
    assert codes.counts.tolist() == [[0, 1], [0, 0], [0, 1], [0, 0]]


def test_categories_that_do_not_occur_stay():
    s = pd.Categorical(["a", "c"], categories=["c", "b", "a"])
    assert Joint.from_records(s, [0, 1]).s_labels == ("c", "b", "a")


def test_large_alphabets_get_wider_codes():
    for n, dtype in [(256, np.uint8), (257, np.uint16), (2**16, np.uint16), (2**16 + 1, np.uint32)]:
        column = encode("x", [str(i).zfill(6) for i in range(n)])
        assert column.codes.dtype == dtype
        np.testing.assert_array_equal(column.codes, np.arange(n))


BAD = [
    (lambda: Joint.from_records(["a", "b"], [1]), "s has 2 records and x has 1"),
    (lambda: Joint.from_records([], []), "s and x have no records"),
    (lambda: Joint.from_records(["a", "z"], [1, 2], s_labels=["a", "b"]), r"s\[1\] = 'z' is not in s_labels"),
    (lambda: Joint.from_records(["a", "b"], [1, 7], x_labels=[1, 2]), r"x\[1\] = 7 is not in x_labels"),
    (lambda: Joint.from_records(["a", None], [1, 2], s_labels=["a", "b"]), r"s\[1\] = None is not in s_labels"),
    (
        lambda: Joint.from_records(np.array([0, 9], np.uint8), [0, 1], s_labels=range(3)),
        r"s\[1\] = 9 is not a code below 3",
    ),
    (lambda: Joint.from_records(5, [1]), "s is a int, not a column of records"),
    (lambda: Joint.from_records(None, [1]), "s is a NoneType, not a column"),
    (lambda: Joint.from_records("ab", [1, 2]), "s is a str, not a column"),
    (lambda: Joint.from_records({1, 2}, [1, 2]), "s is a set, not a column"),
    (lambda: Joint.from_records({"a": 1}, [1]), r"s\['a'\] is a int, not a column"),
    (lambda: Joint.from_records(pl.LazyFrame({"a": [1]}), [1]), "s is a LazyFrame, not a column"),
    (lambda: Joint.from_records(pa.array([[1], [2]]), [1, 2]), "s is an Arrow column of list"),
    (lambda: Joint.from_records(["a"], [1], s_labels=[]), "s_labels has no labels"),
    (lambda: Joint.from_records([1, "a"], [1, 2]), "s has values that cannot be sorted: pass s_labels"),
    (lambda: Joint.from_records([[1], [2]], [1, 2]), r"s\[0\] = \[1\] is not hashable"),
    (lambda: Joint.from_records(np.zeros((2, 2, 2)), [1, 2]), r"s has shape \(2, 2, 2\)"),
    (lambda: Joint.from_records({}, [1, 2]), "s is a table without columns"),
    (lambda: Joint.from_records({"a": [1], "b": [1, 2]}, [1]), r"s\['b'\] has 2 records"),
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_records_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_values_that_cannot_be_sorted_need_declared_labels():
    joint = Joint.from_records([1, "a", None], [0, 0, 1], s_labels=["a", 1, None])
    assert joint.counts.tolist() == [[1, 0], [1, 0], [0, 1]]
    assert Joint.from_records([1.0, float("nan")], [0, 0], s_labels=[1.0, float("nan")]).s_labels == (1.0, None)


def test_tables_with_equal_column_names():
    table = pa.table([pa.array([1, 2]), pa.array(["a", "b"])], names=["k", "k"])
    frame = pd.DataFrame([[1, "a"], [2, "b"]], columns=["k", "k"])
    for columns in (table, frame):
        assert Joint.from_records(columns, [0, 1]).s_labels == ((1, "a"), (2, "b"))

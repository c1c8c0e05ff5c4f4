"""Integers, times and other values as codes."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from linred import Joint
from linred.columns.encoder import encode
from support.columns import AGES, COLOURS


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


def test_few_values_in_a_wide_range_make_a_small_table():
    rng = np.random.default_rng(1)
    codes, prices = np.array([10001, 90210, 60601]), np.array([19990, 45000, 61000], np.uint32)
    s, x = rng.integers(0, 3, 1000), rng.integers(0, 3, 1000)
    joint = Joint.from_records(codes[s], prices[x])
    assert joint.s_labels == (10001, 60601, 90210)
    assert joint.x_labels == (19990, 45000, 61000)
    assert joint.n_records == 1000
    assert Joint.from_records(np.array([0, 65000]), np.array([-5, 2**40])).counts.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("unit", ["D", "s", "ns", "M"])
def test_times_as_labels(unit):
    times = np.array(["2020-01-02", "1960-01-01", "2020-01-02"], f"M8[{unit}]")
    joint = Joint.from_records([0, 0, 1], times, x_labels=np.unique(times))
    assert joint.counts.tolist() == [[1, 1], [0, 1]]
    assert joint.x_labels == tuple(np.unique(times))
    swapped = Joint.from_records([0, 0, 1], times.astype(times.dtype.newbyteorder()))
    assert swapped.x_labels == joint.x_labels
    assert swapped.counts.tolist() == [[1, 1], [0, 1]]


def test_dates_and_booleans_and_tuples():
    seconds = np.array(["2026-01-02T00", "2026-01-01T00", "2026-01-02T00"], "datetime64[s]")
    assert encode("x", seconds).labels == (np.datetime64("2026-01-01T00", "s"), np.datetime64("2026-01-02T00", "s"))
    assert Joint.from_records([True, True], np.array([True, True])).x_labels == (True,)
    days = np.array(["2026-01-02", "NaT", "2026-01-01"], "datetime64[D]")
    assert encode("x", days).labels == (np.datetime64("2026-01-01"), np.datetime64("2026-01-02"), None)
    assert encode("x", [datetime.date(2026, 1, 2), datetime.date(2026, 1, 1)]).codes.tolist() == [1, 0]
    assert encode("x", np.array([True, False, True])).labels == (False, True)
    assert encode("x", [(1, "a"), (0, "b")]).labels == ((0, "b"), (1, "a"))


def test_large_alphabets_get_wider_codes():
    for n, dtype in [(256, np.uint8), (257, np.uint16), (2**16, np.uint16), (2**16 + 1, np.uint32)]:
        column = encode("x", [str(i).zfill(6) for i in range(n)])
        assert column.codes.dtype == dtype
        np.testing.assert_array_equal(column.codes, np.arange(n))

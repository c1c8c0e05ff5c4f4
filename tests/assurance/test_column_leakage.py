"""What a column that passes tells about S."""

import math

import numpy as np
import pyarrow as pa
import pytest

from linred.assurance.column_leakage import ColumnLeakage
from linred.columns.adapters.arrow_arrays import ArrowColumn
from linred.columns.encoded import EncodedColumn
from linred.columns.encoder import encode


def test_a_column_with_too_many_pairs_is_not_measured():
    """|S| times its values may be no more than 32 MB of counts: one column of many must not take all memory."""
    watched, n = ColumnLeakage("other"), 5000
    s = EncodedColumn(np.arange(n, dtype=np.int32), tuple(range(n)))
    watched.add(s, ArrowColumn("other", pa.array(np.arange(n) % 4000)))
    assert not watched.measured


def leak_of(column, s, batch=1000):
    """The `Leak` of an Arrow column that comes in batches."""
    scan = ColumnLeakage("other")
    for start in range(0, len(column), batch):
        part = slice(start, start + batch)
        scan.add(encode("s", s[part]), ArrowColumn("other", column[part]))
    return scan.leak(len(column))


S = np.arange(12_000) % 2


def test_few_values_are_told_apart():
    leak = leak_of(pa.array(np.where(S, "one", None)), S)
    assert (leak.n_values, leak.guessed, leak.at_least) == (2, 1.0, False)
    assert leak.information == pytest.approx(math.log(2))


def test_many_numbers_are_sorted_into_bins_whether_they_are_text_or_not():
    numbers = S + np.linspace(0, 0.5, S.size)
    leak = leak_of(pa.array(numbers), S, batch=6000)
    assert leak.information == pytest.approx(math.log(2))
    assert leak.at_least
    assert leak.n_values <= 256
    assert leak_of(pa.array(numbers).cast(pa.string()), S, batch=6000) == leak


def test_values_beyond_the_first_are_counted_as_one():
    text = pa.array([f"{s} {i}" for i, s in enumerate(S)])
    leak = leak_of(text, S)
    assert leak.n_values == 4096 + 1
    assert leak.at_least
    assert leak.guessed == pytest.approx((4096 + (S.size - 4096) / 2) / S.size)


def test_values_that_cannot_be_told_apart_are_not_measured():
    scan = ColumnLeakage("other")
    scan.add(encode("s", [0, 1]), ArrowColumn("other", pa.array([[1], [2]])))
    assert not scan.measured
    with pytest.raises(RuntimeError, match="0 of 2 records were counted for 'other'"):
        scan.leak(2)

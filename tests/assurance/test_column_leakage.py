"""What other columns reveal about S, against the library's measures and against plain counting."""

import csv
import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import linred
from linred.assurance.column_leakage import ColumnLeakage
from linred.columns.adapters.arrow_arrays import ArrowColumn
from linred.columns.encoded_column import EncodedColumn
from linred.columns.encoder import encode
from support.commands import (
    ADULT,
    PAIR,
    TARGET,
    column,
    fit,
    read_csv,
)


def test_a_column_with_too_many_pairs_is_not_measured():
    """|S| times its values may be no more than 32 MB of counts: one column of many must not take all memory."""
    watched, n = ColumnLeakage("other"), 5000
    s = EncodedColumn(np.arange(n, dtype=np.int32), tuple(range(n)))
    watched.add(s, ArrowColumn("other", pa.array(np.arange(n) % 4000)))
    assert not watched.measured


def test_the_leak_scan_measures_every_other_column(linred_command):
    """Against the library's own measure on each column, by Joint.from_records."""
    fit(linred_command, ADULT, *PAIR, *TARGET)
    rows = read_csv(ADULT)
    leaks = {leak.column: leak for leak in linred.load("mechanism.json").fitted.leaks}
    assert set(leaks) == set(rows[0]) - set(PAIR)
    s = column(rows, PAIR[0])
    for name, leak in leaks.items():
        joint = linred.Joint.from_records(s, column(rows, name))
        if joint.shape[1] <= 4096:
            assert leak.information == pytest.approx(linred.mutual_information(joint), rel=1e-12), name
            assert leak.guessed == pytest.approx(joint.counts.max(axis=0).sum() / len(rows))
            assert (leak.n_values, leak.at_least) == (joint.shape[1], False)
    assert next(iter(leaks)) == "relationship"
    done = linred_command("sanitize", ADULT, "-m", "mechanism.json", "-o", "out.csv", "--columns", "relationship,race")
    (warning,) = (line for line in done.err.splitlines() if "warning" in line)
    assert "relationship (0.7" in warning
    assert "race" not in warning


def information_by_counting(s, values):
    """(I(S; values), the number of values, the share of s that is guessed right), with Python's own means."""
    n, pairs = len(s), Counter(zip(s, values, strict=True))
    of_s, of_values = Counter(s), Counter(values)
    nats = sum(k / n * math.log(k * n / (of_s[a] * of_values[b])) for (a, b), k in pairs.items())
    guessed = sum(max(pairs[a, b] for a in of_s) for b in of_values) / n
    return nats, len(of_values), guessed


def test_missing_values_of_any_kind_are_one_value_of_the_leak_scan(linred_command):
    """NaN, null, null in a dictionary, a value that a dictionary has twice: all records are counted."""
    rng, n = np.random.default_rng(5), 3000
    s = rng.integers(0, 2, n)
    numbers = np.where((s == 1) & (rng.random(n) < 0.9), np.nan, rng.integers(0, 4, n))
    codes = rng.integers(0, 5, n) * (s == 0) + 1 * (s == 1)
    values = [0.0, None, float("nan"), 0.0, 3.0]
    columns = {
        "nan": pa.array(numbers),
        "half": pa.array(numbers.astype(np.float16)),
        "null": pa.array(numbers, mask=rng.random(n) < 0.1),
        "dictionary": pa.DictionaryArray.from_arrays(codes, pa.array(values)),
        "all nan": pa.array(np.full(n, np.nan)),
        "nothing": pa.nulls(n, pa.float32()),
    }
    table = pa.table({"s": s.astype(str).tolist(), "x": rng.choice(["a", "b"], n).tolist(), **columns})
    parquet.write_table(table.drop_columns(["dictionary"]), "in.parquet", row_group_size=1000)
    with pa.ipc.new_file("in.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=700)
    for path in ("in.parquet", "in.arrow"):
        fit(linred_command, path, "s", "x", "--alpha", "0.5", "--force")
        for leak in linred.load("mechanism.json").fitted.leaks:
            values = columns[leak.column].to_pylist()
            plain = [None if value is None or value != value else value for value in values]
            nats, n_values, guessed = information_by_counting(s.tolist(), plain)
            assert leak.information == pytest.approx(nats, abs=1e-12), (path, leak)
            assert (leak.n_values, leak.guessed) == (n_values, pytest.approx(guessed)), (path, leak)
    assert {leak.column for leak in linred.load("mechanism.json").fitted.leaks} == set(columns)
    done = linred_command("sanitize", "in.arrow", "-m", "mechanism.json", "-o", "out.arrow")
    (warning,) = (line for line in done.err.splitlines() if "reveals more about S" in line)
    assert {name for name in columns if f" {name} (" in warning} == {"nan", "half", "null", "dictionary"}


def test_a_column_of_too_many_values_is_measured_in_bins_or_in_part(linred_command):
    rng = np.random.default_rng(1)
    n = 20_000
    s = rng.integers(0, 2, n)
    names = {
        "s": s.astype(str),
        "x": np.where(rng.random(n) < 0.6, s, rng.integers(0, 3, n)).astype(str),
        "telling": (rng.normal(size=n) + 3 * s).astype(str),
        "noise": rng.normal(size=n).astype(str),
        "id": np.char.add("id", np.arange(n).astype(str)),
    }
    with open("in.csv", "w", newline="") as file:
        csv.writer(file).writerows([names, *zip(*names.values(), strict=True)])
    fit(linred_command, "in.csv", "s", "x", *TARGET)
    leaks = {leak.column: leak for leak in linred.load("mechanism.json").fitted.leaks}
    assert leaks["telling"].beyond_chance > 0.4
    assert leaks["telling"].guessed > 0.9
    assert leaks["noise"].beyond_chance < 0.003
    assert all(leak.at_least for leak in leaks.values())
    assert leaks["id"].n_values == 4097
    done = linred_command("sanitize", "in.csv", "-m", "mechanism.json", "-o", "out.csv")
    (line,) = (line for line in done.err.splitlines() if "not fully measured" in line)
    assert "noise" in line


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
    with pytest.raises(RuntimeError, match="0 of 2 records were counted for column 'other'"):
        scan.leak(2)

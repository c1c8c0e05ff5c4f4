"""What the `linred` command says: the report, the leak scan, warnings, curves."""

import csv
import json
import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import linred
from support.commands import (
    ADULT,
    PAIR,
    TARGET,
    column,
    fit,
    read_csv,
    text_of,
)


def test_the_report_of_a_fit(linred_command):
    done = linred_command("fit", ADULT, "--sensitive", PAIR[0], "--public", PAIR[1], *TARGET, "-o", "mechanism.json")
    mechanism = linred.load("mechanism.json")
    assert str(mechanism.report()) in done.out
    assert f"{mechanism.dtv():.3%} of the records, {mechanism.dtv() * 3000:,.0f} of 3,000" in done.out
    for text in (
        "asked: ldp <= 1.0: met",
        "X itself is not made private",
        "Records are taken as independent",
        "read off the data",
    ):
        assert text in done.out
    assert "confidential" in done.err
    again = linred_command("report", "mechanism.json")
    assert again.out.split("\n", 1)[1] == done.out.split("\n", 1)[1]
    figures = json.loads(linred_command("report", "mechanism.json", "--json").out)
    assert figures["figures"]["after"]["ldp"] == mechanism.report().after.ldp
    assert figures["figures"]["before"]["ldp"] == "inf"
    assert "joint" not in figures


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
    (warning,) = (line for line in done.err.splitlines() if "tell more about S" in line)
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


def test_columns_that_the_fit_did_not_measure_are_named(linred_command):
    fit(linred_command, ADULT, *PAIR, *TARGET, "--no-scan")
    done = linred_command("sanitize", ADULT, "-m", "mechanism.json", "-o", "out.csv", "--columns", "age,race")
    assert "not fully measured for what they tell about S: age, race" in done.err
    assert "Other columns were not looked at" in linred_command("report", "mechanism.json").out


def test_run_is_fit_and_sanitize_and_report(linred_command):
    done = linred_command(
        "run", ADULT, "--sensitive", PAIR[0], "--public", PAIR[1], *TARGET, "-o", "one.csv", "-m", "m.json", "--html",
        "page.html", "--seed", "1", "--columns", "education",
    )  # fmt: skip
    assert done.code == 0
    assert str(linred.load("m.json").report()) in done.out
    assert text_of("page.html").startswith("<!doctype html>")
    assert (
        linred_command("sanitize", ADULT, "-m", "m.json", "-o", "two.csv", "--seed", "1", "--columns", "education").code
        == 0
    )
    assert text_of("one.csv") == text_of("two.csv")
    assert linred_command("report", "m.json", "--html", "again.html").code == 0
    assert text_of("page.html") == text_of("again.html")


def test_tradeoff_prints_and_plots(linred_command):
    asked = (
        "tradeoff",
        ADULT,
        "--sensitive",
        PAIR[0],
        "--public",
        PAIR[1],
        "--ldp",
        "0.5,1",
        "--mechanisms",
        "markov,optimal",
    )
    done = linred_command(*asked, "--plot", "plot.svg")
    assert done.code == 0
    rows = read_csv(ADULT)
    joint = linred.Joint.from_records(column(rows, PAIR[0]), column(rows, PAIR[1]))
    share = linred.optimal(joint, ldp=0.5).dtv()
    assert re.search(rf"\n +0\.5 +\S+ +{share:.3%}\n", done.out)
    assert "<svg" in text_of("plot.svg")
    lines = linred_command(*asked, "--csv").out.splitlines()
    assert lines[0].startswith("mechanism,point,alpha,ldp,")
    assert len(lines) == 5


def test_names_that_differ_from_the_fit(linred_command):
    fit(linred_command, ADULT, "sex", "age", "--bins", "age=30", *TARGET)
    text = text_of(ADULT).replace("age,", "years,", 1).replace(",sex,", ",gender,", 1)
    Path("other.csv").write_text(text)
    how = ("-m", "mechanism.json", "-o", "out.csv", "--seed", "1", "-q", "--context", "c")
    assert linred_command("sanitize", "other.csv", *how).code == 2
    assert linred_command("sanitize", "other.csv", *how, "--public", "years", "--sensitive", "gender").code == 0
    assert set(column(read_csv("out.csv"), "years")) == {"age<30", "age>=30"}

"""The `linred` command on small real files: what it writes, row by row."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import linred
from support.commands import (
    ADULT,
    FLIGHTS,
    PAIR,
    TARGET,
    as_rows,
    column,
    context,
    files_in,
    fit,
    key_file,
    read_csv,
    text_of,
)


@pytest.mark.parametrize(
    ("data", "sensitive", "public", "asked"),
    [
        (ADULT, "marital_status", "occupation", ("--ldp", "1")),
        (ADULT, "sex", "occupation", ("--ldp", "1", "--no-sees-s")),
        (ADULT, "race,sex", "education,income", ("--log-lift", "0.5")),
        (FLIGHTS, "carrier", "dest", ("--ldp", "2", "--mechanism", "non-markov")),
        (FLIGHTS, "origin", "tailnum", ("--alpha", "0.5", "--mechanism", "markov")),
    ],
)
def test_every_row_is_what_the_library_draws(linred_command, data, sensitive, public, asked):
    fit(linred_command, data, sensitive, public, *asked)
    key = key_file(linred_command)
    assert linred_command("sanitize", data, "-m", "mechanism.json", "-o", "out.csv", "--key-file", "key").code == 0
    before, after = read_csv(data), read_csv("out.csv")
    s, x = ([column(before, name) for name in names.split(",")] for names in (sensitive, public))
    s, x = ({str(i): one for i, one in enumerate(side)} if len(side) > 1 else side[0] for side in (s, x))
    mechanism = linred.load("mechanism.json")
    assert mechanism.joint.n_records == len(before)
    expected = mechanism.sanitize(s if mechanism.sees_s else None, x, key=key, context=context(data, public.split(",")))
    for place, name in enumerate(public.split(",")):
        assert column(after, name) == (expected[str(place)] if "," in public else expected)
    for name in after[0]:
        if name not in public.split(","):
            assert [row[name] for row in after] == [row[name] for row in before]
    assert set(before[0]) - set(after[0]) == set(sensitive.split(","))
    assert list(after[0]) == [name for name in before[0] if name not in sensitive.split(",")]


def test_the_fit_is_that_of_the_library(linred_command):
    fit(linred_command, FLIGHTS, "carrier", "tailnum", "--alpha", "0.5")
    rows = read_csv(FLIGHTS)
    joint = linred.Joint.from_records(column(rows, "carrier"), column(rows, "tailnum"))
    fitted = linred.load("mechanism.json").joint
    assert fitted.s_labels == joint.s_labels
    assert fitted.x_labels == joint.x_labels
    assert fitted.x_labels[-1] is None  # missing values are a category
    np.testing.assert_array_equal(fitted.counts, joint.counts)


FORMATS = ("csv", "csv.gz", "csv.zst", "tsv", "parquet", "arrow", "feather", "arrows")


def test_all_formats_agree(linred_command):
    """From CSV to every format, and from every format to CSV: the same values."""
    fit(linred_command, FLIGHTS, "carrier", "dest", *TARGET)
    key_file(linred_command)
    how = ("-m", "mechanism.json", "--key-file", "key", "--context", "a release")
    for to in FORMATS:
        assert linred_command("sanitize", FLIGHTS, *how, "-o", f"out.{to}").code == 0
        assert linred_command("sanitize", FLIGHTS, *how, "-o", f"kept.{to}", "--keep-sensitive").code == 0
    expected = as_rows("out.csv")
    assert len(expected) == 4000
    assert sum(row["tailnum"] is None for row in expected) == sum(row["tailnum"] == "" for row in read_csv(FLIGHTS)) > 0
    for to in FORMATS:
        assert as_rows(f"out.{to}") == expected, to
    original = [{name: value or None for name, value in row.items()} for row in read_csv(FLIGHTS)]
    for to in FORMATS:
        passed = [{**new, "dest": old["dest"]} for new, old in zip(as_rows(f"kept.{to}"), original, strict=True)]
        assert passed == original
        write_format(f"in.{to}", original)
        assert linred_command("sanitize", f"in.{to}", *how, "-o", f"from-{to}.csv").code == 0
        assert as_rows(f"from-{to}.csv") == expected, to


def write_format(path, rows):
    """The rows by pyarrow and Python's csv module."""
    table = pa.Table.from_pylist(rows)
    if path.endswith(".parquet"):
        parquet.write_table(table, path, row_group_size=999)
    elif path.endswith((".arrow", ".feather", ".arrows")):
        new = pa.ipc.new_stream if path.endswith("arrows") else pa.ipc.new_file
        with new(path, table.schema) as file:
            file.write_table(table, max_chunksize=777)
    else:
        with pa.output_stream(path, compression="detect") as file:
            delimiter = "\t" if path.endswith("tsv") else ","
            names = list(rows[0])
            lines = [delimiter.join(names), *(delimiter.join(row[name] or "" for name in names) for row in rows)]
            file.write("\r\n".join(lines).encode())


def test_columns_that_are_chosen(linred_command):
    fit(linred_command, ADULT, *PAIR, *TARGET)
    how = ("sanitize", ADULT, "-m", "mechanism.json", "-o", "out.csv", "--force", "-q")
    for columns, kept in (("race,age", ["age", "occupation", "race"]), ("occupation", ["occupation"])):
        assert linred_command(*how, "--columns", columns).code == 0
        assert list(read_csv("out.csv")[0]) == kept
        if "age" in kept:
            assert column(read_csv("out.csv"), "age") == column(read_csv(ADULT), "age")
    assert linred_command(*how, "--columns", "").code == 0  # an empty variable of a shell names none, not all
    assert list(read_csv("out.csv")[0]) == ["occupation"]
    refused = linred_command(*how, "--columns", "marital_status,age")
    assert refused.code == 2
    assert "'marital_status', which is sensitive" in refused.err
    assert linred_command(*how, "--columns", "marital_status", "--keep-sensitive").code == 0
    assert column(read_csv("out.csv"), "marital_status") == column(read_csv(ADULT), "marital_status")


@pytest.mark.parametrize("n_columns", [2, 5, 300])
def test_no_byte_of_a_column_that_is_left_out_passes(linred_command, n_columns):
    """S between columns that pass, in any place, quoted or not, seen by the mechanism or not."""
    rng = np.random.default_rng(n_columns)
    for place in {0, n_columns // 2, n_columns - 1}:
        names = [f"c{i}" for i in range(n_columns - 1)]
        names.insert(place, "s")
        x = "c0"
        rows = [["SECRET" if name == "s" else str(rng.integers(3)) for name in names] for _ in range(50)]
        for row in rows[::2]:
            row[place] = "SECRET,\n2"
        with open("in.csv", "w", newline="") as file:
            csv.writer(file).writerows([names, *rows])
        for more in ((), ("--no-sees-s",)):
            fit(linred_command, "in.csv", "s", x, "--ldp", "1", "--no-scan", "--force", *more)
            passing_columns = ("--columns", ",".join(names[::2])) if place % 2 else ()
            done = linred_command(
                "sanitize", "in.csv", "-m", "mechanism.json", "-o", "out.csv", "--force", *passing_columns
            )
            assert done.code == 0, done
            assert "SECRET" not in text_of("out.csv")
            after = read_csv("out.csv")
            wanted = set(names[::2]) | {x} if passing_columns else set(names)
            assert list(after[0]) == [name for name in names if name in wanted - {"s"}]
            for name in set(after[0]) - {x}:
                assert column(after, name) == [row[names.index(name)] for row in rows]


def test_values_that_need_quotes(linred_command):
    """Commas, quotes, line ends, and text that looks like missing, as S, as X and as another column."""
    values = ["a,b", 'say "x"', "two\nlines", "two\r\nlines", "NA", "null", " ", "é", "", "plain"]
    rows = [[s, x, o] for s in values[:3] for x in values for o in values]
    with open("in.csv", "w", newline="") as file:
        csv.writer(file).writerows([["s", "x,1", "other"], *rows])
    fit(linred_command, "in.csv", "s", '"x,1"', "--alpha", "0.5")
    assert None in linred.load("mechanism.json").joint.x_labels
    assert "NA" in linred.load("mechanism.json").joint.x_labels
    for to in ("csv", "parquet", "tsv"):
        assert linred_command("sanitize", "in.csv", "-m", "mechanism.json", "-o", f"out.{to}", "--seed", "1").code == 0
    with open("out.csv", newline="") as file:
        after = list(csv.reader(file))
    assert after[0] == ["x,1", "other"]
    assert [row[1] for row in after[1:]] == [row[2] for row in rows]
    assert {row[0] for row in after[1:]} == set(values)
    table = parquet.ParquetFile("out.parquet").read().to_pylist()
    assert [[row["x,1"] or "", row["other"] or ""] for row in table] == after[1:]
    with open("out.tsv", newline="") as file:
        assert list(csv.reader(file, delimiter="\t"))[1:] == after[1:]


def test_bins(linred_command):
    """Declared edges for S and X, from text and from numbers: the same; every number has a bin."""
    rows = read_csv(ADULT)
    ages = np.array([float(row["age"]) for row in rows])
    table = pa.table(
        {"age": pa.array(ages), "sex": column(rows, "sex"), "hours": [int(row["hours_per_week"]) for row in rows]}
    )
    parquet.write_table(table, "in.parquet")
    bins = ("--bins", "age=25,45,65.5", "--ldp", "1")
    fit(linred_command, ADULT, "sex", "age", *bins)
    fit(linred_command, "in.parquet", "sex", "age", *bins, output="other.json")
    labels = ("age<25", "25<=age<45", "45<=age<65.5", "age>=65.5")
    for path in ("mechanism.json", "other.json"):
        mechanism = linred.load(path)
        assert mechanism.joint.x_labels == labels
        assert mechanism.joint.counts.sum(axis=0).tolist() == np.histogram(ages, [0, 25, 45, 65.5, 200])[0].tolist()
    how = ("--seed", "3", "--context", "c", "-q")
    assert linred_command("sanitize", ADULT, "-m", "other.json", "-o", "out.csv", *how).code == 0
    assert linred_command("sanitize", "in.parquet", "-m", "mechanism.json", "-o", "out.parquet", *how).code == 0
    drawn = column(read_csv("out.csv"), "age")
    assert drawn == parquet.ParquetFile("out.parquet").read()["age"].to_pylist()
    assert set(drawn) == set(labels)
    fit(linred_command, ADULT, "age", "occupation", *bins, "--force")
    assert linred.load("mechanism.json").joint.s_labels == labels


def test_a_declared_domain(linred_command):
    rows = read_csv(ADULT)
    domain = {
        "sex": ["Male", "Female", "Other"],
        "occupation": [*sorted({row["occupation"] for row in rows}), "Astronaut"],
    }
    Path("domain.json").write_text(json.dumps(domain))
    fit(linred_command, ADULT, "sex", "occupation", "--domain", "domain.json", *TARGET)
    mechanism = linred.load("mechanism.json")
    assert mechanism.joint.s_labels == ("Male", "Female", "Other")
    assert mechanism.joint.x_labels[-1] == "Astronaut"
    assert mechanism.fitted.declared
    assert "read off the data" not in linred_command("report", "mechanism.json").out
    domain["occupation"].remove("Sales")
    Path("domain.json").write_text(json.dumps(domain))
    refused = linred_command(
        "fit", ADULT, "--sensitive", "sex", "--public", "occupation", "--domain", "domain.json", *TARGET
    )
    assert refused.code == 2
    assert "'Sales'" in refused.err
    assert "does not declare" in refused.err


@pytest.mark.parametrize("missing", ["category", "skip", "error"])
def test_missing_values(linred_command, missing):
    rows = read_csv(FLIGHTS)
    n_missing = sum(row["tailnum"] == "" for row in rows)
    asked = ("--sensitive", "carrier", "--public", "tailnum", "--alpha", "1", "-o", "m.json", "--missing", missing)
    done = linred_command("fit", FLIGHTS, *asked)
    if missing == "error":
        first = next(i for i, row in enumerate(rows) if not row["tailnum"]) + 1
        assert (done.code, files_in(".")) == (2, [])
        assert f"record {first:,} has no 'tailnum'" in done.err
        return
    joint = linred.load("m.json").joint
    assert joint.n_records == len(rows) - (n_missing if missing == "skip" else 0)
    assert (None in joint.x_labels) == (missing == "category")
    done = linred_command("sanitize", FLIGHTS, "-m", "m.json", "-o", "out.csv")
    assert done.code == (2 if missing == "skip" else 0)
    if missing == "skip":
        assert "a missing value in tailnum" in done.err

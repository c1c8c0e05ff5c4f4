"""Counting a file: the library's Joint, bins, declared alphabets, missing values, and tables that are too large."""

import json
import tracemalloc
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import linred
from linred.columns.schema import parts_of
from linred.errors import FileError
from linred.io import counting
from support.commands import (
    ADULT,
    ASKED,
    FLIGHTS,
    TARGET,
    column,
    files_in,
    fit,
    read_csv,
    refused,
)


def test_too_many_tuples_are_refused_before_they_are_made():
    domain = {name: tuple(range(1500)) for name in "abc"} | {"s": ("f", "m")}
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match=r"have 2 and 3,375,000,000 values"):
            counting._declared(parts_of("s", "s"), parts_of("x", ["a", "b", "c"]), domain)
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


def test_the_fit_is_that_of_the_library(linred_command):
    fit(linred_command, FLIGHTS, "carrier", "tailnum", "--alpha", "0.5")
    rows = read_csv(FLIGHTS)
    joint = linred.Joint.from_records(column(rows, "carrier"), column(rows, "tailnum"))
    fitted = linred.load("mechanism.json").joint
    assert fitted.s_labels == joint.s_labels
    assert fitted.x_labels == joint.x_labels
    assert fitted.x_labels[-1] is None  # missing values are a category
    np.testing.assert_array_equal(fitted.counts, joint.counts)


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
    assert "record 7, column 'occupation': value outside the alphabet. Declare it with --domain" in refused.err
    assert "Sales" not in refused.err


@pytest.mark.parametrize("missing", ["category", "skip", "error"])
def test_missing_values(linred_command, missing):
    rows = read_csv(FLIGHTS)
    n_missing = sum(row["tailnum"] == "" for row in rows)
    asked = ("--sensitive", "carrier", "--public", "tailnum", "--alpha", "1", "-o", "m.json", "--missing", missing)
    done = linred_command("fit", FLIGHTS, *asked)
    if missing == "error":
        first = next(i for i, row in enumerate(rows) if not row["tailnum"]) + 1
        assert (done.code, files_in(".")) == (2, [])
        assert f"record {first:,}, column 'tailnum': missing value" in done.err
        return
    joint = linred.load("m.json").joint
    assert joint.n_records == len(rows) - (n_missing if missing == "skip" else 0)
    assert (None in joint.x_labels) == (missing == "category")
    done = linred_command("sanitize", FLIGHTS, "-m", "m.json", "-o", "out.csv")
    assert done.code == (2 if missing == "skip" else 0)
    if missing == "skip":
        assert "column 'tailnum': value not in the alphabet" in done.err


DOMAINS = {
    "not JSON": ("{", "the domain is not JSON: line 1, column 2"),
    "no object": ("[]", 'a domain is an object {"column": ["label", ...], ...}'),
    "no list": ('{"occupation": "Sales"}', "occupation is not a list"),
    "a column is missing": (
        '{"occupation": ["Sales"]}',
        "--domain declares no labels for column 'marital_status'",
    ),
    "a label twice": ('{"occupation": ["Sales", "Sales"]}', "'occupation'[1] repeats 'occupation'[0]"),
    "no number": ('{"occupation": [{"decimal": "abc"}]}', "occupation[0] is not a valid decimal"),
    "no such time": ('{"occupation": [{"datetime64": [1e26, "s", 1]}]}', "occupation[0] is not a valid datetime64"),
    "an object": ('{"occupation": [{"__class__": "os"}]}', "occupation[0] is an object, not a label"),
}


@pytest.mark.parametrize("what", DOMAINS)
def test_domains_that_cannot_be(linred_command, what):
    content, text = DOMAINS[what]
    Path("domain.json").write_text(content)
    refused(linred_command("fit", ADULT, *ASKED, "--domain", "domain.json", "-o", "m.json"), text)
    assert files_in(".") == ["domain.json"]

"""Sanitising a file: the rows and columns that are written, and memory that does not grow with it."""

import csv
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import linred
import linred.io.key_file
from support.commands import (
    ADULT,
    FLIGHTS,
    HEADER,
    PAIR,
    TARGET,
    column,
    context,
    fit,
    key_file,
    process,
    read_csv,
)

ROW = "Divorced,Sales"
PEAK = """
import resource, sys
from linred.cli.main import main
import pyarrow.parquet, linred.cli.commands, linred.io.pipeline, linred.io.csv_file, linred.io.columnar_file
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    main(sys.argv[1:])
except SystemExit as left:
    assert left.code == 0, left
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def peak_of(*arguments, cwd):
    """MB above the import."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout) / 1024


@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_memory_does_not_grow_with_the_file(artifact_path, tmp_path, to):
    """Twelve million records take no more than three million, and both less than 600 MB above the import."""
    peaks = []
    for n_millions in (3, 12):
        with open(tmp_path / "in.csv", "w") as file:
            file.write(HEADER)
            for _ in range(n_millions * 10):
                file.write(f"{ROW}\nNever-married,Craft-repair\n" * 50_000)
        how = ("-m", artifact_path, "--force", "-q", "--threads", "2")
        if to == "parquet":
            assert process("sanitize", "in.csv", *how, "-o", "in.parquet", "--keep-sensitive", cwd=tmp_path).code == 0
        peaks.append(peak_of("sanitize", f"in.{to}", *how, "-o", f"out.{to}", cwd=tmp_path))
    assert peaks[1] < 600
    assert peaks[1] < 1.25 * peaks[0] + 30


@pytest.mark.parametrize("repeats", [True, False], ids=["in a dictionary", "as they are"])
def test_short_records_and_then_long_ones(artifact_path, tmp_path, repeats):
    """Batches are sized by the longest records of a row group, not by its first: 640 MB of text in half of that."""
    n, n_short, rng = 80_000, 2_000, np.random.default_rng(1)
    noise = pa.array(rng.integers(97, 123, (n, 16), np.uint8).view("S16")[:, 0]).cast(pa.string())
    long = pa.array(["q" * 8000] * n) if repeats else pa.array(text * 500 for text in noise.to_pylist())
    text = pa.concat_arrays([pa.array(["short"] * n_short), long[n_short:]])
    table = pa.table({"marital_status": ["Divorced"] * n, "occupation": ["Sales"] * n, "text": text})
    parquet.write_table(table, tmp_path / "in.parquet", row_group_size=n)
    for to in ("parquet", "csv"):
        how = ("-m", artifact_path, "-o", f"out.{to}", "-q")
        assert peak_of("sanitize", "in.parquet", *how, cwd=tmp_path) < 450
    assert peak_of("fit", "in.parquet", "--sensitive", "marital_status", "--public", "occupation", "--alpha", ".5",
                   "-o", "m.json", "-q", cwd=tmp_path) < 450  # fmt: skip


@pytest.mark.parametrize(
    ("data", "sensitive", "public", "asked"),
    [
        (ADULT, "marital_status", "occupation", ("--ldp", "1")),
        (ADULT, "sex", "occupation", ("--ldp", "1", "--without-sensitive")),
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


def test_ids_name_records_wherever_they_stand(linred_command):
    rows = read_csv(ADULT)
    for i, row in enumerate(rows):
        row["id"] = str(10_000 + i)
    order = np.random.default_rng(1).permutation(len(rows)).tolist()
    for path, chosen in (("in.csv", range(len(rows))), ("mixed.csv", order)):
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows[i] for i in chosen)
    parquet.write_table(
        pa.table({**{name: column(rows, name) for name in PAIR}, "id": [int(row["id"]) for row in rows]}), "in.parquet"
    )
    fit(linred_command, ADULT, *PAIR, "--alpha", "1")
    key = key_file(linred_command)
    drawn = {}
    for path in ("in.csv", "mixed.csv", "in.parquet"):
        assert (
            linred_command(
                "sanitize", path, "-m", "mechanism.json", "-o", "out.csv", "--id", "id", "--key-file", "key", "--force"
            ).code
            == 0
        )
        drawn[path] = {row["id"]: row["occupation"] for row in read_csv("out.csv")}
    assert drawn["in.csv"] == drawn["mixed.csv"] == drawn["in.parquet"]
    expected = linred.load("mechanism.json").sanitize(
        column(rows, PAIR[0]), column(rows, PAIR[1]), key=key, ids=column(rows, "id"),
        context=context(None, PAIR[1]),
    )  # fmt: skip
    assert list(drawn["in.csv"].values()) == expected

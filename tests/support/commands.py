"""The `linred` command for the tests. The fixture `linred_command` runs it in this process, `process` in its own."""

import csv
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from pyarrow import parquet

from linred.columns.schema import parts_of
from linred.sampling import keystream

DATA = Path(__file__).parents[1] / "data"
ADULT, FLIGHTS = DATA / "adult.csv", DATA / "flights.csv"
PAIR, TARGET = ("marital_status", "occupation"), ("--ldp", "1")
ASKED = ("--sensitive", PAIR[0], "--public", PAIR[1], *TARGET)
HEADER = "marital_status,occupation\n"


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def lines(self):
        """Return the lines of stderr that are not warnings."""
        return [line for line in self.err.splitlines() if not line.startswith("linred: warning: ")]


def process(*arguments, stdin=None, **how):
    """Run the command in a process of its own."""
    done = subprocess.run(command(*arguments), input=stdin, capture_output=True, timeout=120, **how)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def command(*arguments):
    return [sys.executable, "-m", "linred", *map(str, arguments)]


def fit(run, data, sensitive, public, *more, output="mechanism.json"):
    """Fit quietly, check that it succeeded, and return the path of the artifact."""
    done = run("fit", data, "--sensitive", sensitive, "--public", public, "-o", output, "-q", *more)
    assert done == (0, "", ""), done
    return output


def text_of(path):
    return Path(path).read_text()


def column(rows, name):
    return [row[name] or None for row in rows]


def key_file(run, path="key"):
    """Write a fresh key to a file and return its bytes."""
    assert run("keygen", path).code == 0
    return bytes.fromhex(text_of(path))


def context(path, public):
    """Return the context of the draws for a file, or for records with ids if path is None."""
    release = None if path is None else os.path.realpath(path)
    return keystream.context_of_columns(release, parts_of("public", public))


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def files_in(directory):
    return sorted(os.listdir(directory))


def as_rows(path):
    """Read a file as a list of dicts, with packages other than linred."""
    name = str(path)
    if name.endswith(".parquet"):
        return parquet.ParquetFile(name).read().to_pylist()
    if name.endswith((".arrow", ".feather")):
        return pa.ipc.open_file(name).read_all().to_pylist()
    if name.endswith(".arrows"):
        return pa.ipc.open_stream(name).read_all().to_pylist()
    with pa.input_stream(name, compression="detect") as file:
        text = file.read().decode()
    rows = csv.DictReader(text.splitlines(), delimiter="\t" if name.endswith("tsv") else ",")
    return [{name: value or None for name, value in row.items()} for row in rows]


def refused(done, *texts):
    """Check that the command failed with exit code 2 and one line, and return the line."""
    assert done.code == 2, done
    assert done.out == ""
    assert len(done.lines) == 1, done.err
    assert done.lines[0].startswith("linred: ")
    assert len(done.lines[0]) < 2500
    for text in texts:
        assert text in done.lines[0]

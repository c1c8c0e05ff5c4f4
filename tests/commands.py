"""The `linred` command for the tests. The fixture `linred_command` runs it in this process, `process` in its own."""

import csv
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

DATA = Path(__file__).parent / "data"
ADULT, FLIGHTS = DATA / "adult.csv", DATA / "flights.csv"
ASKED = ("--sensitive", "marital_status", "--public", "occupation", "--ldp", "1")
HEADER = "marital_status,occupation\n"


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def lines(self):
        """What was said on stderr, without warnings."""
        return [line for line in self.err.splitlines() if not line.startswith("linred: warning: ")]


def process(*arguments, stdin=None, **how):
    """Run the command as a process of its own."""
    done = subprocess.run(command(*arguments), input=stdin, capture_output=True, timeout=120, **how)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def command(*arguments):
    return [sys.executable, "-m", "linred.cli", *map(str, arguments)]


def fit(run, data, sensitive, public, *more, output="mechanism.json"):
    """Fit quietly, and it must work."""
    done = run("fit", data, "--sensitive", sensitive, "--public", public, "-o", output, "-q", *more)
    assert done == (0, "", ""), done
    return output


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def files_in(directory):
    return sorted(os.listdir(directory))

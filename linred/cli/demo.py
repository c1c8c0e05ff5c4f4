"""The steps of `linred demo`: the whole job on the UCI Adult data, from a table to its sanitised release and report."""

import os
import shlex
import time
from contextlib import chdir
from importlib.resources import files

from linred._common.atomic_file import check_target

DATA = "adult.csv.gz"
COLUMNS = ("--sensitive", "marital_status", "--public", "occupation")
OUTPUTS = ("-o", "sanitised.csv", "-m", "mechanism.json", "--html", "report.html")
STEPS = (
    ("run", DATA, *COLUMNS, "--ldp", "1", "--columns", "education", *OUTPUTS),
    ("tradeoff", DATA, *COLUMNS, "--ldp", "0.25,0.5,0.75,1,1.5,2,3", "--plot", "tradeoff.svg"),
)
CREDIT = "Data: Adult, B. Becker and R. Kohavi, UCI Machine Learning Repository, CC BY 4.0 (an extract)."
WRITTEN = (DATA, "sanitised.csv", "mechanism.json", "report.html", "tradeoff.svg")


def main(run, command, directory):
    """Publish the occupation of 48,842 people with an LDP of at most 1 nat about their marital status."""
    began = time.perf_counter()
    os.makedirs(directory, exist_ok=True)
    for name in WRITTEN:
        check_target(os.path.join(directory, name), run.force)
    with run.writer(os.path.join(directory, DATA)) as file:
        file.write((files("linred") / "data" / DATA).read_bytes())
    with chdir(directory):
        for step in STEPS:
            print(f"$ linred {shlex.join(step)}", flush=True)
            with command.make_context("linred", [*step, *["--force"] * run.force], obj=run.stored) as context:
                command.invoke(context)
            print(flush=True)
    print(f"Written to {directory}: {', '.join(WRITTEN)}. mechanism.json and report.html are confidential.")
    print(f"{CREDIT} Total time: {time.perf_counter() - began:.1f} s.")

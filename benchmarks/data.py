"""Counts of real records, for the benchmarks, the figures and the README's table."""

import csv
from pathlib import Path

import linred

TABLES = {
    "Adult: marital status, occupation": "adult_marital_status_occupation",
    "Adult: sex, occupation": "adult_sex_occupation",
    "flights: carrier, destination": "flights_carrier_dest",
}
"""UCI Adult, 48,842 records (Becker & Kohavi, CC BY 4.0); flights from New York in 2013, 336,776 records (US Bureau of
Transportation Statistics, as packaged in nycflights13, CC0)."""


def adult():
    """Return the Joint of marital status and occupation in UCI Adult."""
    return counts("adult_marital_status_occupation")


def counts(name):
    """Return the Joint of a table of counts: a row for each s, labels in the first row and column."""
    with open(Path(__file__).parents[1] / "tests" / "data" / f"{name}.csv", newline="") as file:
        head, *rows = csv.reader(file)
    return linred.Joint.from_counts([[int(n) for n in row[1:]] for row in rows], [row[0] for row in rows], head[1:])

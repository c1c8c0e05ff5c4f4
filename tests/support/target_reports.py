"""Mechanisms for every limit of `linred.Target`, alone and together, and the figures of their tables by brute force.

S is (marital status, sex) of UCI Adult, X is occupation; with counts, without them, and with column names as well.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

import linred
from linred.columns.schema import ColumnSpec, FitSchema
from linred.report.html import page
from support import adult_tables, stats
from support.pages import Parsed
from support.target_programmes import Figures, figures

COLUMNS = ("marital_status", "sex")

PAIRS = np.abs(np.subtract.outer(np.arange(14.0), np.arange(14.0))) / 2.0
TARGETS = {
    "ldp": {"ldp": 1.0},
    "log_lift": {"log_lift": 0.5},
    "max_lift": {"max_lift": 0.5},
    "min_lift": {"min_lift": 0.5},
    "dp": {"dp": 1.0, "neighbors": "hamming"},
    "pairs": {"pairs": PAIRS},
    "secrets": {"ldp": 1.0, "secrets": "each"},
    "given_x": {"given_x": 1.0},
    "max_changed_by_s": {"max_changed_by_s": 0.05},
    "both lifts": {"max_lift": 0.5, "min_lift": 1.0},
    "ldp, given_x and max_changed_by_s": {"ldp": 1.0, "given_x": 2.0, "max_changed_by_s": 0.4},
    "max_lift, dp and a secret": {"max_lift": 0.75, "dp": 1.5, "neighbors": "hamming", "secrets": {(1, 0): 0.75}},
    "ldp, log_lift, min_lift and pairs": {"ldp": 1.5, "log_lift": 1.0, "min_lift": 0.9, "pairs": PAIRS},
}
CASES = [(name, source) for name in TARGETS for source in ("given", "counts", "fitted")]


class Row(NamedTuple):
    words: str
    limit: float
    figure: float  # by brute force


class Case(NamedTuple):
    mechanism: linred.Mechanism
    rows: list[Row]
    figures: Figures
    page: Callable[[], Parsed]


@functools.cache
def made(name, source):
    """Return the `Case` of a target for one kind of Joint."""
    joint, limits = adult_tables.by_columns(*COLUMNS), TARGETS[name]
    if source == "given":
        joint = linred.Joint(joint.p_sx, joint.s_labels, joint.x_labels)
    mechanism = linred.optimal(joint, **limits)
    if source == "fitted":
        sensitive = tuple(map(ColumnSpec, COLUMNS))
        mechanism = mechanism.replace(fitted=FitSchema(sensitive, (ColumnSpec("occupation"),), scanned=True))
    exact = stats.channel(mechanism.sampler()).astype(float)
    secrets = _secrets(**limits)
    codes = [[[label[column] for column in columns] for label in joint.s_labels] for columns in secrets]
    codes = [np.unique(values, axis=0, return_inverse=True)[1] for values in codes]
    found = figures(joint.p_sx, np.broadcast_to(exact, (joint.shape[0], *exact.shape[1:])), codes)
    rows = _rows(limits, secrets, found, neighbours(joint.s_labels), source == "fitted")
    return Case(mechanism, [Row(*row) for row in rows], found, functools.cache(lambda: Parsed(page(mechanism))))


def neighbours(labels):
    """Return which labels differ in exactly one position."""
    return np.array([[sum(a != b for a, b in zip(s, t, strict=True)) == 1 for t in labels] for s in labels])


def _secrets(ldp=None, secrets=(), **_):
    """Return {columns: limit}."""
    return {(0,): ldp, (1,): ldp} if secrets == "each" else dict(secrets)


def _rows(limits, secrets, found, neighbour, named):
    """Yield what a report must list, in the order of the fields of `Target`."""
    if "ldp" in limits and limits.get("secrets") != "each":
        yield "LDP", limits["ldp"], found.ldp
    for name in ("log_lift", "max_lift", "min_lift"):
        if name in limits:
            yield name.replace("_", "-"), limits[name], getattr(found, name)
    if "dp" in limits:
        yield "DP between neighbours", limits["dp"], found.pairs[neighbour].max()
    if "pairs" in limits:
        yield "excess over the limits of pairs", 0.0, max(0.0, (found.pairs - limits["pairs"]).max())
    for i, ((columns, limit), figure) in enumerate(zip(secrets.items(), found.secrets, strict=True)):
        names = [COLUMNS[column] for column in columns]
        called = names[0] if len(names) == 1 else f"({', '.join(names)})"
        yield f"LDP of {called if named else f'secret {i + 1}'}", limit, figure
    if "given_x" in limits:
        yield "LDP for someone who knows X", limits["given_x"], found.given_x
    if "max_changed_by_s" in limits:
        words = "largest share of changed records in a group of S"
        yield words, limits["max_changed_by_s"], found.changed_by_s.max()

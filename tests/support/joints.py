"""Joints for the tests: the paper's, random ones with zeros and ties, and strategies for hypothesis."""

import csv
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import linred
from linred.datasets import example_1

__all__ = ["adult", "alphas", "count_tables", "counts", "example_1", "random_joint", "targets"]

# Small counts: many zeros, many ties, empty rows and columns, single symbols, |S| above and below |X|.
count_tables = arrays(np.int64, array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.integers(0, 5)).filter(
    lambda counts: counts.sum() > 0
)
targets = st.one_of(
    st.fixed_dictionaries({"ldp": st.floats(0.01, 4.0)}),
    st.fixed_dictionaries({"log_lift": st.floats(0.01, 2.0)}),
    st.fixed_dictionaries({"ldp": st.floats(0.01, 4.0), "log_lift": st.floats(0.01, 2.0)}),
)
alphas = st.one_of(st.sampled_from([0.0, 1.0, 0.5, 1e-9]), st.floats(0.0, 1.0))


def random_joint(rng, n_s, n_x, zeros=0.0, ties=False):
    """Return a random Joint with a share of zero cells; `ties` rounds P(x|s) to a grid, so that masses coincide."""
    p = rng.dirichlet(np.full(n_x, 0.7), n_s)
    p[rng.random(p.shape) < zeros] = 0.0
    if ties:
        p = np.round(p * 8)
    p[p.sum(axis=1) == 0.0, 0] = 1.0
    return linred.Joint.from_conditional(p / p.sum(axis=1, keepdims=True), rng.dirichlet(np.ones(n_s)))


def adult():
    """Return the counts of marital status and occupation in UCI Adult, 48,842 records (Becker & Kohavi, CC BY 4.0)."""
    return counts("adult_marital_status_occupation")


def counts(name):
    """Return the Joint of counts in tests/data: a row for each s, labels in the first row and column."""
    with open(Path(__file__).parents[1] / "data" / f"{name}.csv", newline="") as file:
        head, *rows = csv.reader(file)
    return linred.Joint.from_counts([[int(n) for n in row[1:]] for row in rows], [row[0] for row in rows], head[1:])

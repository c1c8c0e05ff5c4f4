"""Mechanisms that do not use s, against P(y|x) written out symbol by symbol."""

import numpy as np
from hypothesis import given

from linred import Joint
from linred.design import markov_tables
from linred.mechanism.tables import TableBuilder
from linred.solvers.symbol_merging import Merged
from support.joints import count_tables


@given(count_tables)
def test_a_class_shares_out_what_comes_in(counts):
    joint = Joint.from_counts(counts)
    merged = Merged(joint, symbols=True)
    n = merged.p_x.size
    w = np.random.default_rng(n).dirichlet(np.ones(n), n)
    mechanism = markov_tables.by_class(merged, merged.released(merged.p @ w), w, name="by class")
    of_class = merged.x_class
    for x in range(counts.shape[1]):
        expected = w[of_class[x], of_class] * merged.share * (of_class != of_class[x])
        expected[x] += w[of_class[x], of_class[x]]
        if joint.p_x[x] == 0.0:
            expected = mechanism.p_y
        np.testing.assert_allclose(mechanism.p_y_given_x[x], expected, rtol=0, atol=1e-14)
    assert not mechanism.sees_s


def test_symbols_that_never_occur_are_drawn_from_table_0():
    joint = Joint.from_counts([[3, 0, 1], [1, 0, 2]])
    rows = {"keep": [0.5, 1.0, 1.0], "move": [0.5, 0.0, 0.0], "table_of": [0, 2, 0]}
    tables = TableBuilder(joint.p_x).tables()
    mechanism = markov_tables.by_symbol(joint, released=joint, tables=tables, name="rows", **rows)
    np.testing.assert_array_equal(mechanism.p_y_given_x[1], joint.p_x)
    np.testing.assert_array_equal(mechanism.p_y_given_x[2], [0.0, 0.0, 1.0])

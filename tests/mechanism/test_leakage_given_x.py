"""What Y reveals to an attacker who knows x, against the definition on the dense P(y|s,x)."""

import itertools
import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linred
from linred import Joint
from linred.mechanism.tables import TableBuilder
from support.joints import adult, count_tables, example_1, random_joint
from support.mechanisms import CLOSED_FORMS, from_channel


def brute_force(joint, channel):
    """The figure from the definition, and every place where it is attained."""
    n_s, n_x = joint.shape
    seen, found = joint.p_sx > 0.0, {}
    for x, y, s, t in itertools.product(range(n_x), range(n_x), range(n_s), range(n_s)):
        p, q = channel[s, x, y], channel[t, x, y]
        if seen[s, x] and seen[t, x] and p > 0.0:
            found[x, y, s, t] = math.log(p / q) if q > 0.0 else math.inf
    return max(found.values()), found


def check(mechanism):
    expected, found = brute_force(mechanism.joint, mechanism.p_y_given_sx)
    value, where = linred.ldp_given_x(mechanism, where=True)
    assert value == linred.ldp_given_x(mechanism) == pytest.approx(expected, rel=1e-12, abs=1e-14)
    assert linred.ldp_given_x(mechanism, 2) == pytest.approx(value / math.log(2), rel=1e-15)
    assert (where is None) == (value == 0.0)
    if where is not None:
        assert found[tuple(where)] == pytest.approx(value, rel=1e-12, abs=1e-14)


@given(count_tables, st.sampled_from(sorted(CLOSED_FORMS)), st.sampled_from([0.0, 0.3, 1.0]))
def test_against_the_definition(counts, name, alpha):
    check(CLOSED_FORMS[name](Joint.from_counts(counts), alpha))


channels = st.tuples(count_tables, st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.3]), st.booleans())


@given(channels)
def test_finite_figures_against_the_definition(given_channel):
    """Any P(y|s,x) with or without zeros; ties, where two s have the same row."""
    counts, seed, zeros, ties = given_channel
    rng, (n_s, n_x) = np.random.default_rng(seed), counts.shape
    channel = rng.dirichlet(np.ones(n_x), (n_s, n_x)) * (rng.random((n_s, n_x, n_x)) >= zeros)
    channel[:, np.arange(n_x), np.arange(n_x)] += 0.01
    if ties:
        channel[:] = channel[rng.integers(n_s, size=n_s)]
    check(from_channel(Joint.from_counts(counts), channel / channel.sum(axis=2, keepdims=True)))


def test_mechanisms_of_a_fit():
    joint = adult()
    assert linred.ldp_given_x(linred.optimal(joint, ldp=1.0)) == math.inf
    for make in (linred.markov, linred.baselines.k_rr, partial(linred.optimal, sees_s=False)):
        assert linred.ldp_given_x(make(joint, ldp=1.0), where=True) == (0.0, None)
    check(linred.optimal(random_joint(np.random.default_rng(0), 4, 9, zeros=0.2), ldp=0.5))


def test_pairs_that_the_fit_never_saw_do_not_count():
    """s = 1 is never seen with x = 0: nothing tells an attacker who knows x = 0 anything new."""
    joint = Joint.from_counts([[4, 0], [0, 5]])
    assert linred.ldp_given_x(linred.non_markov(joint, 0.5)) == 0.0
    joint = Joint.from_counts([[4, 1], [0, 5]])
    assert linred.ldp_given_x(linred.non_markov(joint, 0.5), where=True) == (math.inf, (1, 0, 1, 0))


def test_products_that_no_double_holds():
    """x = 0 becomes 1 with probability 1e-350 or 1e-250."""
    joint, builder = Joint.from_counts([[1, 1, 1], [1, 1, 1]]), TableBuilder(np.full(3, 1 / 3))
    move, table_of = np.zeros((2, 3)), np.zeros((2, 3), np.int32)
    move[:, 0], table_of[:, 0] = (1e-200, 1e-100), builder.add(np.array([0.0, 1e-150, 1.0]))
    rows = {"keep": 1.0 - move, "move": move, "table_of": table_of, "tables": builder.tables()}
    mechanism = linred.Mechanism(joint, name="tiny", sees_s=True, alpha=0.0, **rows)
    assert linred.ldp_given_x(mechanism) == pytest.approx(100 * math.log(10), rel=1e-12)


def test_it_bounds_repeated_releases():
    """m releases of one record reveal at most LDP(S->X) + m times the figure."""
    rng = np.random.default_rng(1)
    joint = random_joint(rng, 3, 4)
    channel = 0.5 * rng.dirichlet(np.ones(4), 4) + 0.5 * rng.dirichlet(np.ones(4), (3, 4))
    mechanism = from_channel(joint, channel)
    both = np.einsum("sx,sxa,sxb->sab", joint.p_x_given_s, channel, channel).reshape(3, -1)
    two = math.log((both.max(axis=0) / both.min(axis=0)).max())
    assert 0.0 < two <= linred.ldp(joint) + 2 * linred.ldp_given_x(mechanism)


def test_bad_arguments_are_named():
    with pytest.raises(TypeError, match=r"mechanism is a linred\.Joint, not a linred\.Mechanism"):
        linred.ldp_given_x(example_1())
    with pytest.raises(ValueError, match=r"base = 1\.0 is not a finite number above 1"):
        linred.ldp_given_x(linred.markov(example_1(), 0.5), 1)

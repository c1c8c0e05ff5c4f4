"""A mechanism: its P(y|s,x), and the figures computed from it."""

import pickle

import numpy as np
import pytest
from hypothesis import given

import linred
from linred import Joint
from support.joints import alphas, count_tables, example_1, random_joint
from support.mechanisms import CLOSED_FORMS


@pytest.mark.parametrize("kind", CLOSED_FORMS)
@given(count_tables, alphas)
def test_a_mechanism_is_a_channel_that_gives_equation_3(kind, counts, alpha):
    joint = Joint.from_counts(counts)
    mechanism = CLOSED_FORMS[kind](joint, alpha)
    channel, n_x = mechanism.p_y_given_sx, counts.shape[1]
    assert channel.shape == (*counts.shape, n_x)
    assert channel.min() >= 0.0
    np.testing.assert_allclose(channel.sum(axis=2), 1.0, rtol=0, atol=1e-14)
    seen = counts.sum(axis=1) > 0
    reduced = (1 - alpha) * joint.p_x_given_s + alpha * joint.p_x
    by_channel = np.einsum("sx,sxy->sy", joint.p_x_given_s, channel)
    np.testing.assert_allclose(by_channel[seen], reduced[seen], rtol=0, atol=1e-14)
    np.testing.assert_allclose(mechanism.p_y_given_s, reduced, rtol=0, atol=2e-16)
    np.testing.assert_array_equal(mechanism.p_y, joint.p_x)
    np.testing.assert_allclose(np.einsum("sx,sxy->y", joint.p_sx, channel), joint.p_x, rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", CLOSED_FORMS)
@given(count_tables, alphas)
def test_what_a_mechanism_tells_follows_from_its_channel(kind, counts, alpha):
    joint = Joint.from_counts(counts)
    mechanism = CLOSED_FORMS[kind](joint, alpha)
    p_xy = np.einsum("sx,sxy->xy", joint.p_sx, mechanism.p_y_given_sx)
    assert mechanism.dtv() == pytest.approx(1.0 - np.trace(p_xy), rel=1e-12, abs=1e-14)
    d = np.random.default_rng(counts.sum()).random(p_xy.shape)
    np.fill_diagonal(d, 0.0)
    assert mechanism.expected_distortion(d) == pytest.approx((p_xy * d).sum(), rel=1e-12, abs=1e-14)
    independent = np.outer(p_xy.sum(axis=1), p_xy.sum(axis=0))
    some = p_xy > 0.0
    information = (p_xy[some] * np.log2(p_xy[some] / independent[some])).sum()
    assert mechanism.mutual_information(2) == pytest.approx(information, rel=1e-11, abs=1e-13)
    given_x = mechanism.p_y_given_x
    np.testing.assert_allclose(given_x.sum(axis=1), 1.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(joint.p_x[:, None] * given_x, p_xy, rtol=0, atol=1e-15)


def test_mechanisms_survive_pickling_and_cannot_be_changed():
    mechanism = linred.non_markov(example_1(), 0.5)
    again = pickle.loads(pickle.dumps(mechanism))
    np.testing.assert_array_equal(again.p_y_given_sx, mechanism.p_y_given_sx)
    for instance in (mechanism, again):
        for array in (instance.keep, instance.move, instance.table_of, *instance.tables):
            assert not array.flags.writeable


def test_large_alphabets_stay_sparse():
    rng = np.random.default_rng(2)
    joint = random_joint(rng, 60, 3000, zeros=0.8)
    mechanism = linred.non_markov(joint, 0.3)
    arrays = (mechanism.keep, mechanism.move, mechanism.table_of, *mechanism.tables)
    assert sum(array.nbytes for array in arrays) < 60 * 3000 * 48
    # Equation (3) without the dense channel: what is kept, and what each table receives.
    moved = np.zeros((60, mechanism.tables.indptr.size - 1))
    s, x = np.nonzero(joint.p_sx)
    np.add.at(moved, (s, mechanism.table_of[s, x]), (joint.p_x_given_s * mechanism.move)[s, x])
    by_rows = joint.p_x_given_s * mechanism.keep + moved @ mechanism.destinations
    np.testing.assert_allclose(by_rows, mechanism.p_y_given_s, rtol=0, atol=1e-14)
    assert 0.0 < mechanism.mutual_information() < linred.privacy.metrics.entropy(joint.p_x)

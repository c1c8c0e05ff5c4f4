"""Mechanisms with margins for the estimation error: their price, and what they guarantee."""

import numpy as np
import pytest

import linred
from linred.design.robust import careful, careful_markov
from linred.privacy.target import Target
from support.joints import adult

LDP_1 = Target(ldp=1.0)


def test_rare_pairs_need_no_data():
    """For rare pairs P(y|s) = P_X(y) whatever P(x|s) is."""
    mechanism = careful(adult(), adult().counts.sum(axis=1), LDP_1, 4.0)
    channel, joint = mechanism.p_y_given_sx, mechanism.joint
    rare = np.abs(channel - joint.p_x).max(axis=1) <= 1e-15
    assert rare[joint.s_labels.index("Married-AF-spouse")].all()
    assert rare[:, joint.x_labels.index("Armed-Forces")].all()
    assert 0.2 < rare.mean() < 0.8
    assert linred.certify(mechanism, joint + joint).ldp < 1.0


def test_smaller_margins_change_fewer_records_and_no_margin_is_the_optimum():
    joint = adult()
    shares = [careful(joint, joint.counts.sum(axis=1), LDP_1, z).dtv() for z in (6.0, 4.0, 3.0, 2.0, 1.0, 0.0)]
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == pytest.approx(linred.optimal(joint, ldp=1.0).dtv(), rel=1e-6)


def test_without_a_linear_programme(monkeypatch):
    """Large alphabets use clipping: it keeps the margins and P_X, and changes few more records."""
    joint = adult()
    n = joint.counts.sum(axis=1)
    best = careful(joint, n, LDP_1, 3.0)
    monkeypatch.setattr("linred.design.robust.MOST_PROGRAMME_CELLS", 0)
    clipped = careful(joint, n, LDP_1, 3.0)
    np.testing.assert_allclose(joint.p_s @ clipped.p_y_given_s, joint.p_x, rtol=1e-9)
    assert best.dtv() <= clipped.dtv() < 1.25 * best.dtv()
    assert clipped.sampler().certificate().ldp < 1.0


def test_a_markov_mechanism_mixes():
    joint = adult()
    mechanism = careful_markov(joint, joint.counts.sum(axis=1), LDP_1, 0.8, 4.7)
    assert not mechanism.sees_s
    channel = mechanism.p_y_given_x
    assert (channel >= 0.8 * joint.p_x * (1 - 1e-12)).all()
    np.testing.assert_allclose(joint.p_x @ channel, joint.p_x, rtol=1e-12)


def test_the_path_is_the_same_whatever_symbols_were_held_out(monkeypatch):
    """An x without fitted records must not affect the treatment of the others."""
    joint = adult()
    wider = linred.Joint.from_counts(np.pad(joint.counts, ((0, 1), (0, 1))))
    monkeypatch.setattr("linred.design.robust.MOST_PROGRAMME_CELLS", joint.counts.size)
    for z in (4.0, 1.0):
        one, other = (careful(table, table.counts.sum(axis=1), LDP_1, z) for table in (joint, wider))
        assert one.dtv() == pytest.approx(other.dtv(), rel=1e-9)

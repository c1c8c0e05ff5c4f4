"""Every number in docs/privacy.md, computed anew."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import linred
from linred.design import fit
from linred.privacy.target import Target
from support import populations
from support.joints import adult, example_1

TEXT = re.sub(r"\s+", " ", (Path(__file__).parents[1] / "docs" / "privacy.md").read_text(encoding="utf-8"))


def after(n_releases, mechanism):
    """LDP of several releases of one record, with fresh draws."""
    joint, channel = mechanism.joint, mechanism.p_y_given_sx
    released = joint.p_x_given_s[:, :, None] * channel
    for _ in range(n_releases - 1):
        released = np.einsum("sxa,sxy->sxay", released, channel).reshape(*joint.shape, -1)
    q = released.sum(axis=1)
    q = q[:, q.max(axis=0) > 0.0]
    with np.errstate(divide="ignore"):
        return math.log((q.max(axis=0) / q.min(axis=0)).max())


def test_plug_in_figures_are_broken():
    assert f"above it in {populations.n_broken_plug_ins()} of 100 simulated fits on 2,000 records" in TEXT


def test_the_price_of_confidence():
    design = fit.with_confidence(adult(), Target(ldp=1.0), 0.95).design
    assert f"it takes {100 * design.dtv:.2f} % of changed records" in TEXT
    assert f"changes {100 * design.dtv_plug_in:.2f} %" in TEXT
    assert f"and {100 * design.dtv_ceiling:.2f} % must change if no data is trusted" in TEXT
    without = fit.with_confidence(adult(), Target(ldp=1.0), 0.95, sees_s=False)
    assert f"{100 * without.dtv():.0f} % of the records of Adult must change at LDP 1" in TEXT


def test_who_knows_x_may_learn_s():
    channel = linred.optimal(example_1(), ldp=1.0).p_y_given_sx
    assert ((channel[0] == 0.0) & (channel[1] > 0.0)).any()
    assert (np.ptp(linred.optimal(example_1(), ldp=1.0, sees_s=False).p_y_given_sx, axis=0) == 0.0).all()


def test_two_releases():
    assert "at LDP 0.5, two releases by the optimum make LDP infinite" in TEXT
    assert after(1, linred.optimal(example_1(), ldp=0.5)) == pytest.approx(0.5)
    assert after(2, linred.optimal(example_1(), ldp=0.5)) == math.inf
    lemma_1 = linred.markov(example_1(), ldp=0.5)
    assert f"({linred.ldp(example_1()):.2f} nats there;" in TEXT
    assert f"two releases of Lemma 1 tell {after(2, lemma_1):.2f}, six {after(6, lemma_1):.2f})" in TEXT


def test_records_that_share_s_add_up():
    """m records with the same S and X independent given S: LDP is m times that of one."""
    q = linred.markov(example_1(), ldp=0.5).p_y_given_s
    three = np.einsum("sa,sb,sc->sabc", q, q, q).reshape(2, -1)
    assert math.log((three.max(axis=0) / three.min(axis=0)).max()) == pytest.approx(1.5)

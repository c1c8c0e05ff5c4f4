"""Proportional symbols are merged at no cost, unless a distortion distinguishes them."""

import numpy as np
import pytest

import linred
from linred import Joint
from support.joints import adult
from support.programmes import metric
from support.promises import check_promises
from support.target_programmes import fewest_changes


def test_symbols_in_proportion_are_merged_and_cost_nothing():
    """Return two equivalent problems: X, and X with an independent fair coin."""
    joint = adult()
    doubled = Joint.from_counts(np.repeat(joint.counts, 2, axis=1))
    for sees_s in (True, False):
        one, two = (linred.optimal(j, ldp=0.5, sees_s=sees_s) for j in (joint, doubled))
        assert two.dtv() == pytest.approx(one.dtv(), rel=1e-10)
        check_promises(two)
    twice = Joint.from_counts(np.repeat(joint.counts, 2, axis=0))
    assert linred.optimal(twice, ldp=0.5).dtv() == pytest.approx(linred.optimal(joint, ldp=0.5).dtv(), rel=1e-10)


def test_symbols_in_proportion_are_told_apart_by_a_distortion():
    joint = Joint.from_counts([[4, 4, 1, 1], [1, 1, 4, 4]])
    d = metric("steps", 4)
    assert linred.optimal(joint, ldp=0.5, distortion=d).expected_distortion(d) == pytest.approx(
        fewest_changes(joint.p_sx, ldp=0.5, distortion=d)[0], rel=1e-7
    )

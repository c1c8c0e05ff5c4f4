"""Mechanisms of each kind: some have samplers that begin with cells, the others begin with keep."""

import numpy as np
import pytest

import linred
from linred.mechanism.tables import Whole
from support.joints import example_1, random_joint


def mechanisms(joint, alpha=0.5):
    n_x = joint.shape[1]
    squares = np.subtract.outer(np.arange(n_x), np.arange(n_x)) ** 2.0
    return {
        "markov": linred.markov(joint, alpha),
        "northwest": linred.non_markov(joint, alpha),
        "proportional": linred.non_markov(joint, alpha, coupling="proportional"),
        "distortion": linred.non_markov(joint, alpha, distortion=squares),
    }


def wide_joint():
    """Make a mechanism with too many rows for cells, and with pairs, symbols and an s that never occur."""
    joint = random_joint(np.random.default_rng(3), 20, 70, zeros=0.3)
    counts = np.floor(joint.p_sx * 1e6)
    counts[:, 7] = 0
    counts[4] = 0
    return linred.Joint.from_counts(counts)


def often_rejected():
    """Make a mechanism in whole numbers of which words reject almost a third, the most that there can be."""
    joint = linred.Joint.from_counts([[2, 3, 0], [1, 4, 2]])
    number = 2**64 // 3 + 1
    total = np.full((2, 3), number)
    keep = np.array([[number // 2, 0, 0], [number - 1, number, 1]])
    weight = np.array([3, 7, 2, number - 10, 9, 1, 2**62, 5, 2**61])
    indptr, y = np.array([0, 3, 5, 6, 9]), np.array([0, 1, 2, 1, 2, 0, 0, 1, 2], np.int32)
    parts = Whole(keep, total, weight).parts(np.array([[1, 2, 0], [2, 0, 3]], np.int32), indptr, y)
    return linred.Mechanism(joint, name="by hand", sees_s=True, released=joint, **parts)


NAMES = ["markov", "northwest", "proportional", "distortion"]
SMALL, WIDE = mechanisms(example_1()), mechanisms(wide_joint())
MECHANISMS = [pytest.param(SMALL[name], id=f"small-{name}") for name in NAMES]
MECHANISMS += [pytest.param(WIDE[name], id=f"wide-{name}") for name in NAMES]
WHOLE = {
    "independent": linred.non_markov(linred.Joint.from_counts([[5, 0, 7, 2], [3, 4, 1, 9], [2, 2, 0, 1]]), 1.0),
    "shared tables": linred.non_markov(wide_joint(), 1.0, coupling="proportional"),
    "rejected": often_rejected(),
}
"""Mechanisms in whole numbers."""
MECHANISMS += [pytest.param(mechanism, id=f"whole-{name}") for name, mechanism in WHOLE.items()]

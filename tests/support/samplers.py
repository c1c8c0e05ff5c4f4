"""Mechanisms of each kind: some have samplers that begin with cells, the others begin with keep."""

import numpy as np
import pytest

import linred
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


NAMES = ["markov", "northwest", "proportional", "distortion"]
SMALL, WIDE = mechanisms(example_1()), mechanisms(wide_joint())
MECHANISMS = [pytest.param(SMALL[name], id=f"small-{name}") for name in NAMES]
MECHANISMS += [pytest.param(WIDE[name], id=f"wide-{name}") for name in NAMES]

"""POT and HiGHS agree on transport problems, also with tiny masses."""

import numpy as np
import pytest

import linred
from linred import Joint
from support.joints import random_joint


def test_tiny_masses_do_not_upset_the_solvers(solver):
    rng = np.random.default_rng(3)
    for _ in range(60):
        n_x = int(rng.integers(2, 25))
        p = np.round(rng.dirichlet(np.full(n_x, 0.2), 2) * 20) / 20 + (rng.random((2, n_x)) < 0.3) * 1e-13
        p[p.sum(axis=1) < 0.5, 0] = 1.0
        joint = Joint.from_conditional(p / p.sum(axis=1, keepdims=True), [0.5, 0.5])
        d = rng.random((n_x, n_x)) if rng.random() < 0.5 else rng.integers(0, 3, (n_x, n_x)).astype(float)
        np.fill_diagonal(d, 0.0)
        mechanism = linred.non_markov(joint, rng.choice([1e-9, 0.5, 1.0]), distortion=d)
        assert mechanism.gap <= 1e-12
        by_channel = np.einsum("sx,sxy->sy", joint.p_x_given_s, mechanism.p_y_given_sx)
        np.testing.assert_allclose(by_channel, mechanism.p_y_given_s, rtol=0, atol=1e-12)


def test_both_solvers_give_one_value():
    rng = np.random.default_rng(4)
    joint, points = random_joint(rng, 3, 40), rng.random((40, 2))
    d = np.linalg.norm(points[:, None] - points, axis=2) ** 2
    values = []
    for has_pot in (True, False):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("linred.solvers.lp._has_pot", lambda has_pot=has_pot: has_pot)
            values.append(linred.non_markov(joint, 0.5, distortion=d).expected_distortion(d))
    assert values[0] == pytest.approx(values[1], rel=1e-12)

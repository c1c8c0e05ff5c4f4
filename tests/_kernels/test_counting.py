"""Large inputs: `make test-all`."""

import numpy as np
import pytest

import linred
from linred import Joint
from linred._kernels import counting

pytestmark = pytest.mark.long


def test_a_cell_of_more_than_2_to_the_32_records():
    zeros = np.zeros(2**32 + 7, np.uint8)
    assert counting.count_pairs(zeros, zeros, 2, 2, threads=1).tolist() == [[2**32 + 7, 0], [0, 0]]


def test_a_thousand_by_a_thousand_gives_equation_3():
    rng = np.random.default_rng(1)
    joint = Joint.from_conditional(rng.dirichlet(np.full(1000, 0.3), 1000), rng.dirichlet(np.ones(1000)))
    for coupling in ("northwest", "proportional"):
        mechanism = linred.non_markov(joint, 0.7, coupling=coupling)
        for s in range(0, 1000, 111):
            dense = mechanism._destinations[mechanism.table_of[s]].toarray() * mechanism.move[s][:, None]
            dense[np.arange(1000), np.arange(1000)] += mechanism.keep[s]
            np.testing.assert_allclose(joint.p_x_given_s[s] @ dense, mechanism.p_y_given_s[s], rtol=0, atol=1e-13)


def test_a_hundred_thousand_symbols_need_no_square():
    rng = np.random.default_rng(2)
    joint = Joint.from_counts(rng.poisson(0.5, (3, 100_000)))
    mechanism = linred.non_markov(joint, linred.alpha_for(joint, ldp=1.0))
    assert linred.ldp(mechanism.released) <= 1.0
    assert 0.0 < mechanism.dtv() < linred.markov(joint, mechanism.alpha).dtv()


def test_a_transport_of_four_hundred_symbols_by_both_solvers(solver):
    rng = np.random.default_rng(3)
    points = rng.random((400, 3))
    d = np.linalg.norm(points[:, None] - points, axis=2) ** 1.5
    joint = Joint.from_conditional(rng.dirichlet(np.ones(400), 2), [0.4, 0.6])
    mechanism = linred.non_markov(joint, 0.5, distortion=d)
    assert mechanism.gap <= 1e-12
    by_channel = np.einsum("sx,sxy->sy", joint.p_x_given_s, mechanism.p_y_given_sx)
    np.testing.assert_allclose(by_channel, mechanism.p_y_given_s, rtol=0, atol=1e-13)

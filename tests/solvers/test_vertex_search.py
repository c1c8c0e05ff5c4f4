"""`prefer=`, the choice among couplings that change the fewest records."""

import numpy as np
import pytest
from hypothesis import given

import linred
from linred import Joint
from support.joints import adult, alphas, count_tables, example_1, random_joint
from support.paper import FIGURE_5, losses_at_vertices

PREFERENCES = ["information", "sparse", "smooth"]


@pytest.mark.parametrize("prefer", PREFERENCES)
@given(count_tables, alphas)
def test_no_preference_costs_records_or_privacy(prefer, counts, alpha):
    joint = Joint.from_counts(counts)
    mechanism, plain = linred.non_markov(joint, alpha, prefer=prefer), linred.non_markov(joint, alpha)
    assert mechanism.dtv() == pytest.approx(plain.dtv(), rel=1e-12, abs=1e-15)
    channel = mechanism.p_y_given_sx
    assert channel.min() >= 0.0
    np.testing.assert_allclose(channel.sum(axis=2), 1.0, rtol=0, atol=1e-14)
    realised = np.einsum("sx,sxy->sy", joint.p_x_given_s, channel)
    seen = joint.p_s > 0.0
    np.testing.assert_allclose(realised[seen], plain.p_y_given_s[seen], rtol=1e-11, atol=1e-15)


@given(count_tables, alphas)
def test_each_preference_gets_what_it_is_for(counts, alpha):
    joint = Joint.from_counts(counts)
    plain, informative, sparse = (linred.non_markov(joint, alpha, prefer=prefer) for prefer in (None, *PREFERENCES[:2]))
    assert informative.mutual_information() >= plain.mutual_information() - 1e-12
    assert sparse.tables.y.size <= plain.tables.y.size
    smooth = linred.non_markov(joint, alpha, prefer="smooth")
    np.testing.assert_array_equal(
        smooth.p_y_given_sx, linred.non_markov(joint, alpha, coupling="proportional").p_y_given_sx
    )


@pytest.mark.parametrize("row", FIGURE_5, ids=lambda row: f"alpha={row['alpha']}")
def test_the_best_vertex_of_example_1(row):
    mechanism = linred.non_markov(example_1(), row["alpha"], prefer="information")
    loss = mechanism.report(2).utility.information_loss
    assert loss == pytest.approx(min(losses_at_vertices(row["alpha"])), rel=0, abs=1e-12)


def test_no_exchange_and_no_cycle_is_left():
    joint = random_joint(np.random.default_rng(2), 4, 12)
    mechanism = linred.non_markov(joint, 0.5, prefer="information")
    plans = joint.p_sx[:, :, None] * mechanism.p_y_given_sx
    moved = plans.sum(axis=0)
    np.fill_diagonal(moved, 0.0)
    excess = joint.p_x_given_s > joint.p_x

    def score(p):
        return (p[p > 0] * np.log(p[p > 0])).sum()

    tried = 0
    for s in range(4):
        off = plans[s] * ~np.eye(12, dtype=bool)
        arcs = np.argwhere(off > 1e-15)
        assert len(arcs) == 11, "a tree has one flow less than nodes"
        for a, (i, j) in enumerate(arcs):
            for k, m in arcs[:a]:
                mass = min(off[i, j], off[k, m])
                if i == k or j == m:
                    continue
                assert excess[s, i]
                trial = moved.copy()
                trial[[i, k], [j, m]] -= mass
                trial[[i, k], [m, j]] += mass
                assert score(np.maximum(trial, 0.0)) <= score(moved) + 1e-12
                tried += 1
    assert tried > 50


def test_equal_amounts_are_matched():
    """Excesses .1, .2, .3 and deficits .3, .1, .2 need three moves; the north-west corner rule makes four."""
    p = np.array([[0.2, 0.3, 0.4, 0.0333, 0.0333, 0.0334], [0.1, 0.1, 0.1, 0.3333, 0.1333, 0.2334]])
    joint = Joint.from_conditional(p / p.sum(axis=1, keepdims=True), [0.5, 0.5])
    plain, sparse = (linred.non_markov(joint, 1.0, prefer=prefer) for prefer in (None, "sparse"))
    moves = [np.count_nonzero(mechanism.p_y_given_sx[0] * ~np.eye(6, dtype=bool)) for mechanism in (plain, sparse)]
    assert moves == [4, 3]


def test_with_a_target():
    joint = adult()
    best = {prefer: linred.optimal(joint, ldp=1.0, prefer=prefer) for prefer in (None, *PREFERENCES)}
    for mechanism in best.values():
        assert mechanism.dtv() == pytest.approx(best[None].dtv(), rel=1e-10)
        assert mechanism.sampler().certificate().ldp <= 1.0
    information = {prefer: mechanism.mutual_information() for prefer, mechanism in best.items()}
    assert information["information"] > information[None] > information["smooth"]

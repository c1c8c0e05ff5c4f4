"""The paper's figures from the coordinates it plots, and errata.md's figures to their printed digits."""

import math

import numpy as np
import pytest

import linred
from support.joints import example_1
from support.paper import FIGURE_1, FIGURE_5, losses_at_vertices


def test_the_figures_are_all_there():
    assert (len(FIGURE_1), len(FIGURE_5)) == (21, 20)


@pytest.mark.parametrize("row", FIGURE_1, ids=lambda row: f"alpha={row['alpha']}")
def test_figure_1(row):
    joint = example_1()
    released = linred.linear_reduction(joint, row["alpha"])
    approximation = linred.first_order(joint, row["alpha"], base=2)
    assert linred.ldp(released, 2) == pytest.approx(row["ldp_y"], rel=0, abs=1e-12)
    assert linred.log_lift(released, 2) == pytest.approx(row["log_lift_y"], rel=0, abs=1e-12)
    assert approximation.ldp == pytest.approx(row["scaled_ldp_x"], rel=0, abs=1e-12)
    assert approximation.log_lift == pytest.approx(row["scaled_log_lift_x"], rel=0, abs=1e-12)


@pytest.mark.parametrize("row", FIGURE_5, ids=lambda row: f"alpha={row['alpha']}")
def test_figure_5_where_it_is_attainable(row):
    """Three curves; the paper plots 2 x DTV as its text defines it."""
    joint, alpha = example_1(), row["alpha"]
    markov = linred.markov(joint, alpha).report(base=2).utility
    assert markov.information_loss == pytest.approx(row["information_loss_markov"], rel=0, abs=1e-12)
    assert 2 * markov.dtv == pytest.approx(row["twice_dtv_markov"], rel=0, abs=1e-12)
    assert 2 * linred.non_markov(joint, alpha).dtv() == pytest.approx(row["twice_dtv_non_markov"], rel=0, abs=1e-12)


@pytest.mark.parametrize("row", FIGURE_5, ids=lambda row: f"alpha={row['alpha']}")
def test_figure_5s_fourth_curve_is_unattainable(row):
    """I(X;Y) is convex in the coupling, so it is largest at a vertex; the paper plots a smaller loss (errata 2)."""
    losses = losses_at_vertices(row["alpha"])
    assert len(losses) == 4
    assert row["information_loss_non_markov"] < min(losses) - 1e-4
    ours = linred.non_markov(example_1(), row["alpha"]).report(base=2).utility.information_loss
    assert min(abs(ours - loss) for loss in losses) < 1e-12, "north-west is one of the vertices"


def test_errata_2_quotes_the_vertices():
    for alpha, least, most in [(0.511, 0.5334, 0.5496), (0.961, 0.7999, 0.8304)]:
        losses = losses_at_vertices(alpha)
        assert (round(min(losses), 4), round(max(losses), 4)) == (least, most)


def test_the_worked_matrices():
    channel = linred.non_markov(example_1(), 0.5).p_y_given_sx
    first = [[1, 0, 0, 0], [0, 1, 0, 0], [0.21, 0.07, 0.72, 0], [0, 0.175, 0, 0.825]]
    second = [[0.91, 0, 0.09, 0], [0, 0.9, 0.05, 0.05], [0, 0, 1, 0], [0, 0, 0, 1]]
    np.testing.assert_allclose(channel, [first, second], rtol=0, atol=1e-15)
    np.testing.assert_array_equal(channel == 0, np.array([first, second]) == 0)


def test_figures_quoted_at_one_half():
    joint = example_1()
    markov, non_markov = linred.markov(joint, 0.5), linred.non_markov(joint, 0.5)
    assert round(linred.ldp(markov.released, 2), 10) == 1.1699250014
    assert round(linred.log_lift(markov.released, 2), 10) == 0.7104933828
    assert round(markov.dtv(), 4) == 0.3545
    assert round(markov.mutual_information(2), 10) == 0.4284229773
    assert round(non_markov.dtv(), 3) == 0.105
    assert round(non_markov.mutual_information(2), 10) == 1.3592782611
    assert round(markov.report(2).utility.entropy, 10) == 1.8847367482
    assert linred.ldp(joint, 2) == pytest.approx(math.log2(5), rel=1e-15)
    assert linred.log_lift(joint, 2) == pytest.approx(math.log2(0.24 / 0.10), rel=1e-15)


@pytest.mark.parametrize(("target", "lemma_1", "proposition_1"), [(0.5, 0.4972, 0.1473), (1.0, 0.2669, 0.0790)])
def test_errata_5_columns_of_the_paper(target, lemma_1, proposition_1):
    joint = example_1()
    alpha = linred.alpha_for(joint, ldp=target)
    assert round(linred.markov(joint, alpha).dtv(), 4) == lemma_1
    assert round(linred.non_markov(joint, alpha).dtv(), 4) == proposition_1

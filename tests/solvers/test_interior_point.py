"""The interior-point method against HiGHS on the same linear programme in another formulation."""

import math
import time

import numpy as np
import pytest
from hypothesis import assume, given

import linred
from linred import Joint
from linred.design import optimal
from linred.solvers import constraints, formulations, interior_point
from linred.solvers.symbol_merging import Merged
from support.joints import adult, count_tables, random_joint, targets
from support.promises import check_promises

TARGETS = [{"ldp": 0.3}, {"ldp": 2.0}, {"log_lift": 0.4}, {"ldp": 0.8, "log_lift": 0.5}]
TARGETS += [{"max_lift": 0.2}, {"min_lift": 0.3}, {"max_lift": 0.2, "min_lift": 0.5}, {"ldp": 1.0, "max_lift": 0.2}]


def both(joint, target):
    """Return the merged problem and the answers of the interior-point method and of HiGHS."""
    merged = Merged(joint, symbols=True)
    limits = constraints.Limits.of(linred.Target(**target), merged, True)
    return merged, interior_point.fewest_changes(limits, merged.p, math.inf), formulations.network(limits, merged.p)


def check(joint, target):
    merged, ours, highs = both(joint, target)
    assert ours.cost == pytest.approx(highs.cost, rel=1e-7, abs=1e-9)
    assert ours.bound <= highs.cost + 1e-9
    assert ours.cost - ours.bound < 1e-9
    np.testing.assert_allclose(ours.matrix.sum(axis=1), 1.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(merged.p_s @ ours.matrix / merged.p_x, 1.0, rtol=0, atol=1e-12)
    lifts, wanted = ours.matrix / merged.p_x, linred.Target(**target)
    with np.errstate(divide="ignore"):
        logs = np.log(lifts)
    assert (logs.max(axis=0) - logs.min(axis=0)).max() <= min(wanted.ldp, 2.0 * wanted.log_lift) + 1e-9
    assert logs.max() <= min(wanted.max_lift, wanted.log_lift) + 1e-9
    assert -logs.min() <= min(wanted.min_lift, wanted.log_lift) + 1e-9
    loss = merged.p_s @ np.maximum(merged.p - ours.matrix, 0.0).sum(axis=1)
    assert loss == pytest.approx(ours.cost, rel=1e-8, abs=1e-10)


@given(count_tables, targets)
def test_small_and_degenerate(counts, target):
    joint = Joint.from_counts(counts)
    assume(linred.alpha_for(joint, **target) > 0.0)
    check(joint, target)


@pytest.mark.parametrize(
    "target", [{"ldp": 0.3}, {"ldp": 2.0}, {"log_lift": 0.4}, {"ldp": 0.8, "log_lift": 0.5}], ids=str
)
@pytest.mark.parametrize("shape", [(3, 60, 0.0), (12, 40, 0.3), (40, 12, 0.5), (2, 200, 0.1)], ids=str)
def test_larger(shape, target):
    n_s, n_x, zeros = shape
    check(random_joint(np.random.default_rng(n_s), n_s, n_x, zeros), target)


@pytest.mark.parametrize("seed", range(6))
def test_counts_of_rare_symbols_and_rare_s(seed):
    """Zipf's law, Poisson counts, most cells empty: widely different weights, and lifts up to a million."""
    rng = np.random.default_rng(seed)
    n_s, n_x = [(12, 198), (40, 90), (64, 60), (8, 300), (30, 120), (90, 40)][seed]
    p = rng.gamma(0.3, 1.0, (n_s, n_x)) / np.arange(1, n_x + 1) ** rng.uniform(0.5, 2.0)
    p_s = rng.dirichlet(np.full(n_s, 0.3)) + 1e-6
    counts = rng.poisson(10.0 ** rng.uniform(4, 7) * p_s[:, None] * p / p.sum(axis=1, keepdims=True))
    check(Joint.from_counts(counts), {"ldp": [3.2, 8.0, 2.5, 0.1, 1.0, 5.0][seed]})


def test_highs_takes_over_where_it_sticks(monkeypatch):
    monkeypatch.setattr(optimal, "VERTEX_CELLS", 0)
    monkeypatch.setattr(interior_point, "MOST_STEPS", 3)
    mechanism = linred.optimal(adult(), ldp=1.0)
    assert mechanism.gap < 1e-11
    check_promises(mechanism)


@pytest.mark.parametrize("ldp", [1e-9, 1e-4, 8.0, 14.0])
def test_extreme_targets(ldp):
    check(random_joint(np.random.default_rng(9), 5, 20, 0.3), {"ldp": ldp})


def test_probabilities_far_apart():
    p = np.array([[0.5, 0.5, 1e-9, 1e-14], [0.2, 0.8, 1e-12, 2e-13], [0.9, 0.1, 3e-10, 0.0]])
    joint = Joint.from_conditional(p / p.sum(axis=1, keepdims=True), [0.5, 1e-6, 0.5 - 1e-6])
    check(joint, {"ldp": 0.5})


@pytest.mark.parametrize("target", [{"ldp": 1.0}, {"ldp": 0.8, "log_lift": 0.5}, {"log_lift": 0.3}], ids=str)
def test_mechanisms_made_of_it(monkeypatch, target):
    monkeypatch.setattr(optimal, "VERTEX_CELLS", 0)
    by_points = linred.optimal(adult(), **target)
    check_promises(by_points)
    monkeypatch.undo()
    assert by_points.dtv() == pytest.approx(linred.optimal(adult(), **target).dtv(), rel=1e-9)
    assert by_points.gap < 1e-11


def test_what_need_not_move_does_not(monkeypatch):
    """At a vertex many cells keep their value; the interior-point answer must keep them as well."""
    monkeypatch.setattr(optimal, "VERTEX_CELLS", 0)
    mechanism = linred.optimal(adult(), ldp=1.0)
    same = (mechanism.p_y_given_s == adult().p_x_given_s) | np.isclose(
        mechanism.p_y_given_s, adult().p_x_given_s, rtol=1e-13, atol=0
    )
    assert same.mean() > 0.2


def test_when_time_is_over_it_is_inside_all_the_same():
    joint = random_joint(np.random.default_rng(5), 40, 60)
    with pytest.warns(linred.NotOptimalWarning, match="the time limit was reached"):
        mechanism = linred.optimal(joint, ldp=0.3, time_limit=0.0)
    check_promises(mechanism)
    assert mechanism.dtv() <= linred.selective(joint, ldp=0.3).dtv() + 1e-12
    assert mechanism.dtv() - mechanism.gap <= linred.optimal(joint, ldp=0.3).dtv()


def test_a_large_one():
    """52,000 cells, for which HiGHS takes half a minute to two minutes."""
    rng = np.random.default_rng(0)
    joint = Joint.from_conditional(rng.dirichlet(np.full(717, 0.5), 73), rng.dirichlet(np.ones(73)))
    begin = time.perf_counter()
    mechanism = linred.optimal(joint, ldp=1.0)
    assert time.perf_counter() - begin < 60.0, "far too slow"
    assert round(mechanism.dtv(), 8) == 0.27562555, "the optimum of HiGHS"
    assert mechanism.gap < 1e-11
    assert mechanism.target.is_met_by(mechanism.sampler().certificate())

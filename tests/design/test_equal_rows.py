"""Limits of 0 in whole numbers: the same P(y|s) for every s, or for some, in Fractions and at the least cost."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy.optimize import linprog

import linred
from linred.design import equal_rows
from support import adult_tables, stats
from support.joints import adult, count_tables, counts, example_1, random_joint
from support.target_programmes import fewest_changes

ZEROS = ({"ldp": 0.0}, {"log_lift": 0.0}, {"max_lift": 0.0}, {"min_lift": 0.0})
HOW = (
    {},
    {"prefer": "sparse"},
    {"prefer": "information"},
    {"prefer": "smooth"},
    {"distortion": "steps"},
    {"distortion": "squares"},
    {"distortion": "any"},
    {"distortion": "metric"},
)


def distortion(name, n_x):
    steps = np.abs(np.subtract.outer(np.arange(n_x), np.arange(n_x))).astype(float)
    plain = np.random.default_rng(4).uniform(0.5, 3.0, (n_x, n_x)) * (1 - np.eye(n_x))
    places = np.random.default_rng(5).random((n_x, 2))
    metric = np.hypot(*(places[:, None] - places).transpose(2, 0, 1))
    return {"steps": steps, "squares": steps**2, "any": plain, "metric": metric}[name]


def released(mechanism):
    """Return P(y|s) of the sampled integers in Fractions, for the s that occur, and P_X."""
    joint, channel = mechanism.joint, stats.channel(mechanism.sampler())
    rows = []
    for s in np.flatnonzero(joint.counts.sum(axis=1)):
        p = [Fraction(int(n), int(joint.counts[s].sum())) for n in joint.counts[s]]
        rows.append([sum(one * channel[s, x, y] for x, one in enumerate(p)) for y in range(joint.shape[1])])
    return rows, [Fraction(int(n), joint.n_records) for n in joint.counts.sum(axis=0)]


def least_cost(joint, d):
    """Return the cost of optimal transports from P(x|s) to P_X, one programme for each s."""
    total, n_x = 0.0, joint.shape[1]
    leave, enter = np.repeat(np.eye(n_x), n_x, axis=1), np.tile(np.eye(n_x), n_x)
    for p_s, p in zip(joint.p_s, joint.p_x_given_s, strict=True):
        if p_s > 0.0:
            both = np.vstack([leave, enter[:-1]]), np.concatenate([p, joint.p_x[:-1]])
            total += p_s * linprog(d.ravel(), A_eq=both[0], b_eq=both[1], method="highs-ds").fun
    return total


@given(count_tables, st.sampled_from(HOW))
@example(np.array([[5, 0, 7, 2], [3, 4, 1, 9], [0, 0, 0, 0], [2, 2, 0, 1]]), {"distortion": "any"})
def test_every_s_releases_the_marginal_exactly(table, how):
    joint = linred.Joint.from_counts(table)
    how = {name: distortion(one, table.shape[1]) if name == "distortion" else one for name, one in how.items()}
    for mechanism in (linred.non_markov(joint, 1.0, **how), linred.optimal(joint, ldp=0.0, **how)):
        rows, p_x = released(mechanism)
        assert all(row == p_x for row in rows)
        certificate = mechanism.sampler().certificate()
        assert set(certificate) == {0.0}
        d = how.get("distortion", 1.0 - np.eye(table.shape[1]))
        assert mechanism.expected_distortion(d) == pytest.approx(least_cost(joint, d), abs=1e-9)
        assert mechanism.gap <= 1e-12
        unseen = stats.channel(mechanism.sampler())[joint.unseen]
        assert (unseen == np.array(p_x, object)).all(), "pairs that never occur too"


@pytest.mark.parametrize("zero", ZEROS, ids=str)
@pytest.mark.parametrize("make", [linred.optimal, linred.selective, linred.non_markov])
def test_every_maker_and_every_limit_of_zero(make, zero):
    """E TV(P_{X|S}, P_X), by its definition, is the price; there is no cliff below small targets."""
    joint = adult()
    price = 0.5 * joint.p_s @ np.abs(joint.p_x_given_s - joint.p_x).sum(axis=1)
    mechanism = make(joint, **zero)
    assert mechanism.dtv() == pytest.approx(price, abs=1e-12)
    assert make(joint, ldp=1e-12).dtv() == pytest.approx(price, abs=1e-9)
    assert mechanism.sampler().certificate().met
    assert mechanism.sampler().certificate().ldp == 0.0
    assert mechanism.target == linred.Target(**zero)


def test_a_target_below_the_resolution_of_the_tables_is_met_at_the_same_price():
    joint = adult()
    for ldp in (5e-324, 1e-18, 1e-15):
        mechanism = linred.optimal(joint, ldp=ldp)
        assert mechanism.dtv() == pytest.approx(linred.optimal(joint, ldp=0.0).dtv(), abs=1e-9)
        assert mechanism.sampler().certificate().ldp <= ldp


@pytest.mark.parametrize("name", ["adult_sex_occupation", "flights_carrier_dest"])
def test_tables_of_the_data(name):
    joint = counts(name)
    mechanism = linred.optimal(joint, ldp=0.0)
    assert mechanism.sampler().certificate().ldp == 0.0
    np.testing.assert_array_equal(mechanism.p_y, joint.p_x)
    assert mechanism.dtv() == pytest.approx(linred.optimal(joint, ldp=1e-7).dtv(), abs=1e-6)


@pytest.mark.parametrize("how", [{}, {"distortion": "steps"}, {"distortion": "any"}], ids=str)
def test_the_cheapest_marginal_of_any(how):
    joint = adult()
    how = {name: distortion(one, 15) for name, one in how.items()} | {"keep_marginal": False}
    at_zero, near_zero = (linred.optimal(joint, ldp=ldp, **how) for ldp in (0.0, 1e-7))
    cost = [
        mechanism.expected_distortion(how.get("distortion", 1.0 - np.eye(15))) for mechanism in (at_zero, near_zero)
    ]
    assert at_zero.whole is not None
    assert cost[0] == pytest.approx(cost[1], abs=1e-6)
    assert at_zero.gap <= 1e-9
    assert at_zero.sampler().certificate().ldp == 0.0


def test_draws_have_the_marginal_under_every_s():
    """Ten million draws: a chi-square of P(y|s) for each s against P_X, at stats.ERROR_RATE in all.

    Power: a P(y|s) that is off by 1 % in a symbol of probability .1 shifts the statistic of the largest s by 450.
    """
    joint = adult()
    mechanism, rng, n = linred.optimal(joint, ldp=0.0), np.random.default_rng(8), 10_000_000
    pair = rng.choice(joint.p_sx.size, n, p=joint.p_sx.ravel())
    s, x = (pair // 15).astype(np.uint8), (pair % 15).astype(np.uint8)
    y = mechanism.sampler().sample(s, x, key=bytes(32), start=0)
    for one in range(7):
        observed = np.bincount(y[s == one], minlength=15)
        assert stats.stats.chisquare(observed, joint.p_x * observed.sum()).pvalue > stats.ERROR_RATE / 7
    assert np.mean(y != x) == pytest.approx(mechanism.dtv(), abs=1e-3), "5 standard errors are 5e-4"


def test_counts_up_to_the_limit_of_63_bits():
    """n_s n just below 2^63, and just above, where y is drawn independently of s and x."""
    n = math.isqrt(2**64)
    below = linred.Joint.from_counts([[n // 2 - 1, 3], [7, n // 2 - 11]])
    mechanism = linred.optimal(below, ldp=0.0)
    rows, p_x = released(mechanism)
    assert mechanism.whole is not None
    assert all(row == p_x for row in rows)
    above = linred.Joint.from_counts([[n, 3], [7, n]])
    mechanism = linred.optimal(above, ldp=0.0)
    assert mechanism.whole is None
    assert mechanism.sampler().certificate().ldp == 0.0
    assert mechanism.dtv() == pytest.approx(1.0 - (above.p_x**2).sum())
    assert linred.non_markov(above, 1.0).dtv() < 0.51, "alpha promises no LDP of exactly 0: it moves the excess alone"
    multiple = linred.Joint.from_counts(np.array([[3, 1], [1, 2]]) * 2**40)
    assert linred.optimal(multiple, ldp=0.0).whole is not None, "a common factor does not count"


def test_probabilities_that_are_few_binary_digits_are_whole_numbers():
    joint = linred.Joint([[0.375, 0.125], [0.125, 0.375]])
    mechanism = linred.optimal(joint, ldp=0.0)
    assert (mechanism.dtv(), mechanism.sampler().certificate().ldp) == (0.25, 0.0)


@pytest.mark.parametrize("joint", [example_1(), random_joint(np.random.default_rng(1), 3, 5)], ids=str)
def test_other_probabilities_are_drawn_independently(joint):
    mechanism = linred.optimal(joint, ldp=0.0)
    assert mechanism.whole is None
    assert mechanism.sampler().certificate().ldp == 0.0
    assert mechanism.dtv() == pytest.approx(1.0 - (joint.p_x**2).sum())
    assert mechanism.gap > 0.1, "how much of it the whole numbers would save"


def test_other_limits_beside_ldp_zero():
    joint = adult()
    by_s = linred.optimal(joint, ldp=0.0).changed(by="s").max()
    mechanism = linred.optimal(joint, ldp=0.0, max_lift=0.3, max_changed_by_s=min(1.0, by_s + 0.01))
    assert mechanism.dtv() == linred.optimal(joint, ldp=0.0).dtv()
    assert mechanism.sampler().certificate().met
    with pytest.raises(linred.CannotMeetError, match="max_changed_by_s"):
        linred.optimal(joint, ldp=0.0, max_changed_by_s=0.5 * by_s)


def test_without_s_y_is_drawn_independently():
    mechanism = linred.optimal(adult(), ldp=0.0, sees_s=False)
    assert (mechanism.whole, mechanism.sampler().certificate().ldp) == (None, 0.0)


@pytest.mark.parametrize("zero", [*ZEROS, {"pairs": np.zeros((2, 2))}], ids=lambda zero: next(iter(zero)))
@pytest.mark.parametrize("sees_s", [False, True])
@pytest.mark.parametrize(
    "joint",
    [
        linred.Joint.from_counts([[1, 2, 4], [3, 6, 12]]),
        linred.Joint.from_counts([[5, 3, 2], [0, 0, 0]]),
        linred.Joint([[0.5, 0.3, 0.2], [0.0, 0.0, 0.0]]),
    ],
)
def test_nothing_changes_where_x_tells_nothing(joint, sees_s, zero):
    mechanism = linred.optimal(joint, sees_s=sees_s, **zero)
    assert mechanism.dtv() == mechanism.gap == 0.0
    assert mechanism.sampler().certificate().met
    assert linred.markov(joint, **zero).dtv() == 0.0


def test_limits_of_zero_that_only_other_limits_forbid_are_met_by_small_positive_ones():
    joint = linred.Joint.from_counts([[312, 514], [356, 574], [971, 816]])
    others = {"given_x": 2.0, "max_changed_by_s": 0.3}
    with pytest.raises(linred.CannotMeetError, match="give a small positive limit in place of 0"):
        linred.optimal(joint, max_lift=0.0, **others)
    assert linred.optimal(joint, max_lift=1e-9, **others).sampler().certificate().met


def test_planted_faults_of_one_unit_are_certified_above_zero():
    """One unit of a weight in one table or row is enough for an LDP above 0."""
    joint = linred.Joint.from_counts([[5, 0, 7, 2], [3, 4, 1, 9], [2, 2, 0, 1]])
    mechanism = linred.non_markov(joint, 1.0)
    for part in ("keep", "weight"):
        whole = {name: np.array(one) for name, one in mechanism.whole._asdict().items()}
        place = np.argmax(mechanism.move.ravel() * (mechanism.keep.ravel() > 0.0)) if part == "keep" else -1
        whole[part].flat[place] += 1
        parts = type(mechanism.whole)(**whole).parts(mechanism.table_of, *mechanism.tables[:2])
        changed = linred.Mechanism(joint, name="changed", sees_s=True, alpha=1.0, **parts)
        assert 0.0 < changed.sampler().certificate().ldp < 1.0


def test_weights_are_exact():
    weights = equal_rows._weights(adult(), adult().p_x, adult().p_x)
    assert (weights.q * (adult().n_records // weights.q[0].sum()) == adult().counts.sum(axis=0)).all()


@st.composite
def zeros_for_some(draw):
    """Draw (Joint of counts, matrix of limits of pairs, many of them 0)."""
    table = draw(count_tables)
    n_s = len(table)
    cells = st.sampled_from([0.0, 0.0, 0.4, 1.0, math.inf, math.inf, math.inf])
    pairs = np.array(draw(st.lists(cells, min_size=n_s**2, max_size=n_s**2))).reshape(n_s, n_s)
    np.fill_diagonal(pairs, 0.0)
    return linred.Joint.from_counts(table), pairs


@given(zeros_for_some(), st.booleans(), st.sampled_from([math.inf, 0.8]))
def test_pairs_with_a_limit_of_zero_release_the_same(problem, keep_marginal, ldp):
    joint, pairs = problem
    mechanism = linred.optimal(joint, pairs=pairs, ldp=ldp, keep_marginal=keep_marginal)
    cost, _ = fewest_changes(joint.p_sx, pairs=pairs, ldp=ldp, keep_marginal=keep_marginal)
    assert mechanism.dtv() == pytest.approx(cost, abs=1e-8)
    assert mechanism.dtv() - mechanism.gap <= cost + 1e-9
    assert mechanism.gap <= 1e-8
    assert mechanism.sampler().certificate().met
    rows, p_x = released(mechanism)
    occurs = np.flatnonzero(joint.counts.sum(axis=1)).tolist()
    for (i, s), (j, t) in itertools.permutations(enumerate(occurs), 2):
        assert rows[i] == rows[j] or pairs[s, t] > 0.0
        for one, other in zip(rows[i], rows[j], strict=True):
            assert one <= other or math.log(one / other if other else math.inf) <= min(pairs[s, t], ldp) + 1e-12
    if keep_marginal:
        assert mechanism.p_y == pytest.approx(np.array(p_x, float), abs=1e-12)


def test_a_distance_that_is_0_for_some_pairs_has_no_cliff():
    """S = (marital status, sex), by sex alone: a limit of 0 for equal sexes costs what a tiny one costs."""
    joint = adult_tables.by_columns("marital_status", "sex")
    at, near = (lambda a, b, same=same: 1.0 if a[1] != b[1] else same for same in (0.0, 1e-9))
    exact, tiny = linred.optimal(joint, pairs=at), linred.optimal(joint, pairs=near)
    assert exact.dtv() == pytest.approx(tiny.dtv(), abs=1e-6)
    assert exact.dtv() < linred.optimal(joint, ldp=0.0).dtv() - 0.01
    assert exact.sampler().certificate().met


def test_secrets_with_a_limit_of_zero_are_met_with_a_warning_of_the_price():
    joint = adult()
    with pytest.warns(linred.NotOptimalWarning, match="^limits of 0 for some symbols are met by one"):
        mechanism = linred.optimal(joint, ldp=0.0, secrets=[np.array([0, 0, 1, 1, 0, 1, 0])])
    assert mechanism.sampler().certificate().met


def test_rows_with_the_same_doubles_that_are_not_equal_are_not_certified_at_zero():
    """One unit out of 2^59 is below the resolution of doubles, but not 0."""
    joint = linred.Joint.from_counts([[5, 0, 2], [3, 4, 1], [1, 2, 6]])
    pairs = np.full((3, 3), math.inf)
    pairs[0, 1] = 0.0
    np.fill_diagonal(pairs, 0.0)
    mechanism = linred.optimal(joint, pairs=pairs)
    whole = {name: np.array(one) for name, one in mechanism.whole._asdict().items()}
    s, x = np.argwhere((mechanism.keep > 0.0) & (mechanism.move > 0.0) & (np.arange(3) < 2)[:, None])[0]
    whole["keep"][s, x] += 1
    parts = type(mechanism.whole)(**whole).parts(mechanism.table_of, *mechanism.tables[:2])
    about = {"released": mechanism.released, "target": mechanism.target}
    changed = linred.Mechanism(joint, name="changed", sees_s=True, **parts, **about)
    rows = changed.sampler().certificate().p_y_given_s
    assert (rows[0] == rows[1]).all()
    assert mechanism.sampler().certificate().reached[0].figure == 0.0
    assert 0.0 < changed.sampler().certificate().reached[0].figure < 1e-14
    assert not changed.sampler().certificate().met

"""The robust optimum: against a programme written out by corners, a brute-force adversary, and sampled populations."""

import math
import time

import numpy as np
import pytest
from scipy.stats import binom

import linred
from linred import Joint
from linred.design import robust_optimum
from linred.errors import NotOptimalWarning
from linred.solvers import lp
from support.joints import counts
from support.robust_programmes import boxes, fewest_changes, worst

LEVEL = 0.05


def random_counts(seed, n_joints):
    """Yield tables of counts, some with zeros and some with a symbol that never occurs."""
    rng = np.random.default_rng(seed)
    for i in range(n_joints):
        n_s, n_x = rng.integers(2, 4), rng.integers(2, 5)
        table = rng.multinomial(rng.integers(50, 5000), rng.dirichlet(np.full(n_s * n_x, 0.6))).reshape(n_s, n_x)
        if i % 4 == 0:
            table[:, 0] = 0
        if i % 5 == 0:
            table[0] = 0
        if np.count_nonzero(table.sum(axis=0)) > 1 and np.count_nonzero(table.sum(axis=1)) > 0:
            yield table


LIMITS = [{"ldp": 0.3}, {"ldp": 1.0}, {"ldp": 3.0}, {"max_lift": 0.4}, {"min_lift": 0.7}, {"ldp": 1.0, "max_lift": 0.4}]


@pytest.mark.parametrize("sees_s", [True, False])
@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_against_all_corners(limits, sees_s):
    for table in random_counts(1, 12):
        joint = Joint.from_counts(table)
        mechanism = linred.optimal(joint, **limits, confidence=1.0 - LEVEL, sees_s=sees_s)
        least = fewest_changes(table, LEVEL, **limits, sees_s=sees_s)
        assert mechanism.dtv() == pytest.approx(least, abs=2e-7)
        below = mechanism.dtv() - mechanism.gap
        assert below <= least + 2e-8, "the limits of linred are a relative 1e-9 wider, so that its optimum costs more"
        assert mechanism.gap < 1e-6
        np.testing.assert_allclose(mechanism.p_y, joint.p_x, rtol=0, atol=1e-12)


@pytest.mark.parametrize("sees_s", [True, False])
def test_no_corner_refutes_what_is_certified(sees_s):
    for i, table in enumerate(random_counts(2, 30)):
        limits = LIMITS[i % len(LIMITS)]
        mechanism = linred.optimal(Joint.from_counts(table), **limits, confidence=1.0 - LEVEL, sees_s=sees_s)
        certified, names = mechanism.certified, ("ldp", "max_lift", "min_lift")
        found = dict(zip(names, worst(mechanism.p_y_given_sx, *boxes(table, LEVEL)), strict=True))
        for name in names:
            assert found[name] <= getattr(certified, name) + 1e-12
        for name, limit in limits.items():
            assert getattr(certified, name) <= limit
        assert mechanism.sampler().certificate().met
        assert certified.together


def test_distortion_against_all_corners():
    distance = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    for table in random_counts(3, 12):
        d = distance[: table.shape[1], : table.shape[1]]
        mechanism = linred.optimal(Joint.from_counts(table), ldp=0.7, confidence=1.0 - LEVEL, distortion=d)
        least = fewest_changes(table, LEVEL, ldp=0.7, distortion=d)
        assert mechanism.expected_distortion(d) == pytest.approx(least, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "ldp", "sees_s", "known"),
    [
        ("adult_marital_status_occupation", 0.5, True, 9.39),
        ("adult_marital_status_occupation", 1.0, True, 2.40),
        ("adult_marital_status_occupation", 2.0, True, 0.23),
        ("adult_sex_occupation", 0.5, True, 10.1),
        ("adult_sex_occupation", 1.0, True, 5.70),
        ("adult_sex_occupation", 2.0, True, 0.94),
        ("adult_marital_status_occupation", 1.0, False, 65.5),
        ("adult_sex_occupation", 1.0, False, 9.15),
    ],
)
def test_known_prices(name, ldp, sees_s, known):
    """Known percentages of changed records at 95 %, from a programme that also limits P(y|s) against P(y|s) itself at
    another P(x|s), and a box without P(s). Ours limits different s only, so that it is cheaper, but for its wider box.
    """
    mechanism = linred.optimal(counts(name), ldp=ldp, confidence=0.95, sees_s=sees_s)
    assert 0.85 * known < 100.0 * mechanism.dtv() < 1.01 * known
    assert 1.0 - 1e-6 < mechanism.certified.ldp / ldp <= 1.0


def populations(seed, n):
    """Yield (P(s), P(x|s), number of records) of several shapes, with rare s and zeros."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        n_s, n_x = rng.integers(2, 4), rng.integers(2, 5)
        p_s = rng.dirichlet(np.full(n_s, (0.5, 2.0)[i % 2]))
        yield p_s, rng.dirichlet(np.full(n_x, (0.4, 1.0, 3.0)[i % 3]), n_s), int(10 ** rng.uniform(2.3, 4.3)), rng


def true_ldp(mechanism, p_x_given_s):
    q = np.einsum("sx,sxy->sy", p_x_given_s, mechanism.p_y_given_sx)
    with np.errstate(divide="ignore", invalid="ignore"):
        return max(
            np.where(a > 0.0, np.log(a / b), 0.0).max() for i, a in enumerate(q) for j, b in enumerate(q) if i != j
        )


def n_failures(n, ldp, **how):
    """Return (number of fits whose true LDP is above the target, number that change not nearly all records)."""
    failures = useful = 0
    for p_s, p_x_given_s, n_records, rng in populations(7, n):
        table = rng.multinomial(n_records, (p_s[:, None] * p_x_given_s).ravel()).reshape(p_x_given_s.shape)
        if np.count_nonzero(table.sum(axis=0)) < 2:
            continue
        joint = Joint.from_counts(table)
        mechanism = linred.optimal(joint, ldp=ldp, **how)
        failures += true_ldp(mechanism, p_x_given_s) > ldp + 1e-9
        useful += mechanism.dtv() < 0.9 * (1.0 - joint.p_x @ joint.p_x)
    return failures, useful


@pytest.mark.parametrize("n", [200, pytest.param(2000, marks=pytest.mark.long)])
def test_coverage_of_the_target(n):
    """More failures than the bound have a probability of at most 1e-6 if the level is right. The test has power: most
    mechanisms are useful, and the plug-in optimum fails far more often than the bound.
    """
    most = binom.isf(1e-6, n, LEVEL)
    failures, useful = n_failures(n, 1.0, confidence=1.0 - LEVEL)
    assert failures <= most
    assert useful > 0.6 * n
    assert n_failures(n, 1.0)[0] > most


def test_a_target_of_zero_is_an_independent_draw():
    mechanism = linred.optimal(counts("adult_sex_occupation"), ldp=0.0, confidence=0.95)
    assert mechanism.certified.ldp == 0.0
    assert mechanism.dtv() == pytest.approx(1.0 - mechanism.joint.p_x @ mechanism.joint.p_x)


def test_monotone():
    joint = counts("adult_sex_occupation")
    shares = [linred.optimal(joint, ldp=ldp, confidence=0.95).dtv() for ldp in (0.3, 0.6, 1.0, 1.5, 3.0)]
    assert shares == sorted(shares, reverse=True)
    shares = [linred.optimal(joint, ldp=1.0, confidence=level).dtv() for level in (0.5, 0.8, 0.95, 0.99, 0.9999)]
    assert shares == sorted(shares)
    assert shares[0] > linred.optimal(joint, ldp=1.0).dtv()


def test_stored_and_sampled(tmp_path):
    table = np.array([[300, 0, 100, 5], [10, 200, 0, 90], [2, 3, 0, 0]])
    mechanism = linred.optimal(Joint.from_counts(table), ldp=1.0, confidence=0.9)
    mechanism.save(tmp_path / "m.json")
    loaded = linred.load(tmp_path / "m.json")
    assert loaded.certified == mechanism.certified
    s, x = (part.ravel() for part in np.indices(table.shape))
    draws = [m.sampler().sample(np.tile(s, 5000), np.tile(x, 5000), seed=1) for m in (mechanism, loaded)]
    np.testing.assert_array_equal(*draws)
    found = np.zeros((*table.shape, table.shape[1]))
    np.add.at(found, (np.tile(s, 5000), np.tile(x, 5000), draws[0]), 1.0 / 5000)
    assert np.abs(found - mechanism.p_y_given_sx).max() < 6.0 * math.sqrt(0.25 / 5000), "6 sigma; pairs never seen too"


def test_time_that_is_over_leaves_lemma_1():
    with pytest.warns(
        linred.NotOptimalWarning, match="the time limit was reached .* is certified to meet ldp <= 1.0 at a cost"
    ):
        mechanism = linred.optimal(counts("adult_sex_occupation"), ldp=1.0, confidence=0.95, time_limit=1e-9)
    assert 0.999 < mechanism.certified.ldp <= 1.0
    assert mechanism.dtv() - mechanism.gap <= 0.057, "the optimum"
    kept = mechanism.p_y_given_sx[0, np.arange(15), np.arange(15)]
    alpha = (1.0 - kept) / (1.0 - mechanism.joint.p_x)
    assert np.ptp(alpha[mechanism.joint.counts[0] > 0]) < 1e-12


def test_distortions_without_costs():
    mechanism = linred.optimal(JOINT, ldp=0.1, confidence=0.9, distortion=np.zeros((3, 3)))
    assert mechanism.certified.ldp <= 0.1
    assert mechanism.expected_distortion(np.zeros((3, 3))) == 0.0
    same = linred.optimal(JOINT, ldp=0.1, confidence=0.9, distortion=3.0 * (1.0 - np.eye(3)))
    assert same.dtv() == pytest.approx(linred.optimal(JOINT, ldp=0.1, confidence=0.9).dtv(), abs=1e-7)
    assert 0.0 <= same.gap < 1e-6


JOINT = Joint.from_counts([[30, 20, 50], [10, 60, 30]], [("a", 1), ("b", 2)])


@pytest.mark.parametrize(
    ("joint", "arguments", "match"),
    [
        (Joint([[0.3, 0.2], [0.1, 0.4]]), {"ldp": 1.0}, "confidence= needs a joint with counts"),
        (JOINT, {"ldp": 1.0, "confidence": 1.0}, "confidence"),
        (JOINT, {"ldp": 1.0, "confidence": math.nan}, "confidence"),
        (JOINT, {"alpha": 0.5}, "alpha= and confidence= are both given"),
        (JOINT, {"ldp": 1.0, "keep_marginal": False}, "keep_marginal= and confidence="),
        (JOINT, {"ldp": 1.0, "prefer": "sparse"}, "prefer= and confidence="),
        (JOINT, {"max_changed": 0.1}, "max_changed= and confidence="),
        (JOINT, {"given_x": 1.0}, "given_x= cannot be certified"),
        (JOINT, {"secrets": "each", "ldp": 1.0}, "secrets= cannot be certified"),
    ],
)
def test_bad_input(joint, arguments, match):
    with pytest.raises(ValueError, match=match):
        linred.optimal(joint, **{"confidence": 0.95} | arguments)


@pytest.fixture
def at_scale(monkeypatch):
    """All alphabets count as large."""
    monkeypatch.setattr(robust_optimum, "LARGEST", 0)


SCALED = [
    ("adult_marital_status_occupation", {"ldp": 1.0}, True),
    ("adult_sex_occupation", {"ldp": 0.5}, True),
    ("adult_sex_occupation", {"ldp": 1.0}, False),
    ("adult_sex_occupation", {"max_lift": 0.7}, True),
]


@pytest.mark.parametrize(("name", "limits", "sees_s"), SCALED)
def test_large_alphabets_against_the_full_programme(name, limits, sees_s, monkeypatch):
    joint, how = counts(name), {"confidence": 0.95, "sees_s": sees_s, **limits}
    full = linred.optimal(joint, **how)
    monkeypatch.setattr(robust_optimum, "LARGEST", 0)
    found = linred.optimal(joint, **how)
    assert full.dtv() - full.gap <= found.dtv()
    assert found.dtv() - found.gap <= full.dtv(), "the bound is below the optimum"
    if sees_s and "ldp" in limits:
        assert found.dtv() < 1.1 * full.dtv()
    assert found.sees_s == sees_s
    for limit, most in limits.items():
        assert getattr(found.certified, limit) <= most
    if "ldp" in limits:
        assert found.certified.ldp > 0.99 * limits["ldp"]
    np.testing.assert_allclose(found.p_y, joint.p_x, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        np.einsum("sx,sxy->sy", joint.p_x_given_s, found.p_y_given_sx), found.p_y_given_s, rtol=0, atol=1e-14
    )


@pytest.mark.parametrize("sees_s", [True, False])
def test_no_corner_refutes_large_alphabets(sees_s, at_scale):
    for table in random_counts(5, 15):
        joint = Joint.from_counts(table)
        mechanism = linred.optimal(joint, ldp=1.0, confidence=1.0 - LEVEL, sees_s=sees_s)
        found = worst(mechanism.p_y_given_sx, *boxes(table, LEVEL))[0]
        assert found <= mechanism.certified.ldp + 1e-12
        assert mechanism.certified.ldp <= 1.0
        least = fewest_changes(table, LEVEL, ldp=1.0, sees_s=sees_s)
        assert mechanism.dtv() - mechanism.gap <= least + 1e-9
        assert least <= mechanism.dtv() + 1e-7


def test_large_alphabets_minimise_a_distortion(at_scale):
    joint = counts("adult_sex_occupation")
    n = joint.shape[1]
    d = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) / n
    found = linred.optimal(joint, ldp=0.5, confidence=0.95, distortion=d)
    fewest = linred.optimal(joint, ldp=0.5, confidence=0.95)
    assert found.certified.ldp <= 0.5
    assert found.expected_distortion(d) < fewest.expected_distortion(d)
    assert 0.0 < found.gap < found.expected_distortion(d)


@pytest.mark.parametrize("largest", [0, 10**9])
@pytest.mark.parametrize("sees_s", [True, False])
def test_a_short_time_limit_gives_a_certified_mechanism(largest, sees_s, monkeypatch):
    monkeypatch.setattr(robust_optimum, "LARGEST", largest)
    joint = counts("flights_carrier_dest" if largest == 0 else "adult_marital_status_occupation")
    begin = time.monotonic()
    with pytest.warns(NotOptimalWarning, match=r"time limit .* at most .* above the optimum"):
        mechanism = linred.optimal(joint, ldp=1.0, confidence=0.95, sees_s=sees_s, time_limit=0.0)
    assert time.monotonic() - begin < 30.0
    assert mechanism.certified.ldp <= 1.0
    assert 0.0 < mechanism.gap < mechanism.dtv() < 1.0 - joint.p_x @ joint.p_x


def test_a_failed_programme_gives_the_least_share_that_is_certified(monkeypatch):
    def fails(*_):
        raise lp.NotSolvedError("HiGHS failed")

    monkeypatch.setattr(robust_optimum, "robust_channel", fails)
    with pytest.warns(NotOptimalWarning, match="HiGHS failed"):
        mechanism = linred.optimal(counts("adult_sex_occupation"), ldp=1.0, confidence=0.95)
    share = mechanism.move[0, 0]
    assert (mechanism.move == share).all()
    assert 0.999 < mechanism.certified.ldp <= 1.0, "a smaller share would be above the target"


def test_the_floor_of_a_table_where_little_can_be_won():
    """40 times as many symbols as records of each s: nearly all records have to change, and the bound says so."""
    rng = np.random.default_rng(3)
    table = rng.multinomial(3000, np.full(20 * 600, 1.0 / 12000)).reshape(20, 600)
    with pytest.warns(NotOptimalWarning, match="time limit"):
        mechanism = linred.optimal(Joint.from_counts(table), ldp=1.0, confidence=0.95, time_limit=2.0)
    assert mechanism.dtv() > 0.9
    assert mechanism.gap < 0.12


def test_distortion_of_zero_everywhere():
    joint = counts("adult_sex_occupation")
    n = joint.shape[1]
    mechanism = linred.optimal(joint, ldp=1.0, confidence=0.95, distortion=np.zeros((n, n)))
    assert mechanism.certified.ldp <= 1.0
    assert mechanism.gap == 0.0


@pytest.mark.long
def test_73_by_717_symbols_at_a_million_records():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.full(717, 0.5)) * np.exp(0.5 * rng.standard_normal((73, 717)))
    p *= rng.dirichlet(np.ones(73))[:, None]
    joint = Joint.from_counts(rng.multinomial(10**6, (p / p.sum()).ravel()).reshape(73, 717))
    mechanism = linred.optimal(joint, ldp=1.0, confidence=0.95, time_limit=600.0)
    assert mechanism.certified.ldp <= 1.0
    assert 0.0 < mechanism.gap < mechanism.dtv() < 0.8


def test_nothing_changes_where_nothing_has_to(at_scale):
    for table in ([[30, 20, 50]], [[5000, 5000], [5100, 4900]]):
        mechanism = linred.optimal(Joint.from_counts(table), ldp=2.0, confidence=0.95)
        assert mechanism.dtv() == mechanism.gap == 0.0

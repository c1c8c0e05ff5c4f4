"""The measures against their definitions, where zeros are infinite or skipped, and refused arguments."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import entropy as scipy_entropy

import linred
from linred import Joint
from linred.privacy import metrics
from support.joints import count_tables, example_1


def brute_force(counts):
    """Every measure, from the definitions, cell by cell, over the symbols that occur."""
    p = counts / counts.sum()
    p_s, p_x = p.sum(axis=1), p.sum(axis=0)
    seen_s, seen_x = np.flatnonzero(p_s), np.flatnonzero(p_x)

    def log(numerator, denominator):
        if numerator == 0.0:
            return -math.inf
        return math.inf if denominator == 0.0 else math.log(numerator / denominator)

    given_s = p / np.where(p_s > 0, p_s, 1.0)[:, None]
    ldp = max(
        log(given_s[s, x], given_s[t, x])
        for x, s, t in itertools.product(seen_x, seen_s, seen_s)
        if given_s[s, x] or given_s[t, x]
    )
    lifts = [log(given_s[s, x], p_x[x]) for x, s in itertools.product(seen_x, seen_s)]
    information = sum(p[s, x] * log(p[s, x], p_s[s] * p_x[x]) for s, x in np.argwhere(p > 0))
    leakage = math.log(sum(given_s[seen_s, x].max() for x in seen_x))
    return {
        "ldp": ldp,
        "max_lift": max(lifts),
        "min_lift": -min(lifts),
        "log_lift": max(map(abs, lifts)),
        "mutual_information": information,
        "maximal_leakage": leakage,
    }


@given(count_tables)
def test_every_measure_equals_its_definition(counts):
    joint = Joint.from_counts(counts)
    for name, expected in brute_force(counts).items():
        for base in (math.e, 2.0):
            value = getattr(linred, name)(joint, base)
            assert value >= 0.0
            assert value == pytest.approx(expected / math.log(base), rel=1e-12, abs=1e-14), name


@given(count_tables)
def test_maxima_are_attained_where_they_say(counts):
    joint = Joint.from_counts(counts)
    given_s, p_x = joint.p_x_given_s, joint.p_x

    def log(numerator, denominator):
        return math.inf if denominator == 0.0 else math.log(numerator / denominator)

    value, (x, s, s_prime) = linred.ldp(joint, where=True)
    assert value == pytest.approx(log(given_s[s, x], given_s[s_prime, x]), rel=1e-12, abs=1e-14)
    assert joint.p_s[s] > 0
    assert joint.p_s[s_prime] > 0
    value, (x, s, _) = linred.max_lift(joint, where=True)
    assert value == pytest.approx(log(given_s[s, x], p_x[x]), rel=1e-12, abs=1e-14)
    value, (x, s, _) = linred.min_lift(joint, where=True)
    assert value == pytest.approx(log(p_x[x], given_s[s, x]), rel=1e-12, abs=1e-14)
    assert joint.p_s[s] > 0
    value, (x, s, _) = linred.log_lift(joint, where=True)
    assert value == pytest.approx(abs(log(given_s[s, x], p_x[x]) if given_s[s, x] else math.inf), rel=1e-12, abs=1e-14)


def test_example_1_in_bits(variant):
    joint = example_1()
    assert linred.ldp(joint, 2, where=True) == (pytest.approx(math.log2(5), rel=1e-15), (2, 0, 1))
    assert linred.log_lift(joint, 2, where=True) == (pytest.approx(math.log2(2.4), rel=1e-15), (1, 0, None))
    assert linred.max_lift(joint, 2, where=True) == (pytest.approx(math.log2(0.5 / 0.22), rel=1e-15), (2, 0, None))
    # errata 8: two leakages, .405 and .108 nats
    assert round(linred.maximal_leakage(joint), 3) == 0.405
    assert round(linred.alpha_leakage(joint, math.inf), 3) == 0.108


def test_zeros_are_infinite_or_skipped():
    joint = Joint([[0.25, 0.25, 0.0], [0.5, 0.0, 0.0]])
    assert linred.ldp(joint, where=True) == (math.inf, (1, 0, 1))
    assert linred.min_lift(joint, where=True) == (math.inf, (1, 1, None))
    assert linred.max_lift(joint) == pytest.approx(math.log(2))
    assert linred.log_lift(joint) == math.inf
    information = 0.25 * math.log(0.5 / 0.75) + 0.25 * math.log(0.5 / 0.25) + 0.5 * math.log(1 / 0.75)
    assert linred.mutual_information(joint) == pytest.approx(information, rel=1e-14)
    negative_zero = Joint([[0.25, 0.25], [0.5, -0.0]])
    assert linred.ldp(negative_zero) == linred.min_lift(negative_zero) == math.inf
    one = Joint([[0.3, 0.7]])
    assert linred.ldp(one) == linred.log_lift(one) == linred.mutual_information(one) == 0.0
    assert linred.maximal_leakage(one) == linred.alpha_leakage(one, 3) == 0.0


def test_a_symbol_that_never_occurs_changes_no_measure():
    counts = np.array([[3, 1, 2], [1, 5, 1]])
    padded = np.array([[0, 0, 0, 0], [3, 0, 1, 2], [1, 0, 5, 1]])
    plain, with_zeros = Joint.from_counts(counts), Joint.from_counts(padded)
    for measure in (linred.ldp, linred.log_lift, linred.max_lift, linred.min_lift, linred.maximal_leakage):
        assert measure(plain) == measure(with_zeros)
    assert linred.mutual_information(plain) == pytest.approx(linred.mutual_information(with_zeros), rel=1e-14)
    assert linred.alpha_leakage(plain, 1.5) == pytest.approx(linred.alpha_leakage(with_zeros, 1.5), rel=1e-14)
    assert linred.ldp(with_zeros, where=True)[1] == (2, 2, 1)


def test_ratios_next_to_one_and_beyond_doubles():
    tiny = 1e-12
    joint = Joint.from_conditional([[0.5, 0.5], [0.5 - tiny, 0.5 + tiny]], [0.5, 0.5])
    p = joint.p_x_given_s
    assert linred.ldp(joint) == pytest.approx(float((p[0, 0] - p[1, 0]) / p[1, 0]), rel=1e-11)
    # A ratio of 2^1074 is no double, but its log is: finite. Next to it, a larger one.
    joint = Joint.from_conditional([[0.5, 0.25, 0.25], [1.0, 5e-324, 1e-323]], [0.5, 0.5])
    assert linred.ldp(joint, where=True) == (pytest.approx(math.log(0.25) + 1074 * math.log(2)), (1, 0, 1))
    assert linred.dp(joint, ~np.eye(2, dtype=bool)) == linred.ldp(joint)
    assert linred.mutual_information(Joint([[1.0, 0.0], [0.0, 1e-310]])) == pytest.approx(1e-310 * 310 * math.log(10))


@given(count_tables)
def test_dp_of_all_pairs_is_ldp_and_of_none_is_zero(counts):
    joint = Joint.from_counts(counts)
    n_s = counts.shape[0]
    assert linred.dp(joint, np.ones((n_s, n_s), bool)) == pytest.approx(linred.ldp(joint), rel=1e-13, abs=1e-15)
    assert linred.dp(joint, np.eye(n_s, dtype=bool), where=True) == (0.0, None)


@given(count_tables, st.integers(0, 2**32 - 1))
def test_dp_is_the_largest_ldp_of_two_neighbours(counts, seed):
    joint = Joint.from_counts(counts)
    n_s = counts.shape[0]
    upper = np.triu(np.random.default_rng(seed).random((n_s, n_s)) < 0.5, 1)
    pairs = [pair for pair in np.argwhere(upper) if counts[pair].any(axis=1).all()]
    expected = max((linred.ldp(Joint.from_counts(counts[pair])) for pair in pairs), default=0.0)
    value, where = linred.dp(joint, upper | upper.T, where=True)
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-14)
    if where is not None:
        assert upper[min(where[1:]), max(where[1:])]


def test_hamming_neighbours_of_composite_labels():
    labels = list(itertools.product("ab", (0, 1, 2)))
    rng = np.random.default_rng(3)
    joint = Joint.from_conditional(rng.dirichlet(np.ones(4), 6), np.full(6, 1 / 6), s_labels=labels)
    by_hand = np.array([[sum(a != b for a, b in zip(s, t, strict=True)) == 1 for t in labels] for s in labels])
    assert linred.dp(joint, "hamming", 2, where=True) == linred.dp(joint, by_hand, 2, where=True)
    opposite = Joint([[0.2, 0.05], [0.15, 0.1], [0.1, 0.15], [0.05, 0.2]], s_labels=[(0, 0), (0, 1), (1, 0), (1, 1)])
    assert linred.dp(opposite, "hamming") == pytest.approx(math.log(3))
    assert linred.ldp(opposite) == pytest.approx(math.log(4))


ORDERS = st.one_of(st.sampled_from([1.0, 1 + 1e-12, 1.5, 2.0, 3.0, 100.0, 1e6, math.inf]), st.floats(1.0, 50.0))


@given(count_tables, ORDERS)
def test_arimoto_leakage_against_its_definition_with_many_digits(counts, order):
    joint = Joint.from_counts(counts)
    value = linred.alpha_leakage(joint, order)
    with mpmath.workdps(60):
        p = [[mpmath.mpf(int(count)) / int(counts.sum()) for count in row] for row in counts]
        p_s, columns = [mpmath.fsum(row) for row in p], list(zip(*p, strict=True))
        p_x = [mpmath.fsum(column) for column in columns]
        if order == 1.0:
            cells = [(p[s][x], p_s[s] * p_x[x]) for s, x in np.argwhere(counts)]
            expected = mpmath.fsum(a * mpmath.log(a / b) for a, b in cells)
        elif order == math.inf:
            expected = mpmath.log(mpmath.fsum(max(column) for column in columns) / max(p_s))
        else:
            alpha = mpmath.mpf(order)

            def norm(values):
                return mpmath.fsum(v**alpha for v in values if v) ** (1 / alpha) if any(values) else mpmath.mpf(0)

            expected = alpha / (alpha - 1) * mpmath.log(mpmath.fsum(map(norm, columns)) / norm(p_s))
    assert value == pytest.approx(float(expected), rel=1e-10, abs=1e-14)


@given(count_tables)
def test_leakages_are_in_their_known_order(counts):
    joint = Joint.from_counts(counts)
    information, leakage = linred.mutual_information(joint), linred.maximal_leakage(joint)
    assert information <= leakage + 1e-14 <= linred.max_lift(joint) + 2e-14
    assert linred.alpha_leakage(joint, math.inf) <= leakage + 1e-14
    assert linred.ldp(joint) <= linred.max_lift(joint) + linred.min_lift(joint) + 1e-14


@given(count_tables, ORDERS)
def test_no_order_exceeds_maximal_leakage(counts, order):
    joint = Joint.from_counts(counts)
    assert linred.alpha_leakage(joint, order) <= linred.maximal_leakage(joint) + 1e-13


EPSILONS = st.one_of(st.sampled_from([0.0, 1e-9, 0.5, math.log(2), 1.0, 5.0, 1e4, math.inf]), st.floats(0.0, 4.0))


@given(count_tables, EPSILONS)
def test_delta_against_its_definition(counts, epsilon):
    joint = Joint.from_counts(counts)
    with mpmath.workdps(40):
        factor, rows = (
            mpmath.exp(epsilon),
            [[mpmath.mpf(n) / sum(row) for n in row] for row in counts.tolist() if any(row)],
        )

        def excess(p, q):
            return mpmath.fsum(max(mpmath.mpf(0), a - factor * b if b else a) for a, b in zip(p, q, strict=True))

        expected = float(max(excess(p, q) for p in rows for q in rows))
    value, (s, s_prime) = linred.delta(joint, epsilon, where=True)
    assert value == linred.delta(joint, epsilon) == pytest.approx(expected, abs=1e-14)
    assert joint.p_s[s] > 0.0
    assert joint.p_s[s_prime] > 0.0
    if epsilon < 100.0:
        attained = np.maximum(joint.p_x_given_s[s] - math.exp(epsilon) * joint.p_x_given_s[s_prime], 0.0).sum()
        assert value == pytest.approx(attained, abs=1e-14)


@given(count_tables)
def test_delta_between_total_variation_and_ldp(counts):
    joint = Joint.from_counts(counts)
    p = joint.p_x_given_s[joint.p_s > 0.0]
    assert linred.delta(joint, 0.0) == pytest.approx(0.5 * np.abs(p[:, None] - p).sum(axis=2).max(), abs=1e-14)
    epsilon = linred.ldp(joint)
    if epsilon < math.inf:
        assert linred.delta(joint, epsilon) <= 1e-14
    else:
        excluded = max(row[other == 0.0].sum() for row in p for other in p)
        assert linred.delta(joint, math.inf) == pytest.approx(excluded, abs=1e-14)


def test_delta_of_probabilities_near_the_smallest_double():
    """e^epsilon overflows, but not its product with 5e-324: at 740 that is about 0.02, and at 750 above one."""
    joint = Joint.from_conditional([[0.5, 0.5], [1.0, 5e-324]], [0.5, 0.5])
    for epsilon in (700.0, 740.0, 744.0, 750.0):
        with mpmath.workdps(30):
            expected = float(max(0, mpmath.mpf(0.5) - mpmath.exp(epsilon) * mpmath.mpf(5e-324)))
        assert linred.delta(joint, epsilon) == pytest.approx(expected, rel=1e-12)


def test_delta_in_slices(monkeypatch):
    joint = Joint(np.random.default_rng(4).dirichlet(np.ones(35)).reshape(7, 5))
    whole = [linred.delta(joint, epsilon, where=True) for epsilon in (0.0, 0.3, 1.0)]
    monkeypatch.setattr(metrics, "SLICE", 11)  # two rows, two, two and one
    assert [linred.delta(joint, epsilon, where=True) for epsilon in (0.0, 0.3, 1.0)] == whole


@given(count_tables)
def test_the_max_lift_of_each_symbol(counts):
    joint = Joint.from_counts(counts)
    n, n_s, n_x = int(counts.sum()), counts.sum(axis=1), counts.sum(axis=0)
    expected = [
        math.log2(max(n * int(counts[s, x]) / (int(n_s[s]) * int(n_x[x])) for s in np.flatnonzero(n_s)))
        if n_x[x]
        else 0.0
        for x in range(counts.shape[1])
    ]
    lifts = linred.max_lift(joint, 2, by_y=True)
    assert lifts == pytest.approx(expected, rel=1e-12, abs=1e-14)
    assert lifts.max() == pytest.approx(linred.max_lift(joint, 2), rel=1e-14)
    assert joint.p_x @ np.exp2(lifts) == pytest.approx(2.0 ** linred.maximal_leakage(joint, 2), rel=1e-12)


def test_entropy_is_scipys():
    p = np.array([0.5, 0.0, 0.3, 0.2])
    assert metrics.entropy(p) == pytest.approx(scipy_entropy(p), rel=1e-15)


BAD = [
    (lambda joint: linred.ldp(joint, base=1), "base = 1.0 is not a finite number above 1"),
    (lambda joint: linred.ldp(joint, base=math.nan), "base = nan is outside"),
    (lambda joint: linred.log_lift(joint, base="2b"), "base is a str, not a number"),
    (lambda joint: linred.ldp(joint, base="2"), "base is a str, not a number"),
    (lambda joint: linred.alpha_leakage(joint, 0.5), r"order = 0.5 is outside \[1, inf\]"),
    (lambda joint: linred.alpha_leakage(joint, math.nan), "order = nan"),
    (
        lambda joint: linred.dp(joint, np.ones((2, 2))),
        "neighbors has dtype float64: give a matrix of True and False",
    ),
    (lambda joint: linred.dp(joint, np.ones((3, 3), bool)), r"shape \(3, 3\)"),
    (
        lambda joint: linred.dp(joint, np.array([[0, 1], [0, 0]], bool)),
        r"neighbors= is not symmetric: \[0, 1\] is True",
    ),
    (lambda joint: linred.dp(joint, "hamming"), r"s_labels\[0\] is not a tuple, which"),
    (lambda joint: linred.dp(joint, "manhattan"), "neighbors = 'manhattan' is not 'hamming', a matrix or a function"),
    (lambda joint: linred.delta(joint, -1.0), r"epsilon = -1.0 is outside \[0, inf\]"),
    (lambda joint: linred.delta(joint, math.nan), "epsilon = nan is outside"),
    (
        lambda joint: linred.max_lift(joint, where=True, by_y=True),
        "^where= and by_y= are both True: .* leave where out$",
    ),
    (lambda joint: linred.max_lift(joint, by_y="x"), "by_y = 'x' is not True or False"),
    (lambda joint: linred.max_lift(joint, base=1, by_y=True), "base = 1.0 is not a finite number above 1"),
]


@pytest.mark.parametrize(("measure", "message"), BAD)
def test_bad_arguments_are_named(measure, message):
    with pytest.raises(ValueError, match=message):
        measure(example_1())


def test_a_matrix_is_not_a_joint():
    for measure in (linred.ldp, linred.log_lift, linred.mutual_information, linred.maximal_leakage):
        with pytest.raises(TypeError, match=r"joint is a numpy.ndarray, not a linred\.Joint"):
            measure(np.eye(2))

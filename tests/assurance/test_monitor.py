"""The monitor: its evidence against exact twins, rates of false alarms and of detected drifts, and wrong inputs."""

import itertools
import math
import pickle
import warnings
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats
from scipy.special import xlogy

import linred
from linred.assurance import monitor as drift
from linred.assurance.monitor import Monitor
from linred.errors import DriftError, DriftWarning
from support.joints import adult

ERROR_RATE = 1e-6
"""That a monitor which keeps its promise fails the test of its false alarms."""


def mechanism_of(counts, s_labels=None, x_labels=None):
    return linred.markov(linred.Joint.from_counts(counts, s_labels, x_labels), 0.5)


def monitor_of(counts, **how):
    return Monitor(mechanism_of(counts), **how)


def feed(monitor, counts):
    """A batch with these counts of (s, x); a last column may be there, for x outside the alphabet."""
    counts = np.asarray(counts)
    s, x = np.nonzero(counts)
    monitor.update_codes(np.repeat(s, counts[s, x]), np.repeat(x, counts[s, x]))


def drawn(rng, n_records, p_s, p_x_given_s):
    """Counts of (s, x) of so many records."""
    return np.array([rng.multinomial(n, p) for n, p in zip(rng.multinomial(n_records, p_s), p_x_given_s, strict=True)])


def moved(p, tv):
    """p with `tv` moved from the symbols of even places to the others, in proportion."""
    even, q = np.arange(p.size) % 2 == 0, p.copy()
    q[even] *= 1.0 - tv / p[even].sum()
    q[~even] *= 1.0 + tv / p[~even].sum()
    return q


# The twins: exact, by the definitions in the docstring of linred.assurance.monitor.


def compositions(n, k):
    """All counts of n records in k categories."""
    for bars in itertools.combinations(range(n + k - 1), k - 1):
        ends = (-1, *bars, n + k - 1)
        yield tuple(right - left - 1 for left, right in itertools.pairwise(ends))


def n_sequences(counts):
    return math.factorial(sum(counts)) // math.prod(map(math.factorial, counts))


def twin_price(m, k):
    numerator = 0
    for i in range(m + 1):
        numerator = numerator * 2 * max(m, 1) + math.comb(i + k - 2, i) * math.perm(m, i)
    return Fraction(numerator, (2 * max(m, 1)) ** m)


def twin_predictive(c, n):
    """Q of one sequence with the counts n, record by record by the predictive rule."""
    m, k, total = sum(c), len(c), Fraction(0)
    sequence = [x for x, times in enumerate(n) for _ in range(times)]
    for concentration in map(int, drift.CONCENTRATIONS):
        weight = [concentration * (Fraction(count) + Fraction(1, 2)) / (m + Fraction(k, 2)) for count in c]
        p = Fraction(1)
        for x in sequence:
            p *= weight[x] / sum(weight)
            weight[x] += 1
        total += p
    return total / len(drift.CONCENTRATIONS)


def log_objective(c, n, p):
    """log of prod ((h + P) / 2P)^c / P^n; infinite where P rules out what was seen."""
    total = mpmath.mpf(0)
    for count, times, one in zip(c, n, p, strict=True):
        if count + times:
            if one <= 0:
                return mpmath.inf
            total += count * mpmath.log((mpmath.mpf(count) / sum(c) + one) / 2) - (count + times) * mpmath.log(one)
    return total


def twin_worst(c, n):
    """The minimum over P: each P_x by bisection of its own stationarity, and the multiplier by bisection as well."""
    m = sum(c)
    some = [(mpmath.mpf(a), mpmath.mpf(a) / m, mpmath.mpf(a + b)) for a, b in zip(c, n, strict=True) if a + b]

    def bisect(falls, low, high):
        for _ in range(70):
            middle = (low + high) / 2
            low, high = (middle, high) if falls(middle) > 0 else (low, middle)
        return low

    def p_of(v):
        return [
            bisect(lambda p, a=a, h=h, t=t: t / p - a / (h + p) - v, mpmath.mpf(0), mpmath.mpf(2)) for a, h, t in some
        ]

    v = bisect(lambda v: sum(p_of(v)) - 1, mpmath.mpf(m) / 4, mpmath.mpf(2 * (m + sum(n))))
    found = iter(p_of(v))
    return log_objective(c, n, [next(found) if a + b else 0 for a, b in zip(c, n, strict=True)])


def twin_evidence(c, n):
    """log E_s; c and n have a last entry for x outside the alphabet."""
    q, g = twin_predictive(c, n), twin_price(sum(c), len(c))
    return twin_worst(c, n) + mpmath.log(mpmath.mpf(q.numerator) / q.denominator * g.denominator / g.numerator)


SIMPLEX = [
    (Fraction(1, 3),) * 3,
    (Fraction(1), Fraction(0), Fraction(0)),
    (Fraction(1, 100), Fraction(9, 100), Fraction(9, 10)),
]


@pytest.mark.parametrize("p", SIMPLEX, ids=str)
def test_the_price_is_the_sum_that_the_proof_says_whatever_p_is(p):
    """Step (1) of the proof, in Fractions: an equality, not a bound."""
    for m in range(1, 7):
        total = Fraction(0)
        for c in compositions(m, 3):
            term = math.prod(((Fraction(a, m) + b) / 2) ** a for a, b in zip(c, p, strict=True))
            total += n_sequences(c) * term
        assert total == twin_price(m, 3)


@pytest.mark.parametrize("k", [2, 3, 16, 101])
def test_the_price_is_at_or_just_above_the_exact_sum(k):
    for m in (0, 1, 2, 7, 50, 200 + 2 * k, 201 + 2 * k, 1500):
        exact = twin_price(m, k)
        truth = float(mpmath.log(mpmath.mpf(exact.numerator) / exact.denominator))
        assert -1e-12 * (1 + truth) <= drift._log_price(m, k) - truth <= 1e-9, m
        assert truth <= (k - 1) * math.log(2.0)


def test_evidence_is_that_of_the_twin():
    rng = np.random.default_rng(1)
    with mpmath.workdps(20):
        for n_s, n_x in [(1, 1), (1, 2), (2, 3), (3, 2)]:
            c = rng.integers(0, 5, (n_s, n_x)) * rng.integers(0, 2, (n_s, n_x))
            c[0, 0] += 2
            monitor, total = monitor_of(c), np.zeros((n_s, n_x + 1), int)
            for _ in range(2):
                batch = rng.integers(0, 4, total.shape) * rng.integers(0, 2, total.shape)
                feed(monitor, batch)
                total += batch
            rows = [s for s in range(n_s) if c[s].any()]
            twins = {s: twin_evidence((*c[s].tolist(), 0), total[s].tolist()) for s in rows}
            mean = mpmath.log(sum(map(mpmath.exp, twins.values())) / len(rows))
            assert monitor.evidence == pytest.approx(float(mean), abs=1e-9)
            for s in range(n_s):
                assert monitor.evidence_given_s[s] == pytest.approx(float(twins.get(s, -mpmath.inf)), abs=1e-9)
            assert monitor.strongest == max(twins, key=twins.get)


def test_no_distribution_is_below_the_worst_one_that_was_found():
    """The minimum over P, from below, for counts from few to many: against many P, and against the twin."""
    rng = np.random.default_rng(2)
    for run in range(100):
        k, sizes = int(rng.integers(2, 6)), (10.0 ** rng.uniform(0, 6, 2)).astype(int)
        c, n = (rng.multinomial(size, rng.dirichlet(np.full(k, 0.5))) for size in sizes)
        (worst,), slack = drift._log_worst(c[None].astype(float), n[None].astype(float)), 1e-13 * sizes.sum()
        h = c / c.sum()
        near = [w * h + (1 - w) * n / n.sum() for w in np.linspace(0.0, 1.0, 21)]
        for p in [*near, *rng.dirichlet(np.ones(k), 20)]:
            assert worst <= (xlogy(c, 0.5 * (h + p)) - xlogy(c + n, p)).sum() + slack
        if run < 5:
            with mpmath.workdps(25):
                assert worst == pytest.approx(float(twin_worst(c.tolist(), n.tolist())), abs=slack)


def test_the_predictive_is_a_distribution_of_sequences():
    """Step (2) of the proof, in Fractions: what the next record adds sums to what was there before."""
    for c in [(0, 1, 3), (5, 0, 0), (2, 2, 7)]:
        for n in [(0, 0, 0), (1, 0, 4), (3, 2, 0)]:
            after = sum(twin_predictive(c, (*n[:x], n[x] + 1, *n[x + 1 :])) for x in range(3))
            assert after == twin_predictive(c, n)
        assert twin_predictive(c, (0, 0, 0)) == 1


TRUTHS = [
    (Fraction(1, 2), Fraction(1, 2), Fraction(0)),
    (Fraction(1, 10), Fraction(9, 10), Fraction(0)),
    (Fraction(1), Fraction(0), Fraction(0)),
    (Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)),
]


@pytest.mark.parametrize("p", TRUTHS, ids=str)
@pytest.mark.parametrize("m", [1, 3])
def test_the_mean_is_at_most_one_at_the_best_time_to_stop(p, m):
    """Over all calibrations of m records and all streams of four, stopped when it pays most: an e-process.

    Exact but for the doubles of E itself. The last category is that of x outside the alphabet."""
    p = [float(one) for one in p]

    @cache
    def best(c, n):
        now = math.exp(_log_evidence(c, n))
        if sum(n) == 4:
            return now
        later = (p[x] * best(c, (*n[:x], n[x] + 1, *n[x + 1 :])) for x in range(3) if p[x])
        return max(now, sum(later))

    calibrations = list(compositions(m, 3))
    chance = [n_sequences(c) * math.prod(one**a for one, a in zip(p, c, strict=True)) for c in calibrations]
    assert sum(chance) == pytest.approx(1.0)
    mean = sum(weight * best(c, (0, 0, 0)) for weight, c in zip(chance, calibrations, strict=True) if weight)
    assert 0.05 < mean <= 1.0 + 1e-12


def _log_evidence(c, n):
    c, n = np.array([c], float), np.array([n], float)
    return float((drift._log_predictive(c, n) + drift._log_worst(c, n))[0]) - drift._log_price(int(c.sum()), c.shape[1])


# Statistics.

P_S = np.array([0.2, 0.3, 0.5])
P_X_GIVEN_S = np.random.default_rng(3).dirichlet(np.ones(6), 3)


def alarms(seed, n_runs, *, n_calibration, batches, confidence):
    """How many of the runs without drift ever alarm; each has a calibration of its own."""
    rng, n_alarms = np.random.default_rng(seed), 0
    for _ in range(n_runs):
        monitor = monitor_of(drawn(rng, n_calibration, P_S, P_X_GIVEN_S), confidence=confidence, on_drift="error")
        try:
            for size in batches:
                feed(monitor, drawn(rng, size, P_S, P_X_GIVEN_S))
        except DriftError:
            n_alarms += 1
    return n_alarms


def check_false_alarms(n_runs, **how):
    """At most 1 - confidence of the runs: a monitor that keeps it fails with probability ERROR_RATE at most."""
    n_alarms = alarms(4, n_runs, **how)
    assert stats.binom.sf(n_alarms - 1, n_runs, 1.0 - how["confidence"]) > ERROR_RATE, n_alarms


GEOMETRIC = [10] * 4 + [100] * 4 + [1000] * 4
SHAPES = [(200, GEOMETRIC), (2000, GEOMETRIC), (30, [3] * 12)]


@pytest.mark.parametrize(("n_calibration", "batches"), SHAPES)
def test_false_alarms(n_calibration, batches):
    check_false_alarms(200, n_calibration=n_calibration, batches=batches, confidence=0.95)


@pytest.mark.long
@pytest.mark.parametrize("confidence", [0.5, 0.95])
@pytest.mark.parametrize(("n_calibration", "batches"), SHAPES)
def test_false_alarms_in_many_runs(n_calibration, batches, confidence):
    check_false_alarms(2000, n_calibration=n_calibration, batches=batches, confidence=confidence)


def test_the_test_of_false_alarms_has_teeth(monkeypatch):
    """A monitor that takes the calibration for the truth alarms without drift, and is caught."""
    monkeypatch.setattr(
        drift, "_log_worst", lambda c, n: -xlogy(n, (c + 0.5) / (c + 0.5).sum(axis=1)[:, None]).sum(axis=1)
    )
    with pytest.raises(AssertionError):
        check_false_alarms(200, n_calibration=200, batches=GEOMETRIC, confidence=0.95)


def first_alarm(seed, joint, p_x_given_s, sizes):
    """After how many records a stream from these P(x|s) is found, at confidence .999; infinite if it is not."""
    rng = np.random.default_rng(seed)
    n_s = joint.counts.sum(axis=1)
    counts = np.array([rng.multinomial(n, p) for n, p in zip(n_s, joint.p_x_given_s, strict=True)])
    monitor = monitor_of(counts, on_drift="error")
    for size in sizes:
        try:
            feed(monitor, drawn(rng, size, joint.p_s, p_x_given_s))
        except DriftError:
            return monitor.drifted_at
    return math.inf


def test_a_drift_of_one_s_is_found_on_adult():
    """P(x|s) of the second largest s, a third of the records, moved by a total variation of .1: by record 15,000 in
    all of 20 runs. (Dirichlet predictives over the pooled maximum, the plain way, need some 20,000.)"""
    joint, s = adult(), 4
    p_x_given_s = joint.p_x_given_s.copy()
    p_x_given_s[s] = moved(p_x_given_s[s], 0.1)
    assert 0.5 * np.abs(p_x_given_s[s] - joint.p_x_given_s[s]).sum() == pytest.approx(0.1)
    found = [first_alarm(seed, joint, p_x_given_s, [1000] * 15) for seed in range(20)]
    assert max(found) <= 15_000, found


def test_a_drift_of_one_s_is_found_in_a_small_table():
    """4 x 12 symbols, 100,000 records of calibration: a total variation of .1 in one s within 15,000 records."""
    joint = linred.Joint.from_counts(np.random.default_rng(5).dirichlet(np.ones(12), 4).round(3) * 25_000 // 1)
    p_x_given_s = joint.p_x_given_s.copy()
    p_x_given_s[2] = moved(p_x_given_s[2], 0.1)
    found = [first_alarm(seed, joint, p_x_given_s, [500] * 30) for seed in range(20)]
    assert max(found) <= 15_000, found


def test_a_change_of_p_s_alone_is_no_drift():
    rng = np.random.default_rng(6)
    for _ in range(20):
        monitor = monitor_of(drawn(rng, 5000, P_S, P_X_GIVEN_S), on_drift="error")
        for p_s in ([0.9, 0.05, 0.05], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]):
            feed(monitor, drawn(rng, 5000, np.array(p_s), P_X_GIVEN_S))


def test_a_long_stream_is_no_drift_where_a_test_against_the_estimate_says_so():
    """20 times as long as the calibration. The chi-square against P(x|s) as estimated rejects, at 1e-3, in most runs:
    its statistic is 21 times what it should be."""
    rng, n_rejected = np.random.default_rng(7), 0
    for _ in range(20):
        counts = drawn(rng, 2000, P_S, P_X_GIVEN_S)
        monitor, stream = monitor_of(counts, on_drift="error"), np.zeros_like(counts)
        for _ in range(20):
            batch = drawn(rng, 2000, P_S, P_X_GIVEN_S)
            feed(monitor, batch)
            stream += batch
        assert not monitor.drifted
        expected = stream.sum(axis=1, keepdims=True) * counts / counts.sum(axis=1, keepdims=True)
        some = expected > 0.0
        statistic = ((stream - expected)[some] ** 2 / expected[some]).sum()
        n_rejected += stats.chi2.sf(statistic, some.sum() - 3) < 1e-3
    assert n_rejected >= 18, n_rejected


# Manners.

COUNTS = [[60, 30, 10], [10, 30, 60]]
S_LABELS, X_LABELS = ["f", "m"], ["a", "bb", "ccc"]
S, X = ["f", "m", "f", "m", "m"] * 20, ["a", "ccc", "bb", "bb", "ccc"] * 20
MECHANISM = mechanism_of(COUNTS, S_LABELS, X_LABELS)


@pytest.mark.filterwarnings("ignore::linred.errors.DriftWarning")
def test_order_and_batches_do_not_matter():
    rng = np.random.default_rng(8)
    s, x = rng.integers(0, 3, 3000), rng.integers(0, 4, 3000)
    whole = monitor_of(COUNTS)
    whole.update_codes(s, x)
    for _ in range(5):
        order, cuts = rng.permutation(3000), np.sort(rng.integers(0, 3000, 6))
        parts = monitor_of(COUNTS)
        for part in np.split(order, cuts):
            parts.update_codes(s[part], x[part])
        assert parts.evidence == pytest.approx(whole.evidence, abs=1e-9)
        assert parts.evidence_given_s == pytest.approx(whole.evidence_given_s, abs=1e-9)
        assert (parts.n_records, parts.n_unseen, parts.strongest) == (3000, whole.n_unseen, whole.strongest)


KINDS = {
    "tuple": tuple,
    "numpy": np.array,
    "numpy object": lambda x: np.array(x, object),
    "pandas": pd.Series,
    "pandas category": lambda x: pd.Series(x, dtype="category"),
    "polars": pl.Series,
    "polars Enum": lambda x: pl.Series(x, dtype=pl.Enum(sorted(set(x)))),
    "arrow": pa.array,
    "arrow dictionary": lambda x: pa.array(x).dictionary_encode(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_columns(kind):
    plain, other = Monitor(MECHANISM), Monitor(MECHANISM)
    plain.update(S, X)
    other.update(KINDS[kind](S), KINDS[kind](X))
    assert other.evidence == plain.evidence
    assert (other.n_records, other.n_unseen) == (100, 0)


def test_codes_and_columns_are_the_same():
    columns, codes = Monitor(MECHANISM), Monitor(MECHANISM)
    columns.update([*S, "?", "f", None], [*X, "a", "?", None])
    s = [S_LABELS.index(one) for one in S] + [2, 0, 2]
    x = [X_LABELS.index(one) for one in X] + [0, 3, 3]
    codes.update_codes(np.array(s, np.uint8), np.array(x, np.int64))
    assert codes.evidence == columns.evidence
    assert codes.n_unseen == columns.n_unseen == 3
    assert codes.n_records == columns.n_records == 103


def test_records_of_an_unknown_s_are_only_counted():
    monitor = Monitor(MECHANISM)
    before = monitor.evidence
    monitor.update(["?"] * 5000, ["a"] * 5000)
    assert (monitor.n_records, monitor.n_unseen, monitor.evidence) == (5000, 5000, before)


def test_an_s_without_calibration_is_only_counted():
    monitor = monitor_of([[60, 30, 10], [0, 0, 0], [10, 30, 60]])
    before = monitor.evidence
    monitor.update_codes([1] * 5000, [0] * 5000)
    assert (monitor.n_records, monitor.n_unseen, monitor.evidence) == (5000, 0, before)
    assert monitor.evidence_given_s[1] == -math.inf


def test_new_values_of_x_are_a_drift():
    """One record in ten with a value that the calibration of 1,000 records of each s never had."""
    monitor = Monitor(mechanism_of(10 * np.array(COUNTS), S_LABELS, X_LABELS))
    with pytest.warns(DriftWarning):
        monitor.update(["f"] * 1000, ["a"] * 540 + ["bb"] * 270 + ["ccc"] * 90 + ["new"] * 100)
    assert (monitor.strongest, monitor.n_unseen) == ("f", 100)


def test_it_needs_s_also_where_the_mechanism_does_not():
    assert not MECHANISM.sees_s
    with pytest.raises(ValueError, match=r"^s is None: drift is a change of P\(x\|s\), so a monitor needs s even if"):
        Monitor(MECHANISM).update(None, X)


def test_it_warns_once_and_stays_alarmed():
    monitor = Monitor(MECHANISM)
    monitor.update(S, X)
    assert (monitor.drifted, monitor.drifted_at) == (False, None)
    with pytest.warns(
        DriftWarning, match=r"^DRIFT: the stream no longer .* no longer holds \(detected at record 600\)$"
    ) as seen:
        monitor.update(["f"] * 500, ["ccc"] * 500)
    assert len(seen) == 1
    assert seen[0].filename == __file__
    monitor.update(["f"] * 10, ["ccc"] * 10)  # a second warning would be an error here
    at_alarm = monitor.evidence
    monitor.update(["f"] * 5000, ["a"] * 3000 + ["bb"] * 2000)
    assert monitor.evidence < at_alarm
    assert (monitor.drifted, monitor.drifted_at, monitor.n_records) == (True, 600, 5610)


def test_it_raises_at_every_update_and_counts_the_batch():
    monitor = Monitor(MECHANISM, on_drift="error")
    monitor.update(S, X)
    for n_records in (600, 1100):
        with pytest.raises(DriftError, match=r"^DRIFT: the stream no longer .* \(detected at record 600\)$"):
            monitor.update(["f"] * 500, ["ccc"] * 500)
        assert monitor.n_records == n_records
    with pytest.raises(DriftError):
        monitor.update([], [])
    with pytest.raises(DriftError):
        monitor.update_codes([0], [0])


def test_the_alarm_is_at_the_limit():
    """The same stream, with the limit just above and just below its evidence."""
    monitor = Monitor(MECHANISM, confidence=1 - 1e-15)
    monitor.update(["f"] * 60, ["ccc"] * 20 + ["a"] * 40)
    assert 3.0 < monitor.evidence < 20.0
    for off, drifted in ((-1e-6, True), (1e-6, False)):
        other = Monitor(MECHANISM, confidence=-math.expm1(-monitor.evidence - off))
        assert other.limit == pytest.approx(monitor.evidence + off, abs=1e-8)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DriftWarning)
            other.update(["f"] * 60, ["ccc"] * 20 + ["a"] * 40)
        assert other.drifted is drifted


def test_what_a_person_reads():
    monitor = Monitor(MECHANISM)
    monitor.update(S, X)
    lines = str(monitor).splitlines()
    assert lines[0] == "Drift monitor: 100 records observed; 200 in the calibration"
    assert lines[1].endswith("the alarm is raised at 6.9 (confidence 0.999)")
    assert lines[3] == "No drift detected"
    with pytest.warns(DriftWarning):
        monitor.update(["m"] * 501, ["a"] * 500 + ["?"])
    lines = str(monitor).splitlines()
    assert (
        lines[0] == "Drift monitor: 601 records observed, 1 with values outside the alphabets; 200 in the calibration"
    )
    assert lines[3].startswith(
        "DRIFT: the stream no longer comes from the distribution that the mechanism was fitted on; "
    )
    assert lines[2].startswith("Largest evidence within one value of S: ")
    assert "'m'" not in str(monitor), "it may go to a log"
    assert "drift in 601 records" in repr(monitor)


def test_it_can_be_kept_and_taken_up_again():
    monitor, whole = Monitor(MECHANISM), Monitor(MECHANISM)
    monitor.update(S, X)
    again = pickle.loads(pickle.dumps(monitor))
    again.update(S, X)
    whole.update(S * 2, X * 2)
    assert again.evidence == whole.evidence
    assert monitor.n_records == 100


def test_two_monitors_of_one_mechanism_share_nothing():
    one, other = Monitor(MECHANISM), Monitor(MECHANISM)
    one.update(S, X)
    one.evidence_given_s[:] = 100.0
    assert (other.n_records, other.evidence) == (0, Monitor(MECHANISM).evidence)
    assert one.evidence < 0.0
    assert MECHANISM.joint.counts.tolist() == COUNTS


@pytest.mark.parametrize(
    ("error", "message", "make"),
    [
        (TypeError, "mechanism is a int, not a linred.Mechanism", lambda: Monitor(3)),
        (
            ValueError,
            "mechanism was built from probabilities, without counts: fit it on records to monitor it",
            lambda: Monitor(linred.markov(linred.Joint([[0.5, 0.5]]), 0.5)),
        ),
        (ValueError, "confidence is a str, not a number", lambda: Monitor(MECHANISM, confidence="x")),
        (ValueError, "confidence = nan is not a number", lambda: Monitor(MECHANISM, confidence=math.nan)),
        (
            ValueError,
            "confidence = 1.0 is not between 0 and 1: 0.95 means 95 %",
            lambda: Monitor(MECHANISM, confidence=1),
        ),
        (
            ValueError,
            "confidence = 0.0 is not between 0 and 1: 0.95 means 95 %",
            lambda: Monitor(MECHANISM, confidence=0.0),
        ),
        (ValueError, "on_drift = 'ignore' is not 'warn' or 'error'", lambda: Monitor(MECHANISM, on_drift="ignore")),
        (ValueError, "on_drift = None is not 'warn' or 'error'", lambda: Monitor(MECHANISM, on_drift=None)),
    ],
)
def test_wrong_monitors(error, message, make):
    with pytest.raises(error) as raised:
        make()
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("message", "update"),
    [
        ("s has 2 records and x has 1", lambda monitor: monitor.update(["f", "m"], ["a"])),
        ("s is a str, not a column of records in order", lambda monitor: monitor.update("fm", ["a", "a"])),
        ("x is a int, not a column of records in order", lambda monitor: monitor.update(["f"], 3)),
        (
            "x[1] is a list that is not hashable: use text, numbers or tuples of these",
            lambda monitor: monitor.update(["f", "m"], ["a", []]),
        ),
        ("s_codes[1] is not a code below 3", lambda monitor: monitor.update_codes([0, 3], [0, 0])),
        ("x_codes[0] is not a code below 4", lambda monitor: monitor.update_codes([0, 1], [-1, 0])),
        ("s_codes has 2 records and x_codes 1", lambda monitor: monitor.update_codes([0, 1], [0])),
        (
            "x_codes has shape (1,) and dtype float64, not a column of integer codes",
            lambda monitor: monitor.update_codes([0], [0.5]),
        ),
    ],
)
def test_a_batch_that_is_refused_changes_nothing(message, update):
    monitor = Monitor(MECHANISM)
    monitor.update(S, X)
    before = pickle.dumps(monitor)
    with pytest.raises(ValueError, match=r"^[^\n]*$") as raised:
        update(monitor)
    assert str(raised.value) == message
    assert pickle.dumps(monitor) == before


def test_sanitising_shows_the_monitor_what_is_returned_and_nothing_else():
    mechanism = linred.non_markov(linred.Joint.from_counts([[600, 400], [300, 700]], ["f", "m"], ["a", "b"]), 0.5)
    monitor = Monitor(mechanism)
    mechanism.sanitize(["f", "m"], ["a", "b"], monitor=monitor)
    assert monitor.n_records == 2
    with pytest.raises(ValueError, match="not in the mechanism's alphabet"):
        mechanism.sanitize(["f", "m"], ["a", "zebra"], monitor=monitor)
    assert (monitor.n_records, monitor.n_unseen) == (2, 0)
    strict = Monitor(mechanism, on_drift="error")
    with pytest.raises(DriftError):
        mechanism.sanitize(["f"] * 3000, ["b"] * 3000, monitor=strict)

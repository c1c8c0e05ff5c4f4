"""`linred.fit`: certified targets, and their price in changed records.

Coverage tests fail with probability 1e-6 each if the guarantee holds (`populations.check_failures`). Fixed seeds.
"""

import math
import re
from dataclasses import replace

import numpy as np
import pytest

import linred
from linred.privacy.target import Target
from support import populations
from support.joints import adult


def with_confidence(table, confidence=0.95, **how):
    joint = table if isinstance(table, linred.Joint) else linred.Joint.from_counts(table)
    return linred.optimal(joint, confidence=confidence, **how)


def n_missed(shape, n, n_fits, seed, confidence, **asked):
    """Return how often the true figures exceed the target, over fits on fresh records, and the changed records."""
    rng, truth, missed, changed = np.random.default_rng(seed), populations.population(shape), 0, []
    for _ in range(n_fits):
        table = populations.drawn(truth, n, rng)
        mechanism = with_confidence(table, confidence=confidence, **asked)
        missed += not mechanism.target.is_met_by(_without_rounding(populations.told(mechanism, truth)))
        changed.append(mechanism.dtv())
    return missed, changed


def _without_rounding(privacy):
    return replace(privacy, ldp=privacy.ldp * (1 - 1e-9), log_lift=privacy.log_lift * (1 - 1e-9))


CASES = [
    ("example 1", 3000, {"ldp": 0.8}),
    ("rare s", 4000, {"log_lift": 0.5}),
    ("zeros", 2000, {"ldp": 1.0, "sees_s": False}),
]


@pytest.mark.parametrize("n_fits", [200, pytest.param(2000, marks=pytest.mark.long)])
@pytest.mark.parametrize(("shape", "n", "asked"), CASES)
def test_targets_are_met_with_confidence(shape, n, asked, n_fits):
    missed, changed = n_missed(shape, n, n_fits, 1, 0.8, **asked)
    populations.check_failures(missed, n_fits, 0.8)
    assert np.median(changed) < 0.7, "drawing Y independently of X would also pass"


@pytest.mark.long
@pytest.mark.parametrize("asked", [{"ldp": 0.8}, {"log_lift": 0.5}, {"ldp": 1.0, "log_lift": 0.6}], ids=str)
@pytest.mark.parametrize("n", [200, 3000, 50_000])
@pytest.mark.parametrize("shape", populations.SHAPES)
def test_targets_are_met_with_confidence_whatever_the_shape(shape, n, asked):
    missed, _ = n_missed(shape, n, 100, 2, 0.9, **asked)
    populations.check_failures(missed, 100, 0.9)


def test_adult_end_to_end():
    """Plug-in, certified and worst-case prices together."""
    mechanism = linred.fit(*records_of(adult()), ldp=1.0, confidence=0.95)
    design, certified = mechanism.design, mechanism.certified
    assert mechanism.dtv() == design.dtv == pytest.approx(0.02400, abs=5e-5)
    assert design.dtv_plug_in == pytest.approx(0.0083645, rel=1e-4)
    assert 0.89 < design.dtv_ceiling < 0.91
    assert certified.ldp == pytest.approx(1.0, abs=1e-6)
    assert certified.confidence == 0.95
    assert certified.together
    assert mechanism.sampler().certificate().met
    assert (design.n_fitted, design.n_held_out) == (48_842, 0)
    assert all(text in str(design) for text in ("2.40 %", "0.84 %", "90.28 %"))


def records_of(joint):
    """Return columns with the counts of a Joint."""
    s, x = np.nonzero(joint.counts)
    n = joint.counts[s, x]
    return ([labels[i] for i in np.repeat(codes, n)] for codes, labels in ((s, joint.s_labels), (x, joint.x_labels)))


def test_rare_pairs_are_named():
    """An s with three records, each in a pair of its own, can only be certified by changing nearly all of them."""
    table = np.array([[4000, 3000, 2000, 1000], [1, 0, 1, 1], [3000, 3000, 3000, 1000]])
    mechanism = with_confidence(table, ldp=0.2)
    assert mechanism.design.redrawn_s == (1,)
    assert mechanism.design.redrawn_x == ()
    assert mechanism.design.redrawn == pytest.approx(3 / table.sum())


def test_the_marginal_is_kept():
    for how in ({}, {"sees_s": False}):
        mechanism = with_confidence(adult(), ldp=1.0, **how)
        joint = mechanism.joint
        released = np.einsum("sx,sxy->sy", joint.p_x_given_s, mechanism.p_y_given_sx)
        np.testing.assert_allclose(joint.p_s @ released, joint.p_x, rtol=1e-9)
        np.testing.assert_allclose(released, mechanism.p_y_given_s, rtol=1e-9)
        np.testing.assert_allclose(mechanism.p_y, joint.p_x, rtol=1e-12)
        assert mechanism.sees_s == (not how)


def test_few_records_cost_nearly_all():
    mechanism = with_confidence([[3, 2], [1, 4]], ldp=0.5)
    assert mechanism.certified.ldp <= 0.5
    assert 0.3 < mechanism.dtv() <= mechanism.design.dtv_ceiling + 1e-9


def test_columns():
    rng = np.random.default_rng(4)
    s = rng.choice(["f", "m"], 20_000)
    x = np.where(rng.random(20_000) < 0.3, s, rng.choice(["f", "m", "o"], 20_000))
    certain, plain = linred.fit(s, x, ldp=0.5, confidence=0.9), linred.fit(s, x, ldp=0.5)
    assert plain.certified is None
    assert plain.dtv() == linred.optimal(linred.Joint.from_records(s, x), ldp=0.5).dtv()
    assert certain.dtv() > plain.dtv()
    assert set(certain.sanitize(s[:50], x[:50])) <= {"f", "m", "o"}
    assert linred.fit(s, x, alpha=0.5, mechanism="markov").alpha == 0.5


def records():
    """Records with two columns of S, so that secrets have columns."""
    rng = np.random.default_rng(6)
    sex, age = rng.choice(["f", "m"], 4000), rng.choice([20, 40], 4000)
    x = np.where(rng.random(4000) < 0.4, 2 * (sex == "m") + (age == 40), rng.integers(0, 4, 4000))
    return {"sex": sex.tolist(), "age": age.tolist()}, x.tolist()


def apart(a, b):
    return 0.1 + abs(a[1] - b[1]) / 20


ASKED = [
    {"ldp": 0.5, "max_lift": 0.2},
    {"min_lift": 0.2},
    {"dp": 0.3, "neighbors": "hamming"},
    {"pairs": {(("f", 20), ("m", 20)): 0.1}},
    {"pairs": apart, "log_lift": 0.4},
    {"ldp": 0.3, "secrets": "each"},
    {"secrets": {(0,): 0.2}, "given_x": 1.0},
    {"log_lift": 0.3, "max_changed_by_s": 0.4},
    {"max_changed": 0.1},
    {"max_changed": 0.1, "least": "max_lift", "given_x": 3.0},
    {"ldp": 0.3, "distortion": [[abs(i - j) for j in range(4)] for i in range(4)]},
    {"max_distortion": 0.2, "distortion": lambda a, b: (a - b) ** 2},
]


@pytest.mark.parametrize("asked", ASKED, ids=lambda asked: " ".join(asked))
def test_all_limits_of_optimal_are_limits_of_a_fit(asked):
    s, x = records()
    joint = linred.Joint.from_records(s, x)
    as_matrix = asked
    if callable(asked.get("distortion")):
        as_matrix = asked | {"distortion": [[asked["distortion"](a, b) for b in range(4)] for a in range(4)]}
    mechanism, expected = linred.fit(s, x, **asked), linred.optimal(joint, **as_matrix)
    assert 0.0 < mechanism.dtv() < 0.9
    np.testing.assert_array_equal(mechanism.p_y_given_sx, expected.p_y_given_sx)
    assert mechanism.target == expected.target
    assert all(one.figure <= one.limit for one in mechanism.sampler().certificate().reached)


def test_a_whole_target_is_a_target_of_a_fit():
    (s, x), target = records(), Target(ldp=0.3, secrets=["each"], max_changed_by_s=0.5)
    mechanism = linred.fit(s, x, target=target)
    expected = linred.fit(s, x, ldp=0.3, secrets="each", max_changed_by_s=0.5)
    np.testing.assert_array_equal(mechanism.p_y_given_sx, expected.p_y_given_sx)
    assert mechanism.target == expected.target


class Unread:
    """A column that must not be read."""

    def __len__(self):
        raise AssertionError("the records were read")

    __iter__ = __array__ = __getitem__ = __len__


CERTIFIED = {"confidence": 0.9}
NOT_CERTIFIED = "= cannot be certified: leave confidence= out for a plug-in estimate, or limit only ldp=, log_lift="
REFUSED = [
    ({"mechanism": "markov", "given_x": 1.0}, "markov cannot meet given_x=: use optimal, which can"),
    (
        {"mechanism": "non_markov", "ldp": 1.0, "max_changed_by_s": 0.1},
        "non_markov cannot meet max_changed_by_s=: use optimal, which can",
    ),
    ({"mechanism": "non-markov", "target": Target(given_x=1.0)}, "non_markov cannot meet given_x=: use optimal"),
    ({"given_x": 1.0, "sees_s": False}, "given_x= needs sees_s=True: otherwise S adds nothing"),
    ({"mechanism": linred.selective, "given_x": 1.0, "sees_s": False}, "given_x= needs sees_s=True: otherwise S"),
    ({"mechanism": "markov", "max_changed": 0.1}, "max_changed = 0.1 applies only to mechanism='optimal': leave it"),
    (
        {"mechanism": "non_markov", "ldp": 1.0, "least": "ldp"},
        "least = 'ldp' applies only to mechanism='optimal': leave it out",
    ),
    (
        {"mechanism": "markov", "ldp": 1.0, "distortion": "absolute"},
        "distortion = 'absolute' applies only to mechanism='optimal' or 'non_markov': leave it out",
    ),
    (
        {"mechanism": linred.selective, "ldp": 1.0, "distortion": [[0.0]]},
        "distortion = <list> applies only to mechanism='optimal' or 'non_markov': leave it out",
    ),
    ({"ldp": 1.0, "least": "ldp"}, "least = 'ldp' needs max_changed= or max_distortion="),
    ({"max_changed": 0.1, "least": "dp"}, "least = 'dp' is not one of 'ldp', 'log_lift', 'max_lift'"),
    ({"max_changed": 1.5}, "max_changed = 1.5 is outside [0, 1]"),
    ({"max_changed": 0.1, "alpha": 0.5}, "max_changed= and alpha= are both given"),
    ({"max_changed": 0.1, "distortion": "absolute"}, "max_changed= counts changed records, not their distortion"),
    ({"max_distortion": 0.1}, "max_distortion= needs distortion="),
    ({"ldp": 1.0, "distortion": "cubic"}, "distortion = 'cubic' is not 'absolute', 'squared', 'hamming', a matrix"),
    ({"target": Target(ldp=1.0), "given_x": 1.0}, "target= and given_x= are both given: give one of them"),
    ({"target": Target(ldp=1.0), "alpha": 0.5}, "alpha= and a target are both given"),
    ({"max_lift": math.nan}, "max_lift = nan is outside [0, inf]"),
    ({"max_changed_by_s": -0.1}, "max_changed_by_s = -0.1 is outside [0, 1]"),
    ({"dp": 1.0}, "dp= needs neighbors="),
    ({"secrets": ["each"]}, "secrets= is a list and needs ldp="),
    ({"dp": 1.0, "neighbors": "hamming", **CERTIFIED}, f"dp{NOT_CERTIFIED}"),
    ({"ldp": 1.0, "secrets": "each", **CERTIFIED}, f"secrets{NOT_CERTIFIED}"),
    ({"target": Target(ldp=1.0, given_x=1.0), **CERTIFIED}, f"given_x{NOT_CERTIFIED}"),
    ({"max_changed": 0.1, **CERTIFIED}, "max_changed= and confidence= are both given"),
    ({"alpha": 0.1, **CERTIFIED}, "alpha= and confidence= are both given"),
    ({"ldp": 1.0, "mechanism": "markov", **CERTIFIED}, "confidence = 0.9 applies only to mechanism='optimal'"),
]


@pytest.mark.parametrize(("asked", "message"), REFUSED)
def test_what_cannot_be_asked_is_refused_before_records_are_read(asked, message):
    with pytest.raises(ValueError, match="^" + re.escape(message)) as raised:
        linred.fit(Unread(), Unread(), **asked)
    assert "\n" not in str(raised.value)


def test_other_keywords_are_refused_by_name():
    with pytest.raises(TypeError, match=r"^fit\(\) got an unexpected keyword argument 'lpd'$"):
        linred.fit(Unread(), Unread(), ldp=1.0, lpd=2.0)
    with pytest.raises(TypeError, match=r"^target is a float, not a linred.Target$"):
        linred.fit(Unread(), Unread(), target=1.0)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "no target"),
        ({"ldp": -1.0}, "ldp = -1.0"),
        ({"ldp": 1.0, "confidence": 1.0}, "confidence = 1.0"),
        ({"ldp": 1.0, "confidence": 0.9, "x_labels": ["a"]}, "x"),
    ],
)
def test_wrong_inputs(asked, message):
    with pytest.raises(ValueError, match=message) as raised:
        linred.fit(["u", "v", "u"], ["a", "b", "a"], **asked)
    assert "\n" not in str(raised.value)


def test_one_record():
    """With one s there is nothing to protect, and nothing changes."""
    mechanism = linred.fit(["u"], ["a"], ldp=1.0, confidence=0.9)
    assert (mechanism.dtv(), mechanism.certified.ldp) == (0.0, 0.0)


@pytest.mark.parametrize(
    "asked", [{"ldp": 50.0}, {"ldp": 1e6}, {"log_lift": 800.0}, {"ldp": 700.0, "sees_s": False}], ids=str
)
def test_a_generous_target_costs_nothing(asked):
    """Even if one s has a single record."""
    s, x = ["a"] * 500 + ["b"] * 500 + ["c"], np.random.default_rng(0).integers(0, 4, 1001)
    mechanism = linred.fit(s, x, confidence=0.95, **asked)
    assert mechanism.dtv() < 0.01
    assert mechanism.dtv() <= mechanism.design.dtv_ceiling + 1e-6, "limits above 16 nats count as 16"


def test_symbols_without_records_in_the_fit():
    """Declared s and x that never occur cause no warning and are redrawn."""
    s, x = ["a", "b"] * 500, np.random.default_rng(0).integers(0, 4, 1000)
    mechanism = linred.fit(s, x, ldp=1.0, confidence=0.95, s_labels=["a", "b", "zz"], x_labels=[0, 1, 2, 3, 9])
    assert mechanism.dtv() < 0.3
    assert (mechanism.keep[2] == 0.0).all()
    assert (mechanism.keep[:, 4] == 0.0).all()

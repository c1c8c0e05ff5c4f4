"""Audits: lower bounds that hold by simulation and come near the truth, and claims that they refute.

Seeds and keys are fixed, so results repeat. A correct library fails a coverage check with probability ERROR_RATE.
"""

import math
import pickle

import numpy as np
import pytest
from scipy.stats import binom

import linred
from linred.assurance import confidence_limits, released
from linred.assurance.audit import audit
from linred.assurance.released import OTHERS
from linred.privacy.leakage import FIGURES, Leakage
from support.joints import example_1, random_joint
from support.populations import ERROR_RATE, records

KEY = bytes(range(32))
TWO = linred.Joint(example_1().p_sx)


def conditional(rows, p_s):
    rows = np.array(rows, float)
    return linred.Joint.from_conditional(rows / rows.sum(axis=1, keepdims=True), p_s)


def spiked(n_y):
    """P(y|s) = 1 / n_y, and no s tells anything."""
    return conditional(np.ones((3, n_y)), [0.5, 0.3, 0.2])


SHAPES = {
    "nothing told": (spiked(12), 200),
    "many rare y": (spiked(500), 500),
    "rare s": (conditional([[1, 2, 3, 4], [4, 3, 2, 1], [1, 1, 1, 1]], [0.006, 0.494, 0.5]), 5000),
    "zeros": (random_joint(np.random.default_rng(5), 4, 8, zeros=0.3), 1000),
    "large": (random_joint(np.random.default_rng(6), 4, 12), 50_000),
}


def n_above(joint, n, runs, confidence, first_seed=0):
    """How often each of the six figures is above the truth."""
    truth, above = Leakage.of(joint, math.e), np.zeros(6, int)
    for seed in range(first_seed, first_seed + runs):
        above += np.array([*audit(*records(joint, n, seed), confidence=confidence)]) > [*truth]
    return above


def check_coverage(above, runs, confidence):
    for name, n in zip(FIGURES, above.tolist(), strict=True):
        assert binom.sf(n - 1, runs, 1.0 - confidence) > ERROR_RATE, (name, n)


# ---- the figures


@pytest.mark.parametrize("name", SHAPES)
def test_figures_are_below_the_truth(name):
    joint, n = SHAPES[name]
    check_coverage(n_above(joint, n, 200, 0.95), 200, 0.95)


@pytest.mark.long
@pytest.mark.parametrize("n", [200, 2000, 50_000])
@pytest.mark.parametrize("name", SHAPES)
def test_figures_are_below_the_truth_in_two_thousand_runs(name, n):
    check_coverage(n_above(SHAPES[name][0], n, 2000, 0.95, 1000), 2000, 0.95)


def test_limits_that_are_not_corrected_are_caught(monkeypatch):
    """The check above can fail: with limits at a fixed level, LDP and lifts are above the truth in most runs."""
    for name in ("lowest", "highest"):
        limit = getattr(confidence_limits, name)
        fixed = lambda n_hits, n, level, limit=limit: limit(n_hits, n, np.maximum(level, 0.2))  # noqa: E731
        monkeypatch.setattr(confidence_limits, name, fixed)
    above = n_above(spiked(12), 2000, 60, 0.95)
    for figure in range(4):
        with pytest.raises(AssertionError):
            check_coverage(np.where(np.arange(6) == figure, above, 0), 60, 0.95)


def test_halves_that_are_one_and_the_same_are_caught(monkeypatch):
    """Mutual information and leakage that are tested on the records that they were found on."""
    joint, n = spiked(40), 2000
    monkeypatch.setattr(released.Released, "_halves", lambda self: (np.arange(self.n),) * 2)
    above = n_above(joint, n, 60, 0.95)
    for figure in (4, 5):
        with pytest.raises(AssertionError):
            check_coverage(np.where(np.arange(6) == figure, above, 0), 60, 0.95)


def test_figures_come_near_the_truth():
    """4 x 12 symbols, 100,000 records: a bound of 0 cannot pass. Shares of the true figures, of three joints."""
    for seed in range(3):
        joint = random_joint(np.random.default_rng(seed), 4, 12)
        found, truth = audit(*records(joint, 100_000, 1)).figures, Leakage.of(joint, math.e)
        for name, share in zip(FIGURES, (0.65, 0.55, 0.85, 0.55, 0.85, 0.9), strict=True):
            assert getattr(found, name) >= share * getattr(truth, name), (seed, name)


def test_a_release_at_one_nat_is_seen_as_one():
    joint = random_joint(np.random.default_rng(0), 4, 12)
    mechanism = linred.non_markov(joint, ldp=1.0)
    s, x = records(joint, 100_000, 2)
    found = audit(s, mechanism.sampler().sample(s, x, key=KEY, start=0))
    assert 0.75 < found.ldp < 1.0
    assert (found.conforms, found.refuted, found.claim) == (None, None, None)


def test_what_is_told_by_an_s_alone_is_found_against_all_others():
    """60 s of 50 records each: no two of them show much, one against all others does."""
    rows = np.ones((60, 30))
    rows[7, 3] = 30.0
    s, y = records(conditional(rows, np.full(60, 1 / 60)), 3000, 3)
    found = audit(s, y)
    assert found.where == (3, 7, OTHERS)
    assert found.ldp > 1.0
    assert "LDP: largest for y = 3, comparing s = 7 with all others." in str(found)


def test_where_is_what_is_told_most_of():
    s, y = ["f", "m"] * 5000, ["a", "b", "b", "b"] * 2500
    assert audit(s, y).where == ("a", "f", "m")
    assert audit(s, y).ldp > 5.0  # the truth is infinite


def test_the_same_figures_for_lists_and_arrays_and_labels():
    s, y = records(random_joint(np.random.default_rng(3), 3, 5), 3000, 4)
    figures = audit(s, y).figures
    names = np.array(["a", "b", "c", "d", "e"])
    assert audit(s.tolist(), y.tolist()).figures == figures
    assert audit(s, names[y]).figures == figures
    assert audit(s, [None if one == 4 else one for one in names[y]]).figures.ldp == figures.ldp
    assert audit({"a": s, "b": s}, y).figures == figures
    assert audit(s, [(one, "x") if one else 7 for one in y.tolist()]).figures.ldp == figures.ldp  # not sortable


def test_one_s_or_one_y_tells_nothing():
    for s, y in (
        ([1] * 50, list(range(50))),
        ([0, 1] * 50, [3] * 100),
        ([1], [2]),
        ([1, 2], [3, 4]),
        ([1, 2, 3], [1, 1, 2]),
    ):
        found = audit(s, y, claim=0.0)
        assert found.figures == Leakage.all_equal(0.0)
        assert (found.where, found.refuted) == (None, False)


def test_records_in_any_order_of_s():
    """A file that is sorted by s: pairs of records must not all be of one s."""
    s, y = records(spiked(12), 20_000, 5)
    order = np.argsort(s, kind="stable")
    assert max(audit(s[order], y[order], confidence=0.999).figures) == 0.0


# ---- the claim


def released_at(ldp, n=50_000):
    mechanism = linred.non_markov(TWO, ldp=ldp)
    s, x = records(mechanism.joint, n, 6)
    return mechanism, s, x, mechanism.sampler().sample(s, x, key=KEY, start=0)


def test_claims_that_are_true_are_consistent_and_others_refuted():
    mechanism, s, _, y = released_at(1.0)
    certificate = mechanism.sampler().certificate()
    for claim in (1.0, {"ldp": 1.0}, certificate, mechanism.target, {"ldp": math.inf, "max_lift": 0.7}):
        found = audit(s, y, claim=claim)
        assert (found.refuted, found.reasons, found.conforms) == (False, (), None), claim
    for claim in (0.7, {"ldp": 0.7}, {"max_lift": 0.3}, {"mutual_information": 0.01}, {"maximal_leakage": 0.1}):
        found = audit(s, y, claim=claim)
        assert (found.refuted, len(found.reasons)) == (True, 1), claim
    assert "LDP is at least 0.9" in audit(s, y, claim=0.7).reasons[0]


@pytest.mark.parametrize("n", range(3000, 3020))
def test_a_reason_prints_its_lower_bound_rounded_down(n):
    found = audit(["f", "m"] * n, ["a", "b"] * (n - 1000) + ["b", "a"] * 1000, claim=0.1)
    printed = float(found.reasons[0].removeprefix("LDP is at least ").partition(",")[0])
    assert found.ldp * (1.0 - 1e-4) < printed <= found.ldp


def test_several_claims_share_the_level():
    mechanism, s, _, y = released_at(1.0)
    alone = audit(s, y, claim=1.0, confidence=1 - 0.05 / 4).figures
    assert audit(s, y, claim=mechanism.sampler().certificate()).as_dict() == pytest.approx(alone.as_dict(), abs=1e-12)
    assert audit(s, y, claim={"log_lift": 1.0, "max_lift": 1.0, "min_lift": 1.0}).figures == audit(s, y).figures
    assert audit(s, y, claim={"ldp": math.inf}).figures == audit(s, y).figures


def test_a_true_claim_is_seldom_refuted():
    """All six figures are claimed as they are, in 200 releases: refuted in 5 % at most, by a test at ERROR_RATE."""
    joint = spiked(6)
    claim = Leakage(*(0.0,) * 6)
    n_refuted = sum(audit(*records(joint, 500, seed), claim=claim).refuted for seed in range(200))
    assert binom.sf(n_refuted - 1, 200, 0.05) > ERROR_RATE


# ---- what comes out, and what is refused


def test_it_prints_as_a_table():
    mechanism, s, x, y = released_at(1.0, 5000)
    text = str(audit(s, x, x=x, mechanism=mechanism, claim=mechanism.target))
    lines = text.splitlines()
    assert lines[0] == "Lower bounds at 95 % confidence, from 5,000 released records."
    assert lines[2] == "Leakage about S (nats)   At least   Claimed"
    assert (lines[3][:6], lines[3][-6:]) == ("  LDP ", " 1.000")
    assert "The claim: refuted." in lines
    assert "The mechanism: refuted; it did not draw these values." in lines
    clean = audit(s, y, claim=1.0)
    assert "The claim: consistent with these records, which does not prove it." in str(clean)
    assert "Claimed" not in str(audit(s, y))


def test_an_audit_is_immutable_and_can_be_pickled():
    mechanism, s, x, y = released_at(1.0, 2000)
    found = audit(s, y, x=x, mechanism=mechanism, claim=1.0)
    assert pickle.loads(pickle.dumps(found)) == found
    assert pickle.loads(pickle.dumps(OTHERS)) is OTHERS
    with pytest.raises(AttributeError):
        found.ldp = 0.0


MECHANISM = linred.non_markov(TWO, ldp=1.0)
BAD = [
    ({"y": [1]}, ValueError, "s has 2 records and y has 1"),
    ({"s": [], "y": []}, ValueError, "s and y have no records to audit"),
    ({"s": "ab"}, ValueError, "s is a str, not a column of records in order"),
    ({"confidence": 1.0}, ValueError, "confidence = 1.0 is not between 0 and 1"),
    ({"confidence": 95}, ValueError, "confidence = 95.0 is not between 0 and 1: write 0.95 for 95 %"),
    ({"confidence": "high"}, ValueError, "confidence is a str, not a number"),
    ({"claim": -1.0}, ValueError, r"claim = -1.0 is outside \[0, inf\]"),
    ({"claim": math.nan}, ValueError, "claim = nan is outside"),
    ({"claim": "1"}, ValueError, "claim is a str, not a number"),
    ({"claim": {"lpd": 1.0}}, ValueError, "claim has 'lpd', but known figures are ldp, log_lift"),
    ({"claim": {"ldp": None}}, ValueError, r"claim\['ldp'\] is a NoneType, not a number"),
    ({"claim": MECHANISM}, ValueError, "claim.mutual_information is a method, not a number"),
    ({"x": [0, 1]}, ValueError, "x= is given without mechanism="),
    ({"mechanism": TWO}, TypeError, r"mechanism is a linred\.Joint, not a linred\.Mechanism"),
    ({"mechanism": MECHANISM, "x": [0]}, ValueError, "x has 1 records and y has 2"),
    (
        {"mechanism": MECHANISM, "x": [0, 7]},
        ValueError,
        r"^x\[1\] is not in the mechanism's alphabet: fit again, and declare .* in x_labels=$",
    ),
    (
        {"mechanism": MECHANISM, "s": [5, 0]},
        ValueError,
        r"^s\[0\] is not in the mechanism's alphabet: fit again, and declare .* in s_labels=$",
    ),
]


@pytest.mark.parametrize(("wrong", "error", "message"), BAD)
def test_bad_arguments_are_named(wrong, error, message):
    with pytest.raises(error, match=message) as caught:
        audit(**{"s": [0, 1], "y": [0, 1], **wrong})
    assert "\n" not in str(caught.value)


TABLE = [[60, 30, 10], [30, 40, 30], [10, 30, 60]]


def records_of(mechanism, n=20_000):
    """Return (s, y) that a mechanism released, of its own P(S, X)."""
    rng, joint = np.random.default_rng(8), mechanism.joint
    s, x = np.divmod(rng.choice(joint.p_sx.size, n, p=joint.p_sx.ravel()), joint.shape[1])
    return s, mechanism.sampler().sample(s, x, seed=1)


def test_a_target_claims_what_is_a_figure_and_the_rest_is_named():
    joint = linred.Joint.from_counts(TABLE, [("f", 1), ("f", 2), ("m", 1)])
    target = linred.Target(ldp=0.05, max_lift=0.5, dp=0.4, neighbors="hamming", given_x=1.0, max_changed_by_s=0.9)
    columns = records_of(linred.non_markov(joint, 0.3))
    found = linred.audit(*columns, claim=target)
    assert found.refuted
    assert (found.claim.ldp, found.claim.max_lift, found.claim.min_lift) == (0.05, 0.5, math.inf)
    assert found.not_tested == ("dp", "given_x", "max_changed_by_s")
    assert "Not tested: the limits dp, given_x, max_changed_by_s of the target" in str(found)
    assert linred.audit(*columns, claim=0.05).not_tested == ()


def test_a_target_that_is_no_figure_at_all_is_not_called_consistent():
    joint = linred.Joint.from_counts(TABLE, [("f", 1), ("f", 2), ("m", 1)])
    mechanism = linred.optimal(joint, pairs=[[0, 0.1, 1], [0.1, 0, 1], [1, 1, 0]], given_x=2.0)
    found = linred.audit(*records_of(mechanism), claim=mechanism.target)
    assert (found.claim, found.refuted, found.not_tested) == (None, None, ("pairs", "given_x"))


def test_a_limit_of_secrets_is_no_limit_of_s():
    """With a list of secrets, ldp limits each of them: S itself may leak more, as a true claim."""
    joint = linred.Joint.from_counts(TABLE, [("f", 1), ("f", 2), ("m", 1)])
    asked = linred.Target(ldp=0.05, secrets=[(0,)])
    mechanism = linred.optimal(joint, target=asked)
    columns = records_of(mechanism)
    assert linred.audit(*columns, claim=0.05).refuted
    for target in (asked, mechanism.target):
        found = linred.audit(*columns, claim=target)
        assert (found.refuted, found.not_tested) == (None, ("secrets",))

"""`linred.certify`: coverage by simulation, tightness, twins by brute force, ceilings, wrong inputs.

Coverage tests fail with probability 1e-6 each if the confidence is kept (`populations.check_failures`). Fixed seeds.
"""

import itertools
import math
import re

import numpy as np
import pytest

import linred
from linred.assurance import certify
from linred.privacy.leakage import Leakage
from linred.sampling.sampled_probabilities import OneTable, Realised, Rows
from support import populations
from support.joints import adult
from support.mechanisms import MAKERS
from support.stats import dense_rows


def counted(counts):
    return linred.Joint.from_counts(counts)


def failures(truth, n, make, n_fits, seed, confidence, held_out):
    """How often each figure was certified to be less than it is, over fits on records drawn anew each time."""
    rng, missed = np.random.default_rng(seed), np.zeros(6, int)
    for _ in range(n_fits):
        mechanism = make(counted(populations.drawn(truth, n, rng)))
        others = (counted(populations.drawn(truth, n, rng)),) if held_out else ()
        certified = linred.certify(mechanism, *others, confidence=confidence)
        true = populations.told(mechanism, truth)
        missed += [figure > bound * (1.0 + 1e-9) for figure, bound in zip(true, certified.figures, strict=True)]
    return missed


@pytest.mark.parametrize("held_out", [True, False], ids=["held out", "on the fit"])
@pytest.mark.parametrize(("shape", "n"), [("example 1", 200), ("rare s", 3000), ("rare x", 3000), ("zeros", 50_000)])
def test_coverage(shape, n, held_out):
    missed = failures(populations.population(shape), n, MAKERS["non_markov"], 200, 5, 0.95, held_out)
    for n_missed in missed:
        populations.check_failures(n_missed, 200, 0.95)


@pytest.mark.long
@pytest.mark.parametrize("held_out", [True, False], ids=["held out", "on the fit"])
@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("n", [200, 3000, 50_000])
@pytest.mark.parametrize("shape", populations.SHAPES)
def test_coverage_long(shape, n, kind, held_out):
    n_fits = 2000 if kind in ("non_markov", "identity") else 300
    missed = failures(populations.population(shape), n, MAKERS[kind], n_fits, 6, 0.95, held_out)
    for n_missed in missed:
        populations.check_failures(n_missed, n_fits, 0.95)


def test_a_plug_in_figure_is_broken_in_a_third_of_all_fits():
    """The same simulation with the plug-in figures does fail: it has teeth (errata 7)."""
    assert populations.n_broken_plug_ins() > 25


def test_tight_at_a_hundred_thousand_records():
    """The certified LDP is at most 1.25 (1.5) times the true one on a 4 x 12 joint: an infinite one would fail."""
    rng, truth = np.random.default_rng(8), populations.four_by_twelve()
    mechanism = linred.optimal(counted(populations.drawn(truth, 100_000, rng)), ldp=1.0)
    held_out = counted(populations.drawn(truth, 100_000, rng))
    true = populations.told(mechanism, truth).ldp
    assert true <= linred.certify(mechanism, held_out).ldp <= 1.25 * true
    assert true <= linred.certify(mechanism).ldp <= 1.5 * true


def test_hits_have_the_means_that_they_should():
    """Rounded hits against P(y|s,x) times counts: within six standard errors at every (s, y)."""
    joint = adult()
    mechanism = linred.optimal(joint, ldp=1.0, sees_s=False)  # many values between 0 and 1
    certifying = certify.Certifying(mechanism, joint.counts)
    hits = certify.Hits(certifying.rows, joint.counts, certifying.low, certifying.high)
    width = np.where(certifying.high > certifying.low, certifying.high - certifying.low, 1.0)
    share = (mechanism.p_y_given_sx - certifying.low[:, None]) / width[:, None]
    expected = np.einsum("sx,sxy->sy", joint.counts, share)
    assert (np.abs(hits.n_hits - expected) <= 6.0 * np.sqrt(expected + 1.0)).all()
    assert (hits.n_hits != np.round(expected)).any()
    certain = np.einsum("sx,sxy->sy", joint.counts, share >= 1.0)
    assert (hits.n_hits >= certain).all()


def test_on_the_fit_every_row_is_extreme_in_its_box():
    """P(y|s) at its ends against a linear programme over the box and the simplex."""
    from scipy.optimize import linprog

    rng = np.random.default_rng(9)
    mechanism = linred.optimal(counted(rng.integers(5, 60, (3, 5))), ldp=0.4)
    rows = Realised(mechanism.sampler()).of(1)
    p = mechanism.joint.p_x_given_s[1]
    low, high = np.clip(p - 0.05, 0.0, 1.0), np.clip(p + 0.07, 0.0, 1.0)
    least, most = certify._extremes(rows, low, high)
    for y, values in enumerate(dense_rows(rows).T):
        for sign, ours in ((1.0, least[y]), (-1.0, most[y])):
            box = np.stack([low, high], axis=1)
            solved = linprog(sign * values, A_eq=np.ones((1, 5)), b_eq=[1.0], bounds=box)
            assert ours == pytest.approx(sign * solved.fun, rel=1e-7, abs=1e-12)


def test_figures_of_a_box_hold_for_everything_in_it():
    """Random P(y|s) and P(s) in a box: no figure is above the box's; and corners come near some of them."""
    rng, nearest = np.random.default_rng(10), np.zeros(6)
    for _ in range(40):
        q, p_s = rng.dirichlet(np.ones(4), 3), rng.dirichlet(np.ones(3))
        ends = [(np.clip(p - 0.1 * p, 0, 1), np.clip(p + 0.1 * p, 0, 1)) for p in (q, p_s)]
        bound, _ = certify._of_box(*ends[0], *ends[1], p_s @ q)
        for _ in range(200):
            near = [
                np.clip(p * (1.0 + rng.choice([-0.1, 0.0, 0.1], p.shape)), low, high)
                for p, (low, high) in zip((q, p_s), ends, strict=True)
            ]
            near = [p / p.sum(axis=-1, keepdims=True) for p in near]
            if all((low <= p).all() and (p <= high).all() for p, (low, high) in zip(near, ends, strict=True)):
                true = np.array([*populations.figures(*near)])
                assert (true <= np.array([*bound]) + 1e-12).all()
                nearest = np.maximum(nearest, true / np.array([*bound]))
    assert (nearest > [0.95, 0.9, 0.8, 0.9, 0.3, 0.5]).all(), nearest


def test_lemma_1_has_the_ceiling_of_the_errata():
    joint, alpha = adult(), 0.9
    certified = linred.certify(linred.markov(joint, alpha))
    rarest = joint.p_x.min()
    expected = math.log(((1.0 - alpha) + alpha * rarest) / (alpha * rarest))
    assert certified.ceiling.ldp == pytest.approx(expected, rel=1e-9)
    assert certified.ceiling.ldp >= expected
    assert certified.ldp <= certified.ceiling.ldp
    of_pairs = [[*populations.figures(q, np.ones(2) / 2)] for q in _extreme_pairs(joint, alpha)]
    true = np.max(of_pairs, axis=0)
    assert all(figure <= ceiling * (1 + 1e-9) for figure, ceiling in zip(true, certified.ceiling, strict=True))


def _extreme_pairs(joint, alpha):
    """P(y|s) of Lemma 1 where each of two s has one x for certain."""
    rows = (1.0 - alpha) * np.eye(joint.shape[1]) + alpha * joint.p_x
    return [rows[list(pair)] for pair in itertools.combinations(range(joint.shape[1]), 2)]


def test_non_markov_mechanisms_have_no_ceiling():
    assert linred.certify(linred.non_markov(adult(), ldp=1.0)).ceiling.ldp == math.inf


def test_an_independent_draw_is_certified_without_data():
    mechanism = linred.markov(adult(), 1.0)
    for certified in (linred.certify(mechanism), linred.certify(mechanism, adult() + adult())):
        assert certified.figures == certified.ceiling == Leakage(0, 0, 0, 0, 0, 0)


def test_infinite_with_the_s_and_the_count_that_make_it_so():
    counts = np.array([[50, 30, 20], [30, 40, 30], [0, 0, 0]])
    certified = linred.certify(
        linred.non_markov(counted(np.array([[50, 30, 20], [30, 40, 30], [4, 2, 1]])), ldp=1.0), counted(counts)
    )
    assert certified.ldp == math.inf
    assert "2 (0 records)" in certified.because
    assert "infinite" in str(certified)


def test_more_records_and_less_confidence_are_tighter():
    truth = populations.four_by_twelve()
    mechanism = linred.optimal(truth, ldp=1.0)
    by_n = [linred.certify(mechanism, counted(np.round(truth.p_sx * n).astype(int))).ldp for n in (3e3, 3e4, 3e5, 3e7)]
    assert by_n == sorted(by_n, reverse=True)
    assert by_n[-1] < 1.02
    held_out = counted(np.round(truth.p_sx * 3e4).astype(int))
    by_confidence = [linred.certify(mechanism, held_out, confidence=c).ldp for c in (0.5, 0.9, 0.99, 0.999999)]
    assert by_confidence == sorted(by_confidence)


def test_columns_and_counts_agree_and_repeat():
    rng = np.random.default_rng(11)
    s, x = rng.choice(["a", "b"], 500), rng.choice(["u", "v", "w"], 500)
    joint = linred.Joint.from_records(s, x)
    mechanism = linred.optimal(linred.Joint(joint.p_sx, joint.s_labels, joint.x_labels), ldp=0.05)
    other = linred.Joint.from_records(s[::-1], x[::-1])
    assert (
        linred.certify(mechanism, s, x)
        == linred.certify(mechanism, s.tolist(), x.tolist())
        == linred.certify(mechanism, other)
    )


def test_prints_plug_in_certified_and_ceiling_side_by_side():
    text = str(linred.certify(linred.markov(adult(), 0.9)))
    assert re.search(r"\(nats\) +Plug-in estimate +Certified at 95 % +Worst-case bound\n", text)
    assert "48,842" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("not a mechanism",), "mechanism is a str"),
        ((None, ["a"], None), "x is None"),
        ((None, None, ["a"]), "s is None"),
        ((None, ["a"], ["zebra"]), r"^x\[0\] is not in the mechanism's alphabet: fit again"),
        ((None, ["a", "b"], ["u"]), "s has 2 records and x has 1"),
        ((None, [], []), "no records to certify from"),
        ((None, linred.Joint([[0.5, 0.5]])), "it must have counts"),
        ((None, linred.Joint.from_counts([[1, 1]])), "alphabets differ from the mechanism's"),
        ((None, None, None, 1.0), "confidence = 1.0"),
        ((None, None, None, 0), "confidence = 0"),
        ((None, None, None, "high"), "confidence is a str, not a number"),
        ((None, None, None, float("nan")), "confidence = nan"),
    ],
)
def test_wrong_inputs(arguments, message):
    joint = linred.Joint.from_records(["a", "b", "a"], ["u", "v", "v"])
    mechanism = linred.non_markov(joint, 0.5)
    with pytest.raises((ValueError, TypeError), match=message) as raised:
        linred.certify(mechanism if arguments[0] is None else arguments[0], *arguments[1:])
    assert "\n" not in str(raised.value)


def test_the_records_of_the_fit_are_refused():
    plain, certain = linred.optimal(adult(), ldp=1.0), linred.optimal(adult(), ldp=1.0, confidence=0.9)
    for mechanism in (plain, certain):
        with pytest.raises(ValueError, match="the records that the mechanism was fitted on"):
            linred.certify(mechanism, adult())
    assert linred.certify(plain, adult() + adult()).n_records == 2 * 48_842


def test_probabilities_have_no_counts_to_certify_on():
    with pytest.raises(ValueError, match="certify needs records"):
        linred.certify(linred.markov(populations.population("zeros"), 0.5))


def test_one_table_for_an_s_is_the_same_as_a_group_for_each_x():
    """The fast knapsack of `OneTable` against the one for any `Rows`, with zeros, ties and boxes of all shapes."""
    rng = np.random.default_rng(0)
    for _ in range(1000):
        n = rng.integers(1, 7)
        table = np.where(rng.random(n) < 0.2, 0.0, rng.dirichlet(np.full(n, 0.5))) + 1e-12
        table, move = table / table.sum(), np.round(rng.random(n), rng.integers(1, 3))
        fast = OneTable(1.0 - move + move * table, move, table)
        slow = Rows(fast.own, np.arange(n), move[:, None] * table)
        p = rng.dirichlet(np.full(n, 0.7))
        low, high = p * rng.random(n) * (rng.random(n) < 0.7), np.minimum(1.0, p + rng.random(n) * rng.random())
        for found, known in zip(certify._extremes(fast, low, high), certify._extremes(slow, low, high), strict=True):
            np.testing.assert_allclose(found, known, rtol=0, atol=3e-12)
        for found, known in zip(fast.range(), slow.range(), strict=True):
            np.testing.assert_array_equal(found, known)
        np.testing.assert_array_equal(fast.weights(p), slow.weights(p))
        np.testing.assert_array_equal(fast.others, slow.others)

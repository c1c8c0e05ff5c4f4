"""Certificates against Fractions and 50-digit logarithms, and targets that are met in the integers."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linred
from linred.privacy.leakage import FIGURES, Leakage
from linred.sampling import exact_certificate
from support import stats
from support.joints import alphas, count_tables, example_1, random_joint

COUPLINGS = {
    "markov": linred.markov,
    "northwest": linred.non_markov,
    "proportional": lambda joint, *args, **how: linred.non_markov(joint, *args, coupling="proportional", **how),
}


def conditionals(joint):
    """P(x|s) and P(s) as Fractions, of the s that occur."""
    weights = joint.counts if joint.counts is not None else joint.p_x_given_s
    rows, p_s = [], []
    for s in np.flatnonzero(joint.p_s > 0.0):
        row = [Fraction(value) for value in weights[s].tolist()]
        rows.append([value / sum(row) for value in row])
        p_s.append(Fraction(float(joint.p_s[s])) if joint.counts is None else sum(row))
    return np.flatnonzero(joint.p_s > 0.0), rows, [p / sum(p_s) for p in p_s]


def exact_figures(sampler, digits=50):
    """The six figures, in 50 digits or more, from the channel that is read off cell by cell."""
    joint, channel = sampler.joint, stats.channel(sampler)
    symbols, rows, p_s = conditionals(joint)
    released = []
    for s, row in zip(symbols, rows, strict=True):
        kernel = channel[s if sampler.sees_s else 0]
        released.append([sum(p * kernel[x, y] for x, p in enumerate(row)) for y in range(len(row))])
    p_y = [sum(p * row[y] for p, row in zip(p_s, released, strict=True)) for y in range(joint.shape[1])]
    unseen = np.argwhere(joint.unseen if sampler.sees_s else joint.p_x[None] == 0.0)
    all_rows = [*released, list(channel[tuple(unseen[0])])] if len(unseen) else released
    with mpmath.workdps(digits):
        ldp = max(_log(max(column), min(column)) for column in zip(*all_rows, strict=True))
        max_lift = max(_log(row[y], p) for row in all_rows for y, p in enumerate(p_y))
        min_lift = max(_log(p, row[y]) for row in all_rows for y, p in enumerate(p_y))
        leakage = _log(sum(max(column) for column in zip(*all_rows, strict=True)), Fraction(1))
        information = sum(
            _mp(p * q) * _log(q, p_y[y]) for p, row in zip(p_s, released, strict=True) for y, q in enumerate(row) if q
        )
        return Leakage(ldp, max(max_lift, min_lift), max_lift, min_lift, information, leakage)


def _mp(fraction):
    return mpmath.mpf(fraction.numerator) / mpmath.mpf(fraction.denominator)


def _log(numerator, denominator):
    if numerator == 0:
        return mpmath.mpf("-inf") if denominator else mpmath.mpf(0)
    return mpmath.inf if denominator == 0 else mpmath.log(_mp(numerator / denominator))


def check_certificate(sampler, digits=50):
    certificate, truth = sampler.certificate(), exact_figures(sampler, digits)
    for name in FIGURES:
        stated, true = getattr(certificate, name), getattr(truth, name)
        if true == 0 or math.isinf(true):
            assert stated == float(true), name
        else:
            assert true <= stated <= true + 1e-14 * (1 + abs(true)), (name, stated - true)
    assert np.abs(certificate.p_y - sampler.joint.p_x).max() < 1e-14


@given(count_tables, alphas, st.sampled_from(sorted(COUPLINGS)))
def test_figures_of_counts_are_at_or_just_above_the_truth(counts, alpha, name):
    check_certificate(COUPLINGS[name](linred.Joint.from_counts(counts), alpha).sampler())


@pytest.mark.parametrize("name", sorted(COUPLINGS))
@pytest.mark.parametrize("shape", [(2, 3), (5, 4), (3, 20)])
def test_figures_of_doubles_are_at_or_just_above_the_truth(name, shape):
    rng = np.random.default_rng(1)
    for zeros in (0.0, 0.3):
        for alpha in (0.0, 1e-9, 0.4, 1.0):
            check_certificate(COUPLINGS[name](random_joint(rng, *shape, zeros=zeros), alpha).sampler())


def test_figures_hold_for_p_sx_and_for_p_x_given_s():
    """Doubles are roundings of what is meant: which of the two matrices is taken for exact must not matter."""
    rng = np.random.default_rng(2)
    for _ in range(30):
        p_sx = rng.dirichlet(np.full(12, 0.5)).reshape(3, 4)
        sampler = linred.non_markov(linred.Joint(p_sx), 0.3).sampler()
        channel, certificate = stats.channel(sampler), sampler.certificate()
        rows = []
        for s in range(3):
            joint_row = [Fraction(p) for p in sampler.joint.p_sx[s].tolist()]
            total = sum(joint_row)
            rows.append([sum(p / total * channel[s, x, y] for x, p in enumerate(joint_row)) for y in range(4)])
        with mpmath.workdps(50):
            assert certificate.ldp >= max(_log(max(column), min(column)) for column in zip(*rows, strict=True))


def test_probabilities_below_the_smallest_double_are_compared():
    """P(y|s) of 1e-300 times 2^-64: their ratio is e^7, though no double holds them."""
    p = np.array([[1.0, 0.0, 1e-305], [1.0, 1e-302, 1e-308], [1.0, 1e-305, 1e-306]])
    joint = linred.Joint.from_conditional(p, [0.5, 0.3, 0.2])
    for name in COUPLINGS:
        for alpha in (0.0, 0.5):
            check_certificate(COUPLINGS[name](joint, alpha).sampler(), digits=800)


def test_pairs_whose_joint_probability_underflows_are_seen():
    joint = linred.Joint.from_conditional([[0.5, 0.5, 0.0], [0.5, 1e-200, 0.5]], [1.0, 1e-200])
    assert joint.p_sx[1, 1] == 0.0
    assert joint.unseen.tolist() == [[False, False, True], [False, False, False]]
    check_certificate(linred.non_markov(joint, 0.5).sampler(), digits=800)


def test_the_largest_of_ratios_that_no_double_holds():
    p = np.array([[1 / 3, 1 / 3, 1 / 3], [1.0, 1e-310, 1e-322]])
    check_certificate(linred.non_markov(linred.Joint.from_conditional(p, [0.5, 0.5]), 0.0).sampler())


@given(count_tables.filter(lambda counts: (counts == 0).any()), alphas, st.data())
def test_ldp_and_leakage_hold_for_any_share_of_unseen_pairs(counts, alpha, data):
    """Records of an s that are in cells that the fit never saw, as many as may be: the certificate has them in."""
    sampler = linred.non_markov(linred.Joint.from_counts(counts), alpha).sampler()
    channel, certificate = stats.channel(sampler), sampler.certificate()
    unseen = channel[tuple(np.argwhere(counts == 0)[0])]
    rows = []
    for s, row in enumerate(counts.tolist()):
        share = Fraction(data.draw(st.integers(0, 4)), 4) if sum(row) else Fraction(1)
        seen = [Fraction(n, max(1, sum(row))) for n in row]
        released = [sum(p * channel[s, x, y] for x, p in enumerate(seen)) for y in range(len(row))]
        rows.append([(1 - share) * p + share * q for p, q in zip(released, unseen, strict=True)])
    with mpmath.workdps(50):
        assert max(_log(max(column), min(column)) for column in zip(*rows, strict=True)) <= certificate.ldp
        assert _log(sum(max(column) for column in zip(*rows, strict=True)), Fraction(1)) <= certificate.maximal_leakage


def test_long_thresholds_and_several_tables():
    joint = linred.Joint.from_counts(np.random.default_rng(3).integers(0, 50, (12, 100)))
    for name in COUPLINGS:
        sampler = COUPLINGS[name](joint, 0.4).sampler()
        assert sampler.first_stage == "keep" or name == "markov"
        check_certificate(sampler)


def test_what_depends_on_nothing_is_exactly_zero():
    joint = random_joint(np.random.default_rng(4), 5, 30)
    certificate = linred.markov(joint, 1.0).sampler().certificate()
    assert certificate.figures == Leakage.all_equal(0.0)
    independent = linred.Joint.from_counts(np.outer([3, 7, 11], [1, 5, 2, 9]))
    assert linred.markov(independent, 0.0).sampler().certificate().figures == Leakage.all_equal(0.0)
    assert linred.non_markov(independent, 0.5).sampler().certificate().figures == Leakage.all_equal(0.0)


def test_an_s_that_only_some_symbols_have_is_infinite_and_says_so():
    joint = linred.Joint.from_counts([[5, 5, 0], [5, 0, 5]])
    certificate = linred.markov(joint, 0.0).sampler().certificate()
    assert certificate.ldp == certificate.log_lift == certificate.min_lift == math.inf
    assert certificate.max_lift < math.inf
    assert "LDP" in str(certificate)
    assert "inf" in str(certificate)


def test_the_certificate_is_of_the_tables_not_of_the_formula():
    """A planted table that is less private than the mechanism says so."""
    sampler = linred.markov(example_1(), 0.5).sampler()
    honest = sampler.certificate().ldp
    _, (*sizes, rows, cells, settled, keep_top) = sampler.kernel.__reduce__()
    cells = cells.copy()
    third = slice(rows["first_cell"][2], rows["first_cell"][3])
    cells["alias"][third] = cells["own"][third] = 2  # x = 2 is kept, whatever was drawn
    sampler.kernel = type(sampler.kernel)(*sizes, rows, cells, settled, keep_top)
    assert sampler.certificate().ldp > honest + 1e-3


def test_certificates_print_their_figures():
    text = str(linred.markov(example_1(), 0.5).sampler().certificate())
    assert text.splitlines()[0] == "what the sampled tables tell about S, at most [nats]"
    assert "0.810930" in text


# ---- targets


targets = st.one_of(st.floats(0.0, 2.0), st.sampled_from([0.0, 1e-20, 1e-12, 1e-6, 0.5, 5.0]))


@given(count_tables, targets, st.one_of(st.none(), targets), st.sampled_from(sorted(COUPLINGS)))
def test_targets_are_met_in_the_integers(counts, ldp, log_lift, name):
    joint = linred.Joint.from_counts(counts)
    mechanism = COUPLINGS[name](joint, ldp=ldp, log_lift=log_lift)
    assert mechanism.target == (ldp, math.inf if log_lift is None else log_lift)
    truth = exact_figures(mechanism.sampler())
    assert truth.ldp <= ldp
    assert log_lift is None or truth.log_lift <= log_lift
    assert mechanism.sampler().certificate().ldp <= ldp
    assert linred.ldp(mechanism.released) <= ldp


@pytest.mark.parametrize("name", sorted(COUPLINGS))
def test_a_target_costs_hardly_more_than_the_formula(name):
    rng = np.random.default_rng(5)
    for _ in range(40):
        joint = random_joint(rng, int(rng.integers(2, 6)), int(rng.integers(2, 12)))
        mechanism = COUPLINGS[name](joint, ldp=0.5)
        assert 0.0 <= mechanism.alpha - linred.alpha_for(joint, ldp=0.5) <= 1e-10
        assert mechanism.sampler().certificate().ldp <= 0.5


@pytest.mark.parametrize("name", sorted(COUPLINGS))
def test_a_target_of_zero_draws_whatever_s_and_x_are(name):
    joint = random_joint(np.random.default_rng(6), 4, 9)
    for target in ({"ldp": 0.0}, {"log_lift": 0.0}, {"ldp": 1e-18}):
        mechanism = COUPLINGS[name](joint, **target)
        channel = stats.channel(mechanism.sampler())
        assert (channel == channel[0, 0]).all()
        assert mechanism.sampler().certificate().figures == Leakage.all_equal(0.0)


def test_a_target_that_is_met_already_changes_nothing():
    joint = example_1()
    assert linred.non_markov(joint, ldp=5.0).dtv() == 0.0
    independent = linred.Joint.from_counts(np.outer([3, 7], [1, 5, 2]))
    assert linred.non_markov(independent, ldp=1e-6).dtv() == 0.0
    assert linred.non_markov(independent, ldp=0.0).alpha == 1.0, "0 is independence of x too, of an estimate no less"


def test_symbols_too_rare_for_the_tables_are_named_or_met_by_markov():
    p = np.array([[0.5, 0.5, 1e-25], [0.2, 0.8, 1e-30]])
    joint = linred.Joint.from_conditional(p / p.sum(axis=1, keepdims=True), [0.5, 0.5], x_labels=["a", "b", "rare"])
    with pytest.raises(ValueError, match=r"ldp <= 0.5 cannot be met .* P\(x\) of 'rare' is 5e-26"):
        linred.non_markov(joint, ldp=0.5)
    assert linred.markov(joint, ldp=0.5).sampler().certificate().ldp <= 0.5


def test_targets_that_tables_hardly_tell_from_zero_are_met_by_independence():
    joint = linred.Joint.from_counts([[10**9, 2 * 10**9, 1], [2 * 10**9, 10**9, 0]])
    for ldp in (1e-12, 1e-11, 1e-10):
        mechanism = linred.non_markov(joint, ldp=ldp)
        assert exact_figures(mechanism.sampler()).ldp <= ldp


def test_alpha_and_targets_exclude_each_other():
    joint = example_1()
    for build in (linred.markov, linred.non_markov):
        with pytest.raises(ValueError, match=r"alpha = 0.5 and a target are both given"):
            build(joint, 0.5, ldp=1.0)
        with pytest.raises(ValueError, match="nothing is asked of the mechanism"):
            build(joint)
        with pytest.raises(ValueError, match=r"ldp = -1 is outside"):
            build(joint, ldp=-1)
        assert build(joint, 0.5).target is None


def test_alphas_of_alpha_for_are_met_in_the_integers_too():
    """Not promised, but nearly always so: what a user who writes it in two steps expects."""
    rng = np.random.default_rng(7)
    met = []
    for _ in range(100):
        joint = random_joint(rng, int(rng.integers(2, 6)), int(rng.integers(2, 12)))
        mechanism = linred.non_markov(joint, linred.alpha_for(joint, ldp=0.4))
        met.append(mechanism.sampler().certificate().ldp <= 0.4)
    assert np.mean(met) > 0.95


def test_certificates_agree_with_the_report():
    joint = random_joint(np.random.default_rng(8), 16, 105)
    mechanism = linred.non_markov(joint, ldp=1.0)
    certificate, after = mechanism.sampler().certificate(), mechanism.report().after
    for name in FIGURES:
        assert getattr(certificate, name) == pytest.approx(getattr(after, name), rel=1e-9)
    assert isinstance(certificate, exact_certificate.Certificate)

"""Certificates of what a sampler draws, against Fractions and 50-digit logarithms."""

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
from linred.sampling.sampled_probabilities import Channel
from support import stats
from support.exact_figures import exact_figures, log_ratio
from support.joints import alphas, count_tables, example_1, random_joint
from support.mechanisms import CLOSED_FORMS, from_channel


def check_certificate(sampler, digits=50):
    certificate, truth = sampler.certificate(), exact_figures(sampler, digits)
    for name in FIGURES:
        stated, true = getattr(certificate, name), getattr(truth, name)
        if true == 0 or math.isinf(true):
            assert stated == float(true), name
        else:
            assert true <= stated <= true + 1e-14 * (1 + abs(true)), (name, stated - true)
    assert np.abs(certificate.p_y - sampler.joint.p_x).max() < 1e-14


@given(count_tables, alphas, st.sampled_from(sorted(CLOSED_FORMS)))
def test_figures_of_counts_are_at_or_just_above_the_truth(counts, alpha, name):
    check_certificate(CLOSED_FORMS[name](linred.Joint.from_counts(counts), alpha).sampler())


@pytest.mark.parametrize("name", sorted(CLOSED_FORMS))
@pytest.mark.parametrize("shape", [(2, 3), (5, 4), (3, 20)])
def test_figures_of_doubles_are_at_or_just_above_the_truth(name, shape):
    rng = np.random.default_rng(1)
    for zeros in (0.0, 0.3):
        for alpha in (0.0, 1e-9, 0.4, 1.0):
            check_certificate(CLOSED_FORMS[name](random_joint(rng, *shape, zeros=zeros), alpha).sampler())


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
            assert certificate.ldp >= max(log_ratio(max(column), min(column)) for column in zip(*rows, strict=True))


def test_probabilities_below_the_smallest_double_are_compared():
    """P(y|s) of 1e-300 times 2^-64: their ratio is e^7, though no double holds them."""
    p = np.array([[1.0, 0.0, 1e-305], [1.0, 1e-302, 1e-308], [1.0, 1e-305, 1e-306]])
    joint = linred.Joint.from_conditional(p, [0.5, 0.3, 0.2])
    for name in CLOSED_FORMS:
        for alpha in (0.0, 0.5):
            check_certificate(CLOSED_FORMS[name](joint, alpha).sampler(), digits=800)


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
        assert max(log_ratio(max(column), min(column)) for column in zip(*rows, strict=True)) <= certificate.ldp
        assert (
            log_ratio(sum(max(column) for column in zip(*rows, strict=True)), Fraction(1))
            <= certificate.maximal_leakage
        )


def test_long_thresholds_and_several_tables():
    joint = linred.Joint.from_counts(np.random.default_rng(3).integers(0, 50, (12, 100)))
    for name in CLOSED_FORMS:
        sampler = CLOSED_FORMS[name](joint, 0.4).sampler()
        assert sampler.first_stage == "keep" or name == "markov"
        check_certificate(sampler)


def exact_given_x(sampler, digits=50):
    """The LDP given x, from P(y|s,x) as read cell by cell."""
    channel, joint = stats.channel(sampler), sampler.joint
    largest = mpmath.mpf(0)
    with mpmath.workdps(digits):
        for x in range(joint.shape[1]):
            rows = [channel[s if sampler.sees_s else 0, x] for s in np.flatnonzero(~joint.unseen[:, x])]
            columns = zip(*rows, strict=True)
            largest = max([largest, *(log_ratio(max(column), min(column)) for column in columns)])
    return largest


def check_given_x(sampler, digits=50):
    stated, true = exact_certificate.ldp_given_x_above(Channel(sampler)), exact_given_x(sampler, digits)
    if true == 0 or math.isinf(true):
        assert stated == float(true)
    else:
        assert true <= stated <= true + 1e-14 * (1 + true)


@given(count_tables, alphas, st.sampled_from(sorted(CLOSED_FORMS)))
def test_ldp_given_x_is_at_or_just_above_the_truth(counts, alpha, name):
    check_given_x(CLOSED_FORMS[name](linred.Joint.from_counts(counts), alpha).sampler())


@pytest.mark.parametrize("shape", [(2, 3), (5, 4), (3, 20)])
def test_ldp_given_x_where_it_is_finite(shape):
    rng = np.random.default_rng(5)
    for spread in (1e-15, 1e-6, 1.0):
        joint = random_joint(rng, *shape, zeros=0.2)
        channel = rng.dirichlet(np.ones(shape[1]), shape[1]) * (1.0 + spread * rng.random((*shape, shape[1])))
        mechanism = from_channel(joint, channel / channel.sum(axis=2, keepdims=True))
        assert 0.0 < linred.ldp_given_x(mechanism) < math.inf
        check_given_x(mechanism.sampler())
        assert exact_certificate.ldp_given_x_above(Channel(mechanism.sampler())) == pytest.approx(
            linred.ldp_given_x(mechanism), abs=1e-14
        )


def test_ldp_given_x_of_tiny_probabilities():
    """The tables hold 2^-64; their ratio to one is finite, and no row is taken for zero."""
    joint = linred.Joint.from_counts([[1, 1], [1, 1]])
    channel = np.array([[[1e-30, 1.0], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]])
    sampler = from_channel(joint, channel).sampler()
    assert 40.0 < exact_given_x(sampler) < 90.0
    check_given_x(sampler)


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
    _, (*sizes, rows, cells, settled, keep_top, _) = sampler.kernel.__reduce__()
    cells = cells.copy()
    third = slice(rows["first_cell"][2], rows["first_cell"][3])
    cells["alias"][third] = cells["own"][third] = 2  # x = 2 is kept, whatever was drawn
    sampler.kernel = type(sampler.kernel)(*sizes, rows, cells, settled, keep_top)
    assert sampler.certificate().ldp > honest + 1e-3


def test_certificates_print_their_figures():
    text = str(linred.markov(example_1(), 0.5).sampler().certificate())
    assert text.splitlines()[0] == "Exact figures of the sampling tables (nats)   At most"
    assert "0.8110" in text, "log 2.25 is 0.81093: an upper bound is rounded up"


def test_certificates_agree_with_the_report():
    joint = random_joint(np.random.default_rng(8), 16, 105)
    mechanism = linred.non_markov(joint, ldp=1.0)
    certificate, after = mechanism.sampler().certificate(), mechanism.report().after
    for name in FIGURES:
        assert getattr(certificate, name) == pytest.approx(getattr(after, name), rel=1e-9)
    assert isinstance(certificate, exact_certificate.Certificate)

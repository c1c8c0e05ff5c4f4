import decimal
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import linred
from linred import Joint
from linred.privacy.leakage import FIGURES
from support.joints import alphas, count_tables, example_1, random_joint


def make(kind, joint, alpha):
    if kind == "markov":
        return linred.markov(joint, alpha)
    return linred.non_markov(joint, alpha, coupling=kind)


KINDS = ["markov", "northwest", "proportional"]


@pytest.mark.parametrize("kind", KINDS)
@given(count_tables, alphas)
def test_a_mechanism_is_a_channel_that_gives_equation_3(kind, counts, alpha):
    joint = Joint.from_counts(counts)
    mechanism = make(kind, joint, alpha)
    channel, n_x = mechanism.p_y_given_sx, counts.shape[1]
    assert channel.shape == (*counts.shape, n_x)
    assert channel.min() >= 0.0
    np.testing.assert_allclose(channel.sum(axis=2), 1.0, rtol=0, atol=1e-14)
    seen = counts.sum(axis=1) > 0
    reduced = (1 - alpha) * joint.p_x_given_s + alpha * joint.p_x
    by_channel = np.einsum("sx,sxy->sy", joint.p_x_given_s, channel)
    np.testing.assert_allclose(by_channel[seen], reduced[seen], rtol=0, atol=1e-14)
    np.testing.assert_allclose(mechanism.p_y_given_s, reduced, rtol=0, atol=2e-16)
    np.testing.assert_array_equal(mechanism.p_y, joint.p_x)
    np.testing.assert_allclose(np.einsum("sx,sxy->y", joint.p_sx, channel), joint.p_x, rtol=0, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@given(count_tables, alphas)
def test_what_a_mechanism_tells_follows_from_its_channel(kind, counts, alpha):
    joint = Joint.from_counts(counts)
    mechanism = make(kind, joint, alpha)
    p_xy = np.einsum("sx,sxy->xy", joint.p_sx, mechanism.p_y_given_sx)
    assert mechanism.dtv() == pytest.approx(1.0 - np.trace(p_xy), rel=1e-12, abs=1e-14)
    d = np.random.default_rng(counts.sum()).random(p_xy.shape)
    np.fill_diagonal(d, 0.0)
    assert mechanism.expected_distortion(d) == pytest.approx((p_xy * d).sum(), rel=1e-12, abs=1e-14)
    independent = np.outer(p_xy.sum(axis=1), p_xy.sum(axis=0))
    some = p_xy > 0.0
    information = (p_xy[some] * np.log2(p_xy[some] / independent[some])).sum()
    assert mechanism.mutual_information(2) == pytest.approx(information, rel=1e-11, abs=1e-13)
    given_x = mechanism.p_y_given_x
    np.testing.assert_allclose(given_x.sum(axis=1), 1.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(joint.p_x[:, None] * given_x, p_xy, rtol=0, atol=1e-15)


@pytest.mark.parametrize("kind", KINDS)
@given(count_tables, alphas)
def test_cells_that_the_fit_never_saw_draw_from_the_marginal(kind, counts, alpha):
    joint = Joint.from_counts(counts)
    mechanism = make(kind, joint, alpha)
    unseen = counts == 0 if mechanism.sees_s else np.broadcast_to(counts.sum(axis=0) == 0, counts.shape)
    np.testing.assert_array_equal(mechanism.keep[unseen], 0.0)
    for row in mechanism.p_y_given_sx[unseen]:
        np.testing.assert_array_equal(row, joint.p_x)
    np.testing.assert_array_equal(
        mechanism.p_y_given_x[counts.sum(axis=0) == 0], np.tile(joint.p_x, ((counts.sum(axis=0) == 0).sum(), 1))
    )


@given(count_tables, alphas)
def test_lemma_1(counts, alpha):
    joint = Joint.from_counts(counts)
    mechanism = linred.markov(joint, alpha)
    assert not mechanism.sees_s
    assert mechanism.keep.strides[0] == 0, "stored in O(|X|)"
    assert mechanism.table_of.strides[0] == 0
    lemma = np.where(np.eye(counts.shape[1], dtype=bool), 1 - alpha * (1 - joint.p_x), alpha * joint.p_x)
    seen = joint.p_x > 0
    np.testing.assert_allclose(mechanism.p_y_given_x[seen], lemma[seen], rtol=0, atol=1e-15)
    assert mechanism.dtv() == pytest.approx(alpha * (1 - (joint.p_x**2).sum()), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("coupling", ["northwest", "proportional"])
@given(count_tables, alphas)
def test_proposition_1(coupling, counts, alpha):
    joint = Joint.from_counts(counts)
    mechanism = linred.non_markov(joint, alpha, coupling=coupling)
    assert mechanism.sees_s
    assert mechanism.gap == 0.0
    channel = mechanism.p_y_given_sx
    for s, x in np.argwhere(counts > 0):
        keep = min(1.0, 1.0 - alpha * (1.0 - joint.p_x[x] / joint.p_x_given_s[s, x]))
        assert channel[s, x, x] == pytest.approx(keep, rel=1e-13, abs=1e-15)
        moves = channel[s, x].copy()
        moves[x] = 0.0
        assert not moves[joint.p_x_given_s[s] > joint.p_x + 1e-12].any(), "nothing moves to a symbol in excess"
    least = 0.5 * (joint.p_s @ np.abs(alpha * (joint.p_x_given_s - joint.p_x))).sum()
    assert mechanism.dtv() == pytest.approx(least, rel=1e-12, abs=1e-15)
    assert mechanism.dtv() <= linred.markov(joint, alpha).dtv() + 1e-15


def test_northwest_has_at_most_n_minus_one_moves_and_proportional_one_table_an_s():
    joint = random_joint(np.random.default_rng(1), 40, 60)
    mechanism = linred.non_markov(joint, 0.3)
    assert mechanism.tables.y.size <= 60 + 40 * 59
    assert mechanism.tables.probability.min() > 0.0
    proportional = linred.non_markov(joint, 0.3, coupling="proportional")
    assert proportional.tables.indptr.size == 1 + 41
    np.testing.assert_array_equal(proportional.table_of, np.repeat(np.arange(1, 41)[:, None], 60, axis=1))


def gaussian_joint():
    """Two discretised bells: tails down to 1e-32, far below what a double keeps beside one."""
    x = np.arange(-20, 21)
    p = np.exp(-((x - np.array([[-1], [1]])) ** 2) / 6)
    return Joint.from_conditional(p / p.sum(axis=1, keepdims=True), [0.5, 0.5])


STEPS = np.abs(np.subtract.outer(np.arange(41.0), np.arange(41.0)))


@pytest.mark.parametrize("target", [0.1, 1.0, 5.0])
@pytest.mark.parametrize(
    "distortion", [None, STEPS, STEPS**2, np.sqrt(STEPS), np.maximum(STEPS - 1.0, 0.0), 1.0 - np.eye(41)]
)
def test_the_rows_are_as_private_as_the_report_says(target, distortion):
    joint = gaussian_joint()
    mechanism = linred.non_markov(joint, linred.alpha_for(joint, ldp=target), distortion=distortion)
    realised = np.einsum("sx,sxy->sy", joint.p_x_given_s, mechanism.p_y_given_sx)
    np.testing.assert_allclose(realised, mechanism.p_y_given_s, rtol=1e-11, atol=0)
    ldp = np.log(realised.max(axis=0) / realised.min(axis=0)).max()
    assert ldp == pytest.approx(target, abs=1e-11)
    assert mechanism.report().after.ldp == pytest.approx(target, abs=1e-11)


DOMINATED = [
    ([[1, 1e-100], [1, 0], [1, 1e-100]], [2, 3, 1], 0.5),
    ([[3.0273869177768103e-130, 1], [5.957763130178851e-131, 1]], [0.94, 0.06], 0.088),
    ([[1, 3e-12, 6e-22], [1, 3e-12, 3e-22]], [5, 9], 0.5),
    ([[1, 7e-15, 5e-29], [1, 7e-15, 1e-29]], [1, 4], 1.0),
    ([[1, 2e-24, 8e-37, 3e-40], [1, 7e-24, 9e-37, 8e-40], [1, 4e-24, 3e-37, 1e-40]], [9, 6, 6], 1.0),
    ([[1, 7e-32, 5e-41, 0], [1, 4e-32, 0, 2e-44], [1, 8e-32, 3e-41, 4e-44]], [6, 4, 4], 0.25),
    (
        [[1, 8e-61, 4e-74, 2e-109, 8e-33], [1, 5e-61, 2e-74, 7e-109, 3e-33], [1, 7e-61, 2e-74, 2e-109, 8e-33]],
        [1, 4, 2],
        0.5,
    ),
    (
        [[1, 4e-39, 6e-89, 6e-43, 8e-93], [1, 2e-39, 1e-89, 7e-43, 8e-93], [1, 7e-39, 5e-89, 9e-43, 2e-93]],
        [8, 2, 4],
        0.5,
    ),
]


@pytest.mark.parametrize(("p", "weights", "alpha"), DOMINATED)
@pytest.mark.parametrize("kind", [*KINDS, "absolute", "squared", "random"])
def test_a_symbol_with_nearly_all_the_mass_hides_no_other(kind, p, weights, alpha):
    p, weights = np.array(p, float), np.array(weights, float)
    joint = Joint.from_conditional(p / p.sum(axis=1, keepdims=True), weights / weights.sum())
    steps = STEPS[: p.shape[1], : p.shape[1]]
    costs = {
        "absolute": steps,
        "squared": steps**2,
        "random": np.random.default_rng(1).random(steps.shape) * (steps > 0),
    }
    mechanism = make(kind, joint, alpha) if kind in KINDS else linred.non_markov(joint, alpha, distortion=costs[kind])
    realised = np.einsum("sx,sxy->sy", joint.p_x_given_s, mechanism.p_y_given_sx)
    np.testing.assert_allclose(realised, mechanism.p_y_given_s, rtol=1e-11, atol=0)


def test_groups_that_are_alike_move_nothing():
    joint = Joint.from_conditional([[0.4, 0.6], [0.4, 0.6]], [0.3, 0.7])
    for coupling in ("northwest", "proportional"):
        mechanism = linred.non_markov(joint, 0.3, coupling=coupling)
        assert mechanism.dtv() == 0.0
        assert not mechanism.table_of.any(), "an empty table is no table to draw from"


@pytest.mark.parametrize("kind", KINDS)
@given(st.integers(0, 2**32 - 1), alphas)
def test_every_released_probability_is_right_relative_to_itself(kind, seed, alpha):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(8, 0.5), 3) * 10.0 ** (rng.integers(-25, 1, (3, 8)) * rng.choice([0, 1, 4]))
    joint = Joint.from_conditional(p / p.sum(axis=1, keepdims=True), rng.dirichlet(np.ones(3)))
    mechanism = make(kind, joint, alpha)
    realised = np.einsum("sx,sxy->sy", joint.p_x_given_s, mechanism.p_y_given_sx)
    np.testing.assert_allclose(realised, mechanism.p_y_given_s, rtol=1e-11, atol=0)


def test_no_reduction_and_full_reduction():
    joint = example_1()
    for kind in KINDS:
        untouched, erased = make(kind, joint, 0.0), make(kind, joint, 1.0)
        np.testing.assert_array_equal(untouched.p_y_given_sx, np.tile(np.eye(4), (2, 1, 1)))
        assert untouched.dtv() == 0.0
        assert linred.ldp(untouched.released) == linred.ldp(joint)
        assert linred.ldp(erased.released) == linred.log_lift(erased.released) == 0.0
        assert linred.mutual_information(erased.released) == 0.0


def exact_figures(joint, alpha):
    """LDP and log-lift of (1-alpha) P(x|s) + alpha P(x) over the reals, for the doubles as they are, in 50 digits."""
    alpha, p_x = Fraction(alpha), [Fraction(p) for p in joint.p_x.tolist()]
    rows = [
        [(1 - alpha) * Fraction(p) + alpha * q for p, q in zip(row, p_x, strict=True)]
        for row, p_s in zip(joint.p_x_given_s.tolist(), joint.p_s.tolist(), strict=True)
        if p_s > 0
    ]
    ldp = lift = Fraction(1)
    for q, column in zip(p_x, zip(*rows, strict=True), strict=True):
        if q == 0:
            continue
        if min(column) == 0:
            return math.inf, math.inf
        ldp, lift = max(ldp, max(column) / min(column)), max(lift, max(column) / q, q / min(column))
    decimal.getcontext().prec = 50
    return tuple((decimal.Decimal(r.numerator) / decimal.Decimal(r.denominator)).ln() for r in (ldp, lift))


targets = st.one_of(st.none(), st.floats(1e-6, 4.0), st.sampled_from([0.5, 1.0, 2.0, 0.1]))


@given(count_tables, targets, targets)
def test_alpha_for_meets_its_targets_in_the_reals_and_is_the_smallest(counts, ldp, log_lift):
    assume(ldp is not None or log_lift is not None)
    joint = Joint.from_counts(counts)
    alpha = linred.alpha_for(joint, ldp=ldp, log_lift=log_lift)
    released = linred.linear_reduction(joint, alpha)
    exact_ldp, exact_lift = exact_figures(joint, alpha)
    slack = math.inf
    if ldp is not None:
        assert linred.ldp(released) <= ldp
        assert exact_ldp <= decimal.Decimal(ldp)
        slack = min(slack, float(decimal.Decimal(ldp) - exact_ldp))
    if log_lift is not None:
        assert linred.log_lift(released) <= log_lift
        assert exact_lift <= decimal.Decimal(log_lift)
        slack = min(slack, float(decimal.Decimal(log_lift) - exact_lift))
    assert alpha == 0.0 or slack < 2e-14, "the target is used up to rounding"


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 3.0))
def test_alpha_for_on_smooth_joints(seed, target):
    joint = random_joint(np.random.default_rng(seed), 3, 5)
    for name in ("ldp", "log_lift"):
        alpha = linred.alpha_for(joint, **{name: target})
        figure = exact_figures(joint, alpha)[name == "log_lift"]
        assert figure <= decimal.Decimal(target)
        assert alpha == 0.0 or float(decimal.Decimal(target) - figure) < 2e-14


def test_extreme_targets():
    joint = Joint([[0.25, 0.25], [0.5, 0.0]])
    assert linred.alpha_for(joint, ldp=0.0) == 1.0
    assert linred.alpha_for(joint, log_lift=0.0) == 1.0
    assert linred.alpha_for(joint, ldp=math.inf) == 0.0
    assert 0.0 < linred.alpha_for(joint, ldp=1000.0) < 1e-15
    assert linred.alpha_for(example_1(), ldp=100.0, log_lift=100.0) == 0.0
    one_row = Joint([[0.405, 0.441, 0.07, 0.084]])
    assert linred.alpha_for(one_row, ldp=0.0, log_lift=0.0) == 0.0
    independent = Joint([[0.25, 0.25], [0.25, 0.25]])
    assert linred.alpha_for(independent, ldp=0.0, log_lift=0.0) == 0.0
    assert 1.0 - 1e-11 < linred.alpha_for(example_1(), ldp=1e-12) < 1.0


def test_both_targets_at_once_is_the_larger_alpha():
    joint = example_1()
    apart = linred.alpha_for(joint, ldp=1.0), linred.alpha_for(joint, log_lift=0.3)
    assert linred.alpha_for(joint, ldp=1.0, log_lift=0.3) == max(apart)


def test_report_has_every_figure_and_prints_as_a_table():
    mechanism = linred.non_markov(example_1(), 0.5)
    report = mechanism.report(base=2)
    assert report.before.ldp == linred.ldp(example_1(), 2)
    for name in FIGURES:
        assert getattr(report.after, name) == getattr(linred, name)(mechanism.released, 2)
    assert report.utility.dtv == mechanism.dtv()
    assert report.utility.mutual_information == mechanism.mutual_information(2)
    assert report.utility.entropy == pytest.approx(1.8847367482, abs=5e-11)
    assert report.utility.information_loss == pytest.approx(1.8847367482 - 1.3592782611, abs=1e-10)
    lines = str(report).splitlines()
    assert lines[0] == "non_markov, alpha = 0.5, 2 x 4 symbols"
    assert lines[3].split() == ["LDP", "2.32193", "1.16993"]
    assert len({len(line) for line in lines[2:9]}) == 1, "columns are aligned"


def test_a_report_shows_the_distortion_that_a_mechanism_was_made_for():
    d = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    report = linred.non_markov(example_1(), 0.5, distortion=d).report()
    assert report.utility.expected_distortion == pytest.approx(0.189)
    assert str(report).splitlines()[-1].split() == ["expected", "distortion", "0.189000"]
    plain = linred.non_markov(example_1(), 0.5).report()
    assert plain.utility.expected_distortion is None
    assert "expected" not in str(plain)


def test_a_report_of_an_infinite_figure_prints():
    assert "inf" in str(linred.markov(Joint([[0.5, 0.0], [0.25, 0.25]]), 0.5).report())


def test_mechanisms_survive_pickling_and_cannot_be_changed():
    mechanism = linred.non_markov(example_1(), 0.5)
    again = pickle.loads(pickle.dumps(mechanism))
    np.testing.assert_array_equal(again.p_y_given_sx, mechanism.p_y_given_sx)
    for instance in (mechanism, again):
        for array in (instance.keep, instance.move, instance.table_of, *instance.tables):
            assert not array.flags.writeable


def test_large_alphabets_stay_sparse():
    rng = np.random.default_rng(2)
    joint = random_joint(rng, 60, 3000, zeros=0.8)
    mechanism = linred.non_markov(joint, 0.3)
    arrays = (mechanism.keep, mechanism.move, mechanism.table_of, *mechanism.tables)
    assert sum(array.nbytes for array in arrays) < 60 * 3000 * 48
    # Equation (3) without the dense channel: what is kept, and what each table receives.
    moved = np.zeros((60, mechanism.tables.indptr.size - 1))
    s, x = np.nonzero(joint.p_sx)
    np.add.at(moved, (s, mechanism.table_of[s, x]), (joint.p_x_given_s * mechanism.move)[s, x])
    by_rows = joint.p_x_given_s * mechanism.keep + moved @ mechanism.destinations
    np.testing.assert_allclose(by_rows, mechanism.p_y_given_s, rtol=0, atol=1e-14)
    assert 0.0 < mechanism.mutual_information() < linred.privacy.metrics.entropy(joint.p_x)


BAD = [
    (lambda joint: linred.markov(joint, -0.1), r"alpha = -0.1 is outside \[0, 1\]"),
    (lambda joint: linred.markov(joint, 1.0000001), "alpha = 1.0000001 is outside"),
    (lambda joint: linred.non_markov(joint, math.nan), "alpha = nan is outside"),
    (lambda joint: linred.linear_reduction(joint, "0.5"), "alpha = '0.5' is not a number"),
    (lambda joint: linred.linear_reduction(joint, True), "alpha = True is not a number"),
    (lambda joint: linred.markov(joint, 10**400), "alpha = 10000000+\\.\\.\\. is not a number"),
    (lambda joint: linred.non_markov(joint, None), "nothing is asked of the mechanism"),
    (lambda joint: linred.alpha_for(joint), "a target is needed: ldp=, log_lift= or both"),
    (lambda joint: linred.alpha_for(joint, ldp=-1), r"ldp = -1 is outside \[0, inf\]"),
    (lambda joint: linred.alpha_for(joint, ldp=1, log_lift=math.nan), "log_lift = nan is outside"),
    (lambda joint: linred.non_markov(joint, 0.5, coupling=np.array(["northwest"])), "coupling = array"),
    (lambda joint: linred.markov(joint, 0.5).report(base="2"), "base = '2' is not a number"),
    (lambda joint: linred.non_markov(joint, 0.5, coupling="random"), "coupling = 'random' is not"),
    (
        lambda joint: linred.non_markov(joint, 0.5, coupling="proportional", distortion=1 - np.eye(4)),
        "cannot be chosen",
    ),
    (lambda joint: linred.non_markov(joint, 0.5, distortion=np.ones((4, 4))), r"distortion\[0, 0\] = 1.0 is not 0"),
    (lambda joint: linred.non_markov(joint, 0.5, distortion=np.eye(4) - 1), r"distortion\[0, 1\] = -1.0 is negative"),
    (lambda joint: linred.non_markov(joint, 0.5, distortion=np.zeros((3, 3))), r"distortion has shape \(3, 3\)"),
    (lambda joint: linred.non_markov(joint, 0.5, distortion=np.full((4, 4), np.inf)), r"distortion\[0, 0\] = inf"),
    (lambda joint: linred.markov(joint, 0.5).expected_distortion([[0, np.nan]]), r"distortion\[0, 1\] = nan"),
    (lambda joint: linred.markov(joint, 0.5).report(base=0), "base = 0"),
]


@pytest.mark.parametrize(("call", "message"), BAD)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call(example_1())


def test_only_joints_have_mechanisms():
    mechanism = linred.markov(example_1(), 0.5)
    for wrong in (None, np.eye(2), mechanism):
        for call in (linred.linear_reduction, linred.markov, linred.non_markov):
            with pytest.raises(TypeError, match=r"joint is a \w+, not a linred\.Joint"):
                call(wrong, 0.5)
        with pytest.raises(TypeError, match=r"not a linred\.Joint"):
            linred.alpha_for(wrong, ldp=1.0)

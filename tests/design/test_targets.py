"""Every limit of `linred.Target` in `linred.optimal`, alone and together, against independent programmes."""

import math
import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linred
from linred import Joint
from support import stats
from support.exact_figures import conditionals, log_ratio
from support.joints import adult, count_tables, counts, example_1, random_joint
from support.target_programmes import INF, fewest_changes, figures, least_limit, of_groups

DOUBLES = 1e-9
"""Nats by which figures of doubles may exceed a limit that the integers meet."""


def composite(table):
    """Return a Joint of counts whose S has two columns."""
    return Joint.from_counts(table, [(s // 2, s % 2) for s in range(len(table))])


def as_oracle(joint, *, dp=INF, neighbors=None, pairs=None, secrets=None, ldp=INF, **others):
    """Return keywords of `linred.optimal` as keywords of `fewest_changes`; columns of a secret are positions."""
    limits = np.full((joint.shape[0],) * 2, INF) if pairs is None else np.array(pairs, float)
    if neighbors is not None:
        limits = np.minimum(limits, np.where(neighbors, dp, INF))
    of = secrets if isinstance(secrets, dict) else dict.fromkeys(range(len(secrets or ())), ldp)
    codes = list(secrets or ())
    groups = [(column_codes(joint, code) if isinstance(code, tuple) else code) for code in codes]
    own = ldp if secrets is None or isinstance(secrets, dict) else INF
    return {"ldp": own, "pairs": limits, "secrets": list(zip(groups, of.values(), strict=True)), **others}


def column_codes(joint, places):
    values = [tuple(label[place] for place in places) for label in joint.s_labels]
    return np.array([sorted(set(values)).index(value) for value in values])


limit = st.floats(0.01, 3.0)
LIMITS = ("ldp", "log_lift", "max_lift", "min_lift", "dp", "pairs", "secrets", "given_x", "max_changed_by_s")


@st.composite
def limits_of(draw, joint, name):
    """Draw keywords of `linred.optimal` that set one limit."""
    n_s = joint.shape[0]
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if name == "dp":
        edges = rng.random((n_s, n_s)) < 0.6
        return {"dp": draw(limit), "neighbors": np.triu(edges, 1) | np.triu(edges, 1).T}
    if name == "pairs":
        pairs = np.where(rng.random((n_s, n_s)) < 0.4, INF, rng.uniform(0.05, 2.0, (n_s, n_s)))
        np.fill_diagonal(pairs, 0.0)
        return {"pairs": pairs}
    if name == "secrets":
        kind = draw(st.sampled_from(["list of columns", "mapping", "list of codes"]))
        if kind == "mapping":
            return {"secrets": {(0,): draw(limit), (1,): draw(limit)}}
        places = draw(st.sampled_from([[(0,), (1,)], [(1,)], [(0,), (1,), (0, 1)]]))
        return {"ldp": draw(limit), "secrets": places if kind == "list of columns" else [rng.integers(0, 3, n_s)]}
    return {name: draw(st.floats(0.05, 1.0) if name == "max_changed_by_s" else limit)}


@st.composite
def problems(draw, names):
    """Draw (Joint, keywords of `linred.optimal`) with the limits of the names."""
    joint, keywords = composite(draw(count_tables)), {}
    for name in names:
        for key, value in draw(limits_of(joint, name)).items():
            keywords.setdefault(key, value)
    keywords["keep_marginal"] = draw(st.booleans())
    keywords["sees_s"] = "given_x" in names or draw(st.booleans())
    return joint, keywords


def check(joint, keywords):
    """Check the cost, the bound on the gap and every figure of `optimal`; the targets may be infeasible."""
    wanted = as_oracle(joint, **keywords)
    cost, _ = fewest_changes(joint.p_sx, **wanted)
    if cost == INF:
        with pytest.raises(linred.CannotMeetError, match="max_changed_by_s"):
            linred.optimal(joint, **keywords)
        return
    mechanism = linred.optimal(joint, **keywords)
    assert mechanism.dtv() == pytest.approx(cost, rel=1e-7, abs=1e-7)
    assert 0.0 <= mechanism.gap <= 1e-7
    assert mechanism.dtv() - mechanism.gap <= cost + 1e-9, "the bound is valid"
    check_limits(joint, mechanism, wanted)
    check_limits_exactly(joint, mechanism, wanted)


def check_limits(joint, mechanism, wanted):
    k = mechanism.p_y_given_sx
    reached = figures(joint.p_sx, k, [codes for codes, _ in wanted["secrets"]])
    for name in ("ldp", "log_lift", "max_lift", "min_lift", "given_x"):
        assert getattr(reached, name) <= wanted.get(name, INF) + DOUBLES, name
    apart = ~np.eye(joint.shape[0], dtype=bool)
    assert (reached.pairs <= wanted["pairs"] + DOUBLES)[apart].all()
    for figure, (_, most) in zip(reached.secrets, wanted["secrets"], strict=True):
        assert figure <= most + DOUBLES
    assert reached.changed_by_s.max() <= wanted.get("max_changed_by_s", 1.0) + DOUBLES
    if wanted.get("keep_marginal", True):
        np.testing.assert_allclose(np.einsum("sx,sxy->y", joint.p_sx, k), joint.p_x, rtol=0, atol=1e-12)
    assert wanted.get("sees_s", True) or (k == k[0]).all()


def check_limits_exactly(joint, mechanism, wanted):
    """Check the sampled integers without any tolerance: the certificate, and Fractions compared with 50 digits."""
    sampler = mechanism.sampler()
    certificate = sampler.certificate()
    for name in ("ldp", "log_lift", "max_lift", "min_lift"):
        assert getattr(certificate, name) <= wanted.get(name, INF), name
    channel, (symbols, rows, p_s) = stats.channel(sampler), conditionals(joint)
    n_y = joint.shape[1]
    k = [channel[s if sampler.sees_s else 0] for s in range(joint.shape[0])]
    q = {
        s: [sum(p * k[s][x, y] for x, p in enumerate(row)) for y in range(n_y)]
        for s, row in zip(symbols, rows, strict=True)
    }
    with mpmath.workdps(50):
        for s, t in np.argwhere(np.isfinite(wanted["pairs"])):
            if s != t and s in q and t in q:
                assert largest(q[s], q[t]) <= wanted["pairs"][s, t]
        for codes, most in wanted["secrets"]:
            groups = [_group(q, dict(zip(symbols, p_s, strict=True)), codes, code) for code in {*codes[symbols]}]
            assert all(largest(a, b) <= most for a in groups for b in groups)
        if wanted.get("given_x", INF) < INF:
            for x in np.flatnonzero(joint.p_x > 0.0):
                assert all(largest(a[x], b[x]) <= wanted["given_x"] for a in k for b in k), "unseen pairs too"


def _group(q, p_s, codes, code):
    """Return P(y|f) of a group in Fractions."""
    members = [s for s in q if codes[s] == code]
    total = sum((p_s[s] for s in members), Fraction(0))
    return [sum((p_s[s] * q[s][y] for s in members), Fraction(0)) / total for y in range(len(q[members[0]]))]


def largest(a, b):
    return max(log_ratio(Fraction(n), Fraction(d)) for n, d in zip(a, b, strict=True))


ALONE = LIMITS


@pytest.mark.parametrize("name", ALONE)
@given(st.data())
@settings(max_examples=60)
def test_each_limit_alone(name, data):
    check(*data.draw(problems([name])))


@given(st.data())
@settings(max_examples=150)
def test_limits_together(data):
    check(*data.draw(problems(data.draw(st.permutations(LIMITS).map(lambda names: names[:3])))))


@pytest.mark.parametrize("seed", range(12))
def test_limits_together_where_columns_and_rows_are_equal(seed):
    """Probabilities that are no counts, with zeros, equal masses, an equal row and a column that is a multiple."""
    rng = np.random.default_rng(seed)
    p = random_joint(rng, 4, 5, zeros=0.25, ties=seed % 2 == 0).p_sx
    p = np.vstack([p, p[1]])
    p = np.hstack([p, 0.5 * p[:, :1]])
    joint = Joint(p / p.sum(), [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)])
    pairs = rng.uniform(0.2, 1.5, (5, 5))
    np.fill_diagonal(pairs, 0.0)
    for keep_marginal in (True, False):
        check(joint, {"max_lift": 0.4, "pairs": pairs, "given_x": 1.0, "keep_marginal": keep_marginal})
        check(joint, {"min_lift": 0.4, "secrets": {(0,): 0.3, (1,): 0.2}, "keep_marginal": keep_marginal})


def with_limit(name, joint, most):
    """Return keywords that limit one figure of a Joint by `most`."""
    n_s = joint.shape[0]
    steps = np.abs(np.subtract.outer(np.arange(n_s), np.arange(n_s)))
    return {
        "dp": {"dp": most, "neighbors": steps == 1},
        "pairs": {"pairs": most * steps},
        "secrets": {"ldp": most, "secrets": [np.arange(n_s) % 2, np.arange(n_s) // 2]},
        "given_x": {"given_x": most, "ldp": 0.4},
        "max_changed_by_s": {"max_changed_by_s": 0.3 * most, "ldp": 1.0},
    }.get(name, {name: most})


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize("keep_marginal", [True, False])
def test_a_weaker_limit_costs_no_more(name, keep_marginal):
    joint = random_joint(np.random.default_rng(3), 4, 6, zeros=0.1)
    costs = []
    for most in (0.3, 0.5, 0.8, 1.3, 2.1):
        keywords = with_limit(name, joint, most)
        mechanism = None
        if fewest_changes(joint.p_sx, keep_marginal=keep_marginal, **as_oracle(joint, **keywords))[0] < INF:
            mechanism = linred.optimal(joint, keep_marginal=keep_marginal, **keywords)
        costs.append(mechanism.dtv() if mechanism else INF)
    assert (
        (np.subtract(costs[1:], costs[:-1]) <= 1e-9).all() if costs[0] < INF else costs == sorted(costs, reverse=True)
    )
    assert costs[-1] < costs[0], "the limits are not idle"


JOINTS = [example_1(), adult(), random_joint(np.random.default_rng(5), 4, 6, zeros=0.3)]


@pytest.mark.parametrize("joint", JOINTS, ids=str)
@pytest.mark.parametrize("ldp", [0.5, 1.0])
def test_who_knows_x_all_or_nothing(joint, ldp):
    blind, sighted = (linred.optimal(joint, ldp=ldp, sees_s=sees_s).dtv() for sees_s in (False, True))
    assert linred.optimal(joint, ldp=ldp, given_x=0.0).dtv() == pytest.approx(blind, abs=1e-9)
    assert linred.optimal(joint, ldp=ldp, given_x=INF).dtv() == pytest.approx(sighted, abs=1e-9)
    between = linred.optimal(joint, ldp=ldp, given_x=0.5).dtv()
    assert sighted - 1e-9 <= between <= blind + 1e-9


@pytest.mark.parametrize("joint", JOINTS, ids=str)
@pytest.mark.parametrize("sees_s", [True, False])
@pytest.mark.parametrize("kind", ["neighbours", "pairs", "secret", "mapping", "log of lifts"])
def test_the_same_limit_in_other_words(joint, sees_s, kind):
    n_s = joint.shape[0]
    everybody = ~np.eye(n_s, dtype=bool)
    name, keywords = {
        "neighbours": ("ldp", {"dp": 0.7, "neighbors": everybody}),
        "pairs": ("ldp", {"pairs": 0.7 * everybody}),
        "secret": ("ldp", {"ldp": 0.7, "secrets": [np.arange(n_s)]}),
        "mapping": ("ldp", {"ldp": 0.7, "pairs": 0.9 * everybody}),
        "log of lifts": ("log_lift", {"max_lift": 0.7, "min_lift": 0.7}),
    }[kind]
    expected = linred.optimal(joint, sees_s=sees_s, **{name: 0.7}).dtv()
    assert linred.optimal(joint, sees_s=sees_s, **keywords).dtv() == pytest.approx(expected, abs=1e-9)


HUGE = {
    **{name: lambda most, name=name: {name: most} for name in ("ldp", "log_lift", "min_lift", "given_x")},
    "max_lift": lambda most: {"max_lift": most, "ldp": 1.0},
    "dp": lambda most: {"dp": most, "neighbors": ~np.eye(4, dtype=bool)},
    "pairs": lambda most: {"pairs": most * ~np.eye(4, dtype=bool)},
    "secrets": lambda most: {"secrets": {(0,): most, (1,): most}},
}


@pytest.mark.parametrize("name", HUGE)
@pytest.mark.parametrize("most", [30.0, 100.0, 800.0, 1e308])
def test_huge_limits_cost_next_to_nothing(name, most):
    """They are finite, so no ratio may be infinite; but e^limit spoils a programme, or is above all doubles."""
    joint = Joint(random_joint(np.random.default_rng(7), 4, 5, zeros=0.3).p_sx, [(s // 2, s % 2) for s in range(4)])
    beside = {} if name == "max_lift" else {"max_lift": 0.4}
    huge = HUGE[name](most)
    without = {key: value for key, value in huge.items() if key == "ldp" and name != "ldp"}
    mechanism = linred.optimal(joint, **beside, **huge)
    assert mechanism.dtv() == pytest.approx(linred.optimal(joint, **(beside or without)).dtv(), abs=1e-6)
    assert mechanism.sampler().certificate().met
    assert 0.0 <= mechanism.gap < 1e-5


@pytest.mark.parametrize("limit", [1e-300, 1e-16])
def test_limits_of_secrets_below_the_rounding_of_doubles(limit):
    joint = Joint(random_joint(np.random.default_rng(9), 4, 5).p_sx, [(s // 2, s % 2) for s in range(4)])
    assert linred.alpha_for(joint, secrets={(0,): limit}) == 1.0
    assert linred.markov(joint, secrets={(0,): limit}).sampler().certificate().ldp == 0.0


@pytest.mark.parametrize(
    "idle",
    [
        {"pairs": np.where(np.eye(2), 0.0, INF)},
        {"dp": 0.1, "neighbors": np.zeros((2, 2), bool)},
        {"max_changed_by_s": 0.0},
        {"given_x": 0.0},
        {"ldp": 0.1, "secrets": [np.zeros(2, int)]},
    ],
    ids=lambda keywords: next(iter(keywords)),
)
def test_limits_that_nothing_exceeds_change_nothing(idle):
    mechanism = linred.optimal(example_1(), **idle)
    assert (mechanism.dtv(), mechanism.gap) == (0.0, 0.0)


def test_hamming_neighbours_are_labels_that_differ_in_one_column():
    joint = Joint(random_joint(np.random.default_rng(8), 4, 5).p_sx, [(0, 0), (0, 1), (1, 0), (1, 1)])
    differ = np.array([[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]], bool)
    by_name, by_matrix = (linred.optimal(joint, dp=0.4, neighbors=of) for of in ("hamming", differ))
    assert by_name.dtv() == by_matrix.dtv()
    assert linred.dp(by_name.released, "hamming") <= 0.4
    assert by_name.dtv() < linred.optimal(joint, ldp=0.4).dtv() - 1e-3


def test_target_and_keywords_mean_the_same():
    joint, limits = example_1(), {"ldp": 0.9, "max_lift": 0.3, "given_x": 1.5, "max_changed_by_s": 0.6}
    by_keywords = linred.optimal(joint, **limits)
    by_target = linred.optimal(joint, target=linred.Target(**limits))
    np.testing.assert_array_equal(by_keywords.p_y_given_sx, by_target.p_y_given_sx)
    assert by_keywords.target == by_target.target == linred.Target(**limits)


@pytest.mark.parametrize(
    "keywords",
    [
        {"max_lift": 0.3},
        {"ldp": 0.8, "pairs": np.array([[0.0, 0.4], [INF, 0.0]])},
        {"ldp": 0.6, "given_x": 0.7},
        {"ldp": 0.5, "secrets": [np.array([0, 1])]},
    ],
    ids=lambda keywords: "-".join(keywords),
)
@pytest.mark.parametrize("sees_s", [True, False])
@pytest.mark.parametrize("keep_marginal", [True, False])
def test_limits_with_a_distortion(keywords, sees_s, keep_marginal):
    if "given_x" in keywords and not sees_s:
        sees_s = True
    joint, d = example_1(), np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    keywords = keywords | {"sees_s": sees_s, "keep_marginal": keep_marginal, "distortion": d}
    wanted = as_oracle(joint, **keywords)
    mechanism = linred.optimal(joint, **keywords)
    assert mechanism.expected_distortion(d) == pytest.approx(fewest_changes(joint.p_sx, **wanted)[0], abs=1e-7)
    check_limits(joint, mechanism, wanted)
    check_limits_exactly(joint, mechanism, wanted)


@pytest.mark.parametrize("least", ["ldp", "log_lift", "max_lift"])
@pytest.mark.parametrize("share", [0.002, 0.01, 0.05, 0.12])
def test_the_least_leakage_for_a_share_of_changes(least, share):
    joint = adult()
    mechanism = linred.optimal(joint, max_changed=share, least=least)
    expected = least_limit(joint.p_sx, least, share)
    assert mechanism.dtv() <= share + 1e-9
    assert getattr(mechanism.sampler().certificate(), least) == pytest.approx(expected, abs=1e-6)
    assert getattr(figures(joint.p_sx, mechanism.p_y_given_sx), least) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("ldp", [0.3, 1.0, 2.0])
@pytest.mark.parametrize("sees_s", [True, False])
def test_max_changed_is_the_inverse_of_ldp(ldp, sees_s):
    joint = adult()
    share = linred.optimal(joint, ldp=ldp, sees_s=sees_s).dtv()
    assert linred.optimal(joint, max_changed=share, sees_s=sees_s).sampler().certificate().ldp == pytest.approx(
        ldp, abs=1e-6
    )


def test_the_least_leakage_under_other_limits():
    joint, share, others = adult(), 0.03, {"max_lift": 0.4, "max_changed_by_s": 0.2}
    mechanism = linred.optimal(joint, max_changed=share, **others)
    expected = least_limit(joint.p_sx, "ldp", share, **others)
    assert mechanism.sampler().certificate().ldp == pytest.approx(expected, abs=1e-6)
    check_limits(joint, mechanism, as_oracle(joint, **others))


def test_a_share_that_is_too_small_is_refused_with_the_least_one():
    joint = adult()
    least = fewest_changes(joint.p_sx, max_lift=0.25)[0]
    with pytest.raises(linred.CannotMeetError, match="max_changed") as refused:
        linred.optimal(joint, max_changed=0.01, max_lift=0.25)
    named = [float(number) for number in re.findall(r"\d*\.?\d+(?:e-?\d+)?", str(refused.value))]
    assert any(least - 1e-9 <= share / per <= 1.01 * least for share in named for per in (1.0, 100.0)), named


@pytest.mark.parametrize("limits", [{"max_lift": 0.3}, {"pairs": "far"}], ids=str)
def test_a_larger_alphabet(limits):
    """Flights, 16 x 105; far carriers in the alphabet may be told apart more."""
    joint = counts("flights_carrier_dest")
    if limits == {"pairs": "far"}:
        limits = {"pairs": 0.2 * np.abs(np.subtract.outer(np.arange(16), np.arange(16)))}
    cost = fewest_changes(joint.p_sx, **limits)[0]
    mechanism = linred.optimal(joint, **limits)
    assert mechanism.dtv() == pytest.approx(cost, rel=1e-7)
    assert mechanism.gap < 1e-9
    check_limits(joint, mechanism, as_oracle(joint, **limits))


TWO = Joint(example_1().p_sx, ["Ariadne", "Minos"], ["p", "q", "r", "u"])
PAIRED = Joint(example_1().p_sx, [("Ariadne", 1), ("Minos", 1)], ["p", "q", "r", "u"])
NUMBERS = ("max_lift", "min_lift", "dp", "given_x", "max_changed_by_s", "max_changed")
BAD = [
    *[(TWO, {name: bad, "neighbors": None}, name) for name in NUMBERS for bad in (-0.1, math.nan, "1")],
    (TWO, {"max_changed_by_s": 1.5, "ldp": 1.0}, "max_changed_by_s"),
    (TWO, {"max_changed": 1.5}, "max_changed"),
    (TWO, {"pairs": np.zeros((3, 3))}, "pairs"),
    (TWO, {"pairs": np.zeros((2, 4))}, "pairs"),
    (TWO, {"pairs": np.ones((2, 2))}, "pairs"),
    (TWO, {"pairs": [[0.0, -1.0], [1.0, 0.0]]}, "pairs"),
    (TWO, {"pairs": [[0.0, math.nan], [1.0, 0.0]]}, "pairs"),
    (TWO, {"pairs": {("Ariadne", "Theseus"): 1.0}}, "pairs"),
    (TWO, {"pairs": "Ariadne"}, "pairs is text: linred.pairs_by_distance"),
    (PAIRED, {"secrets": ["Ariadne"], "ldp": 1.0}, r"secrets\[0\] is text, .* positions"),
    (TWO, {"pairs": ~np.eye(2, dtype=bool)}, "pairs has dtype bool"),
    (TWO, {"dp": 1.0}, "neighbors"),
    (TWO, {"neighbors": np.zeros((2, 2), bool)}, "dp"),
    (TWO, {"dp": 1.0, "neighbors": np.zeros((3, 3), bool)}, "neighbors"),
    (TWO, {"dp": 1.0, "neighbors": "hamming"}, "neighbors"),
    (TWO, {"secrets": "each", "ldp": 1.0}, "secrets"),
    (TWO, {"secrets": [(0,)], "ldp": 1.0}, "secrets"),
    (PAIRED, {"secrets": [(2,)], "ldp": 1.0}, "secrets"),
    (PAIRED, {"secrets": {(0, 5): 1.0}}, "secrets"),
    (PAIRED, {"secrets": {(0,): -1.0}}, "secrets"),
    (PAIRED, {"secrets": {(0,): math.nan}}, "secrets"),
    (PAIRED, {"secrets": "every", "ldp": 1.0}, "secrets"),
    (PAIRED, {"secrets": [()], "ldp": 1.0}, "secrets"),
    (PAIRED, {"secrets": [True], "ldp": 1.0}, r"secrets\[0\] is a bool"),
    (PAIRED, {"secrets": [], "ldp": 1.0}, "secrets"),
    (PAIRED, {"secrets": [np.array([0, 1, 1])], "ldp": 1.0}, "secrets"),
    (PAIRED, {"secrets": "each"}, "ldp"),
    (TWO, {"given_x": 1.0, "ldp": 1.0, "sees_s": False}, "given_x"),
    (TWO, {"max_lift": 1.0, "alpha": 0.5}, "alpha"),
    (TWO, {"max_changed": 0.1, "alpha": 0.5}, "alpha"),
    (TWO, {"max_changed": 0.1, "least": "dp"}, "least"),
    (TWO, {"ldp": 1.0, "least": "ldp"}, "max_changed"),
]


@pytest.mark.parametrize(("joint", "keywords", "named"), BAD, ids=[f"{i} {case[2]}" for i, case in enumerate(BAD)])
def test_bad_arguments(joint, keywords, named):
    keywords = {name: value for name, value in keywords.items() if value is not None}
    with pytest.raises(ValueError, match=named) as refused:
        linred.optimal(joint, **keywords)
    message = str(refused.value)
    assert "\n" not in message
    assert not any(name in message for name in ("Ariadne", "Minos", "Theseus")), "no value of the data"


def test_target_and_a_keyword_are_one_too_many():
    with pytest.raises(ValueError, match="target= and max_lift= are both given"):
        linred.optimal(example_1(), target=linred.Target(ldp=1.0), max_lift=0.5)


def test_the_oracle_itself():
    """A case by hand: S is X, two equal symbols. At LDP e a share 1 - e^e / (1 + e^e) of the records changes."""
    p = np.diag([0.5, 0.5])
    for most in (0.3, 1.0, 2.0):
        by_hand = 1.0 / (1.0 + math.exp(most))
        assert fewest_changes(p, ldp=most)[0] == pytest.approx(by_hand, abs=1e-9)
        assert fewest_changes(p, max_lift=math.log(2.0 - 2.0 * by_hand))[0] == pytest.approx(by_hand, abs=1e-9)
        assert fewest_changes(p, min_lift=-math.log(2.0 * by_hand))[0] == pytest.approx(by_hand, abs=1e-9)
        assert fewest_changes(p, ldp=most, sees_s=False)[0] == pytest.approx(by_hand, abs=1e-9)
        assert fewest_changes(p, pairs=[[0, most], [INF, 0]])[0] < by_hand + 1e-9
        assert fewest_changes(p, secrets=[([0, 1], most)])[0] == pytest.approx(by_hand, abs=1e-9)
        assert fewest_changes(p, ldp=most, max_changed_by_s=0.99 * by_hand)[0] == INF
        assert fewest_changes(p, ldp=most, distortion=3.0 * (1 - np.eye(2)))[0] == pytest.approx(
            3.0 * by_hand, abs=1e-9
        )


@given(count_tables, st.floats(0.05, 2.0))
@settings(max_examples=40)
def test_the_two_forms_of_the_oracle_agree(table, most):
    """Cells K(y|s,x) and groups P(y|s) are different programmes with one optimum under the Hamming distortion."""
    p = table / table.sum()
    hamming = 1.0 - np.eye(p.shape[1])
    by_groups, k = fewest_changes(p, ldp=most, max_lift=0.7 * most)
    assert fewest_changes(p, ldp=most, max_lift=0.7 * most, distortion=hamming)[0] == pytest.approx(by_groups, abs=1e-8)
    assert fewest_changes(p, ldp=most, given_x=60.0)[0] >= fewest_changes(p, ldp=most)[0] - 1e-8
    assert figures(p, k).changed == pytest.approx(by_groups, abs=1e-8)
    np.testing.assert_allclose(of_groups(p.sum(axis=1), np.zeros(len(p))).sum(), 1.0)

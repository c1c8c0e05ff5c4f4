"""`mechanism.sanitize`: the same kind of column out, unseen and missing values by policy, and the counts."""

import numpy as np
import pytest

import linred
from support import stats
from support.columns import EXPECTED, JOINT, KEY, KINDS, MECHANISM, RNG, S, X, values

# ---- values that the fit never saw


WITH_UNSEEN = ["new" if i % 10 == 3 else None if i % 10 == 4 else x for i, x in enumerate(X)]
UNSEEN = np.array([i % 10 in (3, 4) for i in range(len(X))])


@pytest.mark.parametrize("kind", ["list", "numpy object", "pandas str", "pandas object", "polars String", "arrow"])
def test_unseen_values_by_policy(kind):
    x = KINDS[kind](WITH_UNSEEN)
    with pytest.raises(ValueError, match=r"^x\[3\] is not in the mechanism's alphabet"):
        MECHANISM.sanitize(S, x, key=KEY, start=0)
    marginal, counts = MECHANISM.sanitize(S, x, key=KEY, start=0, unseen="marginal", return_counts=True)
    known = np.array(values(marginal), object)
    np.testing.assert_array_equal(known[~UNSEEN], np.array(EXPECTED, object)[~UNSEEN])
    assert set(known) == {"a", "bb", "ccc"}
    assert counts.n_unseen_values == UNSEEN.sum()
    assert counts.n_records == len(X)
    null = np.array(values(MECHANISM.sanitize(S, x, key=KEY, start=0, unseen="null")), object)
    assert all(value is None or value != value for value in null[UNSEEN])
    np.testing.assert_array_equal(null[~UNSEEN], np.array(EXPECTED, object)[~UNSEEN])
    assert type(marginal) is type(x)


def test_unseen_values_of_s_count_as_well():
    s = ["x" if i == 5 else s for i, s in enumerate(S)]
    with pytest.raises(ValueError, match=r"^s\[5\] is not in the mechanism's alphabet"):
        MECHANISM.sanitize(s, X)
    drawn, counts = MECHANISM.sanitize(s, X, key=KEY, start=0, unseen="null", return_counts=True)
    assert drawn[5] is None
    assert counts.n_unseen_values == 1
    markov = linred.markov(JOINT, 0.5)
    assert markov.sanitize(s, X, key=KEY, start=0) == markov.sanitize(None, X, key=KEY, start=0)


def test_marginal_draws_are_from_p_x_and_from_nothing_else():
    """Chi-square of 100,000 unseen records against P_X, by s, at stats.ERROR_RATE each; the key alone decides."""
    s = ["f", "m"] * 50_000
    drawn = np.array(MECHANISM.sanitize(s, ["new"] * 100_000, key=KEY, start=0, unseen="marginal"))
    for of_s in (drawn[::2], drawn[1::2]):
        counts = [(of_s == label).sum() for label in JOINT.x_labels]
        expected = JOINT.p_x * 50_000
        assert stats.stats.chisquare(counts, expected).pvalue > stats.ERROR_RATE
    other = MECHANISM.sanitize(s[::-1], [None] * 100_000, key=KEY, start=0, unseen="marginal")
    assert drawn.tolist() == other


# ---- counts


def test_counts_tell_what_happened():
    counts = np.array([[10, 0, 5, 0], [3, 8, 0, 0]])
    joint = linred.Joint.from_counts(counts)
    s, x = RNG.integers(0, 2, 4000), RNG.integers(0, 4, 4000)
    never = int(((joint.counts == 0)[s, x]).sum())
    y, told = linred.non_markov(joint, 0.5).sanitize(s, x, seed=1, return_counts=True)
    assert told == (4000, int((x != y).sum()), 0, never, False)
    y, told = linred.markov(joint, 0.5).sanitize(None, x, return_counts=True)
    assert told == (4000, int((x != y).sum()), 0, int((x == 3).sum()), True)
    x[7] = 9
    known = np.arange(4000) != 7
    never = int(((joint.counts == 0)[s[known], x[known]]).sum())
    _, told = linred.non_markov(joint, 0.5).sanitize(s, x, key=KEY, start=0, unseen="marginal", return_counts=True)
    assert (told.n_unseen_values, told.n_unseen_pairs, told.private) == (1, never, True)


# ---- randomness


def test_sanitising_is_addressed_as_the_sampler_is():
    halves = (
        MECHANISM.sanitize(S[:700], X[:700], key=KEY, start=0),
        MECHANISM.sanitize(S[700:], X[700:], key=KEY, start=700),
    )
    assert halves[0] + halves[1] == EXPECTED
    assert MECHANISM.sanitize(S, X, key=KEY, start=0, threads=1) == EXPECTED
    assert MECHANISM.sanitize(S, X, key=KEY, context="other") != EXPECTED
    assert MECHANISM.sanitize(S, X) != MECHANISM.sanitize(S, X)
    assert MECHANISM.sanitize(S, X, seed=3) == MECHANISM.sanitize(S, X, seed=3)


BAD = [
    ({"unseen": "drop"}, "unseen = 'drop' is not 'error', 'marginal' or 'null'"),
    ({"unseen": None}, "unseen = None is not"),
    ({"s": S[:-1]}, "s has 1999 records and x has 2000"),
    ({"s": None}, "s is None: this mechanism uses S when sampling"),
    ({"ids": list(range(2000))}, "ids needs key"),
    ({"ids": list(range(2000)), "seed": 1}, "ids needs key"),
    ({"key": KEY}, "key is given alone"),
    ({"key": b"short"}, "key has 5 bytes, not 32"),
    ({"key": KEY, "seed": 1}, "key and seed are both given"),
    ({"x": "abc"}, "x is a str, not a column"),
    ({"x": X[0]}, "x is a str, not a column"),
    ({"x": 5}, "x is a int, not a column"),
    ({"x": [["a"]] * 2000}, r"^x\[0\] is a list that is not hashable"),
]


@pytest.mark.parametrize(("wrong", "message"), BAD)
def test_bad_arguments_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        MECHANISM.sanitize(**{"s": S, "x": X, **wrong})


def test_unseen_values_are_drawn_from_what_is_published():
    """P_Y is not P_X here, and a symbol that is never published must not come from a typing error either."""
    p = [[0.01, 0.49, 0.5], [0.0, 0.5, 0.5]]
    joint = linred.Joint.from_conditional(p, [0.1, 0.9], s_labels=["f", "m"], x_labels=["a", "b", "c"])
    mechanism = linred.optimal(joint, ldp=0.5, keep_marginal=False)
    assert mechanism.p_y[0] == 0.0
    y = mechanism.sanitize(["m"] * 20_000, ["typo"] * 20_000, seed=3, unseen="marginal")
    assert set(y) == {"b", "c"}


@pytest.mark.parametrize("missing", [False, True], ids=["missing is unseen", "missing is a value"])
@pytest.mark.parametrize("unseen", ["marginal", "null"])
def test_changed_records_are_those_whose_value_is_another(unseen, missing):
    """With values outside the alphabets too: s alone, x alone, and a missing x that stays missing."""
    fit_x = ["p", "q", "q", "p", "p", None if missing else "q"]
    mechanism = linred.non_markov(linred.Joint.from_records(["a", "b", "a", "b", "a", "b"], fit_x), ldp=0.2)
    s = ["a", "z", "a", "a", "z", "b"] * 500
    x = ["p", "p", "w", None, None, "q"] * 500
    y, counts = mechanism.sanitize(s, x, seed=3, unseen=unseen, return_counts=True)
    assert counts.n_changed == sum(before != after for before, after in zip(x, y, strict=True))
    assert counts.n_unseen_values == 500 * (3 if missing else 4)

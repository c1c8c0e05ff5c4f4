"""`mechanism.sanitize`: the same kind of column out, unseen and missing values by policy, and what is counted."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import linred
from support import stats

KEY = bytes(range(32))
RNG = np.random.default_rng(1)
S = RNG.choice(["f", "m"], 2000).tolist()
X = [RNG.choice(["a", "bb", "ccc"], p=[0.2, 0.3, 0.5] if s == "f" else [0.5, 0.3, 0.2]).item() for s in S]
JOINT = linred.Joint.from_records(S, X)
MECHANISM = linred.non_markov(JOINT, 0.6)
EXPECTED = MECHANISM.sanitize(S, X, key=KEY)


def values(column):
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(column, method):
            return [None if value is pd.NA else value for value in getattr(column, method)()]
    return list(column)


KINDS = {
    "list": list,
    "tuple": tuple,
    "numpy str": np.array,
    "numpy object": lambda x: np.array(x, object),
    "numpy str, strided": lambda x: np.repeat(np.array(x), 2)[::2],
    "pandas str": lambda x: pd.Series(x, index=range(7, 7 + len(x)), name="col", dtype="str"),
    "pandas object": lambda x: pd.Series(x, dtype=object, name="col"),
    "pandas string[python]": lambda x: pd.Series(x, dtype="string[python]"),
    "pandas string[pyarrow]": lambda x: pd.Series(x, dtype="string[pyarrow]"),
    "pandas arrow": lambda x: pd.Series(x, dtype=pd.ArrowDtype(pa.string())),
    "pandas category": lambda x: pd.Series(x, dtype=pd.CategoricalDtype(["bb", "a", "zz", "ccc"]), name="col"),
    "pandas ordered": lambda x: pd.Series(x, dtype=pd.CategoricalDtype(["ccc", "bb", "a"], ordered=True)),
    "pandas Categorical": pd.Categorical,
    "pandas Index": lambda x: pd.Index(x, name="i"),
    "pandas array": lambda x: pd.array(x, dtype="string"),
    "polars String": lambda x: pl.Series("col", x),
    "polars Categorical": lambda x: pl.Series("col", x, dtype=pl.Categorical),
    "polars Enum": lambda x: pl.Series("col", x, dtype=pl.Enum(["ccc", "a", "bb"])),
    "arrow": pa.array,
    "arrow large_string": lambda x: pa.array(x, pa.large_string()),
    "arrow dictionary": lambda x: pa.array(x).dictionary_encode(),
    "arrow dictionary int8": lambda x: pa.array(x).cast(pa.dictionary(pa.int8(), pa.string())),
    "arrow chunked": lambda x: pa.chunked_array([x[:5], x[5:5], x[5:]], pa.string()),
    "arrow chunked dictionary": lambda x: pa.chunked_array([x[:5], x[5:]]).dictionary_encode(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_kind_comes_out(kind):
    x = KINDS[kind](X)
    y = MECHANISM.sanitize(S, x, key=KEY)
    assert type(y) is type(x)
    assert values(y) == EXPECTED
    for attribute in ("dtype", "type", "name"):
        if hasattr(x, attribute):
            assert getattr(y, attribute) == getattr(x, attribute)
    if hasattr(x, "index") and hasattr(x, "iloc"):
        assert y.index.equals(x.index)
    if hasattr(x, "chunks"):
        assert [len(chunk) for chunk in y.chunks] == [len(chunk) for chunk in x.chunks]


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_in_nothing_out(kind):
    x = KINDS[kind](X)[:0]
    y = MECHANISM.sanitize([], x)
    assert type(y) is type(x)
    assert len(y) == 0


@pytest.mark.parametrize(
    "column",
    [
        np.array([3, 5, 5, 9] * 50),
        np.array([3, 5, 5, 9] * 50, np.uint8),
        np.array([3, 5, 5, 9] * 50, float),
        pd.Series([3, 5, 5, 9] * 50),
        pd.Series([3, 5, 5, 9] * 50, dtype="Int64"),
        pl.Series([3, 5, 5, 9] * 50),
        pa.array([3, 5, 5, 9] * 50),
        np.array(["2020-01-01", "2021-01-01", "2022-01-01", "2021-01-01"] * 50, "M8[D]"),
        pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01", "2021-01-01"] * 50)),
        np.array([True, False, True, True] * 50),
        pd.Series([0.5, 1.5, 0.5, 2.5] * 50),
        np.ma.array([3, 5, 5, 9] * 50, mask=[False, False, False, True] * 50),
    ],
    ids=lambda column: f"{type(column).__name__} {getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_labels_that_are_no_text(column):
    s = [0, 1] * 100
    mechanism = linred.markov(linred.Joint.from_records(s, column), 0.9)
    y = mechanism.sanitize(None, column, key=KEY)
    assert type(y) is type(column)
    for attribute in ("dtype", "type"):
        if hasattr(column, attribute):
            assert getattr(y, attribute) == getattr(column, attribute)
    assert set(map(str, values(y))) == set(map(str, values(column)))
    assert values(y) != values(column)


@pytest.mark.parametrize("kind", [pd.Series, np.array, pl.Series])
def test_a_column_too_narrow_for_the_labels_is_refused(kind):
    mechanism = linred.markov(linred.Joint.from_counts(np.ones((1, 200))), 0.5)
    with pytest.raises(ValueError, match=r"x is a .* which has no room for every label of the mechanism"):
        mechanism.sanitize(None, kind(np.arange(100, dtype=np.int8)))


def uniform(*labels):
    return linred.markov(linred.Joint(np.full((1, len(labels)), 1 / len(labels)), x_labels=labels), 0.9)


@pytest.mark.parametrize(
    ("labels", "x", "message"),
    [
        ((2.5, 1), pa.array([1, 1]), "2.5 would become 2"),
        (("a", 1), np.array(["a"]), "1 would become '1'"),
        (("a", 1), pd.Series(["a"], dtype="string"), "1 would become '1'"),
        ((b"a", b"a\0"), np.array([b"a"]), "would become b'a'"),
        ((2**60 + 1, 1), np.array([1.0]), "1152921504606846977 would become"),
        ((2**60 + 1, 1), pl.Series([1.0]), "1152921504606846977 would become"),
        (("a", "b"), pl.Series(["a"], dtype=pl.Enum(["a"])), "conversion from `str` to `enum` failed"),
        (("a", "b"), pd.Series(["a"], dtype=pd.CategoricalDtype(["a"], ordered=True)), "'b' is not among its ordered"),
        ([f"v{i}" for i in range(300)], pa.array(["v0"]).cast(pa.dictionary(pa.int8(), pa.string())), "300 labels"),
    ],
)
def test_labels_that_a_column_would_change_are_refused_before_a_draw(labels, x, message):
    with pytest.raises(
        ValueError, match=f"x is a .* which has no room for every label of the mechanism: .*{message}"
    ) as e:
        uniform(*labels).sanitize(None, x)
    assert "\n" not in str(e.value)


def test_dictionaries_keep_their_order():
    x = pa.DictionaryArray.from_arrays(pa.array([2, 1, 0, 1] * 5, pa.int8()), ["low", "mid", "high"], ordered=True)
    y = linred.markov(linred.Joint.from_records([0] * 20, x), 0.5).sanitize(None, x, key=KEY)
    assert y.type == x.type
    assert y.dictionary.to_pylist() == ["low", "mid", "high"]


def test_large_categoricals_take_no_longer_than_their_alphabet():
    labels = [f"v{i}" for i in range(20_000)]  # minutes, if every label looked through all others
    x = pd.Series(labels, dtype=pd.CategoricalDtype(labels))
    assert (uniform(*labels).sanitize(None, x, key=KEY).dtype) == x.dtype


def test_structured_arrays_and_subclasses():
    x = np.array([(1, "a"), (2, "b")] * 50, dtype=[("u", int), ("v", "U1")])
    y = linred.markov(linred.Joint.from_records([0] * 100, x), 0.9).sanitize(None, x, key=KEY)
    assert y.dtype == x.dtype
    assert set(y.tolist()) == set(x.tolist())

    class Special(pd.Series):
        pass

    assert isinstance(uniform(1, 2).sanitize(None, Special([1, 2], name="n")), pd.Series)


def test_polars_nanoseconds_are_refused():
    with pytest.raises(ValueError, match=r"x is a Polars column of Datetime\(.*ns.* cast it to 'us'"):
        linred.Joint.from_records([0, 1], pl.Series([1, 1500]).cast(pl.Datetime("ns")))


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (pl.DataFrame({"a": X}).lazy(), "x is a LazyFrame, not a column"),
        (pl.col("a"), "x is a Expr, not a column"),
        (pd.DataFrame({"a": X, "b": X}), r"x is a table of 2 columns, and 'a' is a label of the mechanism"),
    ],
)
def test_what_is_no_column_of_the_mechanism(x, message):
    with pytest.raises(ValueError, match=message):
        MECHANISM.sanitize(S, x, unseen="marginal")


def test_tables_with_names_that_repeat():
    frame = pd.DataFrame(np.array([X, X[::-1]]).T, columns=["a", "a"])
    mechanism = linred.markov(linred.Joint.from_records(S, frame), 0.5)
    y = mechanism.sanitize(None, frame, key=KEY)
    assert y.shape == frame.shape
    assert list(y.columns) == ["a", "a"]
    table = pa.table([pa.array(X), pa.array(X[::-1])], names=["a", "a"])
    drawn = mechanism.sanitize(None, table, key=KEY)
    assert drawn.column_names == ["a", "a"]
    assert drawn.column(1).to_pylist() == y.iloc[:, 1].tolist()


def test_codes_with_labels_from_zero_are_taken_as_they_are():
    s, x = RNG.integers(0, 2, 5000).astype(np.uint8), RNG.integers(0, 4, 5000).astype(np.uint8)
    mechanism = linred.non_markov(linred.Joint.from_records(s, x), 0.5)
    y = mechanism.sanitize(s, x, key=KEY)
    assert y.dtype == np.uint8
    np.testing.assert_array_equal(y, mechanism.sampler().sample(s, x, key=KEY))


TABLES = {
    "dict": dict,
    "pandas": lambda t: pd.DataFrame(t, index=range(5, 2005)),
    "polars": pl.DataFrame,
    "arrow": pa.table,
    "array": lambda t: np.array(list(zip(*t.values(), strict=True)), object),
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_table_of_columns_is_one_composite_symbol(kind):
    table = {"u": X, "v": RNG.integers(0, 2, len(X)).tolist()}
    mechanism = linred.non_markov(linred.Joint.from_records(S, table), 0.8)
    expected = mechanism.sanitize(S, table, key=KEY)
    y = mechanism.sanitize(S, TABLES[kind](table), key=KEY)
    assert type(y) is type(TABLES[kind](table))
    rows = y.tolist() if kind == "array" else list(zip(*(values(y[name]) for name in table), strict=True))
    assert list(map(tuple, rows)) == list(zip(*expected.values(), strict=True))
    assert list(zip(*expected.values(), strict=True)) != list(zip(*table.values(), strict=True))
    if kind == "pandas":
        assert y.index.equals(TABLES[kind](table).index)
        assert list(y.columns) == ["u", "v"]


# ---- values that the fit never saw


WITH_UNSEEN = ["new" if i % 10 == 3 else None if i % 10 == 4 else x for i, x in enumerate(X)]
UNSEEN = np.array([i % 10 in (3, 4) for i in range(len(X))])


@pytest.mark.parametrize("kind", ["list", "numpy object", "pandas str", "pandas object", "polars String", "arrow"])
def test_unseen_values_by_policy(kind):
    x = KINDS[kind](WITH_UNSEEN)
    with pytest.raises(ValueError, match=r"x\[3\] = 'new' is not in the mechanism's alphabet"):
        MECHANISM.sanitize(S, x, key=KEY)
    marginal, counts = MECHANISM.sanitize(S, x, key=KEY, unseen="marginal", return_counts=True)
    known = np.array(values(marginal), object)
    np.testing.assert_array_equal(known[~UNSEEN], np.array(EXPECTED, object)[~UNSEEN])
    assert set(known) == {"a", "bb", "ccc"}
    assert counts.n_unseen_values == UNSEEN.sum()
    assert counts.n_records == len(X)
    null = np.array(values(MECHANISM.sanitize(S, x, key=KEY, unseen="null")), object)
    assert all(value is None or value != value for value in null[UNSEEN])
    np.testing.assert_array_equal(null[~UNSEEN], np.array(EXPECTED, object)[~UNSEEN])
    assert type(marginal) is type(x)


def test_unseen_values_of_s_count_as_well():
    s = ["x" if i == 5 else s for i, s in enumerate(S)]
    with pytest.raises(ValueError, match=r"s\[5\] = 'x' is not in the mechanism's alphabet"):
        MECHANISM.sanitize(s, X)
    drawn, counts = MECHANISM.sanitize(s, X, key=KEY, unseen="null", return_counts=True)
    assert drawn[5] is None
    assert counts.n_unseen_values == 1
    markov = linred.markov(JOINT, 0.5)
    assert markov.sanitize(s, X, key=KEY) == markov.sanitize(None, X, key=KEY)


def test_marginal_draws_are_from_p_x_and_from_nothing_else():
    """Chi-square of 100,000 unseen records against P_X, by s, at stats.ERROR_RATE each; the key alone decides."""
    s = ["f", "m"] * 50_000
    drawn = np.array(MECHANISM.sanitize(s, ["new"] * 100_000, key=KEY, unseen="marginal"))
    for of_s in (drawn[::2], drawn[1::2]):
        counts = [(of_s == label).sum() for label in JOINT.x_labels]
        expected = JOINT.p_x * 50_000
        assert stats.stats.chisquare(counts, expected).pvalue > stats.ERROR_RATE
    other = MECHANISM.sanitize(s[::-1], [None] * 100_000, key=KEY, unseen="marginal")
    assert drawn.tolist() == other


def test_missing_values_are_a_category_where_the_fit_had_them():
    x = [None if i % 7 == 0 else x for i, x in enumerate(X)]
    mechanism = linred.non_markov(linred.Joint.from_records(S, x), 0.9)
    for kind in ("list", "numpy object", "pandas str", "pandas category", "polars String", "arrow", "arrow dictionary"):
        y = mechanism.sanitize(S, KINDS[kind](x), key=KEY)
        assert [None if value != value else value for value in values(y)] == mechanism.sanitize(S, x, key=KEY)
    assert None in mechanism.sanitize(S, x, key=KEY)
    with pytest.raises(ValueError, match=r"x is a ndarray of <U3, which has no room .* missing values may be drawn"):
        mechanism.sanitize(S, np.array(X))


@pytest.mark.parametrize("x", [np.array(X), np.arange(2000), pd.Series(range(2000)), np.zeros(2000, bool)])
def test_null_needs_a_column_that_can_hold_it(x):
    with pytest.raises(ValueError, match=r"x is a .* which has no room for every label of the mechanism"):
        MECHANISM.sanitize(S, x, unseen="null")


def test_unseen_integers_among_codes():
    s, x = np.zeros(100, np.uint8), np.arange(100, dtype=np.int64) % 3
    mechanism = linred.markov(linred.Joint.from_records(s, x), 0.5)
    for wrong in (3, -1, 2**40):
        bad = x.copy()
        bad[17] = wrong
        with pytest.raises(ValueError, match=rf"x\[17\] = {wrong} is not in the mechanism's alphabet"):
            mechanism.sanitize(None, bad)
        y, counts = mechanism.sanitize(None, bad, unseen="marginal", return_counts=True)
        assert set(y.tolist()) <= {0, 1, 2}
        assert y.dtype == np.int64
        assert counts.n_unseen_values == 1


def test_unseen_tuples_of_a_table_are_named():
    mechanism = linred.markov(linred.Joint.from_records(S, {"u": X, "v": X}), 0.5)
    with pytest.raises(ValueError, match=r"x\[0\] = \('a', 'bb'\) is not in the mechanism's alphabet"):
        mechanism.sanitize(None, pd.DataFrame({"u": ["a"], "v": ["bb"]}))


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
    _, told = linred.non_markov(joint, 0.5).sanitize(s, x, key=KEY, unseen="marginal", return_counts=True)
    assert (told.n_unseen_values, told.n_unseen_pairs, told.private) == (1, never, True)


# ---- randomness


def test_sanitising_is_addressed_as_the_sampler_is():
    halves = MECHANISM.sanitize(S[:700], X[:700], key=KEY), MECHANISM.sanitize(S[700:], X[700:], key=KEY, start=700)
    assert halves[0] + halves[1] == EXPECTED
    assert MECHANISM.sanitize(S, X, key=KEY, threads=1) == EXPECTED
    assert MECHANISM.sanitize(S, X, key=KEY, context="other") != EXPECTED
    assert MECHANISM.sanitize(S, X) != MECHANISM.sanitize(S, X)
    assert MECHANISM.sanitize(S, X, seed=3) == MECHANISM.sanitize(S, X, seed=3)


@pytest.mark.parametrize("ids", [list(range(2000)), [f"id {i}" for i in range(2000)]], ids=["numbers", "text"])
def test_ids_of_any_kind_of_column(ids):
    expected = MECHANISM.sanitize(S, X, key=KEY, ids=ids)
    for kind in (np.array, pd.Series, pl.Series, pa.array, tuple):
        assert MECHANISM.sanitize(S, X, key=KEY, ids=kind(ids)) == expected
    assert MECHANISM.sanitize(S[::-1], X[::-1], key=KEY, ids=ids[::-1]) == expected[::-1]


BAD = [
    ({"unseen": "drop"}, "unseen = 'drop' is not 'error', 'marginal' or 'null'"),
    ({"unseen": None}, "unseen = None is not"),
    ({"s": S[:-1]}, "s has 1999 records and x has 2000"),
    ({"s": None}, "s is None: this mechanism draws by s"),
    ({"ids": list(range(2000))}, "ids needs key"),
    ({"ids": list(range(2000)), "seed": 1}, "ids needs key"),
    ({"key": b"short"}, "key has 5 bytes, not 32"),
    ({"key": KEY, "seed": 1}, "key and seed are both given"),
    ({"x": "abc"}, "x is a str, not a column"),
    ({"x": X[0]}, "x is a str, not a column"),
    ({"x": 5}, "x is a int, not a column"),
    ({"x": [["a"]] * 2000}, r"x\[0\] = \['a'\] is not hashable"),
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


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize("kind", ["pandas", "arrow"])
def test_categories_tell_nothing_of_values_that_are_not_published(kind, ordered):
    x = ["SECRET", "ccc", "a", "bb", *X[4:]]
    if kind == "pandas":
        column = pd.Series(pd.Categorical(x, ["SECRET", "ccc", "zz", "a", "bb"], ordered=ordered))
    else:
        column = pa.DictionaryArray.from_arrays(
            [["SECRET", "ccc", "a", "bb"].index(one) for one in x], ["SECRET", "ccc", "a", "bb"], ordered=ordered
        )
    for unseen in ("null", "marginal"):
        y = MECHANISM.sanitize(S, column, key=KEY, unseen=unseen)
        shown = y.cat.categories.tolist() if kind == "pandas" else y.dictionary.to_pylist()
        of_arrow = ["ccc", "a", "bb"] if ordered else ["a", "bb", "ccc"]
        assert shown == (["ccc", "zz", "a", "bb"] if kind == "pandas" else of_arrow)
        assert values(y)[1:] == MECHANISM.sanitize(S, x, key=KEY, unseen=unseen)[1:]


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

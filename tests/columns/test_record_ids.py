"""Ids of records, in every kind of column, table, frame and file: one id has one draw everywhere."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import linred
from linred.columns.record_ids import plain_ids
from linred.columns.repeated_ids import RepeatedIds
from support import frames
from support.columns import KEY, MECHANISM, S, X
from support.commands import key_file

N = len(X)


@pytest.mark.parametrize("ids", [list(range(2000)), [f"id {i}" for i in range(2000)]], ids=["numbers", "text"])
def test_ids_of_any_kind_of_column(ids):
    expected = MECHANISM.sanitize(S, X, key=KEY, ids=ids)
    for kind in (np.array, pd.Series, pl.Series, pa.array, tuple):
        assert MECHANISM.sanitize(S, X, key=KEY, ids=kind(ids)) == expected
    assert MECHANISM.sanitize(S[::-1], X[::-1], key=KEY, ids=ids[::-1]) == expected[::-1]


# ---- one id, one draw

NUMBERS = [(37 * i) % 120 for i in range(N)]
TEXTS = [str(number) for number in NUMBERS]
OF_NUMBERS = {
    "list": NUMBERS,
    "tuple": tuple(NUMBERS),
    **{f"numpy {kind}": np.array(NUMBERS, kind) for kind in "bBhHiIqQ"},
    "numpy, swapped": np.array(NUMBERS, np.dtype(np.int32).newbyteorder()),
    "objects": np.array(NUMBERS, object),
    "objects of NumPy": [np.int8(number) for number in NUMBERS],
    "pandas int64": pd.Series(NUMBERS, index=range(9, 9 + N)),
    "pandas Int64": pd.Series(NUMBERS, dtype="Int64"),
    "pandas object": pd.Series(NUMBERS, dtype=object),
    "pandas category": pd.Series(NUMBERS, dtype="category"),
    "pandas arrow": pd.Series(NUMBERS, dtype=pd.ArrowDtype(pa.int16())),
    "polars": pl.Series(NUMBERS),
    "polars UInt8": pl.Series(NUMBERS, dtype=pl.UInt8),
    "arrow": pa.array(NUMBERS),
    "arrow uint8": pa.array(NUMBERS, pa.uint8()),
    "arrow chunked": pa.chunked_array([NUMBERS[:7], NUMBERS[7:7], NUMBERS[7:]]),
    "arrow dictionary": pa.array(NUMBERS).dictionary_encode(),
    "a table of one column": {"id": NUMBERS},
    "an array of one column": np.array(NUMBERS)[:, None],
}
OF_TEXT = {
    "list": TEXTS,
    "bytes": [text.encode() for text in TEXTS],
    "both": [number if number % 2 else str(number) for number in NUMBERS],
    "numpy": np.array(TEXTS),
    "numpy bytes": np.array(TEXTS, "S"),
    "objects": np.array(TEXTS, object),
    "pandas object": pd.Series(TEXTS, dtype=object),
    "pandas string": pd.Series(TEXTS, dtype="string"),
    "pandas category": pd.Series(TEXTS, dtype="category"),
    "pandas index": pd.Index(TEXTS),
    "polars": pl.Series(TEXTS),
    "polars Categorical": pl.Series(TEXTS, dtype=pl.Categorical),
    "arrow": pa.array(TEXTS),
    "arrow large": pa.array(TEXTS, pa.large_string()),
    "arrow binary": pa.array([text.encode() for text in TEXTS]),
    "arrow chunked": pa.chunked_array([TEXTS[:7], TEXTS[7:]]),
    "arrow dictionary": pa.array(TEXTS).dictionary_encode(),
    "a table of one column": pa.table({"id": TEXTS}),
}
BY_NUMBER = MECHANISM.sanitize(S, X, key=KEY, ids=np.array(NUMBERS))


@pytest.mark.parametrize(
    "ids", [*OF_NUMBERS.values(), *OF_TEXT.values()], ids=[*OF_NUMBERS, *(f"text, {name}" for name in OF_TEXT)]
)
def test_an_integer_and_its_decimal_text_are_one_id(ids):
    assert MECHANISM.sanitize(S, X, key=KEY, ids=ids) == BY_NUMBER


def counters(ids):
    """The 16 bytes that address each id, under one key and context."""
    from linred.sampling import keystream

    found = keystream.id_counters(plain_ids(ids, len(ids)), KEY, b"").tobytes()
    return [found[16 * i : 16 * i + 16] for i in range(len(ids))]


def test_text_that_is_not_the_shortest_decimal_of_an_integer_is_another_id():
    others = ["05", "5.0", "+5", "-5", "5 ", " 5", "٥", "5_0", "", "0x5", "5e0", "-05"]
    assert len(set(counters(["5", *others]))) == 1 + len(others)
    assert counters([5, "5", b"5", np.int8(5), np.uint64(5), np.str_("5")]) == 6 * [(5).to_bytes(16, "big")]
    assert counters([0, "0"]) == 2 * [bytes(16)] != counters(["-0", "00"])
    assert len(set(counters(["0", "-0", "00"]))) == 3
    assert counters([-7, "-7", b"-7", np.int16(-7)]) == 4 * [(-7).to_bytes(16, "big", signed=True)]


@pytest.mark.parametrize("number", [2**63, 2**64 - 1, -(2**63) - 1, 2**127 - 1, -(2**127)])
def test_integers_of_up_to_128_bits_are_addressed_as_they_are(number):
    assert counters([number, str(number)]) == 2 * [number.to_bytes(16, "big", signed=True)]


@pytest.mark.parametrize("number", [2**127, -(2**127) - 1, 10**60])
def test_larger_integers_are_hashed_as_their_text(number):
    of_number, of_text, wrapped = counters([number, str(number), number % 2**127])
    assert of_number == of_text != wrapped
    assert of_number != counters([f"0{number}"])[0]


COMPOSITES = {
    "dict": lambda a, b: {"a": a, "b": b},
    "dict of text": lambda a, b: {"a": [str(one) for one in a], "b": [one.encode() for one in b]},
    "array": lambda a, b: np.array(list(zip(a, b, strict=True)), object),
    "array of text": lambda a, b: np.array(list(zip(map(str, a), b, strict=True))),
    "pandas": lambda a, b: pd.DataFrame({"a": pd.array(a, "Int32"), "b": b}, index=range(5, 5 + len(a))),
    "polars": lambda a, b: pl.DataFrame({"a": a, "b": pl.Series(b, dtype=pl.Categorical)}),
    "arrow": lambda a, b: pa.table({"a": pa.chunked_array([a[:3], a[3:]]), "b": pa.array(b).dictionary_encode()}),
    "batch": lambda a, b: pa.RecordBatch.from_pydict({"a": a, "b": b}),
}


@pytest.mark.parametrize("kind", COMPOSITES)
def test_a_table_of_columns_is_a_composite_id(kind):
    parts = NUMBERS, [f"name {number % 3}" for number in NUMBERS]
    expected = MECHANISM.sanitize(S, X, key=KEY, ids=list_of_rows(*parts))
    assert MECHANISM.sanitize(S, X, key=KEY, ids=COMPOSITES[kind](*parts)) == expected != BY_NUMBER


def list_of_rows(a, b):
    """The composite ids as one column of text: what `id_counters` hashes, by an object array of two columns."""
    return np.array([[str(one), other] for one, other in zip(a, b, strict=True)], object)


def test_the_parts_of_a_composite_id_do_not_run_together():
    rows = [("a", "bc"), ("ab", "c"), ("", "abc"), ("abc", ""), ("5", "5"), ("55", ""), ("05", "5")]
    assert len(set(counters_of_rows(rows))) == len(rows)
    assert counters_of_rows([(5, "a")]) == counters_of_rows([("5", b"a")]) != counters_of_rows([("a", 5)])


def counters_of_rows(rows):
    from linred.sampling import keystream

    table = {"a": [row[0] for row in rows], "b": [row[1] for row in rows]}
    found = keystream.id_counters(plain_ids(table, len(rows)), KEY, b"").tobytes()
    return [found[16 * i : 16 * i + 16] for i in range(len(rows))]


@pytest.mark.parametrize("unit", ["s", "D"])
def test_durations_are_no_ids(unit):
    with pytest.raises(ValueError, match=r"^ids\[0\] is a numpy.timedelta64: each record needs an integer or a text"):
        MECHANISM.sanitize(S, X, key=KEY, ids=np.arange(N).astype(f"timedelta64[{unit}]"))


# ---- frames and files

UNIQUE = [(37 * i) % 300 - 40 for i in range(300)]
DATA = {"sex": S[:300], "job": X[:300], "nr": UNIQUE, "code": list(map(str, UNIQUE)), "part": ["a", "b", "c"] * 100}
IN_JOBS = {"key": KEY, "context": frames.CONTEXT}


@pytest.mark.filterwarnings("ignore:id. at least")
@pytest.mark.parametrize("kind", frames.KINDS)
def test_ids_of_frames_are_those_of_columns(kind):
    frame, named = frames.KINDS[kind](DATA), {"sensitive": "sex", "public": "job", "key": KEY}
    expected = MECHANISM.sanitize(DATA["sex"], DATA["job"], ids=DATA["nr"], **IN_JOBS)
    for id in ("nr", "code", ["nr"], ("code",)):
        assert frames.collected(linred.sanitize_frame(frame, MECHANISM, id=id, **named))["job"] == expected
    both = {"a": DATA["nr"], "b": DATA["part"]}
    expected = MECHANISM.sanitize(DATA["sex"], DATA["job"], ids=both, **IN_JOBS)
    for id in (["nr", "part"], ("code", "part")):
        result = linred.sanitize_frame(frame, MECHANISM, id=id, columns=["part"], **named)
        assert frames.collected(result) == {"job": expected, "part": DATA["part"]}
    sanitizer = linred.Sanitizer("sex", "job", alpha=0.6, mechanism="non_markov", key=KEY, id=["code", "part"])
    by_sanitizer = sanitizer.fit(frame).mechanism_.sanitize(DATA["sex"], DATA["job"], ids=both, **IN_JOBS)
    assert frames.collected(sanitizer.transform(frame))["job"] == by_sanitizer


@pytest.mark.parametrize("id", [["nr", "nr"], ["nr", "job"], ["nr", "sex"], ["nr", "none"], [], ["nr", 5]], ids=str)
def test_several_names_of_ids_are_checked(id):
    with pytest.raises(ValueError, match=r"^(id|frame has no column 'none' \(id\))") as caught:
        linred.sanitize_frame(DATA, MECHANISM, sensitive="sex", public="job", key=KEY, id=id)
    assert "\n" not in str(caught.value)


def test_a_missing_part_of_an_id_is_named_by_its_columns():
    data = {**DATA, "part": ["a", None, *DATA["part"][2:]]}
    with pytest.raises(ValueError, match=r"^columns \('nr', 'part'\)\[1\] is missing: each record needs an integer"):
        linred.sanitize_frame(data, MECHANISM, sensitive="sex", public="job", key=KEY, id=["nr", "part"])


@pytest.mark.filterwarnings("ignore:.*id. at least")
@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow", "arrows"])
@pytest.mark.parametrize("id", ["nr", "code"])
def test_ids_of_the_command_are_those_of_frames(ending, id, linred_command, tmp_path):
    """CSV has text only; the other formats have integers and text."""
    key, named = key_file(linred_command), {"sensitive": "sex", "public": "job"}
    table = pa.table(DATA)
    path = tmp_path / f"in.{ending}"
    if ending == "csv":
        rows = (",".join(map(str, row.values())) for row in table.to_pylist())
        path.write_text("\n".join([",".join(table.column_names), *rows]) + "\n")
    elif ending == "parquet":
        parquet.write_table(table, path)
    else:
        with (pa.ipc.new_file if ending == "arrow" else pa.ipc.new_stream)(str(path), table.schema) as file:
            file.write_table(table)
    sanitizer = linred.Sanitizer(**named, alpha=0.6, mechanism="non_markov").fit(DATA)
    sanitizer.mechanism_.save(tmp_path / "m.json")
    for context in (None, "release 7"):
        given = () if context is None else ("--context", context)
        asked = ("-m", "m.json", "-o", "out.csv", "--key-file", "key", "--id", id, "--force", *given)
        done = linred_command("sanitize", path, *asked)
        assert done.code == 0, done
        drawn = [line.split(",")[0] for line in (tmp_path / "out.csv").read_text().splitlines()[1:]]
        frame = linred.sanitize_frame(DATA, sanitizer.mechanism_, key=key, id="nr", context=context or b"")
        assert drawn == frame["job"]


# ---- what is refused

REFUSED = "a column of integers or of text, or a table of such columns"


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ("ab", f"ids is a str, not {REFUSED}"),
        ({1, 2}, f"ids is a set, not {REFUSED}"),
        ({}, f"ids is a dict, not {REFUSED}"),
        (np.zeros((2, 2, 2), int), f"ids is a numpy.ndarray, not {REFUSED}"),
        (np.array(3), f"ids is a numpy.ndarray, not {REFUSED}"),
        ([1, None], "ids[1] is missing: each record needs an integer or a text as its id"),
        (pd.Series([1, None], dtype="Int64"), "ids[1] is missing"),
        (pa.array(["a", None]), "ids[1] is missing"),
        ([1, 2.0], "ids[1] is a float: each record needs an integer or a text as its id"),
        (np.array([1.0, 2.0]), "ids[0] is a float"),
        ([1, True], "ids[1] is a bool"),
        (np.array([True, False]), "ids[0] is a bool"),
        (["a", np.True_], "ids[1] is a numpy.bool"),
        ([1, ("a", 1)], "ids[1] is a tuple"),
        (np.array(["2020-01-01", "2020-01-02"], "M8[D]"), "ids[0] is a numpy.datetime64"),
        ({"a": [1, 2], "b": ["x", None]}, "ids[1] is missing"),
        ({"a": [1, 2], "b": [1.5, 2.5]}, "ids[0] is a float"),
        ({"a": [1, 2], "b": [1]}, "ids is a table whose columns have different numbers of records"),
        ([1], "ids has 1 records and x 2"),
        ({"a": [1], "b": [1]}, "ids has 1 records and x 2"),
    ],
    ids=lambda case: case if isinstance(case, str) else type(case).__name__,
)
def test_bad_ids_are_named_and_not_shown(ids, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}") as caught:
        plain_ids(ids, 2)
    assert caught.value.__cause__ is None


def test_ids_that_hash_alike_are_not_taken_for_one():
    repeated = RepeatedIds()
    repeated.add([-1, -2, "a"], np.array([0, 1, 2]))  # Python's hash(-1) is hash(-2)
    repeated.add(np.array([-1, -2]), np.array([0, 1]))
    assert repeated.warning("id") is None
    repeated.add([-2], np.array([2]))
    assert repeated.warning("id").startswith("id: at least 1 id occurs with different values")


REFUSED = {
    "floats": pa.array([float(one) for one in UNIQUE]),
    "truths": pa.array([True, False] * 150),
    "dates": pa.array(range(300), pa.date32()),
    "times": pa.array(range(300), pa.timestamp("us")),
    "durations": pa.array(range(300), pa.duration("s")),
    "decimals": pa.array(UNIQUE).cast(pa.decimal128(22, 1)),
    "a dictionary of floats": pa.array([float(one) for one in UNIQUE]).dictionary_encode(),
}


@pytest.mark.parametrize("of", REFUSED)
def test_ids_that_are_no_integers_or_text_are_refused_by_frames_and_by_the_command(of, linred_command, tmp_path):
    """5.0 and a date have several texts: their draws would depend on the format of the file."""
    table = pa.table({**DATA, "id": REFUSED[of]})
    with pytest.raises(
        ValueError, match=r"^column 'id'\[0\] is a .*: each record needs an integer or a text as its id"
    ):
        linred.sanitize_frame(table, MECHANISM, sensitive="sex", public="job", key=KEY, id="id")
    parquet.write_table(table, "in.parquet")
    MECHANISM.save("m.json")
    key_file(linred_command)
    named = ("--sensitive", "sex", "--public", "job", "--id", "id", "--key-file", "key")
    done = linred_command("sanitize", "in.parquet", "-m", "m.json", "-o", "out.csv", *named)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert "--id names column 'id' of " in done.err
    assert "whose values are not integers or text: choose a column of integers or text" in done.err

"""No message carries a value, whatever the kind of column that holds it: odd and damaged kinds at every door.

`test_no_secrets` tries every fault in the usual kinds. Here one value of a column is the marker, or is beyond what
Python can hold, in kinds whose packages raise errors of their own, which show values.
"""

import gzip
from datetime import date, datetime
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

import linred
from support import columns
from support.secrets import MARKER, NUMBER, marked, said_by

N = 60
S, X = columns.S[:N], columns.X[:N]
MECHANISM = linred.non_markov(linred.Joint.from_records(S, X), 0.6)
FAR = NUMBER * 1000
"""Seconds or days beyond the year 9999: year 31068 in seconds."""
MARKS = ("\\xff", "0xff", "31068", "9.18274e+08")


def last(value, other="a"):
    return [other] * (N - 1) + [value]


def damaged():
    """Text that is not UTF-8."""
    raw = pa.array(last(MARKER.encode() + b"\xff", b"a"), pa.binary())
    return pa.Array.from_buffers(pa.string(), N, raw.buffers())


def numbers(arrow_type, value=FAR):
    return pa.array(last(value, 1), pa.int64()).view(arrow_type)


def arrow_of_pandas(array):
    return pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([array])))


KINDS = {
    "damaged text": damaged,
    "damaged dictionary": lambda: pa.DictionaryArray.from_arrays(pa.array(last(N - 1, 0)), damaged()),
    "damaged chunks": lambda: pa.chunked_array([damaged()]),
    "damaged text, pandas": lambda: arrow_of_pandas(damaged()),
    "seconds": lambda: numbers(pa.timestamp("s")),
    "seconds with a zone": lambda: numbers(pa.timestamp("s", "Europe/Berlin")),
    "seconds, pandas": lambda: arrow_of_pandas(numbers(pa.timestamp("s"))),
    "nanoseconds": lambda: numbers(pa.timestamp("ns"), FAR + 1),
    "time of nanoseconds": lambda: numbers(pa.time64("ns"), FAR + 1),
    "duration": lambda: numbers(pa.duration("s"), NUMBER * 10**9),
    "duration of nanoseconds": lambda: numbers(pa.duration("ns"), FAR + 1),
    "date64": lambda: numbers(pa.date64(), NUMBER * 86_400_000),
    "decimal": lambda: pa.array(last(Decimal(NUMBER), Decimal(1))),
    "struct": lambda: pa.array(last({"a": MARKER}, {"a": "a"})),
    "list": lambda: pa.array(last([MARKER], ["a"])),
    "map": lambda: pa.array(last([(MARKER, 1)], [("a", 1)]), pa.map_(pa.string(), pa.int64())),
    "binary": lambda: pa.array(last(MARKER.encode(), b"a")),
    "string view": lambda: pa.array(last(MARKER * 3), pa.string_view()),
    "run ends": lambda: pa.RunEndEncodedArray.from_arrays([N - 1, N], ["a", MARKER]),
    "union": lambda: pa.UnionArray.from_sparse(pa.array([0] * N, pa.int8()), [pa.array(last(MARKER))]),
    "interval": lambda: pd.Series(pd.arrays.IntervalArray.from_tuples(last((0, NUMBER), (0, 1)))),
    "bins": lambda: pd.cut(pd.Series(last(NUMBER, 1)), [0, 1, NUMBER]),
    "period": lambda: pd.Series(pd.PeriodIndex(last("9182-01", "2000-01"), freq="M")),
    "zone": lambda: pd.Series(pd.to_datetime(last(NUMBER, 1), unit="s", utc=True)),
    "sparse": lambda: pd.Series(pd.arrays.SparseArray(last(NUMBER, 1))),
    "complex": lambda: pd.Series(last(NUMBER * 1j, 1j)),
    "multi-index": lambda: pd.MultiIndex.from_arrays([last(MARKER), range(N)]),
    "categories of tuples": lambda: pd.Categorical(last((MARKER,)), ["a", (MARKER,)]),
    "Int64": lambda: pd.Series(last(NUMBER, 1), dtype="Int64"),
    "bytes": lambda: np.array(last(MARKER.encode(), b"a")),
    "StringDType": lambda: np.array(last(MARKER), np.dtypes.StringDType()),
    "void": lambda: np.array(last(MARKER.encode(), b"a"), "V9"),
    "records": lambda: np.array([(1, MARKER)] * N, [("a", int), ("b", "U9")]),
    "years": lambda: np.array(last(NUMBER, 1), "M8[Y]"),
    "big-endian": lambda: np.array(last(NUMBER, 1), ">i8"),
    "masked": lambda: np.ma.array(last(NUMBER, 1), mask=[False] * (N - 2) + [True, False]),
    "no dimension": lambda: np.array(MARKER),
    "three dimensions": lambda: np.array([[[MARKER]]]),
    "list of Polars": lambda: pl.Series(last([MARKER], ["a"])),
    "struct of Polars": lambda: pl.Series(last({"a": MARKER}, {"a": "a"})),
    "object of Polars": lambda: pl.Series(last(MARKER, object()), dtype=pl.Object),
    "Int128": lambda: pl.Series(last(NUMBER * 10**20, 1), dtype=pl.Int128),
    "seconds of Polars": lambda: pl.Series(last(FAR * 10**6, 1)).cast(pl.Datetime("us")),
    "duration of Polars": lambda: pl.Series(last(NUMBER * 10**10, 1)).cast(pl.Duration("ms")),
    "nanoseconds of Polars": lambda: pl.Series(last(NUMBER, 1)).cast(pl.Datetime("ns")),
    "surrogate": lambda: last(MARKER + "\udcff"),
    "line break": lambda: last(MARKER + "\n\x1b[31m"),
    "long text": lambda: last(MARKER * 10_000),
    "signalling NaN": lambda: last(Decimal(f"sNaN{NUMBER}"), Decimal(1)),
    "two types of dates": lambda: last(datetime(9182, 1, 1), date(9182, 1, 1)),
    "a list in a tuple": lambda: last((MARKER, [MARKER]), ("a",)),
    "a large integer": lambda: last(NUMBER * 10**5000, 1),
    "a generator": lambda: iter(last(MARKER)),
    "text": lambda: MARKER,
}


def frame_of(s, x):
    return {"sex": s, "job": x}


def built(s, x, path):
    """The whole way: counts, mechanism, records, artifact."""
    mechanism = linred.markov(linred.Joint.from_records(s(), x()), 0.5)
    mechanism.sanitize(s(), x(), unseen="null")
    mechanism.save(path, force=True)
    linred.load(path)


def monitored(s, x):
    monitor = linred.Monitor(MECHANISM, on_drift="error")
    for _ in range(20):
        monitor.update(s(), x())
        if MARKER in f"{monitor} {monitor!r}":
            raise ValueError(MARKER)


NAMED = {"sensitive": "sex", "public": "job"}
WITHIN_FRAMES = linred.Sanitizer(**NAMED, alpha=0.5, mechanism="markov")
DOORS = {
    "built": built,
    "declared": lambda s, x, _: linred.Joint.from_records(s(), x(), ["f", "m"], ["a", "bb", "ccc"]),
    "composite": lambda s, x, _: linred.Joint.from_records({"a": s(), "b": S}, {"a": x(), "b": X}),
    "added": lambda s, x, _: linred.Joint.from_records(S, X) + linred.Joint.from_records(s(), x()),
    "sanitize": lambda s, x, _: MECHANISM.sanitize(s(), x()),
    "sanitize, marginal": lambda s, x, _: MECHANISM.sanitize(s(), x(), unseen="marginal"),
    "certify": lambda s, x, _: linred.certify(MECHANISM, s(), x()),
    "monitor": lambda s, x, _: monitored(s, x),
    "audit": lambda s, x, _: text_of_audit(linred.audit(s(), x(), mechanism=MECHANISM)),
    "audit, x": lambda s, x, _: linred.audit(s(), X, x=x(), mechanism=MECHANISM),
    "ids": lambda s, x, _: MECHANISM.sanitize(S, X, key=columns.KEY, ids=x()),
    "ids, composite": lambda s, x, _: MECHANISM.sanitize(S, X, key=columns.KEY, ids={"a": x(), "b": s()}),
    "sanitize_frame": lambda s, x, _: linred.sanitize_frame(frame_of(s(), x()), MECHANISM, **NAMED),
    "passing": lambda s, x, _: linred.sanitize_frame({**frame_of(S, X), "c": s(), "d": x()}, MECHANISM, **NAMED),
    "Sanitizer": lambda s, x, _: WITHIN_FRAMES.fit(frame_of(s(), x())).transform(frame_of(s(), x())),
    "binned": lambda s, x, _: linred.Sanitizer(**NAMED, alpha=0.5, bins={"job": [1, 2]}).fit(frame_of(S, x())),
    "as edges": lambda s, x, _: linred.Sanitizer(**NAMED, alpha=0.5, bins={"job": x()}).fit(frame_of(S, X)),
    "as labels": lambda s, x, _: linred.fit(S, X, alpha=0.5, s_labels=s(), x_labels=x()),
    "as counts": lambda s, x, _: linred.Joint.from_counts([s(), x()]),
    "as probabilities": lambda s, x, _: linred.Joint([s(), x()]),
    "as conditionals": lambda s, x, _: linred.Joint.from_conditional([x()], [1.0]),
    "as P(s)": lambda s, x, _: linred.Joint.from_conditional([[0.5, 0.5]], x()),
    "as distortion": lambda s, x, _: MECHANISM.expected_distortion([x()] * 3),
    "as codes": lambda s, x, _: MECHANISM.sampler().sample(s(), x()),
    "as output": lambda s, x, _: MECHANISM.sampler().sample(np.zeros(N, np.uint8), np.zeros(N, np.uint8), out=x()),
    "as key": lambda s, x, _: MECHANISM.sanitize(S, X, key=x()),
    "as seed": lambda s, x, _: MECHANISM.sanitize(S, X, seed=x()),
    "as context": lambda s, x, _: MECHANISM.sanitize(S, X, context=x()),
}


def text_of_audit(audit):
    if audit.reasons:
        raise ValueError(f"{audit}")


@pytest.mark.parametrize("kind", KINDS)
def test_no_door_shows_a_value_of_an_odd_column(kind, tmp_path):
    for door, call in DOORS.items():
        for s, x in ((KINDS[kind], lambda: X), (lambda: S, KINDS[kind]), (KINDS[kind], KINDS[kind])):
            error, said = said_by(lambda call=call, s=s, x=x: call(s, x, tmp_path / "m.json"))
            # lines of source code in the traceback are those of this file too
            said = "\n".join(line for line in said.splitlines() if not line.startswith("    "))
            assert marked(said, MARKS) == [], f"{door}: {said}"
            if error is not None and type(error).__module__ != "builtins":
                assert type(error).__module__.startswith("linred"), f"{door}: {said}"


def test_a_column_that_cannot_be_read_is_named():
    for kind in ("damaged text", "seconds", "seconds of Polars", "damaged text, pandas"):
        with pytest.raises(ValueError, match=r"^column 'job' is a .* with a value that cannot be read"):
            linred.sanitize_frame(frame_of(S, KINDS[kind]()), MECHANISM, **NAMED)


@pytest.mark.parametrize("seed", [NUMBER, int.from_bytes(MARKER.encode(), "big")])
def test_no_text_of_an_object_shows_the_seed(seed):
    assert str(seed) not in repr(linred.Sanitizer("sex", "job", alpha=0.5, seed=seed))


ASKED = ("--sensitive", "sex", "--public", "job", "--alpha", "0.5")
HEX = "36bb" * 16


@pytest.mark.parametrize(("option", "value"), [("--seed", HEX), ("--seed", f"-{NUMBER}"), ("--key-file", HEX)])
def test_no_key_in_the_place_of_another_option_is_shown(option, value, linred_command):
    write_csv("in.csv")
    done = linred_command("run", "in.csv", *ASKED, "-o", "out.csv", option, value)
    assert done.code == 2, done
    assert option in done.err or "key file" in done.err
    assert marked(done.out + done.err, ("36bb",)) == []


def write_csv(path):
    rows = "".join(f"{s},{x},{MARKER}\n" for s, x in zip(S, X, strict=True))
    with open(path, "w") as file:
        file.write(f"sex,job,more\n{rows}f,{MARKER},1\n")


def write_damaged(path):
    """Files of one format: text that is not UTF-8, files that are cut off, files with a few bytes changed."""
    for place, columns_of in enumerate(({"job": damaged()}, {"sex": damaged()}, {"more": damaged()})):
        yield write_table(f"damaged{place}.{path}", pa.table({"sex": S, "job": X, "more": X} | columns_of))
    whole = write_table(f"whole.{path}", pa.table({"sex": S, "job": X, "more": [MARKER] * N}))
    with open(whole, "rb") as file:
        raw = file.read()
    places = np.linspace(0, len(raw), 12).astype(int).tolist()
    for first, end in pairwise(places):
        for name, content in (("cut", raw[:first]), ("changed", raw[:first] + b"\xff" * 3 + raw[first + 3 :])):
            with open(f"{name}{end}.{path}", "wb") as file:
                file.write(content)
            yield f"{name}{end}.{path}"


def write_table(path, table):
    if path.endswith("parquet"):
        parquet.write_table(table, path)
    elif path.endswith("gz"):
        with gzip.open(path, "wb") as file:
            file.write(
                b"sex,job,more\n" + b"".join(b",".join(row) + b"\n" for row in zip(*bytes_of(table), strict=True))
            )
    else:
        with (pa.ipc.new_file if path.endswith("arrow") else pa.ipc.new_stream)(path, table.schema) as file:
            file.write_table(table)
    return path


def bytes_of(table):
    return [column.cast(pa.binary()).to_pylist() for column in table.columns]


@pytest.mark.parametrize("ending", ["parquet", "arrow", "arrows", "csv.gz"])
def test_no_damaged_file_is_shown(ending, linred_command):
    WITHIN_FRAMES.fit(frame_of(S, X)).mechanism_.save("m.json", force=True)
    n_refused = 0
    for path in write_damaged(ending):
        for call in (("fit", path, *ASKED), ("sanitize", path, "-m", "m.json", "-o", "out.csv", "--force", "-v")):
            done = linred_command(*call)
            n_refused += done.code != 0
            assert done.code in (0, 2), done
            assert call[0] == "fit" or done.code or ending != "csv.gz" or "damaged" not in path
            assert marked(done.err, ("\\xff", "0xff")) == [], done
    assert n_refused > 10


@pytest.mark.parametrize("encoding", ["ascii", "utf-16", "utf-7", "idna", "rot13", "nonsense"])
@pytest.mark.parametrize("delimiter", [",", ";", "q", "::"])
def test_no_csv_read_in_another_way_is_shown(encoding, delimiter, linred_command):
    write_csv("in.csv")
    with open("in.csv", "a", encoding="latin-1") as file:
        file.write(f"f,é{MARKER},1\n")
    done = linred_command("fit", "in.csv", *ASKED, "--encoding", encoding, "--delimiter", delimiter, "-v")
    assert done.code == 2, done
    assert marked(done.out + done.err) == [], done

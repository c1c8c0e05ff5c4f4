"""No byte of the output holds a value that no record has: a marker is planted wherever such values may hide.

Unused categories and entries of dictionaries, `attrs`, metadata, values under nulls and masks, and rows outside a
slice: every kind of frame and of file is written in every way, and its bytes are searched.
"""

import io
import pickle
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

import linred
from linred.columns.adapters.kinds import passing
from support.commands import fit

MARKER = "Zq7Marker"
HIDDEN = int.from_bytes(b"Zq7Marke", "little")
N = 60
S, X = ["f", "m"] * (N // 2), ["b", "a", "c"] * (N // 3)
SIZES = ["small", None, "big"] * (N // 3)
MECHANISM = linred.non_markov(linred.Joint.from_records(S, X), 0.6)
sanitized = partial(linred.sanitize_frame, mechanism=MECHANISM, sensitive="s", public="x", seed=1)


def of_pandas():
    """Categories, an index, an index of columns, attrs, masks, Arrow dictionaries."""
    numbers = pd.Series([HIDDEN, 2] * (N // 2), dtype="Int64")
    numbers[::2] = pd.NA
    frame = pd.DataFrame({"s": S, "x": pd.Categorical(X, [MARKER, "a", "b", "c"])})
    frame["size"] = pd.Categorical(SIZES, ["tiny", MARKER, "small", "big"], ordered=True)
    frame["plain"] = pd.Categorical(SIZES, ["small", MARKER, "big"])
    frame["numbers"], frame["of_arrow"] = numbers, pd.Series(dictionary(), dtype=pd.ArrowDtype(dictionary().type))
    frame.index = pd.MultiIndex.from_arrays([pd.Categorical(X, [MARKER, "a", "b", "c"]), range(N)])
    frame.attrs[MARKER] = MARKER
    return frame


def dictionary(is_ordered=False):
    codes = pa.array([2, None, 0] * (N // 3), pa.int8())
    return pa.DictionaryArray.from_arrays(codes, ["big", MARKER, "small"], ordered=is_ordered)


def of_arrow():
    """Dictionaries, alone and nested, metadata, values under nulls, rows outside a slice."""
    about = {MARKER: MARKER}
    hidden = pa.array(np.array([HIDDEN, 2] * (N // 2)), mask=np.array([True, False] * (N // 2)))
    lists = pa.ListArray.from_arrays(pa.array(range(N + 1), pa.int32()), dictionary())
    structs = pa.StructArray.from_arrays([dictionary(), hidden], ["p", "q"])
    columns = [pa.array(S), pa.array(X), dictionary(), dictionary(is_ordered=True), hidden, lists, structs]
    columns.append(pa.array([{"a": 1}] * N, pa.struct([pa.field("a", pa.int64(), metadata=about)])))
    columns.append(pa.array([[MARKER]] + [["a", None]] * N).slice(1))
    columns.append(pa.array([MARKER * 3] + ["long enough for a view"] * N, pa.string_view()).slice(1))
    names = ["s", "x", "plain", "size", "numbers", "lists", "structs", "nested", "slice", "views"]
    fields = [pa.field(name, column.type, metadata=about) for name, column in zip(names, columns, strict=True)]
    return pa.table(columns, schema=pa.schema(fields, about))


def of_polars():
    """Enums, alone and nested, Categoricals of filtered rows, values replaced by nulls."""
    enum = pl.Enum(["tiny", MARKER, "small", "big"])
    frame = pl.DataFrame({"s": S, "x": pl.Series(X, dtype=pl.Enum([MARKER, "c", "b", "a"]))})
    size, text = pl.Series("size", SIZES, dtype=enum), pl.Series("text", [MARKER * 3, "a"] * (N // 2))
    frame = frame.with_columns(size, plain=pl.Series([*SIZES[1:], MARKER], dtype=pl.Categorical))
    frame = frame.with_columns(pl.concat_list("size").alias("lists"), pl.struct("size").alias("structs"))
    frame = frame.with_columns(pl.concat_list("size").list.to_array(1).alias("arrays"))
    others = pl.DataFrame({"text": text, "numbers": [HIDDEN, 2] * (N // 2)})
    keeps = pl.col("text") == "a"
    others = others.select(pl.when(keeps).then(pl.col(name)).otherwise(None) for name in others.columns)
    return pl.concat([frame, others], how="horizontal").filter(pl.col("plain").cast(str).ne_missing(MARKER))


FRAMES = {
    "pandas": of_pandas,
    "polars": of_polars,
    "lazy": lambda: of_polars().lazy(),
    "arrow": of_arrow,
    "arrow, chunks": lambda: pa.concat_tables([of_arrow().slice(0, 20), of_arrow().slice(20)]),
    "arrow, slice": lambda: pa.concat_tables([of_arrow(), of_arrow()]).combine_chunks().slice(3, 20),
    "batch": lambda: of_arrow().combine_chunks().to_batches()[0],
    "dict": lambda: {
        **{name: of_pandas()[name] for name in ("s", "x", "size")},
        "of_arrow": dictionary(),
        "enum": of_polars()["size"].extend(of_polars()["size"])[:N],
        "masked": np.ma.array([HIDDEN, 2] * (N // 2), mask=[True, False] * (N // 2)),
    },
}


def written(frame):
    """{way: bytes} of a frame, pickled and in all formats that its package writes."""
    ways = {"pickle": pickle.dumps(frame)}
    if isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    tables = {"": frame} if isinstance(frame, pa.Table) else {}
    if isinstance(frame, pd.DataFrame):
        tables[" of pandas"] = pa.Table.from_pandas(frame)
        ways["parquet by pandas"] = bytes_of(frame.to_parquet)
        ways["feather by pandas"] = bytes_of(frame.reset_index(drop=True).to_feather)
    if isinstance(frame, pl.DataFrame):
        tables[" of Polars"] = frame.to_arrow()
        ways |= {name: bytes_of(getattr(frame, name)) for name in ("write_ipc", "write_ipc_stream", "write_parquet")}
    for name, table in tables.items():
        ways[f"table{name}"] = pickle.dumps(table)
        ways[f"parquet{name}"] = bytes_of(partial(parquet.write_table, table))
        ways[f"file{name}"] = bytes_of(partial(feather.write_feather, table, compression="uncompressed"))
        ways[f"stream{name}"] = bytes_of(lambda file, table=table: stream(file, table))
    return ways


def bytes_of(write):
    file = io.BytesIO()
    write(file)
    return file.getvalue()


def stream(file, table):
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


TEXTS = ["long enough for a view"] * N + [MARKER * 4]
SOME = pl.int_range(N + 1) % 2 == 1


def pandas_with(column, **more):
    """A frame without its last row, which has the marker."""
    frame = pd.DataFrame({"s": [*S, "f"], "x": [*X, "a"], "o": column})
    return frame.set_axis(more.get("index", frame.index)).iloc[:N]


def polars_with(column, keeps=slice(N)):
    """A frame without the rows that have the marker."""
    frame = pl.DataFrame({"s": [*S, "f"], "x": [*X, "a"]}).with_columns(o=column)
    return frame[keeps] if isinstance(keeps, slice) else frame.filter(keeps)


def polars_hidden(nested, value):
    """The marker is hidden by nulls inside of lists, structs and arrays."""
    return polars_with(
        nested(pl.when(SOME).then(pl.lit(pl.Series([value, "a" if value == TEXTS[-1] else 2] * N)[: N + 1])))
    )


ARRAY, STRUCT = pl.Array(pl.String, 1), pl.Struct({"q": pl.String})
LEFT_OVER = {
    **{
        f"pandas {dtype}": lambda dtype=dtype: pandas_with(pd.Series(TEXTS, dtype=dtype))
        for dtype in ("str", "object", "string[python]", "string[pyarrow]", pd.ArrowDtype(pa.string()))
    },
    "pandas, hidden text": lambda: pd.DataFrame({"s": S, "x": X, "o": hidden_text()}),
    "pandas, index of text": lambda: pandas_with(TEXTS, index=pd.Index(TEXTS, dtype="str")),
    "pandas, levels of text": lambda: pandas_with(
        TEXTS, index=pd.MultiIndex.from_arrays([pd.Index(TEXTS, dtype="str"), range(N + 1)])
    ),
    "pandas, columns": lambda: pd.DataFrame({"s": S, "x": X}).set_axis(
        pd.CategoricalIndex(["s", "x"], categories=["s", "x", MARKER]), axis=1
    ),
    "pandas, one name for two": lambda: pd.concat([of_pandas()[["s", "x", "size"]], of_pandas()[["size"]]], axis=1),
    "pandas, sparse": lambda: pd.DataFrame({"s": S, "x": X, "o": pd.arrays.SparseArray([1] * N, fill_value=HIDDEN)}),
    "pandas, intervals": lambda: pd.DataFrame({"s": S, "x": X, "o": pd.cut(pd.Series([1] * N), [0, 1, HIDDEN])}),
    "pandas, periods": lambda: pd.DataFrame({"s": S, "x": X, "o": pd.period_range("2000", periods=N)}),
    "pandas, zone": lambda: pd.DataFrame({"s": S, "x": X, "o": pd.date_range("2000", periods=N, tz="Europe/Berlin")}),
    "Polars text": lambda: polars_with(pl.Series(TEXTS)),
    "Polars text, filtered": lambda: polars_with(pl.Series(TEXTS), pl.col("o") != TEXTS[-1]),
    "Polars bytes": lambda: polars_with(pl.Series([text.encode() for text in TEXTS])),
    "Polars lists": lambda: polars_with(pl.Series([[text] for text in TEXTS])),
    "Polars structs": lambda: polars_with(pl.Series([{"q": text} for text in TEXTS], dtype=STRUCT)),
    "Polars arrays": lambda: polars_with(pl.Series([[text] for text in TEXTS], dtype=ARRAY)),
    "Polars, listed categories": lambda: polars_with(
        pl.Series([[text] for text in TEXTS], dtype=pl.List(pl.Categorical))
    ),
    "Polars, numbers": lambda: polars_with(pl.Series([2] * N + [HIDDEN])),
    "Polars, hidden in lists": lambda: polars_hidden(pl.concat_list, TEXTS[-1]),
    "Polars, hidden in structs": lambda: polars_hidden(lambda one: pl.struct(q=one), TEXTS[-1]),
    "Polars, hidden numbers in lists": lambda: polars_hidden(pl.concat_list, HIDDEN),
    "Polars, hidden numbers in structs": lambda: polars_hidden(lambda one: pl.struct(q=one), HIDDEN),
    "Polars, x": lambda: pl.DataFrame({"s": [*S, "f"], "x": [*X, TEXTS[-1]]})[:N],
    "dict, text of pandas": lambda: {"s": S, "x": X, "o": pd.Series(TEXTS, dtype="str")[:N]},
    "dict, fill value": lambda: {"s": S, "x": X, "o": np.ma.array(["a" * 9] * N, mask=[0] * N, fill_value=MARKER)},
}


def hidden_text():
    """Text of pandas with the marker under its nulls."""
    valid, texts = pa.array([1, None] * (N // 2)), pa.array(["v", MARKER * 3] * (N // 2), pa.large_string())
    array = pa.Array.from_buffers(pa.large_string(), N, [valid.buffers()[0], *texts.buffers()[1:]])
    return pd.Series(pd.arrays.ArrowStringArray(array))


@pytest.mark.parametrize("kind", LEFT_OVER)
def test_a_column_holds_no_value_of_a_row_that_was_left_out(kind):
    frame = LEFT_OVER[kind]()
    check_left_out(frame, sanitized(frame))
    if isinstance(frame, pl.DataFrame):
        check_left_out(frame, sanitized(frame.lazy()).collect())


def check_left_out(frame, result):
    if isinstance(frame, pl.DataFrame):
        assert result.drop("x").to_dict(as_series=False) == frame.drop("s", "x").to_dict(as_series=False)
        assert result.drop("x").schema == frame.drop("s", "x").schema
    elif "o" in frame:
        assert [str(value) for value in result["o"]] == [str(value) for value in frame["o"]]
    assert [way for way, raw in written_if_possible(result).items() if any(mark in raw for mark in IN_BYTES)] == []


@pytest.mark.parametrize("values", [[True] * 8, [1, None, 3, 4, None, 6, 7, 8], ["a", "b", None, "d", "e"]], ids=str)
def test_no_bit_is_of_a_record_that_was_left_out(values):
    passed = passing("o", pa.array(values)[:3])
    assert passed.to_pylist() == values[:3]
    bits = passed.buffers()[: 2 if values[0] is True else 1]
    assert [part for part in bits if part is not None and memoryview(part)[0] >> 3] == []


IN_BYTES = [b"Zq7", "Zq7".encode("utf-32-le")]


def written_if_possible(frame):
    try:
        return written(frame)
    except (pa.ArrowException, TypeError, ValueError):  # intervals, sparse columns and repeated names cannot be written
        return {"pickle": pickle.dumps(frame)}


NESTED = [
    pl.Series([["a"], [], None, [None], ["b", "c"]]),
    pl.Series([[["a"], []], [], None, [None], [["b"], None]]),
    pl.Series([[], [], None], dtype=pl.List(pl.String)),
    pl.Series([None, None], dtype=pl.List(pl.Int8)),
    pl.Series([], dtype=pl.List(pl.String)),
    pl.Series([{"a": "q", "b": [1]}, None, {"a": None, "b": None}]),
    pl.Series([], dtype=pl.Struct({"a": pl.List(pl.String)})),
    pl.Series([None], dtype=pl.Struct({})),
    pl.Series([["a", "b"], None, ["c", None]], dtype=pl.Array(pl.String, 2)),
    pl.Series([[["a", "b"]], None, [[None, "q"]]], dtype=pl.Array(pl.Array(pl.String, 2), 1)),
    pl.Series([[], None], dtype=pl.Array(pl.String, 0)),
    pl.Series([[{"q": "a"}, None], [], None]),
    pl.Series([b"a", None, b"\xff", b""]),
    pl.Series(["a", None, "", "x" * 40]),
    pl.Series(["a"]),
]


@pytest.mark.parametrize("series", NESTED, ids=lambda series: str(series.dtype))
def test_a_copy_of_nested_values_is_the_same(series):
    for some in (series, series[1:], series[:1], series[:0]):
        passed = passing("o", some.alias("o"))
        assert passed.to_list() == some.to_list()
        assert (passed.name, passed.dtype) == ("o", some.dtype)


def values(frame):
    """{name: values}."""
    if isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    if isinstance(frame, dict):
        return {name: [str(value) for value in column] for name, column in frame.items()}
    if isinstance(frame, pd.DataFrame):
        return {name: [str(value) for value in frame[name]] for name in frame}
    return frame.to_pydict() if hasattr(frame, "to_pydict") else frame.to_dict(as_series=False)


@pytest.mark.parametrize("kind", FRAMES)
def test_a_frame_holds_no_value_that_no_record_has(kind):
    frame = FRAMES[kind]()
    before, result = values(frame), sanitized(frame)
    after = values(result)
    assert list(after) == [name for name in before if name != "s"]
    assert {name: after[name] for name in after if name != "x"} == {name: before[name] for name in after if name != "x"}
    result = result.collect() if isinstance(result, pl.LazyFrame) else result
    assert [way for way, raw in written(result).items() if b"Zq7" in raw] == []
    assert values(frame) == before


def test_the_marker_is_found_where_it_is_not_removed():
    frames = {kind: make() for kind, make in FRAMES.items() if kind != "lazy"}
    for kind, frame in frames.items():
        assert any(b"Zq7" in raw for raw in written(frame).values()), kind


def test_categories_that_stay_are_sorted_or_in_their_order():
    result = sanitized(of_pandas())
    assert result["plain"].cat.categories.tolist() == ["big", "small"]
    assert result["size"].cat.categories.tolist() == ["small", "big"]
    assert result["size"].cat.ordered
    assert result["x"].cat.categories.tolist() == ["a", "b", "c"]
    result = sanitized(of_polars())
    assert result["size"].dtype == pl.Enum(["small", "big"])
    assert result["x"].dtype == pl.Enum(["c", "b", "a"])
    result = sanitized(of_arrow())
    assert result["plain"].chunk(0).dictionary.to_pylist() == ["big", "small"]
    assert result["size"].chunk(0).dictionary.to_pylist() == ["big", "small"]
    assert result["size"].type == dictionary(is_ordered=True).type
    lazy = sanitized(of_polars().lazy())
    assert lazy.collect_schema()["size"] == pl.Categorical
    assert lazy.collect_schema()["x"] == pl.Enum(["c", "b", "a"])


def test_metadata_is_kept_where_that_is_asked_for():
    assert sanitized(of_pandas(), keep_metadata=True).attrs == {MARKER: MARKER}
    kept = sanitized(of_arrow(), keep_metadata=True).schema
    assert kept.metadata == kept.field("plain").metadata == {MARKER.encode(): MARKER.encode()}
    assert sanitized(of_arrow()).schema.metadata is None
    frame = of_pandas()[["s", "x"]].reset_index(drop=True)
    sanitizer = linred.Sanitizer("s", "x", alpha=0.5, mechanism="non_markov", keep_metadata=True)
    assert sanitizer.fit_transform(frame).attrs == {MARKER: MARKER}
    with pytest.raises(ValueError, match=r"^keep_metadata = 1 is not True or False$"):
        sanitized(frame, keep_metadata=1)


FILES = ("parquet", "arrow", "arrows", "csv")


@pytest.mark.parametrize("ending", FILES[:3])
def test_a_file_holds_no_value_that_no_record_has(ending, linred_command):
    table = of_arrow().drop_columns(["lists", "structs", "views"] if ending == "parquet" else ["views"])
    write(f"in.{ending}", table)
    fit(linred_command, f"in.{ending}", "s", "x", "--alpha", "0.6", "--no-scan")
    for to in FILES:
        nested = "--columns=plain,size,numbers" if to == "csv" else "--columns=" + ",".join(table.column_names[2:])
        done = linred_command("sanitize", f"in.{ending}", "-m", "mechanism.json", "-o", f"out.{to}", nested)
        assert done.code == 0, done
        assert b"Zq7" not in Path(f"out.{to}").read_bytes(), to
        if to != "csv":
            out = read(f"out.{to}")
            assert out.drop_columns("x").to_pydict() == table.drop_columns(["s", "x"]).to_pydict()


def write(path, table):
    if path.endswith("parquet"):
        parquet.write_table(table, path, row_group_size=20)
    else:
        with (pa.ipc.new_file if path.endswith("arrow") else pa.ipc.new_stream)(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=20)


def read(path):
    if path.endswith("parquet"):
        return parquet.ParquetFile(path).read()
    return (pa.ipc.open_file if path.endswith("arrow") else pa.ipc.open_stream)(path).read_all()


@pytest.mark.parametrize("to", FILES[:3])
def test_dictionaries_of_batches_stay_readable(to, linred_command):
    """Values differ from batch to batch; an ordered dictionary, and any in an Arrow file, becomes plain values."""
    values = [f"v{place // 10:02}" for place in range(N)]
    table = pa.table({"s": S, "x": X, "plain": pa.array(values).dictionary_encode(), "size": dictionary(True)})
    write("in.arrows", table)
    fit(linred_command, "in.arrows", "s", "x", "--alpha", "0.6", "--no-scan")
    assert linred_command("sanitize", "in.arrows", "-m", "mechanism.json", "-o", f"out.{to}", "-q").code == 0
    out = read(f"out.{to}")
    assert out["plain"].to_pylist() == values
    assert out["size"].to_pylist() == table["size"].to_pylist()
    assert out.schema.field("size").type == pa.string()
    assert out.schema.field("plain").type == (pa.string() if to == "arrow" else table["plain"].type)
    by_polars = {"parquet": pl.read_parquet, "arrow": pl.read_ipc, "arrows": pl.read_ipc_stream}
    assert by_polars[to](f"out.{to}")["plain"].cast(str).to_list() == values

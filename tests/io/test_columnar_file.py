"""Parquet and Arrow files through the `linred` command: types, dictionaries, missing and unsuitable values."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import linred
from linred.io.formats import format_of, open_source
from support.commands import ADULT, TARGET, as_rows, column, fit, key_file, read_csv, refused


def test_parquet_keeps_types(linred_command):
    """Public integers, dictionaries and dates; other columns of every kind; schema metadata is left out."""
    rng = np.random.default_rng(1)
    n = 3000
    codes = rng.integers(0, 3, n)
    table = pa.table(
        {
            "s": pa.array(rng.choice(["a", "b"], n)),
            "n": pa.array(codes + 10, pa.int16()),
            "d": pa.array(codes.astype("datetime64[D]")),
            "c": pa.array(np.array(["x", "y", "z"])[codes]).dictionary_encode(),
            "b": pa.array(codes == 1, mask=codes == 2),
            "list": pa.array([[1, 2]] * n),
            "when": pa.array(codes, pa.timestamp("us", "UTC")),
            "long": pa.array(np.array(["t", "u", "v"])[codes].tolist(), pa.large_string()),
        },
        metadata={"secret": "1"},
    )
    parquet.write_table(table, "in.parquet", row_group_size=1000)
    for public in ("n", "d", "c", "b", "n,c", "when", "long"):
        fit(linred_command, "in.parquet", "s", public, "--alpha", "0.7", "--force")
        how = ("-m", "mechanism.json", "--seed", "5", "--force", "-q")
        for to in ("parquet", "arrow"):
            assert linred_command("sanitize", "in.parquet", *how, "-o", f"out.{to}").code == 0
        out = parquet.ParquetFile("out.parquet").read()
        never_null = {*public.split(",")} - {"b"}
        assert out.schema == pa.schema(
            field.with_nullable(field.name not in never_null) for field in table.schema
        ).remove(0)
        assert out.schema.metadata is None
        of_arrow = pa.ipc.open_file("out.arrow").read_all()
        assert of_arrow.to_pydict() == out.to_pydict()
        types = {**dict(zip(out.schema.names, out.schema.types, strict=True)), "c": pa.string()}
        types["c"] = out.schema.field("c").type if "c" in public else types["c"]
        assert dict(zip(of_arrow.schema.names, of_arrow.schema.types, strict=True)) == types
        for name in table.column_names[1:]:
            same = out[name].to_pylist() == table[name].to_pylist()
            assert same == (name not in public.split(",")), (public, name)
            assert set(map(str, out[name].to_pylist())) == set(map(str, table[name].to_pylist()))


def test_views_are_read_and_metadata_of_fields_is_left_out(linred_command):
    """Polars writes text as views; a field may carry anything, categories of the source say."""
    rows = read_csv(ADULT)
    text = pa.field("occupation", pa.string_view(), metadata={"first": "SECRET"})
    table = pa.table(
        [column(rows, "sex"), column(rows, "occupation"), column(rows, "race")],
        schema=pa.schema([("sex", pa.string_view()), text, ("race", pa.string_view())]),
    )
    with pa.ipc.new_file("in.arrow", table.schema) as file:
        file.write_table(table)
    fit(linred_command, "in.arrow", "sex", "occupation", *TARGET, "--missing", "skip")
    how = ("-m", "mechanism.json", "--seed", "1", "--context", "c", "-q")
    for to in ("csv", "parquet", "arrow"):
        assert linred_command("sanitize", "in.arrow", *how, "-o", f"out.{to}").code == 0
        assert b"SECRET" not in Path(f"out.{to}").read_bytes()
    assert as_rows("out.csv") == as_rows("out.parquet") == as_rows("out.arrow")
    assert column(read_csv("out.csv"), "race") == column(rows, "race")


def test_a_public_column_may_be_null_where_a_missing_value_can_be_drawn(linred_command):
    """As the mechanism says, not as the data happen to be: files of one mechanism have one schema."""
    s, x = ["f", "m"] * 20, ["a", None, "b", "a"] * 10
    never = pa.schema([pa.field("s", pa.string(), nullable=False), pa.field("x", pa.string(), nullable=False)])
    write("in.arrow", s=s, x=x)
    with pa.ipc.new_file("full.arrow", never) as file:
        file.write_table(pa.table([s, ["a", "b"] * 20], schema=never))
    fit(linred_command, "in.arrow", "s", "x", "--alpha", "0.5", output="some.json")
    fit(linred_command, "in.arrow", "s", "x", "--alpha", "0.5", "--missing", "skip", output="none.json")
    for mechanism, unseen, nullable in (
        ("some.json", "error", True), ("none.json", "error", False), ("none.json", "null", True),
        ("none.json", "marginal", False),
    ):  # fmt: skip
        for to in ("arrow", "parquet"):
            how = ("-m", mechanism, "-o", f"out.{to}", "--unseen", unseen, "--force", "-q")
            assert linred_command("sanitize", "full.arrow", *how).code == 0
            assert read(f"out.{to}").schema == pa.schema([pa.field("x", pa.string(), nullable=nullable)])
    assert linred_command("sanitize", "in.arrow", "-m", "none.json", "-o", "null.parquet", "--unseen", "null").code == 0
    assert read("null.parquet")["x"].null_count >= 10


LEVELS = ["low", "middle", "high", "never"]


def ordered(texts, levels=LEVELS):
    codes = pa.array([None if text is None else levels.index(text) for text in texts], pa.int8())
    return pa.DictionaryArray.from_arrays(codes, levels, ordered=True)


def write(path, **columns):
    """A table in a file, by pyarrow."""
    table = pa.table(columns)
    if path.endswith(".parquet"):
        parquet.write_table(table, path, row_group_size=1000)
    else:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table, max_chunksize=1000)


def read(path):
    return parquet.ParquetFile(path).read() if path.endswith(".parquet") else pa.ipc.open_file(path).read_all()


def two_columns(n=3000):
    rng = np.random.default_rng(2)
    return rng.choice(["f", "m"], n).tolist(), rng.choice(LEVELS[:3], n).tolist()


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_the_order_of_an_ordered_dictionary_is_kept(linred_command, form):
    """In the labels of the fit, as `Joint.from_records` has them, and in what is written."""
    s, x = two_columns()
    write(f"in.{form}", s=s, x=ordered(x), other=ordered(x))
    fit(linred_command, f"in.{form}", "s", "x", *TARGET)
    expected = linred.Joint.from_records(s, ordered(x))
    joint = linred.load("mechanism.json").joint
    assert joint.x_labels == expected.x_labels == tuple(LEVELS)
    np.testing.assert_array_equal(joint.counts, expected.counts)
    write("text.arrow", s=s, x=x)
    fit(linred_command, "text.arrow", "s", "x", *TARGET, output="of_text.json")
    assert linred.load("of_text.json").joint.x_labels == ("high", "low", "middle")
    for mechanism, levels in (("mechanism.json", LEVELS), ("of_text.json", LEVELS[:3])):
        for to in ("parquet", "arrow"):
            how = ("-m", mechanism, "-o", f"out.{to}", "--force", "-q", "--seed", "1")
            assert linred_command("sanitize", f"in.{form}", *how).code == 0
            drawn = read(f"out.{to}")["x"]
            assert drawn.type == ordered(x).type
            assert drawn.chunk(0).dictionary.to_pylist() == levels
            assert set(drawn.to_pylist()) == set(x)


def test_the_order_of_dictionaries_among_several_columns(linred_command):
    s, x = two_columns()
    write("in.arrow", s=s, x=ordered(x), y=ordered(x[::-1], LEVELS[::-1]))
    fit(linred_command, "in.arrow", "s", "x,y", "--alpha", "0.5")
    expected = [(one, two) for one in LEVELS[:3] for two in LEVELS[2::-1]]
    assert list(linred.load("mechanism.json").joint.x_labels) == expected
    assert linred_command("sanitize", "in.arrow", "-m", "mechanism.json", "-o", "out.arrow", "-q").code == 0
    assert read("out.arrow")["y"].chunk(0).dictionary.to_pylist() == LEVELS[2::-1]


NUMBERS = pa.array([1.5, float("nan"), 2.5, None] * 10)
MISSING = {
    "NaN": NUMBERS,
    "a missing value in a dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None] * 10), NUMBERS[:3]),
}


@pytest.mark.parametrize("what", MISSING)
def test_all_that_is_missing_is_missing(linred_command, what):
    s = ["f", "m", "m", "f"] * 10
    ids = pa.array(["a", "b", None, "d"] * 10)
    write("in.arrow", s=s, x=MISSING[what], id=ids if what == "NaN" else ids.dictionary_encode())
    asked = ("fit", "in.arrow", "--sensitive", "s", "--public", "x", "--alpha", "0.5", "-q", "--force", "-o", "m.json")
    refused(linred_command(*asked, "--missing", "error"), "record 2, column 'x': missing value")
    assert linred_command(*asked, "--missing", "skip").code == 0
    joint = linred.load("m.json").joint
    assert (joint.x_labels, joint.counts.tolist()) == ((1.5, 2.5), [[10, 0], [0, 10]])
    assert linred_command(*asked, "--missing", "category").code == 0
    joint = linred.load("m.json").joint
    assert (joint.x_labels, joint.counts.tolist()) == ((1.5, 2.5, None), [[10, 0, 10], [0, 10, 10]])
    key_file(linred_command)
    named = ("--id", "id", "--key-file", "key")
    refused(
        linred_command("sanitize", "in.arrow", "-m", "m.json", "-o", "out.arrow", *named),
        "record 3, column 'id' (--id): missing value",
    )


N = 40
ODD = {
    "list": pa.array([[1]] * N),
    "interval": pa.array([pa.MonthDayNano([1, 2, 3])] * N),
    "run ends": pa.RunEndEncodedArray.from_arrays([N], ["q"]),
    "union": pa.UnionArray.from_dense(
        pa.array([0] * N, pa.int8()), pa.array(range(N), pa.int32()), [pa.array(range(N))]
    ),
    "null in a dictionary": pa.DictionaryArray.from_arrays(pa.array([0, 1] * (N // 2), pa.int8()), ["u", None]),
}


@pytest.mark.parametrize("what", ODD)
def test_columns_of_odd_types_pass_or_are_refused(linred_command, what):
    """A format takes them as they are, or one line says that it cannot; as an id or as X, likewise."""
    s, x = two_columns(N)
    write("in.arrow", s=s, x=x, odd=ODD[what])
    fit(linred_command, "in.arrow", "s", "x", "--alpha", "0.5")
    key_file(linred_command)
    for to in ("arrow", "parquet", "csv"):
        done = linred_command("sanitize", "in.arrow", "-m", "mechanism.json", "-o", f"out.{to}", "-q")
        if done.code:
            assert to != "arrow"
            refused(done, "cannot hold column 'odd': leave it out with --columns")
            assert not Path(f"out.{to}").exists()
        elif to != "csv":
            assert read(f"out.{to}")["odd"].to_pylist() == ODD[what].to_pylist()
    named = ("--id", "odd", "--key-file", "key", "-q", "--columns", "")
    refused(linred_command("sanitize", "in.arrow", "-m", "mechanism.json", "-o", "id.csv", *named), "'odd'")


def test_bytes_that_are_not_text_have_no_place_in_csv(linred_command):
    write("in.arrow", s=["f", "m"] * 20, x=pa.array([b"\xff", b"a"] * 20))
    fit(linred_command, "in.arrow", "s", "x", "--alpha", "0.5")
    how = ("-m", "mechanism.json", "-q", "-o")
    refused(linred_command("sanitize", "in.arrow", *how, "out.csv"), "CSV cannot hold column 'x'", "another format")
    assert linred_command("sanitize", "in.arrow", *how, "out.parquet").code == 0
    assert set(read("out.parquet")["x"].to_pylist()) == {b"\xff", b"a"}


def test_dictionaries_that_change_are_plain_values_in_an_arrow_file(linred_command):
    schema = pa.schema([("s", pa.string()), ("x", pa.string()), ("d", pa.dictionary(pa.int8(), pa.string()))])
    s, x = two_columns(N)
    with pa.ipc.new_stream("in.arrows", schema) as file:
        for values in (["p", "q"], ["r", "t"]):
            codes = pa.array([0, 1] * (N // 2), pa.int8())
            file.write_batch(pa.record_batch([s, x, pa.DictionaryArray.from_arrays(codes, values)], schema=schema))
    fit(linred_command, "in.arrows", "s", "x", "--alpha", "0.5")
    how = ("-m", "mechanism.json", "-q")
    for to in ("arrow", "arrows", "parquet", "csv"):
        assert linred_command("sanitize", "in.arrows", *how, "-o", f"out.{to}").code == 0
    expected = ["p", "q"] * (N // 2) + ["r", "t"] * (N // 2)
    for to in ("arrow", "arrows", "parquet", "csv"):
        assert [row["d"] for row in as_rows(f"out.{to}")] == expected
    assert read("out.parquet")["d"].to_pylist() == expected
    assert read("out.parquet").schema.field("d").type == schema.field("d").type
    assert pa.ipc.open_stream("out.arrows").schema.field("d").type == schema.field("d").type
    assert read("out.arrow").schema.field("d").type == pa.string()


def test_an_empty_label_alone_in_a_line_is_quoted(linred_command):
    """Most readers skip an empty line: that record would be lost."""
    write("in.arrow", s=["f", "m"] * 20, x=["", "a", "b", ""] * 10)
    fit(linred_command, "in.arrow", "s", "x", "--alpha", "0.5")
    assert linred_command("sanitize", "in.arrow", "-m", "mechanism.json", "-o", "out.csv", "-q").code == 0
    lines = Path("out.csv").read_text().splitlines()
    assert (len(lines), lines[0], "" in lines) == (41, "x", False)
    assert {line.strip('"') for line in lines[1:]} == {"", "a", "b"}


def test_paths_that_are_not_utf_8(linred_command):
    name = b"caf\xe9.parquet".decode(errors="surrogateescape")
    s, x = two_columns(N)
    write("in.parquet", s=s, x=x)
    Path("in.parquet").rename(name)
    fit(linred_command, name, "s", "x", "--alpha", "0.5")
    assert linred_command("sanitize", name, "-m", "mechanism.json", "-o", f"out-{name}", "-q").code == 0
    assert len(Path(f"out-{name}").read_bytes()) > 0


def test_the_text_of_small_adult_is_the_same_from_any_row_groups(linred_command):
    """Row groups are read several at once, or one by one: all records come, in order."""
    rows = pa.Table.from_pylist(read_csv(ADULT))
    fit(linred_command, ADULT, "sex", "occupation", *TARGET)
    for size in (1, 100, 5000):
        parquet.write_table(rows.slice(0, 500), "in.parquet", row_group_size=size)
        how = ("-m", "mechanism.json", "-o", f"{size}.csv", "-q", "--seed", "1", "--context", "c")
        assert linred_command("sanitize", "in.parquet", *how).code == 0
        assert column(read_csv(f"{size}.csv"), "age") == rows["age"].to_pylist()[:500]
    assert Path("1.csv").read_text() == Path("100.csv").read_text() == Path("5000.csv").read_text()


def test_a_name_with_a_dot_counts_towards_the_size_of_a_record(tmp_path):
    table = pa.table({"a.b": ["q" * 100_000] * 5, "c": pa.array([{"d": 1}] * 5)})
    path = str(tmp_path / "in.parquet")
    parquet.write_table(table, path, use_dictionary=False, compression="none")
    with open_source(path, format_of(path)) as source:
        assert source._record_bytes(source._reader([]), 0, ["a.b"], ()) >= 100_000
        assert source._record_bytes(source._reader([]), 0, ["c"], ()) < 100_000


@pytest.mark.parametrize("form", ["parquet", "arrow", "arrows", "csv.gz"])
def test_errors_of_damaged_files_show_no_value(linred_command, form):
    """Every text that pyarrow may give is replaced by the kind of fault and the record after which it comes."""
    table = pa.table({"s": ["f", "m"] * 50_000, "x": ["SECRET", "b"] * 50_000})
    if form == "csv.gz":
        with pa.output_stream("in.csv.gz", compression="gzip") as file:
            file.write(b"s,x\n" + b"f,SECRET\n" * 1_000_000)
    elif form == "parquet":
        parquet.write_table(table, "in.parquet", row_group_size=10_000)
    else:
        with (pa.ipc.new_file if form == "arrow" else pa.ipc.new_stream)(f"in.{form}", table.schema) as file:
            file.write_table(table, max_chunksize=10_000)
    raw = Path(f"in.{form}").read_bytes()
    middle = len(raw) // 2
    Path(f"in.{form}").write_bytes(raw[:middle] + bytes(len(raw) - middle - 100) + raw[-100:] if form == "arrow" else
                                   raw[:middle])  # fmt: skip
    done = linred_command("fit", f"in.{form}", "--sensitive", "s", "--public", "x", "--alpha", "0.5")
    assert (done.code, "SECRET" in done.err) == (2, False), done
    refused(done, f"in.{form}")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_a_value_that_no_bin_can_hold_is_not_shown(linred_command, form):
    values = ["20", "30"] * 500 + ["SECRET"]
    table = pa.table({"s": ["f", "m"] * 500 + ["f"], "x": values})
    if form == "csv":
        Path("in.csv").write_text("s,x\n" + "".join(f"f,{value}\n" for value in values))
    else:
        parquet.write_table(table, "in.parquet")
    done = linred_command("fit", f"in.{form}", "--sensitive", "s", "--public", "x", "--alpha", "1", "--bins", "x=25")
    refused(done, f"in.{form}: column 'x': a value after record 0 is not a number")
    assert "SECRET" not in done.err

"""CSV files: values that need quotes, long headers, and columns of which no byte passes."""

import csv
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

import linred
from linred.columns.adapters.arrow_arrays import ArrowColumn
from linred.columns.encoder import Encoder
from linred.io.formats import format_of, open_source
from support.commands import (
    column,
    fit,
    read_csv,
    text_of,
)


@pytest.mark.parametrize("n_columns", [2, 5, 300])
def test_no_byte_of_a_column_that_is_left_out_passes(linred_command, n_columns):
    """S between columns that pass, in any place, quoted or not, seen by the mechanism or not."""
    rng = np.random.default_rng(n_columns)
    for place in {0, n_columns // 2, n_columns - 1}:
        names = [f"c{i}" for i in range(n_columns - 1)]
        names.insert(place, "s")
        x = "c0"
        rows = [["SECRET" if name == "s" else str(rng.integers(3)) for name in names] for _ in range(50)]
        for row in rows[::2]:
            row[place] = "SECRET,\n2"
        with open("in.csv", "w", newline="") as file:
            csv.writer(file).writerows([names, *rows])
        for more in ((), ("--no-sees-s",)):
            fit(linred_command, "in.csv", "s", x, "--ldp", "1", "--no-scan", "--force", *more)
            passing_columns = ("--columns", ",".join(names[::2])) if place % 2 else ()
            done = linred_command(
                "sanitize", "in.csv", "-m", "mechanism.json", "-o", "out.csv", "--force", *passing_columns
            )
            assert done.code == 0, done
            assert "SECRET" not in text_of("out.csv")
            after = read_csv("out.csv")
            wanted = set(names[::2]) | {x} if passing_columns else set(names)
            assert list(after[0]) == [name for name in names if name in wanted - {"s"}]
            for name in set(after[0]) - {x}:
                assert column(after, name) == [row[names.index(name)] for row in rows]


def test_values_that_need_quotes(linred_command):
    """Commas, quotes, line ends, and text that looks like missing, as S, as X and as another column."""
    values = ["a,b", 'say "x"', "two\nlines", "two\r\nlines", "NA", "null", " ", "é", "", "plain"]
    rows = [[s, x, o] for s in values[:3] for x in values for o in values]
    with open("in.csv", "w", newline="") as file:
        csv.writer(file).writerows([["s", "x,1", "other"], *rows])
    fit(linred_command, "in.csv", "s", '"x,1"', "--alpha", "0.5")
    assert None in linred.load("mechanism.json").joint.x_labels
    assert "NA" in linred.load("mechanism.json").joint.x_labels
    for to in ("csv", "parquet", "tsv"):
        assert linred_command("sanitize", "in.csv", "-m", "mechanism.json", "-o", f"out.{to}", "--seed", "1").code == 0
    with open("out.csv", newline="") as file:
        after = list(csv.reader(file))
    assert after[0] == ["x,1", "other"]
    assert [row[1] for row in after[1:]] == [row[2] for row in rows]
    assert {row[0] for row in after[1:]} == set(values)
    table = parquet.ParquetFile("out.parquet").read().to_pylist()
    assert [[row["x,1"] or "", row["other"] or ""] for row in table] == after[1:]
    with open("out.tsv", newline="") as file:
        assert list(csv.reader(file, delimiter="\t"))[1:] == after[1:]


def test_a_header_of_megabytes(linred_command):
    names = [f"column {i} {'n' * 900}" for i in range(3000)]
    row = ",".join(["v"] * len(names))
    Path("in.csv").write_text(f"s,{','.join(names)},x\nf,{row},a\nm,{row},b\n")
    fit(linred_command, "in.csv", "s", "x", "--alpha", "0.5", "--no-scan")
    assert linred_command("sanitize", "in.csv", "-m", "mechanism.json", "-o", "out.csv", "-q").code == 0
    assert [len(line.split(",")) for line in Path("out.csv").read_text().splitlines()] == [3001] * 3


LINES = 's,x\na,1\n"b",\n"",2\n"a ""q""",1\nzz,\nb,3\n'


@pytest.fixture
def text_column(tmp_path):
    path = tmp_path / "in.csv"
    path.write_text(LINES)
    with open_source(str(path), format_of(path)) as source:
        (batch,) = source.batches({"s", "x"})
        return batch.text("s")


@pytest.mark.parametrize("labels", [("b", "a"), ("a", None, 'a "q"'), ("", 5, "zz"), ("a", "b", "zz", 'a "q"', None)])
def test_codes_of_text_are_those_of_its_arrow_form(text_column, labels):
    codes = text_column.codes_in(Encoder(labels))
    np.testing.assert_array_equal(codes, ArrowColumn("s", text_column.column).codes_in(Encoder(labels)))


def test_text_is_an_adapter(text_column):
    assert text_column.values() == ["a", "b", None, 'a "q"', "zz", "b"]
    assert [text_column.value_at(record) for record in range(len(text_column))] == text_column.values()
    assert text_column.missing().tolist() == [False, False, True, False, False, False]
    assert text_column.encoded(sort=True).labels == ("a", 'a "q"', "b", "zz", None)
    assert text_column.take(~text_column.missing()).values() == ["a", "b", 'a "q"', "zz", "b"]


def test_a_name_with_a_carriage_return_is_quoted(linred_command):
    Path("in.csv").write_text('s,x,"a\rb"\nf,a,1\nm,b,2\n', newline="")
    fit(linred_command, "in.csv", "s", "x", "--alpha", "0.5", "--no-scan")
    assert linred_command("sanitize", "in.csv", "-m", "mechanism.json", "-o", "out.csv", "-q").code == 0
    with open("out.csv", newline="") as file:
        assert next(csv.reader(file)) == ["x", "a\rb"]


def test_columns_of_one_name_and_of_none_are_told_by_their_places(linred_command):
    for header, expected in (("s,SECRET,SECRET", "columns 2 and 3 have the same name"), ("SECRET,,x", "column 2 has")):
        Path("in.csv").write_text(f"{header}\nf,a,b\n")
        done = linred_command("fit", "in.csv", "--sensitive", "s", "--public", "x", "--alpha", "1")
        assert done.code == 2
        assert expected in done.err
        assert "SECRET" not in done.err

"""The `linred` command on small real files: what it writes, row by row, what it says, and what it refuses."""

import csv
import gzip
import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import linred
from commands import ADULT, FLIGHTS, command, files_in, fit, process, read_csv
from linred import passing
from linred.fitted import parts_of

PAIR = ("marital_status", "occupation")
TARGET = ("--ldp", "1")


def text_of(path):
    return Path(path).read_text()


def column(rows, name):
    return [row[name] or None for row in rows]


def key_file(run, path="key"):
    assert run("keygen", path).code == 0
    return bytes.fromhex(text_of(path))


def context(path, public):
    return passing.context(os.path.realpath(path), parts_of("public", public))


# What is written


@pytest.mark.parametrize(
    ("data", "sensitive", "public", "asked"),
    [
        (ADULT, "marital_status", "occupation", ("--ldp", "1")),
        (ADULT, "sex", "occupation", ("--ldp", "1", "--no-sees-s")),
        (ADULT, "race,sex", "education,income", ("--log-lift", "0.5")),
        (FLIGHTS, "carrier", "dest", ("--ldp", "2", "--mechanism", "non-markov")),
        (FLIGHTS, "origin", "tailnum", ("--alpha", "0.5", "--mechanism", "markov")),
    ],
)
def test_every_row_is_what_the_library_draws(linred_command, data, sensitive, public, asked):
    fit(linred_command, data, sensitive, public, *asked)
    key = key_file(linred_command)
    assert linred_command("sanitize", data, "-m", "mechanism.json", "-o", "out.csv", "--key-file", "key").code == 0
    before, after = read_csv(data), read_csv("out.csv")
    s, x = ([column(before, name) for name in names.split(",")] for names in (sensitive, public))
    s, x = ({str(i): one for i, one in enumerate(side)} if len(side) > 1 else side[0] for side in (s, x))
    mechanism = linred.load("mechanism.json")
    assert mechanism.joint.n_records == len(before)
    expected = mechanism.sanitize(s if mechanism.sees_s else None, x, key=key, context=context(data, public.split(",")))
    for place, name in enumerate(public.split(",")):
        assert column(after, name) == (expected[str(place)] if "," in public else expected)
    for name in after[0]:
        if name not in public.split(","):
            assert [row[name] for row in after] == [row[name] for row in before]
    assert set(before[0]) - set(after[0]) == set(sensitive.split(","))
    assert list(after[0]) == [name for name in before[0] if name not in sensitive.split(",")]


def test_the_fit_is_that_of_the_library(linred_command):
    fit(linred_command, FLIGHTS, "carrier", "tailnum", "--alpha", "0.5")
    rows = read_csv(FLIGHTS)
    joint = linred.Joint.from_records(column(rows, "carrier"), column(rows, "tailnum"))
    fitted = linred.load("mechanism.json").joint
    assert fitted.s_labels == joint.s_labels
    assert fitted.x_labels == joint.x_labels
    assert fitted.x_labels[-1] is None  # missing values are a category
    np.testing.assert_array_equal(fitted.counts, joint.counts)


FORMATS = ("csv", "csv.gz", "csv.zst", "tsv", "parquet", "arrow", "feather", "arrows")


def as_rows(path):
    """A file as a list of dicts, by packages that are not ours."""
    name = str(path)
    if name.endswith(".parquet"):
        return parquet.ParquetFile(name).read().to_pylist()
    if name.endswith((".arrow", ".feather")):
        return pa.ipc.open_file(name).read_all().to_pylist()
    if name.endswith(".arrows"):
        return pa.ipc.open_stream(name).read_all().to_pylist()
    with pa.input_stream(name, compression="detect") as file:
        text = file.read().decode()
    rows = csv.DictReader(text.splitlines(), delimiter="\t" if name.endswith("tsv") else ",")
    return [{name: value or None for name, value in row.items()} for row in rows]


def test_all_formats_agree(linred_command):
    """From CSV to every format, and from every format to CSV: the same values."""
    fit(linred_command, FLIGHTS, "carrier", "dest", *TARGET)
    key_file(linred_command)
    how = ("-m", "mechanism.json", "--key-file", "key", "--context", "a release")
    for to in FORMATS:
        assert linred_command("sanitize", FLIGHTS, *how, "-o", f"out.{to}").code == 0
        assert linred_command("sanitize", FLIGHTS, *how, "-o", f"kept.{to}", "--keep-sensitive").code == 0
    expected = as_rows("out.csv")
    assert len(expected) == 4000
    assert sum(row["tailnum"] is None for row in expected) == sum(row["tailnum"] == "" for row in read_csv(FLIGHTS)) > 0
    for to in FORMATS:
        assert as_rows(f"out.{to}") == expected, to
    original = [{name: value or None for name, value in row.items()} for row in read_csv(FLIGHTS)]
    for to in FORMATS:
        passed = [{**new, "dest": old["dest"]} for new, old in zip(as_rows(f"kept.{to}"), original, strict=True)]
        assert passed == original
        write_format(f"in.{to}", original)
        assert linred_command("sanitize", f"in.{to}", *how, "-o", f"from-{to}.csv").code == 0
        assert as_rows(f"from-{to}.csv") == expected, to


def write_format(path, rows):
    """The rows by pyarrow and Python's csv module."""
    table = pa.Table.from_pylist(rows)
    if path.endswith(".parquet"):
        parquet.write_table(table, path, row_group_size=999)
    elif path.endswith((".arrow", ".feather", ".arrows")):
        new = pa.ipc.new_stream if path.endswith("arrows") else pa.ipc.new_file
        with new(path, table.schema) as file:
            file.write_table(table, max_chunksize=777)
    else:
        with pa.output_stream(path, compression="detect") as file:
            delimiter = "\t" if path.endswith("tsv") else ","
            names = list(rows[0])
            lines = [delimiter.join(names), *(delimiter.join(row[name] or "" for name in names) for row in rows)]
            file.write("\r\n".join(lines).encode())


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
        assert out.schema.remove_metadata() == table.schema.remove(0).remove_metadata()
        assert out.schema.metadata is None
        assert pa.ipc.open_file("out.arrow").read_all().cast(out.schema).equals(out)
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


def test_columns_that_are_chosen(linred_command):
    fit(linred_command, ADULT, *PAIR, *TARGET)
    how = ("sanitize", ADULT, "-m", "mechanism.json", "-o", "out.csv", "--force", "-q")
    for columns, kept in (("race,age", ["age", "occupation", "race"]), ("occupation", ["occupation"])):
        assert linred_command(*how, "--columns", columns).code == 0
        assert list(read_csv("out.csv")[0]) == kept
        if "age" in kept:
            assert column(read_csv("out.csv"), "age") == column(read_csv(ADULT), "age")
    assert linred_command(*how, "--columns", "").code == 0  # an empty variable of a shell names none, not all
    assert list(read_csv("out.csv")[0]) == ["occupation"]
    refused = linred_command(*how, "--columns", "marital_status,age")
    assert refused.code == 2
    assert "'marital_status', which is sensitive" in refused.err
    assert linred_command(*how, "--columns", "marital_status", "--keep-sensitive").code == 0
    assert column(read_csv("out.csv"), "marital_status") == column(read_csv(ADULT), "marital_status")


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


def test_bins(linred_command):
    """Declared edges for S and X, from text and from numbers: the same; every number has a bin."""
    rows = read_csv(ADULT)
    ages = np.array([float(row["age"]) for row in rows])
    table = pa.table(
        {"age": pa.array(ages), "sex": column(rows, "sex"), "hours": [int(row["hours_per_week"]) for row in rows]}
    )
    parquet.write_table(table, "in.parquet")
    bins = ("--bins", "age=25,45,65.5", "--ldp", "1")
    fit(linred_command, ADULT, "sex", "age", *bins)
    fit(linred_command, "in.parquet", "sex", "age", *bins, output="other.json")
    labels = ("age<25", "25<=age<45", "45<=age<65.5", "age>=65.5")
    for path in ("mechanism.json", "other.json"):
        mechanism = linred.load(path)
        assert mechanism.joint.x_labels == labels
        assert mechanism.joint.counts.sum(axis=0).tolist() == np.histogram(ages, [0, 25, 45, 65.5, 200])[0].tolist()
    how = ("--seed", "3", "--context", "c", "-q")
    assert linred_command("sanitize", ADULT, "-m", "other.json", "-o", "out.csv", *how).code == 0
    assert linred_command("sanitize", "in.parquet", "-m", "mechanism.json", "-o", "out.parquet", *how).code == 0
    drawn = column(read_csv("out.csv"), "age")
    assert drawn == parquet.ParquetFile("out.parquet").read()["age"].to_pylist()
    assert set(drawn) == set(labels)
    fit(linred_command, ADULT, "age", "occupation", *bins, "--force")
    assert linred.load("mechanism.json").joint.s_labels == labels


def test_a_declared_domain(linred_command):
    rows = read_csv(ADULT)
    domain = {
        "sex": ["Male", "Female", "Other"],
        "occupation": [*sorted({row["occupation"] for row in rows}), "Astronaut"],
    }
    Path("domain.json").write_text(json.dumps(domain))
    fit(linred_command, ADULT, "sex", "occupation", "--domain", "domain.json", *TARGET)
    mechanism = linred.load("mechanism.json")
    assert mechanism.joint.s_labels == ("Male", "Female", "Other")
    assert mechanism.joint.x_labels[-1] == "Astronaut"
    assert mechanism.fitted.declared
    assert "read off the data" not in linred_command("report", "mechanism.json").out
    domain["occupation"].remove("Sales")
    Path("domain.json").write_text(json.dumps(domain))
    refused = linred_command(
        "fit", ADULT, "--sensitive", "sex", "--public", "occupation", "--domain", "domain.json", *TARGET
    )
    assert refused.code == 2
    assert "'Sales'" in refused.err
    assert "does not declare" in refused.err


@pytest.mark.parametrize("missing", ["category", "skip", "error"])
def test_missing_values(linred_command, missing):
    rows = read_csv(FLIGHTS)
    n_missing = sum(row["tailnum"] == "" for row in rows)
    asked = ("--sensitive", "carrier", "--public", "tailnum", "--alpha", "1", "-o", "m.json", "--missing", missing)
    done = linred_command("fit", FLIGHTS, *asked)
    if missing == "error":
        first = next(i for i, row in enumerate(rows) if not row["tailnum"]) + 1
        assert (done.code, files_in(".")) == (2, [])
        assert f"record {first:,} has no 'tailnum'" in done.err
        return
    joint = linred.load("m.json").joint
    assert joint.n_records == len(rows) - (n_missing if missing == "skip" else 0)
    assert (None in joint.x_labels) == (missing == "category")
    done = linred_command("sanitize", FLIGHTS, "-m", "m.json", "-o", "out.csv")
    assert done.code == (2 if missing == "skip" else 0)
    if missing == "skip":
        assert "a missing value in tailnum" in done.err


# Randomness


def test_keys_seeds_and_contexts(linred_command):
    fit(linred_command, ADULT, *PAIR, "--alpha", "1")
    key_file(linred_command, "a")
    key_file(linred_command, "b")

    def drawn(*how, data=ADULT):
        done = linred_command("sanitize", data, "-m", "mechanism.json", "-o", "out.csv", "--force", *how)
        assert done.code == 0, done
        return column(read_csv("out.csv"), "occupation"), done.err

    with_a, said = drawn("--key-file", "a")
    assert "not private" not in said
    assert drawn("--key-file", "a", "--threads", "1")[0] == with_a
    copy = "copy.csv"
    Path(copy).write_text(text_of(ADULT))
    different = [
        drawn("--key-file", "b")[0],
        drawn("--key-file", "a", "--context", "other")[0],
        drawn("--key-file", "a", data=copy)[0],
        drawn()[0],
        drawn()[0],
        drawn("--seed", "1")[0],
    ]
    assert len({tuple(one) for one in (with_a, *different)}) == 7
    assert drawn("--key-file", "a", "--context", os.path.realpath(ADULT), data=copy)[0] == with_a
    seeded, said = drawn("--seed", "1")
    assert "a seed is not private" in said
    assert seeded == different[-1]


def test_ids_name_records_wherever_they_stand(linred_command):
    rows = read_csv(ADULT)
    for i, row in enumerate(rows):
        row["id"] = str(10_000 + i)
    order = np.random.default_rng(1).permutation(len(rows)).tolist()
    for path, chosen in (("in.csv", range(len(rows))), ("mixed.csv", order)):
        with open(path, "w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows[i] for i in chosen)
    parquet.write_table(
        pa.table({**{name: column(rows, name) for name in PAIR}, "id": [int(row["id"]) for row in rows]}), "in.parquet"
    )
    fit(linred_command, ADULT, *PAIR, "--alpha", "1")
    key = key_file(linred_command)
    drawn = {}
    for path in ("in.csv", "mixed.csv", "in.parquet"):
        assert (
            linred_command(
                "sanitize", path, "-m", "mechanism.json", "-o", "out.csv", "--id", "id", "--key-file", "key", "--force"
            ).code
            == 0
        )
        drawn[path] = {row["id"]: row["occupation"] for row in read_csv("out.csv")}
    assert drawn["in.csv"] == drawn["mixed.csv"] == drawn["in.parquet"]
    expected = linred.load("mechanism.json").sanitize(
        column(rows, PAIR[0]), column(rows, PAIR[1]), key=key, ids=column(rows, "id"),
        context=passing.context(None, parts_of("public", PAIR[1])),
    )  # fmt: skip
    assert list(drawn["in.csv"].values()) == expected


def test_a_key_is_for_its_owner_and_is_never_shown(linred_command):
    made = linred_command("keygen", "key")
    text = text_of("key").strip()
    assert stat.S_IMODE(os.stat("key").st_mode) == 0o600
    assert len(text) == 64
    fit(linred_command, ADULT, *PAIR, *TARGET)
    done = linred_command("sanitize", ADULT, "-m", "mechanism.json", "-o", "out.csv", "--key-file", "key")
    os.chmod("key", 0o640)
    refused = linred_command("sanitize", ADULT, "-m", "mechanism.json", "-o", "other.csv", "--key-file", "key")
    assert refused.code == 2
    assert "can be read by others" in refused.err
    for path in ("out.csv", "mechanism.json"):
        assert text not in text_of(path)
    for said in (made, done, refused):
        assert text not in said.out + said.err
    Path("key").write_text("not a key")
    os.chmod("key", 0o600)
    refused = linred_command("sanitize", ADULT, "-m", "mechanism.json", "-o", "other.csv", "--key-file", "key")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "not a key\n" not in refused.err


# What is said


def test_the_report_of_a_fit(linred_command):
    done = linred_command("fit", ADULT, "--sensitive", PAIR[0], "--public", PAIR[1], *TARGET, "-o", "mechanism.json")
    mechanism = linred.load("mechanism.json")
    assert str(mechanism.report()) in done.out
    assert f"{mechanism.dtv():.3%} of the records, {mechanism.dtv() * 3000:,.0f} of 3,000" in done.out
    for text in (
        "asked: ldp <= 1.0: met",
        "X itself is not made private",
        "Records are taken as independent",
        "read off the data",
    ):
        assert text in done.out
    assert "confidential" in done.err
    again = linred_command("report", "mechanism.json")
    assert again.out.split("\n", 1)[1] == done.out.split("\n", 1)[1]
    figures = json.loads(linred_command("report", "mechanism.json", "--json").out)
    assert figures["figures"]["after"]["ldp"] == mechanism.report().after.ldp
    assert figures["figures"]["before"]["ldp"] == "inf"
    assert "joint" not in figures


def test_the_leak_scan_measures_every_other_column(linred_command):
    """Against the library's own measure on each column, by Joint.from_records."""
    fit(linred_command, ADULT, *PAIR, *TARGET)
    rows = read_csv(ADULT)
    leaks = {leak.column: leak for leak in linred.load("mechanism.json").fitted.leaks}
    assert set(leaks) == set(rows[0]) - set(PAIR)
    s = column(rows, PAIR[0])
    for name, leak in leaks.items():
        joint = linred.Joint.from_records(s, column(rows, name))
        if joint.shape[1] <= 4096:
            assert leak.information == pytest.approx(linred.mutual_information(joint), rel=1e-12), name
            assert leak.guessed == pytest.approx(joint.counts.max(axis=0).sum() / len(rows))
            assert (leak.n_values, leak.at_least) == (joint.shape[1], False)
    assert next(iter(leaks)) == "relationship"
    done = linred_command("sanitize", ADULT, "-m", "mechanism.json", "-o", "out.csv", "--columns", "relationship,race")
    (warning,) = (line for line in done.err.splitlines() if "warning" in line)
    assert "relationship (0.7" in warning
    assert "race" not in warning


def test_a_column_of_too_many_values_is_measured_in_bins_or_in_part(linred_command):
    rng = np.random.default_rng(1)
    n = 20_000
    s = rng.integers(0, 2, n)
    names = {
        "s": s.astype(str),
        "x": np.where(rng.random(n) < 0.6, s, rng.integers(0, 3, n)).astype(str),
        "telling": (rng.normal(size=n) + 3 * s).astype(str),
        "noise": rng.normal(size=n).astype(str),
        "id": np.char.add("id", np.arange(n).astype(str)),
    }
    with open("in.csv", "w", newline="") as file:
        csv.writer(file).writerows([names, *zip(*names.values(), strict=True)])
    fit(linred_command, "in.csv", "s", "x", *TARGET)
    leaks = {leak.column: leak for leak in linred.load("mechanism.json").fitted.leaks}
    assert leaks["telling"].beyond_chance > 0.4
    assert leaks["telling"].guessed > 0.9
    assert leaks["noise"].beyond_chance < 0.003
    assert all(leak.at_least for leak in leaks.values())
    assert leaks["id"].n_values == 4097
    done = linred_command("sanitize", "in.csv", "-m", "mechanism.json", "-o", "out.csv")
    (line,) = (line for line in done.err.splitlines() if "not fully measured" in line)
    assert "noise" in line


def test_columns_that_the_fit_did_not_measure_are_named(linred_command):
    fit(linred_command, ADULT, *PAIR, *TARGET, "--no-scan")
    done = linred_command("sanitize", ADULT, "-m", "mechanism.json", "-o", "out.csv", "--columns", "age,race")
    assert "not fully measured for what they tell about S: age, race" in done.err
    assert "Other columns were not looked at" in linred_command("report", "mechanism.json").out


def test_run_is_fit_and_sanitize_and_report(linred_command):
    done = linred_command(
        "run", ADULT, "--sensitive", PAIR[0], "--public", PAIR[1], *TARGET, "-o", "one.csv", "-m", "m.json", "--html",
        "page.html", "--seed", "1", "--columns", "education",
    )  # fmt: skip
    assert done.code == 0
    assert str(linred.load("m.json").report()) in done.out
    assert text_of("page.html").startswith("<!doctype html>")
    assert (
        linred_command("sanitize", ADULT, "-m", "m.json", "-o", "two.csv", "--seed", "1", "--columns", "education").code
        == 0
    )
    assert text_of("one.csv") == text_of("two.csv")
    assert linred_command("report", "m.json", "--html", "again.html").code == 0
    assert text_of("page.html") == text_of("again.html")


def test_tradeoff_prints_and_plots(linred_command):
    asked = (
        "tradeoff",
        ADULT,
        "--sensitive",
        PAIR[0],
        "--public",
        PAIR[1],
        "--ldp",
        "0.5,1",
        "--mechanisms",
        "markov,optimal",
    )
    done = linred_command(*asked, "--plot", "plot.svg")
    assert done.code == 0
    rows = read_csv(ADULT)
    joint = linred.Joint.from_records(column(rows, PAIR[0]), column(rows, PAIR[1]))
    share = linred.optimal(joint, ldp=0.5).dtv()
    assert re.search(rf"\n +0\.5 +\S+ +{share:.3%}\n", done.out)
    assert "<svg" in text_of("plot.svg")
    lines = linred_command(*asked, "--csv").out.splitlines()
    assert lines[0].startswith("mechanism,point,alpha,ldp,")
    assert len(lines) == 5


def test_names_that_differ_from_the_fit(linred_command):
    fit(linred_command, ADULT, "sex", "age", "--bins", "age=30", *TARGET)
    text = text_of(ADULT).replace("age,", "years,", 1).replace(",sex,", ",gender,", 1)
    Path("other.csv").write_text(text)
    how = ("-m", "mechanism.json", "-o", "out.csv", "--seed", "1", "-q", "--context", "c")
    assert linred_command("sanitize", "other.csv", *how).code == 2
    assert linred_command("sanitize", "other.csv", *how, "--public", "years", "--sensitive", "gender").code == 0
    assert set(column(read_csv("out.csv"), "years")) == {"age<30", "age>=30"}


# As a process of its own


def test_pipes(tmp_path):
    assert process("fit", "-", "--sensitive", PAIR[0], "--public", PAIR[1], *TARGET, "-o", "m.json", "-q",
                   stdin=ADULT.read_bytes(), cwd=tmp_path) == (0, "", "")  # fmt: skip
    process("keygen", "key", cwd=tmp_path)
    how = ("-m", "m.json", "--key-file", "key", "--context", "c")
    done = process("sanitize", "-", *how, "-o", "-", stdin=ADULT.read_bytes(), cwd=tmp_path)
    assert done.code == 0
    assert process("sanitize", ADULT, *how, "-o", "out.csv", cwd=tmp_path).code == 0
    assert done.out == (tmp_path / "out.csv").read_text()
    assert "\x1b" not in done.err  # no bar where there is no terminal
    packed = process(
        "sanitize",
        "-",
        *how,
        "-o",
        "out.csv.gz",
        "--from",
        "csv.gz",
        stdin=gzip.compress(ADULT.read_bytes()),
        cwd=tmp_path,
    )
    assert packed.code == 0
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()).decode() == done.out
    unnamed = process(
        "sanitize", "-", "-m", "m.json", "--key-file", "key", "-o", "-", stdin=ADULT.read_bytes(), cwd=tmp_path
    )
    assert (unnamed.code, unnamed.out) == (2, "")
    assert "--context" in unnamed.err
    refused = process("sanitize", "-", *how, "-o", "-", "--from", "parquet", stdin=b"", cwd=tmp_path)
    assert (refused.code, refused.out) == (2, "")
    assert "it must seek" in refused.err


def test_a_stream_of_arrow_passes_through_a_pipe(tmp_path):
    process("fit", ADULT, "--sensitive", PAIR[0], "--public", PAIR[1], *TARGET, "-o", "m.json", "-q", cwd=tmp_path)
    how = ("-m", "m.json", "--seed", "1", "--context", "c", "-q", "--columns", "age")
    assert process("sanitize", ADULT, *how, "-o", "out.csv", cwd=tmp_path).code == 0
    assert (
        process("sanitize", ADULT, *how, "-o", "in.arrows", "--keep-sensitive", "--columns", PAIR[0], cwd=tmp_path).code
        == 0
    )
    stream = (tmp_path / "in.arrows").read_bytes()
    done = subprocess.run(
        command("sanitize", "-", *how[:-2], "-o", "-", "--from", "arrows", "--to", "arrows"),
        input=stream, capture_output=True, cwd=tmp_path, check=True,
    )  # fmt: skip
    assert pa.ipc.open_stream(done.stdout).read_all().num_rows == 3000


def test_a_reader_that_leaves_is_no_error(tmp_path):
    process("fit", ADULT, "--sensitive", PAIR[0], "--public", PAIR[1], *TARGET, "-o", "m.json", "-q", cwd=tmp_path)
    (tmp_path / "long.csv").write_text(text_of(ADULT) + text_of(ADULT).partition("\n")[2] * 30)
    with subprocess.Popen(
        command("sanitize", "long.csv", "-m", "m.json", "-o", "-", "-q"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
    ) as running:  # fmt: skip
        running.stdout.readline()
        running.stdout.close()
        said = running.stderr.read().decode()
    assert running.returncode == 141
    assert "Traceback" not in said
    assert "Exception" not in said


def test_an_extra_that_is_missing_is_named(tmp_path):
    for package in ("click", "rich", "pyarrow"):
        code = f"import sys; sys.modules[{package!r}] = None; from linred.cli import main; main(['--version'])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 2
        assert done.stderr == f"linred: the command needs {package}: pip install linred[cli]\n"

"""The `linred` command on small real files: `run`, trade-off curves, and columns with other names than in the fit."""

import re
from pathlib import Path

import numpy as np
import pytest

import linred
from support.commands import ADULT, PAIR, TARGET, column, fit, read_csv, text_of

PAGES = ("page.html", "again.html")


def test_run_is_fit_and_sanitize_and_report(linred_command):
    done = linred_command(
        "run", ADULT, "--sensitive", PAIR[0], "--public", PAIR[1], *TARGET, "-o", "one.csv", "-m", "m.json", "--html",
        "page.html", "--seed", "1", "--columns", "education",
    )  # fmt: skip
    assert done.code == 0
    for block in str(linred.load("m.json").report()).split("\n\n")[-2:]:
        assert block in done.out
    assert text_of("page.html").startswith("<!doctype html>")
    assert (
        linred_command("sanitize", ADULT, "-m", "m.json", "-o", "two.csv", "--seed", "1", "--columns", "education").code
        == 0
    )
    assert text_of("one.csv") == text_of("two.csv")
    assert linred_command("report", "m.json", "--html", "again.html").code == 0
    figures = [re.findall(r'<data data-figure="(.*?)" value="(.*?)">', text_of(path)) for path in PAGES]
    assert figures[0] == figures[1], "the release differs: `report` knows of none"


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
    assert re.search(rf"\n +0\.5 +\S+ % +{100 * share:.2f} %\n", done.out)
    assert "<svg" in text_of("plot.svg")
    lines = linred_command(*asked, "--csv").out.splitlines()
    assert lines[0].startswith("mechanism,point,alpha,ldp,")
    assert len(lines) == 5


def tradeoff(linred_command, *asked, columns=PAIR):
    done = linred_command("tradeoff", ADULT, "--sensitive", columns[0], "--public", columns[1], *asked, "--csv")
    assert done.code == 0, done.err
    head, *lines = (line.split(",") for line in done.out.splitlines())
    return [dict(zip(head, line, strict=True)) for line in lines], done.err


def test_tradeoff_in_other_planes(linred_command):
    rows = read_csv(ADULT)
    joint = linred.Joint.from_records(column(rows, PAIR[0]), column(rows, PAIR[1]))
    found, _ = tradeoff(linred_command, "--ldp", "0.5,1", "--max-lift", "0.3", "--mechanisms", "optimal")
    expected = [linred.optimal(joint, ldp=ldp, max_lift=0.3).dtv() for ldp in (0.5, 1.0)]
    assert [float(row["dtv"]) for row in found] == expected
    found, _ = tradeoff(linred_command, "--max-changed", "1%,0.05")
    assert {row["mechanism"] for row in found} == {"optimal_markov", "optimal"}
    for row in found:
        sees_s, share = row["mechanism"] == "optimal", float(row["point"])
        expected = linred.ldp(linred.optimal(joint, max_changed=share, sees_s=sees_s).released)
        assert abs(float(row["ldp"]) - expected) < 1e-6
    assert {float(row["point"]) for row in found} == {0.01, 0.05}
    found, said = tradeoff(linred_command, "--max-changed", "0,0.2", "--max-lift", "0.1", "--mechanisms", "optimal")
    assert [bool(row["ldp"]) for row in found] == [False, True]
    assert "optimal has no point at 0: max_changed = 0 is too small" in said
    found, _ = tradeoff(linred_command, "--given-x", "1", "--mechanisms", "optimal")
    assert [row["point"] for row in found] == ["1.0"], "the only limit is the grid"


def test_tradeoff_for_composite_s_and_with_distances(linred_command):
    rows, optimal = read_csv(ADULT), ("--mechanisms", "optimal")
    s = list(zip(column(rows, PAIR[0]), column(rows, "sex"), strict=True))
    joint = linred.Joint.from_records(s, column(rows, PAIR[1]))
    cases = (
        (("--ldp", "0.5,1", "--secrets", "each"), "ldp", {"secrets": "each"}),
        (("--dp", "0.5,1", "--neighbors", "hamming"), "dp", {"neighbors": "hamming"}),
    )
    for asked, grid, others in cases:
        found, _ = tradeoff(linred_command, *asked, *optimal, columns=(f"{PAIR[0]},sex", PAIR[1]))
        expected = [linred.optimal(joint, **{grid: point}, **others).dtv() for point in (0.5, 1.0)]
        assert [float(row["dtv"]) for row in found] == pytest.approx(expected, rel=1e-9)
    binned = ("--bins", "age=20,30,60", "--distance", "absolute")  # centres 15, 25, 45 and 75
    found, _ = tradeoff(linred_command, "--max-distortion", "0.5,1", *binned, *optimal, columns=("sex", "age"))
    ages = np.array(column(rows, "age"), float)
    joint = linred.Joint.from_records(column(rows, "sex"), np.digitize(ages, [20, 30, 60]))
    distances = np.abs(np.subtract.outer(*[np.array([15.0, 25.0, 45.0, 75.0])] * 2))
    for row in found:
        most = float(row["point"])
        mechanism = linred.optimal(joint, max_distortion=most, distortion=distances)
        assert float(row["ldp"]) == pytest.approx(linred.ldp(mechanism.released), abs=1e-6)
        assert float(row["expected_distortion"]) <= most


def test_names_that_differ_from_the_fit(linred_command):
    fit(linred_command, ADULT, "sex", "age", "--bins", "age=30", *TARGET)
    text = text_of(ADULT).replace("age,", "years,", 1).replace(",sex,", ",gender,", 1)
    Path("other.csv").write_text(text)
    how = ("-m", "mechanism.json", "-o", "out.csv", "--seed", "1", "-q", "--context", "c")
    assert linred_command("sanitize", "other.csv", *how).code == 2
    assert linred_command("sanitize", "other.csv", *how, "--public", "years", "--sensitive", "gender").code == 0
    assert set(column(read_csv("out.csv"), "years")) == {"age<30", "age>=30"}


def test_only_sensitive_columns_that_are_written_are_warned_of(linred_command, artifact_path):
    how = ("sanitize", ADULT, "-m", artifact_path, "-o", "out.csv", "--force", "--keep-sensitive", "-q")
    assert "marital_status" not in linred_command(*how, "--columns", "age,race").err
    assert read_csv("out.csv")[0].keys() == {"age", "race", "occupation"}
    assert "marital_status" in linred_command(*how, "--columns", "age,marital_status").err
    assert "marital_status" in linred_command(*how).err


def test_a_column_that_was_sensitive_at_the_fit_is_not_published_beside_the_one_that_is_now(linred_command):
    Path("fit.csv").write_text("sex,job\n" + "f,a\nm,b\nf,b\nm,a\n" * 9)
    fit(linred_command, "fit.csv", "sex", "job", *TARGET)
    Path("both.csv").write_text("gender,sex,job,age\nf,f,a,1\nm,m,b,2\n")
    done = linred_command("sanitize", "both.csv", "-m", "mechanism.json", "-o", "out.csv", "--sensitive", "gender")
    assert done.code == 0, done
    assert Path("out.csv").read_text().splitlines()[0] == "job,age"

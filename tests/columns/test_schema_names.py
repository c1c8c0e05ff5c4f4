"""Columns that a table lacks: the nearest name is suggested unless the header may be a record."""

import pandas as pd
import pytest

import linred
from linred.columns.schema import missing_column
from support.commands import ADULT
from support.frames import DATA, KEY, MECHANISM


def test_the_nearest_name_is_offered():
    told = missing_column("in.csv", "ocupation", ["sex", "ocupation"], ["age", "sex", "occupation"])
    assert told == "in.csv has no column 'ocupation': did you mean 'occupation'?"
    told = missing_column("in.csv", "OCCUPATION", ["Sex", "OCCUPATION"], ["AGE", "Sex", "Occupation"])
    assert told == "in.csv has no column 'OCCUPATION': did you mean 'Occupation'?"
    told = missing_column("frame", "work", ["sex", "work"], ["age", 5, "sex"], "public")
    assert told == "frame has no column 'work' (public): it has 'age', 5, 'sex'"
    told = missing_column("in.csv", "work", ["sex", "work"], [f"column {i}" for i in range(20)] + ["sex"])
    assert told.endswith("'column 11' and 9 more")


def test_names_that_may_be_a_first_record_are_not_shown():
    told = missing_column("in.csv", "carrier", ["carrier", "dest"], ["151679", "DL"])
    assert told == (
        "in.csv has no column 'carrier', nor any other that was asked for; it has 2 columns. "
        "Is its first line a record, not a header?"
    )


@pytest.mark.parametrize("frame", [DATA, pd.DataFrame(DATA)], ids=["dict", "pandas"])
def test_frames(frame):
    with pytest.raises(ValueError, match=r"^frame has no column 'jobs' \(public\): did you mean 'job'\?$"):
        linred.sanitize_frame(frame, MECHANISM, sensitive="sex", public="jobs", key=KEY, start=0)
    with pytest.raises(ValueError, match=r"^frame has no column 'gender' \(sensitive\), nor any other .* 6 columns"):
        linred.sanitize_frame(frame, MECHANISM, sensitive="gender", public="work", key=KEY, start=0)


def test_files(linred_command, artifact_path):
    rows = ADULT.read_text().splitlines()
    with open("headless.csv", "w") as file:
        file.write("\n".join(row.replace(",", f"{i},", 1) for i, row in enumerate(rows[1:])))
    asked = ("--sensitive", "marital_status", "--public", "ocupation", "--ldp", "1")
    for command in (
        ("fit", ADULT, *asked),
        ("audit", ADULT, "--sensitive", "marital_status", "--released", "ocupation"),
        ("sanitize", ADULT, "-m", artifact_path, "-o", "out.csv", "--columns", "marital-status,agee"),
    ):
        done = linred_command(*command)
        assert done.code == 2
        assert "did you mean 'occupation'?" in done.err or "did you mean 'marital_status'?" in done.err
    for command in (
        ("fit", "headless.csv", *asked),
        ("sanitize", "headless.csv", "-m", artifact_path, "-o", "out.csv"),
    ):
        done = linred_command(*command)
        assert done.code == 2
        values = {value for value in rows[1].split(",") if len(value) > 2}
        assert not [value for value in values if value in done.err]

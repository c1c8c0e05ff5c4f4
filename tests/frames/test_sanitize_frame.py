"""`sanitize_frame`: every kind of frame, the parts that are kept or left out, and refused arguments."""

import pickle
import re
import subprocess
import sys
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import linred
from linred.columns.schema import ColumnSpec, FitSchema, parts_of
from linred.frames.sanitize_frame import FrameTask
from linred.sampling import keystream
from support.frames import (
    CONTEXT,
    DATA,
    EXPECTED,
    JOB,
    JOINT,
    KEY,
    KINDS,
    MARKOV,
    MECHANISM,
    NAMED,
    SEX,
    TWICE,
    collected,
    every_kind,
    fit,
    types,
    uniform,
)

# ---- what comes out


@every_kind
@pytest.mark.parametrize("mechanism", [MECHANISM, MARKOV], ids=["non_markov", "markov"])
def test_every_kind_of_frame_has_the_values_of_sanitize(kind, mechanism):
    frame = KINDS[kind](DATA)
    before = pickle.dumps(collected(frame))
    result = linred.sanitize_frame(frame, mechanism, **NAMED, key=KEY, start=0)
    assert type(result) is type(frame)
    values = collected(result)
    assert list(values) == ["year", "job", "full", "age", "id"]
    assert values.pop("job") == mechanism.sanitize(SEX, JOB, key=KEY, context=CONTEXT) != JOB
    assert values == {name: DATA[name] for name in values}
    assert types(result) == {name: kept for name, kept in types(frame).items() if name != "sex"}
    assert pickle.dumps(collected(frame)) == before


@every_kind
def test_the_columns_of_the_result_are_chosen(kind):
    frame = KINDS[kind](DATA)
    sanitize = partial(linred.sanitize_frame, frame, MECHANISM, **NAMED, key=KEY, start=0)
    kept = collected(sanitize(keep_sensitive=True))
    assert kept == {**DATA, "job": EXPECTED}
    assert list(kept) == list(DATA)
    assert collected(sanitize(columns=["job", "year"])) == {"year": DATA["year"], "job": EXPECTED}
    assert list(collected(sanitize(columns=["job", "year"]))) == ["year", "job"]
    assert collected(sanitize(columns="year")) == {"year": DATA["year"], "job": EXPECTED}
    assert list(collected(sanitize(columns=[], keep_sensitive=True))) == ["job"]
    assert list(collected(sanitize(columns=["job", "sex"], keep_sensitive=True))) == ["sex", "job"]


@every_kind
def test_a_mechanism_that_does_not_see_s_needs_no_s(kind):
    frame = KINDS[kind]({name: DATA[name] for name in ("job", "year")})
    result = collected(linred.sanitize_frame(frame, MARKOV, **NAMED, key=KEY, start=0))
    assert result == {"job": MARKOV.sanitize(None, JOB, key=KEY, context=CONTEXT), "year": DATA["year"]}
    with pytest.raises(ValueError, match=r"^frame has no column 'sex' \(sensitive\): it has 'job', 'year'$"):
        linred.sanitize_frame(frame, MECHANISM, **NAMED, key=KEY, start=0)


@every_kind
def test_several_columns_are_one_symbol(kind):
    public, sensitive = {"job": JOB, "full": DATA["full"]}, {"sex": SEX, "year": DATA["year"]}
    mechanism = linred.non_markov(linred.Joint.from_records(sensitive, public), 0.7)
    result = linred.sanitize_frame(
        KINDS[kind](DATA), mechanism, sensitive=["sex", "year"], public=("job", "full"), key=KEY, start=0
    )
    context = keystream.context_of_columns(b"", parts_of("public", ["job", "full"]))
    expected = mechanism.sanitize(sensitive, public, key=KEY, context=context)
    assert collected(result) == {**expected, "age": DATA["age"], "id": DATA["id"]}
    assert expected["full"] != DATA["full"]


def test_a_mechanism_of_one_column_tables():
    frame = pd.DataFrame(DATA)
    mechanism = linred.non_markov(linred.Joint.from_records(frame[["sex"]], frame[["job"]]), 0.6)
    assert mechanism.joint.x_labels[0] == ("a",)
    result = linred.sanitize_frame(frame, mechanism, **NAMED, key=KEY, start=0)
    assert result["job"].tolist() == EXPECTED


def test_names_come_from_the_fit_and_may_be_others_here():
    public = {"job": JOB, "full": DATA["full"]}
    mechanism = linred.markov(linred.Joint.from_records(SEX, public), 0.7)
    mechanism = mechanism.replace(fitted=FitSchema((ColumnSpec("sex"),), (ColumnSpec("job"), ColumnSpec("full"))))
    context = keystream.context_of_columns(b"", mechanism.fitted.public)
    expected = mechanism.sanitize(None, public, key=KEY, context=context)
    frame = pl.DataFrame(DATA)
    for given in ({}, {"public": ["full", "job"]}, {"sensitive": "sex"}):
        result = linred.sanitize_frame(frame, mechanism, **given, key=KEY, start=0)
        assert "sex" not in result.columns
        assert result.select("job", "full").to_dict(as_series=False) == expected
    renamed = frame.rename({"job": "work", "full": "whole", "sex": "gender"})
    result = linred.sanitize_frame(renamed, mechanism, sensitive="gender", public=["work", "whole"], key=KEY, start=0)
    assert result.columns == ["year", "work", "whole", "age", "id"]
    assert result["work"].to_list() == expected["job"]


def test_a_column_that_was_sensitive_at_the_fit_is_not_published_beside_the_one_that_is_now():
    mechanism = MECHANISM.replace(fitted=FitSchema((ColumnSpec("sex"),), (ColumnSpec("job"),)))
    both = {**DATA, "gender": SEX}
    assert "sex" not in linred.sanitize_frame(both, mechanism, sensitive="gender")
    with pytest.raises(ValueError, match=r"^columns names 'sex', which is sensitive"):
        linred.sanitize_frame(both, mechanism, sensitive="gender", columns=["sex"])
    assert "sex" in linred.sanitize_frame(both, mechanism, sensitive="gender", keep_sensitive=True)
    swapped = {"sex": JOB, "job": SEX}
    assert list(linred.sanitize_frame(swapped, mechanism, sensitive="job", public="sex")) == ["sex"]


def test_ids_and_parts_address_the_randomness():
    frame = pd.DataFrame(DATA)
    sanitize = partial(linred.sanitize_frame, mechanism=MECHANISM, **NAMED, key=KEY, start=0)
    by_id = sanitize(frame, id="id")
    assert by_id["job"].tolist() == MECHANISM.sanitize(SEX, JOB, key=KEY, context=CONTEXT, ids=DATA["id"])
    assert sanitize(frame[::-1], id="id")[::-1].equals(by_id)
    assert sanitize(frame, id="id", columns=["job"])["job"].equals(by_id["job"])
    halves = pd.concat([sanitize(frame[:250]), sanitize(frame[250:], start=250, threads=1)])
    assert halves["job"].tolist() == EXPECTED
    other = linred.sanitize_frame(frame, MECHANISM, **NAMED, key=KEY, context="other")
    context = keystream.context_of_columns("other", parts_of("public", "job"))
    assert other["job"].tolist() == MECHANISM.sanitize(SEX, JOB, key=KEY, context=context) != EXPECTED
    seeded = linred.sanitize_frame(frame, MECHANISM, **NAMED, seed=5)
    assert seeded["job"].tolist() == MECHANISM.sanitize(SEX, JOB, seed=5, context=CONTEXT)
    fresh = [linred.sanitize_frame(frame, MECHANISM, **NAMED)["job"].tolist() for _ in range(2)]
    assert fresh[0] != fresh[1]


@every_kind
def test_no_records(kind):
    frame = KINDS[kind](DATA)
    empty = {name: [] for name in DATA} if kind == "dict" else frame[:0] if kind == "pandas" else frame.slice(0, 0)
    result = linred.sanitize_frame(empty, MECHANISM, **NAMED)
    assert set(map(len, collected(result).values())) == {0}
    assert types(result) == {name: kept for name, kept in types(frame).items() if name != "sex"}


# ---- values that the fit never saw, and missing ones


@every_kind
def test_unseen_values_by_policy(kind):
    jobs = ["new" if i % 10 == 3 else None if i % 10 == 4 else job for i, job in enumerate(JOB)]
    frame = KINDS[kind]({"sex": SEX, "job": jobs})
    for unseen in ("marginal", "null"):
        result = linred.sanitize_frame(frame, MECHANISM, **NAMED, key=KEY, start=0, unseen=unseen)
        assert collected(result)["job"] == MECHANISM.sanitize(SEX, jobs, key=KEY, context=CONTEXT, unseen=unseen)
        assert types(result)["job"] == types(frame)["job"]
    error = (
        (ValueError, pl.exceptions.ComputeError) if kind == "lazy" else ValueError
    )  # as the version of Polars has it
    result = partial(linred.sanitize_frame, frame, MECHANISM, **NAMED, key=KEY, start=0)
    with pytest.raises(error, match=r"column 'job'\[3\] is not in the mechanism's alphabet: fit again"):
        collected(result())


def test_a_column_of_objects_may_begin_with_unseen_ones():
    frame = pd.DataFrame({"sex": ["f", "m", "f"], "job": pd.Series([7, None, "a"], dtype=object)})
    result = linred.sanitize_frame(frame, MECHANISM, **NAMED, key=KEY, start=0, unseen="null")
    assert result["job"].isna().tolist() == [True, True, False]


def test_unseen_values_of_s_and_of_tables_name_their_columns():
    with pytest.raises(ValueError, match=r"^column 'gender'\[1\] is not in the mechanism's alphabet"):
        linred.sanitize_frame({"gender": ["f", "x"], "job": ["a", "a"]}, MECHANISM, sensitive="gender", public="job")
    mechanism = linred.markov(linred.Joint.from_records(SEX, {"u": JOB, "v": JOB}), 0.5)
    frame = pl.DataFrame({"u": ["a", "a"], "v": ["a", "bb"]})
    with pytest.raises(ValueError, match=r"^columns \('u', 'v'\)\[1\] is not in the mechanism's"):
        linred.sanitize_frame(frame, mechanism, sensitive="s", public=["u", "v"])


@every_kind
def test_missing_values_are_a_symbol_where_the_fit_had_them(kind):
    data = {"sex": SEX, "job": [None if i % 7 == 0 else job for i, job in enumerate(JOB)]}
    sanitizer = fit(key=KEY, context="c").fit(KINDS[kind](data))
    assert sanitizer.mechanism_.joint.x_labels == ("a", "bb", "ccc", None)
    drawn = collected(sanitizer.transform(KINDS[kind](data)))["job"]
    context = keystream.context_of_columns("c", parts_of("public", "job"))
    assert drawn == sanitizer.mechanism_.sanitize(SEX, data["job"], key=KEY, context=context)
    assert None in drawn


# ---- what is refused


class NoFrame:
    pass


FITTED = fit().fit(DATA).mechanism_
REFUSED = [
    ({"public": None}, "public= is missing: this mechanism was not fitted on named columns, so name them here"),
    ({"sensitive": None}, "sensitive= is missing: this mechanism was not fitted on named columns, so name them here"),
    ({"sensitive": None, "mechanism": MARKOV}, "sensitive= is missing"),
    ({"public": "work"}, "frame has no column 'work' (public): it has 'year', 'sex', 'job', 'full', 'age', 'id'"),
    ({"sensitive": "gender"}, "frame has no column 'gender' (sensitive): it has 'year'"),
    ({"id": "nr", "key": KEY}, "frame has no column 'nr' (id): it has 'year'"),
    ({"columns": ["job", "month"]}, "frame has no column 'month' (columns): it has 'year'"),
    ({"public": []}, "public names no column"),
    ({"public": ["job", "job"]}, "public names 'job' twice"),
    ({"public": ["job", 5]}, "public[1] is a int, not the name of a column"),
    ({"public": 5}, "public is a int, not the name of a column or a list of names"),
    ({"columns": 5}, "columns is a int, not the name of a column or a list of names"),
    ({"sensitive": KEY}, "sensitive is a bytes, not the name of a column or a list of names"),
    ({"public": ["job", "sex"]}, "public names 'sex', which is sensitive"),
    ({"columns": ["job", "sex"]}, "columns names 'sex', which is sensitive"),
    ({"columns": ["job", "year", "job"]}, "columns names 'job' twice"),
    ({"keep_sensitive": "yes"}, "keep_sensitive = 'yes' is not True or False"),
    ({"id": "id"}, "id needs key: only a call with the same key gives the same id the same answer"),
    ({"id": "id", "seed": 1}, "id needs key"),
    ({"id": "job", "key": KEY}, "id names 'job', which is sensitive or public: an id must name one record"),
    ({"id": "sex", "key": KEY}, "id names 'sex', which is sensitive or public"),
    ({"id": KEY, "key": KEY}, "id is a bytes, not the name of a column"),
    ({"id": "age", "key": KEY}, "column 'age'[0] is a float: each record needs an integer or a text as its id"),
    ({"id": "id", "key": KEY, "start": 5}, "start = 5 and ids are both given"),
    ({"key": KEY}, "key is given alone, so that every call would draw the same: also give id (a name for"),
    ({"key": KEY, "seed": 1}, "key and seed are both given"),
    ({"key": KEY[:9]}, "key has 9 bytes, not 32"),
    ({"seed": KEY}, "seed is a bytes, not a whole number"),
    ({"context": 5}, "context is a int, not bytes"),
    ({"start": -1}, "start = -1 is outside"),
    ({"threads": 0}, "threads = 0 is outside"),
    ({"unseen": "drop"}, "unseen = 'drop' is not 'error', 'marginal' or 'null'"),
    (
        {"public": ["job", "year"]},
        "public names 2 columns, but not every label of the mechanism is a tuple of 2 values",
    ),
    (
        {"sensitive": ["sex", "year"]},
        "sensitive names 2 columns, but not every label of the mechanism is a tuple of 2 values",
    ),
    ({"mechanism": FITTED, "public": ["job", "year"]}, "public names 2 columns; the mechanism was fitted on 'job'"),
    ({"public": "year"}, "column 'year' has whole numbers; the mechanism was made for text"),
    ({"sensitive": "full", "unseen": "marginal"}, "column 'full' has true or false; the mechanism was made for text"),
    ({"mechanism": uniform(1, 2)}, "column 'job' has text; the mechanism was made for whole numbers"),
    ({"mechanism": uniform((1, 2), (3, 4))}, "column 'job' has text; the mechanism was made for tuple"),
    ({"frame": TWICE}, "frame has 2 columns 'job' (public)"),
    (
        {"frame": TWICE, "sensitive": "job", "public": "sex", "mechanism": MARKOV},
        "frame has 2 columns 'job' (sensitive)",
    ),
    (
        {"frame": TWICE.set_axis(["job", "age", "age"], axis=1), "mechanism": MARKOV, "columns": ["job", "age"]},
        "frame has 2 columns 'age' (columns)",
    ),
    ({"frame": pd.DataFrame(DATA).set_index("sex"), "mechanism": MARKOV}, "frame has 'sex' (sensitive) in its index: "),
    ({"frame": pd.DataFrame(DATA).set_index("job", drop=False)}, "frame has 'job' (public) in its index: "),
    ({"frame": [SEX, JOB]}, "frame is a list, not a pandas, Polars or Arrow table"),
    ({"frame": np.array([SEX, JOB]).T}, "frame is a numpy.ndarray, not a pandas, Polars or Arrow table"),
    ({"frame": pd.Series(JOB)}, "frame is a pandas.Series, not a pandas, Polars or Arrow table"),
    ({"frame": pa.array(JOB)}, "frame is a pyarrow.lib.StringArray, not a pandas, Polars or Arrow table"),
    ({"frame": NoFrame()}, "frame is a tests.frames.test_sanitize_frame.NoFrame, not a pandas, Polars or Arrow table"),
    ({"frame": pd.DataFrame()}, "frame is a table without columns"),
    ({"frame": {"sex": SEX, "job": JOB[:-1]}}, "column 'job' has 599 records, and the first column 600"),
    ({"frame": {"sex": SEX, "job": 5}}, "column 'job' is a int, not a column of records in order"),
    ({"frame": {"sex": ["f"], "job": [["a"]]}}, "column 'job'[0] is a list that is not hashable"),
    (
        {"frame": {"sex": ["f"], "job": np.array(["a"])}, "unseen": "null"},
        "column 'job' is a numpy.ndarray of <U1, which cannot hold missing values",
    ),
]


@pytest.mark.parametrize(("wrong", "message"), REFUSED)
def test_what_is_wrong_is_named(wrong, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}") as caught:
        linred.sanitize_frame(**{"frame": DATA, "mechanism": MECHANISM, **NAMED, **wrong})
    told = str(caught.value)
    assert "\n" not in told
    assert repr(KEY)[2:20] not in told
    assert repr(KEY[:9])[2:-1] not in told


ABOUT_VALUES = "column '"


@pytest.mark.parametrize(
    ("wrong", "message"), [case for case in REFUSED if "frame" not in case[0] and not case[1].startswith(ABOUT_VALUES)]
)
def test_lazy_frames_are_refused_before_they_are_collected(wrong, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        linred.sanitize_frame(**{"frame": pl.LazyFrame(DATA), "mechanism": MECHANISM, **NAMED, **wrong})


def test_a_mechanism_is_needed():
    with pytest.raises(TypeError, match=r"^mechanism is a linred.Joint, not a linred.Mechanism$"):
        linred.sanitize_frame(DATA, JOINT, **NAMED)


def test_a_task_does_not_show_its_key():
    assert "key" not in repr(
        FrameTask(MECHANISM, {}, {}, keep_sensitive=False, columns=None, id=None, key=KEY, context=b"")
    )


def test_no_package_is_imported_that_a_frame_does_not_bring():
    code = """
import sys, linred
frame = {"sex": ["f", "m"], "job": ["a", "b"], "age": [1, 2]}
sanitizer = linred.Sanitizer("sex", ["job", "age"], alpha=.5, mechanism="markov", bins={"age": [2]})
assert list(linred.sanitize_frame(frame, sanitizer.fit(frame).mechanism_)) == ["job", "age"]
print([name for name in ("pandas", "polars", "pyarrow", "sklearn") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr

"""`sanitize_frame`: every kind of frame, what is kept of it, what is left out, and what is refused."""

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
from linred.columns.schema import ColumnSpec, FitSchema
from linred.frames.sanitize_frame import FrameTask
from support.frames import (
    BIN_OF_AGE,
    BINS,
    DATA,
    EDGES,
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
    N,
    collected,
    every_kind,
    fit,
    types,
)

# ---- what comes out


@every_kind
@pytest.mark.parametrize("mechanism", [MECHANISM, MARKOV], ids=["non_markov", "markov"])
def test_every_kind_of_frame_has_the_values_of_sanitize(kind, mechanism):
    frame = KINDS[kind](DATA)
    before = pickle.dumps(collected(frame))
    result = linred.sanitize_frame(frame, mechanism, **NAMED, key=KEY)
    assert type(result) is type(frame)
    values = collected(result)
    assert list(values) == ["year", "job", "full", "age", "id"]
    assert values.pop("job") == mechanism.sanitize(SEX, JOB, key=KEY) != JOB
    assert values == {name: DATA[name] for name in values}
    assert types(result) == {name: kept for name, kept in types(frame).items() if name != "sex"}
    assert pickle.dumps(collected(frame)) == before


@every_kind
def test_the_columns_of_the_result_are_chosen(kind):
    frame = KINDS[kind](DATA)
    sanitize = partial(linred.sanitize_frame, frame, MECHANISM, **NAMED, key=KEY)
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
    result = collected(linred.sanitize_frame(frame, MARKOV, **NAMED, key=KEY))
    assert result == {"job": MARKOV.sanitize(None, JOB, key=KEY), "year": DATA["year"]}
    with pytest.raises(ValueError, match=r"^frame has no column 'sex' \(sensitive\), only \['job', 'year'\]$"):
        linred.sanitize_frame(frame, MECHANISM, **NAMED, key=KEY)


@every_kind
def test_several_columns_are_one_symbol(kind):
    public, sensitive = {"job": JOB, "full": DATA["full"]}, {"sex": SEX, "year": DATA["year"]}
    mechanism = linred.non_markov(linred.Joint.from_records(sensitive, public), 0.7)
    result = linred.sanitize_frame(
        KINDS[kind](DATA), mechanism, sensitive=["sex", "year"], public=("job", "full"), key=KEY
    )
    expected = mechanism.sanitize(sensitive, public, key=KEY)
    assert collected(result) == {**expected, "age": DATA["age"], "id": DATA["id"]}
    assert expected["full"] != DATA["full"]


def test_a_mechanism_of_one_column_tables():
    frame = pd.DataFrame(DATA)
    mechanism = linred.non_markov(linred.Joint.from_records(frame[["sex"]], frame[["job"]]), 0.6)
    assert mechanism.joint.x_labels[0] == ("a",)
    result = linred.sanitize_frame(frame, mechanism, **NAMED, key=KEY)
    assert result["job"].tolist() == EXPECTED


def test_names_come_from_the_fit_and_may_be_others_here():
    public = {"job": JOB, "full": DATA["full"]}
    mechanism = linred.markov(linred.Joint.from_records(SEX, public), 0.7)
    mechanism = mechanism.replace(fitted=FitSchema((ColumnSpec("sex"),), (ColumnSpec("job"), ColumnSpec("full"))))
    expected = mechanism.sanitize(None, public, key=KEY)
    frame = pl.DataFrame(DATA)
    for given in ({}, {"public": ["full", "job"]}, {"sensitive": "sex"}):
        result = linred.sanitize_frame(frame, mechanism, **given, key=KEY)
        assert "sex" not in result.columns
        assert result.select("job", "full").to_dict(as_series=False) == expected
    renamed = frame.rename({"job": "work", "full": "whole", "sex": "gender"})
    result = linred.sanitize_frame(renamed, mechanism, sensitive="gender", public=["work", "whole"], key=KEY)
    assert result.columns == ["year", "work", "whole", "age", "id"]
    assert result["work"].to_list() == expected["job"]


def test_ids_and_parts_address_the_randomness():
    frame = pd.DataFrame(DATA)
    sanitize = partial(linred.sanitize_frame, mechanism=MECHANISM, **NAMED, key=KEY)
    by_id = sanitize(frame, id="id")
    assert by_id["job"].tolist() == MECHANISM.sanitize(SEX, JOB, key=KEY, ids=DATA["id"])
    assert sanitize(frame[::-1], id="id")[::-1].equals(by_id)
    assert sanitize(frame, id="id", columns=["job"])["job"].equals(by_id["job"])
    halves = pd.concat([sanitize(frame[:250]), sanitize(frame[250:], start=250, threads=1)])
    assert halves["job"].tolist() == EXPECTED
    other = linred.sanitize_frame(frame, MECHANISM, **NAMED, key=KEY, context="other")
    assert other["job"].tolist() == MECHANISM.sanitize(SEX, JOB, key=KEY, context="other") != EXPECTED
    seeded = linred.sanitize_frame(frame, MECHANISM, **NAMED, seed=5)
    assert seeded["job"].tolist() == MECHANISM.sanitize(SEX, JOB, seed=5)
    fresh = [linred.sanitize_frame(frame, MECHANISM, **NAMED)["job"].tolist() for _ in range(2)]
    assert fresh[0] != fresh[1]


@every_kind
def test_no_records(kind):
    frame = KINDS[kind](DATA)
    empty = {name: [] for name in DATA} if kind == "dict" else frame[:0] if kind == "pandas" else frame.slice(0, 0)
    result = linred.sanitize_frame(empty, MECHANISM, **NAMED)
    assert set(map(len, collected(result).values())) == {0}
    assert types(result) == {name: kept for name, kept in types(frame).items() if name != "sex"}


# ---- pandas


def test_pandas_keeps_index_types_and_columns_of_one_name():
    index = pd.MultiIndex.from_arrays([[1] * N, range(N)], names=["part", None])
    types = {"job": pd.CategoricalDtype(["bb", "ccc", "a", "zz"]), "sex": "string", "age": "Float32"}
    frame = pd.DataFrame(DATA, index=index).astype(types).rename(columns={"full": "year"})
    frame.attrs["source"] = "here"
    before = frame.copy()
    result = linred.sanitize_frame(frame, MECHANISM, **NAMED, key=KEY)
    pd.testing.assert_frame_equal(frame, before)
    assert result["job"].tolist() == EXPECTED
    assert list(result.columns) == ["year", "job", "year", "age", "id"]
    pd.testing.assert_frame_equal(result.drop(columns="job"), frame.drop(columns=["job", "sex"]))
    assert result["job"].dtype == types["job"]
    assert result.index.equals(index)
    assert result.attrs == {"source": "here"}


def test_pandas_results_are_written_to_without_a_warning_and_alone():
    frame = pd.DataFrame(DATA)
    result = linred.sanitize_frame(frame, MECHANISM, **NAMED, key=KEY)
    result.loc[0, "age"] = -1.0
    result["job"] = "z"
    assert frame["age"].tolist() == DATA["age"]
    assert frame["job"].tolist() == JOB


def test_a_subclass_of_pandas_frames():
    class Special(pd.DataFrame):
        @property
        def _constructor(self):
            return Special

    result = linred.sanitize_frame(Special(DATA), MECHANISM, **NAMED, key=KEY)
    assert type(result) is Special
    assert result["job"].tolist() == EXPECTED


# ---- Polars


@pytest.mark.parametrize("dtype", [pl.Categorical, pl.Enum(["bb", "a", "ccc"])], ids=["Categorical", "Enum"])
def test_polars_categories(dtype):
    frame = pl.DataFrame(DATA).with_columns(pl.col("job").cast(dtype), pl.col("sex").cast(pl.Categorical))
    result = linred.sanitize_frame(frame, MECHANISM, **NAMED, key=KEY)
    assert result["job"].to_list() == EXPECTED
    assert result["job"].dtype == dtype
    lazy = linred.sanitize_frame(frame.lazy(), MECHANISM, **NAMED, key=KEY)
    assert lazy.collect_schema() == result.schema
    assert lazy.collect().equals(result)


def test_two_collects_of_a_lazy_frame_agree():
    """Each with its own key would average the noise away."""
    lazy = linred.sanitize_frame(pl.LazyFrame(DATA), MECHANISM, **NAMED)
    assert lazy.collect().equals(lazy.collect())
    other = linred.sanitize_frame(pl.LazyFrame(DATA), MECHANISM, **NAMED)
    assert not lazy.collect().equals(other.collect())


def test_what_follows_on_a_lazy_frame_is_about_what_is_published():
    """A filter that is pushed down would be about x; records that are left out before the draw would number others."""
    frame = pl.DataFrame(DATA)
    eager = linred.sanitize_frame(frame, MECHANISM, **NAMED, key=KEY)
    parts = pl.concat([frame[:100].lazy(), frame[100:].lazy()])
    lazy = linred.sanitize_frame(parts, MECHANISM, **NAMED, key=KEY)
    for then in (
        lambda f: f.filter(pl.col("job") == "bb"),
        lambda f: f.filter(pl.col("year") == 2001).select("job"),
        lambda f: f.slice(300, 40),
        lambda f: f.tail(3),
        lambda f: f.select("year"),
        lambda f: f.filter(pl.col("age") > 30).group_by("job").len().sort("job"),
    ):
        assert then(lazy).collect().equals(then(eager))


def test_lazy_frames_read_what_they_need():
    read = []

    def note(frame):
        read.append(frame.columns)
        return frame

    lazy = pl.LazyFrame(DATA).map_batches(note, projection_pushdown=True, validate_output_schema=False)
    linred.sanitize_frame(lazy, MARKOV, **NAMED, columns=["job"]).collect()
    linred.Sanitizer("sex", "job", alpha=0.5, mechanism="markov").fit(lazy)
    assert [sorted(columns) for columns in read if "year" in columns] == []
    assert len(read) == 2


# ---- Arrow


def test_arrow_keeps_schema_and_metadata():
    types = [("sex", pa.large_string()), ("job", pa.dictionary(pa.int8(), pa.string())), ("year", pa.int16())]
    fields = [pa.field(*pair, nullable=False, metadata={"about": pair[0]}) for pair in types]
    schema = pa.schema(fields, {"source": "here"})
    table = pa.table({name: DATA[name] for name, _ in types}, schema=schema)
    result = linred.sanitize_frame(table, MECHANISM, **NAMED, key=KEY)
    assert result.schema.equals(pa.schema(fields[1:], {"source": "here"}), check_metadata=True)
    assert result["job"].to_pylist() == EXPECTED
    chunked = pa.concat_tables([table[:100], table[100:]])
    assert linred.sanitize_frame(chunked, MECHANISM, **NAMED, key=KEY)["job"].to_pylist() == EXPECTED
    null = linred.sanitize_frame(table, uniform("a", "bb"), **NAMED, unseen="null", key=KEY)
    assert null.schema.field("job").nullable
    assert null.schema.field("job").metadata == {b"about": b"job"}


def test_views_of_text_stay_views():
    try:
        pa.array(["a"]).cast(pa.string_view())
    except pa.ArrowNotImplementedError:
        pytest.skip("this pyarrow cannot make them")
    table = pa.table({"sex": pa.array(SEX, pa.string_view()), "job": pa.array(JOB, pa.string_view())})
    result = linred.sanitize_frame(table, MECHANISM, **NAMED, key=KEY)
    assert result.schema == table.schema.remove(0)
    assert result["job"].to_pylist() == EXPECTED


def test_binned_columns_of_arrow_go_to_pandas():
    """The notes of pandas in a schema would say that text is Int64."""
    frame = pd.DataFrame({"sex": SEX, "age": pd.array([int(age) for age in DATA["age"]], "Int64")})
    sanitizer = linred.Sanitizer("sex", "age", alpha=0.5, mechanism="markov", bins={"age": [40]}, key=KEY)
    result = sanitizer.fit_transform(pa.Table.from_pandas(frame))
    assert result.to_pandas()["age"].tolist() == sanitizer.transform(frame)["age"].tolist()


# ---- bins


@every_kind
def test_numbers_are_sorted_into_bins(kind):
    sanitizer = fit(public="age", bins=EDGES, key=KEY).fit(KINDS[kind](DATA))
    result = sanitizer.transform(KINDS[kind](DATA))
    mechanism = linred.non_markov(linred.Joint.from_records(SEX, BIN_OF_AGE, x_labels=BINS), 0.6)
    assert sanitizer.mechanism_.joint.x_labels == tuple(BINS)
    np.testing.assert_array_equal(sanitizer.mechanism_.joint.counts, mechanism.joint.counts)
    assert collected(result)["age"] == mechanism.sanitize(SEX, BIN_OF_AGE, key=KEY)
    assert list(collected(result)) == ["year", "job", "full", "age", "id"]
    assert types(result)["age"] == types(KINDS[kind]({"age": BINS}))["age"]
    assert sanitizer.mechanism_.fitted == FitSchema((ColumnSpec("sex"),), (ColumnSpec("age", (30.0, 50.5)),))


@every_kind
def test_bins_among_several_columns_and_in_s(kind):
    sanitizer = fit(sensitive="year", public=["job", "age"], bins={**EDGES, "year": [2002]}, key=KEY)
    result = collected(sanitizer.fit_transform(KINDS[kind](DATA)))
    s = ["year>=2002" if year >= 2002 else "year<2002" for year in DATA["year"]]
    x = {"job": JOB, "age": BIN_OF_AGE}
    in_order = sorted(set(zip(JOB, BIN_OF_AGE, strict=True)), key=lambda pair: (pair[0], BINS.index(pair[1])))
    mechanism = linred.non_markov(linred.Joint.from_records(s, x, x_labels=in_order), 0.6)
    assert sanitizer.mechanism_.joint.s_labels == mechanism.joint.s_labels == ("year<2002", "year>=2002")
    assert sanitizer.mechanism_.joint.x_labels == mechanism.joint.x_labels
    assert {"job": result["job"], "age": result["age"]} == mechanism.sanitize(s, x, key=KEY) != x


@pytest.mark.parametrize(
    "ages",
    [
        pd.array([20, None, 70, 30], "Int32"),
        pd.Series([20, None, 70, 30], dtype=object),
        pd.Series([20, None, 70, 30], dtype=pd.ArrowDtype(pa.int8())),
        np.array([20, np.nan, 70, 30], np.float32),
        np.ma.array([20, 99, 70, 30], mask=[False, True, False, False]),
        pl.Series([20, None, 70, 30]),
        pl.Series([20.0, None, 70.0, 30.0]),
        pl.Series([20.0, float("nan"), 70.0, 30.0], dtype=pl.Float32),
        pa.array([20, None, 70, 30], pa.uint8()),
        pa.chunked_array([[20.0, None], [70.0, 30.0]], pa.float32()),
        pa.array([20, None, 70, 30], pa.decimal128(5, 2)),
        (20, None, 70, 30),
    ],
    ids=lambda column: f"{type(column).__name__} {getattr(column, 'dtype', getattr(column, 'type', ''))}",
)
def test_numbers_of_any_type_and_missing_ones(ages):
    frame = {"sex": ["f", "m", "f", "m"] * 20, "age": [20, None, 70, 30] * 20}
    sanitizer = fit(public="age", alpha=0.0, bins={"age": [30, 70]}).fit(frame)
    assert sanitizer.mechanism_.joint.x_labels == ("age<30", "30<=age<70", "age>=70", None)
    result = sanitizer.transform({"sex": ["f", "m", "f", "m"], "age": ages})["age"]
    values = collected(
        {"age": result} if isinstance(result, list | tuple) else pd.DataFrame({"age": np.asarray(result)})
    )
    assert list(values["age"]) == ["age<30", None, "age>=70", "30<=age<70"]


def test_bins_that_no_record_was_in_are_known():
    sanitizer = fit(public="age", bins={"age": [-5, 50]}, seed=1).fit(DATA)
    y = sanitizer.transform({"sex": ["f"] * 50, "age": [-10.0] * 50})["age"]
    assert set(y) == {"-5<=age<50", "age>=50"}
    with pytest.raises(ValueError, match=r"^column 'age'\[1\] = None is not in the mechanism's alphabet"):
        sanitizer.transform({"sex": ["f", "f"], "age": [20.0, None]})


def test_an_index_is_kept_by_bins_and_text_is_text_without_records():
    frame = pd.DataFrame(DATA, index=[0] * N)
    sanitizer = fit(public="age", bins=EDGES, key=KEY).fit(frame)
    result = sanitizer.transform(frame)
    assert result.index.equals(frame.index)
    assert result["age"].notna().all()
    assert sanitizer.transform(frame[:0])["age"].dtype == result["age"].dtype


# ---- values that the fit never saw, and missing ones


def uniform(*labels, s_labels=("f", "m")):
    shape = len(s_labels), len(labels)
    return linred.markov(linred.Joint(np.full(shape, 1 / np.prod(shape)), s_labels=s_labels, x_labels=labels), 0.9)


@every_kind
def test_unseen_values_by_policy(kind):
    jobs = ["new" if i % 10 == 3 else None if i % 10 == 4 else job for i, job in enumerate(JOB)]
    frame = KINDS[kind]({"sex": SEX, "job": jobs})
    for unseen in ("marginal", "null"):
        result = linred.sanitize_frame(frame, MECHANISM, **NAMED, key=KEY, unseen=unseen)
        assert collected(result)["job"] == MECHANISM.sanitize(SEX, jobs, key=KEY, unseen=unseen)
        assert types(result)["job"] == types(frame)["job"]
    error = (
        (ValueError, pl.exceptions.ComputeError) if kind == "lazy" else ValueError
    )  # as the version of Polars has it
    result = partial(linred.sanitize_frame, frame, MECHANISM, **NAMED, key=KEY)
    with pytest.raises(error, match=r"column 'job'\[3\] = 'new' is not in the mechanism's alphabet: unseen= says"):
        collected(result())


def test_a_column_of_objects_may_begin_with_unseen_ones():
    frame = pd.DataFrame({"sex": ["f", "m", "f"], "job": pd.Series([7, None, "a"], dtype=object)})
    result = linred.sanitize_frame(frame, MECHANISM, **NAMED, key=KEY, unseen="null")
    assert result["job"].isna().tolist() == [True, True, False]


def test_unseen_values_of_s_and_of_tables_name_their_columns():
    with pytest.raises(ValueError, match=r"^column 'gender'\[1\] = 'x' is not in the mechanism's alphabet"):
        linred.sanitize_frame({"gender": ["f", "x"], "job": ["a", "a"]}, MECHANISM, sensitive="gender", public="job")
    mechanism = linred.markov(linred.Joint.from_records(SEX, {"u": JOB, "v": JOB}), 0.5)
    frame = pl.DataFrame({"u": ["a", "a"], "v": ["a", "bb"]})
    with pytest.raises(ValueError, match=r"^columns \('u', 'v'\)\[1\] = \('a', 'bb'\) is not in the mechanism's"):
        linred.sanitize_frame(frame, mechanism, sensitive="s", public=["u", "v"])


@every_kind
def test_missing_values_are_a_symbol_where_the_fit_had_them(kind):
    data = {"sex": SEX, "job": [None if i % 7 == 0 else job for i, job in enumerate(JOB)]}
    sanitizer = fit(key=KEY).fit(KINDS[kind](data))
    assert sanitizer.mechanism_.joint.x_labels == ("a", "bb", "ccc", None)
    drawn = collected(sanitizer.transform(KINDS[kind](data)))["job"]
    assert drawn == sanitizer.mechanism_.sanitize(SEX, data["job"], key=KEY)
    assert None in drawn


# ---- what is refused


class NoFrame:
    pass


FITTED = fit().fit(DATA).mechanism_
REFUSED = [
    ({"public": None}, "public is not given, and the mechanism was not fitted on a frame that would tell it"),
    ({"sensitive": None}, "sensitive is not given, and the mechanism was not fitted on a frame that would tell it"),
    ({"sensitive": None, "mechanism": MARKOV}, "sensitive is not given"),
    ({"public": "work"}, "frame has no column 'work' (public), only ['year', 'sex', 'job', 'full', 'age', 'id']"),
    ({"sensitive": "gender"}, "frame has no column 'gender' (sensitive), only ['year'"),
    ({"id": "nr", "key": KEY}, "frame has no column 'nr' (id), only ['year'"),
    ({"columns": ["job", "month"]}, "frame has no column 'month' (columns), only ['year'"),
    ({"public": []}, "public names no column"),
    ({"public": ["job", "job"]}, "public names 'job' twice"),
    ({"public": ["job", 5]}, "public[1] = 5 is not the name of a column"),
    ({"public": 5}, "public is a int, not the name of a column or a list of names"),
    ({"columns": 5}, "columns is a int, not the name of a column or a list of names"),
    ({"sensitive": KEY}, "sensitive is a bytes, not the name of a column or a list of names"),
    ({"public": ["job", "sex"]}, "public names 'sex', which is sensitive"),
    ({"columns": ["job", "sex"]}, "columns names 'sex', which is sensitive"),
    ({"columns": ["job", "year", "job"]}, "columns names 'job' twice"),
    ({"keep_sensitive": "yes"}, "keep_sensitive = 'yes' is not True or False"),
    ({"id": "id"}, "id = 'id' needs key: without a secret of its own, the same id has no same answer"),
    ({"id": "id", "seed": 1}, "id = 'id' needs key"),
    ({"id": "job", "key": KEY}, "id = 'job' is sensitive or public: all records with one value of it would be one"),
    ({"id": "sex", "key": KEY}, "id = 'sex' is sensitive or public"),
    ({"id": KEY, "key": KEY}, "id is a bytes, not the name of a column"),
    ({"id": "age", "key": KEY}, "column 'age'[0] = "),
    ({"id": "id", "key": KEY, "start": 5}, "start = 5 is given with ids"),
    ({"key": KEY, "seed": 1}, "key and seed are both given"),
    ({"key": KEY[:9]}, "key has 9 bytes, not 32"),
    ({"seed": KEY}, "seed is a bytes, not a whole number"),
    ({"context": 5}, "context is a int, not bytes"),
    ({"start": -1}, "start = -1 is outside"),
    ({"threads": 0}, "threads = 0 is outside"),
    ({"unseen": "drop"}, "unseen = 'drop' is not 'error', 'marginal' or 'null'"),
    ({"public": ["job", "year"]}, "public names 2 columns, and 'a' is a label of the mechanism"),
    ({"sensitive": ["sex", "year"]}, "sensitive names 2 columns, and 'f' is a label of the mechanism"),
    ({"mechanism": FITTED, "public": ["job", "year"]}, "public names 2 columns; the mechanism was fitted on 'job'"),
    ({"public": "year"}, "column 'year' has whole numbers; the mechanism was made for text, as 'a'"),
    ({"sensitive": "full", "unseen": "marginal"}, "column 'full' has true or false; the mechanism was made for text"),
    ({"mechanism": uniform(1, 2)}, "column 'job' has text; the mechanism was made for whole numbers, as 1"),
    ({"mechanism": uniform((1, 2), (3, 4))}, "column 'job' has text; the mechanism was made for tuple, as (1, 2)"),
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
    ({"frame": np.array([SEX, JOB]).T}, "frame is a ndarray, not a pandas, Polars or Arrow table"),
    ({"frame": pd.Series(JOB)}, "frame is a Series, not a pandas, Polars or Arrow table"),
    ({"frame": pa.array(JOB)}, "frame is a StringArray, not a pandas, Polars or Arrow table"),
    ({"frame": NoFrame()}, "frame is a NoFrame, not a pandas, Polars or Arrow table"),
    ({"frame": pd.DataFrame()}, "frame is a table without columns"),
    ({"frame": {"sex": SEX, "job": JOB[:-1]}}, "column 'job' has 599 records, and the first column 600"),
    ({"frame": {"sex": SEX, "job": 5}}, "column 'job' is a int, not a column of records in order"),
    ({"frame": {"sex": ["f"], "job": [["a"]]}}, "column 'job'[0] = ['a'] is not hashable"),
    (
        {"frame": {"sex": ["f"], "job": np.array(["a"])}, "unseen": "null"},
        "column 'job' is a ndarray of <U1, which has no room",
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


def test_types_of_lazy_frames_are_refused_before_they_are_collected():
    with pytest.raises(
        ValueError, match=r"^column 'year' is a Series of Int64, which has no room for every label of the"
    ):
        linred.sanitize_frame(pl.LazyFrame(DATA), MECHANISM, sensitive="sex", public="year")


def test_a_mechanism_is_needed():
    with pytest.raises(TypeError, match=r"^mechanism is a Joint, not a linred.Mechanism$"):
        linred.sanitize_frame(DATA, JOINT, **NAMED)


def test_a_task_does_not_show_its_key():
    assert "key" not in repr(FrameTask(MECHANISM, {}, {}, False, None, None, {"key": KEY}))


def test_text_is_no_number():
    frame = {"sex": ["f", "m"], "age": ["20", "30"]}
    with pytest.raises(ValueError, match=r"^column 'age'\[0\] = '20' is not a number, to be in a bin$"):
        fit(public="age", bins=EDGES).fit(frame)


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

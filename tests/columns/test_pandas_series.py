"""Columns and frames of pandas."""

import numpy as np
import pandas as pd
import pytest

import linred
from linred import Joint
from support.frames import (
    DATA,
    EDGES,
    EXPECTED,
    JOB,
    KEY,
    MECHANISM,
    NAMED,
    N,
    fit,
    uniform,
)


def test_categories_that_do_not_occur_stay():
    s = pd.Categorical(["a", "c"], categories=["c", "b", "a"])
    assert Joint.from_records(s, [0, 1]).s_labels == ("c", "b", "a")


def test_large_categoricals_take_no_longer_than_their_alphabet():
    labels = [f"v{i}" for i in range(20_000)]  # minutes, if every label looked through all others
    x = pd.Series(labels, dtype=pd.CategoricalDtype(labels))
    assert (uniform(*labels).sanitize(None, x, key=KEY, start=0).dtype) == x.dtype


def test_pandas_keeps_index_types_and_columns_of_one_name():
    index = pd.MultiIndex.from_arrays([[1] * N, range(N)], names=["part", None])
    types = {"job": pd.CategoricalDtype(["bb", "ccc", "a"]), "sex": "string", "age": "Float32"}
    frame = pd.DataFrame(DATA, index=index).astype(types).rename(columns={"full": "year"})
    frame.attrs["source"] = "here"
    before = frame.copy()
    result = linred.sanitize_frame(frame, MECHANISM, **NAMED, key=KEY, start=0)
    pd.testing.assert_frame_equal(frame, before)
    assert result["job"].tolist() == EXPECTED
    assert list(result.columns) == ["year", "job", "year", "age", "id"]
    others = frame.drop(columns=["job", "sex"])
    others.attrs = {}
    pd.testing.assert_frame_equal(result.drop(columns="job"), others)
    assert result["job"].dtype == types["job"]
    assert result.index.equals(index)
    assert result.attrs == {}
    kept = linred.sanitize_frame(frame, MECHANISM, **NAMED, key=KEY, start=0, keep_metadata=True)
    assert kept.attrs == {"source": "here"}


def test_pandas_results_are_written_to_without_a_warning_and_alone():
    frame = pd.DataFrame(DATA)
    result = linred.sanitize_frame(frame, MECHANISM, **NAMED, key=KEY, start=0)
    result.loc[0, "age"] = -1.0
    result["job"] = "z"
    assert frame["age"].tolist() == DATA["age"]
    assert frame["job"].tolist() == JOB


def test_a_subclass_of_pandas_frames():
    class Special(pd.DataFrame):
        @property
        def _constructor(self):
            return Special

    result = linred.sanitize_frame(Special(DATA), MECHANISM, **NAMED, key=KEY, start=0)
    assert type(result) is Special
    assert result["job"].tolist() == EXPECTED


def test_an_index_is_kept_by_bins_and_text_is_text_without_records():
    frame = pd.DataFrame(DATA, index=[0] * N)
    sanitizer = fit(public="age", bins=EDGES, key=KEY, context="c").fit(frame)
    result = sanitizer.transform(frame)
    assert result.index.equals(frame.index)
    assert result["age"].notna().all()
    assert sanitizer.transform(frame[:0])["age"].dtype == result["age"].dtype


@pytest.mark.parametrize("values", [[True, False], [1, 2], [1.5, 2.5], ["a", "b"], [b"a", b"b"], [1j, 2j]])
@pytest.mark.parametrize("labels", [0, 1])
def test_arrays_of_numpy_values_hold_what_is_drawn_or_say_that_they_cannot(values, labels):
    """A missing value that became False, or the text 'Non', would be published as a value."""
    array = pd.Series(np.array(values)).array
    joint = linred.Joint([[0.5], [0.5]], x_labels=[values[labels]])
    mechanism, kept = linred.markov(joint, 0.2), array.dtype.kind in "fO"
    if not kept:
        with pytest.raises(ValueError, match="cannot hold missing values"):
            mechanism.sanitize(None, array, unseen="null", seed=1)
        return
    drawn = mechanism.sanitize(None, array, unseen="null", seed=1)
    assert pd.isna(drawn[1 - labels])
    assert drawn[labels] == values[labels]

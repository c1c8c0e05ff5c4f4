"""Columns and tables of Arrow, and columns of unknown packages that export Arrow data."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import linred
from linred import Joint
from linred.columns.adapters.arrow_arrays import ArrowColumn
from linred.columns.encoder import encode
from linred.columns.missing import is_missing
from support import columns
from support.frames import (
    DATA,
    EXPECTED,
    JOB,
    KEY,
    MECHANISM,
    NAMED,
    SEX,
    uniform,
)


def test_arrow_dictionaries_with_nulls_in_either_part():
    indices = pa.array([0, None, 2, 1], pa.uint8())
    column = pa.DictionaryArray.from_arrays(indices, pa.array(["b", None, "a"]))
    assert [encode("x", column).labels[code] for code in encode("x", column).codes] == ["b", None, "a", None]
    ordered = pa.DictionaryArray.from_arrays(indices, pa.array(["c", "b", "a"]), ordered=True)
    assert encode("x", ordered).labels == ("c", "b", "a", None)


def test_an_ordered_dictionary_that_repeats_a_value():
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, None]), pa.array(["b", "a", "b"]), ordered=True)
    joint = Joint.from_records([0] * 4, column)
    assert joint.x_labels == ("b", "a", None)
    assert joint.counts.tolist() == [[2, 1, 1]]


def test_dictionaries_keep_their_order():
    x = pa.DictionaryArray.from_arrays(pa.array([2, 1, 0, 1] * 5, pa.int8()), ["low", "mid", "high"], ordered=True)
    y = linred.markov(linred.Joint.from_records([0] * 20, x), 0.5).sanitize(None, x, key=KEY, start=0)
    assert y.type == x.type
    assert y.dictionary.to_pylist() == ["low", "mid", "high"]


def test_arrow_keeps_schema_and_metadata():
    types = [("sex", pa.large_string()), ("job", pa.dictionary(pa.int8(), pa.string())), ("year", pa.int16())]
    fields = [pa.field(*pair, nullable=False, metadata={"about": pair[0]}) for pair in types]
    schema = pa.schema(fields, {"source": "here"})
    table = pa.table({name: DATA[name] for name, _ in types}, schema=schema)
    result = linred.sanitize_frame(table, MECHANISM, **NAMED, key=KEY, start=0)
    bare = pa.schema([field.remove_metadata() for field in fields[1:]])
    assert result.schema.equals(bare, check_metadata=True)
    kept = linred.sanitize_frame(table, MECHANISM, **NAMED, key=KEY, start=0, keep_metadata=True)
    assert kept.schema.equals(pa.schema(fields[1:], {"source": "here"}), check_metadata=True)
    assert result["job"].to_pylist() == EXPECTED
    chunked = pa.concat_tables([table[:100], table[100:]])
    assert linred.sanitize_frame(chunked, MECHANISM, **NAMED, key=KEY, start=0)["job"].to_pylist() == EXPECTED
    null = linred.sanitize_frame(table, uniform("a", "bb"), **NAMED, unseen="null", key=KEY, start=0)
    assert null.schema.field("job").nullable


def test_views_of_text_stay_views():
    try:
        pa.array(["a"]).cast(pa.string_view())
    except pa.ArrowNotImplementedError:
        pytest.skip("this pyarrow cannot make them")
    table = pa.table({"sex": pa.array(SEX, pa.string_view()), "job": pa.array(JOB, pa.string_view())})
    result = linred.sanitize_frame(table, MECHANISM, **NAMED, key=KEY, start=0)
    assert result.schema == table.schema.remove(0)
    assert result["job"].to_pylist() == EXPECTED


def test_binned_columns_of_arrow_go_to_pandas():
    """The notes of pandas in a schema would say that text is Int64."""
    frame = pd.DataFrame({"sex": SEX, "age": pd.array([int(age) for age in DATA["age"]], "Int64")})
    sanitizer = linred.Sanitizer("sex", "age", alpha=0.5, mechanism="markov", bins={"age": [40]}, key=KEY, context="c")
    result = sanitizer.fit_transform(pa.Table.from_pandas(frame))
    assert result.to_pandas()["age"].tolist() == sanitizer.transform(frame)["age"].tolist()


def test_a_record_batch_of_several_columns():
    batch = pa.RecordBatch.from_pydict({"job": JOB, "full": DATA["full"]})
    mechanism = linred.markov(Joint.from_records(SEX, batch), 0.9)
    result = mechanism.sanitize(None, batch, key=KEY, start=0)
    assert type(result) is pa.RecordBatch
    assert result.schema == batch.schema
    assert result.to_pydict() == mechanism.sanitize(None, batch.to_pydict(), key=KEY, start=0)


@pytest.mark.parametrize("values", [["b", None, "a"], [0.5, None, float("nan")], [3, 1, None]], ids=str)
def test_the_fast_form_of_missing_is_the_rule(values):
    for array in (pa.array(values), pa.array(values).dictionary_encode(), pa.chunked_array([values, values[:1]])):
        column = ArrowColumn("x", array)
        assert column.missing().tolist() == [is_missing(value) for value in column.values()]


def test_as_many_labels_as_indices_have_room_for():
    labels = [f"v{i:03}" for i in range(256)]
    column = pa.array(labels[:3]).cast(pa.dictionary(pa.uint8(), pa.string()))
    decode = ArrowColumn("x", column).decoder((*labels, None))
    assert decode(np.array([255, 256, 0])).to_pylist() == ["v255", None, "v000"]
    with pytest.raises(ValueError, match="cannot hold the 257 labels of the mechanism together"):
        ArrowColumn("x", column).decoder((*labels, "w"))


class Stream:
    """Nothing but the interface: not even an iterator."""

    def __init__(self, data):
        self._data = data

    def __arrow_c_stream__(self, requested_schema=None):
        return self._data.__arrow_c_stream__(requested_schema)


class Array:
    def __init__(self, data):
        self._data = data

    def __arrow_c_array__(self, requested_schema=None):
        return self._data.__arrow_c_array__(requested_schema)


@pytest.mark.parametrize(
    "exported",
    [
        Stream(pa.chunked_array([columns.X[:7], columns.X[7:]])),
        Array(pa.array(columns.X)),
        Array(pa.array(columns.X).dictionary_encode()),
    ],
    ids=["stream", "array", "dictionary"],
)
def test_what_exports_arrow_data_is_a_column(exported):
    assert linred.Joint.from_records(columns.S, exported).x_labels == ("a", "bb", "ccc")
    assert columns.MECHANISM.sanitize(columns.S, exported, key=columns.KEY, start=0) == columns.EXPECTED


def test_tables_and_lazy_frames_are_still_refused():
    with pytest.raises(ValueError, match=r"^s is a .*Stream, not a column of records in order$"):
        linred.Joint.from_records(Stream(pa.table({"a": [1, 2]})), [1, 2])
    with pytest.raises(ValueError, match=r"^frame is a .*Stream, not a pandas, Polars or Arrow table"):
        linred.sanitize_frame(Stream(pa.table({"a": ["f"]})), columns.MECHANISM, sensitive="a", public="b")

    class Lazy(Stream):
        def collect(self):
            raise AssertionError

    with pytest.raises(ValueError, match=r"^s is a .*Lazy, not a column of records in order$"):
        linred.Joint.from_records(Lazy(pa.chunked_array([[1, 2]])), [1, 2])

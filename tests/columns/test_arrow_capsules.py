"""Columns of packages that are not known, but export Arrow data."""

import pyarrow as pa
import pytest

import linred
from support.columns import EXPECTED, KEY, MECHANISM, S, X


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
    [Stream(pa.chunked_array([X[:7], X[7:]])), Array(pa.array(X)), Array(pa.array(X).dictionary_encode())],
    ids=["stream", "array", "dictionary"],
)
def test_what_exports_arrow_data_is_a_column(exported):
    assert linred.Joint.from_records(S, exported).x_labels == ("a", "bb", "ccc")
    assert MECHANISM.sanitize(S, exported, key=KEY) == EXPECTED


def test_tables_and_lazy_frames_are_still_refused():
    with pytest.raises(ValueError, match=r"^s is a Stream, not a column of records in order$"):
        linred.Joint.from_records(Stream(pa.table({"a": [1, 2]})), [1, 2])
    with pytest.raises(ValueError, match=r"^frame is a Stream, not a pandas, Polars or Arrow table$"):
        linred.sanitize_frame(Stream(pa.table({"a": ["f"]})), MECHANISM, sensitive="a", public="b")

    class Lazy(Stream):
        def collect(self):
            raise AssertionError

    with pytest.raises(ValueError, match=r"^s is a Lazy, not a column of records in order$"):
        linred.Joint.from_records(Lazy(pa.chunked_array([[1, 2]])), [1, 2])

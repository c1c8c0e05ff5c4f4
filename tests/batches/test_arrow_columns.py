"""Columns of record batches: codes become labels of any type, and numbers the same bins as in NumPy."""

import numpy as np
import pyarrow as pa
import pytest

from linred.batches.arrow_columns import Replaced, binned
from linred.columns.schema import ColumnSpec
from linred.errors import FileError

LABELS = ("low", None, "high", "middle")
TYPES = [pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string()), pa.dictionary(pa.int32(), pa.string())]


@pytest.mark.parametrize("arrow_type", TYPES, ids=str)
@pytest.mark.parametrize("order", [(), ("high", "middle", "never", "low")], ids=["as they come", "in an order"])
def test_codes_become_their_labels(arrow_type, order):
    codes = np.random.default_rng(1).integers(0, len(LABELS), 500).astype(np.int32)
    column = Replaced("x", LABELS, arrow_type, order).column(codes)
    assert column.type == arrow_type
    assert column.to_pylist() == [LABELS[code] for code in codes]
    if pa.types.is_dictionary(arrow_type):
        in_order = [label for label in order or LABELS if label in LABELS and label is not None]
        assert column.dictionary.to_pylist() == in_order


@pytest.mark.parametrize(
    ("labels", "arrow_type", "message"),
    [
        (range(200), pa.dictionary(pa.int8(), pa.int64()), "cannot hold 200 labels"),
        ((1, 300), pa.int8(), "cannot hold label 1 of"),
        ((1.5, 2.0000001), pa.float32(), "cannot hold label 1 of"),
    ],
)
def test_labels_that_a_type_cannot_hold_are_refused(labels, arrow_type, message):
    with pytest.raises(FileError, match=message):
        Replaced("x", tuple(labels), arrow_type)


def test_numbers_become_their_bins():
    edges = (0.0, 18.5, 65.0)
    numbers = np.append(np.random.default_rng(2).uniform(-20.0, 100.0, 200), edges)
    part = ColumnSpec("age", edges)
    expected = [part.bins[place] for place in np.digitize(numbers, edges)]
    for column in (pa.array(numbers), pa.array(map(repr, numbers.tolist()))):
        assert binned("in.csv", part, column).to_pylist() == expected
    assert binned("in.csv", part, pa.array([20.0, None])).to_pylist() == ["18.5<=age<65", None]
    assert binned("in.csv", ColumnSpec("age"), column) is column

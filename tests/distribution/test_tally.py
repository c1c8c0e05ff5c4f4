"""`Tally`: tables of counts that would not fit are refused before they are made."""

import tracemalloc

import numpy as np
import pytest

from linred.columns.encoded_column import EncodedColumn
from linred.columns.encoder import encode
from linred.distribution.tally import Tally
from linred.errors import FileError
from linred.io.counting import MOST_CELLS


def test_too_many_pairs_are_refused_before_they_are_counted():
    s, x = (EncodedColumn(np.arange(n, dtype=np.int32) % n, tuple(range(n))) for n in (25_000, 40_000))
    tally = Tally("S and X", MOST_CELLS)
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match=r"^S and X have 25,000 and 40,000 values, too many"):
            tally.add(s._replace(codes=s.codes[:100]), x._replace(codes=x.codes[:100]))
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()


def test_alphabets_grow_and_labels_that_are_one_are_counted_together():
    tally = Tally("S and X", 100)
    for s, x in ((["f", "m"], ["a", "a"]), (["m", "m"], ["b", None])):
        tally.add(encode("s", s), encode("x", x))
    tally.add(encode("s", ["f"]), EncodedColumn(np.array([1], np.uint8), (None, None)))
    assert tally.labels == [("f", "m"), ("a", "b", None)]
    joint = tally.joint([("m", "f"), ("b", "a", None)])
    assert joint.counts.tolist() == [[1, 1, 1], [0, 1, 1]]
    assert joint.n_records == tally.n_records == 5

"""`Tally`: tables of counts that would not fit are refused before they are made."""

import tracemalloc

import numpy as np
import pytest

from linred.columns.encoded import EncodedColumn
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

"""Arrays of NumPy."""

import numpy as np
import pandas as pd
import pytest

import linred
from linred.columns.encoder import Encoder
from support.columns import KEY, MECHANISM, RNG, S, X, uniform


def test_codes_with_labels_from_zero_are_taken_as_they_are():
    s, x = RNG.integers(0, 2, 5000).astype(np.uint8), RNG.integers(0, 4, 5000).astype(np.uint8)
    mechanism = linred.non_markov(linred.Joint.from_records(s, x), 0.5)
    y = mechanism.sanitize(s, x, key=KEY, start=0)
    assert y.dtype == np.uint8
    np.testing.assert_array_equal(y, mechanism.sampler().sample(s, x, key=KEY, start=0))


def test_structured_arrays_and_subclasses():
    x = np.array([(1, "a"), (2, "b")] * 50, dtype=[("u", int), ("v", "U1")])
    y = linred.markov(linred.Joint.from_records([0] * 100, x), 0.9).sanitize(None, x, key=KEY, start=0)
    assert y.dtype == x.dtype
    assert set(y.tolist()) == set(x.tolist())

    class Special(pd.Series):
        pass

    assert isinstance(uniform(1, 2).sanitize(None, Special([1, 2], name="n")), pd.Series)


def test_unseen_integers_among_codes():
    s, x = np.zeros(100, np.uint8), np.arange(100, dtype=np.int64) % 3
    mechanism = linred.markov(linred.Joint.from_records(s, x), 0.5)
    for wrong in (3, -1, 2**40):
        bad = x.copy()
        bad[17] = wrong
        with pytest.raises(ValueError, match=r"^x\[17\] is not in the mechanism's alphabet"):
            mechanism.sanitize(None, bad)
        y, counts = mechanism.sanitize(None, bad, unseen="marginal", return_counts=True)
        assert set(y.tolist()) <= {0, 1, 2}
        assert y.dtype == np.int64
        assert counts.n_unseen_values == 1


@pytest.mark.parametrize(
    ("dtype", "n_labels"),
    [
        *((np.int8, n_labels) for n_labels in (127, 128, 256, 300)),
        *((np.int16, n_labels) for n_labels in (2**15, 2**16, 70_000)),
        (np.uint8, 255),
        (np.uint16, 2**16 - 1),
    ],
)
def test_an_unknown_integer_never_becomes_a_known_code(dtype, n_labels):
    """The number of labels, which stands for a value that is none, may not fit into the type of the column."""
    encoder, extremes = Encoder(tuple(range(n_labels))), np.iinfo(dtype)
    column = np.array([0, 1, extremes.min, extremes.max], dtype)
    expected = [value if 0 <= value < n_labels else n_labels for value in column.tolist()]
    assert encoder.codes("x", column).tolist() == encoder.codes("x", column.tolist()).tolist() == expected
    if min(column) < 0:
        mechanism = uniform(*range(n_labels))
        with pytest.raises(linred.UnseenError):
            mechanism.sanitize(None, column)


@pytest.mark.parametrize("x", [np.array(X), np.arange(2000), pd.Series(range(2000)), np.zeros(2000, bool)])
def test_null_needs_a_column_that_can_hold_it(x):
    with pytest.raises(ValueError, match=r"x is a .* which cannot hold (label 0 of the mechanism|missing values)"):
        MECHANISM.sanitize(S, x, unseen="null")

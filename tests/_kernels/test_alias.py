"""Integer alias tables: weights and cells equal their NumPy twins, sums are exact."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from linred._kernels import alias, numpy_twins

probabilities = st.lists(
    st.one_of(st.floats(1e-320, 1.0), st.floats(0.1, 1.0), st.sampled_from([2.0**-64, 2.0**-65, 0.5, 0.25, 1e-20])),
    min_size=2,
    max_size=40,
)


@given(probabilities)
def test_quantise_equals_its_twin_and_sums_to_two_to_the_64(p):
    weight = alias.quantise(np.array([0, len(p)]), np.array(p)).tolist()
    assert weight == numpy_twins.quantise(p)
    assert sum(weight) == 2**64
    assert min(weight) >= 1
    total = sum(map(Fraction, p))
    for one, of in zip(weight, p, strict=True):
        ideal = Fraction(of) / total * 2**64
        assert abs(one - ideal) <= 3 + ideal * Fraction(2, 10**14)


def test_quantise_keeps_what_is_exact():
    assert alias.quantise(np.array([0, 1, 3, 6]), np.array([0.3, 0.5, 0.5, 0.25, 0.25, 0.5])).tolist() == [
        0,
        2**63,
        2**63,
        2**62,
        2**62,
        2**63,
    ]


@given(probabilities, st.integers(0, 3))
def test_cells_amount_to_the_weights(p, spare):
    y = np.arange(len(p), dtype=np.int32)[::-1].copy()
    indptr, log2_cells = np.array([0, len(p)]), min(8, (len(p) - 1).bit_length() + spare)
    weight = alias.quantise(indptr, np.array(p))
    first_cell, cells = alias.cells_of(indptr, y, weight, np.array([log2_cells], np.uint8))
    assert first_cell.tolist() == [0, 2**log2_cells]
    expected = dict(zip(y.tolist(), weight.tolist(), strict=True))
    assert numpy_twins.weights_of_cells(cells, log2_cells) == expected
    shared = cells["own"] != cells["alias"]
    assert (shared == np.sort(shared)).all(), "whole cells come first"
    assert shared.sum() < len(p)
    whole = cells["own"][~shared]
    assert (np.diff(np.flatnonzero(y == whole[:, None])) >= 0).all() if whole.size else True


def test_cells_of_one_symbol_are_whole():
    first_cell, cells = alias.cells_of(
        np.array([0, 1, 1, 2]), np.array([5, 6], np.int32), np.zeros(2, np.uint64), np.array([0, 1, 3], np.uint8)
    )
    assert first_cell.tolist() == [0, 1, 3, 11]
    assert cells["own"].tolist() == cells["alias"].tolist() == [5, 0, 0] + [6] * 8
    assert not cells["threshold"].any()


@given(st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0, 0.5, 1e-25, 2.0**-64, 2.0**-53, 1 - 2.0**-53])))
def test_keep_weights_are_nearest_and_zero_only_for_zero(smaller):
    for keep, move in ((smaller, 1.0 - smaller), (1.0 - smaller, smaller)):
        rows = alias.rows_of(
            np.array([[keep]]), np.array([[move]]), np.zeros((1, 1), np.int32), 1, np.array([0, 4, 6]),
            np.array([2, 1], np.uint8), 1,
        )  # fmt: skip
        weight, first_cell, log2_cells = rows[0].tolist()
        if move == 0.0:
            assert (weight, first_cell, log2_cells) == (2**64 - 1, 4, 1)
            continue
        assert (first_cell, log2_cells) == (0, 2)
        exact = Fraction(keep) if keep <= move else 1 - Fraction(move)
        assert abs(Fraction(weight, 2**64) - exact) <= Fraction(1, 2**64)
        assert (weight == 0) == (keep == 0.0)

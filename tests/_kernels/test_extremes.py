"""Maxima over (x, s, s'): every variant equals the NumPy twins, for shapes around vector widths."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from linred._kernels import extremes, numpy_twins


def test_column_extremes_equal_their_twin(variant):
    rng = np.random.default_rng(4)
    for n_rows, n_columns in itertools.product([1, 2, 7, 8, 9, 15, 16, 17, 25], [1, 2, 3, 4, 5, 7, 8, 9, 33]):
        matrix = rng.random((n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.7)
        for ours, twin in zip(extremes.column_extremes(matrix), numpy_twins.column_extremes(matrix), strict=True):
            np.testing.assert_array_equal(ours, twin)


def test_column_extremes_see_every_cell(variant):
    for n_rows, n_columns in [(17, 9), (8, 4), (9, 5)]:
        for s, x in itertools.product(range(n_rows), range(n_columns)):
            matrix = np.full((n_rows, n_columns), 0.5)
            matrix[s, x] = 0.75
            assert extremes.column_extremes(matrix)[0][x] == 0.75
            matrix[s, x] = 0.25
            assert extremes.column_extremes(matrix)[1][x] == 0.25


@given(st.integers(1, 6), st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_worst_neighbors_equal_their_twin(n_s, n_x, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.choice([0.0, 0.25, 0.5, 1.0, 5e-324, 1e-300], (n_s, n_x))
    neighbors = rng.random((n_s, n_s)) < 0.5
    neighbors = neighbors | neighbors.T
    largest, places = numpy_twins.worst_neighbors(matrix, neighbors)
    found = extremes.worst_neighbors(matrix, neighbors.view(np.uint8))
    if largest > 0.0:
        assert found in places
    elif found is not None:  # equal entries attain a ratio of one
        x, s, s_prime = found
        assert matrix[s, x] == matrix[s_prime, x] > 0.0
        assert neighbors[s, s_prime]

"""Computes extremes over (x, s, s'). Twins: linred._kernels.numpy_twins.column_extremes, .worst_neighbors."""

import numpy as np

from linred._kernels import simd

cdef extern from "extremes.h" nogil:
    ctypedef struct linred_where:
        size_t x, s, s_prime
        int found
    linred_where linred_worst_neighbors(const double *, const unsigned char *, size_t, size_t)

ctypedef void (*column_extremes_t)(const double *, size_t, size_t, double *, double *) noexcept nogil
cdef extern from "extremes.h" nogil:
    column_extremes_t linred_column_extremes_serial, linred_column_extremes_avx2


cdef size_t _address(column_extremes_t function) noexcept:  # a function, so that the C compiler checks the signature
    return <size_t> function


VARIANTS = simd.runnable({
    "serial": _address(linred_column_extremes_serial),
    "avx2": _address(linred_column_extremes_avx2),
})
"""{level: address} of the variants that were built and run on this machine."""
cdef column_extremes_t _column_extremes


def use_variant(level):
    """Make this module use the variant for a level of `linred._kernels.simd`; `variant` names it."""
    global variant, _column_extremes
    variant = simd.highest(VARIANTS, level)
    _column_extremes = <column_extremes_t> <size_t> VARIANTS[variant]


use_variant(simd.chosen)


def column_extremes(const double[:, ::1] matrix):
    """Return the largest and the smallest entry of every column, in one pass over the matrix.

    The matrix must be finite, which is not checked here, with at least one row and one column.
    """
    cdef Py_ssize_t n_rows = matrix.shape[0], n_columns = matrix.shape[1]
    if n_rows == 0 or n_columns == 0:
        raise ValueError(f"matrix has shape {(n_rows, n_columns)}; it needs a row and a column")
    highest, lowest = np.empty(n_columns), np.empty(n_columns)
    cdef double[::1] highest_view = highest, lowest_view = lowest
    with nogil:
        _column_extremes(&matrix[0, 0], n_rows, n_columns, &highest_view[0], &lowest_view[0])
    return highest, lowest


def worst_neighbors(const double[:, ::1] matrix, const unsigned char[:, ::1] neighbors):
    """Return (x, s, s') where matrix[s, x] / matrix[s', x] is largest among neighbours, or None without neighbours.

    O(|X|) for each pair of neighbours. `neighbors` is a symmetric 0/1 matrix; its diagonal is ignored.
    """
    cdef Py_ssize_t n_rows = matrix.shape[0], n_columns = matrix.shape[1]
    cdef linred_where where
    if n_rows == 0 or n_columns == 0 or neighbors.shape[0] != n_rows or neighbors.shape[1] != n_rows:
        raise ValueError(f"matrix has shape {(n_rows, n_columns)} and neighbors "
                         f"{(neighbors.shape[0], neighbors.shape[1])}")
    with nogil:
        where = linred_worst_neighbors(&matrix[0, 0], &neighbors[0, 0], n_rows, n_columns)
    return (where.x, where.s, where.s_prime) if where.found else None

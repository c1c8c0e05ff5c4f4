# cython: boundscheck=False
"""Compiles distributions into integer alias tables. Twins: linred._kernels.numpy_twins.quantise, .weights_of_cells (the
inverse), .keep_weight.

Bounds checks are off, because this module only takes addresses, and the address of an empty tail is one past the end.
"""

from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

import numpy as np

cdef extern from "alias.h" nogil:
    ctypedef struct linred_cell:
        uint64_t threshold
        uint32_t own, alias
    ctypedef struct linred_row:
        pass
    void linred_rows_of_s(const double *, const double *, const int32_t *, size_t, const int64_t *, const uint8_t *,
                          size_t, linred_row *)
    void linred_quantise(const double *, size_t, uint64_t *)
    void linred_alias_cells(const int32_t *, size_t, int, uint64_t *, uint32_t *, linred_cell *)

CELL = np.dtype([("threshold", np.uint64), ("own", np.uint32), ("alias", np.uint32)])
"""One cell, 16 bytes; see alias.h."""
ROW = np.dtype([("keep", np.uint64), ("first_cell", np.uint32), ("log2_cells", np.uint32)])
"""How a pair (s, x) is sampled, 16 bytes; see alias.h."""
MOST_CELLS = 2**32 - 1


def quantise(const int64_t[::1] indptr, const double[::1] probability):
    """Return the weights out of 2^64 of the tables indptr[t]:indptr[t + 1], each at least 1. Deterministic, O(n).

    Probabilities are positive, and those of a table are divided by their sum. The weight of a single symbol is 2^64,
    returned as 0. A weight differs from its probability by at most two units and a few relative rounding errors.
    """
    cdef Py_ssize_t n_tables = indptr.shape[0] - 1, t
    weight = np.zeros(probability.shape[0], np.uint64)
    cdef uint64_t[::1] weight_view = weight
    with nogil:
        for t in range(n_tables):
            if indptr[t + 1] - indptr[t] > 1:
                linred_quantise(&probability[indptr[t]], indptr[t + 1] - indptr[t], &weight_view[indptr[t]])
    return weight


def cells_of(const int64_t[::1] indptr, const int32_t[::1] y, const uint64_t[::1] weight,
             const uint8_t[::1] log2_cells):
    """Return (first_cell, cells): table t has the 2^log2_cells[t] cells from first_cell[t] on. O(cells).

    A table with n symbols needs at least n cells, and weights from `quantise`; it then samples exactly those weights.
    Empty tables have cells too, with unspecified content.
    """
    cdef Py_ssize_t n_tables = indptr.shape[0] - 1, t, n
    first_cell = np.zeros(n_tables + 1, np.int64)
    np.cumsum(np.left_shift(1, np.asarray(log2_cells), dtype=np.int64), out=first_cell[1:])
    if int(first_cell[n_tables]) > MOST_CELLS:
        raise ValueError(f"the tables need {first_cell[n_tables]} cells, and {MOST_CELLS} can be addressed")
    cells = np.zeros(int(first_cell[n_tables]), CELL)
    scratch, whole = np.array(weight), np.empty(weight.shape[0], np.uint32)
    cdef const int64_t[::1] first_view = first_cell
    cdef uint8_t[::1] cells_view = cells.view(np.uint8)
    cdef linred_cell *first = <linred_cell *> &cells_view[0]
    cdef uint64_t[::1] scratch_view = scratch
    cdef uint32_t[::1] whole_view = whole
    with nogil:
        for t in range(n_tables):
            n = indptr[t + 1] - indptr[t]
            if n > 0:
                linred_alias_cells(&y[indptr[t]], n, log2_cells[t], &scratch_view[indptr[t]], &whole_view[indptr[t]],
                                   first + first_view[t])
    return first_cell, cells


def rows_of(const double[:, ::1] keep, const double[:, ::1] move, const int32_t[:, ::1] table_of, stride,
            const int64_t[::1] first_cell, const uint8_t[::1] log2_cells, size_t first_stay):
    """Return ROWs at s * stride + x, with zeros in between. Rows that always keep x use table first_stay + x."""
    cdef Py_ssize_t n_s = keep.shape[0], n_x = keep.shape[1], s, row_stride = stride
    rows = np.zeros(n_s * row_stride, ROW)
    cdef uint8_t[::1] rows_view = rows.view(np.uint8)
    cdef linred_row *first = <linred_row *> &rows_view[0]
    with nogil:
        for s in range(n_s):
            linred_rows_of_s(&keep[s, 0], &move[s, 0], &table_of[s, 0], n_x, &first_cell[0], &log2_cells[0], first_stay,
                             first + s * row_stride)
    return rows

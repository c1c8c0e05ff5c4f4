"""Counts pairs of codes. Twin: linred._kernels.numpy_twins.count_pairs."""

from libc.stdint cimport int64_t, uint32_t

import os

import numpy as np

from linred._common import validation

cdef extern from "counting.h" nogil:
    int LINRED_COUNT_OK
    int LINRED_COUNT_S_OUT_OF_RANGE
    int LINRED_COUNT_X_OUT_OF_RANGE
    ctypedef struct linred_counter:
        uint32_t *working
        int n_copies
        int shift
        uint32_t n_s, n_x
        int64_t *counts
    int linred_count_pairs(const char *, int, const char *, int, size_t, linred_counter)

# (largest number of cells, number of copies): the fastest choice, measured on uniform and on skewed records.
COPIES = ((2**10, 4), (2**20, 2), (2**31, 1))
FEWEST_RECORDS_A_THREAD = 2**21


def count_pairs(s_codes, x_codes, n_s, n_x, threads=None, names=("s_codes", "x_codes")):
    """Return the |S| x |X| counts of each pair of codes, as int64.

    O(n_records + n_s n_x). The GIL is released. With enough records, all cores are used, or at most `threads`. A code
    out of range raises a ValueError that refers to the columns by `names`.
    """
    s_codes, x_codes = validation.codes(names[0], s_codes, n_s), validation.codes(names[1], x_codes, n_x)
    if s_codes.size != x_codes.size:
        raise ValueError(f"{names[0]} has {s_codes.size} records and {names[1]} {x_codes.size}")
    if not (n_s > 0 and n_x > 0 and n_s << (n_x - 1).bit_length() <= 2**31):
        raise ValueError(f"a table of {n_s} symbols of {names[0]} by {n_x} of {names[1]} cannot be counted")
    n_threads = min(threads or os.cpu_count() or 1, 1 + s_codes.size // FEWEST_RECORDS_A_THREAD)
    parts = list(zip(np.array_split(s_codes, n_threads), np.array_split(x_codes, n_threads)))
    if n_threads == 1:
        counted = [_count_part(*parts[0], n_s, n_x)]
    else:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(n_threads) as pool:
            counted = list(pool.map(lambda part: _count_part(*part, n_s, n_x), parts))
    codes = [code for code, _ in counted]
    if LINRED_COUNT_S_OUT_OF_RANGE in codes:
        validation.raise_out_of_range(names[0], s_codes, n_s)
    if LINRED_COUNT_X_OUT_OF_RANGE in codes:
        validation.raise_out_of_range(names[1], x_codes, n_x)
    total = counted[0][1]
    for _, counts in counted[1:]:
        total += counts
    return total


def _count_part(s_codes, x_codes, n_s, n_x):
    """Return (error code, counts) of the records of one thread."""
    shift = (n_x - 1).bit_length()
    n_cells = n_s << shift
    n_copies = next(copies for most_cells, copies in COPIES if n_cells <= most_cells)
    counts, working = np.zeros((n_s, n_x), np.int64), np.zeros(n_copies * n_cells, np.uint32)
    cdef const unsigned char[::1] s_bytes = s_codes.view(np.uint8), x_bytes = x_codes.view(np.uint8)
    cdef int64_t[:, ::1] counts_view = counts
    cdef uint32_t[::1] working_view = working
    cdef linred_counter counter = linred_counter(&working_view[0], n_copies, shift, n_s, n_x, &counts_view[0, 0])
    cdef int s_width = s_codes.itemsize, x_width = x_codes.itemsize, code = LINRED_COUNT_OK
    cdef size_t n_records = s_codes.size
    if n_records:
        with nogil:
            code = linred_count_pairs(<const char *> &s_bytes[0], s_width, <const char *> &x_bytes[0], x_width,
                                      n_records, counter)
    return code, counts

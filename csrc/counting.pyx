"""Counting pairs of codes. Twin: linred._reference.count_pairs."""

from libc.stdint cimport int64_t, uint32_t

import numpy as np

cdef extern from "counting.h" nogil:
    int LINRED_COUNT_OK
    int LINRED_COUNT_S_OUT_OF_RANGE
    ctypedef struct linred_counter:
        uint32_t *working
        int n_copies
        int shift
        uint32_t n_s, n_x
        int64_t *counts
    int linred_count_pairs(const char *, int, const char *, int, size_t, linred_counter)

# Copies of the table that paid, measured on uniform and on skewed records: (up to so many cells, so many copies).
COPIES = ((2**12, 4), (2**20, 2), (2**31, 1))


def _as_codes(name, codes):
    codes = np.ascontiguousarray(codes)
    if codes.ndim != 1 or codes.dtype not in (np.uint8, np.uint16, np.uint32):
        raise ValueError(f"{name} has shape {codes.shape} and dtype {codes.dtype}; "
                         "one column of uint8, uint16 or uint32 codes is needed")
    return codes


def _raise_out_of_range(name, codes, n_symbols):
    record = int(np.argmax(codes >= n_symbols))
    raise ValueError(f"{name}[{record}] = {codes[record]} is not a code below {n_symbols}")


def count_pairs(s_codes, x_codes, n_s, n_x):
    """The |S| x |X| table of how often each pair of codes occurs, as int64.

    O(n_records + n_s n_x); the GIL is released. A code out of range is a ValueError.
    """
    s_codes = _as_codes("s_codes", s_codes)
    x_codes = _as_codes("x_codes", x_codes)
    if s_codes.size != x_codes.size:
        raise ValueError(f"s_codes has {s_codes.size} records and x_codes {x_codes.size}")
    shift = max(n_x - 1, 0).bit_length()
    n_cells = n_s << shift
    if not (n_s > 0 and n_x > 0 and n_cells <= 2**31):
        raise ValueError(f"a table of n_s = {n_s} rows and n_x = {n_x} columns cannot be counted")
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
    if code == LINRED_COUNT_S_OUT_OF_RANGE:
        _raise_out_of_range("s_codes", s_codes, n_s)
    if code != LINRED_COUNT_OK:
        _raise_out_of_range("x_codes", x_codes, n_x)
    return counts

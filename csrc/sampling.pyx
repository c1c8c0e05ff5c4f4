# cython: boundscheck=False
"""Samples records from alias tables. Twin: linred._kernels.numpy_twins.sample.

Bounds checks are off, because this module only takes addresses, and the address of an empty column is one past the end.
"""

from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t

import numpy as np

from linred._kernels import simd
from linred._common import validation

cdef extern from "sampling.h" nogil:
    int LINRED_PENDING
    int LINRED_SAMPLE_S_OUT_OF_RANGE
    int LINRED_SAMPLE_X_OUT_OF_RANGE
    ctypedef struct linred_cell:
        pass
    ctypedef struct linred_row:
        pass
    ctypedef struct linred_sampler:
        uint32_t n_s, n_x
        int shift
        const linred_row *rows
        const linred_cell *cells
        const uint8_t *settled
        const uint16_t *keep_top
        const uint8_t *runs
        size_t n_runs
        const uint64_t *limits
    ctypedef struct linred_columns:
        const char *s
        const char *x
        char *y
        int s_width, x_width
    ctypedef struct linred_pending:
        uint32_t *position
        uint32_t *row
    int linred_check_codes(const linred_sampler *, const linred_columns *, size_t)
    int linred_no_first_stage(const linred_sampler *, const linred_columns *, size_t, linred_pending)
    void linred_count_from(uint64_t, const uint32_t *, size_t, uint8_t *)
    void linred_second_stage(const linred_sampler *, linred_pending, size_t, const uint8_t *, const uint8_t *, int,
                             char *)
    size_t linred_second_stage_whole(const linred_sampler *, linred_pending, size_t, const uint8_t *, const uint8_t *,
                                     int, char *)

ctypedef int (*first_stage_t)(const linred_sampler *, const linred_columns *, size_t, const uint8_t *, linred_pending,
                              size_t *) noexcept nogil
cdef extern from "sampling.h" nogil:
    first_stage_t linred_first_stage_serial, linred_first_stage_avx2


cdef size_t _address(first_stage_t function) noexcept:  # a function, so that the C compiler checks the signature
    return <size_t> function


VARIANTS = simd.runnable({
    "serial": _address(linred_first_stage_serial),
    "avx2": _address(linred_first_stage_avx2),
})
"""{level: address} of the variants that were built and run on this machine."""
cdef first_stage_t _first_stage

PENDING = LINRED_PENDING
"""Marks cells in `settled` that the first bits do not decide; also the most symbols that `settled` can hold."""
MOST_RUNS = 16


def use_variant(level):
    """Make this module use the variant for a level of `linred._kernels.simd`; `variant` names it."""
    global variant, _first_stage
    variant = simd.highest(VARIANTS, level)
    _first_stage = <first_stage_t> <size_t> VARIANTS[variant]


use_variant(simd.chosen)


cdef class Columns:
    """A run of records: the codes of S and X, and the array for the codes of Y. All are contiguous.

    `first` is the number of its first record in the whole columns, for error messages.
    """

    cdef readonly object s_codes, x_codes, y_codes
    cdef readonly Py_ssize_t n_records, first
    cdef linred_columns to

    def __init__(self, s_codes, x_codes, y_codes, Py_ssize_t first=0):
        cdef const uint8_t[::1] s_bytes, x_bytes = x_codes.view(np.uint8)
        cdef uint8_t[::1] y_bytes = y_codes.view(np.uint8)
        self.s_codes, self.x_codes, self.y_codes = s_codes, x_codes, y_codes
        self.n_records, self.first = x_codes.size, first
        if y_codes.size != x_codes.size or y_codes.itemsize != x_codes.itemsize:
            raise ValueError(f"y_codes has {y_codes.size} codes of {y_codes.dtype}; x_codes {x_codes.size} of "
                             f"{x_codes.dtype}")
        self.to = linred_columns(NULL, <const char *> &x_bytes[0], <char *> &y_bytes[0], 0, x_codes.itemsize)
        if s_codes is not None:
            if s_codes.size != x_codes.size:
                raise ValueError(f"s_codes has {s_codes.size} records and x_codes {x_codes.size}")
            s_bytes = s_codes.view(np.uint8)
            self.to.s, self.to.s_width = <const char *> &s_bytes[0], s_codes.itemsize


cdef class Pending:
    """Room for up to n_records pending records, and for the counters of their blocks."""

    cdef readonly object positions, counters
    cdef object _row
    cdef readonly Py_ssize_t n_records
    cdef linred_pending to
    cdef uint8_t[::1] _counters

    def __init__(self, n_records):
        if n_records >= 2**32:
            raise ValueError(f"{n_records} records at once are more than positions of 32 bits tell apart")
        cdef uint32_t[::1] position = np.empty(n_records + 1, np.uint32), row = np.empty(n_records + 1, np.uint32)
        self.positions, self._row, self.n_records = np.asarray(position), row, n_records
        self.counters = np.empty(16 * n_records, np.uint8)
        self._counters = self.counters
        self.to = linred_pending(&position[0], &row[0])

    def count(self, size_t n_pending, uint64_t start):
        """Return the counters of the first n_pending pending records, 16 bytes each; `start` is the first record's."""
        if n_pending > <size_t> self.n_records:
            raise ValueError(f"{n_pending} records are more than the {self.n_records} that there is room for")
        with nogil:
            linred_count_from(start, self.to.position, n_pending, &self._counters[0])
        return self.counters[:16 * n_pending]


def _check_tables(n_s, n_x, shift, rows, cells, settled, keep_top, limits):
    """Check that every index that codes in range can lead to is inside its array."""
    n_rows = n_s << shift if n_s else n_x
    if int(rows["log2_cells"].max(initial=0)) > 31:
        raise ValueError(f"a table of 2**{rows['log2_cells'].max()} cells cannot be addressed")
    ends = rows["first_cell"].astype(np.int64) + np.left_shift(1, rows["log2_cells"], dtype=np.int64)
    if n_rows >= 2**31:
        raise ValueError(f"{n_s} x {n_x} symbols need {n_rows} rows, and fewer than 2**31 can be addressed")
    if not 0 < n_x <= 1 << shift or rows.size < n_rows or int(ends.max()) > cells.size:
        raise ValueError(f"{rows.size} rows and {cells.size} cells are too few for {n_s} x {n_x} symbols")
    if settled is not None and (settled.size < 256 * n_rows or n_x > PENDING):
        raise ValueError(f"settled has {settled.size} bytes for {n_rows} rows of {n_x} symbols")
    if settled is None and keep_top.size <= n_rows:
        raise ValueError(f"keep_top has {keep_top.size} entries for {n_rows} rows and one more")
    if limits is not None and (limits.size < n_rows or settled is not None):
        raise ValueError(f"limits has {limits.size} entries for {n_rows} rows, which must have keep_top")


def _runs_of(settled):
    """Return `settled` as an array runs x (first words, codes) x rows, or None if that would be too long.

    A row with fewer runs than others repeats its last one.
    """
    if len(settled) > 16:
        return None
    begins = [np.flatnonzero(np.diff(row, prepend=-1)) for row in settled.astype(np.int16)]
    n_runs = max(map(len, begins))
    if n_runs > MOST_RUNS:
        return None
    runs = np.zeros((n_runs, 2, 16), np.uint8)
    for row, of_row in enumerate(begins):
        runs[:, 0, row] = np.pad(of_row, (0, n_runs - len(of_row)), mode="edge")
        runs[:, 1, row] = settled[row, runs[:, 0, row]]
    return runs


cdef class Kernel:
    """The two stages of sampling, for tables that `linred.sampling.alias_tables` compiles."""

    cdef readonly object rows, cells, settled, keep_top, limits
    cdef object _runs
    cdef linred_sampler by

    def __init__(self, n_s, n_x, shift, rows, cells, settled, keep_top, limits=None):
        cdef const uint8_t[::1] rows_view = rows.view(np.uint8), cells_view = cells.view(np.uint8), settled_view
        cdef const uint8_t[::1] runs_view
        cdef const uint16_t[::1] keep_top_view
        cdef const uint64_t[::1] limits_view
        _check_tables(n_s, n_x, shift, rows, cells, settled, keep_top, limits)
        self.rows, self.cells, self.settled, self.keep_top, self.limits = rows, cells, settled, keep_top, limits
        self.by = linred_sampler(n_s, n_x, shift, <const linred_row *> &rows_view[0],
                                 <const linred_cell *> &cells_view[0], NULL, NULL, NULL, 0, NULL)
        if limits is not None:
            limits_view = limits
            self.by.limits = &limits_view[0]
        if settled is not None:
            settled_view = settled
            self.by.settled = &settled_view[0]
            self._runs = _runs_of(settled.reshape(-1, 256))
            if self._runs is not None:
                runs_view = self._runs.ravel()
                self.by.runs, self.by.n_runs = &runs_view[0], len(self._runs)
        else:
            keep_top_view = keep_top
            self.by.keep_top = &keep_top_view[0]

    def __reduce__(self):
        by = self.by
        return Kernel, (by.n_s, by.n_x, by.shift, self.rows, self.cells, self.settled, self.keep_top, self.limits)

    def check(self, Columns columns):
        """Raise ValueError if a code is out of range."""
        cdef int code
        with nogil:
            code = linred_check_codes(&self.by, &columns.to, columns.n_records)
        self._raise_out_of_range(code, columns)

    def first_stage(self, Columns columns, const uint8_t[::1] words, Pending pending, uint64_t start=0):
        """Sample the records that `words` decide, and return the counters of the others, 16 bytes each.

        `start` is the number of the first record. `second_stage` samples the other records.
        """
        cdef size_t n_pending = 0
        cdef int code
        cdef int word_bytes = 2 if self.by.settled == NULL else 1
        if words.shape[0] < columns.n_records * word_bytes or pending.n_records < columns.n_records:
            raise ValueError(f"{words.shape[0]} bytes and room for {pending.n_records} are too little for "
                             f"{columns.n_records} records")
        with nogil:
            code = _first_stage(&self.by, &columns.to, columns.n_records, &words[0], pending.to, &n_pending)
        self._raise_out_of_range(code, columns)
        return pending.count(n_pending, start)

    def no_first_stage(self, Columns columns, Pending pending):
        """Make every record pending."""
        cdef int code
        if pending.n_records < columns.n_records:
            raise ValueError(f"room for {pending.n_records} is too little for {columns.n_records} records")
        with nogil:
            code = linred_no_first_stage(&self.by, &columns.to, columns.n_records, pending.to)
        self._raise_out_of_range(code, columns)

    def second_stage(self, Columns columns, const uint8_t[::1] words, Pending pending, Py_ssize_t n_pending,
                     const uint8_t[::1] blocks):
        """Sample the pending records by their blocks, and return how many stay pending, which come first in `pending`.

        `words` are those of the first stage, or None without one. Only tables with `limits` leave records pending.
        """
        cdef const uint8_t *first_words = NULL
        cdef size_t n_left = 0
        if blocks.shape[0] < 16 * n_pending or pending.n_records < n_pending:
            raise ValueError(f"{blocks.shape[0]} bytes and room for {pending.n_records} are too little for "
                             f"{n_pending} records")
        if words is not None:
            first_words = &words[0]
        with nogil:
            if self.by.limits != NULL:
                n_left = linred_second_stage_whole(&self.by, pending.to, n_pending, first_words, &blocks[0],
                                                   columns.to.x_width, columns.to.y)
            else:
                linred_second_stage(&self.by, pending.to, n_pending, first_words, &blocks[0], columns.to.x_width,
                                    columns.to.y)
        return n_left

    def _raise_out_of_range(self, int code, Columns columns):
        if code == LINRED_SAMPLE_S_OUT_OF_RANGE:
            validation.raise_out_of_range("s_codes", columns.s_codes, self.by.n_s, columns.first)
        if code == LINRED_SAMPLE_X_OUT_OF_RANGE:
            validation.raise_out_of_range("x_codes", columns.x_codes, self.by.n_x, columns.first)

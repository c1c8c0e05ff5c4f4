"""Recodes from one alphabet to another. Twin: linred._kernels.numpy_twins.recode."""

from libc.stdint cimport uint32_t

import numpy as np

from linred._common import validation

cdef extern from "recoding.h" nogil:
    int LINRED_RECODE_OK
    int linred_recode(const char *, int, size_t, const char *, int, uint32_t, char *)


def recode(codes, table, name="codes"):
    """Return table[codes], a column of the type of the table: unsigned, with 1, 2 or 4 bytes. The GIL is released.

    A code without an entry, including a negative one, raises a ValueError that refers to the column by `name`.
    """
    codes, table = validation.codes(name, codes, table.size), np.ascontiguousarray(table)
    if table.ndim != 1 or table.size > 2**31 or table.dtype.kind != "u" or table.itemsize > 4:
        raise ValueError(f"a table of shape {table.shape} and dtype {table.dtype} is not for codes")
    recoded = np.empty(codes.size, table.dtype)
    if codes.size == 0:
        return recoded
    if table.size == 0:
        validation.raise_out_of_range(name, codes, 0)
    cdef const unsigned char[::1] from_bytes = codes.view(np.uint8), table_bytes = table.view(np.uint8)
    cdef unsigned char[::1] to_bytes = recoded.view(np.uint8)
    cdef int width = codes.itemsize, table_width = table.itemsize, code
    cdef size_t n_records = codes.size
    cdef uint32_t n_codes = table.size
    with nogil:
        code = linred_recode(<const char *> &from_bytes[0], width, n_records, <const char *> &table_bytes[0],
                             table_width, n_codes, <char *> &to_bytes[0])
    if code != LINRED_RECODE_OK:
        validation.raise_out_of_range(name, codes, table.size)
    return recoded

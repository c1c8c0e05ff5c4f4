# cython: boundscheck=False
"""Splits and writes CSV as bytes. Twin: linred._kernels.numpy_twins.csv_records.

Bounds checks are off, because this module only takes addresses, and the address of an empty block is one past the end.
"""

from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t

import numpy as np

cdef extern from "csv_text.h" nogil:
    int LINRED_CSV_RAGGED
    int LINRED_CSV_AFTER_QUOTE
    int LINRED_CSV_UNCLOSED
    ctypedef struct linred_csv_block:
        const uint8_t *text
        size_t n_bytes
        int is_last
        uint8_t delimiter
        int n_columns
        int n_slots
        const int32_t *slot_of
    ctypedef struct linred_csv_found:
        size_t n_records
        size_t n_bytes
        int n_fields
    int LINRED_CSV_HEAD
    ctypedef struct linred_csv_place:
        pass
    ctypedef struct linred_csv_labels:
        const uint8_t *bytes
        const uint32_t *begins
        uint32_t n_labels
        uint32_t mask
        linred_csv_place *places
        uint32_t missing
    ctypedef struct linred_csv_piece:
        int first_slot, last_slot
        const uint8_t *bytes
        const uint32_t *begins
    int linred_csv_split(const linred_csv_block *, uint32_t *, linred_csv_found *)
    void linred_csv_index(linred_csv_labels *)
    void linred_csv_codes(const uint8_t *, size_t, const uint32_t *, size_t, size_t, const linred_csv_labels *,
                          uint8_t *, uint32_t *)
    size_t linred_csv_column(const uint8_t *, const uint32_t *, size_t, size_t, uint8_t *, uint8_t *, int32_t *)
    size_t linred_csv_lines(const uint8_t *, size_t, const uint32_t *, size_t, size_t, const linred_csv_piece *, size_t,
                            const uint32_t *, uint8_t, uint8_t *)

MOST_BLOCK_BYTES, MOST_PIECES = 2**31 - 1, 256


class CsvError(ValueError):
    """A record is malformed; `record` is its number in the block, and `what` the fault."""

    def __init__(self, record, what):
        self.record, self.what = record, what
        super().__init__(f"record {record} of the block {what}")


def split(const uint8_t[::1] text, bint is_last, uint8_t delimiter, const int32_t[::1] slot_of):
    """Return (bounds, n_bytes) of all complete records.

    bounds (records x slots x 2) holds where the fields of the columns with a slot begin and end; n_bytes is the number
    of bytes of these records.
    """
    cdef linred_csv_found found
    cdef int n_slots = max(slot_of) + 1, code
    if not 0 < text.shape[0] <= MOST_BLOCK_BYTES or slot_of.shape[0] == 0 or n_slots < 1:
        raise ValueError(f"{text.shape[0]} bytes in {slot_of.shape[0]} columns cannot be split")
    room = np.empty((text.shape[0] // slot_of.shape[0] + 1, n_slots, 2), np.uint32)
    cdef uint32_t[:, :, ::1] bounds = room
    cdef linred_csv_block block = linred_csv_block(&text[0], text.shape[0], is_last, delimiter, slot_of.shape[0],
                                                   n_slots, &slot_of[0])
    with nogil:
        code = linred_csv_split(&block, &bounds[0, 0, 0], &found)
    if code == LINRED_CSV_RAGGED:
        raise CsvError(found.n_records, f"has {found.n_fields} fields, and the header has {slot_of.shape[0]}")
    if code == LINRED_CSV_AFTER_QUOTE:
        raise CsvError(found.n_records, "has a quoted field with text after its closing quote")
    if code == LINRED_CSV_UNCLOSED:
        raise CsvError(found.n_records, "has a quote that is never closed")
    return room[:found.n_records], found.n_bytes


cdef class Text:
    """Concatenated texts: text i is at begins[i]:begins[i + 1]."""

    cdef readonly object all_bytes, begins
    cdef const uint8_t[::1] _bytes
    cdef const uint32_t[::1] _begins

    def __init__(self, texts):
        sizes = np.array([0, *map(len, texts)], np.int64).cumsum()
        if sizes[-1] > MOST_BLOCK_BYTES:
            raise ValueError(f"labels of {sizes[-1]} bytes together are too long")
        self.all_bytes, self.begins = b"".join(texts) + bytes(LINRED_CSV_HEAD), sizes.astype(np.uint32)
        self._bytes, self._begins = self.all_bytes, self.begins

    def __len__(self):
        return self.begins.size - 1

    cdef size_t n_bytes_of(self, const uint32_t[::1] codes) except? 0:
        """Return the total number of bytes of the texts of all codes; raise ValueError if a code has no text."""
        cdef size_t n_bytes = 0, n_texts = self._begins.shape[0] - 1, n_codes = codes.shape[0], i
        cdef uint32_t code = 0
        with nogil:
            for i in range(n_codes):
                code = codes[i]
                if code >= n_texts:
                    break
                n_bytes += self._begins[code + 1] - self._begins[code]
        if n_codes and code >= n_texts:
            raise ValueError(f"a code of {code} has no text among {n_texts}")
        return n_bytes


cdef class Labels:
    """An index of distinct, nonempty labels; `missing` is the code of an empty field."""

    cdef readonly Text text
    cdef object _places
    cdef linred_csv_labels by

    def __init__(self, texts, uint32_t missing):
        self.text = Text(texts)
        n_places = 1 << (2 * len(texts) + 1).bit_length()
        self._places = np.zeros(n_places * sizeof(linred_csv_place) // 8, np.uint64)
        cdef uint64_t[::1] places = self._places
        self.by = linred_csv_labels(&self.text._bytes[0], &self.text._begins[0], len(texts), n_places - 1,
                                    <linred_csv_place *> &places[0], missing)
        linred_csv_index(&self.by)

    def codes(self, const uint8_t[::1] text, const uint32_t[:, :, ::1] bounds, Py_ssize_t slot):
        """Return the codes of the fields in a slot: the index of the equal label, or the number of labels."""
        found = np.empty(bounds.shape[0], np.uint32)
        cdef uint32_t[::1] codes = found
        cdef uint8_t[::1] room = np.empty(text.shape[0] + LINRED_CSV_HEAD, np.uint8)
        _check_slot(bounds, slot)
        if bounds.shape[0]:
            with nogil:
                linred_csv_codes(&text[0], text.shape[0], &bounds[0, slot, 0], 2 * bounds.shape[1], bounds.shape[0],
                                 &self.by, &room[0], &codes[0])
        return found


def column(const uint8_t[::1] text, const uint32_t[:, :, ::1] bounds, Py_ssize_t slot):
    """Return (bytes, begins) of the values in a slot, as Arrow stores text."""
    values, begins = np.empty(text.shape[0], np.uint8), np.zeros(bounds.shape[0] + 1, np.int32)
    cdef uint8_t[::1] to = values, room = np.empty(text.shape[0], np.uint8)
    cdef int32_t[::1] begins_to = begins
    cdef size_t n_bytes = 0
    _check_slot(bounds, slot)
    if bounds.shape[0]:
        with nogil:
            n_bytes = linred_csv_column(&text[0], &bounds[0, slot, 0], 2 * bounds.shape[1], bounds.shape[0], &room[0],
                                        &to[0], &begins_to[0])
    return values[:n_bytes], begins


def lines(const uint8_t[::1] text, const uint32_t[:, :, ::1] bounds, pieces, const uint32_t[::1] codes,
          uint8_t delimiter):
    """Return the lines of all records as bytes.

    A piece is either (first slot, last slot), for unchanged fields with ascending slots, or a `Text`, of which each
    record gets the text of its code.
    """
    cdef linred_csv_piece to[256]  # MOST_PIECES
    cdef Text by_code
    cdef size_t n_bytes = 0, n_pieces = len(pieces), n_drawn = 0
    cdef Py_ssize_t slots_so_far = 0, k
    if not 0 < n_pieces <= MOST_PIECES or codes.shape[0] != bounds.shape[0]:
        raise ValueError(f"{len(pieces)} pieces and {codes.shape[0]} codes are not for {bounds.shape[0]} records")
    for k, piece in enumerate(pieces):
        if isinstance(piece, tuple):
            for slot in piece:
                _check_slot(bounds, slot)
            if not slots_so_far <= piece[0] <= piece[1]:
                raise ValueError(f"pieces[{k}] = {piece} is not after those before it")
            slots_so_far = piece[1] + 1
            to[k] = linred_csv_piece(piece[0], piece[1], NULL, NULL)
        else:
            by_code = piece
            to[k] = linred_csv_piece(-1, -1, &by_code._bytes[0], &by_code._begins[0])
            n_drawn += by_code.n_bytes_of(codes)
    written = np.empty(text.shape[0] + n_drawn + bounds.shape[0] * n_pieces + LINRED_CSV_HEAD, np.uint8)
    cdef uint8_t[::1] room = written
    if bounds.shape[0]:
        with nogil:
            n_bytes = linred_csv_lines(&text[0], text.shape[0], &bounds[0, 0, 0], 2 * bounds.shape[1],
                                       bounds.shape[0], to, n_pieces, &codes[0], delimiter, &room[0])
    return written[:n_bytes]


cdef _check_slot(const uint32_t[:, :, ::1] bounds, slot):
    if not 0 <= slot < bounds.shape[1] or bounds.shape[2] != 2:
        raise ValueError(f"there is no slot {slot} among {bounds.shape[1]}")

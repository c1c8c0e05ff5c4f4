/* CSV: splits a block of bytes into records and fields, looks fields up among labels, copies them to columns, and
 * writes records back with some fields replaced. A field is [begin, end) in the block, including quotes.
 *
 * record = field (delimiter field)* end,  end = LF | CR LF | CR | end of file
 * field  = " (any byte but " | "")* "  |  bytes other than delimiter, LF and CR, of which the first is not "
 *
 * If there are several columns, an empty line is not a record. Twin: linred._kernels.numpy_twins.csv_records. */
#ifndef LINRED_CSV_TEXT_H
#define LINRED_CSV_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "simd.h"

enum { LINRED_CSV_OK, LINRED_CSV_RAGGED, LINRED_CSV_AFTER_QUOTE, LINRED_CSV_UNCLOSED };

typedef struct {
    const uint8_t *text;
    size_t n_bytes;
    int is_last; /* the block is the end of the file */
    uint8_t delimiter;
    int n_columns;
    int n_slots;            /* number of columns whose fields are read */
    const int32_t *slot_of; /* the slot of each column, -1 if the column is not read */
} linred_csv_block;

typedef struct {
    size_t n_records;
    size_t n_bytes;  /* of those records; the bytes after them are an incomplete record */
    int n_fields;    /* of the next record, if its number of fields is the error */
} linred_csv_found;

LINRED_INLINE int linred_is_line_end(uint8_t byte) { return byte == '\n' || byte == '\r'; }

/* Returns the end of the quoted field that begins at i, or n_bytes + 1 if the block does not close it. */
LINRED_INLINE size_t linred_csv_quoted_end(const uint8_t *text, size_t i, size_t n_bytes) {
    for (i++; i < n_bytes; i++) {
        const uint8_t *quote = memchr(text + i, '"', n_bytes - i);
        if (!quote) break;
        i = (size_t)(quote - text) + 1;
        if (i == n_bytes || text[i] != '"') return i;
    }
    return n_bytes + 1;
}

/* Returns one bit for each of the 64 bytes from `base` on, set if the byte ends a field without quotes. */
LINRED_INLINE uint64_t linred_csv_stops(const uint8_t *text, size_t base, size_t n_bytes, uint8_t delimiter) {
    uint64_t stops = 0;
#if defined(__SSE2__) /* every x86-64 processor has it */
    if (base + 64 <= n_bytes) {
        for (int k = 0; k < 64; k += 16) {
            const __m128i bytes = _mm_loadu_si128((const __m128i *)(text + base + k));
            const __m128i ends = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8((char)delimiter)),
                                              _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n')),
                                                           _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\r'))));
            stops |= (uint64_t)(uint32_t)_mm_movemask_epi8(ends) << k;
        }
        return stops;
    }
#endif
    for (size_t k = 0; k < 64 && base + k < n_bytes; k++) {
        const uint8_t byte = text[base + k];
        stops |= (uint64_t)(byte == delimiter || linred_is_line_end(byte)) << k;
    }
    return stops;
}

/* 64 bytes of the block, and the stops among them that have not been passed. */
typedef struct {
    size_t base;
    uint64_t stops;
} linred_csv_window;

/* Returns the first stop at or after `from`, or n_bytes if there is none. `from` must not decrease between calls. */
LINRED_INLINE size_t linred_csv_next_stop(const linred_csv_block *block, linred_csv_window *window, size_t from) {
    if (from >= window->base + 64) {
        window->base = from;
        window->stops = linred_csv_stops(block->text, from, block->n_bytes, block->delimiter);
    } else {
        window->stops &= ~(uint64_t)0 << (from - window->base);
    }
    while (!window->stops) {
        window->base += 64;
        if (window->base >= block->n_bytes) return block->n_bytes;
        window->stops = linred_csv_stops(block->text, window->base, block->n_bytes, block->delimiter);
    }
    return window->base + linred_lowest_bit(window->stops);
}

/* Writes the bounds of the fields of all complete records, 2 n_slots for each record. The caller provides room for
 * n_bytes / n_columns + 1 records. */
static inline int linred_csv_split(const linred_csv_block *block, uint32_t *bounds, linred_csv_found *found) {
    const uint8_t *text = block->text, delimiter = block->delimiter;
    const size_t n_bytes = block->n_bytes;
    linred_csv_window window = {0, linred_csv_stops(text, 0, n_bytes, delimiter)};
    found->n_records = found->n_bytes = 0;
    found->n_fields = 0;
    for (size_t i = 0; i < n_bytes; found->n_bytes = i) {
        if (block->n_columns > 1 && linred_is_line_end(text[i])) {
            i++;
            continue;
        }
        int column = 0;
        for (;; i++) { /* starts at the byte after a delimiter, or at the first byte of the record */
            const size_t begin = i;
            const int quoted = i < n_bytes && text[i] == '"';
            i = quoted ? linred_csv_quoted_end(text, i, n_bytes) : linred_csv_next_stop(block, &window, i);
            if (i >= n_bytes && !block->is_last) return LINRED_CSV_OK;
            if (i > n_bytes) return LINRED_CSV_UNCLOSED;
            if (quoted && i < n_bytes && text[i] != delimiter && !linred_is_line_end(text[i]))
                return LINRED_CSV_AFTER_QUOTE;
            if (column < block->n_columns && block->slot_of[column] >= 0) {
                uint32_t *at = bounds + 2 * block->slot_of[column];
                at[0] = (uint32_t)begin;
                at[1] = (uint32_t)i;
            }
            column++;
            if (i >= n_bytes || text[i] != delimiter) break;
        }
        if (i < n_bytes && text[i] == '\r') {
            if (i + 1 == n_bytes && !block->is_last) return LINRED_CSV_OK; /* a line feed may follow */
            i += i + 1 < n_bytes && text[i + 1] == '\n';
        }
        i += i < n_bytes;
        if (column != block->n_columns) {
            found->n_fields = column;
            return LINRED_CSV_RAGGED;
        }
        bounds += 2 * block->n_slots;
        found->n_records++;
    }
    return LINRED_CSV_OK;
}

typedef struct {
    const uint8_t *bytes;
    size_t n_bytes;
} linred_csv_value;

/* Returns the value of a field: its bytes, or the bytes between its quotes. If doubled quotes occur, the value is
 * written to `room` with single ones. */
LINRED_INLINE linred_csv_value linred_csv_value_of(const uint8_t *text, const uint32_t *bounds, uint8_t *room) {
    linred_csv_value value = {text + bounds[0], bounds[1] - bounds[0]};
    if (value.n_bytes == 0 || value.bytes[0] != '"') return value;
    value.bytes++;
    value.n_bytes -= 2;
    if (!memchr(value.bytes, '"', value.n_bytes)) return value;
    size_t n_bytes = 0;
    for (size_t i = 0; i < value.n_bytes; i++) {
        room[n_bytes++] = value.bytes[i];
        i += value.bytes[i] == '"';
    }
    return (linred_csv_value){room, n_bytes};
}

/* The first 32 bytes of a value, with zeros after its end. Short values are compared without a branch on their
 * length. */
enum { LINRED_CSV_HEAD = 32 };

typedef struct {
    uint64_t word[LINRED_CSV_HEAD / 8];
} linred_csv_head;

/* `n_readable` is the number of bytes that may be read from the start of the value, including bytes after its end. */
LINRED_INLINE linred_csv_head linred_csv_head_of(linred_csv_value value, size_t n_readable) {
    static const uint64_t masks[2 * LINRED_CSV_HEAD / 8] = {~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0};
    linred_csv_head head = {{0}}, mask;
    const size_t n_bytes = value.n_bytes < LINRED_CSV_HEAD ? value.n_bytes : LINRED_CSV_HEAD;
    if (n_readable < LINRED_CSV_HEAD) {
        memcpy(&head, value.bytes, n_bytes);
        return head;
    }
    memcpy(&head, value.bytes, sizeof head);
    memcpy(&mask, (const uint8_t *)masks + LINRED_CSV_HEAD - n_bytes, sizeof mask);
    for (int k = 0; k < LINRED_CSV_HEAD / 8; k++) head.word[k] &= mask.word[k];
    return head;
}

LINRED_INLINE uint32_t linred_csv_hash(const linred_csv_head *head, size_t n_bytes) {
    uint64_t hash = head->word[0] * 0x9e3779b97f4a7c15u ^ head->word[1] * 0xd6e8feb86659fd93u;
    hash += head->word[2] * 0xa0761d6478bd642fu ^ head->word[3] * 0xe7037ed1a0b428dbu;
    hash += n_bytes * 0x8ebc6af09c88c6e3u;
    return (uint32_t)(hash >> 32) ^ (uint32_t)(hash >> 15);
}

/* Concatenated labels and their hash index. The number of places is a power of two, and at least half of them are
 * free. */
typedef struct {
    linred_csv_head head;
    uint32_t n_bytes;
    uint32_t label; /* the label plus 1, or 0 if the place is free */
} linred_csv_place;

typedef struct {
    const uint8_t *bytes;
    const uint32_t *begins; /* n_labels + 1 */
    uint32_t n_labels;
    uint32_t mask;
    linred_csv_place *places;
    uint32_t missing; /* the code of an empty field */
} linred_csv_labels;

/* Returns the index of the label that equals a value, or n_labels if there is none. */
LINRED_INLINE uint32_t linred_csv_find(const linred_csv_labels *labels, linred_csv_value value, size_t n_readable) {
    const linred_csv_head head = linred_csv_head_of(value, n_readable);
    uint32_t at = linred_csv_hash(&head, value.n_bytes) & labels->mask;
    for (;; at = (at + 1) & labels->mask) {
        const linred_csv_place *place = labels->places + at;
        if (!place->label) return labels->n_labels;
        uint64_t differs = place->n_bytes ^ (uint64_t)value.n_bytes;
        for (int k = 0; k < LINRED_CSV_HEAD / 8; k++) differs |= place->head.word[k] ^ head.word[k];
        if (differs) continue;
        if (value.n_bytes <= LINRED_CSV_HEAD ||
            memcmp(labels->bytes + labels->begins[place->label - 1], value.bytes, value.n_bytes) == 0)
            return place->label - 1;
    }
}

/* Puts all labels into the index, whose places must be free. */
static inline void linred_csv_index(linred_csv_labels *labels) {
    for (uint32_t label = 0; label < labels->n_labels; label++) {
        const uint32_t begin = labels->begins[label], n_bytes = labels->begins[label + 1] - begin;
        const linred_csv_value value = {labels->bytes + begin, n_bytes};
        const linred_csv_head head = linred_csv_head_of(value, 0);
        uint32_t at = linred_csv_hash(&head, n_bytes) & labels->mask;
        while (labels->places[at].label) at = (at + 1) & labels->mask;
        labels->places[at] = (linred_csv_place){head, n_bytes, label + 1};
    }
}

/* Writes the codes of one column. `bounds` are those of its slot, with `stride` bounds between records. `room` holds
 * values with doubled quotes: as many bytes as the longest value, plus LINRED_CSV_HEAD. */
static inline void linred_csv_codes(const uint8_t *text, size_t n_bytes, const uint32_t *bounds, size_t stride, size_t n_records,
                                    const linred_csv_labels *labels, uint8_t *room, uint32_t *codes) {
    for (size_t record = 0; record < n_records; record++, bounds += stride) {
        const linred_csv_value value = linred_csv_value_of(text, bounds, room);
        const size_t n_readable = value.bytes == room ? 0 : n_bytes - bounds[0] - 1;
        codes[record] = value.n_bytes ? linred_csv_find(labels, value, n_readable) : labels->missing;
    }
}

/* Writes one column as Arrow stores text: the bytes, where each value begins and where the last one ends. Returns the
 * number of bytes. */
static inline size_t linred_csv_column(const uint8_t *text, const uint32_t *bounds, size_t stride, size_t n_records,
                                       uint8_t *room, uint8_t *bytes, int32_t *begins) {
    size_t n_bytes = 0;
    for (size_t record = 0; record < n_records; record++, bounds += stride) {
        const linred_csv_value value = linred_csv_value_of(text, bounds, room);
        begins[record] = (int32_t)n_bytes;
        memcpy(bytes + n_bytes, value.bytes, value.n_bytes);
        n_bytes += value.n_bytes;
    }
    begins[n_records] = (int32_t)n_bytes;
    return n_bytes;
}

/* A part of a line: either the unchanged fields from one slot to another, or the text of a record's code. */
typedef struct {
    int first_slot, last_slot; /* -1 if it is the text of a code */
    const uint8_t *bytes;
    const uint32_t *begins;
} linred_csv_piece;

/* Copies n_bytes, if possible by a fixed larger number of bytes; later writes replace the bytes after the end. */
LINRED_INLINE uint8_t *linred_csv_put(uint8_t *to, const uint8_t *from, size_t n_bytes, size_t n_readable) {
    if (n_bytes <= LINRED_CSV_HEAD && n_readable >= LINRED_CSV_HEAD)
        memcpy(to, from, LINRED_CSV_HEAD);
    else
        memcpy(to, from, n_bytes);
    return to + n_bytes;
}

/* Writes the lines of all records and returns their number of bytes. `lines` has LINRED_CSV_HEAD more bytes than they
 * need, and as many may be read after the end of a piece's bytes. */
static inline size_t linred_csv_lines(const uint8_t *text, size_t n_bytes, const uint32_t *bounds, size_t stride, size_t n_records,
                                      const linred_csv_piece *pieces, size_t n_pieces, const uint32_t *codes,
                                      uint8_t delimiter, uint8_t *lines) {
    uint8_t *to = lines;
    for (size_t record = 0; record < n_records; record++, bounds += stride) {
        for (size_t k = 0; k < n_pieces; k++) {
            const linred_csv_piece *piece = pieces + k;
            if (piece->first_slot >= 0) {
                const uint32_t begin = bounds[2 * piece->first_slot], end = bounds[2 * piece->last_slot + 1];
                to = linred_csv_put(to, text + begin, end - begin, n_bytes - begin);
            } else {
                const uint32_t begin = piece->begins[codes[record]], end = piece->begins[codes[record] + 1];
                to = linred_csv_put(to, piece->bytes + begin, end - begin, LINRED_CSV_HEAD);
            }
            *to++ = delimiter;
        }
        to[-1] = '\n';
    }
    return (size_t)(to - lines);
}

#endif

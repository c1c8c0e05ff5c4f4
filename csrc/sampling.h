/* Samples Y from (S, X) by integer alias tables, with random words that the caller provides.
 *
 * A row (s, x) keeps x if a 64-bit word u is below its `keep`; otherwise a second word v samples its alias cells.
 * The first stage decides most records by the first bits of one of the two words, which it gets for every record:
 *   - by the first 8 bits of v, if keep is 0 in every row and tables have 256 cells; `settled` holds the cells with one
 *     symbol;
 *   - by the first 16 bits of u otherwise; `keep_top` holds the first 16 bits of keep.
 * Records that it cannot decide are pending. The second stage samples them. It gets a random block of 16 bytes for
 * each: u and v, little-endian. The bits that the first stage used replace the first bits of u or v.
 *
 * Weights of rows and of tables are out of 2^64, unless `limits` is given: then they are out of the limit of the row
 * or table. Words at or above the limit are rejected, and the record stays pending for another block. A record that
 * was found to move keeps that decision. */
#ifndef LINRED_SAMPLING_H
#define LINRED_SAMPLING_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "alias.h"
#include "codes.h"
#include "simd.h"

#define LINRED_SAMPLE_BLOCK 2048
#define LINRED_PENDING 255 /* not a code: an alphabet with `settled` has at most 255 symbols */
#define LINRED_MOVES ((uint32_t)1 << 31) /* marks the row of a pending record whose x is not kept */

enum { LINRED_SAMPLE_OK = 0, LINRED_SAMPLE_S_OUT_OF_RANGE = 1, LINRED_SAMPLE_X_OUT_OF_RANGE = 2 };

typedef struct {
    uint32_t n_s, n_x; /* n_s is 0 if the mechanism does not use S */
    int shift;         /* the row of (s, x) is s << shift | x */
    const linred_row *rows;
    const linred_cell *cells;
    const uint8_t *settled;   /* 256 entries for each row, y or LINRED_PENDING; if NULL, keep_top is used */
    const uint16_t *keep_top; /* one entry for each row, and one more */
    const uint8_t *runs;      /* `settled` as runs of equal codes, for at most 16 rows; NULL otherwise. Each run has */
    size_t n_runs;            /* 16 words at which it begins and 16 codes, one for each row */
    const uint64_t *limits;   /* one for each row if tables are in whole numbers; NULL if out of 2^64 */
} linred_sampler;

typedef struct {
    const char *s, *x; /* y may be x itself */
    char *y;
    int s_width, x_width; /* bytes of a code: 1, 2, 4 or 8; y has the width of x */
} linred_columns;

/* The pending records: their positions and their rows. There is room for all records and one more. */
typedef struct {
    uint32_t *position, *row;
} linred_pending;

/* Writes the rows of n records from `start` on. Returns which column has a code out of range, if any. */
LINRED_INLINE int linred_rows_of(const linred_sampler *by, const linred_columns *of, size_t start, size_t n,
                                 uint32_t *row) {
    const char *x = of->x + start * of->x_width;
    if (by->n_s == 0)
        return linred_index_from(x, of->x_width, n, by->n_x - 1, 0, row) ? LINRED_SAMPLE_X_OUT_OF_RANGE : 0;
    if (linred_index_from(of->s + start * of->s_width, of->s_width, n, by->n_s - 1, by->shift, row))
        return LINRED_SAMPLE_S_OUT_OF_RANGE;
    return linred_index_plus(x, of->x_width, n, by->n_x - 1, row) ? LINRED_SAMPLE_X_OUT_OF_RANGE : 0;
}

static inline int linred_check_codes(const linred_sampler *by, const linred_columns *of, size_t n_records) {
    uint32_t row[LINRED_SAMPLE_BLOCK];
    int code = LINRED_SAMPLE_OK;
    for (size_t start = 0; start < n_records && code == LINRED_SAMPLE_OK; start += LINRED_SAMPLE_BLOCK) {
        const size_t left = n_records - start;
        code = linred_rows_of(by, of, start, left < LINRED_SAMPLE_BLOCK ? left : LINRED_SAMPLE_BLOCK, row);
    }
    return code;
}

LINRED_INLINE void linred_store_codes(const uint8_t *code, size_t n, int width, char *to) {
    if (width == 1) memcpy(to, code, n);
    if (width == 2)
        for (size_t i = 0; i < n; i++) ((uint16_t *)to)[i] = code[i];
    if (width == 4)
        for (size_t i = 0; i < n; i++) ((uint32_t *)to)[i] = code[i];
    if (width == 8)
        for (size_t i = 0; i < n; i++) ((uint64_t *)to)[i] = code[i];
}

static inline void linred_store_code(uint32_t code, size_t position, int width, char *to) {
    if (width == 1) ((uint8_t *)to)[position] = (uint8_t)code;
    if (width == 2) ((uint16_t *)to)[position] = (uint16_t)code;
    if (width == 4) ((uint32_t *)to)[position] = code;
    if (width == 8) ((uint64_t *)to)[position] = code;
}

/* y[i] = settled[row[i]][word[i]]. */
static inline void linred_look_up_serial(const uint8_t *settled, const uint32_t *row, const uint8_t *word, size_t n,
                                         uint8_t *y) {
    for (size_t i = 0; i < n; i++) y[i] = settled[(row[i] << 8) + word[i]];
}

/* Appends the records whose y is pending to a list of n_pending records, and returns the new length. */
static inline size_t linred_list_pending_serial(const uint8_t *y, const uint32_t *row, size_t n, size_t start,
                                                linred_pending to, size_t n_pending) {
    for (size_t i = 0; i < n; i++) {
        to.position[n_pending] = (uint32_t)(start + i);
        to.row[n_pending] = row[i];
        n_pending += y[i] == LINRED_PENDING;
    }
    return n_pending;
}

/* Appends the records whose word is not below the first bits of keep, in the same way. */
static inline size_t linred_list_unkept_serial(const uint16_t *keep_top, const uint32_t *row, const uint8_t *word,
                                               size_t n, size_t start, linred_pending to, size_t n_pending) {
    for (size_t i = 0; i < n; i++) {
        to.position[n_pending] = (uint32_t)(start + i);
        to.row[n_pending] = row[i];
        n_pending += (uint32_t)(word[2 * i] | word[2 * i + 1] << 8) >= keep_top[row[i]];
    }
    return n_pending;
}

/* The first stage for n_records < 2^32, with words of 1 byte (settled) or 2 bytes (keep_top).
 * Writes y, with arbitrary values for pending records, and the number of these to *n_pending. */
#define LINRED_DEFINE_FIRST_STAGE(variant)                                                                            \
    static inline int linred_first_stage_##variant(const linred_sampler *by, const linred_columns *of,               \
                                                   size_t n_records, const uint8_t *words, linred_pending to,        \
                                                   size_t *n_pending) {                                              \
        uint32_t row[LINRED_SAMPLE_BLOCK];                                                                           \
        uint8_t y[LINRED_SAMPLE_BLOCK];                                                                              \
        *n_pending = 0;                                                                                              \
        for (size_t start = 0; start < n_records; start += LINRED_SAMPLE_BLOCK) {                                    \
            const size_t left = n_records - start, n = left < LINRED_SAMPLE_BLOCK ? left : LINRED_SAMPLE_BLOCK;      \
            const size_t offset = start * of->x_width;                                                               \
            const int code = linred_rows_of(by, of, start, n, row);                                                  \
            if (code != LINRED_SAMPLE_OK) return code;                                                               \
            if (by->settled != NULL) {                                                                               \
                linred_look_up_##variant(by->settled, row, words + start, n, y);                                     \
                linred_store_codes(y, n, of->x_width, of->y + offset);                                               \
                *n_pending = linred_list_pending_##variant(y, row, n, start, to, *n_pending);                        \
            } else {                                                                                                 \
                if (of->y != of->x) memcpy(of->y + offset, of->x + offset, n * of->x_width);                         \
                *n_pending = linred_list_unkept_##variant(by->keep_top, row, words + 2 * start, n, start, to,        \
                                                          *n_pending);                                               \
            }                                                                                                        \
        }                                                                                                            \
        return LINRED_SAMPLE_OK;                                                                                     \
    }
LINRED_DEFINE_FIRST_STAGE(serial)

#if LINRED_BUILDS_AVX2
LINRED_AVX2 static inline void linred_look_up_any_rows_avx2(const uint8_t *settled, const uint32_t *row,
                                                            const uint8_t *word, size_t n, uint8_t *y) {
    uint32_t cell[LINRED_SAMPLE_BLOCK];
    for (size_t i = 0; i < n; i++) cell[i] = (row[i] << 8) + word[i];
    size_t i = 0;
    for (; i + 8 <= n; i += 8) { /* stores eight codes at once and loads two indices at once */
        uint64_t pair[4], eight = 0;
        memcpy(pair, cell + i, sizeof pair);
        for (int j = 0; j < 4; j++)
            eight |= (uint64_t)settled[(uint32_t)pair[j]] << (16 * j) |
                     (uint64_t)settled[pair[j] >> 32] << (16 * j + 8);
        memcpy(y + i, &eight, sizeof eight);
    }
    for (; i < n; i++) y[i] = settled[cell[i]];
}

static inline size_t linred_list_bits(uint64_t bits, const uint32_t *row, size_t start, linred_pending to,
                                      size_t n_pending) {
    for (; bits != 0; bits &= bits - 1, n_pending++) {
        const int i = __builtin_ctzll(bits);
        to.position[n_pending] = (uint32_t)(start + i);
        to.row[n_pending] = row[i];
    }
    return n_pending;
}

LINRED_AVX2 static inline size_t linred_list_pending_any_rows_avx2(const uint8_t *y, const uint32_t *row, size_t n,
                                                                   size_t start, linred_pending to,
                                                                   size_t n_pending) {
    const __m256i pending = _mm256_set1_epi8((char)LINRED_PENDING);
    size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m256i codes = _mm256_loadu_si256((const __m256i *)(y + i));
        const uint32_t bits = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(codes, pending));
        n_pending = linred_list_bits(bits, row + i, start + i, to, n_pending);
    }
    return linred_list_pending_serial(y + i, row + i, n - i, start + i, to, n_pending);
}

LINRED_AVX2 static inline uint64_t linred_eight_unkept_avx2(const uint16_t *keep_top, const uint32_t *row,
                                                            const uint8_t *word) {
    const __m256i rows = _mm256_loadu_si256((const __m256i *)row);
    const __m256i pairs = _mm256_i32gather_epi32((const int *)keep_top, rows, 2); /* an entry and the next one */
    const __m256i tops = _mm256_and_si256(pairs, _mm256_set1_epi32(0xffff));
    const __m256i words = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)word));
    return ~(uint64_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(tops, words))) & 0xff;
}

LINRED_AVX2 static inline size_t linred_list_unkept_any_rows_avx2(const uint16_t *keep_top, const uint32_t *row,
                                                                  const uint8_t *word, size_t n, size_t start,
                                                                  linred_pending to, size_t n_pending) {
    size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        uint64_t bits = 0;
        for (size_t j = 0; j < 64; j += 8)
            bits |= linred_eight_unkept_avx2(keep_top, row + i + j, word + 2 * (i + j)) << j;
        n_pending = linred_list_bits(bits, row + i, start + i, to, n_pending);
    }
    return linred_list_unkept_serial(keep_top, row + i, word + 2 * i, n - i, start + i, to, n_pending);
}

LINRED_AVX2 LINRED_DEFINE_FIRST_STAGE(any_rows_avx2)

/* Returns y of 32 records with rows below 16. The run of a word is the last one that begins at or below it. */
LINRED_AVX2 static inline __m256i linred_look_up_runs_avx2(const uint8_t *runs, size_t n_runs, __m256i rows,
                                                           __m256i words) {
    __m256i y = _mm256_setzero_si256();
    for (size_t run = 0; run < n_runs; run++) {
        const __m128i *of_rows = (const __m128i *)(runs + 32 * run);
        const __m256i begins = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(of_rows)), rows);
        const __m256i codes = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(of_rows + 1)), rows);
        y = _mm256_blendv_epi8(y, codes, _mm256_cmpeq_epi8(_mm256_max_epu8(words, begins), words));
    }
    return y;
}

/* Returns the codes of four cells, whose indices are four 16-bit words. */
LINRED_INLINE uint64_t linred_four_codes(const uint8_t *settled, uint64_t four) {
    return (uint64_t)settled[four & 0xffff] | (uint64_t)settled[four >> 16 & 0xffff] << 8 |
           (uint64_t)settled[four >> 32 & 0xffff] << 16 | (uint64_t)settled[four >> 48] << 24;
}

LINRED_AVX2 static inline __m128i linred_sixteen_codes_avx2(const uint8_t *settled, __m256i cells) {
    const __m128i low = _mm256_castsi256_si128(cells), high = _mm256_extracti128_si256(cells, 1);
    const uint64_t first = linred_four_codes(settled, (uint64_t)_mm_cvtsi128_si64(low)) |
                           linred_four_codes(settled, (uint64_t)_mm_extract_epi64(low, 1)) << 32;
    const uint64_t second = linred_four_codes(settled, (uint64_t)_mm_cvtsi128_si64(high)) |
                            linred_four_codes(settled, (uint64_t)_mm_extract_epi64(high, 1)) << 32;
    return _mm_set_epi64x((long long)second, (long long)first);
}

/* Returns y of 32 records by `settled`. The index of a cell is two bytes: its word and its row. */
LINRED_AVX2 static inline __m256i linred_look_up_bytes_avx2(const uint8_t *settled, __m256i rows, __m256i words) {
    /* unpacking works within halves: low has records 0-7 and 16-23, and high has the others */
    const __m256i low = _mm256_unpacklo_epi8(words, rows), high = _mm256_unpackhi_epi8(words, rows);
    return _mm256_set_m128i(linred_sixteen_codes_avx2(settled, _mm256_permute2x128_si256(low, high, 0x31)),
                            linred_sixteen_codes_avx2(settled, _mm256_permute2x128_si256(low, high, 0x20)));
}

/* The first stage for one-byte codes and at most 256 rows: 32 records at a time, with their rows in a register. */
LINRED_AVX2 static inline int linred_first_stage_bytes_avx2(const linred_sampler *by, const linred_columns *of,
                                                            size_t n_records, const uint8_t *words, linred_pending to,
                                                            size_t *n_pending) {
    const uint8_t *s = (const uint8_t *)of->s, *x = (const uint8_t *)of->x;
    const __m256i pending = _mm256_set1_epi8((char)LINRED_PENDING);
    const __m256i last_s = _mm256_set1_epi8((char)(by->n_s - 1)), last_x = _mm256_set1_epi8((char)(by->n_x - 1));
    __m256i s_above = _mm256_setzero_si256(), x_above = _mm256_setzero_si256();
    size_t i = 0, n = 0;
    for (; i + 32 <= n_records; i += 32) {
        __m256i rows = _mm256_loadu_si256((const __m256i *)(x + i));
        const __m256i word = _mm256_loadu_si256((const __m256i *)(words + i));
        x_above = _mm256_or_si256(x_above, _mm256_subs_epu8(rows, last_x));
        if (by->n_s != 0) {
            const __m256i s_codes = _mm256_loadu_si256((const __m256i *)(s + i));
            s_above = _mm256_or_si256(s_above, _mm256_subs_epu8(s_codes, last_s));
            rows = _mm256_or_si256(rows, _mm256_sll_epi16(s_codes, _mm_cvtsi32_si128(by->shift)));
        }
        if (!_mm256_testz_si256(_mm256_or_si256(s_above, x_above), _mm256_set1_epi8(-1))) break;
        const __m256i y = by->runs != NULL ? linred_look_up_runs_avx2(by->runs, by->n_runs, rows, word)
                                           : linred_look_up_bytes_avx2(by->settled, rows, word);
        _mm256_storeu_si256((__m256i *)(of->y + i), y);
        uint32_t bits = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(y, pending));
        if (bits == 0) continue;
        uint8_t row[32];
        _mm256_storeu_si256((__m256i *)row, rows);
        for (; bits != 0; bits &= bits - 1, n++) {
            const int j = __builtin_ctz(bits);
            to.position[n] = (uint32_t)(i + j);
            to.row[n] = row[j];
        }
    }
    const linred_columns rest = {of->s == NULL ? NULL : of->s + i, of->x + i, of->y + i, 1, 1};
    linred_pending after = {to.position + n, to.row + n};
    size_t n_after;
    const int code = linred_first_stage_serial(by, &rest, n_records - i, words + i, after, &n_after);
    for (size_t j = 0; j < n_after; j++) after.position[j] += (uint32_t)i;
    *n_pending = n + n_after;
    return code;
}

static inline int linred_first_stage_avx2(const linred_sampler *by, const linred_columns *of, size_t n_records,
                                          const uint8_t *words, linred_pending to, size_t *n_pending) {
    const size_t n_rows = by->n_s == 0 ? by->n_x : (size_t)by->n_s << by->shift;
    if (by->settled != NULL && n_rows <= 256 && of->x_width == 1 && (by->n_s == 0 || of->s_width == 1))
        return linred_first_stage_bytes_avx2(by, of, n_records, words, to, n_pending);
    return linred_first_stage_any_rows_avx2(by, of, n_records, words, to, n_pending);
}
#else
#define linred_first_stage_avx2 NULL /* not built: see simd.runnable */
#endif

/* Makes all records pending, if there is no first stage. */
static inline int linred_no_first_stage(const linred_sampler *by, const linred_columns *of, size_t n_records,
                                        linred_pending to) {
    int code = LINRED_SAMPLE_OK;
    for (size_t start = 0; start < n_records && code == LINRED_SAMPLE_OK; start += LINRED_SAMPLE_BLOCK) {
        const size_t left = n_records - start, n = left < LINRED_SAMPLE_BLOCK ? left : LINRED_SAMPLE_BLOCK;
        for (size_t i = 0; i < n; i++) to.position[start + i] = (uint32_t)(start + i);
        code = linred_rows_of(by, of, start, n, to.row + start);
    }
    return code;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
static inline void linred_store_big_endian(uint64_t value, uint8_t *to) {
    value = __builtin_bswap64(value);
    memcpy(to, &value, sizeof value);
}

static inline uint64_t linred_load_little_endian(const uint8_t *from) {
    uint64_t value;
    memcpy(&value, from, sizeof value);
    return value;
}
#else
static inline void linred_store_big_endian(uint64_t value, uint8_t *to) {
    for (int i = 0; i < 8; i++) to[i] = (uint8_t)(value >> (56 - 8 * i));
}

static inline uint64_t linred_load_little_endian(const uint8_t *from) {
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value |= (uint64_t)from[i] << (8 * i);
    return value;
}
#endif

/* counters[j] = start + position[j], in the format of the cipher: 16 bytes, most significant byte first. */
static inline void linred_count_from(uint64_t start, const uint32_t *position, size_t n, uint8_t *counters) {
    for (size_t j = 0; j < n; j++) {
        linred_store_big_endian(0, counters + 16 * j);
        linred_store_big_endian(start + position[j], counters + 16 * j + 8);
    }
}

/* Returns the first words of a pending record, with the bits that the first stage used. */
LINRED_INLINE void linred_words_of(const linred_sampler *by, const uint8_t *words, size_t position,
                                   const uint8_t *block, uint64_t *u, uint64_t *v) {
    *u = linred_load_little_endian(block);
    *v = linred_load_little_endian(block + 8);
    if (words == NULL) return;
    if (by->settled != NULL)
        *v = *v >> 8 | (uint64_t)words[position] << 56;
    else
        *u = *u >> 16 | (uint64_t)words[2 * position] << 48 | (uint64_t)words[2 * position + 1] << 56;
}

/* Samples the pending records, each by its own block. `words` are those of the first stage, or NULL without one. */
static inline void linred_second_stage(const linred_sampler *by, linred_pending pending, size_t n_pending,
                                       const uint8_t *words, const uint8_t *blocks, int y_width, char *y) {
    const uint32_t x_mask = by->n_s == 0 ? UINT32_MAX : ((uint32_t)1 << by->shift) - 1;
    for (size_t j = 0; j < n_pending; j++) {
        const uint32_t position = pending.position[j], row_index = pending.row[j];
        if (j + 16 < n_pending) LINRED_PREFETCH(by->rows + pending.row[j + 16]);
        const linred_row row = by->rows[row_index];
        uint64_t u, v;
        linred_words_of(by, words, position, blocks + 16 * j, &u, &v);
        const uint32_t drawn = linred_draw(by->cells + row.first_cell, (int)row.log2_cells, v);
        linred_store_code(u < row.keep ? row_index & x_mask : drawn, position, y_width, y);
    }
}

/* Does the same with tables in whole numbers. Records whose words are rejected stay pending, in their order.
 * Returns how many these are. */
static inline size_t linred_second_stage_whole(const linred_sampler *by, linred_pending pending, size_t n_pending,
                                               const uint8_t *words, const uint8_t *blocks, int y_width, char *y) {
    const uint32_t x_mask = by->n_s == 0 ? ~LINRED_MOVES : ((uint32_t)1 << by->shift) - 1;
    size_t n_left = 0;
    for (size_t j = 0; j < n_pending; j++) {
        const uint32_t position = pending.position[j], row_index = pending.row[j] & ~LINRED_MOVES;
        const linred_row row = by->rows[row_index];
        uint32_t moves = pending.row[j] & LINRED_MOVES, drawn;
        uint64_t u, v;
        linred_words_of(by, words, position, blocks + 16 * j, &u, &v);
        if (!moves && u < row.keep) {
            linred_store_code(row_index & x_mask, position, y_width, y);
            continue;
        }
        if (u < by->limits[row_index]) moves = LINRED_MOVES;
        if (moves && linred_draw_whole(by->cells + row.first_cell, (int)row.log2_cells, v, &drawn)) {
            linred_store_code(drawn, position, y_width, y);
            continue;
        }
        pending.position[n_left] = position;
        pending.row[n_left++] = row_index | moves;
    }
    return n_left;
}

#endif

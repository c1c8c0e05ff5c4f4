/* counts[s * n_x + x] = number of records (s, x), for columns of 1, 2, 4 or 8 byte codes.
 *
 * A block of records becomes one column of cell indices in a buffer that stays in the first-level cache. Codes are
 * checked there, so a code out of range stops the count before its block is counted. Rows of the working table are
 * padded to 2^shift cells, because baseline vector units can shift 32-bit numbers but not multiply them. Neighbouring
 * records are counted in different copies of the table, because equal neighbours would wait for each other's store. */
#ifndef LINRED_COUNTING_H
#define LINRED_COUNTING_H

#include <stddef.h>
#include <stdint.h>

#include "codes.h"

#define LINRED_COUNT_BLOCK 2048
/* The number of records after which the 32-bit working table is added to the 64-bit counts and cleared. */
#define LINRED_COUNT_FLUSH ((size_t)1 << 31)

enum { LINRED_COUNT_OK = 0, LINRED_COUNT_S_OUT_OF_RANGE = 1, LINRED_COUNT_X_OUT_OF_RANGE = 2 };

/* Counts a block of indices; working holds n_copies tables of n_cells each. */
static inline void linred_tally(const uint32_t *index, size_t n, uint32_t *working, size_t n_cells, int n_copies) {
    uint32_t *copy[4];
    for (int i = 0; i < 4; i++) copy[i] = working + (i % n_copies) * n_cells;
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        copy[0][index[i]]++;
        copy[1][index[i + 1]]++;
        copy[2][index[i + 2]]++;
        copy[3][index[i + 3]]++;
    }
    for (; i < n; i++) working[index[i]]++;
}

typedef struct {
    uint32_t *working; /* n_copies * n_s << shift zeros */
    int n_copies;      /* 1, 2 or 4 */
    int shift;         /* n_x <= 2^shift */
    uint32_t n_s, n_x;
    int64_t *counts; /* n_s * n_x zeros */
} linred_counter;

static inline void linred_empty(linred_counter to) {
    for (int copy = 0; copy < to.n_copies; copy++) {
        for (size_t s = 0; s < to.n_s; s++) {
            uint32_t *row = to.working + ((copy * (size_t)to.n_s + s) << to.shift);
            for (size_t x = 0; x < to.n_x; x++) {
                to.counts[s * to.n_x + x] += row[x];
                row[x] = 0;
            }
        }
    }
}

static inline int linred_count_pairs(const char *s_codes, int s_width, const char *x_codes, int x_width,
                                     size_t n_records, linred_counter to) {
    uint32_t index[LINRED_COUNT_BLOCK];
    for (size_t start = 0; start < n_records; start += LINRED_COUNT_BLOCK) {
        const size_t left = n_records - start, n = left < LINRED_COUNT_BLOCK ? left : LINRED_COUNT_BLOCK;
        if (linred_index_from(s_codes + start * s_width, s_width, n, to.n_s - 1, to.shift, index))
            return LINRED_COUNT_S_OUT_OF_RANGE;
        if (linred_index_plus(x_codes + start * x_width, x_width, n, to.n_x - 1, index))
            return LINRED_COUNT_X_OUT_OF_RANGE;
        linred_tally(index, n, to.working, (size_t)to.n_s << to.shift, to.n_copies);
        if ((start + n) % LINRED_COUNT_FLUSH == 0) linred_empty(to);
    }
    linred_empty(to);
    return LINRED_COUNT_OK;
}

#endif

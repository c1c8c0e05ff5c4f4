/* recoded[i] = table[codes[i]], for columns of 1, 2, 4 or 8 byte codes and tables of 1, 2 or 4 byte codes.
 *
 * A block of codes becomes a column of indices in a buffer that stays in the first-level cache. Codes are checked
 * there, so a code out of range stops the loop before its block is looked up. */
#ifndef LINRED_RECODING_H
#define LINRED_RECODING_H

#include <stddef.h>
#include <stdint.h>

#include "codes.h"

#define LINRED_RECODE_BLOCK 2048

enum { LINRED_RECODE_OK = 0, LINRED_RECODE_OUT_OF_RANGE = 1 };

#define LINRED_DEFINE_LOOKING_UP(code_t)                                                              \
    static inline void linred_look_up_##code_t(const uint32_t *index, size_t n, const code_t *table, \
                                               code_t *recoded) {                                    \
        for (size_t i = 0; i < n; i++) recoded[i] = table[index[i]];                                 \
    }
LINRED_DEFINE_LOOKING_UP(uint8_t)
LINRED_DEFINE_LOOKING_UP(uint16_t)
LINRED_DEFINE_LOOKING_UP(uint32_t)

/* The table has 1 <= n_codes <= 2^31 entries of `table_width` bytes each. */
static inline int linred_recode(const char *codes, int width, size_t n_records, const char *table, int table_width,
                                uint32_t n_codes, char *recoded) {
    uint32_t index[LINRED_RECODE_BLOCK];
    for (size_t start = 0; start < n_records; start += LINRED_RECODE_BLOCK) {
        const size_t left = n_records - start, n = left < LINRED_RECODE_BLOCK ? left : LINRED_RECODE_BLOCK;
        char *to = recoded + start * table_width;
        if (linred_index_from(codes + start * width, width, n, n_codes - 1, 0, index))
            return LINRED_RECODE_OUT_OF_RANGE;
        if (table_width == 1) linred_look_up_uint8_t(index, n, (const uint8_t *)table, (uint8_t *)to);
        else if (table_width == 2) linred_look_up_uint16_t(index, n, (const uint16_t *)table, (uint16_t *)to);
        else linred_look_up_uint32_t(index, n, (const uint32_t *)table, (uint32_t *)to);
    }
    return LINRED_RECODE_OK;
}

#endif

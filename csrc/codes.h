/* Converts columns of 1, 2, 4 or 8 byte codes to one column of indices, and checks the codes. */
#ifndef LINRED_CODES_H
#define LINRED_CODES_H

#include <stddef.h>
#include <stdint.h>

#include "simd.h"

/* index[i] = codes[i] << shift, or index[i] += codes[i]. Both return whether a code is above `largest`. Because
 * `largest` is below 2^31, either largest - code or the code itself then has the top bit of its word set. */
#define LINRED_DEFINE_INDEXING(code_t, word_t)                                                               \
    LINRED_INLINE int linred_index_from_##code_t(const code_t *codes, size_t n, uint32_t largest, int shift, \
                                                 uint32_t *index) {                                          \
        word_t top_bit = 0;                                                                                  \
        for (size_t i = 0; i < n; i++) {                                                                     \
            const word_t code = codes[i];                                                                    \
            top_bit |= code | (largest - code);                                                              \
            index[i] = (uint32_t)code << shift;                                                              \
        }                                                                                                    \
        return (int)(top_bit >> (8 * sizeof(word_t) - 1));                                                   \
    }                                                                                                        \
    LINRED_INLINE int linred_index_plus_##code_t(const code_t *codes, size_t n, uint32_t largest,            \
                                                 uint32_t *index) {                                          \
        word_t top_bit = 0;                                                                                  \
        for (size_t i = 0; i < n; i++) {                                                                     \
            const word_t code = codes[i];                                                                    \
            top_bit |= code | (largest - code);                                                              \
            index[i] += (uint32_t)code;                                                                      \
        }                                                                                                    \
        return (int)(top_bit >> (8 * sizeof(word_t) - 1));                                                   \
    }
LINRED_DEFINE_INDEXING(uint8_t, uint32_t)
LINRED_DEFINE_INDEXING(uint16_t, uint32_t)
LINRED_DEFINE_INDEXING(uint32_t, uint32_t)
LINRED_DEFINE_INDEXING(uint64_t, uint64_t)

LINRED_INLINE int linred_index_from(const char *codes, int width, size_t n, uint32_t largest, int shift,
                                    uint32_t *index) {
    if (width == 1) return linred_index_from_uint8_t((const uint8_t *)codes, n, largest, shift, index);
    if (width == 2) return linred_index_from_uint16_t((const uint16_t *)codes, n, largest, shift, index);
    if (width == 4) return linred_index_from_uint32_t((const uint32_t *)codes, n, largest, shift, index);
    return linred_index_from_uint64_t((const uint64_t *)codes, n, largest, shift, index);
}

LINRED_INLINE int linred_index_plus(const char *codes, int width, size_t n, uint32_t largest, uint32_t *index) {
    if (width == 1) return linred_index_plus_uint8_t((const uint8_t *)codes, n, largest, index);
    if (width == 2) return linred_index_plus_uint16_t((const uint16_t *)codes, n, largest, index);
    if (width == 4) return linred_index_plus_uint32_t((const uint32_t *)codes, n, largest, index);
    return linred_index_plus_uint64_t((const uint64_t *)codes, n, largest, index);
}

#endif

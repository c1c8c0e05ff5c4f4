/* Detects which vector variants this compiler can build and this processor can run. */
#ifndef LINRED_SIMD_H
#define LINRED_SIMD_H

/* LINRED_INLINE functions are always inlined, so that their loops are vectorised for the vector unit of the caller. */
#if defined(__GNUC__) || defined(__clang__)
#define LINRED_INLINE static inline __attribute__((always_inline))
#define LINRED_PREFETCH(address) __builtin_prefetch(address)
#else
#define LINRED_INLINE static inline
#define LINRED_PREFETCH(address) ((void)0)
#endif

/* Returns the position of the lowest set bit of a word that is not 0. */
LINRED_INLINE unsigned linred_lowest_bit(unsigned long long word) {
#if defined(__GNUC__) || defined(__clang__)
    return (unsigned)__builtin_ctzll(word);
#else
    unsigned place = 0;
    while (!(word >> place & 1)) place++;
    return place;
#endif
}

#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define LINRED_BUILDS_AVX2 1
#define LINRED_AVX2 __attribute__((target("avx2")))
#include <immintrin.h>
static inline int linred_runs_avx2(void) { return __builtin_cpu_supports("avx2"); }
#else
#define LINRED_BUILDS_AVX2 0
static inline int linred_runs_avx2(void) { return 0; }
#endif

#endif

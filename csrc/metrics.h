/* Extremes of the conditional matrix P(x|s), rows s, columns x, row-major.
 * Entries are finite and nonnegative: that is checked when a Joint is made. */
#ifndef LINRED_METRICS_H
#define LINRED_METRICS_H

#include <stddef.h>

#include "simd.h"

/* highest[x] = max_s matrix[s, x], lowest[x] = min_s matrix[s, x]; n_rows >= 1. One pass over the matrix. */
static inline void linred_column_extremes_serial(const double *matrix, size_t n_rows, size_t n_columns,
                                                 double *highest, double *lowest) {
    for (size_t x = 0; x < n_columns; x++) highest[x] = lowest[x] = matrix[x];
    for (size_t s = 1; s < n_rows; s++) {
        const double *row = matrix + s * n_columns;
        for (size_t x = 0; x < n_columns; x++) {
            highest[x] = row[x] > highest[x] ? row[x] : highest[x];
            lowest[x] = row[x] < lowest[x] ? row[x] : lowest[x];
        }
    }
}

#if LINRED_BUILDS_AVX2
/* Eight rows at once, so that the running extremes are read and written once for eight rows of the matrix. */
LINRED_AVX2 static inline void linred_eight_rows_extremes_avx2(const double *rows, size_t n_columns, double *highest,
                                                               double *lowest) {
    size_t x = 0;
    for (; x + 4 <= n_columns; x += 4) {
        __m256d high = _mm256_loadu_pd(highest + x), low = _mm256_loadu_pd(lowest + x);
        for (size_t r = 0; r < 8; r++) {
            const __m256d entry = _mm256_loadu_pd(rows + r * n_columns + x);
            high = _mm256_max_pd(high, entry);
            low = _mm256_min_pd(low, entry);
        }
        _mm256_storeu_pd(highest + x, high);
        _mm256_storeu_pd(lowest + x, low);
    }
    for (; x < n_columns; x++) {
        for (size_t r = 0; r < 8; r++) {
            const double entry = rows[r * n_columns + x];
            highest[x] = entry > highest[x] ? entry : highest[x];
            lowest[x] = entry < lowest[x] ? entry : lowest[x];
        }
    }
}

LINRED_AVX2 static inline void linred_column_extremes_avx2(const double *matrix, size_t n_rows, size_t n_columns,
                                                           double *highest, double *lowest) {
    const size_t rest = (n_rows - 1) % 8 + 1;
    linred_column_extremes_serial(matrix, rest, n_columns, highest, lowest);
    for (size_t s = rest; s < n_rows; s += 8)
        linred_eight_rows_extremes_avx2(matrix + s * n_columns, n_columns, highest, lowest);
}
#else
#define linred_column_extremes_avx2 linred_column_extremes_serial /* never chosen: see simd.pyx */
#endif

typedef struct {
    size_t x, s, s_prime;
    int found;
} linred_where;

/* Where P(x|s) / P(x|s') is largest over the pairs with neighbors[s, s'] != 0; neighbors is symmetric.
 * 0/0 compares false and so is skipped. The smaller entry is scaled by 2^60, exactly, so that only a true p/0
 * is infinite: doubles reach down to 2^-1074, and their ratio could overflow. */
static inline linred_where linred_worst_neighbors(const double *matrix, const unsigned char *neighbors, size_t n_rows,
                                                  size_t n_columns) {
    linred_where where = {0, 0, 0, 0};
    double worst = 0.0;
    for (size_t s = 0; s < n_rows; s++) {
        for (size_t t = s + 1; t < n_rows; t++) {
            if (!neighbors[s * n_rows + t]) continue;
            const double *a = matrix + s * n_columns, *b = matrix + t * n_columns;
            for (size_t x = 0; x < n_columns; x++) {
                const double high = a[x] > b[x] ? a[x] : b[x], low = a[x] > b[x] ? b[x] : a[x];
                const double ratio = high / (low * 0x1p60);
                if (ratio > worst) {
                    worst = ratio;
                    where.x = x;
                    where.s = a[x] > b[x] ? s : t;
                    where.s_prime = a[x] > b[x] ? t : s;
                    where.found = 1;
                }
            }
        }
    }
    return where;
}

#endif

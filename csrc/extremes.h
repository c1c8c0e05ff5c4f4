/* Extremes of the conditional matrix P(x|s), in row-major order with rows s and columns x.
 * Entries are finite and nonnegative; `Joint` checks this. */
#ifndef LINRED_EXTREMES_H
#define LINRED_EXTREMES_H

#include <stddef.h>

#include "simd.h"

static inline double linred_max(double a, double b) { return a > b ? a : b; }
static inline double linred_min(double a, double b) { return a < b ? a : b; }

/* highest[x] = max_s matrix[s, x], lowest[x] = min_s matrix[s, x]; n_rows >= 1. One pass over the matrix takes two
 * rows at a time, so that the running extremes are read and written half as often. */
static inline void linred_column_extremes_serial(const double *matrix, size_t n_rows, size_t n_columns,
                                                 double *highest, double *lowest) {
    for (size_t x = 0; x < n_columns; x++) highest[x] = lowest[x] = matrix[x];
    for (size_t s = n_rows % 2; s < n_rows; s += 2) {
        const double *row = matrix + s * n_columns, *next = row + n_columns;
        for (size_t x = 0; x < n_columns; x++) {
            highest[x] = linred_max(linred_max(row[x], next[x]), highest[x]);
            lowest[x] = linred_min(linred_min(row[x], next[x]), lowest[x]);
        }
    }
}

#if LINRED_BUILDS_AVX2
/* Takes eight rows at a time, so that the running extremes are read and written once for eight rows. */
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
            highest[x] = linred_max(rows[r * n_columns + x], highest[x]);
            lowest[x] = linred_min(rows[r * n_columns + x], lowest[x]);
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
#define linred_column_extremes_avx2 NULL /* not built: see simd.runnable */
#endif

typedef struct {
    size_t x, s, s_prime;
    int found;
} linred_where;

/* Returns the largest a[x] / b[x] or b[x] / a[x], divided by 2^60, or -1 if all of them are 0/0 (NaN never wins a
 * comparison). The smaller entry is scaled by 2^60, which is exact, so that only a true p/0 is infinite: doubles reach
 * down to 2^-1074, and their ratio could overflow. Four maxima are kept, because with a single one each step would
 * wait for the step before. */
static inline double linred_largest_ratio(const double *a, const double *b, size_t n_columns) {
    double largest[4] = {-1.0, -1.0, -1.0, -1.0};
    for (size_t start = 0; start < n_columns; start += 4) {
        const size_t n = n_columns - start < 4 ? n_columns - start : 4;
        for (size_t i = 0; i < n; i++) {
            const double a_x = a[start + i], b_x = b[start + i];
            largest[i] = linred_max(linred_max(a_x, b_x) / (linred_min(a_x, b_x) * 0x1p60), largest[i]);
        }
    }
    for (size_t i = 1; i < 4; i++) largest[0] = linred_max(largest[i], largest[0]);
    return largest[0];
}

/* Returns where P(x|s) / P(x|s') is largest over the pairs with neighbors[s, s'] != 0; neighbors is symmetric. */
static inline linred_where linred_worst_neighbors(const double *matrix, const unsigned char *neighbors, size_t n_rows,
                                                  size_t n_columns) {
    linred_where where = {0, 0, 0, 0};
    double worst = 0.0;
    for (size_t s = 0; s < n_rows; s++) {
        for (size_t t = s + 1; t < n_rows; t++) {
            if (!neighbors[s * n_rows + t]) continue;
            const double *a = matrix + s * n_columns, *b = matrix + t * n_columns;
            const double ratio = linred_largest_ratio(a, b, n_columns);
            if (!(ratio > worst)) continue;
            size_t x = 0;
            while (linred_largest_ratio(a + x, b + x, 1) != ratio) x++;
            where = (linred_where){x, a[x] > b[x] ? s : t, a[x] > b[x] ? t : s, 1};
            worst = ratio;
        }
    }
    return where;
}

#endif

/* Integer alias tables: a distribution over symbols as 2^log2_cells cells of equal weight, two symbols at most in each.
 *
 * Weights are whole numbers out of 2^64, so what is drawn is known exactly. A cell's weight is 2^(64 - log2_cells). */
#ifndef LINRED_ALIAS_H
#define LINRED_ALIAS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* own where the bits below those that pick the cell, moved to the top of the word, are below the threshold. */
typedef struct {
    uint64_t threshold;
    uint32_t own, alias; /* the same in a whole cell, whose threshold is 0 */
} linred_cell;

static inline uint32_t linred_draw(const linred_cell *cells, int log2_cells, uint64_t word) {
    const linred_cell cell = cells[(word >> 1) >> (63 - log2_cells)];
    return (word << log2_cells) < cell.threshold ? cell.own : cell.alias;
}

/* What is drawn at (s, x): x itself where a word is below keep, otherwise from 2^log2_cells cells. */
typedef struct {
    uint64_t keep; /* out of 2^64 */
    uint32_t first_cell, log2_cells;
} linred_row;

static inline int64_t linred_missing_weight(const uint64_t *weight, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += weight[i];
    return (int64_t)(0 - sum);
}

/* Weights of n >= 2 positive probabilities: each at least one, their sum 2^64, which is 0 in a word.
 *
 * Each is rounded to nearest; what then misses is spread in proportion, the fraction that one symbol cannot take going
 * to the next, and the last unit or two go to the most probable. */
static inline void linred_quantise(const double *probability, size_t n, uint64_t *weight) {
    double total = 0.0, carry = 0.0;
    size_t largest = 0;
    for (size_t i = 0; i < n; i++) {
        total += probability[i];
        if (probability[i] > probability[largest]) largest = i;
    }
    for (size_t i = 0; i < n; i++) {
        const double ideal = probability[i] / total * 0x1p64, most = 0x1.fffffffffffffp63;
        weight[i] = ideal < 1.0 ? 1 : (uint64_t)rint(ideal < most ? ideal : most);
    }
    const double missing = (double)linred_missing_weight(weight, n);
    for (size_t i = 0; i < n; i++) {
        const double wanted = missing * (probability[i] / total) + carry;
        const int64_t added = (int64_t)rint(wanted);
        if (added < 0 && weight[i] <= (uint64_t)-added) continue;
        weight[i] += (uint64_t)added;
        carry = wanted - (double)added;
    }
    weight[largest] += (uint64_t)linred_missing_weight(weight, n);
}

/* Fills the spare cells beyond one a symbol with whole cells, as many of each symbol in turn as fit. */
static inline void linred_fill_spare_cells(size_t n, size_t spare, uint64_t full, uint64_t *weight, uint32_t *whole) {
    for (size_t i = 0; i < n; i++) {
        const uint64_t fits = weight[i] / full;
        whole[i] = (uint32_t)(fits < spare ? fits : spare);
        weight[i] -= whole[i] * full;
        spare -= whole[i];
    }
}

/* Walker's pairing of n symbols with n cells, in one sweep and from the last cell down: a symbol short of a cell is
 * topped up by the first that has a cell or more, and that one, once it is short itself, is topped up in its turn. */
static inline void linred_pair_cells(const int32_t *y, size_t n, int log2_cells, uint64_t full, uint64_t *weight,
                                     uint32_t *whole, linred_cell *cells_end) {
    size_t small = 0, large = 0, swept = 0;
    while (swept < n && weight[swept] >= full) swept++;
    while (large < n && weight[large] < full) large++;
    small = swept;
    while (large < n && small < n) {
        const size_t donor = large;
        if (weight[small] == 0)
            whole[donor]++;
        else
            *--cells_end = (linred_cell){weight[small] << log2_cells, (uint32_t)y[small], (uint32_t)y[donor]};
        weight[donor] -= full - weight[small];
        while (large < n && weight[large] < full) large++;
        if (weight[donor] < full && donor < swept) {
            small = donor;
        } else {
            do swept++;
            while (swept < n && weight[swept] >= full);
            small = swept;
        }
    }
    for (; large < n; large++) /* sums are exact: who was neither topped up nor drawn upon has one cell */
        if (weight[large] == full) whole[large]++;
}

/* The 2^log2_cells >= n cells of n symbols: whole cells first, in the order of the symbols, then those that two share.
 * `weight` and `whole` (n each) are scratch; a single symbol's weight is not read. */
static inline void linred_alias_cells(const int32_t *y, size_t n, int log2_cells, uint64_t *weight, uint32_t *whole,
                                      linred_cell *cells) {
    const size_t n_cells = (size_t)1 << log2_cells;
    if (n == 1) {
        whole[0] = (uint32_t)n_cells;
    } else {
        const uint64_t full = (uint64_t)1 << (64 - log2_cells);
        linred_fill_spare_cells(n, n_cells - n, full, weight, whole);
        linred_pair_cells(y, n, log2_cells, full, weight, whole, cells + n_cells);
    }
    for (size_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < whole[i]; j++) *cells++ = (linred_cell){0, (uint32_t)y[i], (uint32_t)y[i]};
}

/* keep out of 2^64, from the smaller of keep and move: 0 only for 0, and never 2^64, for which there is no room. */
static inline uint64_t linred_keep_weight(double keep, double move) {
    const double smaller = keep < move ? keep : move;
    const uint64_t weight = smaller == 0.0 ? 0 : smaller < 0x1p-64 ? 1 : (uint64_t)rint(smaller * 0x1p64);
    return keep <= move ? weight : 0 - weight;
}

/* The rows of one s. Where x is kept for certain, the row draws from the one-symbol table first_stay + x instead. */
static inline void linred_rows_of_s(const double *keep, const double *move, const int32_t *table_of, size_t n_x,
                                    const int64_t *first_cell, const uint8_t *log2_cells, size_t first_stay,
                                    linred_row *rows) {
    for (size_t x = 0; x < n_x; x++) {
        const int stays = move[x] == 0.0;
        const size_t table = stays ? first_stay + x : (size_t)table_of[x];
        rows[x].keep = stays ? UINT64_MAX : linred_keep_weight(keep[x], move[x]);
        rows[x].first_cell = (uint32_t)first_cell[table];
        rows[x].log2_cells = log2_cells[table];
    }
}

#endif

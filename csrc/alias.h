/* Integer alias tables: a distribution over symbols as 2^log2_cells cells of equal weight, with at most two symbols
 * each.
 *
 * Weights are integers out of 2^64, so the sampled probabilities are known exactly. A cell has weight
 * 2^(64-log2_cells).
 *
 * A table in whole numbers has the same cells, but each has one symbol, `own`, and their thresholds ascend: they
 * are the cumulative weights of the symbols, in units of 2^64 over the sum, rounded down. The last threshold is the
 * limit of the table, and cells that only fill up the table repeat it. */
#ifndef LINRED_ALIAS_H
#define LINRED_ALIAS_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* The top bits of a word choose the cell. The remaining bits, shifted to the top, choose `own` if they are below the
 * threshold, and `alias` otherwise. */
typedef struct {
    uint64_t threshold;
    uint32_t own, alias; /* equal in a cell with one symbol, whose threshold is 0 */
} linred_cell;

static inline uint32_t linred_draw(const linred_cell *cells, int log2_cells, uint64_t word) {
    const linred_cell cell = cells[(word >> 1) >> (63 - log2_cells)];
    return (word << log2_cells) < cell.threshold ? cell.own : cell.alias;
}

/* Writes the symbol that a word selects from a table in whole numbers, or returns 0 if the word is rejected.
 * Every symbol is selected by as many words as its weight says, in proportion. */
static inline int linred_draw_whole(const linred_cell *cells, int log2_cells, uint64_t word, uint32_t *y) {
    size_t half = (size_t)1 << log2_cells;
    if (word >= cells[half - 1].threshold) return 0;
    while ((half >>= 1) != 0)
        if (word >= cells[half - 1].threshold) cells += half;
    *y = cells->own;
    return 1;
}

/* How the pair (s, x) is sampled: x is kept if a word is below `keep`; otherwise 2^log2_cells cells are sampled. */
typedef struct {
    uint64_t keep; /* out of 2^64 */
    uint32_t first_cell, log2_cells;
} linred_row;

static inline int64_t linred_missing_weight(const uint64_t *weight, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += weight[i];
    return (int64_t)(0 - sum);
}

/* Computes the weights of n >= 2 positive probabilities. Each is at least 1, and they sum to 2^64, which is 0 in a
 * word.
 *
 * Weights are rounded to nearest. The missing units are then spread in proportion, with the fraction that one
 * symbol cannot take carried to the next; the last unit or two go to the most probable symbol. */
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

/* Gives the spare cells, those beyond one for each symbol, to symbols in turn, as many whole cells as each can
 * fill. */
static inline void linred_fill_spare_cells(size_t n, size_t spare, uint64_t full, uint64_t *weight, uint32_t *whole) {
    for (size_t i = 0; i < n; i++) {
        const uint64_t fits = weight[i] / full;
        whole[i] = (uint32_t)(fits < spare ? fits : spare);
        weight[i] -= whole[i] * full;
        spare -= whole[i];
    }
}

/* Walker's pairing of n symbols with n cells, in one sweep from the last cell down. A symbol with less than a cell
 * is filled up by the first symbol (the donor) that has a cell or more. Once the donor has less than a cell, it is
 * filled up too. */
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
    for (; large < n; large++) /* sums are exact: a symbol that was neither filled up nor a donor has one cell */
        if (weight[large] == full) whole[large]++;
}

/* Writes the 2^log2_cells >= n cells of n symbols: whole cells first, in the order of the symbols, then shared cells.
 * `weight` and `whole` (n each) are scratch. If n is 1, the weight is not read. */
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

/* Returns keep as a weight out of 2^64, computed from the smaller of keep and move. It is 0 only if keep is 0, and
 * never 2^64, which a word cannot hold. */
static inline uint64_t linred_keep_weight(double keep, double move) {
    const double smaller = keep < move ? keep : move;
    const uint64_t weight = smaller == 0.0 ? 0 : smaller < 0x1p-64 ? 1 : (uint64_t)rint(smaller * 0x1p64);
    return keep <= move ? weight : 0 - weight;
}

/* Writes the rows of one s. If x is always kept, its row samples the one-symbol table first_stay + x instead. */
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

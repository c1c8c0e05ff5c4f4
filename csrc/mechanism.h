/* Couplings, and what is stored of them. A flow is a triple (x, y, mass): mass that goes from symbol x to symbol y. */
#ifndef LINRED_MECHANISM_H
#define LINRED_MECHANISM_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* Two remainders that differ by less than this, relative to the smaller of the two symbols they belong to,
 * differ by rounding only: without it, a tie such as .14 - .105 = .07 - .035 leaves a move of probability 1e-17. */
#define LINRED_TIE 0x1p-48

typedef struct {
    int32_t *x, *y;
    double *mass;
} linred_flows;

/* North-west corner: walk supply and demand in alphabet order and move what fits.
 * Both have n entries >= 0; their sums agree up to rounding, which the last symbol in demand takes.
 * Writes at most (nonzero supplies) + (nonzero demands) - 1 flows, ordered by x then y, and returns how many:
 * none where there is no demand at all. */
static inline size_t linred_northwest(const double *supply, const double *demand, size_t n, linred_flows out) {
    size_t n_flows = 0, y = 0, last = n;
    while (last > 0 && demand[last - 1] == 0.0) last--;
    if (last-- == 0) return 0;
    while (demand[y] == 0.0) y++;
    double wanted = y == last ? INFINITY : demand[y];
    for (size_t x = 0; x < n; x++) {
        double left = supply[x];
        while (left > 0.0) {
            if (wanted == 0.0) {
                do y++; while (demand[y] == 0.0);
                wanted = y == last ? INFINITY : demand[y];
            }
            const double mass = left < wanted ? left : wanted;
            const double tie = LINRED_TIE * (supply[x] < demand[y] ? supply[x] : demand[y]);
            out.x[n_flows] = (int32_t)x;
            out.y[n_flows] = (int32_t)y;
            out.mass[n_flows++] = mass;
            if (fabs(left - wanted) <= tie) {
                left = wanted = 0.0;
            } else {
                left -= mass;
                wanted -= mass;
            }
        }
    }
    return n_flows;
}

/* The same for the excess (delta > 0) against the deficit (delta < 0) of one row; scratch holds 2 n doubles. */
static inline size_t linred_northwest_excess(const double *delta, size_t n, double *scratch, linred_flows out) {
    double *supply = scratch, *demand = scratch + n;
    for (size_t x = 0; x < n; x++) {
        supply[x] = delta[x] > 0.0 ? delta[x] : 0.0;
        demand[x] = delta[x] < 0.0 ? -delta[x] : 0.0;
    }
    return linred_northwest(supply, demand, n, out);
}

typedef struct {
    double *keep;      /* n_x: probability of keeping x */
    int32_t *table_of; /* n_x: where x is not kept, the table to draw from */
    int64_t *indptr;   /* ends of the tables, from `n_tables` on */
    int32_t *y;        /* destinations, from `n_entries` on */
    double *probability;
} linred_tables;

/* Turn the flows out of one s, ordered by x, into keep-probabilities and one table for each x that moves.
 * complete: the flows out of x, stays included, are all of p[x]; otherwise they are the moves alone.
 * Cells with p[x] = 0 are given table 0 (the marginal) and are never kept. */
static inline void linred_tables_of_row(const double *p, size_t n_x, const int32_t *x, const int32_t *y, const double *mass,
                                        size_t n_flows, int complete, linred_tables out, int64_t *n_tables,
                                        int64_t *n_entries) {
    for (size_t i = 0; i < n_x; i++) {
        out.keep[i] = p[i] > 0.0 ? 1.0 : 0.0;
        out.table_of[i] = 0;
    }
    for (size_t start = 0, end; start < n_flows; start = end) {
        const int32_t from = x[start];
        const int64_t first = *n_entries;
        double stay = 0.0, moved = 0.0;
        for (end = start; end < n_flows && x[end] == from; end++) {
            if (y[end] == from) {
                stay += mass[end];
                continue;
            }
            moved += mass[end];
            out.y[*n_entries] = y[end];
            out.probability[(*n_entries)++] = mass[end];
        }
        if (moved == 0.0) continue;
        for (int64_t i = first; i < *n_entries; i++) out.probability[i] /= moved;
        out.keep[from] = complete ? stay / (stay + moved) : (moved < p[from] ? 1.0 - moved / p[from] : 0.0);
        out.table_of[from] = (int32_t)(*n_tables)++;
        out.indptr[*n_tables] = *n_entries;
    }
}

/* The least d(x, y+1) + d(x+1, y) - d(x, y) - d(x+1, y+1) of an n_x by n_y matrix; infinite where there is none. */
static inline double linred_monge_margin(const double *d, size_t n_x, size_t n_y) {
    double least = INFINITY;
    for (size_t x = 0; x + 1 < n_x; x++) {
        const double *row = d + x * n_y, *next = row + n_y;
        for (size_t y = 0; y + 1 < n_y; y++) {
            const double margin = (row[y + 1] - row[y]) - (next[y + 1] - next[y]);
            least = margin < least ? margin : least;
        }
    }
    return least;
}

typedef struct {
    size_t x, y, z;
    int found;
} linred_detour;

/* Whether d(x, z) > d(x, y) + d(y, z) + slack for some z, and the first such z. */
static inline int linred_shorter_by(const double *from_x, const double *from_y, size_t y, size_t n, double slack,
                                    size_t *z_out) {
    const double first_leg = from_x[y] + slack;
    int64_t n_shorter = 0;
    for (size_t z = 0; z < n; z++) n_shorter += from_x[z] > first_leg + from_y[z];
    if (n_shorter == 0) return 0;
    for (*z_out = 0; from_x[*z_out] <= first_leg + from_y[*z_out];) ++*z_out;
    return 1;
}

/* Some (x, y, z) with d(x, z) > d(x, y) + d(y, z) + slack. O(n^3); eight x at once, so that the row of a y is read from
 * memory once for all of them. */
static inline linred_detour linred_shorter_detour(const double *d, size_t n, double slack) {
    linred_detour detour = {0, 0, 0, 0};
    for (size_t start = 0; start < n; start += 8) {
        for (size_t y = 0; y < n; y++) {
            for (size_t x = start; x < start + 8 && x < n; x++) {
                if (linred_shorter_by(d + x * n, d + y * n, y, n, slack, &detour.z)) {
                    detour.x = x;
                    detour.y = y;
                    detour.found = 1;
                    return detour;
                }
            }
        }
    }
    return detour;
}

#endif

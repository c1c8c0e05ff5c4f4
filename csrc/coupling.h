/* Couplings, and what is stored of them. A flow is a triple (x, y, mass): mass that goes from symbol x to symbol y. */
#ifndef LINRED_COUPLING_H
#define LINRED_COUPLING_H

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

/* One walk of the north-west corner, from either end of the alphabet: move what fits until every demand on this side of
 * `pivot` is met. `supply` holds what each symbol has left, and is lowered. Writes flows in the order of the walk, at
 * most one for each supply that is used up and one for each demand that is met. */
static inline size_t linred_walk_to(size_t pivot, int step, double *supply, const double *supply_at_first,
                                    const double *demand, size_t n, linred_flows out) {
    size_t n_flows = 0, x = step > 0 ? 0 : n - 1;
    for (size_t y = x; y != pivot; y += step) {
        double wanted = demand[y];
        while (wanted > 0.0) {
            while (x < n && supply[x] == 0.0) x += step; /* below 0 wraps to above n */
            if (x >= n) return n_flows;
            const double mass = supply[x] < wanted ? supply[x] : wanted;
            const double tie = LINRED_TIE * (supply_at_first[x] < demand[y] ? supply_at_first[x] : demand[y]);
            out.x[n_flows] = (int32_t)x;
            out.y[n_flows] = (int32_t)y;
            out.mass[n_flows++] = mass;
            if (fabs(supply[x] - wanted) <= tie) {
                supply[x] = wanted = 0.0;
            } else {
                supply[x] -= mass;
                wanted -= mass;
            }
        }
    }
    return n_flows;
}

static inline void linred_reverse(linred_flows flows, size_t n) {
    for (size_t i = 0, j = n; i + 1 < j; i++) {
        j--;
        const int32_t x = flows.x[i], y = flows.y[i];
        const double mass = flows.mass[i];
        flows.x[i] = flows.x[j], flows.y[i] = flows.y[j], flows.mass[i] = flows.mass[j];
        flows.x[j] = x, flows.y[j] = y, flows.mass[j] = mass;
    }
}

/* North-west corner of supply with demand, which have n entries >= 0 and sums that agree up to rounding.
 *
 * Walked from both ends to the largest demand, the pivot, which gets all that is left: so what rounding leaves falls on
 * it alone, and every other demand, however small, is met to a few units in its last place. Privacy is about ratios:
 * a symbol of probability 1e-20 that got 1e-17 would break any guarantee.
 *
 * Writes at most (nonzero supplies) + (nonzero demands) - 1 flows, ordered by x then y, and returns how many; none
 * where there is no demand at all. scratch holds n doubles. */
static inline size_t linred_northwest(const double *supply, const double *demand, size_t n, double *scratch,
                                      linred_flows out) {
    size_t pivot = 0;
    double largest = 0.0;
    for (size_t y = 0; y < n; y++) {
        if (demand[y] > largest) {
            largest = demand[y];
            pivot = y;
        }
    }
    if (largest == 0.0) return 0;
    for (size_t x = 0; x < n; x++) scratch[x] = supply[x];
    size_t n_flows = linred_walk_to(pivot, 1, scratch, supply, demand, n, out);
    const linred_flows rest = {out.x + n_flows, out.y + n_flows, out.mass + n_flows};
    const size_t n_above = linred_walk_to(pivot, -1, scratch, supply, demand, n, rest);
    size_t n_rest = n_above;
    for (size_t x = n; x-- > 0;) { /* downwards too: what is above is reversed with it */
        if (scratch[x] == 0.0) continue;
        rest.x[n_rest] = (int32_t)x;
        rest.y[n_rest] = (int32_t)pivot;
        rest.mass[n_rest++] = scratch[x];
    }
    linred_reverse(rest, n_rest);
    return n_flows + n_rest;
}

/* The same for the excess (delta > 0) against the deficit (delta < 0) of one row; scratch holds 3 n doubles. */
static inline size_t linred_northwest_excess(const double *delta, size_t n, double *scratch, linred_flows out) {
    double *supply = scratch, *demand = scratch + n;
    for (size_t x = 0; x < n; x++) {
        supply[x] = delta[x] > 0.0 ? delta[x] : 0.0;
        demand[x] = delta[x] < 0.0 ? -delta[x] : 0.0;
    }
    return linred_northwest(supply, demand, n, scratch + 2 * n, out);
}

/* delta[x] = alpha (p[x] - p_x[x]), which sums to zero although both are rounded: the most probable symbol gets minus
 * the sum of the others, and not a difference of its own. That is good to an ulp of one, beside which a rare symbol is
 * nothing. Differences that are rounding alone (p_x is a sum over s) are none. */
static inline void linred_excess(const double *p, const double *p_x, size_t n, double alpha, double *delta) {
    size_t most_probable = 0;
    for (size_t x = 0; x < n; x++) {
        const double difference = p[x] - p_x[x];
        delta[x] = fabs(difference) <= LINRED_TIE * p[x] ? 0.0 : alpha * difference;
    }
    for (size_t x = 1; x < n; x++) most_probable = p[x] > p[most_probable] ? x : most_probable;
    double sum = 0.0;
    delta[most_probable] = 0.0;
    for (size_t x = 0; x < n; x++) sum += delta[x];
    delta[most_probable] = -sum;
}

typedef struct {
    double *keep, *move; /* n_x: probability of keeping x, and of drawing from its table */
    int32_t *table_of;   /* n_x: that table */
    int64_t *indptr;     /* ends of the tables, from `n_tables` on */
    int32_t *y;          /* destinations, from `n_entries` on */
    double *probability;
} linred_tables;

/* Turn the flows out of one s, ordered by x, into keep- and move-probabilities and one table for each x that moves.
 * The flows turn p into q. complete: those out of x, stays included, are all of p[x]; else they are the moves alone, and
 * what stays is q[x] where there is an excess. keep and move are each a quotient, not one minus the other, so that
 * small ones are right too. Cells with p[x] = 0 are never kept, and draw from table 0, the marginal. */
static inline void linred_tables_of_row(const double *p, const double *q, size_t n_x, const int32_t *x,
                                        const int32_t *y, const double *mass, size_t n_flows, int complete,
                                        linred_tables out, int64_t *n_tables, int64_t *n_entries) {
    for (size_t i = 0; i < n_x; i++) {
        out.keep[i] = p[i] > 0.0 ? 1.0 : 0.0;
        out.move[i] = p[i] > 0.0 ? 0.0 : 1.0;
        out.table_of[i] = 0;
    }
    int64_t table = *n_tables, entry = *n_entries; /* in registers: the outputs might alias the pointers */
    for (size_t start = 0, end; start < n_flows; start = end) {
        const int32_t from = x[start];
        const int64_t first = entry;
        double stay = 0.0, moved = 0.0;
        for (end = start; end < n_flows && x[end] == from; end++) {
            if (y[end] == from) {
                stay += mass[end];
                continue;
            }
            moved += mass[end];
            out.y[entry] = y[end];
            out.probability[entry++] = mass[end];
        }
        if (moved == 0.0) continue;
        if (!complete) stay = q[from] < p[from] ? q[from] : p[from];
        for (int64_t i = first; i < entry; i++) out.probability[i] /= moved;
        out.keep[from] = stay / (stay + moved);
        out.move[from] = moved / (stay + moved);
        out.table_of[from] = (int32_t)table++;
        out.indptr[table] = entry;
    }
    *n_tables = table;
    *n_entries = entry;
}

/* The least d(x, y+1) + d(x+1, y) - d(x, y) - d(x+1, y+1) of an n_x by n_y matrix; infinite where there is none.
 * What rounding may make of 0, relative to these four entries, is 0. */
static inline double linred_monge_margin(const double *d, size_t n_x, size_t n_y) {
    double least = INFINITY;
    for (size_t x = 0; x + 1 < n_x; x++) {
        const double *row = d + x * n_y, *next = row + n_y;
        for (size_t y = 0; y + 1 < n_y; y++) {
            const double crossing = row[y + 1] + next[y], straight = row[y] + next[y + 1];
            const double margin = crossing - straight, rounding = 0x1p-50 * (crossing + straight);
            const double beyond = margin < -rounding || margin > rounding ? margin : 0.0;
            least = beyond < least ? beyond : least;
        }
    }
    return least;
}

typedef struct {
    size_t x, y, z;
    int found;
} linred_detour;

/* Whether d(x, z) (1 - slack) > d(x, y) + d(y, z) for some z, and the first such z. */
static inline int linred_shorter_by(const double *from_x, const double *from_y, size_t y, size_t n, double slack,
                                    size_t *z_out) {
    const double first_leg = from_x[y], scale = 1.0 - slack;
    int64_t n_shorter = 0;
    for (size_t z = 0; z < n; z++) n_shorter += from_x[z] * scale > first_leg + from_y[z];
    if (n_shorter == 0) return 0;
    for (*z_out = 0; !(from_x[*z_out] * scale > first_leg + from_y[*z_out]);) ++*z_out;
    return 1;
}

/* Some (x, y, z) with d(x, z) (1 - slack) > d(x, y) + d(y, z). O(n^3); eight x at once, so that the row of a y is read
 * from memory once for all of them. */
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

/* Couplings, and the tables that store them. A flow is a triple (x, y, mass): mass that moves from symbol x to
 * symbol y. */
#ifndef LINRED_COUPLING_H
#define LINRED_COUPLING_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* Two remainders are taken as equal if they differ by less than this, relative to the smaller of the two symbols
 * that they belong to. Otherwise rounding in a tie such as .14 - .105 = .07 - .035 would leave a move of
 * probability 1e-17. */
#define LINRED_TIE 0x1p-48

typedef struct {
    int32_t *x, *y;
    double *mass;
} linred_flows;

/* One walk of the north-west corner rule, from either end of the alphabet, until every demand on this side of
 * `pivot` is met. `supply` holds what each symbol has left, and is lowered. Writes flows in the order of the walk,
 * at most one for each supply that is used up and one for each demand that is met. */
static inline size_t linred_walk_to(size_t pivot, int step, double *supply, const double *supply_at_first,
                                    const double *demand, size_t n, linred_flows out) {
    size_t n_flows = 0, x = step > 0 ? 0 : n - 1;
    for (size_t y = x; y != pivot; y += step) {
        double wanted = demand[y];
        while (wanted > 0.0) {
            while (x < n && supply[x] == 0.0) x += step; /* below 0, x wraps around to a value above n */
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

/* Couples supply with demand by the north-west corner rule. Both have n entries >= 0, and their sums agree up to
 * rounding.
 *
 * The rule walks from both ends to the largest demand, the pivot, which gets all remaining supply. Rounding errors
 * therefore fall on the pivot alone, and every other demand is met to a few units in its last place, however small
 * it is. Privacy depends on ratios: a symbol of probability 1e-20 that got 1e-17 would break any guarantee.
 *
 * Writes at most (nonzero supplies) + (nonzero demands) - 1 flows, ordered by x then y, and returns their number,
 * which is 0 if there is no demand. scratch holds n doubles. */
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
    for (size_t x = n; x-- > 0;) { /* downwards, because linred_reverse reverses these flows too */
        if (scratch[x] == 0.0) continue;
        rest.x[n_rest] = (int32_t)x;
        rest.y[n_rest] = (int32_t)pivot;
        rest.mass[n_rest++] = scratch[x];
    }
    linred_reverse(rest, n_rest);
    return n_flows + n_rest;
}

/* Couples the excess (delta > 0) of one row with its deficit (delta < 0); scratch holds 3 n doubles. */
static inline size_t linred_northwest_excess(const double *delta, size_t n, double *scratch, linred_flows out) {
    double *supply = scratch, *demand = scratch + n;
    for (size_t x = 0; x < n; x++) {
        supply[x] = delta[x] > 0.0 ? delta[x] : 0.0;
        demand[x] = delta[x] < 0.0 ? -delta[x] : 0.0;
    }
    return linred_northwest(supply, demand, n, scratch + 2 * n, out);
}

/* Computes delta[x] = alpha (p[x] - p_x[x]), with a sum of zero although p and p_x are rounded: the most probable
 * symbol gets minus the sum of the others. Its error is about an ulp of one, which is small for it but would be
 * large for a rare symbol. Differences that are no larger than rounding errors (p_x is a sum over s) become 0. */
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
    double *keep, *move; /* n_x: probability of keeping x, and of sampling its table */
    int32_t *table_of;   /* n_x: the table of x */
    int64_t *indptr;     /* ends of the tables, from `n_tables` on */
    int32_t *y;          /* destinations, from `n_entries` on */
    double *probability;
} linred_tables;

/* Turns the flows of one s, ordered by x, into keep and move probabilities and one table for each x that moves. The
 * flows turn p into q. If `complete`, the flows out of x include what stays and sum to p[x]; otherwise they are the
 * moves only, and what stays of an x with an excess is q[x]. keep and move are two quotients, rather than one minus
 * the other, so that small ones are accurate too. Cells with p[x] = 0 are never kept and sample table 0, the
 * marginal. */
static inline void linred_tables_of_row(const double *p, const double *q, size_t n_x, const int32_t *x,
                                        const int32_t *y, const double *mass, size_t n_flows, int complete,
                                        linred_tables out, int64_t *n_tables, int64_t *n_entries) {
    for (size_t i = 0; i < n_x; i++) {
        out.keep[i] = p[i] > 0.0 ? 1.0 : 0.0;
        out.move[i] = p[i] > 0.0 ? 0.0 : 1.0;
        out.table_of[i] = 0;
    }
    int64_t table = *n_tables, entry = *n_entries; /* local copies, as the outputs might alias the pointers */
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

/* Returns the smallest d(x, y+1) + d(x+1, y) - d(x, y) - d(x+1, y+1) of an n_x by n_y matrix, or infinity if it has
 * only one row or column. A value within the rounding error of these four entries counts as 0. */
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

/* Returns whether d(x, z) (1 - slack) > d(x, y) + d(y, z) for some z, and writes the first such z. */
static inline int linred_shorter_by(const double *from_x, const double *from_y, size_t y, size_t n, double slack,
                                    size_t *z_out) {
    const double first_leg = from_x[y], scale = 1.0 - slack;
    int64_t n_shorter = 0;
    for (size_t z = 0; z < n; z++) n_shorter += from_x[z] * scale > first_leg + from_y[z];
    if (n_shorter == 0) return 0;
    for (*z_out = 0; !(from_x[*z_out] * scale > first_leg + from_y[*z_out]);) ++*z_out;
    return 1;
}

/* Finds some (x, y, z) with d(x, z) (1 - slack) > d(x, y) + d(y, z), in O(n^3). Eight x are compared at once, so that
 * the row of a y is read from memory once for all of them. */
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

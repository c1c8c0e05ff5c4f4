# cython: boundscheck=False
"""Computes couplings and their tables. Twins: linred._kernels.numpy_twins.excess, .northwest, .tables_from_flows,
.monge_margin, .shorter_detour.

Bounds checks are off, because this module only takes addresses, and the address of an empty tail is one past the end.
"""

from libc.stdint cimport int32_t, int64_t

import numpy as np

cdef extern from "coupling.h" nogil:
    ctypedef struct linred_flows:
        int32_t *x
        int32_t *y
        double *mass
    ctypedef struct linred_tables:
        double *keep
        double *move
        int32_t *table_of
        int64_t *indptr
        int32_t *y
        double *probability
    ctypedef struct linred_detour:
        size_t x, y, z
        int found
    void linred_excess(const double *, const double *, size_t, double, double *)
    size_t linred_northwest(const double *, const double *, size_t, double *, linred_flows)
    size_t linred_northwest_excess(const double *, size_t, double *, linred_flows)
    void linred_tables_of_row(const double *, const double *, size_t, const int32_t *, const int32_t *, const double *,
                              size_t, int, linred_tables, int64_t *, int64_t *)
    double linred_monge_margin(const double *, size_t, size_t)
    linred_detour linred_shorter_detour(const double *, size_t, double)


def excess(const double[:, ::1] p, const double[::1] p_x, double alpha):
    """Return alpha (p - p_x), in rows that sum to zero: the most probable symbol absorbs the rounding error."""
    cdef Py_ssize_t n_s = p.shape[0], n_x = p.shape[1], s
    if n_s == 0 or n_x == 0 or p_x.shape[0] != n_x:
        raise ValueError(f"p has shape {(n_s, n_x)} and p_x {(p_x.shape[0],)}")
    delta = np.empty((n_s, n_x))
    cdef double[:, ::1] delta_view = delta
    with nogil:
        for s in range(n_s):
            linred_excess(&p[s, 0], &p_x[0], n_x, alpha, &delta_view[s, 0])
    return delta


def northwest(const double[:, ::1] supply, const double[:, ::1] demand=None):
    """Couple supply with demand by the north-west corner rule, row by row, in O(|X|) for each row.

    Without demand, positive entries of `supply` are the excess and negative entries the deficit.
    Returns (indptr, x, y, mass): row s has the flows indptr[s]:indptr[s + 1], ordered by x then y. The supply and the
    demand of each symbol are met to a relative 2^-48; the largest demand absorbs the rounding error.
    """
    cdef Py_ssize_t n_s = supply.shape[0], n_x = supply.shape[1], s, n_flows = 0
    cdef bint excess = demand is None
    if n_s == 0 or n_x == 0 or not (excess or (demand.shape[0] == n_s and demand.shape[1] == n_x)):
        demand_shape = None if excess else (demand.shape[0], demand.shape[1])
        raise ValueError(f"supply has shape {(n_s, n_x)} and demand {demand_shape}")
    most = n_s * (n_x if excess else 2 * n_x)
    indptr, mass = np.zeros(n_s + 1, np.int64), np.empty(most)
    x, y = np.empty(most, np.int32), np.empty(most, np.int32)
    cdef int64_t[::1] indptr_view = indptr
    cdef int32_t[::1] x_view = x, y_view = y
    cdef double[::1] mass_view = mass, scratch = np.empty(3 * n_x)
    cdef linred_flows out
    with nogil:
        for s in range(n_s):
            out = linred_flows(&x_view[n_flows], &y_view[n_flows], &mass_view[n_flows])
            if excess:
                n_flows += linred_northwest_excess(&supply[s, 0], n_x, &scratch[0], out)
            else:
                n_flows += linred_northwest(&supply[s, 0], &demand[s, 0], n_x, &scratch[0], out)
            indptr_view[s + 1] = n_flows
    return indptr, x[:n_flows], y[:n_flows], mass[:n_flows]


def tables_from_flows(const double[:, ::1] p, const double[:, ::1] q, const double[::1] p_y, flows, bint complete):
    """Turn couplings of the rows of p and q into tables: (keep, move, table_of, indptr, y, probability).

    Row (s, x) keeps x with probability keep[s, x], and with probability move[s, x] samples table t = table_of[s, x]:
    the symbols y[indptr[t]:indptr[t + 1]] with the probabilities at the same places, which sum to one. Table 0 is p_y,
    for the cells with p = 0. If `complete`, the flows out of (s, x) include what stays and sum to p[s, x]; otherwise
    they are its moves only. The flows of each s must be ordered by x. O(|S||X| + flows).
    """
    cdef const int64_t[::1] flow_indptr = flows[0]
    cdef const int32_t[::1] flow_x = flows[1], flow_y = flows[2]
    cdef const double[::1] flow_mass = flows[3]
    cdef Py_ssize_t n_s = p.shape[0], n_x = p.shape[1], s, start
    marginal = np.flatnonzero(p_y).astype(np.int32)
    most = marginal.size + flow_x.shape[0]
    keep, move, table_of = np.empty((n_s, n_x)), np.empty((n_s, n_x)), np.empty((n_s, n_x), np.int32)
    indptr, y, probability = np.empty(2 + flow_x.shape[0], np.int64), np.empty(most, np.int32), np.empty(most)
    indptr[:2] = 0, marginal.size
    y[:marginal.size], probability[:marginal.size] = marginal, np.asarray(p_y)[marginal]
    cdef double[:, ::1] keep_view = keep, move_view = move
    cdef int32_t[:, ::1] table_of_view = table_of
    cdef int64_t[::1] indptr_view = indptr
    cdef int32_t[::1] y_view = y
    cdef double[::1] probability_view = probability
    cdef int64_t n_tables = 1, n_entries = marginal.size
    with nogil:
        for s in range(n_s):
            start = flow_indptr[s]
            linred_tables_of_row(
                &p[s, 0], &q[s, 0], n_x, &flow_x[start], &flow_y[start], &flow_mass[start],
                flow_indptr[s + 1] - start, complete,
                linred_tables(&keep_view[s, 0], &move_view[s, 0], &table_of_view[s, 0], &indptr_view[0], &y_view[0],
                              &probability_view[0]),
                &n_tables, &n_entries)
    if n_entries < most:  # some flows were stays, which need no entries
        y, probability = y[:n_entries].copy(), probability[:n_entries].copy()
    return keep, move, table_of, indptr[:n_tables + 1].copy(), y, probability


def monge_margin(const double[:, ::1] d):
    """Return the smallest d(x, y+1) + d(x+1, y) - d(x, y) - d(x+1, y+1); rounding errors count as 0.

    Infinity for a matrix with one row or one column.
    """
    if d.shape[0] == 0 or d.shape[1] == 0:
        raise ValueError(f"d has shape {(d.shape[0], d.shape[1])}; it needs a row and a column")
    cdef double margin
    with nogil:
        margin = linred_monge_margin(&d[0, 0], d.shape[0], d.shape[1])
    return margin


def shorter_detour(const double[:, ::1] d, double slack):
    """Return some (x, y, z) with d(x, z) (1 - slack) > d(x, y) + d(y, z), or None.

    Such a triple breaks the triangle inequality. O(|X|^3).
    """
    cdef linred_detour detour
    if d.shape[0] == 0 or d.shape[0] != d.shape[1]:
        raise ValueError(f"d has shape {(d.shape[0], d.shape[1])}; a square matrix is needed")
    with nogil:
        detour = linred_shorter_detour(&d[0, 0], d.shape[0], slack)
    return (detour.x, detour.y, detour.z) if detour.found else None

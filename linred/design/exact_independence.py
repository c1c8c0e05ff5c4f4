"""Mechanisms that use S and release the same P(y|s) for every s, exactly: an LDP of 0 at the price of Proposition 1.

Probabilities that are rounded to 64 bits differ slightly between the s. Ratios of counts need no rounding: if n_s of n
records have s, c of them x, and m_y of the n records y, then the flows from P(x|s) to P_X are multiples of 1/(n_s n),
and P(y|s,x) is a multiple of 1/(c n). The sampler draws whole numbers below c n without bias, by rejection, as long as
they are below 2^63. The LDP is 0 for the fitted P(x|s) alone.
"""

from typing import NamedTuple

import numpy as np

from linred._kernels import coupling as coupling_kernel
from linred.distribution.joint import Joint
from linred.distribution.whole_weights import marginal_weights, weights_given
from linred.mechanism.mechanism import Mechanism, drawing_from
from linred.mechanism.tables import Whole
from linred.solvers import transport, vertex_search

MOST = 2**63 - 1
"""Largest product of whole numbers."""

FEWEST_BITS = 40
"""Bits to which a P_Y other than P_X is rounded, at least."""

SAME = 1e-12
"""Relative difference up to which P_Y is P_X."""


class _Weights(NamedTuple):
    """P(x|s) = p / p.sum(axis=1) and P(y) = q / q.sum() in whole numbers; rows of s that never occur are zero."""

    p: np.ndarray
    q: np.ndarray


def independent(joint, p_y, name, *, coupling="northwest", distortion=None):
    """Return the mechanism with P(y|s) = P(y) for every s that costs least, with its gap.

    If its whole numbers would exceed 2^63, y is drawn from P(y) independently of s and x, which costs far more.
    """
    found = exactly_coupled(joint, p_y, name=name, coupling=coupling, distortion=distortion)
    return drawing_from(joint, p_y, name) if found is None else found


def exactly_coupled(joint, p_y, *, coupling="northwest", distortion=None, **about):
    """Return the mechanism of `independent` in whole numbers, or None if they would exceed 2^63.

    p_y : P_X, also with differences of a relative 1e-12, or any distribution that need not be met to the last bit.

    Guarantee
    ---------
    `sampler().certificate().ldp` is 0. P_Y is P_X exactly if the Joint has counts. With a distortion, the cost is at
    most `gap` above the least one for that P(y|s); without, the fewest records change. O(|S||X| log |X|) without a
    distortion, or with one that is Monge.
    """
    weights = _weights(joint, p_y)
    if weights is None:
        return None
    p, q = weights
    supply, demand = p * q.sum(), p.sum(axis=1, keepdims=True) * q
    kept = _is_marginal(joint, p_y)
    p_y = joint.p_x if kept else q / q.sum()
    if distortion is None and coupling == "proportional":
        parts, gap = _proportional(supply, demand, q), 0.0
    else:
        rows, complete, gaps = _flows(joint, p_y, supply, demand, coupling, distortion)
        gap = float(joint.p_s @ (gaps / np.maximum(supply.sum(axis=1), 1)))
        parts = _parts_of_flows(supply, demand, q, rows, complete)
    if kept:
        parts["alpha"] = 1.0  # this is the linear reduction
    else:
        tiled = np.tile(p_y, (len(p), 1))
        parts["released"] = Joint.from_parts(tiled, joint.p_s, p_y, joint.s_labels, joint.x_labels)
    return Mechanism(joint, sees_s=True, distortion=distortion, gap=gap, **parts, **about)


def price(joint):
    """Return the share of records that `exactly_coupled` changes for P_Y = P_X, or None if it is not possible."""
    if _weights(joint, joint.p_x) is None:
        return None
    return 0.5 * float(joint.p_s @ np.abs(joint.p_x_given_s - joint.p_x).sum(axis=1))


def _is_marginal(joint, p_y):
    return bool((np.abs(p_y - joint.p_x) <= SAME * joint.p_x).all())


def _weights(joint, p_y):
    """Return the `_Weights`, or None if products of them would exceed 2^63."""
    none = np.zeros(p_y.size, object)
    rows = [weights_given(joint, s) if p > 0.0 else none for s, p in enumerate(joint.p_s)]
    largest = max(int(row.sum()) for row in rows)
    if _is_marginal(joint, p_y):
        q = marginal_weights(joint)
    else:
        n_bits = (MOST // largest).bit_length() - 1
        if n_bits < FEWEST_BITS:
            return None
        q = np.ldexp(p_y / p_y.sum(), n_bits).astype(np.int64).astype(object)
        q[p_y.argmax()] += 2**n_bits - q.sum()
    if largest * int(q.sum()) > MOST:
        return None
    return _Weights(np.stack(rows).astype(np.int64), q.astype(np.int64))


def _flows(joint, p_y, supply, demand, coupling, distortion):
    """Return ([(x, y, mass) of each s], whether they include what stays, gaps) in whole numbers."""
    if distortion is not None:
        return transport.cheapest_whole_flows(supply, demand, distortion)
    stays = np.minimum(supply, demand)
    ends = list(zip(supply - stays, demand - stays, strict=True))
    if coupling == "northwest":
        return [transport.whole_northwest(*end) for end in ends], False, np.zeros(len(ends))
    delta, rows = coupling_kernel.excess(joint.p_x_given_s, p_y, 1.0), []
    in_doubles = vertex_search.sparse(delta) if coupling == "sparse" else vertex_search.informative(joint, delta)
    indptr, x, y, mass = in_doubles
    for s, end in enumerate(ends):
        plan, of_s = np.zeros((supply.shape[1],) * 2), slice(*indptr[s : s + 2])
        plan[x[of_s], y[of_s]] = mass[of_s]
        rows.append(transport.whole_flows_near(plan, *end))
    return rows, False, np.zeros(len(ends))


def _parts_of_flows(supply, demand, q, rows, complete):
    """Return the keyword arguments of `Mechanism` for flows; each pair with a move has a table, and table 0 is P_Y."""
    n_s, n_x = supply.shape
    s = np.repeat(np.arange(n_s), [len(x) for x, _, _ in rows])
    x, y, mass = (np.concatenate(part) for part in zip(*rows, strict=True))
    keep, total = (supply > 0).astype(np.int64), np.ones_like(supply)
    pair = s * n_x + x
    moves = y != x
    own, table_of, n_moves = np.unique(pair[moves], return_inverse=True, return_counts=True)
    keep.flat[own], total.flat[own] = 0 if complete else demand.flat[own], supply.flat[own]
    if complete:
        stays = np.isin(pair, own) & ~moves
        keep.flat[pair[stays]] = mass[stays]
    tables = np.zeros(supply.shape, np.int32)
    tables.flat[own] = 1 + np.arange(own.size)
    order, some = np.argsort(table_of, kind="stable"), np.flatnonzero(q)
    indptr = np.cumsum([0, some.size, *n_moves])
    weight = np.concatenate([q[some], mass[moves][order]])
    return _parts(keep, total, weight, tables, indptr, np.concatenate([some, y[moves][order]]))


def _proportional(supply, demand, q):
    """Return the keyword arguments of `Mechanism` that move each excess of s to all deficits of s in proportion."""
    deficit, excess = np.maximum(demand - supply, 0), supply > demand
    some = np.flatnonzero(excess.any(axis=1))
    rows = [q, *deficit[some]]
    places = [np.flatnonzero(row) for row in rows]
    number = np.zeros(len(supply), np.int32)
    number[some] = 1 + np.arange(some.size)
    keep, total = np.where(excess, demand, supply > 0), np.where(excess, supply, 1)
    indptr = np.cumsum([0, *(place.size for place in places)])
    weight = np.concatenate([row[place] for row, place in zip(rows, places, strict=True)])
    return _parts(keep, total, weight, np.where(excess, number[:, None], 0), indptr, np.concatenate(places))


def _parts(keep, total, weight, table_of, indptr, y):
    """Divide the numbers of each row, and those of each table, by their greatest common divisors."""
    of_row, of_table = np.gcd(keep, total), np.repeat(np.gcd.reduceat(weight, indptr[:-1]), np.diff(indptr))
    whole = Whole(keep // of_row, total // of_row, weight // of_table)
    return whole.parts(table_of.astype(np.int32), indptr, y.astype(np.int32))

"""Mechanisms that use S and release exactly the same P(y|s) for several s, as limits of 0 require.

Probabilities that are rounded to 64 bits differ slightly between the s. Ratios of counts need no rounding: if n_s of n
records have s, c of them x, and m_y of the n records y, then the flows from P(x|s) to P_X are multiples of 1/(n_s n),
and P(y|s,x) is a multiple of 1/(c n). The sampler draws whole numbers below c n without bias, by rejection, as long as
they are below 2^63. So an LDP of exactly 0 costs no more than Proposition 1 at alpha = 1. If only some of the s must
release the same, P(y|s) is rounded to a power of two, once for all of them. Figures of 0 hold for the fitted P(x|s).
"""

from typing import NamedTuple

import numpy as np

from linred.distribution.joint import Joint
from linred.distribution.whole_weights import marginal_weights, weights_given
from linred.mechanism.mechanism import Mechanism, drawing_from
from linred.mechanism.tables import Whole
from linred.privacy.comparisons import of_pairs
from linred.solvers import transport, vertex_search

MOST = 2**63 - 1
"""Largest product of whole numbers."""

FEWEST_BITS = 40
"""Least number of bits to which a P(y|s) other than P_X is rounded."""

SAME = 1e-12
"""Relative difference up to which P_Y is P_X."""


class _Weights(NamedTuple):
    """P(x|s) = p / p.sum(axis=1) and P(y|s) = q / q.sum(axis=1) in whole numbers, and P(y) for unseen pairs.

    Rows of p are zero for s that never occur. All rows of q have the same sum.
    """

    p: np.ndarray
    q: np.ndarray
    p_y: np.ndarray


def classes_of_zeros(target, p_s):
    """Return a class for each s, the same for s that limits of 0 for pairs make alike; None without such limits."""
    from scipy.sparse.csgraph import connected_components

    occurs = np.flatnonzero(p_s > 0.0)
    alike = np.any([np.zeros((occurs.size,) * 2, bool), *(matrix == 0.0 for _, matrix in of_pairs(target, occurs))], 0)
    if not alike.any():
        return None
    classes = np.arange(p_s.size) + p_s.size
    classes[occurs] = connected_components(alike, directed=False)[1]
    return classes


def averaged(joint, classes):
    """Return the Joint of S and Y in which all s of a class have the same doubles P(y|s), their mean under P(s)."""
    rows = np.array(joint.p_x_given_s)
    for one in np.unique(classes):
        weights = np.where(classes == one, joint.p_s, 0.0)
        if weights.any():
            rows[classes == one] = weights @ rows / weights.sum()
    return Joint.from_parts(rows, joint.p_s, joint.p_x, joint.s_labels, joint.x_labels)


def independent(joint, p_y, name, *, coupling="northwest", distortion=None):
    """Return the mechanism with P(y|s) = P(y) for every s that costs least, with its gap.

    If its whole numbers would exceed 2^63, y is drawn from P(y) independently of s and x, which costs far more.
    """
    found = exactly_coupled(joint, p_y, p_y, name=name, coupling=coupling, distortion=distortion)
    return drawing_from(joint, p_y, name) if found is None else found


def exactly_coupled(joint, p_y_given_s, p_y, *, coupling="northwest", distortion=None, **about):
    """Return a mechanism in whole numbers with these P(y|s), or None if they would exceed 2^63.

    p_y_given_s : |S| x |X|, in which equal rows stay exactly equal; or one row for all s. It is rounded to 40 bits or
        more, but P_X for all s is not rounded if the Joint has counts. p_y : their mean, P(y).

    Guarantee
    ---------
    The LDP between s with equal rows is 0. With a distortion, the cost is at most `gap` above the least one for that
    P(y|s); without, the fewest records change. O(|S||X| log |X|) without a distortion, or with one that is Monge.
    """
    weights = _weights(joint, p_y_given_s, p_y)
    if weights is None:
        return None
    supply, demand = weights.p * weights.q[:1].sum(), weights.p.sum(axis=1, keepdims=True) * weights.q
    if distortion is None and coupling == "proportional":
        parts, gap = _proportional(supply, demand, weights.p_y), 0.0
    else:
        rows, complete, gaps = _flows(joint, supply, demand, coupling, distortion)
        gap = float(joint.p_s @ (gaps / np.maximum(supply.sum(axis=1), 1)))
        parts = _parts_of_flows(supply, demand, weights.p_y, rows, complete)
    if _is_marginal(joint, p_y):
        p_y = joint.p_x
    if p_y is joint.p_x and p_y_given_s.ndim == 1:
        parts["alpha"] = 1.0  # this is the linear reduction
    else:
        rows = weights.q / weights.q.sum(axis=1, keepdims=True)
        parts["released"] = Joint.from_parts(rows, joint.p_s, p_y, joint.s_labels, joint.x_labels)
    return Mechanism(joint, sees_s=True, distortion=distortion, gap=gap, **parts, **about)


def price_of_independence(joint):
    """Return the share of records that change for P(y|s) = P_X in whole numbers, or None if they are too large."""
    if _weights(joint, joint.p_x, joint.p_x) is None:
        return None
    return 0.5 * float(joint.p_s @ np.abs(joint.p_x_given_s - joint.p_x).sum(axis=1))


def _is_marginal(joint, p_y):
    return bool((np.abs(p_y - joint.p_x) <= SAME * joint.p_x).all())


def _weights(joint, p_y_given_s, p_y):
    """Return the `_Weights`, or None if products of them would exceed 2^63."""
    none = np.zeros(p_y.size, object)
    p = np.stack([weights_given(joint, s) if mass > 0.0 else none for s, mass in enumerate(joint.p_s)])
    largest = int(p.sum(axis=1).max())
    if p_y_given_s.ndim == 1 and _is_marginal(joint, p_y_given_s):
        q = of_unseen = marginal_weights(joint)
    else:
        n_bits = (MOST // largest).bit_length() - 1
        if n_bits < FEWEST_BITS:
            return None
        q, of_unseen = (np.apply_along_axis(_rounded, -1, rows, n_bits) for rows in (p_y_given_s, p_y))
    if largest * int(np.atleast_2d(q)[0].sum()) > MOST:
        return None
    return _Weights(p.astype(np.int64), np.broadcast_to(q.astype(np.int64), p.shape), of_unseen.astype(np.int64))


def _rounded(p, n_bits):
    """Return p in whole numbers that sum to 2^n_bits; the largest takes what rounding leaves."""
    whole = np.ldexp(p / p.sum(), n_bits).astype(np.int64)
    whole[p.argmax()] += 2**n_bits - whole.sum()
    return whole


def _flows(joint, supply, demand, coupling, distortion):
    """Return ([(x, y, mass) of each s], whether they include what stays, gaps) in whole numbers."""
    if distortion is not None:
        return transport.cheapest_whole_flows(supply, demand, distortion)
    stays = np.minimum(supply, demand)
    ends = list(zip(supply - stays, demand - stays, strict=True))
    if coupling == "northwest":
        return [transport.whole_northwest(*end) for end in ends], False, np.zeros(len(ends))
    delta, rows = (supply - demand) / np.maximum(supply.sum(axis=1, keepdims=True), 1), []
    in_doubles = vertex_search.sparse(delta) if coupling == "sparse" else vertex_search.informative(joint, delta)
    indptr, x, y, mass = in_doubles
    for s, end in enumerate(ends):
        plan, of_s = np.zeros((supply.shape[1],) * 2), slice(*indptr[s : s + 2])
        plan[x[of_s], y[of_s]] = mass[of_s]
        rows.append(transport.whole_flows_near(plan, *end))
    return rows, False, np.zeros(len(ends))


def _parts_of_flows(supply, demand, p_y, rows, complete):
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
    order, some = np.argsort(table_of, kind="stable"), np.flatnonzero(p_y)
    indptr = np.cumsum([0, some.size, *n_moves])
    weight = np.concatenate([p_y[some], mass[moves][order]])
    return _parts(keep, total, weight, tables, indptr, np.concatenate([some, y[moves][order]]))


def _proportional(supply, demand, p_y):
    """Return the keyword arguments of `Mechanism` that move each excess of s to all deficits of s in proportion."""
    deficit, excess = np.maximum(demand - supply, 0), supply > demand
    some = np.flatnonzero(excess.any(axis=1))
    rows = [p_y, *deficit[some]]
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

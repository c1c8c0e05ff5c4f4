"""Couplings of P(x|s) with P(y|s) that change the fewest records, or have the least cost.

The excess of P(x|s) over P(y|s) moves to the symbols with a deficit (Proposition 1). Every matching of excess with
deficit changes equally few records; matchings differ in the number of destinations and in I(X;Y).
"""

from functools import partial

import numpy as np

from linred._common import validation
from linred._kernels import coupling as coupling_kernel
from linred.columns.label_distance import distortion_of
from linred.design import calibration
from linred.design.equal_rows import averaged, classes_of_zeros, exactly_coupled, independent
from linred.distribution.linear_reduction import linear_reduction
from linred.mechanism.mechanism import Mechanism
from linred.mechanism.tables import TableBuilder
from linred.solvers import transport, vertex_search

SNAP = 2.0**-44
"""Differences below this multiple of P(x|s) are rounding noise of a solver."""

PREFERENCES = {"information": "information", "sparse": "sparse", "smooth": "proportional"}


def excess_over(p, q):
    """Return p - q with rows that sum to zero: the most probable symbol absorbs the rounding error."""
    delta = p - q
    delta[np.abs(delta) <= SNAP * p] = 0.0
    s, x = np.arange(len(p)), p.argmax(axis=1)
    delta[s, x] = 0.0
    delta[s, x] = -delta.sum(axis=1)
    return delta


def couple(joint, released, delta, *, coupling="northwest", distortion=None):
    """Return the keyword arguments of `Mechanism` for a coupling of each P(x|s) with P(y|s) = P(x|s) - delta.

    coupling : "northwest", "proportional", "sparse" or "information"; unused if there is a distortion.
    """
    p, q = joint.p_x_given_s, released.p_x_given_s
    seen = p
    if not joint.p_s.all():  # rows with P(s) = 0 hold the marginals and belong to no record: they need no coupling
        occurs = joint.p_s[:, None] > 0.0
        seen, q, delta = np.where(occurs, p, 0.0), np.where(occurs, q, p), np.where(occurs, delta, 0.0)
    complete, gap = False, 0.0
    if distortion is not None:
        flows, complete, gaps = transport.cheapest_flows(p, q, delta, distortion)
        gap = float(joint.p_s @ gaps)
    elif coupling == "proportional":
        return _proportional(seen, q, released.p_x, delta)
    elif coupling == "northwest":
        flows = coupling_kernel.northwest(delta)
    else:
        flows = vertex_search.sparse(delta) if coupling == "sparse" else vertex_search.informative(joint, delta)
    keep, move, table_of, *tables = coupling_kernel.tables_from_flows(seen, q, released.p_x, flows, complete)
    return {"keep": keep, "move": move, "table_of": table_of, "tables": tables, "gap": gap}


def coupled(joint, released, delta, *, coupling, distortion, **about):
    """Return the mechanism that couples P(x|s) with P(y|s) = P(x|s) - delta; `released` is the Joint of S and Y."""
    parts = couple(joint, released, delta, coupling=coupling, distortion=distortion)
    return Mechanism(joint, released=released, sees_s=True, distortion=distortion, **about, **parts)


def meeting(joint, target, found, *, name, coupling, distortion):
    """Return a mechanism whose integers meet the target, from P(x|s) to the P(y|s) of `found`, a Joint of S and Y.

    P(y|s) is mixed with P(y) by the small share that rounding to integers requires. If limits of 0 make some s alike,
    P(y|s) is in whole numbers where these are small enough.
    """
    how = {"name": name, "coupling": coupling, "distortion": distortion}
    classes = classes_of_zeros(target, joint.p_s)
    if classes is not None:
        found = averaged(found, classes)

    def build(beta):
        released = linear_reduction(found, beta)
        if meets_zeros:
            return exactly_coupled(joint, released.p_x_given_s, released.p_x, **how)
        return coupled(joint, released, excess_over(joint.p_x_given_s, released.p_x_given_s), **how)

    rows = found.p_x_given_s
    meets_zeros = classes is not None and exactly_coupled(joint, rows, found.p_x, **how) is not None
    return calibration.meeting_by_alpha(
        found, target, build, partial(independent, joint, found.p_x, **how), meets_zeros
    )


def chosen(joint, prefer, distortion, coupling="northwest"):
    """Check the arguments; return (coupling, distortion). A distortion leaves no choice of coupling."""
    if not isinstance(coupling, str) or coupling not in ("northwest", "proportional"):
        raise ValueError(f"coupling = {validation.shortened(coupling)} is not 'northwest' or 'proportional'")
    if prefer is not None and (not isinstance(prefer, str) or prefer not in PREFERENCES):
        raise ValueError(f"prefer = {validation.shortened(prefer)} is not 'information', 'sparse' or 'smooth'")
    for name, value, default in (("coupling", coupling, "northwest"), ("prefer", prefer, None)):
        if distortion is not None and value != default:
            raise ValueError(f"{name} = {value!r} and distortion are both given: the distortion decides the coupling")
    if prefer is not None and coupling != "northwest":
        raise ValueError(f"coupling = {coupling!r} and prefer = {prefer!r} are both given: give one of them")
    distortion = None if distortion is None else distortion_of("distortion", distortion, joint.x_labels)
    return coupling if prefer is None else PREFERENCES[prefer], distortion


def _proportional(p, q, p_y, delta):
    """Store the deficits of s, scaled to one, in table 1 + s; it is empty, and unused, if s has none."""
    some = (delta < 0.0).any(axis=1)
    deficit = np.where(delta < 0.0, -delta, 0.0)
    deficit[some] /= deficit[some].sum(axis=1, keepdims=True)
    excess = (delta > 0.0) & (p > 0.0) & some[:, None]
    tables = TableBuilder(p_y)
    number = np.array([[tables.add(row)] for row in deficit])
    return {
        "keep": np.divide(np.minimum(q, p), p, out=np.where(p > 0.0, 1.0, 0.0), where=excess),
        "move": np.divide(delta, p, out=np.where(p > 0.0, 0.0, 1.0), where=excess),
        "table_of": np.where((p > 0.0) & some[:, None], number, 0).astype(np.int32),
        "tables": tables.tables(),
    }

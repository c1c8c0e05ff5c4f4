"""How to get from P(x|s) to P(y|s): which of the couplings that change the fewest records, or cost the least.

What P(x|s) has in excess of P(y|s) moves to where it is short (Proposition 1). Any way to match the two changes as few
records; they differ in how many destinations there are, and in what Y still tells about X.
"""

from functools import partial

import numpy as np

from linred._common import validation
from linred._kernels import coupling as coupling_kernel
from linred.design import calibration
from linred.distribution.linear_reduction import linear_reduction
from linred.mechanism.mechanism import Mechanism, drawing_from
from linred.mechanism.tables import TableBuilder
from linred.solvers import transport, vertex_search

SNAP = 2.0**-44
"""Relative to P(x|s): a difference below it is what a solver left."""

PREFERENCES = {"information": "information", "sparse": "sparse", "smooth": "proportional"}


def excess_over(p, q):
    """p - q in rows that sum to zero: the most probable symbol takes what rounding leaves."""
    delta = p - q
    delta[np.abs(delta) <= SNAP * p] = 0.0
    s, x = np.arange(len(p)), p.argmax(axis=1)
    delta[s, x] = 0.0
    delta[s, x] = -delta.sum(axis=1)
    return delta


def couple(joint, released, delta, *, coupling="northwest", distortion=None):
    """What a `Mechanism` stores of a coupling of each P(x|s) with P(y|s) = P(x|s) - delta, as keyword arguments.

    coupling : "northwest", "proportional", "sparse" or "information", where there is no distortion.
    """
    p, q = joint.p_x_given_s, released.p_x_given_s
    seen = p
    if not joint.p_s.all():  # marginals stand there where P(s) = 0: they are nobody's, and need not be moved
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
    """The mechanism from P(x|s) to the P(y|s) = P(x|s) - delta of a Joint of S and Y."""
    parts = couple(joint, released, delta, coupling=coupling, distortion=distortion)
    return Mechanism(joint, released=released, sees_s=True, distortion=distortion, **about, **parts)


def meeting(joint, target, found, *, name, coupling, distortion):
    """The mechanism from P(x|s) to the P(y|s) of a Joint of S and Y that something found, or a little beyond, so that
    its integers meet the target."""

    def build(beta):
        released = linear_reduction(found, beta)
        delta = excess_over(joint.p_x_given_s, released.p_x_given_s)
        return coupled(joint, released, delta, name=name, coupling=coupling, distortion=distortion)

    return calibration.meeting_by_alpha(found, target, build, partial(drawing_from, joint, found.p_x, name))


def chosen(joint, prefer, distortion, coupling="northwest"):
    """(the coupling that `coupling=` or `prefer=` ask for, the distortion); a distortion leaves no choice."""
    if not isinstance(coupling, str) or coupling not in ("northwest", "proportional"):
        raise ValueError(f"coupling = {coupling!r} is not 'northwest' or 'proportional'")
    if prefer is not None and (not isinstance(prefer, str) or prefer not in PREFERENCES):
        raise ValueError(f"prefer = {prefer!r} is not 'information', 'sparse' or 'smooth'")
    for name, value, default in (("coupling", coupling, "northwest"), ("prefer", prefer, None)):
        if distortion is not None and value != default:
            raise ValueError(f"{name} = {value!r} cannot be chosen: the distortion decides the moves")
    if prefer is not None and coupling != "northwest":
        raise ValueError(f"coupling = {coupling!r} and prefer = {prefer!r} are both given: one of them chooses")
    distortion = None if distortion is None else validation.distortion(distortion, joint.shape[1])
    return coupling if prefer is None else PREFERENCES[prefer], distortion


def _proportional(p, q, p_y, delta):
    """Table 1 + s is the deficit of s, scaled to one; where there is none it is empty, and no row draws from it."""
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

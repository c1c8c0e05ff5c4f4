"""Functions that make mechanisms, by name, for tests that try all of them."""

import numpy as np

import linred
from linred.mechanism.tables import TableBuilder

CLOSED_FORMS = {
    "markov": linred.markov,
    "northwest": linred.non_markov,
    "proportional": lambda joint, *args, **how: linred.non_markov(joint, *args, coupling="proportional", **how),
}
"""Lemma 1, and Proposition 1 by each coupling."""
MAKERS = {
    "non_markov": lambda joint: linred.non_markov(joint, ldp=0.7),
    "markov": lambda joint: linred.markov(joint, 0.4),
    "optimal": lambda joint: linred.optimal(joint, ldp=0.7),
    "identity": lambda joint: linred.markov(joint, 0.0),
}
"""One of each kind, with a target or an alpha, and one that changes nothing."""


def from_channel(joint, channel):
    """Return the mechanism with any P(y|s,x), |S| x |X| x |X|; pairs that the joint never has draw from P_Y."""
    n_x, unseen = joint.shape[1], joint.unseen
    p_y = np.einsum("sx,sxy->y", joint.p_sx, channel)
    released = np.where(joint.p_s[:, None] > 0.0, np.einsum("sx,sxy->sy", joint.p_x_given_s, channel), p_y)
    builder, table_of = TableBuilder(p_y), np.zeros(joint.shape, np.int32)
    keep = np.where(unseen, 0.0, channel[:, np.arange(n_x), np.arange(n_x)])
    for s, x in np.argwhere(~unseen & (keep < 1.0)):
        others = np.where(np.arange(n_x) == x, 0.0, channel[s, x])
        table_of[s, x] = builder.add(others / others.sum())
    rows = {"keep": keep, "move": 1.0 - keep, "table_of": table_of, "tables": builder.tables()}
    labels = joint.s_labels, joint.x_labels
    released = linred.Joint.from_parts(released, joint.p_s, p_y, *labels)
    return linred.Mechanism(joint, name="given", sees_s=True, released=released, **rows)

"""What it costs that a mechanism is certified: the `Design` of a robust optimum."""

import math

import numpy as np

from linred.design.closed_form import markov
from linred.mechanism import changed_records
from linred.mechanism.provenance import Design

MOSTLY = 0.9
"""A pair (s, x) counts as resampled if its records change this often, compared with a draw from P_X."""


def design_of(mechanism, target, plug_in):
    """Return the `Design` of a certified mechanism. plug_in : the optimum for the fitted P(S, X)."""
    joint = mechanism.joint
    changed, by_resampling = changed_records.share_of_pairs(mechanism), 1.0 - joint.p_x
    redrawn = (changed >= MOSTLY * by_resampling) & (joint.counts > 0)
    whole = redrawn == (joint.counts > 0)
    of_s, of_x = (
        tuple(labels[i] for i in np.flatnonzero(redrawn.any(axis=axis) & whole.all(axis=axis)))
        for axis, labels in ((1, joint.s_labels), (0, joint.x_labels))
    )
    shares = mechanism.dtv(), plug_in.dtv(), _lemma_1_ceiling(joint, target).dtv()
    return Design(of_s, of_x, float(joint.p_sx[redrawn].sum()), joint.n_records, 0, 0, 0, *shares)


def _lemma_1_ceiling(joint, target):
    """Return Lemma 1 with the smallest alpha whose worst-case bound meets the target for any P(X|S) (errata 7).

    With p = P_X(y), y can be at most (1 - alpha + alpha p) / (alpha p) times as likely under one s as under another.
    """
    factor = math.expm1(min(*target.limits.values(), 700.0)) * (1.0 - 1e-9)
    rarest = joint.p_x[joint.p_x > 0.0].min()
    return markov(joint, 1.0 / (1.0 + factor * rarest))

"""Who bears the changes: the share of changed records of a mechanism, in all and for each value of S or of X."""

import numpy as np

from linred._common import validation


def share(mechanism):
    """Return the share of changed records, sum P(s,x) (1 - P(Y=x|s,x))."""
    joint = mechanism.joint
    weights = joint.p_sx if mechanism.sees_s else joint.p_x[None]
    return float((weights * share_of_pairs(mechanism)).sum())


def share_by(mechanism, by):
    """Return the share of the records of each s (by "s") or of each x (by "x") that change; nan without records."""
    joint, of_pairs = mechanism.joint, share_of_pairs(mechanism)
    if by == "s":
        return np.where(joint.p_s > 0.0, (joint.p_x_given_s * of_pairs).sum(axis=1), np.nan)
    if by == "x":
        return np.where(joint.p_x > 0.0, (joint.p_s_given_x.T * of_pairs).sum(axis=0), np.nan)
    raise ValueError(f"by = {validation.shortened(by)} is not 's', 'x' or None")


def share_of_pairs(mechanism):
    """Return 1 - P(Y=x|s,x), |S| x |X|, or 1 x |X| if the mechanism does not use S when sampling.

    Only tables that several pairs share can contain x itself.
    """
    n_s = mechanism.joint.shape[0] if mechanism.sees_s else 1
    move, table_of = mechanism.move[:n_s], mechanism.table_of[:n_s]
    n_x, n_pairs = table_of.shape[1], np.bincount(table_of.ravel(), minlength=mechanism.tables.indptr.size - 1)
    shared = np.flatnonzero((n_pairs > 1) | (np.arange(n_pairs.size) == 0))
    of_shared, place = mechanism.destinations[shared].toarray(), np.full(n_pairs.size, shared.size)
    place[shared] = np.arange(shared.size)
    return move * (1.0 - np.vstack([of_shared, np.zeros(n_x)])[place[table_of], np.arange(n_x)])

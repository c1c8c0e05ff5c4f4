"""Mechanisms that look at x alone, from a matrix P(y|x) between classes of symbols (`symbol_merging.Merged`)."""

import numpy as np

from linred.design import coupling
from linred.mechanism.mechanism import Mechanism


def mechanism(merged, released, w, **about):
    """The mechanism that goes from class to class by w: x stays, or goes to another class and is shared out there.

    `released` is what that makes of P(x|s). O(classes |X|) in memory at most.
    """
    joint, n_classes = merged.joint, len(w)
    leave = w - np.diag(w.diagonal())
    moves = leave.sum(axis=1)
    total = w.diagonal() + moves
    to = leave[:, merged.x_class] * merged.share / np.where(moves > 0.0, moves, 1.0)[:, None]
    table, y = np.nonzero(to)
    marginal = coupling.marginal_table(released.p_x)
    seen = joint.p_x > 0.0
    parts = (
        np.where(seen, (w.diagonal() / total)[merged.x_class], 0.0),
        np.where(seen, (moves / total)[merged.x_class], 1.0),
        np.where(seen & (moves[merged.x_class] > 0.0), 1 + merged.x_class, 0).astype(np.int32),
    )
    keep, move, table_of = (np.broadcast_to(part, joint.shape) for part in parts)
    ends = marginal[0][-1] + np.searchsorted(table, np.arange(n_classes), side="right")
    return Mechanism(
        joint,
        released=released,
        sees_s=False,
        keep=keep,
        move=move,
        table_of=table_of,
        tables=(
            np.concatenate([marginal[0], ends]),
            np.concatenate([marginal[1], y.astype(np.int32)]),
            np.concatenate([marginal[2], to[table, y]]),
        ),
        **about,
    )

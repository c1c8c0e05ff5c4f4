"""Tables of mechanisms that are stated as a matrix: P(y|x) for those that do not use S, or P(y|s,x)."""

import numpy as np

from linred.mechanism.mechanism import Mechanism
from linred.mechanism.tables import TableBuilder


def by_symbol(joint, *, keep, move, table_of, **about):
    """Return the mechanism with one row for each x; a symbol that never occurs draws from table 0."""
    return Mechanism(joint, sees_s=False, **_where_seen(joint, keep, move, table_of), **about)


def by_class(merged, released, w, **about):
    """Return the mechanism that moves x between classes by the matrix w and resamples a moved x in its class by P(x).

    merged : `symbol_merging.Merged`. released : the Joint of S and Y under w. Memory: O(classes |X|).
    """
    of_class, tables = _rows_of(merged, released, w)
    rows = {name: part[merged.x_class] for name, part in of_class.items()}
    return by_symbol(merged.joint, released=released, tables=tables, **rows, **about)


def by_pair(merged, released, w, **about):
    """Do as `by_class` for a mechanism that uses S: w is P(y|s,x) over the classes of s and x.

    A pair (s, x) that does not occur gets the mean row of x, which is within every limit on the ratio of two rows of x.
    """
    joint, (n_s, n_x, _) = merged.joint, w.shape
    weights = merged.p_s[:, None] * merged.p
    mean = (weights[:, :, None] * w).sum(axis=0) / merged.p_x[:, None]
    w = np.where(merged.p[:, :, None] > 0.0, w, mean)
    of_class, tables = _rows_of(merged, released, np.concatenate([w.reshape(n_s * n_x, n_x), mean]))
    row = np.where(joint.unseen, n_s, merged.s_class[:, None]) * n_x + merged.x_class
    parts = _where_seen(joint, **{name: part[row] for name, part in of_class.items()})
    return Mechanism(joint, sees_s=True, released=released, tables=tables, **parts, **about)


def _where_seen(joint, keep, move, table_of):
    """Return these parts for the x that occur; all others draw from table 0."""
    seen = joint.p_x > 0.0
    return {
        "keep": np.where(seen, keep, 0.0),
        "move": np.where(seen, move, 1.0),
        "table_of": np.where(seen, table_of, 0).astype(np.int32),
    }


def _rows_of(merged, released, w):
    """Return ({keep, move, table_of} for each row of w, tables). Row r of w belongs to class r modulo |X|."""
    n_classes = w.shape[1]
    own = np.arange(len(w)) % n_classes
    stays = w[np.arange(len(w)), own]
    leave = w.copy()
    leave[np.arange(len(w)), own] = 0.0
    moves = leave.sum(axis=1)
    total = stays + moves
    to = leave[:, merged.x_class] * merged.share / np.where(moves > 0.0, moves, 1.0)[:, None]
    tables = TableBuilder(released.p_x)
    table_of = np.where(moves > 0.0, np.array([tables.add(row) for row in to]), 0)
    return {"keep": stays / total, "move": moves / total, "table_of": table_of}, tables.tables()

"""Tables of mechanisms that do not use S: a row for each symbol x, or a matrix P(y|x) between classes of symbols."""

import numpy as np

from linred.mechanism.mechanism import Mechanism
from linred.mechanism.tables import TableBuilder


def by_symbol(joint, *, keep, move, table_of, **about):
    """Return the mechanism with one row for each x; a symbol that never occurs draws from table 0."""
    seen = joint.p_x > 0.0
    parts = {
        "keep": np.where(seen, keep, 0.0),
        "move": np.where(seen, move, 1.0),
        "table_of": np.where(seen, table_of, 0).astype(np.int32),
    }
    return Mechanism(joint, sees_s=False, **parts, **about)


def by_class(merged, released, w, **about):
    """Return the mechanism that moves x between classes by the matrix w and resamples a moved x in its class by P(x).

    merged : `symbol_merging.Merged`. released : the Joint of S and Y under w. Memory: O(classes |X|).
    """
    leave = w - np.diag(w.diagonal())
    moves = leave.sum(axis=1)
    total = w.diagonal() + moves
    to = leave[:, merged.x_class] * merged.share / np.where(moves > 0.0, moves, 1.0)[:, None]
    tables = TableBuilder(released.p_x)
    table_of = np.where(moves > 0.0, np.array([tables.add(row) for row in to]), 0)
    of_class = {"keep": w.diagonal() / total, "move": moves / total, "table_of": table_of}
    rows = {name: part[merged.x_class] for name, part in of_class.items()}
    return by_symbol(merged.joint, released=released, tables=tables.tables(), **rows, **about)

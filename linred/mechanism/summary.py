"""Figures of a mechanism: `mechanism.report()`, `mechanism.local()`, its largest moves, and who bears the changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from linred._common.render import Printed
from linred.distribution.joint import Joint
from linred.privacy.leakage import Leakage, Utility
from linred.privacy.local_geometry import Local, local

if TYPE_CHECKING:
    from linred.mechanism.mechanism import Mechanism


@dataclass(frozen=True, repr=False, eq=False)
class Report(Printed):
    """Figures of a mechanism, in nats or in the unit of `base`; prints as a table.

    before : `Leakage` of S through X. after : `Leakage` of S through Y. utility : `Utility` of Y.
    They are exact for the mechanism's Joint; for the population it was estimated from they are plug-in estimates.
    """

    mechanism: Mechanism
    base: float
    before: Leakage
    after: Leakage
    utility: Utility

    words = "report"


class LocalReport(Printed):
    """Exact and local figures of a mechanism; prints as a table.

    before, after, utility : `Local` figures of S to X, S to Y and X to Y. joints : the three Joints, by name.
    """

    words = "local_report"
    before: Local
    after: Local
    utility: Local

    def __init__(self, mechanism: Mechanism, base: float) -> None:
        self.mechanism, self.base = mechanism, base
        self.joints = {
            "S to X": mechanism.joint,
            "S to Y": mechanism.released,
            "X to Y": Joint(mechanism.joint_xy(0, mechanism.joint.shape[1]).toarray()),
        }
        self.before, self.after, self.utility = (local(joint, base) for joint in self.joints.values())


class Move(NamedTuple):
    """Records of (s, x) that become y, as codes; s is None if the mechanism does not use S when sampling."""

    s: int | None
    x: int
    y: int
    share: float  # of all records
    of_group: float  # of the records of (s, x)


def largest_moves(mechanism, n):
    """Return the n `Move`s to another symbol that change the most records, the largest first.

    The n pairs (s, x) with the largest single moves contain them. O(|S||X| + nonzeros log nonzeros + n |X|).
    """
    p_sx = mechanism.joint.p_sx if mechanism.sees_s else mechanism.joint.p_x[None]
    move, table = mechanism.move[: len(p_sx)], mechanism.table_of[: len(p_sx)]
    largest, (indptr, y, probability) = p_sx * move * _largest_other(mechanism.tables, table), mechanism.tables
    found = []
    for pair in np.argsort(-largest, axis=None, kind="stable")[:n].tolist():
        s, x = divmod(pair, p_sx.shape[1])
        ends = slice(*indptr[table[s, x] : table[s, x] + 2])
        for to, of_group in zip(y[ends].tolist(), (move[s, x] * probability[ends]).tolist(), strict=True):
            found.append(Move(s if mechanism.sees_s else None, x, to, float(p_sx[s, x]) * of_group, of_group))
    found = [one for one in found if one.y != one.x and one.share > 0.0]
    return sorted(found, key=lambda one: (-one.share, one.s or 0, one.x, one.y))[:n]


def _largest_other(tables, table_of):
    """Return the largest probability of a symbol other than x in the table of each (s, x).

    A table may be empty if no record draws from it; any figure does for its pairs.
    """
    indptr, y, probability = tables
    order = np.lexsort((-probability, np.repeat(np.arange(indptr.size - 1), np.diff(indptr))))
    begin, last = np.minimum(indptr[:-1], order.size - 1), indptr[1:] - 1
    first, second = order[begin][table_of], order[np.minimum(begin + 1, last)][table_of]
    x = np.arange(table_of.shape[1])
    place = np.where(y[first] == x, second, first)
    return np.where(y[place] == x, 0.0, probability[place])


class Group(NamedTuple):
    """The records of one symbol of S or of X."""

    label: Any
    share: float  # of all records
    changed: float  # share of its records that change


def largest_groups(mechanism, by, n=None):
    """Return the n `Group`s of S (by "s") or of X (by "x") with the largest shares of changed records, largest first.

    Without n, all that occur.
    """
    joint, changed = mechanism.joint, mechanism.changed(by)
    p, labels = (joint.p_s, joint.s_labels) if by == "s" else (joint.p_x, joint.x_labels)
    order = np.argsort(-changed, kind="stable")[: np.count_nonzero(p)][:n]  # nan, symbols that do not occur, come last
    return [Group(labels[code], float(p[code]), float(changed[code])) for code in order.tolist()]

"""What a mechanism does, in figures: `mechanism.report()`, `mechanism.local()`, and its largest moves."""

import math
from typing import NamedTuple

import numpy as np

from linred.distribution.joint import Joint
from linred.privacy import metrics
from linred.privacy.leakage import PRIVACY_LABELS
from linred.privacy.local_geometry import Local, local


class Report:
    """Figures of a mechanism: `.before`, `.after` (`Privacy`), `.utility` (`Utility`), `.base`; prints as a table."""

    def __init__(self, mechanism, base, before, after, utility):
        self.mechanism, self.base = mechanism, base
        self.before, self.after, self.utility = before, after, utility

    def __str__(self):
        unit = {math.e: "nats", 2: "bits", 10: "bans"}.get(self.base, f"log base {self.base:g}")
        n_s, n_x = self.mechanism.joint.shape
        lines = [
            f"{self.mechanism.described()}, {n_s} x {n_x} symbols",
            "",
            f"{f'what is told about S [{unit}]':<32}{'before':>14}{'after':>14}",
        ]
        for label, before, after in zip(PRIVACY_LABELS, self.before, self.after, strict=True):
            lines.append(f"  {label:<30}{before:>#14.6g}{after:>#14.6g}")
        lines += ["", "what is left of X"]
        for label, value in zip(_UTILITY_LABELS, self.utility, strict=True):
            if value is not None:
                lines.append(f"  {label.format(unit=unit):<30}{value:>#28.6g}")
        return "\n".join(lines)

    __repr__ = __str__


_UTILITY_LABELS = (
    "share of records changed (DTV)",
    "I(X;Y) [{unit}]",
    "H(X) [{unit}]",
    "H(X) - I(X;Y) [{unit}]",
    "expected distortion",
)


class LocalReport:
    """Exact and local figures of a mechanism: `.before` (S to X), `.after` (S to Y), `.utility` (X to Y), all `Local`;
    prints as a table."""

    def __init__(self, mechanism, base):
        self.mechanism, self.base = mechanism, base
        self._joints = {
            "S to X": mechanism.joint,
            "S to Y": mechanism.released,
            "X to Y": Joint(mechanism._joint_xy(0, mechanism.joint.shape[1]).toarray()),
        }
        self.before, self.after, self.utility = (local(joint, base) for joint in self._joints.values())

    def __str__(self):
        lines = [f"{self.mechanism.described()}, figures to base {self.base:.6g}", ""]
        lines.append(f"{'':<26}{'exact':>12}{'local':>12}{'at least':>12}{'at most':>12}")
        for (way, joint), figures in zip(self._joints.items(), (self.before, self.after, self.utility), strict=True):
            region = "inside" if figures.valid else "outside"
            lines.append(f"{way}: radius {figures.radius:.4g}, {region} the region of at most 1")
            for name in Local._fields[2 if way == "X to Y" else 0 : 3]:
                row = getattr(metrics, name)(joint, self.base), *getattr(figures, name)
                lines.append(f"  {name.replace('_', ' '):<24}" + "".join(f"{value:>#12.5g}" for value in row))
        return "\n".join(lines)

    __repr__ = __str__


class Move(NamedTuple):
    """Records of (s, x) that become y, in codes; s is None where it is not looked at."""

    s: int | None
    x: int
    y: int
    share: float  # of all records
    of_group: float  # of the records of (s, x)


def largest_moves(mechanism, n):
    """The n `Move`s to another symbol that change the most records, the largest first.

    They are moves of the n pairs (s, x) whose largest one is largest. O(|S||X| + nonzeros log nonzeros + n |X|)."""
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
    """The largest probability of another symbol than x in the table of each (s, x)."""
    indptr, y, probability = tables
    order = np.lexsort((-probability, np.repeat(np.arange(indptr.size - 1), np.diff(indptr))))
    first, second = order[indptr[:-1]][table_of], order[np.minimum(indptr[:-1] + 1, indptr[1:] - 1)][table_of]
    x = np.arange(table_of.shape[1])
    place = np.where(y[first] == x, second, first)
    return np.where(y[place] == x, 0.0, probability[place])

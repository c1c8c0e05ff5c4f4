"""The six figures of what a column tells about S, in one record, and what Y still tells about X."""

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from linred.privacy import metrics

FIGURES = {
    "ldp": "LDP",
    "log_lift": "log-lift",
    "max_lift": "max-lift",
    "min_lift": "min-lift",
    "mutual_information": "mutual information",
    "maximal_leakage": "maximal leakage",
}
"""What a reader calls each figure, in the order of all tables."""


@dataclass(frozen=True)
class Leakage:
    """What a column tells about S; all 0 is perfect privacy. Iterates over the six figures.

    Figures are in nats, or in the unit of the base that was asked for. `rounding` says on which side of the truth they
    are: "nearest"; "up", at or above it; "down", at or below it. Records that say more about the same figures (a
    certificate, an audit) are subclasses.
    """

    ldp: float
    log_lift: float
    max_lift: float
    min_lift: float
    mutual_information: float
    maximal_leakage: float

    rounding: ClassVar[str] = "nearest"

    @classmethod
    def of(cls, joint, base=math.e):
        """Those of a Joint of S with X or with Y, by their formulas."""
        return cls(*(getattr(metrics, name)(joint, base) for name in FIGURES))

    @classmethod
    def all_equal(cls, figure):
        return cls(*(figure,) * len(FIGURES))

    @classmethod
    def from_lifts(cls, ldp, max_lift, min_lift, mutual_information, maximal_leakage):
        """With the log-lift, which is the larger of two."""
        return cls(ldp, max(max_lift, min_lift), max_lift, min_lift, mutual_information, maximal_leakage)

    @property
    def figures(self):
        """The six figures alone, of a record that says more."""
        return Leakage(*self)

    def __iter__(self):
        return (getattr(self, name) for name in FIGURES)

    def as_dict(self):
        return dict(zip(FIGURES, self, strict=True))

    def changed_by(self, function):
        """The record of function(figure) for each figure."""
        return Leakage(*(function(float(figure)) for figure in self))


class Utility(NamedTuple):
    """What Y still tells about X."""

    dtv: float
    mutual_information: float
    entropy: float
    information_loss: float
    expected_distortion: float | None  # where the mechanism was made for a distortion


def unit_of(base):
    """What a figure to this base is counted in."""
    return {math.e: "nats", 2: "bits", 10: "bans"}.get(base, f"log base {base:g}")

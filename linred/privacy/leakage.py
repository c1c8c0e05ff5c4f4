"""`Leakage`, the record of six figures for the leakage of S, and `Utility`, the figures for the utility of Y."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from linred.distribution.joint import Joint
from linred.privacy import metrics

FIGURES = {
    "ldp": "LDP",
    "log_lift": "log-lift",
    "max_lift": "max-lift",
    "min_lift": "min-lift",
    "mutual_information": "mutual information",
    "maximal_leakage": "maximal leakage",
}
"""Label of each figure, in the order used by all tables."""


@dataclass(frozen=True)
class Leakage:
    """Leakage of S through a column; 0 in every figure means perfect privacy. Iterates over the six figures.

    Figures are in nats, or in the unit of the requested base. LDP and maximal leakage hold whatever an attacker
    believes about S beforehand; the lifts, log-lift and mutual information assume the prior P(S). `rounding` is
    "nearest", "up" (figures are upper bounds) or "down" (figures are lower bounds). Subclasses, such as certificates
    and audits, add fields.
    """

    ldp: float
    log_lift: float
    max_lift: float
    min_lift: float
    mutual_information: float
    maximal_leakage: float

    rounding: ClassVar[str] = "nearest"

    @classmethod
    def of(cls, joint: Joint, base: float = math.e) -> Leakage:
        """Compute the figures of a Joint of S and X, or of S and Y."""
        return cls(*(getattr(metrics, name)(joint, base) for name in FIGURES))

    @classmethod
    def all_equal(cls, figure: float) -> Leakage:
        """Build the record with the same value for each figure."""
        return cls(*(figure,) * len(FIGURES))

    @classmethod
    def from_lifts(
        cls, ldp: float, max_lift: float, min_lift: float, mutual_information: float, maximal_leakage: float
    ) -> Leakage:
        """Build the record; the log-lift is the larger of max-lift and min-lift."""
        return cls(ldp, max(max_lift, min_lift), max_lift, min_lift, mutual_information, maximal_leakage)

    @property
    def figures(self) -> Leakage:
        """The six figures as a plain `Leakage`, without the fields of a subclass."""
        return Leakage(*self)

    def __iter__(self) -> Iterator[float]:
        return (getattr(self, name) for name in FIGURES)

    def as_dict(self) -> dict[str, float]:
        """Return the six figures by name, in the order of `FIGURES`."""
        return dict(zip(FIGURES, self, strict=True))

    def changed_by(self, function: Callable[[float], float]) -> Leakage:
        """Apply a function to each figure, and return the record of the results."""
        return Leakage(*(function(float(figure)) for figure in self))


class Utility(NamedTuple):
    """How much of X is left in Y, in the unit of the report's base.

    dtv : share of changed records (total variation distance).
    mutual_information : I(X; Y). entropy : H(X). information_loss : H(X) - I(X; Y).
    expected_distortion : mean cost of the changes; None unless the mechanism was built for a distortion.
    """

    dtv: float
    mutual_information: float
    entropy: float
    information_loss: float
    expected_distortion: float | None


def unit_of(base: float) -> str:
    """Return the name of the unit of logarithms to this base."""
    return {math.e: "nats", 2: "bits", 10: "bans"}.get(base, f"log base {base:g}")

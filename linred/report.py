"""What a mechanism does, in figures: `mechanism.report()`."""

import math
from typing import NamedTuple

from linred import metrics


class Privacy(NamedTuple):
    """What a column tells about S; all 0 is perfect privacy."""

    ldp: float
    log_lift: float
    max_lift: float
    min_lift: float
    mutual_information: float
    maximal_leakage: float

    @classmethod
    def of(cls, joint, base):
        return cls(*(getattr(metrics, name)(joint, base) for name in cls._fields))


class Utility(NamedTuple):
    """What Y still tells about X."""

    dtv: float
    mutual_information: float
    entropy: float
    information_loss: float
    expected_distortion: float | None  # where the mechanism was made for a distortion


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


PRIVACY_LABELS = ("LDP", "log-lift", "max-lift", "min-lift", "mutual information", "maximal leakage")
_UTILITY_LABELS = (
    "share of records changed (DTV)",
    "I(X;Y) [{unit}]",
    "H(X) [{unit}]",
    "H(X) - I(X;Y) [{unit}]",
    "expected distortion",
)

"""The six figures of what a column tells about S, and what Y still tells about X."""

from typing import NamedTuple

from linred.privacy import metrics


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


PRIVACY_LABELS = ("LDP", "log-lift", "max-lift", "min-lift", "mutual information", "maximal leakage")

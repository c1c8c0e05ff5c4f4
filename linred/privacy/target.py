"""Target: the limits that a mechanism was made to meet."""

import math
from typing import NamedTuple

from linred._common import validation


class Target(NamedTuple):
    """What a mechanism was made to meet, in nats; inf where nothing was asked."""

    ldp: float
    log_lift: float

    def __str__(self):
        named = ((name, value) for name, value in zip(self._fields, self, strict=True) if value < math.inf)
        return " and ".join(f"{name} <= {value!r}" for name, value in named)

    def is_met_by(self, figures):
        return figures.ldp <= self.ldp and figures.log_lift <= self.log_lift


def target(ldp, log_lift):
    """The `Target`; one of them may be None."""
    if ldp is None and log_lift is None:
        raise ValueError("a target is needed: ldp=, log_lift= or both")
    return Target(
        math.inf if ldp is None else validation.number("ldp", ldp, 0.0, math.inf),
        math.inf if log_lift is None else validation.number("log_lift", log_lift, 0.0, math.inf),
    )

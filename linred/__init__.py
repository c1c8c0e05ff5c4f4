"""linred publishes a column X while protecting a correlated sensitive column S.

    records or matrix -> Joint -> mechanism -> sampler -> sanitised records
                           |         |           |
                        metrics    report    certificate

The names below are the library; each is documented where it is defined.
"""

from linred.calibrate import alpha_for
from linred.joint import Joint
from linred.mechanism import Mechanism, linear_reduction, markov, non_markov
from linred.metrics import (
    alpha_leakage,
    dp,
    first_order,
    ldp,
    log_lift,
    max_lift,
    maximal_leakage,
    min_lift,
    mutual_information,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "Joint",
    "Mechanism",
    "Sampler",
    "alpha_for",
    "alpha_leakage",
    "dp",
    "first_order",
    "ldp",
    "linear_reduction",
    "log_lift",
    "markov",
    "max_lift",
    "maximal_leakage",
    "min_lift",
    "mutual_information",
    "non_markov",
]


def __getattr__(name):
    """`Sampler` is loaded when it is asked for: what it needs takes as long to import as all the rest."""
    if name == "Sampler":
        from linred.sampler import Sampler

        return Sampler
    raise AttributeError(f"module 'linred' has no attribute {name!r}")

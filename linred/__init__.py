"""linred publishes a column X while protecting a correlated sensitive column S.

    records or matrix -> Joint -> mechanism -> sampler -> sanitised records
                           |         |           |
                        metrics   tradeoff  certificate
                                    certify, fit, audit, Monitor: what holds on estimated data

The names below are the library; each is documented where it is defined.
"""

from importlib import import_module

from linred._version import __version__ as __version__
from linred.design.calibration import alpha_for
from linred.design.closed_form import markov, non_markov
from linred.distribution.joint import Joint
from linred.distribution.linear_reduction import linear_reduction
from linred.mechanism.mechanism import Mechanism
from linred.privacy.metrics import (
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

__all__ = [
    "DriftError",
    "DriftWarning",
    "Joint",
    "Mechanism",
    "Monitor",
    "NotOptimalWarning",
    "Sampler",
    "Sanitizer",
    "alpha_for",
    "alpha_leakage",
    "audit",
    "baselines",
    "certify",
    "dp",
    "first_order",
    "fit",
    "ldp",
    "linear_reduction",
    "load",
    "local",
    "log_lift",
    "markov",
    "max_lift",
    "maximal_leakage",
    "min_lift",
    "mutual_information",
    "non_markov",
    "optimal",
    "sanitize_frame",
    "selective",
    "tradeoff",
]


_LATER = {
    "DriftError": "errors",
    "DriftWarning": "errors",
    "Monitor": "assurance.monitor",
    "NotOptimalWarning": "errors",
    "Sampler": "sampling.sampler",
    "Sanitizer": "frames.estimator",
    "audit": "assurance.audit",
    "certify": "assurance.certify",
    "fit": "design.fit",
    "load": "mechanism.artifact_reader",
    "local": "privacy.local_geometry",
    "optimal": "design.optimal",
    "sanitize_frame": "frames.sanitize_frame",
    "selective": "design.selective",
    "tradeoff": "report.tradeoff",
}
"""Loaded when asked for, from these modules: what they need takes as long to import as all the rest."""


def __getattr__(name):
    if name == "baselines":
        return import_module("linred.design.baselines")
    if name in _LATER:
        return getattr(import_module(f"linred.{_LATER[name]}"), name)
    raise AttributeError(f"module 'linred' has no attribute {name!r}")


def __dir__():
    return sorted({*globals(), *__all__})

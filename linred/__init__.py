"""linred publishes a column X while protecting a correlated sensitive column S.

    records or matrix -> Joint -> mechanism -> sampler -> sanitised records
                           |         |           |
                        metrics   tradeoff  certificate

`fit` builds a mechanism from records, and `mechanism.sanitize` applies it. If P(S, X) is estimated, `certify` gives
figures that hold with confidence, `audit` tests a release, and `Monitor` detects drift.

`dir(linred)` lists the public names. help(linred.fit) and the like document each of them.
"""

from importlib import import_module

from linred._kernels import simd as _simd  # noqa: F401, raises ImportError if LINRED_SIMD names an unsupported level
from linred._version import __version__ as __version__

_HOME = {
    "ArtifactError": "errors",
    "CannotMeetError": "errors",
    "DriftError": "errors",
    "DriftWarning": "errors",
    "FileError": "errors",
    "Joint": "distribution.joint",
    "Mechanism": "mechanism.mechanism",
    "Monitor": "assurance.monitor",
    "NotFittedError": "errors",
    "NotOptimalWarning": "errors",
    "Sampler": "sampling.sampler",
    "Sanitizer": "frames.estimator",
    "Target": "privacy.target",
    "UnseenError": "errors",
    "alpha_for": "design.calibration",
    "alpha_leakage": "privacy.metrics",
    "audit": "assurance.audit",
    "baselines": "design",
    "certify": "assurance.certify",
    "delta": "privacy.metrics",
    "dp": "privacy.metrics",
    "first_order": "privacy.local_geometry",
    "fit": "design.fit",
    "ldp": "privacy.metrics",
    "ldp_given_x": "mechanism.leakage_given_x",
    "linear_reduction": "distribution.linear_reduction",
    "load": "mechanism.artifact_reader",
    "local": "privacy.local_geometry",
    "log_lift": "privacy.metrics",
    "markov": "design.closed_form",
    "max_chi_square": "privacy.chi_square",
    "max_lift": "privacy.metrics",
    "maximal_leakage": "privacy.metrics",
    "min_lift": "privacy.metrics",
    "modes": "privacy.chi_square",
    "mutual_information": "privacy.metrics",
    "non_markov": "design.closed_form",
    "optimal": "design.optimal",
    "pairs_by_distance": "privacy.pair_limits",
    "sanitize_frame": "frames.sanitize_frame",
    "selective": "design.selective",
    "tradeoff": "report.tradeoff",
}
"""Module of each public name; a name is imported on first use. `__init__.pyi` lists the same names for editors."""

__all__ = [*_HOME]


def __getattr__(name):
    if name not in _HOME:
        raise AttributeError(f"module 'linred' has no attribute {name!r}")
    home = import_module(f"linred.{_HOME[name]}")
    value = import_module("linred.design.baselines") if name == "baselines" else getattr(home, name)
    globals()[name] = value
    return value


def __dir__():
    return [*__all__]

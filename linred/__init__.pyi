# The public names for editors and type checkers; linred/__init__.py loads them when they are asked for.
from linred.assurance.audit import audit as audit
from linred.assurance.certify import certify as certify
from linred.assurance.monitor import Monitor as Monitor
from linred.design import baselines as baselines
from linred.design.calibration import alpha_for as alpha_for
from linred.design.closed_form import markov as markov
from linred.design.closed_form import non_markov as non_markov
from linred.design.fit import fit as fit
from linred.design.optimal import optimal as optimal
from linred.design.selective import selective as selective
from linred.distribution.joint import Joint as Joint
from linred.distribution.linear_reduction import linear_reduction as linear_reduction
from linred.errors import ArtifactError as ArtifactError
from linred.errors import CannotMeetError as CannotMeetError
from linred.errors import DriftError as DriftError
from linred.errors import DriftWarning as DriftWarning
from linred.errors import FileError as FileError
from linred.errors import NotFittedError as NotFittedError
from linred.errors import NotOptimalWarning as NotOptimalWarning
from linred.errors import UnseenError as UnseenError
from linred.frames.estimator import Sanitizer as Sanitizer
from linred.frames.sanitize_frame import sanitize_frame as sanitize_frame
from linred.mechanism.artifact_reader import load as load
from linred.mechanism.leakage_given_x import ldp_given_x as ldp_given_x
from linred.mechanism.mechanism import Mechanism as Mechanism
from linred.privacy.chi_square import max_chi_square as max_chi_square
from linred.privacy.chi_square import modes as modes
from linred.privacy.local_geometry import first_order as first_order
from linred.privacy.local_geometry import local as local
from linred.privacy.metrics import alpha_leakage as alpha_leakage
from linred.privacy.metrics import delta as delta
from linred.privacy.metrics import dp as dp
from linred.privacy.metrics import ldp as ldp
from linred.privacy.metrics import log_lift as log_lift
from linred.privacy.metrics import max_lift as max_lift
from linred.privacy.metrics import maximal_leakage as maximal_leakage
from linred.privacy.metrics import min_lift as min_lift
from linred.privacy.metrics import mutual_information as mutual_information
from linred.privacy.pair_limits import pairs_by_distance as pairs_by_distance
from linred.privacy.target import Target as Target
from linred.report.tradeoff import tradeoff as tradeoff
from linred.sampling.sampler import Sampler as Sampler

__version__: str
__all__ = [
    "ArtifactError",
    "CannotMeetError",
    "DriftError",
    "DriftWarning",
    "FileError",
    "Joint",
    "Mechanism",
    "Monitor",
    "NotFittedError",
    "NotOptimalWarning",
    "Sampler",
    "Sanitizer",
    "Target",
    "UnseenError",
    "alpha_for",
    "alpha_leakage",
    "audit",
    "baselines",
    "certify",
    "delta",
    "dp",
    "first_order",
    "fit",
    "ldp",
    "ldp_given_x",
    "linear_reduction",
    "load",
    "local",
    "log_lift",
    "markov",
    "max_chi_square",
    "max_lift",
    "maximal_leakage",
    "min_lift",
    "modes",
    "mutual_information",
    "non_markov",
    "optimal",
    "pairs_by_distance",
    "sanitize_frame",
    "selective",
    "tradeoff",
]

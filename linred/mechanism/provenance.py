"""What hangs on a mechanism: figures that hold with confidence, and what they cost."""

from dataclasses import dataclass
from typing import ClassVar

from linred._common.render import Printed
from linred.privacy.leakage import Leakage

NOTHING = "no value tells anything, whatever the data"
HELD_OUT, FITTED = "held out", "fitted"
"""What certified figures come from: records that were not used for fitting, or the counts of the fit."""


@dataclass(frozen=True, repr=False)
class Certified(Printed, Leakage):
    """Figures in nats. Each is at or above the truth with probability `confidence`; see `certify` for what is random.

    plug_in, ceiling : figures of the same kinds, without confidence. because : what makes `ldp` as large as it is.
    together : whether all figures hold at once with that confidence; otherwise each does by itself.
    """

    confidence: float
    basis: str
    n_records: int
    together: bool
    because: str
    plug_in: Leakage
    ceiling: Leakage

    rounding: ClassVar[str] = "up"
    words = "certified"


@dataclass(frozen=True, repr=False)
class Design(Printed):
    """How a mechanism came to be that meets its target with confidence; `mechanism.design`.

    redrawn_s, redrawn_x : labels of the s, and of the x, of which all records are redrawn from P_X: too rare to say
        anything about. redrawn : the share of the records whose pair (s, x) is.
    n_fitted, n_held_out : records that it was fitted on, and tested on.
    n_passed, n_steps : how many steps of the path passed before one failed, of how many.
    dtv, dtv_plug_in, dtv_ceiling : the share of records that change; that of the optimum if the fitted P(S, X) were the
        truth; that of Lemma 1 for a ceiling that needs no data. The price of confidence.
    """

    redrawn_s: tuple
    redrawn_x: tuple
    redrawn: float
    n_fitted: int
    n_held_out: int
    n_passed: int
    n_steps: int
    dtv: float
    dtv_plug_in: float
    dtv_ceiling: float

    words = "design"

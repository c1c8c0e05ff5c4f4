"""Records of how a mechanism was certified and designed: `Certified`, `Design`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from linred._common.render import Printed
from linred._common.types import Label
from linred.privacy.leakage import Leakage

NOTHING = "Y reveals nothing about S, whatever P(S, X) is"
"""Explanation of an LDP of 0."""
HELD_OUT, FITTED = "held out", "fitted"
"""Basis of certified figures: records that were not used for fitting, or the counts of the fit."""


@dataclass(frozen=True, repr=False)
class Certified(Printed, Leakage):
    """Figures in nats, each at or above its true value with probability `confidence`; see `certify` for what is random.

    basis : what the figures are computed from, "held out" records or the "fitted" counts; n_records : their number.
    together : whether all figures hold simultaneously with that confidence; otherwise each holds by itself.
    because : what determines `ldp`. It contains labels.
    plug_in : the plug-in estimates. ceiling : the worst-case bounds, which need no data.
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
    """How a mechanism was built that meets its target with confidence, and what that cost; `mechanism.design`.

    redrawn : share of the records in rare pairs (s, x), which change at least 90 % as often as if they were drawn from
        P_X, because their counts are too small to certify.
    redrawn_s, redrawn_x : labels of the s, and of the x, whose pairs are all rare.
    n_fitted : number of records of the fit, all of which also serve to certify.
    n_held_out, n_passed, n_steps : of artifacts of an earlier method, which tested a path of mechanisms on records that
        were held out: their number, and the numbers of steps that passed and of all steps. Otherwise 0.
    dtv : share of changed records. dtv_plug_in : that of the optimum for the fitted P(S, X), without confidence.
    dtv_ceiling : that of Lemma 1, whose worst-case bound meets the target without any data.
    """

    redrawn_s: tuple[Label, ...]
    redrawn_x: tuple[Label, ...]
    redrawn: float
    n_fitted: int
    n_held_out: int
    n_passed: int
    n_steps: int
    dtv: float
    dtv_plug_in: float
    dtv_ceiling: float

    words = "design"

"""`linred.audit`: lower bounds of the leakage of released records, and a test of whether a mechanism released them.

A certificate bounds figures from above before a release; an audit bounds them from below from the released records. The
largest of many lower bounds is too high if any one of them is, so the level is shared among all (y, s, s') that are
examined.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context
from typing import TYPE_CHECKING, Any, ClassVar

from linred._common import validation
from linred._common.render import Printed
from linred._common.types import Column
from linred.assurance.conformance import conformance
from linred.assurance.released import Released
from linred.privacy.leakage import FIGURES, Leakage
from linred.privacy.target import Target

if TYPE_CHECKING:
    from linred.mechanism.mechanism import Mechanism

FAMILIES = {"ldp": 1, "log_lift": 2, "max_lift": 2, "min_lift": 2, "mutual_information": 3, "maximal_leakage": 4}
"""Figures of one family share their limits, so they hold simultaneously at the full level."""


@dataclass(frozen=True, repr=False)
class Audit(Printed, Leakage):
    """Figures in nats, each at or below its true value with probability `confidence`; see `audit`.

    where : labels (y, s, s') at which the LDP bound is attained. s or s' may be `OTHERS`, which stands for all other s.
        None if the bound is 0.
    claim : `Leakage` with the claimed figures, infinite if not claimed; None without a claim.
    refuted : whether a figure is above the claim; None without a claim. False does not prove the claim.
    conforms : False if the records did not come from the mechanism, True if no test speaks against it, None if that was
        not tested.
    reasons : sentences that say what speaks against the claim or the mechanism. They contain labels.
    not_tested : names of the limits of a claimed `Target` that none of the six figures answers.
    """

    confidence: float
    n_records: int
    where: tuple[Any, Any, Any] | None
    claim: Leakage | None
    refuted: bool | None
    conforms: bool | None
    reasons: tuple[str, ...]
    not_tested: tuple[str, ...]

    rounding: ClassVar[str] = "down"
    words = "audit"

    @property
    def n_families_claimed(self) -> int:
        """The number of families of claimed figures, whose bounds hold simultaneously."""
        return _n_families(self.claim)


def audit(
    s: Column,
    y: Column,
    *,
    x: Column = None,
    mechanism: Mechanism | None = None,
    claim: Any = None,
    confidence: float = 0.95,
) -> Audit:
    """Return lower bounds of what released records reveal about S, and test a claim and a mechanism against them.

    Parameters
    ----------
    s, y : columns of records, as in `Joint.from_records`
        The sensitive column and the released column.
    x : column, optional
        The public column before the release. With it and the mechanism, the transitions (s, x) -> y are tested.
    mechanism : Mechanism, optional
        The mechanism that is said to have released y. A value of s or x outside its alphabets raises `UnseenError`.
    claim : number, mapping or object, optional
        LDP in nats; or {"ldp": 1.0, "log_lift": ...}; or an object with such attributes: `sampler.certificate()`, the
        result of `certify`, or a `Target`. Infinite figures claim nothing. Of a `Target`, only limits of LDP and lifts
        are tested; the result names the others in `not_tested`.
    confidence : float in (0, 1)

    Guarantee
    ---------
    Suppose that given s the y are independent, each with distribution P(y|s), which may be any. Then `ldp` is at or
    below its true value with probability `confidence`, and so is `maximal_leakage`. If the pairs (s, y) are independent
    and identically distributed, the same holds for the three lifts simultaneously and for `mutual_information`. Neither
    the alphabets nor their sizes are assumed: see `linred.assurance.released`. If figures of several families are
    claimed (the lifts are one family), the bounds of those hold simultaneously, so a true claim is refuted with
    probability at most 1 - confidence. No figure is negative. The figures are those of the distribution of these
    records, which need not be the distribution that the mechanism was fitted on.

    If the mechanism's sampler drew y with independent randomness for each record, `conforms` is False with probability
    at most 1 - confidence. One transition of probability zero in the sampled integers is enough to refute. Each of the
    following gets a third of the level: every (s, x, y) that can occur, by exact binomial tests; the number of changed
    records, in total, of each s and of each x, by Hoeffding's bound for sums of unequal probabilities; and, for all
    distances d, how often records i and i + d change together, which is too often if one keystream was used for two
    sets of records. This last test uses the first 4,194,304 records and needs them in the order in which they were
    drawn. A record that occurs twice, drawn by `ids=`, counts as shared randomness.

    Mutual information and maximal leakage are chosen on one half of the records and tested on the other. A fixed
    generator chooses the halves, so the same records in the same order always give the same figures.
    O(n log n + |S||Y|), plus O(|X|) for each pair (s, x) that occurs.

    >>> import linred
    >>> released = audit(["f", "m"] * 3000, ["a", "b"] * 2000 + ["b", "a"] * 1000, claim=0.5)
    >>> round(released.ldp, 3), released.where, released.refuted
    (0.62, ('a', 'f', 'm'), True)
    """
    level = 1.0 - validation.check_confidence(confidence)
    if mechanism is not None:
        validation.mechanism(mechanism)
    if x is not None and mechanism is None:
        raise ValueError("x= is given without mechanism=: give the mechanism that the transitions are tested against")
    claim, not_tested = _testable(claim)
    claimed = None if claim is None else _claimed(claim)
    released = Released(s, y, mechanism)
    conforms, more = (None, []) if mechanism is None else conformance(released, x, mechanism, level)
    figures, where = released.figures(level / max(1, _n_families(claimed)))
    refuted, reasons = (None, []) if claimed is None else _against_claim(figures, claimed)
    reasons = (*reasons, *more)
    return Audit(*figures, confidence, released.n, where, claimed, refuted, conforms, reasons, not_tested)  # type: ignore[call-arg]


def _testable(claim):
    """Return (claim, names of its limits that cannot be tested). Of a `Target` with such limits, only figures remain.

    The claim is None if no figures remain: nothing of it is then tested.
    """
    limits = claim.limits if isinstance(claim, Target) else {}
    others = tuple(name for name in limits if name not in (*FIGURES, "neighbors"))
    return (claim.figures or None) if others else claim, others


def _claimed(claim):
    """Return the claimed `Leakage`, infinite for figures that are not claimed."""
    if isinstance(claim, Mapping):
        if not claim:
            raise ValueError("claim is an empty mapping: give a figure, or None for no claim")
        for name in claim:
            if name not in FIGURES:
                raise ValueError(f"claim has {validation.shortened(name)}, but known figures are {', '.join(FIGURES)}")
        stated = {f"claim[{name!r}]": (name, value) for name, value in claim.items()}
    else:
        there = [name for name in FIGURES if hasattr(claim, name)]
        stated = {f"claim.{name}": (name, getattr(claim, name)) for name in there} or {"claim": ("ldp", claim)}
    figures = {name: validation.number(place, value, 0.0, math.inf) for place, (name, value) in stated.items()}
    return Leakage(*(figures.get(name, math.inf) for name in FIGURES))


def _n_families(claimed):
    figures = {} if claimed is None else claimed.as_dict()
    return len({FAMILIES[name] for name, value in figures.items() if value < math.inf})


def _against_claim(figures, claimed):
    """Return (whether a figure is above the claim, reasons)."""
    reasons = [
        f"{label} is at least {_rounded_down(figure):.6g}, above the claim of {most:.6g}"
        for label, figure, most in zip(FIGURES.values(), figures, claimed, strict=True)
        if figure > most
    ]
    return bool(reasons), reasons


def _rounded_down(figure):
    """Return a lower bound with six digits, never above the bound itself."""
    return float(Context(prec=6, rounding=ROUND_FLOOR).create_decimal_from_float(figure))

"""What released records show: `linred.audit`, lower bounds of a release's figures, and whether it fits the mechanism.

A certificate bounds figures from above, before a release; an audit bounds them from below, by what was released. The
largest of many lower bounds is too high if any of them is, so here every (y, s, s') that is looked at is paid for.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from linred._common import validation
from linred._common.render import Printed
from linred.assurance.conformance import conformance
from linred.assurance.released import Released
from linred.privacy.leakage import FIGURES, Leakage

FAMILIES = {"ldp": 1, "log_lift": 2, "max_lift": 2, "min_lift": 2, "mutual_information": 3, "maximal_leakage": 4}
"""Figures with the same number hold together as they are."""


@dataclass(frozen=True, repr=False)
class Audit(Printed, Leakage):
    """Figures in nats, each at or below the truth with probability `confidence`; see `audit`.

    where : labels (y, s, s') that show the LDP; s or s' may be `OTHERS`, all others together. None where it is 0.
    claim : a `Leakage` of the figures that were claimed, infinite where none was; None without a claim.
    refuted : whether a figure is above the claim; None without one. False proves nothing.
    conforms : False where the transitions are not the mechanism's, True where nothing speaks against it; None where it
        was not tested.
    reasons : what speaks against the claim or the mechanism, in words.
    """

    confidence: float
    n_records: int
    where: tuple | None
    claim: Leakage | None
    refuted: bool | None
    conforms: bool | None
    reasons: tuple

    rounding: ClassVar[str] = "down"
    words = "audit"

    @property
    def n_kinds_claimed(self):
        """How many kinds of figures were claimed, which hold all at once."""
        return _n_families(self.claim)


def audit(s, y, *, x=None, mechanism=None, claim=None, confidence=0.95):
    """Lower bounds of what released records tell about S; a verdict on a claim; whether a mechanism released them.

    Parameters
    ----------
    s, y : columns of records, as in `Joint.from_records`: the truth, and what was released of it
    x : column, optional
        What was to be released. With it and the mechanism, the transitions (s, x) -> y are tested.
    mechanism : Mechanism, optional
        The one that is said to have released y. A value of s or x outside its alphabets is a ValueError.
    claim : number, mapping or object, optional
        LDP in nats; or {"ldp": 1.0, "log_lift": ...}; or anything with such attributes, `sampler.certificate()`, the
        result of `certify` or a target. Infinite figures claim nothing.
    confidence : float in (0, 1)

    Guarantee
    ---------
    Given s, let the y be independent, each with P(y|s), which may be anything. Then `ldp` is at or below the truth with
    probability `confidence`, and so is `maximal_leakage`. If pairs (s, y) are independent and alike, so are the three
    lifts, all at once, and `mutual_information`. No alphabet is assumed, nor its size: see
    `linred.assurance.released`. Where figures of several kinds are claimed (the lifts are one kind), those hold all at
    once, and so a claim that is true is called refuted with probability 1 - confidence at most. No figure is negative.
    They are of the distribution that these records come from, whether or not that is the one that the mechanism was
    fitted on.

    If the mechanism's sampler drew y with randomness of its own for every record, `conforms` is False with probability
    1 - confidence at most. A move of probability zero in the integers refutes by itself. A third of the level each goes
    to: every (s, x, y) that can happen, by exact binomial tests; the number of changed records, in all, of each s and
    of each x, by Hoeffding's bound for sums of unequal probabilities; and, for all distances d, how often records i and
    i + d change together: too often, where one keystream was used for two sets of records. That looks at the first
    4,194,304 records, and needs them in the order they were drawn in; a record that is there twice, by `ids=`, counts.

    Mutual information and maximal leakage are found on one half of the records and tested on the other; a fixed
    generator chooses them, so the same records in the same order always get the same figures.
    O(n log n + |S||Y|), and O(|X|) for every pair (s, x) that occurs.

    >>> import linred
    >>> released = audit(["f", "m"] * 3000, ["a", "b"] * 2000 + ["b", "a"] * 1000, claim=0.5)
    >>> round(released.ldp, 3), released.where, released.refuted
    (0.62, ('a', 'f', 'm'), True)
    """
    level = 1.0 - validation.check_confidence(confidence)
    if mechanism is not None:
        validation.mechanism(mechanism)
    if x is not None and mechanism is None:
        raise ValueError("x is given without a mechanism: the transitions from x to y are tested against one")
    claimed = None if claim is None else _claimed(claim)
    released = Released(s, y, mechanism)
    conforms, more = (None, []) if mechanism is None else conformance(released, x, mechanism, level)
    figures, where = released.figures(level / max(1, _n_families(claimed)))
    refuted, reasons = (None, []) if claimed is None else _against_claim(figures, claimed)
    return Audit(*figures, confidence, released.n, where, claimed, refuted, conforms, (*reasons, *more))


def _claimed(claim):
    """The `Leakage` that is claimed, infinite where nothing is."""
    if isinstance(claim, Mapping):
        if not claim:
            raise ValueError(f"claim = {claim!r} claims nothing: give a figure, or None")
        for name in claim:
            if name not in FIGURES:
                raise ValueError(f"claim has {name!r}, which is none of {', '.join(FIGURES)}")
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
    """(whether a figure is above what is claimed, reasons)."""
    reasons = [
        f"{label} is at least {figure:.6g}, and claimed to be {most:.6g}"
        for label, figure, most in zip(FIGURES.values(), figures, claimed, strict=True)
        if figure > most
    ]
    return bool(reasons), reasons

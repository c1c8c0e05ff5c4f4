"""The section of the page on privacy against changed records: curves of other mechanisms around this one."""

import math
import warnings
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from linred.design.calibration import alpha_for
from linred.design.registry import KINDS
from linred.errors import NotOptimalWarning
from linred.privacy.leakage import FIGURES
from linred.report import html_templates as words
from linred.report.curves import leakages
from linred.report.html_chart import chart, sample
from linred.report.html_tables import section, table
from linred.report.html_values import share, unit
from linred.report.limits import WORDS
from linred.report.promise import measure_of
from linred.report.tradeoff import tradeoff as curves_of

N_POINTS = 15
"""Number of points of a curve."""

OPTIMAL_CELLS, SELECTIVE_CELLS, MANY_CELLS = 1500, 50_000, 20_000
"""Largest numbers of pairs (s, x) for a curve of these mechanisms; above MANY_CELLS, curves have half the points."""

ROWS_CELLS = 250
"""Largest number of pairs (s, x) for a curve of optima with limits between pairs or groups of S, which take longer."""

NOTHING = 1e-9
"""Leakage in nats, or a share of records, that counts as zero."""


def line_styles():
    """Return the colour and the dashes of every mechanism that the page may have a curve of."""
    styles = ""
    for known, kind in KINDS.items():
        if kind.page_colours:
            dashes = " ".join(f"{words.LINE_WIDTH * part:g}" for part in kind.dashes) or "none"
            styles += words.LINE_STYLE.format(known, *kind.page_colours, dashes)
    return styles


class Plane(NamedTuple):
    """The horizontal axis: a measure of leakage, and which limits keep it below a target."""

    measure: str  # name in `MEASURES` of linred.report.curves
    name: str  # in words
    before: float  # of X
    own: float  # of the mechanism
    limit: str  # keyword of the target
    others: Mapping = {}  # keywords beside it

    @classmethod
    def of(cls, told):
        """Return the plane of the promise; that of LDP if the promise is about limits of pairs."""
        joint, released, target = told.mechanism.joint, told.mechanism.released, told.mechanism.target
        measure = "ldp" if measure_of(told) == "pairs" else measure_of(told)
        before, own = (leakages(one, target, math.e)[measure] for one in (joint, released))
        if measure == "dp":
            return cls(measure, WORDS["dp"], before, own, "dp", {"neighbors": target.neighbors})
        if measure == "secrets":
            groups = [secret.groups for secret in target.secrets]
            return cls(measure, "LDP of the secrets", before, own, "ldp", {"secrets": groups})
        return cls(measure, FIGURES[measure], before, own, measure)

    def has_optima(self, n_cells):
        """Return whether a curve of optima takes little time."""
        return n_cells <= (ROWS_CELLS if self.others else OPTIMAL_CELLS)


def tradeoff(told):
    """Return the section of the trade-off: chart, key, notes and numbers."""
    title, plane = "Privacy against changed records", Plane.of(told)
    if plane.before <= NOTHING:
        return section(title, "<p>X reveals nothing about S, so there is nothing to trade off.</p>")
    targets, curves = _curves(told.mechanism.joint, plane)
    key = {kind: f"<b>{KINDS[kind].label}</b>: {words.KEY[kind]}" for kind in curves}
    key["own"] = f"<b>this mechanism</b>: {share(told.report.utility.dtv)} at {plane.name} {unit(plane.own)}"
    items = "".join(f"<li>{sample(kind)}{said}</li>" for kind, said in key.items())
    columns = [shares for _, shares in curves.values()]
    rows = [[f"{target:.4g}", *map(share, row)] for target, *row in zip(targets, *columns, strict=True)]
    head = f"target {plane.name}, nats", *(KINDS[kind].label for kind in curves)
    numbers = table("Share of changed records", head, rows)
    return section(
        title,
        f'<figure>{chart(told, plane, targets, curves)}<ul class="key">{items}</ul></figure>',
        f"<p>{' '.join(_notes(told, plane, curves))}</p>",
        f"<details><summary>The numbers of the curves</summary>{numbers}</details>",
    )


def _notes(told, plane, curves):
    n_cells = math.prod(told.mechanism.joint.shape)
    cases = {
        "built": True,
        "infinite": plane.own == math.inf,
        "independent": told.report.utility.mutual_information <= NOTHING,
        "marginal": not told.keeps_marginal,
        "distortion": told.mechanism.distortion is not None,
        "both": not told.limited <= {plane.measure},
        "x alone": not told.mechanism.sees_s,
        "certified": told.mechanism.certified is not None,
        "large": not plane.has_optima(n_cells),
        "failed": len(curves) < len(_kinds(plane, n_cells)),
    }
    return [words.NOTES[case].format(name=plane.name) for case, holds in cases.items() if holds]


def _kinds(plane, n_cells):
    """Return the mechanisms that curves can be drawn of in little time."""
    if plane.has_optima(n_cells):
        return "markov", "non_markov", "optimal"
    return ("markov", "non_markov", "selective")[: 3 if n_cells <= SELECTIVE_CELLS and not plane.others else 2]


def _curves(joint, plane):
    """Return (targets, {kind: (figures, shares of changed records)}) around a mechanism's own figure."""
    n_cells, own = math.prod(joint.shape), plane.own
    top = min(plane.before, 3.0 if own == math.inf else max(1.0, 2.5 * own))
    targets = np.linspace(top / 24, top, N_POINTS if n_cells <= MANY_CELLS else N_POINTS // 2)
    if 1e-6 <= own < top:
        targets = np.union1d(targets, own)
    alphas = [alpha_for(joint, **{plane.limit: target}, **plane.others) for target in targets.tolist()]
    curves = {}
    for kind in _kinds(plane, n_cells):
        # An alpha is exact, and needs no tables of integers. Its figures are the target unless it has them itself.
        closed = kind in ("markov", "non_markov")
        points = {"alphas": alphas} if closed else {plane.limit: targets, **plane.others}
        with warnings.catch_warnings(), suppress(ValueError):
            warnings.simplefilter("ignore", NotOptimalWarning)
            curve = curves_of(joint, mechanisms=[kind], **points)[kind]
            if not np.isnan(curve["dtv"]).any():
                figures = curve[plane.measure]
                curves[kind] = np.where(np.isnan(figures), targets, figures), curve["dtv"]
    return targets, curves

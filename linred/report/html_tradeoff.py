"""The section of the page on privacy against changed records: curves of other mechanisms around this one."""

import math
import warnings
from contextlib import suppress

import numpy as np

from linred.design.calibration import alpha_for
from linred.design.registry import KINDS
from linred.errors import NotOptimalWarning
from linred.report import html_templates as words
from linred.report.html_chart import chart, sample
from linred.report.html_tables import section, table
from linred.report.html_values import share, unit
from linred.report.tradeoff import tradeoff as curves_of

N_POINTS = 15
"""Number of points of a curve."""

OPTIMAL_CELLS, SELECTIVE_CELLS, MANY_CELLS = 1500, 50_000, 20_000
"""Largest numbers of pairs (s, x) for a curve of these mechanisms; above MANY_CELLS, curves have half the points."""

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


def tradeoff(told):
    """Return the section of the trade-off: chart, key, notes and numbers."""
    title = "Privacy against changed records"
    before, own = (getattr(figures, told.measure) for figures in (told.report.before, told.report.after))
    if before <= NOTHING:
        return section(title, "<p>X reveals nothing about S, so there is nothing to trade off.</p>")
    targets, curves = _curves(told.mechanism.joint, told.measure, own, before)
    key = {kind: f"<b>{KINDS[kind].label}</b>: {words.KEY[kind]}" for kind in curves}
    key["own"] = f"<b>this mechanism</b>: {share(told.report.utility.dtv)} at {words.NAMES[told.measure]} {unit(own)}"
    items = "".join(f"<li>{sample(kind)}{said}</li>" for kind, said in key.items())
    columns = [shares for _, shares in curves.values()]
    rows = [[f"{target:.4g}", *map(share, row)] for target, *row in zip(targets, *columns, strict=True)]
    head = f"target {words.NAMES[told.measure]}, nats", *(KINDS[kind].label for kind in curves)
    numbers = table("Share of changed records", head, rows)
    return section(
        title,
        f'<figure>{chart(told, targets, curves, own)}<ul class="key">{items}</ul></figure>',
        f"<p>{' '.join(_notes(told, own, curves))}</p>",
        f"<details><summary>The numbers of the curves</summary>{numbers}</details>",
    )


def _notes(told, own, curves):
    n_cells = math.prod(told.mechanism.joint.shape)
    cases = {
        "built": True,
        "infinite": own == math.inf,
        "independent": told.report.utility.mutual_information <= NOTHING,
        "marginal": not told.keeps_marginal,
        "distortion": told.mechanism.distortion is not None,
        "both": not told.limited <= {told.measure},
        "x alone": not told.mechanism.sees_s,
        "certified": told.mechanism.certified is not None,
        "large": n_cells > OPTIMAL_CELLS,
        "failed": len(curves) < (3 if n_cells <= SELECTIVE_CELLS else 2),
    }
    return [words.NOTES[case].format(name=words.NAMES[told.measure]) for case, holds in cases.items() if holds]


def _curves(joint, measure, own, before):
    """Return (targets, {kind: (figures, shares of changed records)}) around a mechanism's own figure."""
    n_cells = math.prod(joint.shape)
    top = min(before, 3.0 if own == math.inf else max(1.0, 2.5 * own))
    targets = np.linspace(top / 24, top, N_POINTS if n_cells <= MANY_CELLS else N_POINTS // 2)
    if 1e-6 <= own < top:
        targets = np.union1d(targets, own)
    alphas = {"alphas": [alpha_for(joint, **{measure: target}) for target in targets.tolist()]}
    asked = {"markov": alphas, "non_markov": alphas}
    if n_cells <= SELECTIVE_CELLS:
        asked["optimal" if n_cells <= OPTIMAL_CELLS else "selective"] = {measure: targets}
    curves = {}
    for kind, points in asked.items():
        with warnings.catch_warnings(), suppress(ValueError):
            warnings.simplefilter("ignore", NotOptimalWarning)
            curve = curves_of(joint, mechanisms=[kind], **points)[kind]
            curves[kind] = curve[measure], curve["dtv"]
    return targets, curves

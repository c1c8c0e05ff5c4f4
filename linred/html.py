"""A mechanism as one HTML page, for who signs for it: `page(mechanism)`.

The page has no script and fetches nothing. Figures are rounded for reading, those of the sampled integers upwards; in
full they are the `value` of the `<data>` element around them. It tells parts of P(S, X) and is confidential.

What is written stands at the end; before it the sections from top to bottom, the chart, and how numbers are said.
"""

import html
import math
import re
import warnings
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from linred import plots
from linred.calibrate import alpha_for
from linred.certify import Certificate
from linred.curves import tradeoff
from linred.fitted import names
from linred.mechanism import Mechanism
from linred.optimum import NotOptimalWarning
from linred.report import PRIVACY_LABELS, Report

N_SYMBOLS, N_MOVES, N_COLUMNS, N_POINTS = 20, 15, 30, 15
"""The most that is shown: symbols of X, moves, other columns, points of a curve."""

OPTIMAL_CELLS, SELECTIVE_CELLS, MANY_CELLS = 1500, 50_000, 20_000
"""Up to so many pairs (s, x) there is a curve of that mechanism; beyond the last, curves have half as many points."""

SAME, NOTHING = 1e-12, 1e-9
"""P(x) and P(y) no farther apart are the same; a column that tells no more nats tells nothing."""


def page(mechanism):
    """The page as text, the same for the same mechanism. A few seconds for large alphabets, mostly for the curves.

    >>> from linred import optimal
    >>> from linred.demo import example_1
    >>> text = page(optimal(example_1(), ldp=1.0))
    >>> text.startswith("<!doctype html>"), "<strong>6.32\\u00a0%</strong> of the records" in text
    (True, True)
    """
    from linred import __version__

    if not isinstance(mechanism, Mechanism):
        raise TypeError(f"mechanism is a {type(mechanism).__name__}, not a linred.Mechanism")
    told = _Told.of(mechanism)
    sections = (_headline, _about, _privacy, _utility, _tradeoff, _marginals, _moves, _other_columns, _assumptions)
    body = "\n".join(section(told) for section in sections)
    return PAGE.format(s=told.s, x=told.x, style=STYLE, body=body, version=__version__)


class _Told(NamedTuple):
    """What all sections tell about; s and x are names of columns, escaped."""

    mechanism: Mechanism
    report: Report
    certificate: Certificate
    measure: str  # what the headline and the curves are about, "ldp" or "log_lift"
    s: str
    x: str

    @classmethod
    def of(cls, mechanism):
        fitted, target = mechanism.fitted, mechanism.target
        sides = (" and ".join(names(side)) for side in (fitted.sensitive, fitted.public)) if fitted else ("S", "X")
        measure = "log_lift" if target and target.log_lift < target.ldp == math.inf else "ldp"
        return cls(mechanism, mechanism.report(), mechanism.sampler().certificate(), measure, *map(_escaped, sides))

    @property
    def n_records(self):
        return self.mechanism.joint.n_records

    @property
    def keeps_marginal(self):
        return bool(np.abs(self.mechanism.p_y - self.mechanism.joint.p_x).max() <= SAME)


def _headline(told):
    name, sampled = NAMES[told.measure], getattr(told.certificate, told.measure)
    before = _nats(getattr(told.report.before, told.measure))
    said = HEADLINE.get(sampled, HEADLINE[told.measure])
    private = said.format(s=told.s, name=name, before=before, sampled=_nats(sampled, up=True), factor=_factor(sampled))
    dtv, kept = told.report.utility.dtv, "stays the same" if told.keeps_marginal else "changes too"
    of_all = "" if told.n_records is None else f", about {_count(dtv * told.n_records)} of {told.n_records:,},"
    cost = f"<strong>{_share(dtv)}</strong> of the records{of_all} are changed" if dtv else "No record is changed"
    lead = f'<p class="lead">{private} {cost}; the distribution of <bdi>{told.x}</bdi> {kept}.</p>'
    return f"<h1>Publishing <bdi>{told.x}</bdi>, protecting <bdi>{told.s}</bdi></h1>{lead}"


def _about(told):
    mechanism, fitted, (n_s, n_x) = told.mechanism, told.mechanism.fitted, told.mechanism.joint.shape
    rows = {
        "Protected, S": _column(told.s, n_s, fitted and fitted.sensitive),
        "Published, X": _column(told.x, n_x, fitted and fitted.public) + "; Y is what is published of it",
        "Records": "given as a distribution, not counted" if told.n_records is None else f"{told.n_records:,}, counted",
        "Mechanism": _escaped(mechanism.described()),
        "Looks at": "s and x: both columns are needed to apply it" if mechanism.sees_s else "x alone: s is not needed",
        "Target": _target(told),
    }
    if fitted:
        rows["Alphabets"] = "declared beforehand" if fitted.declared else "read off the data"
        rows["Missing values"] = MISSING[fitted.missing]
    return "<dl>" + "".join(f"<dt>{term}</dt><dd>{said}</dd>" for term, said in rows.items()) + "</dl>"


def _column(name, n, parts):
    values = f"{n:,} value{'s' if n > 1 else ''}"
    if not parts:
        return values
    binned = [f"<bdi>{_escaped(part.name)}</bdi> in {len(part.bins)} bins" for part in parts if part.edges]
    return f"<bdi>{name}</bdi>, {values}" + (f" ({', '.join(binned)})" if binned else "")


def _target(told):
    target = told.mechanism.target
    asked = [name for name in NAMES if target and getattr(target, name) < math.inf]
    if not asked:
        return "none was set; the figures below are what it comes to"
    met = "met" if target.is_met_by(told.certificate) else "NOT met"
    limits = " and ".join(f"{NAMES[name]} at most {getattr(target, name)!r} nats" for name in asked)
    return f"{limits}: <strong>{met}</strong> by the integers that records are drawn with"


def _privacy(told):
    report, certificate, groups = told.report, told.certificate, ""
    for name, label in zip(report.after._fields, PRIVACY_LABELS, strict=True):
        before, after, sampled = (getattr(figures, name) for figures in (report.before, report.after, certificate))
        by = "without limit" if sampled == math.inf else f"by a factor of {_factor(sampled)} at most"
        groups += GROUP.format(
            label=label,
            before=_data(f"before.{name}", before, _nats(before)),
            after=_data(f"after.{name}", after, _nats(after)),
            sampled=_data(f"sampled.{name}", sampled, _nats(sampled, up=True)),
            means=MEANS[name].format(by=by),
        )
    return _section("What is told about S", _scrolling("What is told about S", PRIVACY.format(groups=groups)))


def _utility(told):
    utility, gap, n_records = told.report.utility, told.mechanism.gap, told.n_records
    rows = [["share of records changed", _data("utility.dtv", utility.dtv, _share(utility.dtv))]]
    if n_records is not None:
        changed = utility.dtv * n_records
        rows.append([f"records changed, expected, of {n_records:,}", _data("changed", changed, _count(changed))])
    for name, label in INFORMATION.items():
        value = getattr(utility, name)
        rows.append([label, _data(f"utility.{name}", value, _nats(value) + " nats")])
    if (cost := utility.expected_distortion) is not None:
        rows.append(["expected distortion, E d(X,Y)", _data("utility.expected_distortion", cost, f"{cost:.6g}")])
    rows.append([GAP, _data("gap", gap, _share(gap) if cost is None else f"{gap:.2g}")])
    return _section("What is left of X", _table("What it costs", ("figure", "value"), rows))


def _tradeoff(told):
    title = "Privacy against records changed"
    before, own = (getattr(figures, told.measure) for figures in (told.report.before, told.report.after))
    if before <= NOTHING:
        return _section(title, "<p>X tells nothing about S to begin with: there is nothing to trade.</p>")
    targets, curves = _curves(told.mechanism.joint, told.measure, own, before)
    key = {label: f"<b>{plots.STYLES[label][0]}</b>: {KEY[label]}" for label in curves}
    key["own"] = f"<b>this mechanism</b>: {_share(told.report.utility.dtv)} at {NAMES[told.measure]} {_unit(own)}"
    items = "".join(f"<li>{_sample(label)}{said}</li>" for label, said in key.items())
    rows = [
        [f"{target:.4g}", *map(_share, row)]
        for target, *row in zip(targets, *(curve[1] for curve in curves.values()), strict=True)
    ]
    head = f"{NAMES[told.measure]} asked, nats", *(plots.STYLES[label][0] for label in curves)
    numbers = _table("Share of records changed", head, rows)
    return _section(
        title,
        f'<figure>{_chart(told, targets, curves, own)}<ul class="key">{items}</ul></figure>',
        f"<p>{' '.join(_notes(told, own, curves))}</p>",
        f"<details><summary>The numbers of the curves</summary>{numbers}</details>",
    )


def _notes(told, own, curves):
    n_cells = math.prod(told.mechanism.joint.shape)
    cases = {
        "built": True,
        "infinite": own == math.inf,
        "drawn anew": told.report.utility.mutual_information <= NOTHING,
        "marginal": not told.keeps_marginal,
        "distortion": told.mechanism.distortion is not None,
        "both": told.mechanism.target is not None and max(told.mechanism.target) < math.inf,
        "x alone": not told.mechanism.sees_s,
        "large": n_cells > OPTIMAL_CELLS,
        "failed": len(curves) < (3 if n_cells <= SELECTIVE_CELLS else 2),
    }
    return [NOTES[case] for case, holds in cases.items() if holds]


def _curves(joint, measure, own, before):
    """(targets, {label: (figures, shares of records changed)}) around a mechanism's own figure."""
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
    for label, points in asked.items():
        with warnings.catch_warnings(), suppress(ValueError):
            warnings.simplefilter("ignore", NotOptimalWarning)
            curve = tradeoff(joint, mechanisms=[label], **points)[label]
            curves[label] = curve[measure], curve["dtv"]
    return targets, curves


def _marginals(told):
    joint, p_y = told.mechanism.joint, told.mechanism.p_y
    sides, largest = {"x": joint.p_x, "y": p_y}, np.maximum(joint.p_x, p_y)
    shown, rows = np.argsort(-largest, kind="stable")[:N_SYMBOLS].tolist(), []
    for x in shown:
        widths = (f"{100 * p[x] / largest[shown[0]]:.2f}" for p in sides.values())
        numbers = (_data(f"p_{side}", p[x], _share(p[x])) for side, p in sides.items())
        rows.append([_label(joint.x_labels[x]), BARS.format(*widths), *numbers])
    if n_others := joint.p_x.size - len(shown):
        others = (_share(np.delete(p, shown).sum()) for p in sides.values())
        rows.append([f"{n_others:,} other{'s' if n_others > 1 else ''} together", "", *others])
    distance = _share(0.5 * float(np.abs(joint.p_x - p_y).sum()))
    said = SAME_MARGINAL if told.keeps_marginal else OTHER_MARGINAL.format(distance=distance)
    table = _table("Share of records with each value", MARGINAL_HEAD, rows)
    return _section("The distribution of X before and after", f"<p>{said}</p>", table)


class Move(NamedTuple):
    """Records of (s, x) that become y, in codes; s is None where it is not looked at."""

    s: int | None
    x: int
    y: int
    share: float  # of all records
    of_group: float  # of the records of (s, x)


def largest_moves(mechanism, n):
    """The n `Move`s to another symbol that change the most records, the largest first.

    They are moves of the n pairs (s, x) whose largest one is largest. O(|S||X| + nonzeros log nonzeros + n |X|)."""
    p_sx = mechanism.joint.p_sx if mechanism.sees_s else mechanism.joint.p_x[None]
    move, table = mechanism.move[: len(p_sx)], mechanism.table_of[: len(p_sx)]
    largest, (indptr, y, probability) = p_sx * move * _largest_other(mechanism.tables, table), mechanism.tables
    found = []
    for pair in np.argsort(-largest, axis=None, kind="stable")[:n].tolist():
        s, x = divmod(pair, p_sx.shape[1])
        ends = slice(*indptr[table[s, x] : table[s, x] + 2])
        for to, of_group in zip(y[ends].tolist(), (move[s, x] * probability[ends]).tolist(), strict=True):
            found.append(Move(s if mechanism.sees_s else None, x, to, float(p_sx[s, x]) * of_group, of_group))
    found = [one for one in found if one.y != one.x and one.share > 0.0]
    return sorted(found, key=lambda one: (-one.share, one.s or 0, one.x, one.y))[:n]


def _largest_other(tables, table_of):
    """The largest probability of another symbol than x in the table of each (s, x)."""
    indptr, y, probability = tables
    order = np.lexsort((-probability, np.repeat(np.arange(indptr.size - 1), np.diff(indptr))))
    first, second = order[indptr[:-1]][table_of], order[np.minimum(indptr[:-1] + 1, indptr[1:] - 1)][table_of]
    x = np.arange(table_of.shape[1])
    place = np.where(y[first] == x, second, first)
    return np.where(y[place] == x, 0.0, probability[place])


def _moves(told):
    mechanism, joint, n_records = told.mechanism, told.mechanism.joint, told.n_records
    moves, rows = largest_moves(mechanism, N_MOVES), []
    if not moves:
        return _section("The largest moves", "<p>No record is changed.</p>")
    for move in moves:
        words = [_label(joint.x_labels[move.x]), _label(joint.x_labels[move.y])]
        numbers = [_data("move", move.share, _share(move.share)), _share(move.of_group)]
        numbers += [] if n_records is None else [_count(move.share * n_records)]
        rows.append([*([_label(joint.s_labels[move.s])] if mechanism.sees_s else []), *words, *numbers])
    head = [*(["S"] if mechanism.sees_s else []), "X", "becomes Y", "of all records", "of the group"]
    head += [] if n_records is None else ["records, expected"]
    covered = _share(min(1.0, sum(move.share for move in moves) / told.report.utility.dtv))
    group = "values of S and X" if mechanism.sees_s else "value of X"
    said = f"These {len(moves)} moves make up {covered} of all changes. A group is all records with the same {group}."
    table = _table("Moves that change the most records", head, rows, n_words=len(head) - len(numbers))
    return _section("The largest moves", f"<p>{said}</p>", table)


def _other_columns(told):
    title, fitted, released = "Other columns", told.mechanism.fitted, told.report.after.mutual_information
    if not fitted or not fitted.scanned:
        return _section(title, f"<p>{NOT_SCANNED}</p>")
    if not fitted.leaks:
        return _section(title, "<p>There was no other column when the mechanism was fitted.</p>")
    leaks, telling = sorted(fitted.leaks, key=lambda leak: -leak.beyond_chance), fitted.telling(released)
    shown, rows = leaks[: max(N_COLUMNS, len(telling))], []
    for leak in shown:
        information = _data("leak", leak.information, _nats(leak.information))
        rows.append(
            [
                _label(leak.column) + (" <strong>tells more than Y</strong>" if leak in telling else ""),
                f"{leak.n_values:,}",
                f"at least {information}" if leak.at_least else information,
                _nats(leak.by_chance),
                _share(leak.guessed),
            ]
        )
    blind = _share(float(told.mechanism.joint.p_s.max()))
    said = OTHER_COLUMNS.format(released=_nats(released), n=len(telling), all=len(leaks), blind=blind)
    said += f" {len(leaks) - len(shown)} that tell less are left out." if len(shown) < len(leaks) else ""
    return _section(title, f"<p>{said}</p>", _table("Columns that are passed on", LEAK_HEAD, rows))


def _assumptions(told):
    mechanism, fitted = told.mechanism, told.mechanism.fitted
    unseen = mechanism.joint._unseen if mechanism.sees_s else mechanism.joint.p_x == 0.0
    what, n_unseen = "pairs (s, x)" if mechanism.sees_s else "values of X", np.count_nonzero(unseen)
    never = f"{n_unseen:,} of the {unseen.size:,} {what} do not" if n_unseen else f"All {unseen.size:,} {what}"
    said = ASSUMPTIONS.format(
        fit=FIT_GIVEN if told.n_records is None else FIT_COUNTED.format(n=told.n_records),
        never=never,
        alphabet=ALPHABET[fitted and fitted.declared],
    )
    return _section("What this rests on", said)


def _section(title, *parts):
    return f"<section><h2>{title}</h2>{''.join(parts)}</section>"


def _scrolling(name, table):
    return f'<div class="scroll" role="region" aria-label="{name}" tabindex="0">{table}</div>'


def _table(caption, head, rows, n_words=1):
    """Cells are HTML; the first of a row is its header, the first n_words are text, the others numbers."""
    word = [' class="word"'] * n_words + [""] * (len(head) - n_words)
    heads = "".join(f'<th scope="col"{kind}>{cell}</th>' for kind, cell in zip(word, head, strict=True))
    body = ""
    for first, *others in rows:
        cells = "".join(f"<td{kind}>{cell}</td>" for kind, cell in zip(word[1:], others, strict=True))
        body += f'<tr><th scope="row">{first}</th>{cells}</tr>'
    table = f"<table><caption>{caption}</caption><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
    return _scrolling(caption, table)


LEFT, RIGHT, TOP, BOTTOM = 62.0, 470.0, 30.0, 250.0
"""The chart within its 480 x 300 units."""

LETTER, HALF_LINE, CLEAR, ASPECT = 0.021, 0.032, 0.015, (RIGHT - LEFT) / (BOTTOM - TOP)
"""Of names in the chart: a letter's share of its width and half a line's of its height, on a narrow screen, where they
are largest; what they keep clear of."""

LEAST_SHARE = 1e-6
"""No share below it is drawn on a logarithmic scale."""


class _Axes(NamedTuple):
    """Figures across from 0, shares of records up, from 0 or on a logarithmic scale."""

    right: float
    bottom: float  # 0 where the scale is linear
    top: float

    @classmethod
    def around(cls, right, shares, own_share):
        """With a logarithmic scale where a linear one would put the mechanism on the ground."""
        if LEAST_SHARE <= own_share < shares.max() / 16:
            least = max(shares[shares > 0.0].min(), own_share / 100, LEAST_SHARE)
            return cls(right, 10.0 ** math.floor(math.log10(least)), 1.0)
        return cls(right, 0.0, _steps(shares.max() or 1.0)[-1])

    def place(self, figures, shares):
        """Places in the chart as shares of its width and height: an array of (u, v), without what is not on it."""
        figures, shares = np.atleast_1d(figures) / self.right, np.atleast_1d(shares)
        if self.bottom:
            figures, shares = figures[shares >= self.bottom], shares[shares >= self.bottom]
            return np.stack([figures, np.log(shares / self.bottom) / math.log(self.top / self.bottom)], axis=1)
        return np.stack([figures, shares / self.top], axis=1)

    def drawn(self):
        """Ticks and a grid."""
        decades = range(round(math.log10(self.bottom)), 1) if self.bottom else ()
        marks, at = "", 'class="tick" x="{:.1f}" y="{:.1f}"'
        for share in [10.0**power for power in decades] or _steps(self.top):
            ((_, y),) = _units(self.place(0.0, share))
            marks += f'<line class="grid" x1="{LEFT}" x2="{RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
            marks += f'<text {at.format(LEFT - 6, y)} dy=".35em" text-anchor="end">{100 * share:g} %</text>'
        for figure in (step for step in _steps(self.right) if step <= self.right):
            ((x, _),) = _units(self.place(figure, self.top))
            marks += f'<text {at.format(x, BOTTOM + 18)} text-anchor="middle">{figure:g}</text>'
        return marks


def _steps(top):
    """0 and round numbers up to the first at or above the top, five or so."""
    unit = 10.0 ** math.floor(math.log10(top / 4))
    step = next(factor * unit for factor in (1, 2, 2.5, 5, 10) if 5 * factor * unit >= top)
    return [float(f"{i * step:.6g}") for i in range(math.ceil(top / step - 1e-9) + 1)]


def _units(places):
    """Places in the chart in the units of the picture."""
    return [(LEFT + u * (RIGHT - LEFT), BOTTOM - v * (BOTTOM - TOP)) for u, v in places.tolist()]


def _chart(told, targets, curves, own):
    own_share, right = told.report.utility.dtv, max(targets[-1], own if own < math.inf else 0.0)
    axes = _Axes.around(right, np.concatenate([[own_share], *(shares for _, shares in curves.values())]), own_share)
    lines = {label: axes.place(*curve) for label, curve in curves.items()}
    shapes = {"own": axes.place(min(own, right), own_share)} | {
        label: line for label, line in lines.items() if len(line)
    }
    called = {label: plots.STYLES[label][0] for label in curves}
    called["own"] = "this mechanism" + (" →" if own == math.inf else "")
    marks = axes.drawn()
    for label, line in lines.items():
        points = " ".join(f"{x:.1f},{y:.1f}" for x, y in _units(line))
        marks += f'<polyline class="line {label}" points="{points}"/>'
    for label, spot in _names_beside(shapes, called).items():
        ((x, y),) = _units(np.array([spot]))
        marks += f'<text class="name {label}" x="{x:.1f}" y="{y:.1f}" dy=".35em">{called[label]}</text>'
    if own < math.inf:
        ((x, y),) = _units(shapes["own"])
        marks += f'<circle class="own" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
    scale = ", logarithmic scale" if axes.bottom else ""
    return CHART.format(marks=marks, scale=scale, name=NAMES[told.measure], share=_share(own_share), nats=_unit(own))


def _names_beside(shapes, called):
    """{label: (u, v)} of the middle of names: near their own shapes, clear of the others and of names before them.

    A line's name is nearest to that line, or left out; the mechanism, which may be a point on one, is always named."""
    u, v = (part.ravel() for part in np.meshgrid(np.linspace(0.0, 1.0, 81), np.linspace(0.0, 1.0, 61)))
    dense = {label: _densely(shape) for label, shape in shapes.items()}
    spots = {}
    for label in shapes:
        half = 0.5 * LETTER * len(called[label])
        others = np.concatenate([shape for other, shape in dense.items() if other != label])
        near, far = (_distance(u, v, half, points) for points in (dense[label], others))
        within = (np.abs(u - 0.5) <= 0.49 - half) & (np.abs(v - 0.5) <= 0.5 - HALF_LINE)
        clear = within & (np.minimum(near, far) >= CLEAR) & ((far > near - 0.005) | (label == "own"))
        if clear.any() or label == "own":
            best = np.argmax(np.minimum(far, 0.1) - near - 10.0 * ~clear - 10.0 * ~within)
            spots[label] = u[best], v[best]
            corners = [(u[best] + side * half, v[best] + lift * HALF_LINE) for side in (-1, 1) for lift in (-1, 1)]
            dense[f"name of {label}"] = _densely(np.array(corners))
    return spots


def _densely(places):
    """Points along a line that are no farther apart than a letter."""
    along = np.linspace(0.0, len(places) - 1.0, 8 * len(places))
    return np.stack([np.interp(along, np.arange(len(places)), part) for part in places.T], axis=1)


def _distance(u, v, half, points):
    """How far boxes around (u, v), a name's size, are from the nearest of some points, in heights of the chart."""
    across = np.maximum(np.abs(u[:, None] - points[:, 0]) - half, 0.0) * ASPECT
    up = np.maximum(np.abs(v[:, None] - points[:, 1]) - HALF_LINE, 0.0)
    return np.hypot(across, up).min(axis=1)


def _sample(label):
    """A piece of a line for the key."""
    mark = '<circle class="own" cx="16" cy="6" r="4"/>'
    if label != "own":
        mark = f'<line class="line {label}" x1="0" x2="32" y1="6" y2="6"/>'
    return f'<svg class="sample" viewBox="0 0 32 12" aria-hidden="true">{mark}</svg>'


def _data(name, value, text):
    return f'<data data-figure="{name}" value="{float(value)!r}">{text}</data>'


def _nats(value, up=False):
    """A figure for reading, rounded to nearest or up."""
    if value == math.inf:
        return "infinite"
    if 0.0 < value < 1e-6:
        return "0.000001" if up else "under 0.000001"
    if value == 0.0:
        return "0"
    return _rounded(value, 4 if value >= 0.001 else 2 - math.floor(math.log10(value)), up)


def _unit(value):
    return "infinite" if value == math.inf else f"{_nats(value)} nats"


def _rounded(value, digits, up):
    text = f"{value:.{digits}f}"
    return f"{float(text) + 10.0**-digits:.{digits}f}" if up and float(text) < value else text


def _factor(nats):
    """e^nats, rounded up."""
    if nats > 13.0:
        return f"e<sup>{_rounded(nats, 1, up=True)}</sup>"
    return _rounded(math.exp(nats), 2 if nats >= 0.1 else 4, up=True)


def _share(value):
    """A share for reading, in per cent, with three digits that count."""
    percent = 100.0 * float(value)
    if 0.0 < percent < 0.0001:
        return "under\u00a00.0001\u00a0%"
    if percent >= 99.95 and value < 1.0 - SAME:
        return "over\u00a099.9\u00a0%"
    digits = max(1, 2 - math.floor(math.log10(percent))) if percent else 0
    return f"{percent:.{digits}f}\u00a0%"


def _count(value):
    return f"{value:,.0f}" if value >= 0.5 or value == 0.0 else "less than one"


def _label(label, longest=32):
    """A label's text, the end left out where it is long; hovering shows it all."""
    text = _plain(label)
    if len(text) <= longest:
        return f"<bdi>{html.escape(text)}</bdi>"
    return f'<bdi title="{html.escape(text)}">{html.escape(text[: longest - 1])}…</bdi>'


def _escaped(label):
    return html.escape(_plain(label))


def _plain(label):
    if isinstance(label, tuple):
        return " / ".join(map(_plain, label))
    text = "(missing)" if label is None else str(label) or "(empty)"
    return re.sub("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)


NAMES = {"ldp": "LDP", "log_lift": "log-lift"}
HEADLINE = {
    0.0: "A published value tells nothing about <bdi>{s}</bdi> ({name} 0 nats; unprotected it is {before}).",
    math.inf: "Some published values rule out a value of <bdi>{s}</bdi> altogether ({name} is infinite).",
    "ldp": "Whoever sees a published value can move the odds between any two values of <bdi>{s}</bdi> by a factor of"
    " <strong>{factor}</strong> at most ({name} at most {sampled} nats; unprotected it is {before}).",
    "log_lift": "A published value makes no value of <bdi>{s}</bdi> likelier or less likely by more than a factor of"
    " <strong>{factor}</strong> ({name} at most {sampled} nats; unprotected it is {before}).",
}
MISSING = {"category": "a value of their own", "skip": "records with one were left out of the fit"}
PRIVACY = """<table><caption>Before: X as it is. After: Y, by formula. Sampled: the integers that records are drawn
with, rounded up; this column is what holds. All 0 is perfect privacy.</caption><thead><tr><th scope="col">nats</th>
<th scope="col">before</th><th scope="col">after</th><th scope="col">sampled, at
most</th></tr></thead>{groups}</table>"""
GROUP = """<tbody><tr><th scope="rowgroup">{label}</th><td>{before}</td><td>{after}</td><td><b>{sampled}</b></td></tr>
<tr><td colspan="4" class="means">{means}</td></tr></tbody>"""
MEANS = {
    "ldp": "Seeing y moves the odds of one value of S against another {by}, whatever they were before.",
    "log_lift": "Seeing y makes a value of S likelier or less likely {by}: the larger of the next two.",
    "max_lift": "Seeing y makes a value of S likelier {by}.",
    "min_lift": "Seeing y makes a value of S less likely {by}.",
    "mutual_information": "What y tells about s on average, over all records; 0 where they are independent.",
    "maximal_leakage": "Seeing y raises the chance of guessing S, or anything that hangs on S alone, {by}.",
}
INFORMATION = {
    "mutual_information": "I(X;Y), what Y still tells about X",
    "entropy": "H(X), all there is to tell about X",
    "information_loss": "H(X) − I(X;Y), what is lost",
}
GAP = "gap: the least possible for its kind of mechanism is lower by at most"
KEY = {
    "markov": "keeps x or redraws it from P(x), without looking at s (the paper's Lemma 1)",
    "non_markov": "looks at s, and moves every P(x|s) by the same share (the paper's Proposition 1)",
    "optimal": "looks at s, and changes the fewest records possible at that figure",
    "selective": "looks at s, and is near the optimum",
}
NOTES = {
    "built": "Every point of a curve is a mechanism that was built and measured on the same P(S,X).",
    "infinite": "This mechanism is off the chart, to the right: its figure is infinite.",
    "drawn anew": "This mechanism draws y whatever s and x are, which changes more records than need be near 0.",
    "marginal": "The curves keep the distribution of X; this mechanism does not, and may lie under them.",
    "distortion": "This mechanism was made for the least distortion, the curves for few changes.",
    "both": "This mechanism meets a log-lift target as well; the curves are for LDP alone.",
    "x alone": "This mechanism looks at x alone, as Lemma 1 does; the other curves look at s as well.",
    "large": "The curve of the optimum is left out: with so many values it would take long.",
    "failed": "A curve is left out: not all of its points could be built.",
}
BARS = """<svg class="bars" aria-hidden="true"><rect class="x" y="1" width="{}%" height="6"/>
<rect class="y" y="9" width="{}%" height="6"/></svg>"""
MARGINAL_HEAD = "value", "", '<span class="x">X, before</span>', '<span class="y">Y, after</span>'
SAME_MARGINAL = "The distribution of Y is the same as that of X: counts and shares of its values stay right on average."
OTHER_MARGINAL = "The distribution of Y is not that of X: {distance} of it lies elsewhere (total variation distance)."
NOT_SCANNED = """They were not looked at when the mechanism was fitted. Any column that is published beside Y may
tell about S by itself, whatever this page says of Y."""
OTHER_COLUMNS = """Y tells {released} nats about S on average. Columns that are passed on and tell more than that,
beyond chance: {n} of {all}. Without any column, guessing the commonest S is right for {blind} of the records."""
LEAK_HEAD = "column", "values", "I(S;column), nats", "of it by chance, about", "S guessed right"
FIT_COUNTED = """P(S,X) was counted from {n:,} records, and the figures are exact for these counts. For the
population behind them, or for later records, they are estimates: the truth may be higher, and in simulations it was
in a third to a half of all fits."""
FIT_GIVEN = "P(S,X) was given as a distribution. The figures are exact for it, and for no other."
ALPHABET = {
    None: "If the lists of values were read off the data, they show which values exist; declared ones do not.",
    True: "The lists of values were declared beforehand, so they do not show which values exist in the data.",
    False: "The lists of values were read off the data, so they show which values exist; declared ones would not.",
}
ASSUMPTIONS = """<ul>
<li><b>What is protected.</b> The S of one record, against someone who sees its published value and knows this
mechanism and P(S,X), but not the random draw. The figures say how much the value can tell this person about S.</li>
<li><b>X itself is not made private.</b> A record that is not changed is published with its true X, and nobody is
promised that theirs is changed. If X is sensitive too, this is not enough.</li>
<li><b>Records are independent.</b> The figures are about one record. Several records of one person, or of people who
are alike in S, each tell something, and it adds up; so do several columns that are sanitised one by one.</li>
<li><b>Other columns are not covered.</b> What is published beside Y tells about S by itself, and more with Y.</li>
<li><b>The figures hold for the fitted distribution.</b> {fit}</li>
<li><b>Fitting looks at the data.</b> The tables of the mechanism and this page are computed from P(S,X). The figures
cover what published values tell, not what the tables would tell if they were published.</li>
<li><b>What the fit never saw is redrawn.</b> {never} occur in the fit. Records with any that do not are drawn from the
distribution of Y, whatever they are.</li>
<li><b>A seed is not private.</b> Who knows or guesses it can undo the draw. Releases are to be drawn with a key: a
fresh one in every call, as is usual, or 32 secret bytes.</li>
<li><b>One release.</b> Publishing the same records again with new draws lets the noise be averaged away. With record
ids and one secret key a record gets the same answer every time.</li>
<li><b>Lists of values.</b> {alphabet}</li>
<li><b>This page is confidential.</b> It holds parts of P(S,X). Do not publish it with the data.</li>
</ul>"""
CHART = """<svg viewBox="0 0 480 300" role="img"><title>Share of records changed against {name} of S to Y</title>
<desc>This mechanism changes {share} of the records at {name} {nats}. A table below has the numbers of the
curves.</desc> {marks}<text x="4" y="14">share of records changed{scale}</text> <text x="470" y="292"
text-anchor="end">{name} of S to Y, nats; less is more private</text></svg>"""
STYLE = """
:root { color-scheme: light dark; --paper: #fdfcf9; --ink: #1d1c1a; --soft: #5b5953; --rule: #d8d4ca; --own: #b00040;
  --x: #6f8aa3; --y: #1f5b92; --markov: #9a3d0b; --non_markov: #0b5fa5; --optimal: #1d1c1a; --selective: #00695c; }
@media screen and (prefers-color-scheme: dark) {
  :root { --paper: #17181b; --ink: #e9e7e2; --soft: #aeaba4; --rule: #3b3c42; --own: #ff7d9e;
    --x: #5f7386; --y: #8cc4f7; --markov: #f2a66f; --non_markov: #7dbdf5; --optimal: #e9e7e2; --selective: #5fd0bf; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); overflow-wrap: anywhere;
  font: 1.0625rem/1.5 Charter, "Bitstream Charter", "Sitka Text", Cambria, "Liberation Serif", serif; }
main, footer { max-width: 44rem; margin: 0 auto; padding: 1.5rem 1rem; }
h1, h2 { font-weight: 600; line-height: 1.2; text-wrap: balance; }
h1 { font-size: clamp(1.6rem, 5vw, 2.3rem); margin: .4rem 0 .8rem; }
h2 { font-size: 1.3rem; margin: 2.6rem 0 .6rem; }
p { margin: .6rem 0; }
.lead { font-size: 1.25rem; line-height: 1.42; }
.confidential, footer, table, dl, svg, .key, summary { font-family: system-ui, "Liberation Sans", sans-serif; }
.confidential, footer, .means, caption, .key { color: var(--soft); font-size: .875rem; line-height: 1.4; }
.confidential { margin: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .3rem 1.2rem; font-size: .9375rem; margin: 1.4rem 0;
  border-block: 1px solid var(--rule); padding: .8rem 0; }
dt { color: var(--soft); }
dd { margin: 0; }
.scroll { overflow-x: auto; margin: .6rem 0; }
table { border-collapse: collapse; width: 100%; font-size: .9375rem; line-height: 1.35; overflow-wrap: normal;
  font-variant-numeric: tabular-nums lining-nums; }
caption { text-align: left; padding-bottom: .5rem; }
th, td { padding: .3rem 0 .3rem .9rem; text-align: right; vertical-align: baseline; font-weight: 400; }
td { white-space: nowrap; }
th:first-child, .word, .means { text-align: left; white-space: normal; }
th[scope=row], .word { overflow-wrap: anywhere; min-width: 7.2rem; }
th:first-child, .means { padding-left: 0; }
thead th { color: var(--soft); font-size: .8125rem; vertical-align: bottom; border-bottom: 1px solid var(--ink); }
tbody tr { border-top: 1px solid var(--rule); }
tbody tr:has(.means) { border: 0; }
.means { padding: 0 0 .6rem; }
th[scope=rowgroup], td b { font-weight: 600; }
.bars { display: block; width: 100%; min-width: 3rem; height: 16px; }
rect.x { fill: var(--x); }
rect.y { fill: var(--y); }
span.x, span.y { white-space: nowrap; }
span.x::before, span.y::before { content: ""; display: inline-block; width: .9em; height: .5em; margin-right: .4em; }
span.x::before { background: var(--x); }
span.y::before { background: var(--y); }
th strong { color: var(--own); font-weight: 600; display: inline-block; }
figure { margin: 1rem 0 .6rem; }
figure > svg { display: block; width: 100%; max-width: 38rem; height: auto; }
svg text { fill: var(--ink); font-size: 11.5px; }
svg .tick { fill: var(--soft); }
.grid { stroke: var(--rule); }
.line { fill: none; stroke: currentColor; stroke-width: 2; }
.line.markov { stroke-dasharray: 10 4; }
.line.non_markov { stroke-dasharray: 5 3; }
.line.selective { stroke-dasharray: 2 2; }
svg .name { fill: currentColor; font-weight: 600; text-anchor: middle; }
.markov { color: var(--markov); } .non_markov { color: var(--non_markov); } .optimal { color: var(--optimal); }
.selective { color: var(--selective); } .own { color: var(--own); }
circle.own { fill: var(--paper); stroke: currentColor; stroke-width: 3; }
.key { list-style: none; padding: 0; margin: .6rem 0; }
.key li { padding-left: 42px; }
.key b { color: var(--ink); font-weight: 600; }
.sample { width: 32px; height: 12px; margin: 0 10px 0 -42px; }
section ul { padding-left: 1.1rem; }
li { margin: .35rem 0; }
summary { cursor: pointer; font-size: .9375rem; }
footer { border-top: 1px solid var(--rule); margin-top: 1rem; }
@media (max-width: 480px) {
  svg text { font-size: 15px; } .lead { font-size: 1.125rem; } table { font-size: .875rem; }
  th, td { padding-left: .5rem; } th[scope=row] { min-width: 5.6rem; } .word { min-width: 5rem; }
  dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: .5rem; } }
@media print {
  html { font-size: 13px; print-color-adjust: exact; } main, footer { max-width: none; padding: 0; }
  h2 { break-after: avoid; } figure, tr, li, dl { break-inside: avoid; } .scroll { overflow: visible; }
  body { background: none; } details:not([open]) { display: none; } }
"""
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Publishing {x}, protecting {s}</title>
<style>{style}</style>
</head>
<body>
<main>
<p class="confidential">Confidential: holds parts of the joint distribution of S and X</p>
{body}
</main>
<footer>Made by linred {version}. Figures are in nats: 1 nat is a factor of 2.72, or 1.44 bits.</footer>
</body>
</html>
"""

"""A mechanism as one HTML page, for who signs for it: `page(mechanism)`, its sections from top to bottom.

The page has no script and fetches nothing; it tells parts of P(S, X) and is confidential.
"""

import math
import warnings
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from linred._common import validation
from linred._version import __version__
from linred.design.calibration import alpha_for
from linred.design.registry import KINDS
from linred.errors import NotOptimalWarning
from linred.mechanism.mechanism import Mechanism
from linred.mechanism.summary import Report, largest_moves
from linred.privacy.leakage import FIGURES
from linred.report import html_templates as words
from linred.report.html_chart import chart, sample
from linred.report.html_values import SAME, count, data, escaped, factor, label, nats, share, unit
from linred.report.text import BASIS, n_records, names_of_sides
from linred.report.tradeoff import tradeoff
from linred.sampling.exact_certificate import Certificate

N_SYMBOLS, N_MOVES, N_COLUMNS, N_POINTS = 20, 15, 30, 15
"""The most that is shown: symbols of X, moves, other columns, points of a curve."""

OPTIMAL_CELLS, SELECTIVE_CELLS, MANY_CELLS = 1500, 50_000, 20_000
"""Up to so many pairs (s, x) there is a curve of that mechanism; beyond the last, curves have half as many points."""

NOTHING = 1e-9
"""A column that tells no more nats tells nothing."""


def page(mechanism):
    """The page as text, the same for the same mechanism. A few seconds for large alphabets, mostly for the curves.

    >>> from linred import optimal
    >>> from linred.datasets import example_1
    >>> text = page(optimal(example_1(), ldp=1.0))
    >>> text.startswith("<!doctype html>"), "<strong>6.32\\u00a0%</strong> of the records" in text
    (True, True)
    """
    told = _Told.of(validation.mechanism(mechanism))
    sections = [_headline, _about, _privacy, _certified, _utility]
    sections += [_tradeoff, _marginals, _moves, _other_columns, _assumptions]
    body = "\n".join(section(told) for section in sections)
    return words.PAGE.format(s=told.s, x=told.x, style=words.STYLE + _line_styles(), body=body, version=__version__)


def _line_styles():
    """The colour and the dashes of every mechanism that the page may have a curve of."""
    styles = ""
    for name, kind in KINDS.items():
        if kind.page_colours:
            dashes = " ".join(f"{words.LINE_WIDTH * part:g}" for part in kind.dashes) or "none"
            styles += words.LINE_STYLE.format(name, *kind.page_colours, dashes)
    return styles


class _Told(NamedTuple):
    """What all sections tell about; s and x are names of columns, escaped."""

    mechanism: Mechanism
    report: Report
    certificate: Certificate
    n_records: int | None  # those that were held out too
    measure: str  # what the headline and the curves are about, "ldp" or "log_lift"
    s: str
    x: str

    @classmethod
    def of(cls, mechanism):
        report, certificate, target = mechanism.report(), mechanism.sampler().certificate(), mechanism.target
        measure = "log_lift" if target and target.log_lift < target.ldp == math.inf else "ldp"
        sides = map(escaped, names_of_sides(mechanism, " and "))
        return cls(mechanism, report, certificate, n_records(mechanism), measure, *sides)

    @property
    def keeps_marginal(self):
        return bool(np.abs(self.mechanism.p_y - self.mechanism.joint.p_x).max() <= SAME)


def _headline(told):
    certified = told.mechanism.certified
    name, sampled = words.NAMES[told.measure], getattr(certified or told.certificate, told.measure)
    before = nats(getattr(told.report.before, told.measure))
    said = words.HEADLINE.get(sampled, words.HEADLINE[told.measure])
    private = said.format(s=told.s, name=name, before=before, sampled=nats(sampled, up=True), factor=factor(sampled))
    if certified:
        private = f"With a confidence of {share(certified.confidence)}: {private[0].lower()}{private[1:]}"
    dtv, kept = told.report.utility.dtv, "stays the same" if told.keeps_marginal else "changes too"
    of_all = "" if told.n_records is None else f", about {count(dtv * told.n_records)} of {told.n_records:,},"
    cost = f"<strong>{share(dtv)}</strong> of the records{of_all} are changed" if dtv else "No record is changed"
    lead = f'<p class="lead">{private} {cost}; the distribution of <bdi>{told.x}</bdi> {kept}.</p>'
    return f"<h1>Publishing <bdi>{told.x}</bdi>, protecting <bdi>{told.s}</bdi></h1>{lead}"


def _about(told):
    mechanism, fitted, (n_s, n_x) = told.mechanism, told.mechanism.fitted, told.mechanism.joint.shape
    rows = {
        "Protected, S": _column(told.s, n_s, fitted and fitted.sensitive),
        "Published, X": _column(told.x, n_x, fitted and fitted.public) + "; Y is what is published of it",
        "Records": "given as a distribution, not counted" if told.n_records is None else f"{told.n_records:,}, counted",
        "Mechanism": escaped(mechanism.described()),
        "Looks at": "s and x: both columns are needed to apply it" if mechanism.sees_s else "x alone: s is not needed",
        "Target": _target(told),
    }
    if fitted:
        rows["Alphabets"] = "declared beforehand" if fitted.declared else "read off the data"
        rows["Missing values"] = words.MISSING[fitted.missing]
    return "<dl>" + "".join(f"<dt>{term}</dt><dd>{said}</dd>" for term, said in rows.items()) + "</dl>"


def _column(name, n, parts):
    values = f"{n:,} value{'s' if n > 1 else ''}"
    if not parts:
        return values
    binned = [f"<bdi>{escaped(part.name)}</bdi> in {len(part.bins)} bins" for part in parts if part.edges]
    return f"<bdi>{name}</bdi>, {values}" + (f" ({', '.join(binned)})" if binned else "")


def _target(told):
    target = told.mechanism.target
    if not target or not target.limits:
        return "none was set; the figures below are what it comes to"
    met = "met" if target.is_met_by(told.certificate) else "NOT met"
    limits = " and ".join(f"{words.NAMES[name]} at most {limit!r} nats" for name, limit in target.limits.items())
    return f"{limits}: <strong>{met}</strong> by the integers that records are drawn with"


def _privacy(told):
    groups = ""
    for name, title in FIGURES.items():
        sampled = getattr(told.certificate, name)
        by = "without limit" if sampled == math.inf else f"by a factor of {factor(sampled)} at most"
        groups += words.GROUP.format(
            label=title,
            before=_figure("before", told.report.before, name),
            after=_figure("after", told.report.after, name),
            sampled=_figure("sampled", told.certificate, name, up=True),
            means=words.MEANS[name].format(by=by),
        )
    return _section("What is told about S", _scrolling("What is told about S", words.PRIVACY.format(groups=groups)))


def _figure(column, figures, name, up=False):
    """A cell of a table with a row for each figure of `Leakage`."""
    value = getattr(figures, name)
    return data(f"{column}.{name}", value, nats(value, up))


def _certified(told):
    """Figures that hold with confidence on estimated data, where there are any."""
    certified, design = told.mechanism.certified, told.mechanism.design
    if certified is None:
        return ""
    columns = {"plug_in": certified.plug_in, "certified": certified, "ceiling": certified.ceiling}
    rows = [
        [title, *(_figure(column, figures, name, up=True) for column, figures in columns.items())]
        for name, title in FIGURES.items()
    ]
    said = words.CERTIFIED.format(
        confidence=share(certified.confidence),
        basis=BASIS[certified.basis],
        n=certified.n_records,
        together="all at once" if certified.together else "each by itself",
        because=escaped(certified.because),
    )
    table = _table("What holds with confidence", words.CERTIFIED_HEAD, rows)
    return _section("What holds on estimated data", said, table, _price(design) if design else "")


def _price(design):
    """What confidence costs."""
    shares = {name: share(getattr(design, name)) for name in ("dtv", "dtv_plug_in", "dtv_ceiling", "redrawn")}
    said = words.PRICE.format(**shares)
    redrawn = (("S", design.redrawn_s), ("X", design.redrawn_x))
    named = [f"{name}: {', '.join(map(label, labels[:N_SYMBOLS]))}" for name, labels in redrawn if labels]
    return said + (f"<p>Values that are redrawn wherever they stand. {'; '.join(named)}.</p>" if named else "")


def _utility(told):
    utility, gap = told.report.utility, told.mechanism.gap
    rows = [["share of records changed", data("utility.dtv", utility.dtv, share(utility.dtv))]]
    if told.n_records is not None:
        changed = utility.dtv * told.n_records
        rows.append([f"records changed, expected, of {told.n_records:,}", data("changed", changed, count(changed))])
    for name, title in words.INFORMATION.items():
        value = getattr(utility, name)
        rows.append([title, data(f"utility.{name}", value, nats(value) + " nats")])
    if (cost := utility.expected_distortion) is not None:
        rows.append(["expected distortion, E d(X,Y)", data("utility.expected_distortion", cost, f"{cost:.6g}")])
    rows.append([words.GAP, data("gap", gap, share(gap) if cost is None else f"{gap:.2g}")])
    return _section("What is left of X", _table("What it costs", ("figure", "value"), rows))


def _tradeoff(told):
    title = "Privacy against records changed"
    before, own = (getattr(figures, told.measure) for figures in (told.report.before, told.report.after))
    if before <= NOTHING:
        return _section(title, "<p>X tells nothing about S to begin with: there is nothing to trade.</p>")
    targets, curves = _curves(told.mechanism.joint, told.measure, own, before)
    key = {kind: f"<b>{KINDS[kind].label}</b>: {words.KEY[kind]}" for kind in curves}
    key["own"] = f"<b>this mechanism</b>: {share(told.report.utility.dtv)} at {words.NAMES[told.measure]} {unit(own)}"
    items = "".join(f"<li>{sample(kind)}{said}</li>" for kind, said in key.items())
    columns = [shares for _, shares in curves.values()]
    rows = [[f"{target:.4g}", *map(share, row)] for target, *row in zip(targets, *columns, strict=True)]
    head = f"{words.NAMES[told.measure]} asked, nats", *(KINDS[kind].label for kind in curves)
    numbers = _table("Share of records changed", head, rows)
    return _section(
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
        "drawn anew": told.report.utility.mutual_information <= NOTHING,
        "marginal": not told.keeps_marginal,
        "distortion": told.mechanism.distortion is not None,
        "both": told.mechanism.target is not None and max(told.mechanism.target) < math.inf,
        "x alone": not told.mechanism.sees_s,
        "large": n_cells > OPTIMAL_CELLS,
        "failed": len(curves) < (3 if n_cells <= SELECTIVE_CELLS else 2),
    }
    return [words.NOTES[case] for case, holds in cases.items() if holds]


def _curves(joint, measure, own, before):
    """(targets, {kind: (figures, shares of records changed)}) around a mechanism's own figure."""
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
            curve = tradeoff(joint, mechanisms=[kind], **points)[kind]
            curves[kind] = curve[measure], curve["dtv"]
    return targets, curves


def _marginals(told):
    joint, p_y = told.mechanism.joint, told.mechanism.p_y
    sides, largest = {"x": joint.p_x, "y": p_y}, np.maximum(joint.p_x, p_y)
    shown, rows = np.argsort(-largest, kind="stable")[:N_SYMBOLS].tolist(), []
    for x in shown:
        widths = (f"{100 * p[x] / largest[shown[0]]:.2f}" for p in sides.values())
        numbers = (data(f"p_{side}", p[x], share(p[x])) for side, p in sides.items())
        rows.append([label(joint.x_labels[x]), words.BARS.format(*widths), *numbers])
    if n_others := joint.p_x.size - len(shown):
        others = (share(np.delete(p, shown).sum()) for p in sides.values())
        rows.append([f"{n_others:,} other{'s' if n_others > 1 else ''} together", "", *others])
    distance = share(0.5 * float(np.abs(joint.p_x - p_y).sum()))
    said = words.SAME_MARGINAL if told.keeps_marginal else words.OTHER_MARGINAL.format(distance=distance)
    table = _table("Share of records with each value", words.MARGINAL_HEAD, rows)
    return _section("The distribution of X before and after", f"<p>{said}</p>", table)


def _moves(told):
    mechanism, joint = told.mechanism, told.mechanism.joint
    moves, rows = largest_moves(mechanism, N_MOVES), []
    if not moves:
        return _section("The largest moves", "<p>No record is changed.</p>")
    for move in moves:
        row = {"S": label(joint.s_labels[move.s])} if mechanism.sees_s else {}
        row |= {"X": label(joint.x_labels[move.x]), "becomes Y": label(joint.x_labels[move.y])}
        n_words = len(row)
        row |= {"of all records": data("move", move.share, share(move.share)), "of the group": share(move.of_group)}
        if told.n_records is not None:
            row["records, expected"] = count(move.share * told.n_records)
        rows.append(row)
    covered = share(min(1.0, sum(move.share for move in moves) / told.report.utility.dtv))
    group = "values of S and X" if mechanism.sees_s else "value of X"
    said = f"These {len(moves)} moves make up {covered} of all changes. A group is all records with the same {group}."
    table = _table("Moves that change the most records", row, [row.values() for row in rows], n_words)
    return _section("The largest moves", f"<p>{said}</p>", table)


def _other_columns(told):
    title, fitted, released = "Other columns", told.mechanism.fitted, told.report.after.mutual_information
    if not fitted or not fitted.scanned:
        return _section(title, f"<p>{words.NOT_SCANNED}</p>")
    if not fitted.leaks:
        return _section(title, "<p>There was no other column when the mechanism was fitted.</p>")
    leaks, telling = sorted(fitted.leaks, key=lambda leak: -leak.beyond_chance), fitted.telling(released)
    shown, rows = leaks[: max(N_COLUMNS, len(telling))], []
    for leak in shown:
        column = label(leak.column) + " <strong>tells more than Y</strong>" * (leak in telling)
        information = "at least " * leak.at_least + data("leak", leak.information, nats(leak.information))
        rows.append([column, f"{leak.n_values:,}", information, nats(leak.by_chance), share(leak.guessed)])
    blind = share(float(told.mechanism.joint.p_s.max()))
    said = words.OTHER_COLUMNS.format(released=nats(released), n=len(telling), all=len(leaks), blind=blind)
    said += f" {len(leaks) - len(shown)} that tell less are left out." if len(shown) < len(leaks) else ""
    return _section(title, f"<p>{said}</p>", _table("Columns that are passed on", words.LEAK_HEAD, rows))


def _assumptions(told):
    mechanism, fitted = told.mechanism, told.mechanism.fitted
    unseen = mechanism.joint.unseen if mechanism.sees_s else mechanism.joint.p_x == 0.0
    what, n_unseen = "pairs (s, x)" if mechanism.sees_s else "values of X", np.count_nonzero(unseen)
    never = f"{n_unseen:,} of the {unseen.size:,} {what} do not" if n_unseen else f"All {unseen.size:,} {what}"
    said = words.ASSUMPTIONS.format(
        fit=words.FIT_GIVEN if told.n_records is None else words.FIT_COUNTED.format(n=told.mechanism.joint.n_records),
        never=never,
        knows_x=words.KNOWS_X[mechanism.sees_s],
        alphabet=words.ALPHABET[fitted and fitted.declared],
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

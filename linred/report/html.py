"""A mechanism as one HTML page, for the person who signs for it: `page(mechanism)`, with its sections in order.

The page has no script and fetches nothing. It contains parts of P(S, X) and is confidential.
"""

import math
from functools import cached_property, partial

import numpy as np

from linred._common import validation
from linred._version import __version__
from linred.mechanism.leakage_given_x import ldp_given_x
from linred.mechanism.summary import Report, largest_groups, largest_moves
from linred.privacy.leakage import FIGURES
from linred.report import html_templates as words
from linred.report import limits, promise
from linred.report.html_tables import scrolling, section, table
from linred.report.html_tradeoff import NOTHING, line_styles, tradeoff
from linred.report.html_values import (
    EXPONENTIAL,
    SPACE,
    count,
    data,
    escaped,
    factor,
    label,
    level,
    name,
    nats,
    share,
)
from linred.report.numbers import ALMOST_ALL, figure
from linred.report.subject import Subject
from linred.report.text import BASIS

N_SYMBOLS, N_MOVES, N_COLUMNS = 20, 15, 30
"""Largest numbers of values of X, moves and other columns that are shown."""


def page(mechanism, published=None, seeded=False):
    """Return the page as text, always the same for the same arguments. Takes seconds for large alphabets.

    published : names of all columns of the release, or None if there is none to describe.
    seeded : whether the release was drawn with a seed.

    >>> from linred import optimal
    >>> from linred.datasets import example_1
    >>> text = page(optimal(example_1(), ldp=1.0))
    >>> text.startswith("<!doctype html>"), "<strong>6.32 %</strong>" in text
    (True, True)
    """
    told = _Told(validation.mechanism(mechanism), published, seeded)
    sections = [_opening, _about, _targets, _certified, _privacy, _utility]
    sections += [tradeoff, _marginals, _bearers, _moves, _other_columns, _assumptions]
    body = "\n".join(part(told) for part in sections)
    frame = {"style": words.STYLE + line_styles(), "version": __version__, "id": mechanism.id}
    return words.PAGE.format(s=told.s, x=told.x, body=body, **frame)


class _Told(Subject):
    """The values that all sections need; s and x are escaped names of columns."""

    @cached_property
    def report(self) -> Report:
        return self.mechanism.report()

    @property
    def s(self) -> str:
        return escaped(self.sides(" and ")[0])

    @property
    def x(self) -> str:
        return escaped(self.sides(" and ")[1])

    @property
    def keeps_marginal(self) -> bool:
        return bool(np.abs(self.mechanism.p_y - self.mechanism.joint.p_x).max() <= ALMOST_ALL)


def _opening(told):
    """Return the promise, what weakens it, and its price. Nothing but the title stands above them."""
    strong = "<strong>{}</strong>"
    said = promise.promise(told, name, strong, EXPONENTIAL)
    weak = "".join(f"<li>{one}</li>" for one in promise.weaknesses(told, name, EXPONENTIAL))
    kept = "stays the same" if told.keeps_marginal else "changes"
    why = "".join(f"<p>{one}</p>" for one in promise.why_independent(told))
    return (
        f"<h1>Publishing <bdi>{told.x}</bdi>, protecting <bdi>{told.s}</bdi></h1>"
        f'<p class="lead">{said}</p><section class="weak"><h2>What weakens this</h2><ul>{weak}</ul></section>'
        f'<section><h2>Price</h2><p class="price">{promise.price(told, strong)}; '
        f"the distribution of <bdi>{told.x}</bdi> {kept}.</p>{why}</section>"
        '<p class="confidential">Confidential: contains parts of the joint distribution of S and X.</p>'
    )


def _about(told):
    mechanism, fitted, (n_s, n_x) = told.mechanism, told.mechanism.fitted, told.mechanism.joint.shape
    rows = {
        "Sensitive column, S": _column(told.s, n_s, fitted and fitted.sensitive),
        "Public column, X": _column(told.x, n_x, fitted and fitted.public)
        + "; its published, randomised version is called Y",
        "Published columns": _published(told),
        "Records": _records(told),
        "Mechanism": escaped(mechanism.name) + ("" if mechanism.alpha is None else f", alpha = {mechanism.alpha:.6g}"),
        "Inputs": "needs both the sensitive and the public column"
        if mechanism.sees_s
        else "needs only the public column: it does not use S when it samples",
        "Target": _target(told),
    }
    if fitted:
        rows["Lists of possible values"] = "declared" if fitted.declared else "taken from the data"
        rows["Missing values"] = words.MISSING[fitted.missing]
    return "<dl>" + "".join(f"<dt>{term}</dt><dd>{said}</dd>" for term, said in rows.items()) + "</dl>"


def _column(column, n, parts):
    values = f"{n:,} value{'s' if n > 1 else ''}"
    if not parts:
        return values
    binned = "".join(f"; {name(part.name)} in {len(part.bins)} bins" for part in parts if part.edges)
    return f"<bdi>{column}</bdi> ({values}{binned})"


def _published(told):
    if told.published is None:
        return "not known: this page describes no release"
    fitted = told.mechanism.fitted
    public = [part.name for part in fitted.public] if fitted else []
    return ", ".join(name(column) + " (randomised, Y)" * (column in public) for column in told.published)


def _records(told):
    design = told.mechanism.design
    if told.n_records is None:
        return "none: P(S,X) was given as a distribution"
    if design is None or not design.n_held_out:
        return f"{told.n_records:,} (all were used to estimate the distribution)"
    return f"{told.n_records:,} ({design.n_fitted:,} for fitting, {design.n_held_out:,} for testing)"


def _target(told):
    if not told.reached:
        return "none was set"
    met = "<strong>met</strong>, also" if told.certificate.met else "<strong>NOT met</strong>"
    asked = limits.stated(told.reached, partial(told.secret, name=name), "at most", " nats", SPACE)
    return f"{asked}: {met} after rounding to the integer probabilities used for drawing"


def _targets(told):
    """Return the table of limits beside what was reached, empty if there is no target."""
    if not told.reached:
        return ""
    rows = [
        [
            limits.words(one, partial(told.secret, name=name)) + ("" if one.name in limits.SHARES else ", nats"),
            limits.asked(one, SPACE),
            data(f"reached.{one.name}", one.figure, limits.figure(one, SPACE)),
            "yes" if one.met else "<strong>NO</strong>",
        ]
        for one in told.reached
    ]
    return section("Targets", table(words.TARGETS, words.TARGETS_HEAD, rows))


def _certified(told):
    """Return the section of certified figures, empty if there are none."""
    certified, design = told.mechanism.certified, told.mechanism.design
    if certified is None:
        return ""
    columns = {"plug_in": certified.plug_in, "certified": certified, "ceiling": certified.ceiling}
    rows = [
        [title, *(_figure(column, figures, measure, "up") for column, figures in columns.items())]
        for measure, title in FIGURES.items()
    ]
    said = words.CERTIFIED.format(
        level=level(certified.confidence),
        basis=BASIS[certified.basis],
        n=certified.n_records,
        together="all of them together" if certified.together else "each by itself",
        because=escaped(certified.because),
    )
    head = [cell.format(level=level(certified.confidence)) for cell in words.CERTIFIED_HEAD]
    return section("What is certified", said, table("Upper bounds", head, rows), _price(design) if design else "")


def _price(design):
    """Return the paragraph on the cost of certification."""
    shares = {field: share(getattr(design, field)) for field in ("dtv", "dtv_plug_in", "dtv_ceiling", "redrawn")}
    redrawn = (("S", design.redrawn_s), ("X", design.redrawn_x))
    named = [f"{side}: {', '.join(map(label, labels[:N_SYMBOLS]))}" for side, labels in redrawn if labels]
    return words.PRICE.format(**shares) + (words.REDRAWN.format(values="; ".join(named)) if named else "")


def _privacy(told):
    """Return the table of leakage before and after; the text explains the certified figures if there are any."""
    basis, certified = promise.basis(told.mechanism), told.mechanism.certified
    groups = ""
    for measure, title in FIGURES.items():
        by = _by(getattr(told.bounds, measure))
        groups += words.GROUP.format(
            label=title,
            before=_figure("before", told.report.before, measure),
            after=_figure("after", told.report.after, measure),
            sampled=_figure("sampled", told.certificate, measure, "up"),
            means=words.MEANS[measure].format(by=by),
        )
    groups += _given_x(told)
    condition = words.CONDITION[basis].format(level="" if certified is None else level(certified.confidence))
    figures = words.PRIVACY.format(groups=groups, scope=words.SCOPE[basis], condition=condition)
    title = "What the published value reveals about S"
    return section(title, scrolling(title, figures))


def _given_x(told):
    """Return the rows on the attacker who knows X."""
    figures = {"before": (0.0, "nearest"), "after": (ldp_given_x(told.mechanism), "nearest")}
    figures["sampled"] = told.ldp_given_x, "up"
    cells = {column: data(f"{column}.given_x", value, nats(value, way)) for column, (value, way) in figures.items()}
    means = words.MEANS_GIVEN_X.format(by=_by(told.ldp_given_x))
    return words.GROUP.format(label=limits.WORDS["given_x"], means=means, **cells)


def _by(bound):
    return words.UNLIMITED if bound == math.inf else words.BY.format(factor=factor(bound))


def _figure(column, figures, measure, rounding="nearest"):
    """Return a cell of a table with a row for each figure of `Leakage`."""
    value = getattr(figures, measure)
    return data(f"{column}.{measure}", value, nats(value, rounding))


def _utility(told):
    utility = told.report.utility
    rows = [
        [
            "share of changed records (total variation distance, DTV)",
            data("utility.dtv", utility.dtv, share(utility.dtv)),
        ]
    ]
    if told.n_records is not None:
        changed = utility.dtv * told.n_records
        rows.append([f"changed records, expected, of {told.n_records:,}", data("changed", changed, count(changed))])
    for measure, title in words.INFORMATION.items():
        value = getattr(utility, measure)
        rows.append([title, data(f"utility.{measure}", value, nats(value) + " nats")])
    if (cost := utility.expected_distortion) is not None:
        rows.append(["expected distortion, E d(X,Y)", data("utility.expected_distortion", cost, figure(cost))])
    rows.append([words.GAP, _gap(told.mechanism, utility)])
    return section("How useful the published column still is", table("Usefulness", ("figure", "value"), rows))


def _gap(mechanism, utility):
    """Return the dual bound, but not one as large as the cost, which proves only that no cost is negative."""
    gap, cost = mechanism.gap, utility.dtv if mechanism.distortion is None else utility.expected_distortion
    if gap >= cost > NOTHING:
        return words.NO_GAP
    return data("gap", gap, share(gap, "up") if mechanism.distortion is None else figure(gap, "up"))


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
    markup = table("Share of records with each value", words.MARGINAL_HEAD, rows)
    return section("The distribution of X and of Y", f"<p>{said}</p>", markup)


def _bearers(told):
    """Return the tables of the groups of S and of X with the largest shares of changed records."""
    tables = ""
    for side, by in (("S", "s"), ("X", "x")):
        groups, rows = largest_groups(told.mechanism, by), []
        for one in groups[:N_SYMBOLS]:
            bar = words.BAR.format(f"{100 * one.changed / (groups[0].changed or 1.0):.2f}")
            of_all = data(f"records_by_{by}", one.share, share(one.share))
            rows.append([label(one.label), bar, of_all, data(f"changed_by_{by}", one.changed, share(one.changed))])
        if n_others := len(groups) - len(rows):
            most = groups[N_SYMBOLS].changed
            rows.append([words.OTHER_GROUPS.format(n=n_others), "", "", f"at most {share(most, 'up')}"])
        tables += table(words.BEARERS.format(side=side), (f"value of {side}", "", *words.BEARERS_HEAD), rows)
    said = words.WHO_BEARS.format(share=share(told.report.utility.dtv))
    return section("Who bears the changes", f"<p>{said}</p>", tables)


def _moves(told):
    mechanism, joint = told.mechanism, told.mechanism.joint
    moves, rows = largest_moves(mechanism, N_MOVES), []
    if not moves:
        return section("The largest moves", "<p>No record is changed.</p>")
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
    markup = table("Moves that change the most records", row, [row.values() for row in rows], n_words)
    return section("The largest moves", f"<p>{said}</p>", markup)


def _other_columns(told):
    title, fitted = "Other columns of the input", told.mechanism.fitted
    unmeasured = _not_measured(told)
    if not fitted or not fitted.scanned:
        return section(title, f"<p>{words.NOT_SCANNED}</p>", unmeasured)
    if not fitted.leaks:
        return section(title, "<p>The input had no other column when the mechanism was fitted.</p>", unmeasured)
    released = told.report.after.mutual_information
    leaks, telling = sorted(fitted.leaks, key=lambda leak: -leak.beyond_chance), fitted.telling(released)
    written = told.published or ()
    shown = [leak for i, leak in enumerate(leaks) if i < N_COLUMNS or leak in telling or leak.column in written]
    blind = share(float(told.mechanism.joint.p_s.max()))
    said = words.OTHER_COLUMNS.format(released=nats(released), n=len(telling), all=len(leaks), blind=blind)
    said += f" {len(leaks) - len(shown)} columns that reveal less are omitted." if len(shown) < len(leaks) else ""
    said += f" {words.NO_RELEASE}" if told.published is None else ""
    rows = [_leak_row(leak, leak in telling, told.published) for leak in shown]
    head, *rows = [words.LEAK_HEAD, *rows] if told.published is not None else _without_second(words.LEAK_HEAD, *rows)
    return section(title, f"<p>{said}</p>", table(title, head, rows, 1 + (told.published is not None)), unmeasured)


def _without_second(*rows):
    return [(first, *others) for first, _, *others in rows]


def _leak_row(leak, is_telling, published):
    mark = " <strong>reveals more about S than the published column</strong>" * is_telling
    rounding = "down" if leak.at_least else "nearest"
    information = "at least " * leak.at_least + data("leak", leak.information, nats(leak.information, rounding))
    is_published = "yes" if leak.column in (published or ()) else "no"
    chance, guessed = nats(leak.by_chance), share(leak.guessed)
    return [label(leak.column) + mark, is_published, f"{leak.n_values:,}", information, chance, guessed]


def _not_measured(told):
    """Return a paragraph on published columns that no table shows."""
    fitted = told.mechanism.fitted
    known = {part.name for part in (*fitted.sensitive, *fitted.public)} if fitted else set()
    known |= {leak.column for leak in fitted.leaks} if fitted else set()
    columns = [name(column) for column in told.published or () if column not in known]
    return f"<p>{words.NOT_MEASURED.format(columns=', '.join(columns))}</p>" if columns else ""


def _knows_x(told):
    """Return the paragraph on the attacker who knows X."""
    if not told.mechanism.sees_s:
        return words.KNOWS_X["nothing"]
    if told.ldp_given_x == math.inf:
        return words.KNOWS_X["everything"]
    return words.KNOWS_X["finite"].format(factor=factor(told.ldp_given_x))


def _assumptions(told):
    mechanism, fitted = told.mechanism, told.mechanism.fitted
    unseen = mechanism.joint.unseen if mechanism.sees_s else mechanism.joint.p_x == 0.0
    what, n_unseen = "pairs (s, x)" if mechanism.sees_s else "values of X", np.count_nonzero(unseen)
    never = f"{n_unseen:,} of the {unseen.size:,} {what} do not" if n_unseen else f"All {unseen.size:,} {what}"
    fit = words.FIT_GIVEN if told.n_records is None else words.FIT_COUNTED.format(n=mechanism.joint.n_records)
    of_their_own = words.LIKE_THE_MEAN if mechanism.certified is None else words.CERTIFIED_TOO
    resampled = words.RESAMPLED if mechanism.draws_unseen_from_p_y else of_their_own
    resampled = resampled.format(what="pair" if mechanism.sees_s else "value") if n_unseen else ""
    said = words.ASSUMPTIONS.format(
        fit=fit + words.FIT_CERTIFIED * (mechanism.certified is not None),
        never=never,
        resampled=resampled,
        knows_x=_knows_x(told),
        alphabet=words.ALPHABET[fitted and fitted.declared],
    )
    return section("Assumptions and limits", said)

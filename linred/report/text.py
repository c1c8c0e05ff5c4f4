"""All printed text: figures of a mechanism, certificates, audits, drift, and the messages of the command.

Objects hold data and print themselves with these functions, by name (`linred._common.render`).
"""

import math
import textwrap
from functools import partial

from linred.columns.schema import names
from linred.mechanism.leakage_given_x import ldp_given_x
from linred.mechanism.provenance import FITTED, HELD_OUT
from linred.mechanism.summary import largest_groups
from linred.privacy import metrics
from linred.privacy.leakage import FIGURES, unit_of
from linred.report import limits, promise
from linred.report.numbers import figure, level, share
from linred.report.subject import Subject

WIDTH = 100
"""Largest width of a line, unless a name is longer."""

LONGEST_NAME = 24
"""Longer names of columns are shortened in tables."""

N_GROUPS, LONGEST_GROUP = 5, 60
"""Number of groups of S, and of X, in the table of who bears the changes; longer names of groups are shortened."""

ASSUMPTIONS = {
    "x": "X itself is not protected: y may still reveal x.",
    "records": "Records are assumed independent: leakage through relatives or repeated rows is not counted.",
    "estimate": "These figures are exact for the fitted distribution; for any other distribution they are estimates.",
    "certified": "Figures without a confidence level are exact for the fitted distribution; for any other they are "
    "estimates.",
    "inferred": "The lists of possible values were taken from the data, so they show which values exist; --domain "
    "declares them instead.",
    "not scanned": "Other columns were not measured: any of them may reveal S.",
}
UTILITY = (
    "Share of changed records (total variation distance, DTV)",
    "I(X;Y) ({unit})",
    "H(X) ({unit})",
    "H(X) - I(X;Y) ({unit})",
    "Expected distortion",
)
BASIS = {HELD_OUT: "records that were not used for fitting", FITTED: "records that the mechanism was fitted on"}
REFUTED = {True: "refuted.", False: "consistent with these records, which does not prove it."}
CONFORMS = REFUTED | {False: "refuted; it did not draw these values."}
YES_OR_NO = {True: "yes", False: "no"}


def _table(rows):
    """Return aligned lines. The first row is the head; the first cell of a row is text, all others are numbers."""
    first, *others = (max(map(len, cells)) for cells in zip(*rows, strict=True))
    return [
        "   ".join(
            [f"{name:<{first}}", *(f"{cell:>{width}}" for cell, width in zip(row, others, strict=True))]
        ).rstrip()
        for name, *row in rows
    ]


def _figures(head, *columns, more=()):
    """Return a table with a row for each figure of `Leakage`, and more rows; cells are text."""
    rows = ((f"  {label}", *cells) for label, *cells in zip(FIGURES.values(), *columns, strict=True))
    return _table([head, *rows, *more])


def _rounded(figures, rounding):
    return [figure(value, rounding) for value in figures]


def _wrapped(text, indent=""):
    how = {"break_long_words": False, "break_on_hyphens": False}
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent and "    ", **how)


def report(report):
    """Return the text of `mechanism.report()`."""
    subject = Subject(report.mechanism)
    return "\n\n".join([*_opening(subject), _made(subject), *_figures_of(subject, report)])


def _opening(subject):
    """Yield the promise, what weakens it, and the price: nothing stands above them."""
    weak = [_wrapped(one, "  - ") for one in promise.weaknesses(subject, shown)]
    yield _wrapped(promise.promise(subject, shown))
    yield "\n".join(["What weakens this", *weak])
    price = [promise.price(subject), *promise.why_independent(subject)]
    yield "\n".join(["Price", *(_wrapped(one, "  ") for one in price)])


def _made(subject):
    """Return a line on the kind of mechanism, its target or alpha, and its alphabets."""
    n_s, n_x = subject.mechanism.joint.shape
    return _wrapped(f"Mechanism: {_kind(subject)}; {n_s:,} values of S, {n_x:,} values of X")


def _kind(subject):
    mechanism, reached = subject.mechanism, subject.reached
    alpha = "" if mechanism.alpha is None else f", alpha = {mechanism.alpha:.6g}"
    return mechanism.name + alpha + (f", target {limits.stated(reached, _secret(subject))}" if reached else "")


def _secret(subject):
    return partial(subject.secret, name=shown)


def _figures_of(subject, report):
    """Yield the tables of leakage and usefulness, the exact figures and the targets, and who bears the changes."""
    unit, mechanism = unit_of(report.base), subject.mechanism
    columns = (_rounded(figures, "nearest") for figures in (report.before, report.after))
    given_x = f"  {limits.WORDS['given_x']}", figure(0.0), figure(ldp_given_x(mechanism, report.base))
    yield "\n".join(
        _figures((f"Leakage about S ({unit})", "X (unprotected)", "Y (released)"), *columns, more=[given_x])
    )
    utility = zip(UTILITY, report.utility, strict=True)
    rows = [(f"  {label.format(unit=unit)}", figure(value)) for label, value in utility if value is not None]
    yield "\n".join(_table([("Usefulness of Y", ""), *rows]))
    yield _sampling(subject)
    yield _bearers(mechanism)


def local_report(report):
    """Return the text of `mechanism.local()`."""
    rows = [(f"{report.mechanism.described()} ({unit_of(report.base)})", "Exact", "Local", "At least", "At most")]
    for (way, joint), figures in zip(report.joints.items(), (report.before, report.after, report.utility), strict=True):
        region = "inside" if figures.valid else "outside"
        rows.append((f"{way}: radius {figures.radius:.4g}, {region} the region of radius at most 1", *[""] * 4))
        for name in figures._fields[2 if way == "X to Y" else 0 : 3]:
            exact, bounds = getattr(metrics, name)(joint, report.base), getattr(figures, name)
            cells = map(figure, (exact, *bounds), ("nearest", "nearest", "down", "up"))
            rows.append((f"  {name.replace('_', ' ')}", *cells))
    return "\n".join(_table(rows))


def certificate(certificate):
    """Return the text of `sampler.certificate()`."""
    table = _figures(("Exact figures of the sampling tables (nats)", "At most"), _rounded(certificate, "up"))
    return "\n".join([*table, *_targets(certificate.reached)])


def certified(certified):
    """Return the text of a `Certified`."""
    at, basis = level(certified.confidence), BASIS[certified.basis]
    holds = "all figures hold together" if certified.together else "each figure holds by itself"
    head = "Leakage about S (nats)", "Plug-in estimate", f"Certified at {at}", "Worst-case bound"
    lines = [
        _wrapped(f"Certified at {at} confidence from {certified.n_records:,} {basis}; {holds}."),
        "",
        *_figures(head, *(_rounded(bounds, "up") for bounds in (certified.plug_in, certified, certified.ceiling))),
        "",
        _wrapped(f"LDP: {certified.because}."),
    ]
    return "\n".join(lines)


def design(design):
    """Return the text of `mechanism.design`: what certification cost."""
    lines = [
        "Price of the confidence level",
        f"  Changed records: {share(design.dtv)} (certified); {share(design.dtv_plug_in)} (plug-in optimum); "
        f"{share(design.dtv_ceiling)} (worst-case bound)",
        *_held_out(design),
        _wrapped(
            "Rare pairs (s, x), all or nearly all resampled from P_X because their counts are too small to certify: "
            f"{share(design.redrawn)} of the records",
            "  ",
        ),
    ]
    for name, labels in (("s", design.redrawn_s), ("x", design.redrawn_x)):
        if labels:
            some = ", ".join(map(repr, labels[:8])) + (f" and {len(labels) - 8} more" if len(labels) > 8 else "")
            lines.append(f"    including all records with {name} = {some}")
    return "\n".join(lines)


def _held_out(design):
    """Return the lines on held-out records, which fits of earlier artifacts had."""
    if not design.n_held_out:
        return []
    return [
        f"  Records: {design.n_fitted:,} for fitting, {design.n_held_out:,} for testing",
        f"  {design.n_passed} of {design.n_steps} tried reductions in changed records passed the test",
    ]


def audit(audit):
    """Return the text of an `Audit`."""
    several = "; all claimed figures are tested together" if audit.n_families_claimed > 1 else ""
    columns = {"At least": _rounded(audit, "down")}
    if audit.claim is not None:
        columns["Claimed"] = ["" if most == math.inf else figure(most, "up") for most in audit.claim]
    lines = [
        f"Lower bounds at {level(audit.confidence)} confidence, from {audit.n_records:,} released records{several}.",
        "",
        *_figures(("Leakage about S (nats)", *columns), *columns.values()),
        "",
    ]
    if audit.where is not None:
        y, s, other = audit.where
        lines.append(f"LDP: largest for y = {y!r}, comparing s = {s!r} with {other!r}.")
    verdicts = ("claim", audit.refuted, REFUTED), ("mechanism", audit.conforms, CONFORMS)
    lines += [f"The {what}: {words[verdict]}" for what, verdict, words in verdicts if verdict is not None]
    lines += [_wrapped(f"{reason}.", "  ") for reason in audit.reasons]
    if audit.not_tested:
        names = ", ".join(audit.not_tested)
        lines.append(f"Not tested: the limits {names} of the target, which none of these figures answers.")
    return "\n".join(lines).rstrip()


def monitor(monitor):
    """Return the text of a `linred.Monitor`. It may go to a log, so it names no value of S."""
    unseen = f", {monitor.n_unseen:,} with values outside the alphabets" * (monitor.n_unseen > 0)
    lines = [
        f"Drift monitor: {monitor.n_records:,} records observed{unseen}; {monitor.n_calibrated:,} in the calibration",
        f"Evidence: {monitor.evidence:.1f} nats; the alarm is raised at {monitor.limit:.1f} "
        f"(confidence {monitor.confidence:g})",
        f"Largest evidence within one value of S: {monitor.evidence_given_s.max():.1f} nats",
        drift(monitor),
    ]
    return "\n".join(lines)


def drift(monitor):
    """Return the verdict of a `linred.Monitor`, also the text of its warning."""
    if not monitor.drifted:
        return "No drift detected"
    return (
        "DRIFT: the stream no longer comes from the distribution that the mechanism was fitted on; "
        f"its certificate no longer holds (detected at record {monitor.drifted_at})"
    )


def full_report(mechanism, path, published=None, seeded=False):
    """Return the text of `linred fit`, `linred run` and `linred report`.

    published : names of all columns that were written, or None if there is no release to describe.
    seeded : whether they were drawn with a seed.
    """
    subject = Subject(mechanism, published, seeded)
    parts = [*_opening(subject), _fit(subject, path), *_figures_of(subject, mechanism.report())]
    if mechanism.certified is not None:
        parts += [str(mechanism.certified), *([str(mechanism.design)] if mechanism.design else [])]
    if mechanism.fitted is not None and mechanism.fitted.scanned:
        parts.append(_leaks(mechanism, published))
    return "\n\n".join([*parts, _assumptions(mechanism), f"Mechanism {mechanism.id}"])


def shown(text):
    """Return a name as it is, or in quotes if it would break the line."""
    return text if text.isprintable() else repr(text)


def _fit(subject, path):
    """Return the source of the fit, its columns, and the columns of the release."""
    (s, x), (n_s, n_x) = map(shown, subject.sides(", ")), subject.mechanism.joint.shape
    n = subject.n_records
    lines = [
        f"Source: {path}" + ("" if n is None else f", {n:,} records"),
        f"  Sensitive column, S: {s} ({n_s:,} values)",
        f"  Public column, X: {x} ({n_x:,} values)",
        _wrapped(f"Mechanism: {_kind(subject)}", "  "),
    ]
    if subject.published is not None:
        public = names(subject.mechanism.fitted.public)
        columns = (shown(name) + " (randomised, Y)" * (name in public) for name in subject.published)
        lines.append(_wrapped(f"Published columns: {', '.join(columns)}", "  "))
    if not subject.mechanism.sees_s:
        lines.append("  This mechanism does not use S when sampling: sanitising needs only the public columns.")
    return "\n".join(lines)


def _sampling(subject):
    """Return the exact figures of the sampling tables, and whether they meet the target."""
    bounds = {FIGURES[name]: getattr(subject.certificate, name) for name in ("ldp", "log_lift")}
    lines = [
        f"Exact figures of the sampling tables: {_at_most(bounds)}",
        f"For someone who knows X: {_at_most({'LDP': subject.ldp_given_x})}",
        *_targets(subject.reached, _secret(subject)),
    ]
    return "\n".join(lines)


def _at_most(bounds):
    """Return {name: upper bound in nats} as text."""
    said = (
        f"{name} " + ("infinite" if bound == math.inf else f"<= {figure(bound, 'up')}")
        for name, bound in bounds.items()
    )
    return ", ".join(said) + " nats" * (min(bounds.values()) < math.inf)


def _targets(reached, secret=limits.numbered):
    """Return lines on each limit beside what was reached: one line if there is one limit, otherwise a table."""
    if len(reached) == 1:
        (one,) = reached
        met = "met" if one.met else "NOT MET"
        return [f"Target {limits.stated(reached, secret)}: {met}, {limits.figure(one)} reached"]
    rows = [
        (
            f"  {_shortened(limits.words(one, secret), LONGEST_GROUP)}",
            limits.asked(one),
            limits.figure(one),
            YES_OR_NO[one.met],
        )
        for one in reached
    ]
    return _table([("Targets (nats)", "At most", "Reached", "Met"), *rows]) if rows else []


def _bearers(mechanism):
    """Return a table of the groups of S and of X that have the largest shares of changed records."""
    rows = [("Changed records by group, the largest shares", "Of all records", "Changed")]
    rows.append(("  (all records)", share(1.0), share(mechanism.dtv())))
    for side, group in (("S", "s"), ("X", "x")):
        for one in largest_groups(mechanism, group, N_GROUPS):
            name = _shortened(f"{side} = {one.label!r}", LONGEST_GROUP)
            rows.append((f"  {name}", share(one.share), share(one.changed)))
    return "\n".join(_table(rows))


def _assumptions(mechanism):
    fitted, chosen = mechanism.fitted, ["x", "records"]
    if mechanism.joint.n_records is not None:
        chosen.append("estimate" if mechanism.certified is None else "certified")
    if fitted is not None and not fitted.declared:
        chosen.append("inferred")
    if fitted is not None and not fitted.scanned:
        chosen.append("not scanned")
    return "\n".join(["Assumptions", *(_wrapped(ASSUMPTIONS[name], "  - ") for name in chosen)])


def _leaks(mechanism, published):
    """Return a table of the leakage of every other column of the input, the largest first."""
    fitted, released = mechanism.fitted, metrics.mutual_information(mechanism.released)
    telling = {leak.column for leak in fitted.telling(released)}
    alone = float(mechanism.joint.p_s.max())
    with_y = float((mechanism.p_y_given_s * mechanism.joint.p_s[:, None]).max(axis=0).sum())
    rows = [
        ("  Column", "Published", "Values", "I(S;column)", "S guessed correctly", ""),
        ("  (no column)", "", "", figure(0.0), share(alone), ""),
        ("  (Y, released column)", "yes", f"{len(mechanism.p_y):,}", figure(released), share(with_y), ""),
    ]
    for leak in fitted.leaks:
        rounding = "down" if leak.at_least else "nearest"
        information = ">= " * leak.at_least + figure(leak.information, rounding)
        is_published = "" if published is None else YES_OR_NO[leak.column in published]
        mark = "more than Y" * (leak.column in telling)
        name = "  " + _shortened(shown(leak.column))
        rows.append((name, is_published, f"{leak.n_values:,}", information, share(leak.guessed), mark))
    if published is None:
        rows = [(name, *others) for name, _, *others in rows]
    return "\n".join(["Other columns of the input, each measured alone (nats)", *_table(rows)])


def _shortened(name, longest=LONGEST_NAME):
    return name if len(name) <= longest else f"{name[: longest - 3]}..."


def warnings(mechanism, passes, seeded):
    """Yield the warnings before a file is sanitised; `passes` are the columns published unchanged."""
    fitted, sensitive = mechanism.fitted, names(mechanism.fitted.sensitive)
    if seeded:
        yield "a seed is not private: anyone who guesses it can undo the draws. Use --key-file"
    if kept := [name for name in passes if name in sensitive]:
        yield f"the output contains sensitive columns: {', '.join(map(shown, kept))}"
    others = [name for name in passes if name not in sensitive]
    telling = {leak.column: leak for leak in fitted.telling(metrics.mutual_information(mechanism.released))}
    named = [f"{shown(name)} ({figure(telling[name].information)})" for name in others if name in telling]
    if named:
        yield (
            "these columns are published unchanged, and each reveals more about S than the released column "
            f"(mutual information in nats): {', '.join(named)}"
        )
    measured = {leak.column for leak in fitted.leaks if not leak.at_least or leak.column in telling}
    unknown = [name for name in others if name not in measured]
    if unknown:
        yield (
            "these columns are published unchanged, and what they reveal about S was not fully measured: "
            f"{', '.join(map(shown, unknown))}"
        )


def fit_warnings(mechanism):
    """Yield the warnings after a fit."""
    helps = "coarser bins (--bins), fewer columns, or --confidence"
    if mechanism.certified is not None:
        helps = "coarser bins (--bins) or fewer columns"
    for columns, n_values, n_records in promise.sides_with_few_records(mechanism):
        yield (
            f"{', '.join(map(shown, columns))}: {n_values:,} values among {n_records:,} records, so plug-in estimates "
            f"are no evidence. Use {helps}"
        )


def counts(counts, path):
    """Return a line on what a pass over a file did."""
    changed = counts.n_changed / counts.n_records if counts.n_records else 0.0
    text = f"{path}: {counts.n_records:,} records, {counts.n_changed:,} changed ({share(changed)})"
    if counts.n_unseen_values:
        text += f"; {counts.n_unseen_values:,} had a value outside the fitted alphabet"
    if counts.n_unseen_pairs:
        text += f"; {counts.n_unseen_pairs:,} had values that no record of the fit has together, and were drawn "
        text += "independently of s"
    return text


def curves(curves):
    """Return a table with a row for each point and a column for each mechanism: what the point costs, or leaks."""
    grid, measure = curves.axes
    printed = share if measure == "dtv" else figure
    rows = [(curves.axis_label(grid), *curves.labels)]
    for i, point in enumerate(curves.points.tolist()):
        values = (float(curves[label][measure][i]) for label in curves.labels)
        rows.append((f"  {point:g}", *("-" if math.isnan(value) else printed(value) for value in values)))
    title = curves.axis_label(measure)
    return "\n".join([title[0].upper() + title[1:], *_table(rows)]) + "\n"


def curves_csv(curves):
    """Return CSV of every figure of every point, with all digits."""
    lines = [",".join(("mechanism", "point", *curves.measures))]
    for label in curves.labels:
        for i, point in enumerate(curves.points):
            figures = (curves[label][measure][i] for measure in curves.measures)
            cells = ("" if math.isnan(figure) else repr(float(figure)) for figure in figures)
            lines.append(",".join((label, repr(float(point)), *cells)))
    return "\n".join(lines) + "\n"

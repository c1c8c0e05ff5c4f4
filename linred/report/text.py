"""Every text that is printed: figures of a mechanism, certificates, audits, drift; what the command says.

Objects hold data, and come here to print themselves (`linred._common.render`).
"""

import math
from decimal import ROUND_UP, Context, Decimal

from linred.columns.schema import names
from linred.mechanism.provenance import FITTED, HELD_OUT
from linred.privacy import metrics
from linred.privacy.leakage import FIGURES, unit_of

CAUTION = {
    "inferred": "The alphabets were read off the data, which shows what values exist: --domain declares them instead.",
    "x": "X itself is not made private: what y says of x, beyond S, stays.",
    "knows x": "Who knows the x of a record as well may learn its s from y: what becomes of x depends on s.",
    "records": "Records are taken as independent: what relatives or repeated rows tell of S is not counted.",
    "estimate": "Figures are exact for the distribution that was fitted; for others it is an estimate.",
    "certified": "Figures are exact for the distribution that was fitted; those with confidence hold for any.",
    "not_scanned": "Other columns were not looked at: any of them may give S away.",
}

TOLD = "what is told about S [{unit}]"
UTILITY = (
    "share of records changed (DTV)",
    "I(X;Y) [{unit}]",
    "H(X) [{unit}]",
    "H(X) - I(X;Y) [{unit}]",
    "expected distortion",
)
BASIS = {HELD_OUT: "records that were not used for fitting", FITTED: "the counts that it was fitted on"}
REFUTED = {True: "refuted.", False: "consistent with these records, which does not prove it."}
CONFORMS = {True: "nothing speaks against these transitions.", False: "refuted, these are not its transitions."}


def _figures(*columns, width=14):
    """A line for each figure, with its value in every record of figures."""
    rows = zip(FIGURES.values(), *columns, strict=True)
    return [f"  {label:<30}" + "".join(f"{value:>#{width}.6g}" for value in values) for label, *values in rows]


def report(report):
    """`mechanism.report()`."""
    unit, (n_s, n_x) = unit_of(report.base), report.mechanism.joint.shape
    lines = [
        f"{report.mechanism.described()}, {n_s} x {n_x} symbols",
        "",
        f"{TOLD.format(unit=unit):<32}{'before':>14}{'after':>14}",
        *_figures(report.before, report.after),
        "",
        "what is left of X",
    ]
    for label, value in zip(UTILITY, report.utility, strict=True):
        if value is not None:
            lines.append(f"  {label.format(unit=unit):<30}{value:>#28.6g}")
    return "\n".join(lines)


def local_report(report):
    """`mechanism.local()`."""
    lines = [f"{report.mechanism.described()}, figures to base {report.base:.6g}", ""]
    lines.append(f"{'':<26}{'exact':>12}{'local':>12}{'at least':>12}{'at most':>12}")
    for (way, joint), figures in zip(report.joints.items(), (report.before, report.after, report.utility), strict=True):
        region = "inside" if figures.valid else "outside"
        lines.append(f"{way}: radius {figures.radius:.4g}, {region} the region of at most 1")
        for name in figures._fields[2 if way == "X to Y" else 0 : 3]:
            row = getattr(metrics, name)(joint, report.base), *getattr(figures, name)
            lines.append(f"  {name.replace('_', ' '):<24}" + "".join(f"{value:>#12.5g}" for value in row))
    return "\n".join(lines)


def certificate(certificate):
    """`sampler.certificate()`."""
    return "\n".join(["what the sampled tables tell about S, at most [nats]", *_figures(certificate, width=28)])


def certified(certified):
    """What `linred.certify` returns."""
    at = f"at {certified.confidence:.6g}"
    holds = "all figures at once" if certified.together else "each figure by itself"
    lines = [
        f"{TOLD.format(unit='nats'):<32}{'plug-in':>14}{at:>14}{'ceiling':>14}",
        *_figures(certified.plug_in, certified, certified.ceiling),
        f"{BASIS[certified.basis].capitalize()}: {certified.n_records:,}; {holds}.",
        f"LDP: {certified.because}.",
    ]
    return "\n".join(lines)


def design(design):
    """What a fit with a confidence cost."""
    lines = [
        f"records that change: {design.dtv:.2%} with confidence; {design.dtv_plug_in:.2%} if the fitted P(S, X) were "
        f"the truth; {design.dtv_ceiling:.2%} without trusting any data",
        f"fitted on {design.n_fitted:,} records, tested on {design.n_held_out:,} others; "
        f"{design.n_passed} of {design.n_steps} steps towards less damage passed",
        f"too rare with their s to say anything about, and redrawn from P_X: {design.redrawn:.2%} of the records",
    ]
    for name, labels in (("s", design.redrawn_s), ("x", design.redrawn_x)):
        if labels:
            shown = ", ".join(map(repr, labels[:8])) + (f" and {len(labels) - 8} more" if len(labels) > 8 else "")
            lines.append(f"  among them all with {name} = {shown}")
    return "\n".join(lines)


def audit(audit):
    """What `linred.audit` returns."""
    claim = audit.claim or [math.inf] * len(FIGURES)
    lines = [f"{TOLD.format(unit='nats'):<32}{'at least':>14}" + f"{'claimed':>14}" * (audit.claim is not None)]
    for line, claimed in zip(_figures(audit), claim, strict=True):
        lines.append(line + f"{claimed:>#14.6g}" * (claimed < math.inf))
    several = " for all that is claimed at once" if audit.n_kinds_claimed > 1 else ""
    lines.append(f"From {audit.n_records:,} released records, with confidence {audit.confidence:.6g}{several}.")
    if audit.where is not None:
        y, s, other = audit.where
        lines.append(f"LDP: y = {y!r}, s = {s!r} against {other!r}.")
    verdicts = ("claim", audit.refuted, REFUTED), ("mechanism", audit.conforms, CONFORMS)
    lines += [f"The {what}: {words[verdict]}" for what, verdict, words in verdicts if verdict is not None]
    return "\n".join(lines + [f"  {reason}." for reason in audit.reasons])


def monitor(monitor):
    """A `linred.Monitor`."""
    unseen = f", {monitor.n_unseen} with values outside the alphabets" * (monitor.n_unseen > 0)
    alarm = f"the alarm is at {monitor.limit:.1f} (confidence {monitor.confidence:g})"
    lines = [
        f"drift: {monitor.n_records} records seen{unseen}, against {monitor.n_calibrated} of the calibration",
        f"evidence {monitor.evidence:.1f} nats, {alarm}",
        drift(monitor),
        f"most evidence given s = {monitor.strongest!r}: {monitor.evidence_given_s.max():.1f} nats",
    ]
    return "\n".join(lines)


def drift(monitor):
    """Its verdict, which a warning says too."""
    if not monitor.drifted:
        return "no drift seen"
    return (
        "DRIFT: the stream no longer comes from the distribution that the mechanism was fitted on; "
        f"its certificate is withdrawn (seen at record {monitor.drifted_at})"
    )


def full_report(mechanism, path):
    """The report of `linred fit` and `linred report`."""
    parts = [_origin(mechanism, path), str(mechanism.report()), _outcome(mechanism)]
    if mechanism.certified is not None:
        costs = [str(mechanism.design)] if mechanism.design else []
        parts.append("\n".join(["with confidence, on estimated data", str(mechanism.certified), *costs]))
    parts.append(_assumptions(mechanism))
    if mechanism.fitted is not None and mechanism.fitted.scanned:
        parts.append(_leaks(mechanism))
    return "\n\n".join(parts)


def shown(text):
    """A name as it stands, or in quotes where it would break the line."""
    return text if text.isprintable() else repr(text)


def _origin(mechanism, path):
    s, x = map(shown, names_of_sides(mechanism, " x "))
    n_s, n_x = mechanism.joint.shape
    n = n_records(mechanism)
    records = "" if n is None else f", {n:,} records"
    return f"{path}{records}: publish {x} ({n_x} values), protect {s} ({n_s} values)"


def names_of_sides(mechanism, between):
    """(S, X): the names of their columns, with `between` between those of one side."""
    fitted = mechanism.fitted
    return ("S", "X") if fitted is None else [between.join(names(side)) for side in (fitted.sensitive, fitted.public)]


def n_records(mechanism):
    """All that were there, those that were held out too; None where it was not made from records."""
    design = mechanism.design
    return mechanism.joint.n_records if design is None else design.n_fitted + design.n_held_out


def _outcome(mechanism):
    """Records that are expected to change, and what the integers that are drawn from guarantee."""
    share, n = mechanism.dtv(), n_records(mechanism)
    of_records = "" if n is None else f", {share * n:,.0f} of {n:,}"
    certificate = mechanism.sampler().certificate()
    lines = [
        f"expected to change: {share:.3%} of the records{of_records}",
        f"the sampled integers: LDP {_above(certificate.ldp)}, log-lift {_above(certificate.log_lift)} nats at most",
    ]
    if mechanism.target is not None:
        met = "met" if mechanism.target.is_met_by(certificate) else "NOT MET"
        lines.append(f"asked: {mechanism.target}: {met}")
    if not mechanism.sees_s:
        lines.append("it does not look at S: sanitising needs the public columns alone")
    return "\n".join(lines)


def _above(figure):
    """Six digits, rounded up."""
    return f"{Decimal(figure).normalize(Context(6, ROUND_UP)):f}" if math.isfinite(figure) else "infinite"


def _assumptions(mechanism):
    fitted, chosen = mechanism.fitted, ["x", *(["knows x"] if mechanism.sees_s else []), "records"]
    if mechanism.joint.n_records is not None:
        chosen.append("estimate" if mechanism.certified is None else "certified")
    if fitted is not None and not fitted.declared:
        chosen.append("inferred")
    if fitted is not None and not fitted.scanned:
        chosen.append("not_scanned")
    return "\n".join(["assumed", *(f"  {CAUTION[name]}" for name in chosen)])


def _leaks(mechanism):
    """What other columns tell about S, the most telling first."""
    fitted, released = mechanism.fitted, mechanism.report().after.mutual_information
    telling = {leak.column for leak in fitted.telling(released)}
    alone = float(mechanism.joint.p_s.max())
    with_y = float((mechanism.p_y_given_s * mechanism.joint.p_s[:, None]).max(axis=0).sum())
    width = max([20, *(len(shown(leak.column)) for leak in fitted.leaks)])
    lines = [
        "what other columns tell about S, each by itself",
        f"  {'column':<{width}}{'values':>8}{'I(S;column) [nats]':>20}{'S guessed right':>18}",
        f"  {'(none)':<{width}}{'':>8}{0.0:>20.4f}{alone:>18.1%}",
        f"  {'(the released one)':<{width}}{len(mechanism.p_y):>8,}{released:>20.4f}{with_y:>18.1%}",
    ]
    for leak in fitted.leaks:
        information = f"{'>= ' if leak.at_least else ''}{leak.information:.4f}"
        mark = "  tells more than the released column" if leak.column in telling else ""
        lines.append(f"  {shown(leak.column):<{width}}{leak.n_values:>8,}{information:>20}{leak.guessed:>18.1%}{mark}")
    return "\n".join(lines)


def warnings(mechanism, passes, seeded):
    """What is to be said before a file is sanitised."""
    fitted = mechanism.fitted
    if seeded:
        yield "a seed is not private: who guesses it can undo the draws; use --key-file"
    kept = [name for name in passes if name in names(fitted.sensitive)]
    if kept:
        yield f"{', '.join(map(shown, kept))}: sensitive, and kept in the output"
    others = [name for name in passes if name not in kept]
    telling = {leak.column: leak for leak in fitted.telling(mechanism.report().after.mutual_information)}
    named = [f"{shown(name)} ({telling[name].information:.2f} nats)" for name in others if name in telling]
    if named:
        yield f"passed as they are, though they tell more about S than the released column: {', '.join(named)}"
    measured = {leak.column for leak in fitted.leaks if not leak.at_least or leak.column in telling}
    unknown = [name for name in others if name not in measured]
    if unknown:
        yield f"passed as they are, and not fully measured for what they tell about S: {', '.join(map(shown, unknown))}"


def counts(counts, path):
    """What a pass did."""
    share = counts.n_changed / counts.n_records if counts.n_records else 0.0
    text = f"{path}: {counts.n_records:,} records, {counts.n_changed:,} changed ({share:.3%})"
    if counts.n_unseen_values:
        text += f"; {counts.n_unseen_values:,} had a value that the fit did not see"
    if counts.n_unseen_pairs:
        text += f"; {counts.n_unseen_pairs:,} were pairs that the fit did not see, drawn from P(x)"
    return text


def curves(curves):
    """Share of records changed, a line for each point, a column for each mechanism."""
    widths = {label: max(12, len(label) + 2) for label in curves.labels}
    text = f"share of the records that change\n{curves.grid:>10}"
    text += "".join(f"{label:>{width}}" for label, width in widths.items())
    for i, point in enumerate(curves.points):
        text += f"\n{point:>10g}" + "".join(f"{curves[one]['dtv'][i]:>{width}.3%}" for one, width in widths.items())
    return text + "\n"


def curves_csv(curves):
    """Every figure of every point."""
    lines = [",".join(("mechanism", "point", *curves.measures))]
    for label in curves.labels:
        for i, point in enumerate(curves.points):
            figures = (curves[label][measure][i] for measure in curves.measures)
            cells = ("" if math.isnan(figure) else repr(float(figure)) for figure in figures)
            lines.append(",".join((label, repr(float(point)), *cells)))
    return "\n".join(lines) + "\n"

"""What the command prints: the report of a mechanism, its warnings, what a pass did, curves as a table."""

import math
from decimal import ROUND_UP, Context, Decimal

from linred.columns.schema import names
from linred.report.tradeoff import MEASURES

CAUTION = {
    "inferred": "The alphabets were read off the data, which shows what values exist: --domain declares them instead.",
    "x": "X itself is not made private: what y says of x, beyond S, stays.",
    "knows x": "Who knows the x of a record as well may learn its s from y: what becomes of x depends on s.",
    "records": "Records are taken as independent: what relatives or repeated rows tell of S is not counted.",
    "estimate": "Figures are exact for the distribution that was fitted; for others it is an estimate.",
    "certified": "Figures are exact for the distribution that was fitted; those with confidence hold for any.",
    "not_scanned": "Other columns were not looked at: any of them may give S away.",
}


def report(mechanism, path):
    """The report of `linred fit` and `linred report`."""
    parts = [_origin(mechanism, path), str(mechanism.report()), _outcome(mechanism)]
    if mechanism.certified is not None:
        parts.append(_certified(mechanism))
    parts.append(_assumptions(mechanism))
    if mechanism.fitted is not None and mechanism.fitted.scanned:
        parts.append(_leaks(mechanism))
    return "\n\n".join(parts)


def shown(text):
    """A name as it stands, or in quotes where it would break the line."""
    return text if text.isprintable() else repr(text)


def _origin(mechanism, path):
    joint, fitted = mechanism.joint, mechanism.fitted
    sides = ("S", "X") if fitted is None else (" x ".join(names(side)) for side in (fitted.sensitive, fitted.public))
    s, x = map(shown, sides)
    n_s, n_x = joint.shape
    records = "" if joint.n_records is None else f", {_n_records(mechanism):,} records"
    return f"{path}{records}: publish {x} ({n_x} values), protect {s} ({n_s} values)"


def _n_records(mechanism):
    """All that were there, those that were held out too; None where it was not made from records."""
    design = mechanism.design
    return mechanism.joint.n_records if design is None else design.n_fitted + design.n_held_out


def _outcome(mechanism):
    """Records that are expected to change, and what the integers that are drawn from guarantee."""
    share, n_records = mechanism.dtv(), _n_records(mechanism)
    of_records = "" if n_records is None else f", {share * n_records:,.0f} of {n_records:,}"
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


def _certified(mechanism):
    """What holds with confidence, and what that costs."""
    certified, design = mechanism.certified, mechanism.design
    return "\n".join(["with confidence, on estimated data", str(certified), *([str(design)] if design else [])])


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
    width = max([20, *(len(shown(leak.column)) for leak in fitted.leaks)])
    lines = [
        "what other columns tell about S, each by itself",
        f"  {'column':<{width}}{'values':>8}{'I(S;column) [nats]':>20}{'S guessed right':>18}",
        f"  {'(none)':<{width}}{'':>8}{0.0:>20.4f}{alone:>18.1%}",
        f"  {'(the released one)':<{width}}{len(mechanism.p_y):>8,}{released:>20.4f}{_guessed(mechanism):>18.1%}",
    ]
    for leak in fitted.leaks:
        information = f"{'>= ' if leak.at_least else ''}{leak.information:.4f}"
        mark = "  tells more than the released column" if leak.column in telling else ""
        lines.append(f"  {shown(leak.column):<{width}}{leak.n_values:>8,}{information:>20}{leak.guessed:>18.1%}{mark}")
    return "\n".join(lines)


def _guessed(mechanism):
    return float((mechanism.p_y_given_s * mechanism.joint.p_s[:, None]).max(axis=0).sum())


def warnings(mechanism, passes, seeded, keep_sensitive):
    """What is to be said before a file is sanitised."""
    fitted = mechanism.fitted
    if seeded:
        yield "a seed is not private: who guesses it can undo the draws; use --key-file"
    if keep_sensitive:
        yield f"{', '.join(map(shown, names(fitted.sensitive)))}: sensitive, and kept in the output"
    others = [name for name in passes if name not in names(fitted.sensitive)]
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
    lines = [f"{curves.grid:>10}" + "".join(f"{label:>{widths[label]}}" for label in curves.labels)]
    for i, point in enumerate(curves.points):
        shares = ((label, curves[label]["dtv"][i]) for label in curves.labels)
        lines.append(f"{point:>10g}" + "".join(f"{share:>{widths[label]}.3%}" for label, share in shares))
    return "share of the records that change\n" + "\n".join(lines) + "\n"


def curves_csv(curves):
    """Every figure of every point."""
    lines = [",".join(("mechanism", "point", *MEASURES))]
    for label in curves.labels:
        for i, point in enumerate(curves.points):
            figures = (curves[label][measure][i] for measure in MEASURES)
            cells = ("" if math.isnan(figure) else repr(float(figure)) for figure in figures)
            lines.append(",".join((label, repr(float(point)), *cells)))
    return "\n".join(lines) + "\n"

"""The commands `linred certify` and `linred audit`: certified figures, and tests of a release against its claim."""

import json
from dataclasses import asdict

import click
import pyarrow as pa

from linred.assurance.certify import certify as certified_by
from linred.batches.arrow_columns import binned
from linred.cli import options
from linred.cli.run_context import command
from linred.columns.schema import missing_column, names, parts_of
from linred.errors import FileError, UnseenError
from linred.io import counting
from linred.mechanism.artifact_reader import load
from linred.mechanism.artifact_target import finite
from linred.mechanism.artifact_writer import summary

REFUTED = 3
"""The exit code if an audit refutes a claim, or that the mechanism made the release."""


@command()
@options.artifact
@click.argument("data", type=click.Path(), required=False)
@options.confidence
@options.to_file("-o", "--output", help="Write the mechanism to this file, together with its new certificate")
@options.as_json
@options.force
@options.source
def certify(run, artifact_path, data, confidence, output, as_json):
    """Certify the figures of a mechanism at a confidence level.

    The figures come from the records of DATA, none of which may have been used to fit MECHANISM. Without DATA, they
    come from the counts of the fit.
    """
    run.check_outputs([artifact_path, data], output)
    mechanism = load(artifact_path)
    records = () if data is None else (_counted(run, artifact_path, mechanism, data),)
    certified = certified_by(mechanism, *records, confidence=confidence)
    mechanism = mechanism.replace(certified=certified, design=None)  # the design was for another certificate
    run.store(output, mechanism.save)
    if as_json:
        click.echo(json.dumps(summary(mechanism)["certified"], indent=2, ensure_ascii=False))
    elif not run.quiet:
        click.echo(str(mechanism.certified))
    run.note_artifact(output)


def _counted(run, artifact_path, mechanism, data):
    if mechanism.fitted is None:
        raise FileError(f"{artifact_path} does not say which columns it is for: certify it without DATA")
    with run.source(data) as source, run.progress("counting", source) as progress:
        return counting.counted_for(mechanism, source, progress)


@command()
@options.data
@options.column_names("--sensitive", help="Sensitive columns, S, with their true values; by default those of the fit")
@options.column_names("--released", help="Released columns, Y, as published; by default the public columns of the fit")
@options.column_names(
    "--public", help="Public columns, X, before sanitising: test with -m whether the mechanism drew Y"
)
@click.option(
    "-m",
    "--mechanism",
    "artifact_path",
    type=click.Path(),
    help="Test what this mechanism file claims about Y",
)
@click.option(
    "--claim", "ldp", type=click.FloatRange(0), metavar="NATS", help="Test the claim that LDP is at most this value"
)
@click.option(
    "--claim-log-lift",
    "log_lift",
    type=click.FloatRange(0),
    metavar="NATS",
    help="Test the claim that log-lift is at most this value",
)
@options.confidence
@options.as_json
@options.source
def audit(run, data, sensitive, released, public, artifact_path, ldp, log_lift, confidence, as_json):
    """Test a released table against its claimed privacy.

    linred prints lower bounds on the leakage about S in the records of DATA, and whether they refute the claim. With
    the mechanism and X, it also tests whether the mechanism drew Y. The exit code is 3 if a claim or the mechanism is
    refuted.
    """
    from linred.assurance.audit import audit as audited

    mechanism = load(artifact_path) if artifact_path else None
    sides = _sides(mechanism, sensitive, released, public)
    with run.source(data) as source:
        columns = _columns(source, sides)
    claim = {name: value for name, value in (("ldp", ldp), ("log_lift", log_lift)) if value is not None}
    if mechanism and not claim:  # a mechanism claims its certificate, or else its target
        claim = mechanism.certified or mechanism.target
    how = {"mechanism": mechanism, "claim": claim or None, "confidence": confidence}
    try:
        result = audited(columns["sensitive"], columns["released"], x=columns.get("public"), **how)
    except UnseenError as error:
        raise FileError(_unseen_line(data, sides, error)) from None
    click.echo(json.dumps(_summary(result), indent=2, ensure_ascii=False) if as_json else str(result))
    return REFUTED if result.refuted or result.conforms is False else 0


def _unseen_line(data, sides, error):
    """Return the message for a value outside the mechanism's alphabet, with the column and the record of the file."""
    side = {"s": "sensitive", "x": "public"}.get(error.name, "released")
    columns = ", ".join(map(repr, names(sides[side])))
    return (
        f"{data}: record {error.record + 1:,}, column {columns}: value not in the alphabet of the mechanism. Check the "
        "column, or audit without -m"
    )


def _sides(mechanism, sensitive, released, public):
    """Return {side: `ColumnSpec`s} of the columns, with the bins of the fit."""
    fitted = None if mechanism is None else mechanism.fitted
    if public and mechanism is None:
        raise click.UsageError("--public tests the draws of a mechanism: give its file with -m")
    sides = {}
    for side, columns, of_fit in (("sensitive", sensitive, "sensitive"), ("released", released, "public")):
        if columns is None and fitted is None:
            raise click.UsageError(f"the {side} columns are not known: name them with --{side}, or give -m")
        sides[side] = getattr(fitted, of_fit) if columns is None else parts_of(f"--{side}", columns)
    if public:
        sides["public"] = parts_of("--public", public)
    for side in ("sensitive", "public"):
        if fitted is not None and side in sides:
            sides[side] = options.renamed(side, names(sides[side]), getattr(fitted, side))
    return sides


def _columns(source, sides):
    """Return {side: column, or table of several} of a source. All records are held in memory."""
    wanted = [part.name for parts in sides.values() for part in parts]
    for name in wanted:
        if name not in source.names:
            raise FileError(missing_column(source.path, name, wanted, source.names))
    batches, start = {side: [] for side in sides}, 0
    for batch in source.batches(set(wanted), set(wanted)):
        for side, parts in sides.items():
            columns = [binned(source.path, part, batch.column(part.name), start) for part in parts]
            batches[side].append(pa.record_batch(columns, names(parts)))
        start += batch.num_rows
    if not start:
        raise FileError(f"{source.path} has no records: nothing can be audited")
    tables = {side: pa.Table.from_batches(some).unify_dictionaries() for side, some in batches.items()}
    return {side: table.column(0) if table.num_columns == 1 else table for side, table in tables.items()}


def _summary(result):
    """Return the result of an audit as values that JSON can hold."""
    content = asdict(result)
    claim = None if result.claim is None else finite(content["claim"])
    return {**content, "claim": claim, "where": None if result.where is None else [str(one) for one in result.where]}

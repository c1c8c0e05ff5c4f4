"""The commands `linred certify` and `linred audit`: what holds with confidence, and what a release shows."""

import json
from dataclasses import asdict

import click
import pyarrow as pa

from linred._common.validation import check_confidence
from linred.assurance.certify import certify as certified_by
from linred.batches.arrow_columns import binned
from linred.cli import options
from linred.cli.run_context import command
from linred.columns.schema import missing_column, names, parts_of
from linred.errors import FileError
from linred.io import counting
from linred.mechanism.artifact_reader import load
from linred.mechanism.artifact_writer import finite, summary

REFUTED = 3
"""The exit code where an audit refutes a claim, or that the mechanism made the release."""


@command()
@options.artifact
@click.argument("data", type=click.Path(), required=False)
@options.confidence
@click.option("-o", "--output", type=click.Path(), help="store the artifact with this certificate in it")
@options.as_json
@options.force
@options.source
def certify(run, artifact_path, data, confidence, output, as_json):
    """Figures of MECHANISM that hold with confidence, from the records of DATA, none of which it was fitted on; without
    DATA, from the counts that it was fitted on."""
    run.check_outputs([artifact_path, data], output)
    check_confidence(confidence)
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
        raise FileError(f"{artifact_path} does not say which columns it is for: it cannot be certified on a file")
    with run.source(data) as source, run.progress("counting", source) as progress:
        return counting.counted_for(mechanism, source, progress)


@command()
@options.data
@options.column_names("--sensitive", help="S, as it really is; as in the fit otherwise")
@options.column_names("--released", help="Y, what was published; what the fit calls public otherwise")
@options.column_names("--public", help="X, what Y was drawn for: with it, the draws are tested")
@click.option("-m", "--mechanism", "artifact_path", type=click.Path(), help="the artifact that is said to have made Y")
@click.option("--claim", "ldp", type=float, metavar="NATS", help="the LDP that is claimed")
@click.option("--claim-log-lift", "log_lift", type=float, metavar="NATS", help="the log-lift that is claimed")
@options.confidence
@options.as_json
@options.source
def audit(run, data, sensitive, released, public, artifact_path, ldp, log_lift, confidence, as_json):
    """What the released records of DATA tell about S at least; whether that refutes a claim; and, with the mechanism
    and X, whether it made them. Exit code 3 where something is refuted."""
    from linred.assurance.audit import audit as audited

    check_confidence(confidence)
    mechanism = load(artifact_path) if artifact_path else None
    sides = _sides(mechanism, sensitive, released, public)
    with run.source(data) as source:
        columns = _columns(source, sides)
    claim = {name: value for name, value in (("ldp", ldp), ("log_lift", log_lift)) if value is not None}
    if mechanism and not claim:  # it claims its certificate, or else the target that it was made for
        claim = mechanism.certified or mechanism.target
    how = {"mechanism": mechanism, "claim": claim or None, "confidence": confidence}
    result = audited(columns["sensitive"], columns["released"], x=columns.get("public"), **how)
    click.echo(json.dumps(_summary(result), indent=2, ensure_ascii=False) if as_json else str(result))
    return REFUTED if result.refuted or result.conforms is False else 0


def _sides(mechanism, sensitive, released, public):
    """{side: `ColumnSpec`s} of the columns, with the bins of the fit."""
    fitted = None if mechanism is None else mechanism.fitted
    if public and mechanism is None:
        raise FileError("--public is for testing the draws, which needs the mechanism: -m names it")
    sides = {}
    for side, columns, of_fit in (("sensitive", sensitive, "sensitive"), ("released", released, "public")):
        if columns is None and fitted is None:
            raise FileError(f"which columns are {side}? --{side} says so")
        sides[side] = getattr(fitted, of_fit) if columns is None else parts_of(f"--{side}", columns)
    if public:
        sides["public"] = parts_of("--public", public)
    for side in ("sensitive", "public"):
        if fitted is not None and side in sides:
            sides[side] = options.renamed(side, names(sides[side]), getattr(fitted, side))
    return sides


def _columns(source, sides):
    """{side: column, or table of several} of a source, all of it in memory."""
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
        raise FileError(f"{source.path} has no records to audit")
    tables = {side: pa.Table.from_batches(some).unify_dictionaries() for side, some in batches.items()}
    return {side: table.column(0) if table.num_columns == 1 else table for side, table in tables.items()}


def _summary(result):
    """What JSON can hold of it."""
    content = asdict(result)
    claim = None if result.claim is None else finite(content["claim"])
    return {**content, "claim": claim, "where": None if result.where is None else [str(one) for one in result.where]}

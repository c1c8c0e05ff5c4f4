"""The commands `linred certify` and `linred audit`: what holds with confidence, and what a release shows."""

import json
from dataclasses import asdict

import click

from linred._common.validation import check_confidence
from linred.assurance import certify as certificates
from linred.batches.arrow_columns import binned, pyarrow
from linred.cli import commands
from linred.columns.schema import names, parts_of
from linred.errors import FileError
from linred.io import counting
from linred.io.pipes import listed
from linred.mechanism.artifact_reader import load
from linred.mechanism.artifact_writer import finite, summary

REFUTED = 3
"""The exit code where an audit refutes a claim, or that the mechanism made the release."""

_artifact = click.argument("artifact_path", metavar="MECHANISM", type=click.Path())
_confidence = click.option("--confidence", type=float, default=0.95, show_default=True, help="between 0 and 1")
_as_json = click.option("--json", "as_json", is_flag=True, help="the figures as JSON")


@click.command()
@_artifact
@click.argument("data", type=click.Path(), required=False)
@_confidence
@click.option("-o", "--output", type=click.Path(), help="store the artifact with this certificate in it")
@_as_json
@commands._force
@commands._reading
def certify(artifact_path, data, confidence, output, as_json, force, **options):
    """Figures of MECHANISM that hold with confidence, from the records of DATA, none of which it was fitted on; without
    DATA, from the counts that it was fitted on."""
    commands._check_outputs([artifact_path, data], force, output)
    check_confidence(confidence)
    mechanism = load(artifact_path)
    records = () if data is None else (_counted(artifact_path, mechanism, data, options),)
    certified = certificates.certify(mechanism, *records, confidence=confidence)
    mechanism = mechanism.replace(certified=certified, design=None)  # the design was for another certificate
    if output:
        mechanism.save(output, force=force)
    if as_json:
        click.echo(json.dumps(summary(mechanism)["certified"], indent=2, ensure_ascii=False))
    elif not options["quiet"]:
        click.echo(str(mechanism.certified))
    commands._say_stored(output, options["quiet"])


def _counted(artifact_path, mechanism, data, options):
    if mechanism.fitted is None:
        raise FileError(f"{artifact_path} does not say which columns it is for: it cannot be certified on a file")
    with (
        commands._source(data, options) as source,
        commands._progress("counting", data, source, options["quiet"]) as progress,
    ):
        return counting.counted_for(mechanism, source, progress)


@click.command()
@click.argument("data", type=click.Path())
@click.option("--sensitive", help="S, as it really is; as in the fit otherwise", **commands._COLUMNS)
@click.option("--released", help="Y, what was published; what the fit calls public otherwise", **commands._COLUMNS)
@click.option("--public", help="X, what Y was drawn for: with it, the draws are tested", **commands._COLUMNS)
@click.option("-m", "--mechanism", "artifact_path", type=click.Path(), help="the artifact that is said to have made Y")
@click.option("--claim", "ldp", type=float, metavar="NATS", help="the LDP that is claimed")
@click.option("--claim-log-lift", "log_lift", type=float, metavar="NATS", help="the log-lift that is claimed")
@_confidence
@_as_json
@commands._reading
def audit(data, sensitive, released, public, artifact_path, ldp, log_lift, confidence, as_json, **options):
    """What the released records of DATA tell about S at least; whether that refutes a claim; and, with the mechanism
    and X, whether it made them. Exit code 3 where something is refuted."""
    from linred.assurance.audit import audit as audited

    check_confidence(confidence)
    mechanism = load(artifact_path) if artifact_path else None
    sides = _sides(mechanism, sensitive, released, public)
    with commands._source(data, options) as source:
        columns = _columns(source, sides)
    claim = {name: value for name, value in (("ldp", ldp), ("log_lift", log_lift)) if value is not None}
    result = audited(
        columns["sensitive"],
        columns["released"],
        x=columns.get("public"),
        mechanism=mechanism,
        claim=claim or _claim_of(mechanism),
        confidence=confidence,
    )
    if as_json:
        click.echo(json.dumps(_summary(result), indent=2, ensure_ascii=False))
    else:
        click.echo(str(result))
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
    for side, of_fit in (("sensitive", "sensitive"), ("public", "public")):
        if fitted is not None and side in sides:
            sides[side] = _with_bins(side, sides[side], getattr(fitted, of_fit))
    return sides


def _with_bins(side, parts, fitted):
    if len(parts) != len(fitted):
        raise FileError(f"--{side} names {len(parts)} columns, and the mechanism has {len(fitted)}")
    return tuple(old.renamed(new.name) for new, old in zip(parts, fitted, strict=True))


def _columns(source, sides):
    """{side: column, or table of several} of a source, all of it in memory."""
    pa = pyarrow()
    wanted = [part.name for parts in sides.values() for part in parts]
    for name in wanted:
        if name not in source.names:
            raise FileError(f"{source.path} has no column {name!r}; it has {listed(source.names)}")
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


def _claim_of(mechanism):
    """What an artifact claims: its certificate, or else the target that it was made for."""
    return None if mechanism is None else mechanism.certified or mechanism.target


def _summary(result):
    """What JSON can hold of it."""
    content = asdict(result)
    claim = None if result.claim is None else finite(content["claim"])
    return {**content, "claim": claim, "where": None if result.where is None else [str(one) for one in result.where]}

"""The commands of `linred`. Each reads its options, calls the library, and prints what it did."""

import csv
import json
import os
import sys
from contextlib import contextmanager, nullcontext
from functools import reduce

import click

from linred._common import atomic_file
from linred.columns.schema import Fitted, names, parts_of
from linred.design import fit as designing
from linred.design import registry
from linred.errors import FileError
from linred.io import counting, formats, key_file, pipeline, pipes
from linred.io.pipes import PIPE
from linred.mechanism.artifact_reader import check_parts, load
from linred.mechanism.artifact_writer import summary
from linred.privacy.target import target
from linred.report import text as texts


def _options(*decorators):
    """Several click decorators as one, in the order in which --help is to list them."""
    return lambda command: reduce(lambda wrapped, decorate: decorate(wrapped), reversed(decorators), command)


def _columns(context, parameter, values):
    """COL,COL of one or several options; a name with a comma in it goes in quotes."""
    if not values:
        return None
    try:
        return tuple(name for value in values for row in csv.reader([value], skipinitialspace=True) for name in row)
    except csv.Error:
        raise click.BadParameter(f"{values!r} is not COL,COL: a name with a line break in it goes in quotes") from None


def _bins(context, parameter, values):
    """{column: edges} of column=edge,edge,..."""
    bins = {}
    for value in values:
        column, equals, edges = value.rpartition("=")
        if not equals or not column:
            raise click.BadParameter(f"{value!r} is not COLUMN=EDGE,EDGE,...")
        if column in bins:
            raise click.BadParameter(f"{column!r} is there twice: give all its edges at once")
        bins[column] = tuple(edges.split(","))
    return bins


_COLUMNS = {"multiple": True, "callback": _columns, "metavar": "COL[,COL]"}
_reading = _options(
    click.option("--from", "from_format", metavar="FORMAT", help="csv, parquet, ...: where the extension does not say"),
    click.option("--delimiter", metavar="CHARACTER", help="of CSV; a comma, or a tab for .tsv, otherwise"),
    click.option("--encoding", default="utf-8", show_default=True, help="of CSV that is read; UTF-8 is written"),
    click.option("-q", "--quiet", is_flag=True, help="no progress, no report; warnings and errors only"),
)
_what = _options(
    click.option("--sensitive", required=True, help="S: what is protected", **_COLUMNS),
    click.option("--public", required=True, help="X: what is published", **_COLUMNS),
    click.option("--bins", multiple=True, callback=_bins, metavar="COL=EDGE,EDGE,...", help="sort numbers into bins"),
    click.option("--domain", type=click.Path(), help='JSON, {"column": ["label", ...]}: declare the alphabets'),
    click.option(
        "--missing",
        type=click.Choice(["category", "skip", "error"]),
        default="category",
        show_default=True,
        help="what a missing value is to the fit",
    ),
)
_asked = _options(
    click.option("--ldp", type=float, metavar="NATS", help="local differential privacy of S, at most"),
    click.option("--log-lift", type=float, metavar="NATS", help="log-lift of S, at most; with --ldp or without"),
    click.option("--alpha", type=float, help="in place of a target: how far from P(x|s) to P(x)"),
    click.option(
        "--mechanism",
        type=click.Choice(["optimal", "non-markov", "markov"]),
        default="optimal",
        show_default=True,
        help="fewest changes; Proposition 1; Lemma 1",
    ),
    click.option("--no-sees-s", is_flag=True, help="S is not there when records are sanitised"),
    click.option(
        "--confidence", type=float, metavar="SHARE", help="meet the target with it, .95 say, on estimated data"
    ),
    click.option("--held-out", type=float, default=0.5, show_default=True, help="of the records, to test that on"),
    click.option("--time-limit", type=float, metavar="SECONDS", help="for the optimum; then the best found so far"),
    click.option("--no-scan", is_flag=True, help="do not measure what other columns tell about S"),
)
_drawing = _options(
    click.option("--keep-sensitive", is_flag=True, help="leave the sensitive columns in the output"),
    click.option("--columns", help="only these of the other columns pass", **_COLUMNS),
    click.option(
        "--unseen",
        type=click.Choice(["error", "marginal", "null"]),
        default="error",
        show_default=True,
        help="a value that the fit did not see: refuse, draw from P(x), or make it missing",
    ),
    click.option("--key-file", type=click.Path(), help="of linred keygen: the same output again, for who has the key"),
    click.option("--seed", type=click.IntRange(0), help="the same output again, for anyone: not private, for tests"),
    click.option("--id", "id_column", metavar="COL", help="each record's own name: the same record, the same answer"),
    click.option("--context", metavar="TEXT", help="names this release, in place of the path of the file"),
    click.option("--to", "to_format", metavar="FORMAT", help="of the output, where its extension does not say"),
    click.option("--threads", type=click.IntRange(1), help="up to 8 cores otherwise"),
)
_force = click.option("--force", is_flag=True, help="replace a file that exists")


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="linred")
def linred():
    """Publish a column X while protecting a sensitive column S that is correlated with it."""


@linred.command()
@click.argument("data", type=click.Path())
@_what
@_asked
@click.option("-o", "--output", type=click.Path(), help="the artifact, mechanism.json say; nothing is stored without")
@_force
@_reading
def fit(data, output, force, **options):
    """Fit a mechanism on DATA (CSV, Parquet, Arrow; - for a pipe) and print what it does."""
    _check_outputs([data, options["domain"]], force, output)
    mechanism = _fitted(data, options)
    if output:
        mechanism.save(output, force=force)
    if not options["quiet"]:
        click.echo(texts.report(mechanism, data))
    _say_stored(output, options["quiet"])


@linred.command()
@click.argument("data", type=click.Path())
@click.option("-m", "--mechanism", "artifact_path", required=True, type=click.Path(), help="the artifact of linred fit")
@click.option("-o", "--output", required=True, type=click.Path(), help="the sanitised file; - for a pipe")
@click.option("--sensitive", help="what the sensitive columns are called in DATA, if not as in the fit", **_COLUMNS)
@click.option("--public", help="what the public columns are called in DATA, if not as in the fit", **_COLUMNS)
@_drawing
@_force
@_reading
def sanitize(data, artifact_path, output, sensitive, public, force, **options):
    """Draw the public columns of DATA anew; the sensitive ones are left out."""
    _check_outputs([data, artifact_path, options["key_file"]], force, table=output)
    mechanism = load(artifact_path)
    mechanism.fitted = _renamed(artifact_path, mechanism, sensitive, public)
    _sanitize(data, mechanism, output, force, options)


@linred.command()
@click.argument("data", type=click.Path())
@_what
@_asked
@click.option("-o", "--output", required=True, type=click.Path(), help="the sanitised file; - for a pipe")
@click.option("-m", "--save-mechanism", type=click.Path(), help="store the artifact too")
@click.option("--html", type=click.Path(), help="store the report as a page too, for its owner to read")
@_drawing
@_force
@_reading
def run(data, output, save_mechanism, html, force, **options):
    """Fit on DATA, sanitise it, and print the report: all in one."""
    if pipes.is_pipe(data):
        raise FileError("run reads its data twice, and a pipe can be read once: give a file, or fit and sanitize")
    _check_outputs([data, options["key_file"], options["domain"]], force, save_mechanism, html, table=output)
    _secret(options)
    mechanism = _fitted(data, options)
    _sanitize(data, mechanism, output, force, options)
    if save_mechanism:
        mechanism.save(save_mechanism, force=force)
    if html:
        _write_page(mechanism, html, force)
    if not options["quiet"]:
        click.echo(texts.report(mechanism, data), err=output == PIPE)
    _say_stored(save_mechanism, options["quiet"])


@linred.command()
@click.argument("artifact_path", metavar="MECHANISM", type=click.Path())
@click.option("--json", "as_json", is_flag=True, help="the figures as JSON")
@click.option("--html", type=click.Path(), help="a page to read, print and sign; for its owner only")
@_force
def report(artifact_path, as_json, html, force):
    """Say what the mechanism of an artifact does."""
    _check_outputs([artifact_path], force, html)
    mechanism = load(artifact_path)
    if html:
        _write_page(mechanism, html, force)
    if as_json:
        click.echo(json.dumps(summary(mechanism), indent=2, ensure_ascii=False))
    elif not html:
        click.echo(texts.report(mechanism, artifact_path))


@linred.command()
@click.argument("data", type=click.Path())
@_what
@click.option("--ldp", metavar="NATS,NATS,...", help="the points; .1 to 4 otherwise")
@click.option("--log-lift", metavar="NATS,NATS,...", help="points of log-lift in place of LDP")
@click.option(
    "--mechanisms", default="markov,optimal_markov,non_markov,optimal", show_default=True, help="which curves"
)
@click.option("--plot", type=click.Path(), help="a picture: .svg, .png or .pdf")
@click.option("--csv", "as_csv", is_flag=True, help="every figure of every point, as CSV")
@_force
@_reading
def tradeoff(data, ldp, log_lift, mechanisms, plot, as_csv, force, **options):
    """Privacy against utility on DATA: records changed at every target, for several mechanisms."""
    from linred.report.tradeoff import tradeoff as curves_of

    _check_outputs([data, options["domain"]], force, plot)
    points = {"log_lift": _numbers("--log-lift", log_lift)} if log_lift else {"ldp": _numbers("--ldp", ldp or GRID)}
    if ldp and log_lift:
        raise FileError("--ldp and --log-lift are both given: one of them is the axis")
    joint, _ = _counted(data, options, scan=False)
    curves = curves_of(joint, mechanisms=mechanisms.split(","), **points)
    if plot:
        _write_plot(curves, plot, force)
    click.echo(texts.curves_csv(curves) if as_csv else texts.curves(curves), nl=False)


GRID = "0.1,0.2,0.3,0.5,0.7,1,1.5,2,3,4"


@linred.command()
@click.argument("path", metavar="FILE", type=click.Path())
@_force
def keygen(path, force):
    """Make a key FILE, readable by its owner only, for sanitize --key-file."""
    _check_outputs([], force, path)
    key_file.write(path, force)
    click.echo(f"{path}: a fresh key. Keep it secret, and keep it: with it an output can be made again.", err=True)


@linred.command()
@click.argument("directory", default="linred-demo", type=click.Path())
@_force
def demo(directory, force):
    """The whole job on UCI Adult, into DIRECTORY: sanitised file, artifact, report and plot."""
    from linred.cli import demo as demonstration

    demonstration.main(click.get_current_context().parent.command, directory, force)


def _check_outputs(inputs, force, *stored, table=None):
    """That every output can be written, before anything is read; `table` alone may be a pipe."""
    if PIPE in stored:
        raise FileError(f"{PIPE} is for tables, and this is kept in a file: name one")
    outputs = [path for path in (*stored, table) if path is not None and path != PIPE]
    for place, path in enumerate(outputs):
        if os.path.realpath(path) in map(os.path.realpath, outputs[:place]):
            raise FileError(f"{path} is named for two outputs")
        atomic_file.check_target(path, force, [one for one in inputs if one not in (None, PIPE)])
        for temporary in atomic_file.stale(path):
            _warn(f"{temporary} is what a killed run left of {path}: it is incomplete, remove it")


def _warn(message):
    click.echo(f"linred: warning: {' '.join(message.split())}", err=True)


def _say_stored(path, quiet):
    if path and not quiet:
        click.echo(
            f"\n{path}: the mechanism. It holds P(S, X) and is confidential; only its owner can read it.", err=True
        )


def _source(data, options):
    form = formats.format_of(data, options["from_format"], options["delimiter"])
    return formats.open_source(data, form, encoding=options["encoding"])


def _counted(data, options, scan):
    """(Joint, Fitted) of the file."""
    sensitive = parts_of("--sensitive", options["sensitive"], options["bins"])
    public = parts_of("--public", options["public"], options["bins"])
    for column in options["bins"]:
        if column not in (*names(sensitive), *names(public)):
            raise FileError(f"--bins names {column!r}, which is neither sensitive nor public")
    domain = counting.read_domain(options["domain"]) if options["domain"] else None
    with _source(data, options) as source, _progress("fitting", data, source, options["quiet"]) as progress:
        return counting.fit(
            source, sensitive, public, domain=domain, missing=options["missing"], scan=scan, progress=progress
        )


def _fitted(data, options):
    """The mechanism that the options ask for, fitted on the file."""
    asked = {name: options[name] for name in ("ldp", "log_lift", "alpha", "time_limit")}
    asked |= {"name": options["mechanism"], "sees_s": not options["no_sees_s"] and options["mechanism"] != "markov"}
    name, confidence = registry.check(**asked), options["confidence"]
    designing.check_held_out(confidence, options["held_out"], name, asked["alpha"])
    joint, fitted = _counted(data, options, scan=not options["no_scan"])
    if confidence is None:
        mechanism = registry.build(joint, **asked)
    else:
        mechanism = designing.with_confidence(
            joint,
            target(asked["ldp"], asked["log_lift"]),
            confidence,
            asked["sees_s"],
            options["held_out"],
            asked["time_limit"],
        )
    mechanism.fitted = fitted
    return mechanism


def _renamed(path, mechanism, sensitive, public):
    """`mechanism.fitted`, its columns called what the options say."""
    fitted = mechanism.fitted
    if fitted is None and not (public and sensitive):
        raise FileError(f"{path} does not say which columns it is for: --sensitive and --public do")
    if fitted is None:
        fitted = Fitted(parts_of("--sensitive", sensitive), parts_of("--public", public))
        check_parts("sensitive", fitted.sensitive, mechanism.joint.s_labels)
        check_parts("public", fitted.public, mechanism.joint.x_labels)
    for side, columns in (("sensitive", sensitive), ("public", public)):
        if columns:
            parts = getattr(fitted, side)
            if len(columns) != len(parts):
                raise FileError(f"--{side} names {len(columns)} columns, and the mechanism has {len(parts)}")
            named = parts_of(f"--{side}", columns)
            renamed = tuple(part.renamed(new.name) for part, new in zip(parts, named, strict=True))
            fitted = fitted._replace(**{side: renamed})
    for name in names(fitted.public):
        if name in names(fitted.sensitive):
            raise FileError(f"column {name!r} is both sensitive and public")
    return fitted


def _secret(options):
    """What decides the draws: key, seed or neither."""
    if options["seed"] is not None and options["key_file"]:
        raise FileError("--seed and --key-file are both given: which of them is the output to depend on?")
    if options["id_column"] and not options["key_file"]:
        raise FileError("--id needs --key-file: without a secret of its own, the same id has no same answer")
    return {
        "key": key_file.read(options["key_file"]) if options["key_file"] else None,
        "seed": options["seed"],
        "ids": None,
    }


def _context(data, mechanism, options):
    """Which release this is. Of a file its path, so that two files under one key share no randomness; with ids nothing,
    because the same record is to get the same answer in any file."""
    release = options["context"]
    if release is None and not options["id_column"]:
        if pipes.is_pipe(data) and options["key_file"]:
            raise FileError("a pipe has no name, and two under one key must not draw alike: name it by --context")
        release = os.path.realpath(data)
    return pipeline.context(release, mechanism.fitted.public)


def _sanitize(data, mechanism, output, force, options):
    how = {**_secret(options), "context": _context(data, mechanism, options)}
    to = formats.format_of(output, options["to_format"])
    with _source(data, options) as source:
        if to.kind == "csv" and options["delimiter"]:
            to = to._replace(delimiter=options["delimiter"])
        plan = pipeline.Plan(
            mechanism,
            data,
            source.schema,
            mechanism.fitted,
            keep_sensitive=options["keep_sensitive"],
            columns=options["columns"],
            id_column=options["id_column"],
            unseen=options["unseen"],
            how=how,
        )
        for warning in texts.warnings(mechanism, plan.passes, options):
            _warn(warning)
        with (
            _progress("sanitising", data, source, options["quiet"]) as progress,
            _target(output, force) as file,
        ):
            counts = pipeline.run(source, file, to, plan, options["threads"], progress)
    if not options["quiet"]:
        click.echo(texts.counts(counts, output), err=True)


def _target(path, force):
    return nullcontext(pipes.stdout()) if path == PIPE else atomic_file.atomic_writer(path, force=force)


@contextmanager
def _progress(what, data, source, quiet):
    """A call progress(n_records, n_bytes) that draws a bar on a terminal; None where there is none to draw on."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    by_bytes = source.n_records is None
    total = source.n_records
    if by_bytes and not pipes.is_pipe(data):
        total = os.path.getsize(data)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TextColumn("{task.fields[records]:,} records, {task.fields[rate]:.1f} M/s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=4) as bar:
        task = bar.add_task(what, total=total, records=0, rate=0.0)

        def progress(n_records, n_bytes):
            elapsed = bar.tasks[0].elapsed or 1e-9
            done = n_bytes if by_bytes else n_records
            bar.update(task, completed=done, records=n_records, rate=n_records / elapsed / 1e6)

        yield progress


def _write_page(mechanism, path, force):
    from linred.report.html import page

    with atomic_file.atomic_writer(path, force=force, private=True) as file:
        file.write(page(mechanism).encode())


def _write_plot(curves, path, force):
    from linred.report import plots

    with atomic_file.atomic_writer(path, force=force) as file:
        plots.save(curves, file, os.path.splitext(path)[1].lower())


def _numbers(option, text):
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise FileError(f"{option} = {text!r} is not a list of numbers with commas between them") from None

"""The commands that fit, sanitise and report. Each parses its options, calls the library, and prints what it did."""

import json
import os

import click

from linred.cli import options
from linred.cli.run_context import command, warn
from linred.columns.schema import FitSchema, names, parts_of
from linred.design.fit import FitSettings
from linred.errors import FileError
from linred.io import counting, key_file, pipeline, pipes
from linred.io.pipes import PIPE
from linred.mechanism.artifact_reader import check_parts, load
from linred.mechanism.artifact_writer import summary
from linred.privacy.target import Target
from linred.report import text as texts

GRID = "0.1,0.2,0.3,0.5,0.7,1,1.5,2,3,4"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(package_name="linred")
def linred():
    """Publish a column X while protecting a sensitive column S that is correlated with it."""


@command()
@options.data
@options.columns
@options.design
@click.option("-o", "--output", type=click.Path(), help="the artifact, mechanism.json say; nothing is stored without")
@options.force
@options.source
def fit(run, data, output, **asked):
    """Fit a mechanism on DATA (CSV, Parquet, Arrow; - for a pipe) and print what it does."""
    run.check_outputs([data, asked["domain"]], output)
    mechanism = _fitted(run, data, asked)
    run.store(output, mechanism.save)
    if not run.quiet:
        click.echo(texts.full_report(mechanism, data))
    run.note_artifact(output)


@command()
@options.data
@click.option("-m", "--mechanism", "artifact_path", required=True, type=click.Path(), help="the artifact of linred fit")
@options.table_output
@options.column_names("--sensitive", help="what the sensitive columns are called in DATA, if not as in the fit")
@options.column_names("--public", help="what the public columns are called in DATA, if not as in the fit")
@options.release
@options.force
@options.source
def sanitize(run, data, artifact_path, output, sensitive, public, **asked):
    """Draw the public columns of DATA anew; the sensitive ones are left out."""
    run.check_outputs([data, artifact_path], table=output)
    mechanism = load(artifact_path)
    mechanism = mechanism.replace(fitted=_renamed(artifact_path, mechanism, sensitive, public))
    _sanitize(run, data, mechanism, run.secret(), output, asked)


@command("run")
@options.data
@options.columns
@options.design
@options.table_output
@click.option("-m", "--save-mechanism", type=click.Path(), help="store the artifact too")
@click.option("--html", type=click.Path(), help="store the report as a page too, for its owner to read")
@options.release
@options.force
@options.source
def fit_and_sanitize(run, data, output, save_mechanism, html, **asked):
    """Fit on DATA, sanitise it, and print the report: all in one."""
    if pipes.is_pipe(data):
        raise FileError("run reads its data twice, and a pipe can be read once: give a file, or fit and sanitize")
    run.check_outputs([data, asked["domain"]], save_mechanism, html, table=output)
    secret = run.secret()  # before the fit, which may take long
    mechanism = _fitted(run, data, asked)
    release = {"published": _sanitize(run, data, mechanism, secret, output, asked), "seeded": run.seed is not None}
    run.store(save_mechanism, mechanism.save)
    if html:
        _write_page(run, mechanism, html, **release)
    if not run.quiet:
        click.echo(texts.full_report(mechanism, data, **release), err=output == PIPE)
    run.note_artifact(save_mechanism)


@command()
@options.artifact
@options.as_json
@click.option("--html", type=click.Path(), help="a page to read, print and sign; for its owner only")
@options.force
def report(run, artifact_path, as_json, html):
    """Say what the mechanism of an artifact does."""
    run.check_outputs([artifact_path], html)
    mechanism = load(artifact_path)
    if html:
        _write_page(run, mechanism, html)
    if as_json:
        click.echo(json.dumps(summary(mechanism), indent=2, ensure_ascii=False))
    elif not html:
        click.echo(texts.full_report(mechanism, artifact_path))


@command()
@options.data
@options.columns
@click.option("--ldp", metavar="NATS,NATS,...", help="the points; .1 to 4 otherwise")
@click.option("--log-lift", metavar="NATS,NATS,...", help="points of log-lift in place of LDP")
@click.option("--mechanisms", default=options.CURVES, show_default=True, help="which curves")
@click.option("--plot", type=click.Path(), help="a picture: .svg, .png or .pdf")
@click.option("--csv", "as_csv", is_flag=True, help="every figure of every point, as CSV")
@options.force
@options.source
def tradeoff(run, data, ldp, log_lift, mechanisms, plot, as_csv, **asked):
    """Privacy against utility on DATA: records changed at every target, for several mechanisms."""
    from linred.report import plots
    from linred.report.tradeoff import tradeoff as curves_of

    run.check_outputs([data, asked["domain"]], plot)
    points = {"log_lift": _numbers("--log-lift", log_lift)} if log_lift else {"ldp": _numbers("--ldp", ldp or GRID)}
    if ldp and log_lift:
        raise FileError("--ldp and --log-lift are both given: one of them is the axis")
    joint, _ = _counted(run, data, asked, scan=False)
    curves = curves_of(joint, mechanisms=mechanisms.split(","), **points)
    if plot:
        with run.writer(plot) as file:
            plots.save(curves, file, os.path.splitext(plot)[1].lower())
    click.echo(texts.curves_csv(curves) if as_csv else texts.curves(curves), nl=False)


@command()
@click.argument("path", metavar="FILE", type=click.Path())
@options.force
def keygen(run, path):
    """Make a key FILE, readable by its owner only, for sanitize --key-file."""
    run.check_outputs([], path)
    run.store(path, key_file.write)
    run.note(f"{path}: a fresh key. Keep it secret, and keep it: with it an output can be made again.")


@command()
@click.argument("directory", default="linred-demo", type=click.Path())
@options.force
def demo(run, directory):
    """The whole job on UCI Adult, into DIRECTORY: sanitised file, artifact, report and plot."""
    from linred.cli import demo as demonstration

    demonstration.main(run, click.get_current_context().parent.command, directory)


def _counted(run, data, asked, scan):
    """(Joint, FitSchema) of the file."""
    bins, domain = asked["bins"], asked["domain"]
    sensitive, public = (parts_of(f"--{side}", asked[side], bins) for side in ("sensitive", "public"))
    for column in bins:
        if column not in (*names(sensitive), *names(public)):
            raise FileError(f"--bins names {column!r}, which is neither sensitive nor public")
    how = {"domain": counting.read_domain(domain) if domain else None, "missing": asked["missing"], "scan": scan}
    with run.source(data) as source, run.progress("fitting", source) as progress:
        return counting.fit(source, sensitive, public, progress=progress, **how)


def _fitted(run, data, asked):
    """The mechanism that the options ask for, fitted on the file."""
    limits = {name: asked[name] for name in Target._fields}
    sees_s = not asked["no_sees_s"] and asked["mechanism"] != "markov"
    given = (asked[name] for name in ("time_limit", "confidence", "held_out"))
    settings = FitSettings.checked(asked["mechanism"], asked["alpha"], limits, sees_s, *given)
    joint, fitted = _counted(run, data, asked, scan=not asked["no_scan"])
    mechanism = settings.mechanism_for(joint).replace(fitted=fitted)
    for warning in texts.fit_warnings(mechanism):
        warn(warning)
    return mechanism


def _renamed(path, mechanism, sensitive, public):
    """`mechanism.fitted`, its columns called what the options say."""
    fitted = mechanism.fitted
    if fitted is None and not (public and sensitive):
        raise FileError(f"{path} does not say which columns it is for: --sensitive and --public do")
    if fitted is None:
        fitted = FitSchema(parts_of("--sensitive", sensitive), parts_of("--public", public))
        check_parts("sensitive", fitted.sensitive, mechanism.joint.s_labels)
        check_parts("public", fitted.public, mechanism.joint.x_labels)
    for side, columns in (("sensitive", sensitive), ("public", public)):
        if columns:
            fitted = fitted._replace(**{side: options.renamed(side, columns, getattr(fitted, side))})
    for name in names(fitted.public):
        if name in names(fitted.sensitive):
            raise FileError(f"column {name!r} is both sensitive and public")
    return fitted


def _sanitize(run, data, mechanism, secret, output, asked):
    """Write the sanitised file, and return the names of its columns."""
    how = {**secret, "context": run.draw_context(data, mechanism.fitted.public)}
    which = {name: asked[name] for name in ("keep_sensitive", "columns", "unseen")} | {"id_column": run.id_column}
    form = run.sink_format(output)
    with run.source(data) as source:
        plan = pipeline.Plan(mechanism, source, **which, how=how)
        for warning in texts.warnings(mechanism, plan.passes, run.seed is not None):
            warn(warning)
        with run.progress("sanitising", source) as progress, run.writer(output) as file:
            counts = pipeline.run(source, file, form, plan, asked["threads"], progress)
    run.note(texts.counts(counts, output))
    return tuple(plan.schema.names)


def _write_page(run, mechanism, path, **release):
    from linred.report.html import page

    with run.writer(path, private=True) as file:
        file.write(page(mechanism, **release).encode())


def _numbers(option, text):
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise FileError(f"{option} = {text!r} is not a list of numbers with commas between them") from None

"""The commands that fit, sanitise and report. Each parses its options, calls the library and prints the result."""

import json
import os
import time

import click

from linred._version import __version__
from linred.cli import grids, options
from linred.cli.help_pages import EPILOG, Group, LongCommand
from linred.cli.run_context import command, log, warn
from linred.cli.target_options import NAMES, TARGET_OPTIONS, UTILITY_OPTIONS, files
from linred.columns.label_distance import distortion_of
from linred.columns.schema import FitSchema, names, parts_of
from linred.design.fit import FitSettings
from linred.design.registry import KINDS
from linred.errors import FileError
from linred.io import counting, key_file, pipeline, pipes
from linred.io.pipes import PIPE
from linred.mechanism.artifact_reader import check_parts, load
from linred.mechanism.artifact_writer import summary
from linred.privacy.takes_target import BY_UTILITY
from linred.report import text as texts
from linred.report.tradeoff import FOR_TARGET


@click.group(
    cls=Group, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}
)
@click.version_option(__version__, help="Show the version and exit")
def linred():
    """Publish a column X of a table while protecting a sensitive column S.

    linred replaces some values of X at random, so that the released column alone reveals no more about S than the limit
    that you set. The limit holds for the distribution of the fit; with --confidence, linred certifies it for the
    population. "linred COMMAND --help" explains the options of a command.
    """


@command(cls=LongCommand)
@options.data
@options.columns
@options.design
@options.to_file(
    "-o", "--output", help="Write the mechanism to this file, for example mechanism.json; by default it is not stored"
)
@options.force
@options.source
def fit(run, data, output, **asked):
    """Fit a mechanism on a table and print its report.

    DATA is a CSV, Parquet or Arrow file; - means standard input.
    """
    run.check_outputs([data, asked["domain"], *files(asked)], output)
    mechanism = _fitted(run, data, asked)
    run.store(output, mechanism.save)
    if not run.quiet:
        click.echo(texts.full_report(mechanism, data))
    run.note_artifact(output)


@command(cls=LongCommand)
@options.data
@click.option(
    "-m", "--mechanism", "artifact_path", required=True, type=click.Path(),
    help="Sanitise with the mechanism in this file, which linred fit or linred run wrote",
)  # fmt: skip
@options.table_output
@options.column_names("--sensitive", help="Names of the sensitive columns in DATA, if they differ from the fit")
@options.column_names("--public", help="Names of the public columns in DATA, if they differ from the fit")
@options.release
@options.force
@options.source
def sanitize(run, data, artifact_path, output, sensitive, public, **asked):
    """Sanitise a table with a fitted mechanism.

    linred draws a new value for each public column of DATA, drops the sensitive columns and keeps the order of the
    rows. DATA is a CSV, Parquet or Arrow file; - means standard input.
    """
    run.check_outputs([data, artifact_path], table=output)
    mechanism = load(artifact_path)
    mechanism = mechanism.replace(fitted=_renamed(artifact_path, mechanism, sensitive, public))
    _sanitize(run, data, mechanism, run.secret(), output, asked)


@command("run", cls=LongCommand)
@options.data
@options.columns
@options.design
@options.table_output
@options.to_file("-m", "--save-mechanism", help="Write the mechanism to this file as well; confidential")
@options.to_file("--html", help="Write the report to this file as an HTML page; confidential")
@options.release
@options.force
@options.source
def fit_and_sanitize(run, data, output, save_mechanism, html, **asked):
    """Fit on a table, sanitise it and print the report.

    DATA is a CSV, Parquet or Arrow file. linred reads it twice, so it cannot be a pipe.
    """
    if pipes.is_pipe(data):
        raise FileError("run reads DATA twice, and a pipe can be read only once: give a file, or use fit and sanitize")
    run.check_outputs([data, asked["domain"], *files(asked)], save_mechanism, html, table=output)
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
@options.to_file("--html", help="Write the report to this file as an HTML page, to read, print and sign; confidential")
@options.force
def report(run, artifact_path, as_json, html):
    """Print what a mechanism protects and what it costs.

    MECHANISM is a file that linred fit or linred run wrote.
    """
    run.check_outputs([artifact_path], html)
    mechanism = load(artifact_path)
    if html:
        _write_page(run, mechanism, html)
    if as_json:
        click.echo(json.dumps(summary(mechanism), indent=2, ensure_ascii=False))
    elif not html:
        click.echo(texts.full_report(mechanism, artifact_path))


@command(cls=LongCommand)
@options.data
@options.columns
@grids.limits
@click.option(
    "--mechanisms",
    help=f"Names of the mechanisms to compare; by default those of {','.join(FOR_TARGET)} that can meet the limits",
)
@options.to_file("--plot", help="Plot the curves to this file: .svg, .png or .pdf")
@click.option("--csv", "as_csv", is_flag=True, help="Print every figure of every point as CSV")
@options.force
@options.source
def tradeoff(run, data, mechanisms, plot, as_csv, **asked):
    """Compare the changed records of mechanisms over a range of limits.

    DATA is a CSV, Parquet or Arrow file; - means standard input. The limit with several numbers is the axis of the
    curves; limits with one number hold at every point.
    """
    from linred.report import plots
    from linred.report.tradeoff import tradeoff as curves_of

    run.check_outputs([data, asked["domain"], *files(asked)], plot)
    limits = grids.grid({name: asked[name] for name in grids.OPTIONS})
    joint, fitted = _counted(run, data, asked, scan=False)
    if "distortion" in limits:
        limits["distortion"] = distortion_of("distortion", limits["distortion"], joint.x_labels, fitted.only_public)
    curves = curves_of(joint, mechanisms=mechanisms and mechanisms.split(","), **limits)
    for (label, point), reason in curves.missing.items():
        run.note(f"{label} has no point at {point:g}: {reason}")
    if plot:
        with run.writer(plot) as file:
            plots.save(curves, file, os.path.splitext(plot)[1].lower())
    click.echo(texts.curves_csv(curves) if as_csv else texts.curves(curves), nl=False)


@command()
@click.argument("path", metavar="FILE", type=options.OutputPath())
@options.force
def keygen(run, path):
    """Create a secret key file for repeatable sanitising.

    Pass FILE to sanitize or run as --key-file. linred makes it readable by its owner only.
    """
    run.check_outputs([], path)
    run.store(path, key_file.write)
    run.note(f"{path} holds a new key. Keep it secret and keep a copy: without it you cannot reproduce an output.")


@command()
@click.argument("directory", default="linred-demo", type=click.Path())
@options.force
@options.verbose
def demo(run, directory):
    """Fit, sanitise and report on the UCI Adult data.

    Writes the sanitised table, the mechanism, the report and a plot to DIRECTORY, by default linred-demo.
    """
    from linred.cli import demo as demonstration

    demonstration.main(run, click.get_current_context().parent.command, directory)


def _counted(run, data, asked, scan):
    """Return (Joint, FitSchema) of the file."""
    bins, domain = asked["bins"], asked["domain"]
    sensitive, public = (parts_of(f"--{side}", asked[side], bins) for side in ("sensitive", "public"))
    for column in bins:
        if column not in (*names(sensitive), *names(public)):
            raise click.UsageError(f"--bins names {column!r}, which is neither sensitive nor public: correct the name")
    how = {"domain": counting.read_domain(domain) if domain else None, "missing": asked["missing"], "scan": scan}
    with run.source(data) as source, run.progress("fitting", source) as progress:
        began = time.perf_counter()
        joint, fitted = counting.fit(source, sensitive, public, progress=progress, **how)
    shape, seconds = " x ".join(map(str, joint.shape)), time.perf_counter() - began
    log.info("read %s: %s records, %s values, in %.1f s", data, f"{joint.n_records:,}", shape, seconds)
    return joint, fitted


def _fitted(run, data, asked):
    """Return the mechanism that the options describe, fitted on the file."""
    settings = _settings(asked)
    joint, fitted = _counted(run, data, asked, scan=not asked["no_scan"])
    began = time.perf_counter()
    mechanism = settings.mechanism_for(joint, fitted.only_public).replace(fitted=fitted)
    log.info("built the mechanism in %.1f s", time.perf_counter() - began)
    for warning in texts.fit_warnings(mechanism):
        warn(warning)
    return mechanism


def _settings(asked):
    """Return the `FitSettings` of the options, checked before any record is read."""
    _check_together(asked)
    sees_s = not asked["without_sensitive"] and asked["mechanism"] != "markov"
    limits = {name: asked[name] for name in TARGET_OPTIONS}
    how = {name: asked[name] for name in ("time_limit", "confidence", *UTILITY_OPTIONS)}
    return FitSettings.checked(asked["mechanism"], asked["alpha"], limits, sees_s, **how)


def _check_together(asked):
    """Raise an error if options of `options.design` exclude each other."""
    alpha, mechanism, confidence = asked["alpha"], asked["mechanism"], asked["confidence"]
    given = {name: option for name, option in NAMES.items() if asked[name] is not None}
    limits = [given[name] for name in (*TARGET_OPTIONS, *BY_UTILITY) if name in given]
    if alpha is None and not limits:
        raise click.UsageError("no target: give --ldp or another limit, --max-changed or --alpha")
    if alpha is not None and limits:
        raise click.UsageError(f"--alpha and a target ({' and '.join(limits)}) are both given: choose one of them")
    if isinstance(asked["secrets"], list) and "ldp" not in given:
        raise click.UsageError("--secrets needs --ldp, which limits each of them, or limits of their own: each=1")
    if alpha is not None and confidence is not None:
        raise click.UsageError("--confidence certifies a target: give --ldp or a limit of lifts in place of --alpha")
    if mechanism != "optimal" and confidence is not None:
        raise click.UsageError(f"--confidence needs --mechanism optimal, not {mechanism}")
    kind = KINDS[mechanism.replace("-", "_")]
    for name, option in {"time_limit": "--time-limit", **given}.items():
        if asked[name] is not None and name not in (*kind.takes, *kind.make.meets):
            raise click.UsageError(f"{option} applies to --mechanism optimal, not {mechanism}: leave it out")
    if asked["neighbors"] == "hamming" and len(asked["sensitive"]) == 1:
        raise click.UsageError(
            "--neighbors hamming compares several columns: name them with --sensitive, or give a file"
        )
    if isinstance(asked["distortion"], str) and len(asked["public"]) > 1:
        raise click.UsageError(f"--distance {asked['distortion']} needs one public column: give a file for several")
    if "given_x" in given and (asked["without_sensitive"] or mechanism == "markov"):
        raise click.UsageError("--given-x has no effect on a mechanism that does not use S: leave it out")
    if mechanism == "non-markov" and asked["without_sensitive"]:
        raise click.UsageError("--mechanism non-markov uses S: with --without-sensitive choose optimal or markov")


def _renamed(path, mechanism, sensitive, public):
    """Return `mechanism.fitted` with the column names of the options."""
    fitted = mechanism.fitted
    if fitted is None and not (public and sensitive):
        raise FileError(f"{path} does not say which columns it is for: name them with --sensitive and --public")
    if fitted is None:
        fitted = FitSchema(parts_of("--sensitive", sensitive), parts_of("--public", public))
        check_parts("sensitive", fitted.sensitive, mechanism.joint.s_labels)
        check_parts("public", fitted.public, mechanism.joint.x_labels)
    for side, columns in (("sensitive", sensitive), ("public", public)):
        if columns:
            fitted = fitted._replace(**{side: options.renamed(side, columns, getattr(fitted, side))})
    for name in names(fitted.public):
        if name in names(fitted.sensitive):
            raise FileError(f"column {name!r} is both sensitive and public: choose one")
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
        began = time.perf_counter()
        with run.progress("sanitising", source) as progress, run.writer(output) as file:
            counts = pipeline.run(source, file, form, plan, asked["threads"], progress)
    log.info("sanitised %s records in %.1f s", f"{counts.n_records:,}", time.perf_counter() - began)
    run.note(texts.counts(counts, output))
    return tuple(plan.schema.names)


def _write_page(run, mechanism, path, **release):
    from linred.report.html import page

    with run.writer(path, private=True) as file:
        file.write(page(mechanism, **release).encode())

"""The options and arguments that several commands have, each declared once, as decorators of a command."""

import csv
from functools import partial, reduce

import click

from linred.columns.schema import parts_of
from linred.design.registry import BY_NAME
from linred.errors import FileError
from linred.report.tradeoff import FOR_TARGET

MECHANISMS = tuple(name.replace("_", "-") for name in BY_NAME)
CURVES = ",".join(FOR_TARGET)
UNSEEN = ("error", "marginal", "null")


def _together(*decorators):
    """Several decorators as one, in the order in which --help is to list them."""
    return lambda command: reduce(lambda wrapped, decorate: decorate(wrapped), reversed(decorators), command)


def column_names(name, **how):
    """An option whose value is a tuple of column names, or None where it is not given."""
    return click.option(name, multiple=True, callback=_names, metavar="COL[,COL]", **how)


def _names(context, parameter, values):
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


_number = partial(click.option, type=float)


def _choice(name, values, text):
    """An option with one of several values, the first of them by default."""
    return click.option(name, type=click.Choice(values), default=values[0], show_default=True, help=text)


def renamed(side, columns, parts):
    """The columns `parts` of a fit, with the names that the option --SIDE gives."""
    if len(columns) != len(parts):
        raise FileError(f"--{side} names {len(columns)} columns, and the mechanism has {len(parts)}")
    return tuple(old.renamed(new.name) for old, new in zip(parts, parts_of(f"--{side}", columns), strict=True))


data = click.argument("data", type=click.Path())
artifact = click.argument("artifact_path", metavar="MECHANISM", type=click.Path())
table_output = click.option("-o", "--output", required=True, type=click.Path(), help="the sanitised file; - for a pipe")
force = click.option("--force", is_flag=True, help="replace a file that exists")
as_json = click.option("--json", "as_json", is_flag=True, help="the figures as JSON")
confidence = _number("--confidence", default=0.95, show_default=True, help="between 0 and 1")
source = _together(
    click.option("--from", "from_format", metavar="FORMAT", help="csv, parquet, ...: where the extension does not say"),
    click.option("--delimiter", metavar="CHARACTER", help="of CSV; a comma, or a tab for .tsv, otherwise"),
    click.option("--encoding", default="utf-8", show_default=True, help="of CSV that is read; UTF-8 is written"),
    click.option("-q", "--quiet", is_flag=True, help="no progress, no report; warnings and errors only"),
)
columns = _together(
    column_names("--sensitive", required=True, help="S: what is protected"),
    column_names("--public", required=True, help="X: what is published"),
    click.option("--bins", multiple=True, callback=_bins, metavar="COL=EDGE,EDGE,...", help="sort numbers into bins"),
    click.option("--domain", type=click.Path(), help='JSON, {"column": ["label", ...]}: declare the alphabets'),
    _choice("--missing", ["category", "skip", "error"], "what a missing value is to the fit"),
)
design = _together(
    _number("--ldp", metavar="NATS", help="local differential privacy of S, at most"),
    _number("--log-lift", metavar="NATS", help="log-lift of S, at most; with --ldp or without"),
    _number("--alpha", help="in place of a target: how far from P(x|s) to P(x)"),
    _choice("--mechanism", MECHANISMS, "fewest changes; Proposition 1; Lemma 1"),
    click.option("--no-sees-s", is_flag=True, help="S is not there when records are sanitised"),
    _number("--confidence", metavar="SHARE", help="meet the target with it, .95 say, on estimated data"),
    _number("--held-out", default=0.5, show_default=True, help="of the records, to test that on"),
    _number("--time-limit", metavar="SECONDS", help="for the optimum; then the best found so far"),
    click.option("--no-scan", is_flag=True, help="do not measure what other columns tell about S"),
)
release = _together(
    click.option("--keep-sensitive", is_flag=True, help="leave the sensitive columns in the output"),
    column_names("--columns", help="only these of the other columns pass"),
    _choice("--unseen", UNSEEN, "a value that the fit did not see: refuse, draw from P(x), or make it missing"),
    click.option("--key-file", type=click.Path(), help="of linred keygen: the same output again, for who has the key"),
    click.option("--seed", type=click.IntRange(0), help="the same output again, for anyone: not private, for tests"),
    click.option("--id", "id_column", metavar="COL", help="each record's own name: the same record, the same answer"),
    click.option("--context", metavar="TEXT", help="names this release, in place of the path of the file"),
    click.option("--to", "to_format", metavar="FORMAT", help="of the output, where its extension does not say"),
    click.option("--threads", type=click.IntRange(1), help="up to 8 cores otherwise"),
)

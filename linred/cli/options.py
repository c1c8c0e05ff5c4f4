"""Options and arguments that several commands share, each declared once, as decorators of a command."""

import csv
from functools import partial, reduce

import click

from linred._common import validation
from linred._common.atomic_file import is_standard_output
from linred.cli.target_options import TARGET_OPTIONS, UTILITY_OPTIONS, options_of
from linred.columns.schema import parts_of
from linred.design.registry import BY_NAME
from linred.io.pipes import PIPE

MECHANISMS = tuple(name.replace("_", "-") for name in BY_NAME)
UNSEEN = ("error", "marginal", "null")
MISSING = ("category", "skip", "error")


def _together(*decorators):
    """Return one decorator that applies several, in the order in which --help lists them."""
    return lambda command: reduce(lambda wrapped, decorate: decorate(wrapped), reversed(decorators), command)


def column_names(name, **how):
    """Return an option whose value is a tuple of column names, or None if it is not given."""
    return click.option(name, multiple=True, callback=_names, metavar="COL[,COL]", **how)


def _names(context, parameter, values):
    """Parse COL,COL of one or several options. A name that contains a comma is quoted."""
    if not values:
        return None
    try:
        return tuple(name for value in values for row in csv.reader([value], skipinitialspace=True) for name in row)
    except csv.Error:
        raise click.BadParameter(f"{values!r} is not COL,COL: quote a name that contains a line break") from None


def _bins(context, parameter, values):
    """Parse column=edge,edge,... of one or several options to {column: edges}."""
    bins = {}
    for value in values:
        column, equals, edges = value.rpartition("=")
        if not equals or not column:
            raise click.BadParameter(f"{value!r} is not COL=EDGE,EDGE: name a column and the edges of its bins")
        if column in bins:
            raise click.BadParameter(f"{column!r} is given twice: list all its edges in one option")
        bins[column] = tuple(edges.split(","))
    return bins


def _level(context, parameter, value):
    """Check a confidence level."""
    if value is None or 0.0 < value < 1.0:
        return value
    raise click.BadParameter(f"{value:g} is not between 0 and 1: {validation.level_hint(value)}")


def _not_empty(context, parameter, value):
    """Refuse an empty text. An empty context is no context, and files under one key would share their draws."""
    if value == "":
        raise click.BadParameter("the text is empty: name this release, or leave the option out")
    return value


class OutputPath(click.Path):
    """The path of an output. Any name of standard output, such as /dev/stdout, becomes `-`, because replacing the file
    behind it would cut off a redirection."""

    def convert(self, value, param, ctx):
        path = super().convert(value, param, ctx)
        return PIPE if is_standard_output(path) else path


class Seed(click.IntRange):
    """A seed. An error does not show it, because it may be a key that was given to the wrong option."""

    def convert(self, value, param, ctx):
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter:
            self.fail("it is not a whole number of at least 0; a key goes into a file, for --key-file", param, ctx)


_number = partial(click.option, type=float)
_whole_number = partial(click.option, metavar="INTEGER")
to_file = partial(click.option, type=OutputPath())


def _choice(name, values, text):
    """Return an option with one of several values, of which the first is the default."""
    return click.option(name, type=click.Choice(values), default=values[0], show_default=True, help=text)


def renamed(side, columns, parts):
    """Return the columns `parts` of a fit under the names that the option --SIDE gives."""
    if len(columns) != len(parts):
        raise click.UsageError(f"--{side} names {len(columns)} columns, but the mechanism has {len(parts)}")
    return tuple(old.renamed(new.name) for old, new in zip(parts, parts_of(f"--{side}", columns), strict=True))


data = click.argument("data", type=click.Path())
artifact = click.argument("artifact_path", metavar="MECHANISM", type=click.Path())
table_output = to_file(
    "-o", "--output", required=True, help="Write the sanitised table to this file; - means standard output"
)
force = click.option("--force", is_flag=True, help="Replace output files that exist")
as_json = click.option("--json", "as_json", is_flag=True, help="Print the figures as JSON")
confidence = _number(
    "--confidence", metavar="LEVEL", default=0.95, show_default=True, callback=_level,
    help="Confidence level, between 0 and 1",
)  # fmt: skip
verbose = click.option("-v", "--verbose", is_flag=True, help="Print the log on standard error")
source = _together(
    click.option(
        "--from", "from_format", metavar="FORMAT",
        help="Format of the input, for example csv or parquet; by default, the file extension decides",
    ),
    click.option("--delimiter", metavar="CHARACTER", help="Delimiter of CSV; by default a comma, or a tab for .tsv"),
    click.option(
        "--encoding", default="utf-8", show_default=True, help="Encoding of CSV input; output is always UTF-8"
    ),
    click.option("-q", "--quiet", is_flag=True, help="Print warnings and errors only, no progress and no report"),
    verbose,
)  # fmt: skip
columns = _together(
    column_names(
        "--sensitive", required=True, is_eager=True,  # parsed first, because --secrets may name some of them
        help="Sensitive column or columns, S: what the mechanism protects",
    ),
    column_names("--public", required=True, help="Public column or columns, X: what is released after sanitising"),
    click.option(
        "--bins", multiple=True, callback=_bins, metavar="COL=EDGE,EDGE,...",
        help="Group the numbers of a column into bins with these edges; repeat the option for other columns",
    ),
    click.option(
        "--domain", type=click.Path(),
        help='Take the possible values of the columns from this JSON file, {"column": ["label", ...]}, instead of '
        "from the data",
    ),
    _choice("--missing", MISSING, "Treat missing values as a category, skip their records, or stop with an error"),
)  # fmt: skip
design = _together(
    *options_of(TARGET_OPTIONS),
    *options_of(UTILITY_OPTIONS),
    _number(
        "--alpha", help="Set the strength of the reduction instead of a target: 0 changes nothing, 1 releases "
        "nothing about S"
    ),
    _choice("--mechanism", MECHANISMS, "Build the mechanism with the fewest changed records (optimal), that of "
        "Proposition 1 (non-markov), or that of Lemma 1 (markov)"),
    click.option(
        "--without-sensitive", is_flag=True,
        help="Build a mechanism that needs only the public columns when it sanitises",
    ),
    _number(
        "--confidence", metavar="LEVEL", callback=_level,
        help="Certify the limits --ldp and of lifts at this confidence level, for example 0.95",
    ),
    _number("--time-limit", metavar="SECONDS", help="Stop optimising after this time and use the best result so far"),
    click.option("--no-scan", is_flag=True, help="Skip measuring what the other columns reveal about S"),
)  # fmt: skip
release = _together(
    click.option(
        "--keep-sensitive", is_flag=True,
        help="Write the sensitive columns too; with --columns, only those that it names",
    ),
    column_names(
        "--columns", help="Write only these columns besides the public ones; by default, all that are not sensitive"
    ),
    _choice(
        "--unseen", UNSEEN, "Stop at a value outside the fitted alphabet, draw from the distribution of Y (marginal), "
        "or write a missing value (null)"
    ),
    click.option(
        "--key-file", type=click.Path(), help="Draw with the key of linred keygen: only its owner can repeat the output"
    ),
    _whole_number("--seed", type=Seed(0), help="Draw with this seed, for tests only: anyone can repeat it"),
    click.option(
        "--id", "id_column", metavar="COL",
        help="Column of record ids, with --key-file: the same id, S and X get the same answer in every file",
    ),
    click.option(
        "--context", metavar="TEXT", callback=_not_empty,
        help="Name of this release, so that releases under one key share no draws; by default the path of DATA, or "
        "no name with --id",
    ),
    click.option(
        "--to", "to_format", metavar="FORMAT", help="Format of the output; by default, the file extension decides"
    ),
    _whole_number("--threads", type=click.IntRange(1), help="Number of threads; by default one per core, at most 8"),
)  # fmt: skip

"""The options that set targets and costs: one row of a table for each, and the types of their values.

A value is checked, and a file is read, while the options are parsed: before any record is read.
"""

import csv
from decimal import Decimal

import click

from linred.design.least_leakage import LEAST
from linred.errors import FileError
from linred.io.label_file import MatrixFile, read_groups


class Share(click.ParamType):
    """A share of records: a number between 0 and 1, or a percentage."""

    name = "share"

    def convert(self, value, param, ctx):
        if isinstance(value, float):  # the default
            return value
        text = value.strip()
        try:
            share = float(Decimal(text.removesuffix("%").rstrip()) / (100 if text.endswith("%") else 1))
        except (ArithmeticError, ValueError):
            self.fail(f"{value!r} is not a share: write 0.01 or 1%", param, ctx)
        if not 0.0 <= share <= 1.0:
            hint = f"write {text}% for {text} %" if 1.0 < share <= 100.0 and "%" not in text else "0.01 or 1% is one"
            self.fail(f"{value!r} is not between 0 and 1: {hint}", param, ctx)
        return share


class NameOrMatrix(click.Path):
    """One of some names, or the path of a matrix file, which becomes a `MatrixFile`."""

    def __init__(self, *names):
        super().__init__()
        self._names = names

    def convert(self, value, param, ctx):
        path = super().convert(value, param, ctx)
        if path in self._names:
            return path
        try:
            return MatrixFile(path)
        except FileError as error:
            self.fail(_or_names(error, self._names), param, ctx)

    def get_metavar(self, param, ctx=None):
        return "|".join((*self._names, "FILE"))


class Least(click.Choice):
    """One of the figures that can be minimised, by its name in the library."""

    def __init__(self):
        super().__init__([name.replace("_", "-") for name in LEAST])

    def convert(self, value, param, ctx):
        return super().convert(value, param, ctx).replace("-", "_")


def _or_names(error, names):
    return f"{error}; or choose {' or '.join(names)}" if names else str(error)


def _secrets(context, parameter, values):
    """Return what `Target` takes as secrets: a list, or {secret: limit} if the options have limits of their own.

    --sensitive is parsed first.
    """
    columns = context.params.get("sensitive") or ()
    parsed = [_secret(value, columns) for value in values]
    limits = {limit is None for _, limit in parsed}
    if len(limits) == 2:
        raise click.BadParameter("some have =NATS and some do not: give each a limit of its own, or none, for --ldp")
    stated = [(secret, limit) for secrets, limit in parsed for secret in secrets]
    if len(dict(stated)) < len(stated):
        raise click.BadParameter("a secret is given twice: give each once")
    if not stated:
        return None
    return [secret for secret, _ in stated] if True in limits else dict(stated)


def _secret(value, columns):
    """Return ([secret], limit or None) of "each", COL[,COL] or FILE, with or without =NATS."""
    text, equals, last = value.rpartition("=")
    try:
        limit = float(last) if equals else None
    except ValueError:
        limit = None
    text = value if limit is None else text
    if limit is not None and not limit >= 0.0:
        raise click.BadParameter(f"{last!r} is not a limit: write a number of nats of at least 0")
    names = _names_in(text)
    if text == "each" or (names and set(names) <= set(columns)):
        if len(columns) < 2:
            raise click.BadParameter("S is one column, which --ldp protects: name several with --sensitive, or a file")
        return ["each" if text == "each" else tuple(map(columns.index, names))], limit
    try:
        return read_groups(text), limit
    except FileError as error:
        raise click.BadParameter(_or_names(error, ("each", "columns of --sensitive"))) from None


def _names_in(text):
    """Return the columns that a text names, or none."""
    try:
        return next(csv.reader([text], skipinitialspace=True), ())
    except csv.Error:
        return ()


NATS, SHARE = {"type": float, "metavar": "NATS"}, {"type": Share(), "metavar": "SHARE"}

TARGET_OPTIONS = {
    "ldp": (NATS, "Limit the local differential privacy loss of S (epsilon) to this value"),
    "log_lift": (NATS, "Limit the log-lift of S to this value; all limits may be combined"),
    "max_lift": (NATS, "Limit how much a released value can raise the probability of a value of S (max-lift)"),
    "min_lift": (NATS, "Limit how much a released value can lower the probability of a value of S (min-lift)"),
    "dp": (NATS, "Limit the privacy loss between neighbouring values of S only; needs --neighbors"),
    "neighbors": (
        {"type": NameOrMatrix("hamming")},
        "Neighbours for --dp: values of S that differ in one sensitive column (hamming), or have a 1 in a matrix file",
    ),
    "pairs": (
        {"type": NameOrMatrix()},
        "Limit the privacy loss of each pair of values of S, row against column, to the nats in this matrix file: CSV "
        "with labels in its first row and column; an empty cell is no limit",
    ),
    "secrets": (
        {"type": click.Path(), "multiple": True, "callback": _secrets, "metavar": "each|COL[,COL]|FILE[=NATS]"},
        "Protect each sensitive column by itself, some of them together, or the groups of S in a CSV file with labels "
        "in its first column. Without NATS, --ldp limits these secrets and no longer S itself; repeat the option for "
        "more secrets",
    ),
    "given_x": (NATS, "Limit the privacy loss of S for someone who knows X"),
    "max_changed_by_s": (SHARE, "Limit the share of changed records for every value of S, for example 5%"),
}
"""{field of `Target`: (how its option parses, help text)}, in the order of --help."""

UTILITY_OPTIONS = {
    "max_changed": (SHARE, "Limit the share of changed records, for example 1%, and minimise the figure of --least"),
    "max_distortion": (
        {"type": float, "metavar": "NUMBER"},
        "Limit the mean distance of Y from X, and minimise the figure of --least; needs --distance",
    ),
    "least": ({"type": Least()}, "Figure to minimise with --max-changed or --max-distortion; by default ldp"),
    "distortion": (
        {"type": NameOrMatrix("absolute", "squared")},
        "Minimise the mean distance of Y from X in place of the share of changed records: between numbers or centres "
        "of bins, or from a matrix file",
    ),
}
"""{argument of `optimal`: (how its option parses, help text)}."""

NAMES = {name: f"--{name.replace('_', '-')}" for name in (*TARGET_OPTIONS, *UTILITY_OPTIONS)} | {
    "distortion": "--distance"
}
"""{argument: its option}."""


def options_of(table):
    """Return the decorators of the options in a table."""
    return [click.option(NAMES[name], name, help=text, **how) for name, (how, text) in table.items()]


def files(asked):
    """Return the paths of the files that these options name."""
    values = [asked.get(name) for name in NAMES]
    listed = [one for value in values for one in (value if isinstance(value, list | dict) else [value])]
    return [one.path for one in listed if hasattr(one, "path")]

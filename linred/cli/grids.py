"""The options of `linred tradeoff` that state limits and costs: those of `target_options`, with lists of numbers."""

import click

from linred.cli.target_options import NAMES, TARGET_OPTIONS, UTILITY_OPTIONS, options_of
from linred.report.tradeoff import GRIDS

DEFAULT = {"ldp": [0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0]}


class Numbers(click.ParamType):
    """Numbers separated by commas, each of which another type parses."""

    name = "numbers"

    def __init__(self, one):
        self._one = click.types.convert_type(one)

    def convert(self, value, param, ctx):
        return [self._one.convert(part, param, ctx) for part in value.split(",")]


def _listed(how, text):
    return {**how, "type": Numbers(how["type"]), "metavar": "{metavar}[,{metavar}...]".format(**how)}, text


OPTIONS = {
    name: _listed(*option) if name in GRIDS else option for name, option in (TARGET_OPTIONS | UTILITY_OPTIONS).items()
}
"""{argument of `linred.tradeoff`: (how its option parses, help text)}."""


def limits(command):
    """Decorator: the options in `OPTIONS`."""
    for option in reversed(options_of(OPTIONS)):
        command = option(command)
    return command


def grid(asked):
    """Return the arguments of `linred.tradeoff` for {name: value or None}: a list for the grid, numbers for others.

    The limit with several numbers is the grid, or the only one that is given; by default, that is `DEFAULT`.
    """
    given = {name: value for name, value in asked.items() if value is not None}
    numbers = {name: given.pop(name) for name in GRIDS if name in given} or DEFAULT
    several = [name for name, values in numbers.items() if len(values) > 1] or list(numbers)
    if len(several) > 1:
        found = " and ".join(NAMES[name] for name in several)
        raise click.UsageError(
            f"{found} are given, but one limit is the axis: give several numbers for it, and one for each of the others"
        )
    return given | {name: values if name == several[0] else values[0] for name, values in numbers.items()}

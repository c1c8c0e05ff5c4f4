"""The options of `linred tradeoff` that state limits, one for each that the curves can have as their grid."""

from functools import reduce

import click

from linred.report.limits import SHARES, WORDS
from linred.report.tradeoff import GRIDS

DEFAULT = {"ldp": [0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0]}

UTILITIES = {"max_changed": "share of changed records"}
"""What the limits of utility are, beside the limits of a target."""

NAMES = tuple(name for name in GRIDS if name in (WORDS.keys() - {"dp"}) | UTILITIES.keys())
"""The limits that are numbers and need no other argument."""


def limits(command):
    """Decorator: an option for each limit. Their values are lists of numbers, None if they are not given."""
    return reduce(lambda wrapped, name: _option(name)(wrapped), reversed(NAMES), command)


def _option(name):
    is_share = name in SHARES | UTILITIES.keys()
    part = "SHARE" if is_share else "NATS"
    text = f"Limits of the {(WORDS | UTILITIES)[name]}"
    if name == "ldp":
        text += "; by default ten from 0.1 to 4, if no other limit is given"
    if name in UTILITIES:
        text += "; the curves then show the least LDP"
    return click.option(f"--{name.replace('_', '-')}", metavar=f"{part}[,{part}...]", callback=_numbers, help=text)


def _numbers(context, parameter, text):
    """Parse 0.5,1 or 0.1%,1%."""
    if text is None:
        return None
    try:
        return [float(part.removesuffix("%")) / (100.0 if part.endswith("%") else 1.0) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(
            f"{parameter.opts[0]} {text!r} is not a list of numbers: separate them by commas"
        ) from None


def grid(asked):
    """Return the arguments of `linred.tradeoff` for {name: numbers or None}: a list for the grid, numbers for others.

    The limit with several numbers is the grid, or the only one that is given.
    """
    given = {name: numbers for name, numbers in asked.items() if numbers is not None} or DEFAULT
    several = [name for name, numbers in given.items() if len(numbers) > 1] or list(given)
    if len(several) > 1:
        options = " and ".join(f"--{name.replace('_', '-')}" for name in several)
        raise click.UsageError(
            f"{options} are given, and one limit is the axis: give several numbers for it, and one number for others"
        )
    return {name: numbers if name == several[0] else numbers[0] for name, numbers in given.items()}

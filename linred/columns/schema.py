"""Where a mechanism's Joint came from: the columns of a table, their bins, and what other columns tell about S."""

import difflib
from itertools import pairwise
from typing import NamedTuple

import numpy as np


class ColumnSpec(NamedTuple):
    """One column of S or of X: its name in a table, and the edges that sort its numbers into bins, if any."""

    name: str
    edges: tuple = ()
    called: str = ""  # in the labels of bins, where it has another name by now

    @property
    def bins(self):
        """The labels of its bins, from the lowest to the highest; every number is in one of them."""
        if not self.edges:
            return ()
        name, texts = self.called or self.name, [repr(edge).removesuffix(".0") for edge in self.edges]
        between = (f"{low}<={name}<{high}" for low, high in pairwise(texts))
        return (f"{name}<{texts[0]}", *between, f"{name}>={texts[-1]}")

    def renamed(self, name):
        return self._replace(name=name, called=self.called or self.name)

    def codes(self, numbers):
        """The place of each number among the bins, -1 where it is NaN."""
        return np.where(np.isnan(numbers), -1, np.searchsorted(self.edges, numbers, side="right"))


class Leak(NamedTuple):
    """What a column that is passed on tells about S. Figures of the fitting data, in nats."""

    column: str
    n_values: int
    information: float  # I(S; column), as counted
    by_chance: float  # what a column that has nothing to do with S would show, about: (|S|-1)(|column|-1) / 2n
    guessed: float  # the share of records whose S is the likeliest one, given the column
    at_least: bool  # values were counted together, so that the truth may be more

    @property
    def beyond_chance(self):
        return max(0.0, self.information - self.by_chance)


class FitSchema(NamedTuple):
    """What is known of a fit beside its counts; `mechanism.fitted`."""

    sensitive: tuple[ColumnSpec, ...]
    public: tuple[ColumnSpec, ...]
    declared: bool = False  # the alphabets were declared, not read off the data
    missing: str = "category"  # or "skip": records with a missing value were left out of the fit
    leaks: tuple[Leak, ...] = ()
    scanned: bool = False  # whether other columns were looked at

    def telling(self, information):
        """The leaks that tell more about S than `information`, which is what the released column tells."""
        return tuple(leak for leak in self.leaks if leak.beyond_chance > information)


def names(parts):
    return tuple(part.name for part in parts)


def parts_of(name, columns, bins=None):
    """Names of columns, one or several, as `ColumnSpec`s; an error names what is wrong."""
    if isinstance(columns, bytes | dict | set | frozenset) or not hasattr(columns, "__iter__"):
        raise ValueError(f"{name} is a {type(columns).__name__}, not the name of a column or a list of names")
    columns = (columns,) if isinstance(columns, str) else tuple(columns)
    if not columns:
        raise ValueError(f"{name} names no column")
    for place, column in enumerate(columns):
        if not isinstance(column, str) or not column:
            raise ValueError(f"{name}[{place}] = {column!r} is not the name of a column")
        if column in columns[:place]:
            raise ValueError(f"{name} names {column!r} twice")
    return tuple(ColumnSpec(column, check_edges(column, (bins or {}).get(column, ()))) for column in columns)


def check_edges(column, edges):
    """Edges of bins as floats: finite, and each above the one before it."""
    try:
        if isinstance(edges, str | bytes):
            raise TypeError
        edges = tuple(float(edge) for edge in edges)
    except (TypeError, ValueError):
        raise ValueError(f"bins of {column!r}: {edges!r} are not numbers") from None
    for i, edge in enumerate(edges):
        if not np.isfinite(edge) or (i and edge <= edges[i - 1]):
            raise ValueError(f"bins of {column!r}: {edge:g} is not a finite number above the edge before it")
    return edges


def missing_column(table, name, asked, all_names, role=""):
    """Return the message for a column that a table lacks. role: what the column was to be.

    Names of the table, or the nearest of them, are shown only if one of the columns `asked` for is there. Otherwise
    they may be the values of a first record, since a CSV file without a header has these in place of names.
    """
    lacks = f"{table} has no column {name!r}" + (f" ({role})" if role else "")
    if not set(asked) & set(all_names):
        n_columns = f"{len(all_names)} column{'s' * (len(all_names) != 1)}"
        return (
            f"{lacks}, nor any other that was asked for; it has {n_columns}. Is its first line a record, not a header?"
        )
    near = difflib.get_close_matches(name, [one for one in all_names if isinstance(one, str)], 1)
    return f"{lacks}: did you mean {near[0]!r}?" if near else f"{lacks}: it has {listed(all_names)}"


def listed(all_names):
    """Return names for a message: those that fit on a line, each shortened if it is long."""
    texts = [text if len(text := repr(name)) <= 60 else f"{text[:57]}..." for name in all_names[:12]]
    return ", ".join(texts) + (f" and {len(all_names) - 12:,} more" if len(all_names) > 12 else "")

"""Origin of the Joint of a mechanism: columns of a table, their bins, and the leakage of other columns."""

from __future__ import annotations

import difflib
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from linred._common import validation


class ColumnSpec(NamedTuple):
    """One column of S or of X: its name in a table, and the edges of its bins, if its numbers are binned."""

    name: str
    edges: tuple[float, ...] = ()
    called: str = ""  # if renamed: the name at the fit, which the labels of its bins keep

    @property
    def bins(self) -> tuple[str, ...]:
        """The labels of its bins, from lowest to highest; every number is in exactly one bin."""
        if not self.edges:
            return ()
        name, texts = self.called or self.name, [repr(edge).removesuffix(".0") for edge in self.edges]
        between = (f"{low}<={name}<{high}" for low, high in pairwise(texts))
        return (f"{name}<{texts[0]}", *between, f"{name}>={texts[-1]}")

    def renamed(self, name: str) -> ColumnSpec:
        """Return the same column for a table in which it has another name."""
        return self._replace(name=name, called=self.called or self.name)

    def codes(self, numbers: Any) -> Any:
        """Return the place of each number's bin, -1 for NaN."""
        return np.where(np.isnan(numbers), -1, np.searchsorted(self.edges, numbers, side="right"))


class Leak(NamedTuple):
    """What another published column reveals about S. Figures are of the fitting data, in nats."""

    column: str
    n_values: int
    information: float  # I(S; column) in the counts of the fitting data
    by_chance: float  # approximately what a column independent of S would show: (|S|-1)(|column|-1) / 2n
    guessed: float  # share of records whose S is guessed correctly by the likeliest s given the column
    at_least: bool  # whether values were grouped before counting, so that the figures are lower bounds

    @property
    def beyond_chance(self) -> float:
        """Mutual information with S, less what is expected by chance."""
        return max(0.0, self.information - self.by_chance)


class FitSchema(NamedTuple):
    """Description of a fit besides its counts: `mechanism.fitted`."""

    sensitive: tuple[ColumnSpec, ...]
    public: tuple[ColumnSpec, ...]
    declared: bool = False  # whether the alphabets were declared, not taken from the data
    missing: str = "category"  # or "skip": the fit left out records with a missing value
    leaks: tuple[Leak, ...] = ()
    scanned: bool = False  # whether the fit measured what other columns reveal about S

    @property
    def only_public(self) -> ColumnSpec | None:
        """The public column, None if there are several."""
        return self.public[0] if len(self.public) == 1 else None

    def telling(self, information: float) -> tuple[Leak, ...]:
        """Return the leaks that reveal more about S than `information`, the figure of the released column."""
        return tuple(leak for leak in self.leaks if leak.beyond_chance > information)


def names(parts):
    """Return the names of `ColumnSpec`s."""
    return tuple(part.name for part in parts)


def withheld_names(sensitive, public):
    """Return the names of columns that must not be published: sensitive ones, also under their names at the fit.

    A table in which S has another name may hold a column with the old one; it is probably S too.
    """
    at_fit = (part.called for part in sensitive if part.called)
    return {*names(sensitive), *at_fit} - {*names(public)}


def parts_of(name, columns, bins=None):
    """Return one name or several names of columns as `ColumnSpec`s, with the edges that `bins` has for them."""
    is_data = isinstance(columns, bytes | dict | set | frozenset) or type(columns).__name__ == "Series"
    if is_data or not hasattr(columns, "__iter__"):
        kind = validation.type_name(columns)
        raise ValueError(f"{name} is a {kind}, not the name of a column or a list of names")
    columns = (columns,) if isinstance(columns, str) else tuple(columns)
    if not columns:
        raise ValueError(f"{name} names no column")
    for place, column in enumerate(columns):
        if not isinstance(column, str) or not column:
            what = "empty" if column == "" else f"a {validation.type_name(column)}"
            raise ValueError(f"{name}[{place}] is {what}, not the name of a column")
        if column in columns[:place]:
            raise ValueError(f"{name} names {column!r} twice")
    return tuple(ColumnSpec(column, check_edges(column, (bins or {}).get(column, ()))) for column in columns)


def check_edges(column, edges):
    """Return the edges of bins as floats, which must be finite and increasing."""
    try:
        if isinstance(edges, str | bytes):
            raise TypeError
        edges = tuple(float(edge) for edge in edges)
    except (TypeError, ValueError):
        raise ValueError(f"bins of {column!r}: {validation.shortened(edges)} is not a list of numbers") from None
    for i, edge in enumerate(edges):
        if not np.isfinite(edge) or (i and edge <= edges[i - 1]):
            raise ValueError(f"bins of {column!r}: edge {i} is not a finite number above the edge before it")
    return edges


def missing_column(table, name, asked, all_names, role=""):
    """Return the message for a column that a table lacks. role: what the column was to be.

    The message shows names of the table only if one of the columns `asked` for is there. Otherwise the names may be the
    values of a first record, in a CSV file without a header.
    """
    lacks = f"{table} has no column {name!r}" + (f" ({role})" if role else "")
    if not set(asked) & set(all_names):
        n_columns = f"{len(all_names)} column{'s' * (len(all_names) != 1)}"
        return (
            f"{lacks}, nor any other that was asked for; it has {n_columns}. Is its first line a record, not a header?"
        )
    folded = {one.casefold(): one for one in all_names if isinstance(one, str)}
    near = difflib.get_close_matches(name.casefold(), folded, 1)
    return f"{lacks}: did you mean {folded[near[0]]!r}?" if near else f"{lacks}: it has {listed(all_names)}"


def listed(all_names):
    """Return names for a message: those that fit on a line, each shortened if it is long."""
    texts = [text if len(text := repr(name)) <= 60 else f"{text[:57]}..." for name in all_names[:12]]
    return ", ".join(texts) + (f" and {len(all_names) - 12:,} more" if len(all_names) > 12 else "")

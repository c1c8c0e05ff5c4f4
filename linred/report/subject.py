"""What a report describes: a mechanism, its release, and the exact figures that several parts of a report need."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from linred.columns.schema import names
from linred.mechanism.leakage_given_x import sampled_above
from linred.mechanism.mechanism import Mechanism
from linred.mechanism.provenance import Certified
from linred.privacy.comparisons import Reached
from linred.report.limits import numbered
from linred.sampling.exact_certificate import Certificate


@dataclass(frozen=True)
class Subject:
    """A mechanism and its release. Figures are computed on first use, and once.

    published : names of all columns of the release, or None if there is none to describe.
    seeded : whether the release was drawn with a seed.
    """

    mechanism: Mechanism
    published: tuple[str, ...] | None = None
    seeded: bool = False

    @cached_property
    def certificate(self) -> Certificate:
        """The exact figures of the sampling tables, rounded up."""
        return self.mechanism.sampler().certificate()

    @property
    def bounds(self) -> Certified | Certificate:
        """The upper bounds for the promise: certified if there are any, otherwise exact for the sampling tables."""
        return self.mechanism.certified or self.certificate

    @property
    def reached(self) -> tuple[Reached, ...]:
        """Each limit of the target beside the figure of the sampling tables."""
        return self.certificate.reached

    @cached_property
    def limited(self) -> set[str]:
        """The names of the limits of the target."""
        return {one.name for one in self.reached}

    @cached_property
    def ldp_given_x(self) -> float:
        """`linred.ldp_given_x` of the sampling tables, rounded up; if it has a limit, for all pairs (s, x)."""
        limited = [one.figure for one in self.reached if one.name == "given_x"]
        return limited[0] if limited else sampled_above(self.mechanism)

    @property
    def n_records(self) -> int | None:
        """The number of records of the fit, held-out ones included; None if P(S, X) was given."""
        design = self.mechanism.design
        return self.mechanism.joint.n_records if design is None else design.n_fitted + design.n_held_out

    def sides(self, between: str) -> list[str]:
        """Return the column names of S and of X, each joined by `between`; ["S", "X"] if they have none."""
        fitted = self.mechanism.fitted
        return (
            ["S", "X"] if fitted is None else [between.join(names(part)) for part in (fitted.sensitive, fitted.public)]
        )

    def secret(self, place: int, name: Callable[[str], str] = str) -> str:
        """Return the name of a secret of the target: its columns if they have names, otherwise its number."""
        target, fitted = self.mechanism.target, self.mechanism.fitted
        columns = None if target is None else target.secrets[place].columns
        if fitted is None or not columns or max(columns) >= len(fitted.sensitive):
            return numbered(place)
        columns = [name(fitted.sensitive[column].name) for column in columns]
        return columns[0] if len(columns) == 1 else f"({', '.join(columns)})"

"""`Target`: the limits that a mechanism must meet, as a user states them and as they read for the labels of a Joint."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from linred._common import validation
from linred.columns.composite import codes_of, columns_of
from linred.columns.label_matrix import groups_of, matrix_of
from linred.privacy.leakage import FIGURES, Leakage
from linred.privacy.neighbors import neighbor_matrix


class Secret(NamedTuple):
    """A function of S with a limit of its own: `groups` is its value for each s, as a code.

    columns : positions of the columns that it consists of, if S is composite and it was named by them.
    """

    groups: np.ndarray
    limit: float
    columns: tuple[int, ...] | None = None


@dataclasses.dataclass(frozen=True, eq=False, repr=False)
class Target:
    """Limits that a mechanism must meet, all of them together. Ratios are limited in nats; inf means no limit.

    Each field is a keyword of every function that builds a mechanism: `optimal(joint, ldp=1.0, max_lift=0.5)` and
    `optimal(joint, target=Target(ldp=1.0, max_lift=0.5))` mean the same.

    Parameters
    ----------
    ldp : float
        Limit of local differential privacy, the epsilon of the literature: P(y|s) <= e^ldp P(y|s') for all s, s', y.
    log_lift, max_lift, min_lift : float
        Limits of the lifts: P(y|s) / P(y) is at most e^max_lift and at least e^-min_lift; log_lift limits both.
        With max_lift alone, no value can raise the probability of an s by more than that factor, but a value may rule
        an s out: LDP is then unbounded.
    dp, neighbors : float; |S| x |S| boolean matrix, mapping, function or "hamming"
        Limit of differential privacy: as `ldp`, for neighbours s, s' only; see `linred.dp`.
    pairs : |S| x |S| matrix, mapping {(s, s'): limit} or function of two labels
        A limit for each ordered pair, P(y|s) <= e^pairs[s, s'] P(y|s'); inf, or absent from the mapping, for none.
        `linred.pairs_by_distance` makes one from a distance.
    secrets : "each", list or mapping
        Functions of S to protect. For composite labels, "each" stands for every column by itself, and a tuple of
        positions for these columns together; other functions are an array of group codes in the order of the labels, a
        mapping {label: group}, or a function of a label. For a list, `ldp` limits each secret and no longer S itself.
        For a mapping {secret: limit}, each has its own limit and `ldp` stays with S. P(y|group) is the mean of P(y|s)
        under P(s|group), which an attacker is assumed to share.
    given_x : float
        Limit for someone who knows x: P(y|s,x) <= e^given_x P(y|s',x) for all pairs (s, x), (s', x) that occur.
    max_changed_by_s : float in [0, 1]
        The largest share of the records of any s that may change, in expectation.

    >>> Target(ldp=1.0, max_lift=0.5)
    Target(ldp=1.0, max_lift=0.5)
    """

    ldp: float = math.inf
    log_lift: float = math.inf
    max_lift: float = math.inf
    min_lift: float = math.inf
    dp: float = math.inf
    neighbors: Any = None
    pairs: Any = None
    secrets: Any = None
    given_x: float = math.inf
    max_changed_by_s: float = 1.0

    def __post_init__(self) -> None:
        for name, no_limit in NUMBERS.items():
            object.__setattr__(self, name, validation.number(name, getattr(self, name), 0.0, no_limit))
        if (self.dp < math.inf) != (self.neighbors is not None):
            there, missing = ("neighbors", "dp") if self.dp == math.inf else ("dp", "neighbors")
            raise ValueError(f"{there}= needs {missing}=: give both, the limit and the symbols that are neighbours")
        if isinstance(self.pairs, str):
            raise ValueError("pairs is text: linred.pairs_by_distance makes limits of pairs from a distance")
        if self.secrets is not None and not isinstance(self.secrets, str | list | tuple | Mapping):
            kind = validation.type_name(self.secrets)
            raise ValueError(f'secrets is a {kind}: give "each", a list of secrets or a mapping {{secret: limit}}')
        if self.secrets == [] and self.ldp < math.inf:
            raise ValueError("secrets= is an empty list, so that ldp= limits nothing: name a secret, or leave it out")
        if _are_limited_by_ldp(self.secrets) and self.ldp == math.inf:
            raise ValueError("secrets= is a list and needs ldp=, the limit of each; or give a mapping {secret: limit}")

    @property
    def limits(self) -> dict[str, Any]:
        """The limits that are set, by name."""
        values = {name: getattr(self, name) for name in TARGETS}
        return {
            name: one for name, one in values.items() if (one < NUMBERS[name] if name in NUMBERS else one is not None)
        }

    @property
    def figures(self) -> dict[str, float]:
        """The limits of figures of a `Leakage` that are set, by name; `ldp` is not if it is for a list of secrets."""
        others = {"ldp"} if _are_limited_by_ldp(self.secrets) else ()
        return {name: limit for name, limit in self.limits.items() if name in FIGURES and name not in others}

    def settled(self, joint: Any) -> Target:
        """Return the same target with arrays in the order of the labels of a Joint; settling it again changes nothing.

        `neighbors` and `pairs` become matrices, and `secrets` a tuple of `Secret`. The limits of secrets given as a
        list are then in the secrets, and `ldp`, which no longer limits S, is inf.
        """
        changes: dict[str, Any] = {}
        if self.neighbors is not None:
            changes["neighbors"] = neighbor_matrix(self.neighbors, joint.s_labels)
        if self.pairs is not None:
            changes["pairs"] = matrix_of("pairs", self.pairs, joint.s_labels, missing=math.inf, infinite=True)
        if self.secrets is not None:
            changes["secrets"] = _settled_secrets(self.secrets, self.ldp, joint.s_labels)
            changes["ldp"] = math.inf if _are_limited_by_ldp(self.secrets) else self.ldp
        return dataclasses.replace(self, **changes) if changes else self

    def is_met_by(self, figures: Leakage) -> bool:
        """Return whether no figure of a `Leakage` is above its limit. A limit of no figure raises a ValueError."""
        for name in self.limits:
            if name not in FIGURES:
                raise ValueError(f"{name}= limits no figure of a Leakage: see met of sampler().certificate()")
        return all(getattr(figures, name) <= limit for name, limit in self.figures.items())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Target):
            return NotImplemented
        return all(_equal(getattr(self, name), getattr(other, name)) for name in TARGETS)

    __hash__ = None  # type: ignore[assignment]  # it may hold arrays

    def __repr__(self) -> str:
        return f"Target({', '.join(f'{name}={_shown(name, value)}' for name, value in self.limits.items())})"

    def __str__(self) -> str:
        numbers = {name: limit for name, limit in self.limits.items() if name in NUMBERS and name != "dp"}
        stated = [f"{name} <= {limit!r}" for name, limit in numbers.items()]
        stated += [f"dp <= {self.dp!r} for neighbors"] * (self.neighbors is not None)
        stated += ["limits of pairs"] * (self.pairs is not None)
        if _is_settled(self.secrets):
            stated += [f"ldp <= {secret.limit!r} for secrets[{i}]" for i, secret in enumerate(self.secrets)]
        return " and ".join(stated)


TARGETS = tuple(field.name for field in dataclasses.fields(Target))
"""The names of all fields, in the order of the signatures."""

NUMBERS = {field.name: field.default for field in dataclasses.fields(Target) if isinstance(field.default, float)}
"""The limits that are one number, each with the value that limits nothing: {name: inf or 1}."""


def _settled_secrets(secrets, ldp, labels):
    """Return a tuple of `Secret`."""
    if _is_settled(secrets):
        for i, secret in enumerate(secrets):
            if secret.groups.shape != (len(labels),):
                raise ValueError(f"secrets[{i}] has {secret.groups.size} groups, but S has {len(labels)} symbols")
        return secrets
    if isinstance(secrets, str):
        if secrets != "each":
            raise ValueError(f"secrets = {validation.shortened(secrets)} is not 'each', a list or a mapping")
        secrets = ["each"]
    stated = secrets.items() if isinstance(secrets, Mapping) else ((secret, ldp) for secret in secrets)
    found = []
    for i, (secret, limit) in enumerate(stated):
        place = f"secrets[{i}]"
        limit = validation.number(f"the limit of {place}", limit, 0.0, math.inf)
        positions = secret if isinstance(secret, tuple) else (secret,)
        if isinstance(secret, str):
            if secret != "each":  # the text is not shown, because it may be a label of S
                raise ValueError(
                    f"{place} is text, but not 'each': give positions of columns, such as (0,), the group of each "
                    "label, or a function of a label"
                )
            n_columns = len(columns_of(labels, place))
            found += [_of_columns((column,), limit, labels, place) for column in range(n_columns)]
        elif all(map(_is_position, positions)):
            found.append(_of_columns(positions, limit, labels, place))
        else:
            found.append(Secret(validation.frozen(groups_of(place, secret, labels)), limit))
    return tuple(found)


def _of_columns(positions, limit, labels, place):
    """Return the secret that consists of some columns of composite labels."""
    columns = columns_of(labels, place)
    for position in positions:
        if not 0 <= position < len(columns):
            raise ValueError(f"{place} names column {position}, but S has columns 0 to {len(columns) - 1}")
    if not positions:
        raise ValueError(f"{place} names no column: give positions of columns, for example (0,)")
    groups = codes_of(zip(*columns[list(positions)].tolist(), strict=True))
    return Secret(validation.frozen(groups), limit, tuple(int(position) for position in positions))


def _is_position(value):
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_settled(secrets):
    return isinstance(secrets, tuple) and all(isinstance(secret, Secret) for secret in secrets)


def _are_limited_by_ldp(secrets):
    """Return whether there are secrets without limits of their own."""
    return secrets is not None and not isinstance(secrets, Mapping) and not _is_settled(secrets)


def _equal(one, other):
    if _is_settled(one) and _is_settled(other):
        return len(one) == len(other) and all(
            first[1:] == second[1:] and np.array_equal(first.groups, second.groups)
            for first, second in zip(one, other, strict=True)
        )
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return one is not None and other is not None and np.array_equal(one, other)
    if isinstance(one, list | tuple) and type(one) is type(other):
        return len(one) == len(other) and all(map(_equal, one, other))
    try:
        return bool(one == other)
    except ValueError:  # of data frames, which compare their cells
        return np.array_equal(np.asarray(one), np.asarray(other))


def _shown(name, value):
    """Return a limit for repr: numbers and text as they are, of all others only the kind and the size."""
    if isinstance(value, float | str):
        return repr(value)
    if isinstance(value, np.ndarray):
        return f"<{' x '.join(map(str, value.shape))} matrix>"
    is_counted = name == "secrets" and isinstance(value, list | tuple | Mapping)
    return f"<{len(value)} secrets>" if is_counted else f"<{validation.type_name(value)}>"

"""What each limit of a `Target` compares: ratios of probabilities of y, from P(y|s) of any precision.

Calibration, exact certificates and solvers all take the limits from here. Every ratio is between two mixtures of the
rows P(y|s): rows themselves, P(y), or P(y|group). Mixing P(y) into all rows brings each ratio closer to one.
"""

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from linred.privacy import metrics
from linred.privacy.target import Target


class Comparison(NamedTuple):
    """Ratios whose logarithm has a limit: numerators / denominators <= e^limit."""

    name: str  # of the field of the target
    place: int | None  # which of the secrets
    limit: Any  # a number, or an array that broadcasts with the ratios
    numerators: np.ndarray
    denominators: np.ndarray
    n_terms: int = 1  # number of probabilities that are added up in a numerator or denominator

    def rows(self):
        """Return (numerators, denominators) of each row of ratios."""
        return list(zip(*np.atleast_2d(self.numerators, self.denominators), strict=True))

    def log_ratios(self):
        """Return the largest log ratio of each row, to a few ulps."""
        places = ((row, metrics.largest_ratio(*row)) for row in self.rows())
        return np.array([metrics.log_ratio(above[y], below[y]) for (above, below), y in places])


class Reached(NamedTuple):
    """One limit of a target and the figure that a mechanism reached, which must not be above it.

    For `pairs`, each of which has a limit of its own, the figure is the largest log ratio less its limit, and `limit`
    is 0.
    """

    name: str
    place: int | None
    limit: float
    figure: float

    @property
    def met(self) -> bool:
        """Whether the figure is not above the limit."""
        return self.figure <= self.limit


def comparisons(target: Target, p_s: np.ndarray, q: np.ndarray, p_y: np.ndarray) -> Iterator[Comparison]:
    """Yield what each limit of a settled target compares. q : P(y|s), |S| x |X|. p_y : P(y), or what replaces it."""
    occurs = np.flatnonzero(p_s > 0.0)
    q = q if occurs.size == p_s.size else q[occurs]
    highest, lowest = q.max(axis=0), q.min(axis=0)
    if target.ldp < math.inf:
        yield Comparison("ldp", None, target.ldp, highest, lowest)
    for name, limit in (("log_lift", target.log_lift), ("max_lift", target.max_lift)):
        if limit < math.inf:
            yield Comparison(name, None, limit, highest, p_y)
    for name, limit in (("log_lift", target.log_lift), ("min_lift", target.min_lift)):
        if limit < math.inf:
            yield Comparison(name, None, limit, p_y, lowest)
    for name, limits in of_pairs(target, occurs):
        for s, row in enumerate(limits):
            others = np.flatnonzero(row < math.inf)
            if others.size:
                yield Comparison(
                    name, None, row[others, None], np.broadcast_to(q[s], (others.size, q.shape[1])), q[others]
                )
    for place, (weights, limit) in enumerate(of_secrets(target, p_s)):
        if limit < math.inf:
            groups = weights[:, occurs] @ q
            yield Comparison("secrets", place, limit, groups.max(axis=0), groups.min(axis=0), occurs.size)


def of_lifts(target):
    """Return the limits of max-lift and of min-lift, each of which log_lift limits too."""
    return min(target.max_lift, target.log_lift), min(target.min_lift, target.log_lift)


def of_pairs(target, occurs):
    """Return [(name, matrix of limits between the symbols `occurs`)], inf where there is none and on the diagonal."""
    found = []
    if target.neighbors is not None:
        found.append(("dp", np.where(target.neighbors, target.dp, math.inf)))
    if target.pairs is not None:
        found.append(("pairs", np.where(np.eye(len(target.pairs), dtype=bool), math.inf, target.pairs)))
    return [(name, matrix[np.ix_(occurs, occurs)]) for name, matrix in found]


def of_secrets(target, p_s):
    """Return [(P(s|group) with a row for each group that occurs, limit)], one for each secret."""
    found = []
    for secret in target.secrets or ():
        groups, group_of = np.unique(np.where(p_s > 0.0, secret.groups, -1), return_inverse=True)
        weights = np.where(group_of.ravel() == np.arange(groups.size)[:, None], p_s, 0.0)[groups >= 0]
        found.append((weights / weights.sum(axis=1, keepdims=True), secret.limit))
    return found


def reached(compared, log_ratios=Comparison.log_ratios) -> tuple[Reached, ...]:
    """Return what was reached for each limit. log_ratios : function of a `Comparison`, with a figure for each row."""
    found: dict[tuple, Reached] = {}
    for one in compared:
        key, figures, limit, least = (one.name, one.place), log_ratios(one), float(np.max(one.limit)), 0.0
        if one.name == "pairs":
            figures, limit, least = figures - np.ravel(one.limit), 0.0, -math.inf
        figure = max(float(figures.max()), found[key].figure if key in found else least)
        found[key] = Reached(*key, limit, figure)
    return tuple(found.values())

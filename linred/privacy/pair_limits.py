"""`pairs_by_distance`: limits for pairs of symbols of S that grow with their distance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from linred._common import validation
from linred.columns.alphabet import check_labels
from linred.columns.label_distance import distance_of
from linred.columns.schema import parts_of


def pairs_by_distance(
    distance: Any, labels: Any, *, epsilon: float = 1.0, bins: Mapping[str, Sequence[float]] | None = None
) -> np.ndarray:
    """Return the limit epsilon * distance(s, s') for each pair of symbols, for the target `pairs=`.

    A mechanism that meets these limits has P(y|s) <= e^(epsilon * distance(s, s')) P(y|s'): similar symbols of S stay
    hard to tell apart, and distant ones less so. This is metric privacy, "epsilon a unit of distance".

    Parameters
    ----------
    distance : str, |S| x |S| matrix, mapping {(s, s'): distance} or function of two labels
        "absolute" or "squared": |s - s'| or (s - s')^2 for labels that are numbers, or text that reads as one.
        "hamming": the number of columns in which composite labels differ. Distances are nonnegative, need not be
        symmetric, and may be inf for no limit, which is also what pairs that a mapping lacks get.
    labels : Joint or sequence of labels
        Labels of S, in their order.
    epsilon : float
        Limit in nats for one unit of distance; finite.
    bins : {name: edges}, optional
        The name and edges of the column of S whose bins the labels are, as given to `Sanitizer`. Distances are then
        between the centres of bins; the two open bins count as wide as their neighbours.

    Guarantee
    ---------
    The float64 matrix is read-only and 0 on the diagonal; each entry is the product, rounded to a double. O(|S|^2).

    >>> pairs_by_distance("absolute", [20, 30, 50], epsilon=0.05).tolist()
    [[0.0, 0.5, 1.5], [0.5, 0.0, 1.0], [1.5, 1.0, 0.0]]
    """
    labels = labels.s_labels if hasattr(labels, "s_labels") else check_labels("labels", labels)
    epsilon = validation.number("epsilon", epsilon, 0.0, np.finfo(np.float64).max)
    matrix = distance_of("distance", distance, labels, _column(bins), missing=np.inf, infinite=True)
    with np.errstate(over="ignore"):
        return validation.frozen(np.multiply(matrix, epsilon, out=np.full_like(matrix, np.inf), where=matrix < np.inf))


def _column(bins):
    """Return the `ColumnSpec` of bins, or None."""
    if bins is None:
        return None
    if not isinstance(bins, Mapping) or len(bins) != 1:
        raise ValueError("bins is not a dict of one column and its edges: give, for example, {'age': [30, 50]}")
    (column,) = parts_of("bins", list(bins), bins)
    if not column.edges:
        raise ValueError(f"bins of {column.name!r} has no edges: give at least two numbers")
    return column

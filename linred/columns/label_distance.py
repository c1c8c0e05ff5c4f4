"""Distances between labels: by name, or in any of the forms of `label_matrix.matrix_of`.

Messages name places, and show neither a label nor a value.
"""

import math
from itertools import pairwise

import numpy as np

from linred._common import validation
from linred.columns.composite import hamming
from linred.columns.label_matrix import matrix_of

NAMED = ("absolute", "squared", "hamming")
"""Distances with a name: |a - b| and (a - b)^2 of numbers or of the centres of bins, and the number of columns in which
composite labels differ."""

GIVE = "give a matrix of distances in place of the name"


def distance_of(name, given, labels, column=None, *, labels_name="labels", missing=None, infinite=False):
    """Return the |labels| x |labels| matrix of distances that `given` describes.

    Parameters
    ----------
    name : of the argument, for messages; labels_name : of the labels.
    given : one of `NAMED`, or anything that `matrix_of` accepts
    labels : tuple of labels, as `check_labels` returns them
    column : `ColumnSpec`, optional
        The column that the labels are from. If it has edges, distances are between the centres of its bins. The two
        open bins count as wide as their neighbours, so that at least two edges are needed.
    missing, infinite : as in `matrix_of`

    Guarantee
    ---------
    The matrix is float64, nonnegative, zero on the diagonal and read-only. A named distance is computed in doubles and
    is symmetric. Text that reads as a number, such as a label from a CSV file, counts as this number.

    >>> distance_of("distortion", "absolute", ("1", "2", "4")).tolist()
    [[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]
    """
    if not isinstance(given, str):
        return matrix_of(name, given, labels, missing=missing, infinite=infinite)
    check_name(name, given)
    what = f"{name} = {given!r}"
    if given == "hamming":
        matrix = hamming(labels, what, labels_name)
    else:
        centres = _centres(what, labels, labels_name, column)
        with np.errstate(over="ignore"):  # `matrix_of` refuses an infinite distance
            matrix = np.abs(centres[:, None] - centres) ** (2.0 if given == "squared" else 1.0)
    return matrix_of(name, matrix, labels)


def check_name(name, given):
    """Raise a ValueError if `given` is text, but not the name of a distance."""
    if isinstance(given, str) and given not in NAMED:
        shown = ", ".join(map(repr, NAMED))
        raise ValueError(f"{name} = {validation.shortened(given)} is not {shown}, a matrix, a mapping or a function")


def distortion_of(name, given, labels, column=None):
    """Return a cost for each pair of symbols of X, finite and 0 for keeping one, as `distance_of` does.

    >>> from linred.columns.schema import ColumnSpec
    >>> age = ColumnSpec("age", (20.0, 30.0, 60.0))
    >>> distortion_of("distortion", "absolute", age.bins, age)[0].tolist()  # centres: 15, 25, 45, 75
    [0.0, 10.0, 30.0, 60.0]
    """
    return distance_of(name, given, labels, column, labels_name="x_labels")


def _centres(what, labels, labels_name, column):
    """Return the number that each label is, or the centre of the bin that it names."""
    centre_of = _bin_centres(what, column).get if column is not None and column.edges else _number
    centres = [centre_of(label) for label in labels]
    for place, centre in enumerate(centres):
        if centre is None:
            kind = "missing" if labels[place] is None else "not a bin" if centre_of is not _number else "not a number"
            raise ValueError(f"{what}: {labels_name}[{place}] is {kind}: {GIVE}")
    return np.array(centres)


def _bin_centres(what, column):
    """Return {label of a bin: its centre}."""
    edges = column.edges
    if len(edges) < 2:
        raise ValueError(f"{what}: the bins of {column.name!r} have no width, because they have only one edge: {GIVE}")
    ends = (2.0 * edges[0] - edges[1], *edges, 2.0 * edges[-1] - edges[-2])
    centres = (low + (high - low) / 2.0 for low, high in pairwise(ends))
    return dict(zip(column.bins, centres, strict=True))


def _number(label):
    """Return a label as a finite float, or None if it is not a number; composite labels and True are not."""
    if label is None or isinstance(label, bool | np.bool_) or (isinstance(label, str) and "_" in label):
        return None  # Python reads "1_0" as 10
    try:
        number = float(label)
    except (TypeError, ValueError, ArithmeticError):
        return None
    return number if math.isfinite(number) else None

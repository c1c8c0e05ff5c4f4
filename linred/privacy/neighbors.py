"""Neighbours of a symbol s, between which `linred.dp` and the target `dp=` compare."""

import numpy as np

from linred._common import validation
from linred.columns.label_matrix import relation_of


def neighbor_matrix(neighbors, labels):
    """Return a symmetric |S| x |S| boolean matrix from a matrix, a mapping or a function of two labels, or "hamming".

    "hamming" takes two labels as neighbours if they differ in exactly one position; labels must be tuples of equal
    length.
    """
    if isinstance(neighbors, str):
        if neighbors != "hamming":
            raise ValueError(f"neighbors = {validation.shortened(neighbors)} is not 'hamming', a matrix or a function")
        columns = columns_of(labels, "neighbors = 'hamming'")
        return validation.frozen(sum(column[:, None] != column for column in columns) == 1)
    matrix = relation_of("neighbors", neighbors, labels)
    for s, t in np.argwhere(matrix > matrix.T)[:1]:
        raise ValueError(f"neighbors is not symmetric: [{s}, {t}] is True and [{t}, {s}] is False")
    return matrix


def columns_of(labels, what):
    """Return the columns of composite labels as integer codes, columns x labels; `what` needs them."""
    for place, label in enumerate(labels):
        if not isinstance(label, tuple) or len(label) != len(labels[0]):
            raise ValueError(
                f"s_labels[{place}] is not a tuple of the same length as s_labels[0], which {what} needs: "
                "fit several sensitive columns"
            )
    return np.array([codes_of(column) for column in zip(*labels, strict=True)])


def codes_of(values):
    """Return a code for each value, from 0 in the order of first occurrence."""
    values = list(values)
    code_of = {value: code for code, value in enumerate(dict.fromkeys(values))}
    return np.array([code_of[value] for value in values])

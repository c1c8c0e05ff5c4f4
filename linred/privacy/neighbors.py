"""Neighbours of a symbol s, between which `linred.dp` and the target `dp=` compare."""

import numpy as np

from linred._common import validation
from linred.columns.composite import hamming
from linred.columns.label_matrix import relation_of


def neighbor_matrix(neighbors, labels):
    """Return a symmetric |S| x |S| boolean matrix from a matrix, a mapping or a function of two labels, or "hamming".

    "hamming" takes two labels as neighbours if they differ in exactly one position; labels must be tuples of equal
    length.
    """
    if isinstance(neighbors, str):
        if neighbors != "hamming":
            given = validation.shortened(neighbors)
            raise ValueError(f"neighbors = {given} is not 'hamming', a matrix, a mapping or a function")
        return validation.frozen(hamming(labels, "neighbors = 'hamming'") == 1)
    matrix = relation_of("neighbors", neighbors, labels)
    for s, t in np.argwhere(matrix > matrix.T)[:1]:
        raise ValueError(f"neighbors= is not symmetric: [{s}, {t}] is True and [{t}, {s}] is False")
    return matrix

"""Composite labels: tuples of equal length, with one part for each column."""

import numpy as np


def columns_of(labels, what, name="s_labels"):
    """Return the columns of composite labels as integer codes, columns x labels; `what` needs them."""
    for place, label in enumerate(labels):
        if not isinstance(label, tuple) or len(label) != len(labels[0]):
            side = "public" if name == "x_labels" else "sensitive"
            kind = "a tuple" if place == 0 else f"a tuple of the same length as {name}[0]"
            raise ValueError(f"{name}[{place}] is not {kind}, which {what} needs: fit several {side} columns")
    return np.array([codes_of(column) for column in zip(*labels, strict=True)])


def codes_of(values):
    """Return a code for each value, from 0 in the order of first occurrence."""
    values = list(values)
    code_of = {value: code for code, value in enumerate(dict.fromkeys(values))}
    return np.array([code_of[value] for value in values])


def hamming(labels, what, name="s_labels"):
    """Return the number of columns in which two composite labels differ, |labels| x |labels|."""
    return sum((column[:, None] != column).astype(np.int64) for column in columns_of(labels, what, name))

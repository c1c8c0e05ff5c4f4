"""Alphabets: ordered labels, which are distinct and hashable."""

import numpy as np

from linred._common import validation
from linred.columns.missing import is_missing


def check_labels(name, labels, n_symbols=None):
    """Return labels as a tuple, with None for a missing one; by default 0, 1, 2, ...

    Labels must be hashable and distinct, and there must be one for each of `n_symbols` symbols, if that is given.
    """
    if labels is None:
        return tuple(range(n_symbols))
    if isinstance(labels, set | frozenset | dict) or not hasattr(labels, "__iter__"):
        raise ValueError(f"{name} is a {validation.type_name(labels)}, not a sequence of labels in order")
    try:
        labels = as_list(labels)
    except Exception:  # of another package, which shows values
        raise ValueError(f"{name} is a {validation.type_name(labels)} with a label that cannot be read") from None
    labels = tuple(None if is_missing(label) else label for label in labels)
    if not labels:
        raise ValueError(f"{name} has no labels")
    if n_symbols is not None and len(labels) != n_symbols:
        raise ValueError(f"{name} has {len(labels)} labels for {n_symbols} symbols")
    first_place = {}
    for place, label in enumerate(labels):
        try:
            if first_place.setdefault(label, place) != place:
                raise ValueError(f"{name}[{place}] repeats {name}[{first_place[label]}]: labels must be distinct")
        except TypeError:
            raise ValueError(f"{name}[{place}] is {unhashable(label)}") from None
    return labels


def unhashable(value):
    """Describe a value that cannot be a label, without showing it."""
    return f"a {validation.type_name(value)} that is not hashable: use text, numbers or tuples of these"


def as_list(values):
    """Return values as a list of Python objects; NumPy times stay as they are, because tolist() makes them integers."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        return list(values)
    convert = getattr(values, "to_list", None) or getattr(values, "tolist", None)
    return convert() if convert else list(values)


def as_objects(values):
    """Return a one-dimensional array of objects, in which tuples stay tuples."""
    return np.fromiter(values, object, len(values))


def in_order(name, occurring, sort):
    """Return the values that are not missing, sorted unless the caller will declare their order."""
    values = [value for value in occurring if not is_missing(value)]
    if not sort:
        return tuple(values)
    try:
        return tuple(sorted(values))
    except TypeError:
        raise ValueError(
            f"{name} has values that cannot be sorted: convert them to one type, "
            f"or give their order with {name}_labels= or an ordered categorical column"
        ) from None


def check_kept(labels, values):
    """Check that a column holds the labels that were put into it unchanged, with None as a missing value."""
    for place, (label, value) in enumerate(zip(labels, values, strict=True)):
        if not (is_missing(value) if label is None else not is_missing(value) and label == value):
            raise ValueError(f"label {place} would become another value")

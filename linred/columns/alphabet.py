"""Alphabets: labels that are distinct, hashable and in order."""

import numpy as np

from linred.columns.missing import is_missing


def check_labels(name, labels, n_symbols=None):
    """Labels as a tuple: hashable, distinct, and one for each symbol; a missing one is None."""
    if labels is None:
        return tuple(range(n_symbols))
    if isinstance(labels, set | frozenset | dict) or not hasattr(labels, "__iter__"):
        raise ValueError(f"{name} is a {type(labels).__name__}, not a sequence of labels in order")
    labels = tuple(None if is_missing(label) else label for label in as_list(labels))
    if not labels:
        raise ValueError(f"{name} has no labels")
    if n_symbols is not None and len(labels) != n_symbols:
        raise ValueError(f"{name} has {len(labels)} labels for {n_symbols} symbols")
    first_place = {}
    for place, label in enumerate(labels):
        try:
            if first_place.setdefault(label, place) != place:
                raise ValueError(f"{name}[{place}] = {label!r} is there before, at [{first_place[label]}]")
        except TypeError:
            raise ValueError(f"{name}[{place}] = {label!r} is not hashable") from None
    return labels


def as_list(values):
    """Python values, where they can be had; of times NumPy's own, which tolist() would make integers."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        return list(values)
    convert = getattr(values, "to_list", None) or getattr(values, "tolist", None)
    return convert() if convert else list(values)


def as_objects(values):
    """A one-dimensional array of objects: tuples stay tuples."""
    return np.fromiter(values, object, len(values))


def in_order(name, occurring, sort):
    """The values that are not missing, sorted unless their order will be declared."""
    values = [value for value in occurring if not is_missing(value)]
    if not sort:
        return tuple(values)
    try:
        return tuple(sorted(values))
    except TypeError:
        raise ValueError(f"{name} has values that cannot be sorted: pass {name}_labels to say their order") from None


def check_kept(labels, values):
    """That a column's values are the labels that were put into it, not what is left of them; None is missing."""
    for label, value in zip(labels, values, strict=True):
        if not (is_missing(value) if label is None else not is_missing(value) and label == value):
            raise ValueError(f"{label!r} would become {value!r}")

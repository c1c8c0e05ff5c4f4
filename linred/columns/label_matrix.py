"""Matrices over pairs of labels, and groups of labels, in the order of an alphabet.

They may be given as an array in the order of the labels, as a mapping by label, or as a function of labels. A fourth
form is an object that reads them from a file (`linred.io.label_file`) and has the method `matrix_for` or `groups_for`.
Messages name places, and show neither a label nor a value.
"""

from collections.abc import Mapping

import numpy as np

from linred._common import validation
from linred.columns.alphabet import as_list, unhashable
from linred.columns.missing import is_missing


def matrix_of(name, given, labels, *, missing=None, infinite=False):
    """Return the |labels| x |labels| matrix of nonnegative numbers with a zero diagonal that `given` describes.

    Parameters
    ----------
    name : of the argument, for messages
    given : array_like, mapping or function
        An array in the order of the labels, a mapping {(label, label): number}, or a function of two labels. The
        diagonal of a mapping is 0 by default. A function is not called for a label and itself.
    labels : tuple of labels, as `check_labels` returns them
    missing : number, optional
        For pairs that a mapping lacks; by default they are an error.
    infinite : bool
        Whether inf is allowed.

    Guarantee
    ---------
    The matrix is float64, C-ordered and read-only, and shares no memory with `given`. A pair (a, b) says nothing about
    (b, a). A function is called for each pair of different labels, so the cost is O(|labels|^2) calls.

    >>> matrix_of("pairs", {("a", "b"): 1.0}, ("a", "b", "c"), missing=np.inf, infinite=True).tolist()
    [[0.0, 1.0, inf], [inf, 0.0, inf], [inf, inf, 0.0]]
    """
    matrix = _filled(name, given, labels, missing, infinite, np.float64)
    if _is_boolean(matrix):  # a matrix of neighbours, whose False would be the strictest limit
        raise ValueError(f"{name} has dtype bool: give a matrix of numbers")
    matrix = validation.nonnegative(name, matrix, 2, infinite)
    _check_shape(name, matrix, labels)
    if matrix.diagonal().any():
        place = int(np.argmax(matrix.diagonal() != 0.0))
        raise ValueError(f"{name}[{place}, {place}] is not 0: a label and itself must have 0")
    return validation.frozen(matrix)


def relation_of(name, given, labels):
    """Return the |labels| x |labels| boolean matrix that `given` describes, in any of the forms of `matrix_of`.

    Pairs that a mapping lacks are False. Entries must be True or False; in a file, 1 or 0.

    >>> relation_of("neighbors", lambda a, b: abs(a - b) == 1, (1, 2, 4)).tolist()
    [[False, True, False], [True, False, False], [False, False, False]]
    """
    matrix = _filled(name, given, labels, False, False, np.bool_)
    try:
        matrix = np.array(matrix)
    except Exception:  # of other packages too, whose texts may contain values
        raise ValueError(f"{name} is a {validation.type_name(given)}, not a matrix of True and False") from None
    if matrix.dtype != bool:
        raise ValueError(f"{name} has dtype {matrix.dtype}: give a matrix of True and False")
    _check_shape(name, matrix, labels)
    return validation.frozen(matrix)


def groups_of(name, given, labels):
    """Return the number of the group of each label; groups count from 0 in the order in which labels need them.

    Parameters
    ----------
    name : of the argument, for messages
    given : sequence, mapping or function
        One group for each label in their order, a mapping {label: group} that has every label, or a function of a
        label. Groups are any hashable values; all missing values are one group.
    labels : tuple of labels, as `check_labels` returns them

    Guarantee
    ---------
    The int64 array is read-only. Labels have the same number if and only if their groups are equal. O(|labels|).

    >>> groups_of("secrets", {"a": "vowel", "b": "consonant", "e": "vowel"}, ("a", "b", "e")).tolist()
    [0, 1, 0]
    """
    number_of, numbers = {}, np.empty(len(labels), np.int64)
    for place, group in enumerate(_groups(name, given, labels)):
        try:
            numbers[place] = number_of.setdefault(None if is_missing(group) else group, len(number_of))
        except TypeError:
            raise ValueError(f"{name}[{place}] is {unhashable(group)}") from None
    return validation.frozen(numbers)


def _is_boolean(matrix):
    try:
        return np.asarray(matrix).dtype.kind == "b"
    except Exception:  # of other packages too; `validation.nonnegative` refuses such a matrix
        return False


def _check_shape(name, matrix, labels):
    shape = len(labels), len(labels)
    if matrix.shape != shape:
        raise ValueError(f"{name} has shape {matrix.shape}: an alphabet of {len(labels)} labels needs {shape}")


def _filled(name, given, labels, missing, infinite, dtype):
    """Return `given` as a matrix; an array is returned as it is, unchecked."""
    if hasattr(given, "matrix_for"):
        return given.matrix_for(labels, missing, infinite, is_relation=dtype is np.bool_).astype(dtype)
    read = _truth if dtype is np.bool_ else _number
    if isinstance(given, Mapping):
        return _of_mapping(name, given, labels, missing, dtype, read)
    return _of_function(name, given, labels, dtype, read) if callable(given) else given


def _of_mapping(name, mapping, labels, missing, dtype, read):
    matrix = np.full((len(labels), len(labels)), missing or 0, dtype)
    np.fill_diagonal(matrix, 0)
    is_given = np.eye(len(labels), dtype=bool)
    key_at, place_of = {}, _places(labels)
    for number, (key, value) in enumerate(mapping.items()):
        is_pair = isinstance(key, tuple) and len(key) == 2
        pair = tuple(_place(place_of, label) for label in key) if is_pair else (None,)
        if None in pair:
            raise ValueError(f"{name}: key {number}, counted from 0, is not a pair (label, label) of this alphabet")
        if key_at.setdefault(pair, number) != number:
            raise ValueError(f"{name}: keys {key_at[pair]} and {number}, counted from 0, are the same pair of labels")
        matrix[pair], is_given[pair] = read(f"{name}[{pair[0]}, {pair[1]}]", value), True
    if missing is None and not is_given.all():
        a, b = np.argwhere(~is_given)[0]
        raise ValueError(f"{name}[{a}, {b}] is absent: give a number for each pair of different labels, both ways")
    return matrix


def _of_function(name, function, labels, dtype, read):
    matrix = np.zeros((len(labels), len(labels)), dtype)
    for i, a in enumerate(labels):
        for j, b in enumerate(labels):
            if i != j:
                place = f"{name}[{i}, {j}]"
                matrix[i, j] = read(place, _called(place, function, a, b))
    return matrix


def _groups(name, given, labels):
    """Return the group of each label."""
    if hasattr(given, "groups_for"):
        return given.groups_for(labels)
    if isinstance(given, Mapping):
        return _groups_of_mapping(name, given, labels)
    if callable(given):
        return [_called(f"{name}[{place}]", given, label) for place, label in enumerate(labels)]
    is_text = isinstance(given, str | bytes | bytearray)
    if is_text or isinstance(given, set | frozenset) or not hasattr(given, "__iter__"):
        raise ValueError(f"{name} is a {validation.type_name(given)}, not a group for each label")
    try:
        groups = as_list(given)
    except Exception:  # of another package, which shows values
        raise ValueError(f"{name} is a {validation.type_name(given)} with a group that cannot be read") from None
    if len(groups) != len(labels):
        raise ValueError(f"{name} has {len(groups)} groups for {len(labels)} labels: give one for each, in their order")
    return groups


def _groups_of_mapping(name, mapping, labels):
    place_of, groups = _places(labels), {}
    for number, (label, group) in enumerate(mapping.items()):
        place = _place(place_of, label)
        if place is None or place in groups:
            what = "not a label of this alphabet" if place is None else "the same label as another key"
            raise ValueError(f"{name}: key {number}, counted from 0, is {what}")
        groups[place] = group
    absent = next((place for place in range(len(labels)) if place not in groups), None)
    if absent is not None:
        raise ValueError(f"{name} has no group for label {absent}: give the group of every label")
    return [groups[place] for place in range(len(labels))]


def _places(labels):
    return {label: place for place, label in enumerate(labels)}


def _place(place_of, label):
    """Return the place of a label, or None."""
    try:
        return place_of.get(None if is_missing(label) else label)
    except TypeError:  # a mapping of another package may have keys that are not hashable
        return None


def _called(place, function, *labels):
    try:
        return function(*labels)
    except Exception as error:  # its text may contain the labels
        kind = validation.type_name(error)
        raise ValueError(f"{place}: the function raised {kind}: it must accept each label of the alphabet") from None


def _number(place, value):
    return validation.number(place, value, -np.inf, np.inf)  # the sign is checked for the whole matrix


def _truth(place, value):
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{place} is a {validation.type_name(value)}, not True or False")
    return bool(value)

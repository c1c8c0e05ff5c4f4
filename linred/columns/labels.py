"""Converts labels to JSON and back without losing their types.

Text, booleans, finite numbers and None stay as they are, tuples become lists, and all other labels {type: text}.
"""

import datetime
import decimal
import math

import numpy as np

from linred._common import validation

_AS_THEY_ARE = (type(None), bool, int, float, str)
_TAGGED = {
    "bytes": (bytes, bytes.hex, bytes.fromhex),
    "date": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "datetime": (datetime.datetime, datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    "time": (datetime.time, datetime.time.isoformat, datetime.time.fromisoformat),
    "decimal": (decimal.Decimal, str, decimal.Decimal),
    "float": (float, repr, float),  # only infinite ones; JSON holds all others
}
_NUMPY_TIMES = {"datetime64": np.datetime64, "timedelta64": np.timedelta64}


def to_json(name, labels):
    """Return labels as a list of JSON values; a ValueError names the place of a label that JSON cannot hold."""
    return [_to_json(f"{name}[{place}]", label) for place, label in enumerate(labels)]


def _to_json(place, label):
    if isinstance(label, tuple):
        return [_to_json(place, part) for part in label]
    if isinstance(label, np.datetime64 | np.timedelta64):
        unit, count = np.datetime_data(label.dtype)
        return {type(label).__name__: [int(label.astype(np.int64)), unit, count]}
    if isinstance(label, np.generic):
        label = label.item()
    if isinstance(label, str) and any("\ud800" <= character <= "\udfff" for character in label):
        raise ValueError(f"{place} has half a character (a surrogate), which an artifact cannot hold: repair the text")
    if type(label) in _AS_THEY_ARE and not (isinstance(label, float) and math.isinf(label)):
        return label
    for tag, (kind, write, _) in _TAGGED.items():
        if type(label) is kind:
            return {tag: write(label)}
    raise ValueError(f"{place} is a {validation.type_name(label)}, which an artifact cannot hold: use text or numbers")


def from_json(name, values):
    """Return the labels that `to_json` wrote; a ValueError names the place of a value that is not one."""
    if not isinstance(values, list):
        raise ValueError(f"{name} is not a list")
    return tuple(_from_json(f"{name}[{place}]", value) for place, value in enumerate(values))


def _from_json(place, value):
    if isinstance(value, list):
        return tuple(_from_json(place, part) for part in value)
    if not isinstance(value, dict):
        return value
    if len(value) != 1 or next(iter(value)) not in (*_NUMPY_TIMES, *_TAGGED):
        raise ValueError(f"{place} is an object, not a label with one of the types {', '.join(_TAGGED)}")
    ((tag, text),) = value.items()
    try:
        if tag in _NUMPY_TIMES:
            count, unit, step = text
            return _NUMPY_TIMES[tag](count, (unit, step))
        label = _TAGGED[tag][2](text)
    except (ValueError, TypeError, ArithmeticError):
        raise ValueError(f"{place} is not a valid {tag}") from None
    if tag == "decimal" and label.is_snan():
        raise ValueError(f"{place} is a signalling NaN, which cannot be a label")
    return label


KINDS = {bool: "true or false", int: "whole numbers", float: "numbers", str: "text", bytes: "bytes"}


def kind_of(labels):
    """Return what kind of values the labels are, such as "text"; None if they are of several kinds or all missing."""
    kinds = {type(label) for label in labels if label is not None}
    if len(kinds) != 1:
        return None
    kind = kinds.pop()
    return KINDS.get(kind, kind.__name__)

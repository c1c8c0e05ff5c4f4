"""Decides, for every kind of column, which values are missing. The label of a missing value is None."""


def is_missing(value):
    """Return whether a value is missing: None, or a value that does not equal itself (NaN, NaT, pandas.NA)."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError, ArithmeticError):  # neither pandas.NA nor an array has a truth value
        return not hasattr(value, "__len__")

"""Which value counts as missing: the one rule for every kind of column. A missing value's label is None."""


def is_missing(value):
    """Whether a value stands for none: None, or one that does not equal itself, as NaN, NaT and pandas.NA."""
    try:
        return value is None or bool(value != value)
    except (TypeError, ValueError):  # pandas.NA is neither equal nor unequal to itself; an array is many things
        return not hasattr(value, "__len__")

"""Checks of arguments. Messages name the argument, the position and the fault, and never show data.

Nothing is corrected silently, except that sums of probabilities within `SUM_SLACK` of one are renormalised.
"""

import math

import numpy as np

SUM_SLACK = 1e-9
"""Largest accepted difference between a sum of probabilities and one."""


def joint(value):
    """Return `value`, which must be a Joint."""
    if not hasattr(value, "p_x_given_s"):
        raise TypeError(f"joint is a {type_name(value)}, not a linred.Joint")
    return value


def mechanism(value):
    """Return `value`, which must be a Mechanism."""
    if not hasattr(value, "table_of"):
        raise TypeError(f"mechanism is a {type_name(value)}, not a linred.Mechanism")
    return value


def type_name(value):
    """Return the name of a value's type for a message, with its module unless it is built in.

    >>> type_name(1), type_name(np.ones(1))
    ('int', 'numpy.ndarray')
    """
    kind = type(value)
    module = "linred" if kind.__module__.startswith("linred.") else kind.__module__
    return kind.__name__ if module == "builtins" else f"{module}.{kind.__name__}"


def number(name, value, low, high):
    """Return `value` as a float in [low, high]. Either end may be infinite; NaN is refused."""
    try:
        if isinstance(value, str | bytes | bytearray | bool | np.bool_):
            raise TypeError
        as_float = float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large for a double") from None
    except (TypeError, ValueError):
        raise ValueError(f"{name} is a {type_name(value)}, not a number") from None
    if not low <= as_float <= high:
        allowed = f"outside [{low:g}, {high:g}]" if math.isfinite(low) or math.isfinite(high) else "not a number"
        raise ValueError(f"{name} = {shortened(value)} is {allowed}")
    return as_float


def shortened(value):
    """Return text of a parameter for a message: numbers and short text as they are, only the type of anything else."""
    if value is None or isinstance(value, str | bool | int | float | np.generic):
        text = repr(value).replace("\n", " ")
        return text if len(text) <= 80 else f"{text[:77]}..."
    return f"<{type_name(value)}>"


def alpha(value):
    return number("alpha", value, 0.0, 1.0)


def flag(name, value):
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} = {shortened(value)} is not True or False")
    return bool(value)


def log_of_base(base):
    """Return ln(base), the divisor that converts nats to the unit of this base."""
    base = number("base", base, 0.0, math.inf)
    if not 1.0 < base < math.inf:
        raise ValueError(f"base = {base!r} is not a finite number above 1")
    return math.log(base)


def nonnegative(name, values, ndim, infinite=False):
    """Return a C-ordered float64 copy of `values`, which must be >= 0 in `ndim` nonempty dimensions.

    They must be finite, unless `infinite`.
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO" or isinstance(values, np.ma.MaskedArray):
            raise TypeError
        if array.dtype.kind == "O" and any(isinstance(value, str | bytes | complex) for value in array.flat):
            raise TypeError
        array = np.array(array, dtype=np.float64, order="C")
    except Exception:  # of other packages too, whose texts may contain values
        raise ValueError(f"{name} is not an array of numbers with {_dimensions(ndim)} and no missing values") from None
    if array.ndim != ndim or array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}: give a nonempty array with {_dimensions(ndim)}")
    most = math.inf if infinite else np.finfo(np.float64).max
    if not (array.min() >= 0.0 and array.max() <= most):  # NaN fails both
        place = tuple(int(i) for i in np.argwhere(~((array >= 0.0) & (array <= most)))[0])
        kind = "number" if infinite else "finite number"
        what = "negative" if array[place] < 0.0 and (infinite or array[place] > -math.inf) else f"not a {kind}"
        raise ValueError(f"{name}[{', '.join(map(str, place))}] is {what}")
    array += 0.0  # turns -0.0 into 0.0, because p / -0.0 is minus infinity
    return array


def _dimensions(ndim):
    return f"{ndim} dimension{'s' * (ndim > 1)}"


def distribution(name, array, axis=None):
    """Return `array` divided by its sum, or by its sums along `axis`, each of which must be within SUM_SLACK of one."""
    sums = np.asarray(array.sum(axis=axis, keepdims=axis is not None))
    wrong = ~(np.abs(sums - 1.0) <= SUM_SLACK)
    if wrong.any():
        row = int(np.argmax(wrong.ravel()))
        place = f"{name}[{row}]" if axis is not None else name
        total = str(sums.ravel()[row]) if sums.ravel()[row] < 10.0 else "10 or more"  # these may be records by mistake
        raise ValueError(f"{place} sums to {total}, which differs from 1 by more than {SUM_SLACK:g}")
    return frozen(array if (sums == 1.0).all() else array / sums)


def codes(name, values, n_symbols):
    """Return a contiguous column of native integers.

    The kernels read codes as unsigned integers, so they see a negative code as a large one and refuse it.
    """
    as_it_is = type(values) is np.ndarray and values.flags.carray
    try:
        array = values if as_it_is else np.require(values, requirements=["C", "A"])
    except Exception:  # of another package, which shows values
        raise ValueError(f"{name} is a {type_name(values)}, not a column of integer codes") from None
    if array.size == 0 and isinstance(values, list | tuple):
        array = array.astype(np.uint8)
    masked = isinstance(values, np.ma.MaskedArray)
    if array.ndim != 1 or array.dtype.kind not in "iu" or not array.dtype.isnative or masked:
        raise ValueError(f"{name} has shape {array.shape} and dtype {array.dtype}, not a column of integer codes")
    if array.dtype.kind == "i" and n_symbols > 2 ** (8 * array.itemsize - 1):
        array = array.astype(np.int64)  # otherwise a negative code, read as unsigned, could be below n_symbols
    return array


def raise_out_of_range(name, codes, n_symbols, first=0):
    """Raise the error for the first of `codes` outside 0 .. n_symbols - 1; codes[0] is record `first` of the column."""
    record = int(np.argmax((codes >= n_symbols) | (codes < 0)))
    raise ValueError(f"{name}[{first + record}] is not a code below {n_symbols}")


_BOOLS, _INTEGERS = (bool, np.bool_), (int, np.integer)


def whole_number(name, value, low, high):
    """Return `value` as an int in [low, high]; high may be None. Messages show numbers only."""
    if isinstance(value, float):
        raise ValueError(f"{name} = {value!r} is not a whole number")
    if isinstance(value, _BOOLS) or not isinstance(value, _INTEGERS):
        raise ValueError(f"{name} is a {type_name(value)}, not a whole number")
    if value < low or (high is not None and value > high):
        raise ValueError(f"{name} = {shortened(value)} is outside [{low}, {'inf' if high is None else high}]")
    return int(value)


def freeze_all(instance):
    """Make every array that an instance holds, directly or in a tuple, read-only. Unpickled arrays are writeable."""
    for value in vars(instance).values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, np.ndarray):
                part.setflags(write=False)


def frozen(array):
    """Return `array` made read-only, so that figures computed from it stay valid."""
    array.setflags(write=False)
    return array


def check_confidence(confidence):
    confidence = number("confidence", confidence, -math.inf, math.inf)
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence = {confidence!r} is not between 0 and 1: {level_hint(confidence)}")
    return confidence


def level_hint(level):
    """Return what to write in place of a confidence level outside (0, 1). People who mean 95 % write 95."""
    return f"write {level / 100:g} for {level:g} %" if 1.0 < level < 100.0 else "0.95 means 95 %"

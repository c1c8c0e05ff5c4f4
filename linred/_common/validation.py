"""Arguments at the door: what is wrong is named with its place and value, and nothing is mended but a last digit."""

import math

import numpy as np

SUM_SLACK = 1e-9
"""How far a sum of probabilities may be off one; within it, it is renormalised."""


def joint(value):
    """`value`, which must be a Joint."""
    if not hasattr(value, "p_x_given_s"):
        raise TypeError(f"joint is a {type(value).__name__}, not a linred.Joint")
    return value


def mechanism(value):
    """`value`, which must be a Mechanism."""
    if not hasattr(value, "table_of"):
        raise TypeError(f"mechanism is a {type(value).__name__}, not a linred.Mechanism")
    return value


def type_name(value):
    """The type of a value for a message: its package's name too, where it is none of Python's own."""
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def number(name, value, low, high):
    """`value` as a float in [low, high]; either end may be infinite, NaN is never inside."""
    try:
        if isinstance(value, str | bytes | bool | np.bool_):
            raise TypeError
        as_float = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} = {shortened(value)} is not a number") from None
    if not low <= as_float <= high:
        raise ValueError(f"{name} = {shortened(value)} is outside [{low:g}, {high:g}]")
    return as_float


def shortened(value):
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 80 else f"{text[:77]}..."


def alpha(value):
    return number("alpha", value, 0.0, 1.0)


def flag(name, value):
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} = {shortened(value)} is not True or False")
    return bool(value)


def log_of_base(base):
    """ln(base), the divisor that turns nats into the unit asked for."""
    base = number("base", base, 0.0, math.inf)
    if not 1.0 < base < math.inf:
        raise ValueError(f"base = {base!r} is not a finite number above 1")
    return math.log(base)


def nonnegative(name, values, ndim):
    """A C-ordered float64 copy of `values`, all finite and >= 0, with `ndim` dimensions, none of them empty."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "biufO" or isinstance(values, np.ma.MaskedArray):
            raise TypeError
        if array.dtype.kind == "O" and any(isinstance(value, str | bytes | complex) for value in array.flat):
            raise TypeError
        array = np.array(array, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} is not an array of numbers, all there, with {_dimensions(ndim)}") from None
    if array.ndim != ndim or array.size == 0:
        raise ValueError(f"{name} has shape {array.shape}, not {_dimensions(ndim)} with something in it")
    if not (array.min() >= 0.0 and array.max() < math.inf):  # NaN fails both
        place = tuple(int(i) for i in np.argwhere(~((array >= 0.0) & (array < math.inf)))[0])
        what = "negative" if -math.inf < array[place] < 0.0 else "not a finite number"
        raise ValueError(f"{name}[{', '.join(map(str, place))}] = {array[place]} is {what}")
    array += 0.0  # -0.0 becomes 0.0: p / -0.0 would be minus infinity
    return array


def _dimensions(ndim):
    return f"{ndim} dimension{'s' * (ndim > 1)}"


def distribution(name, array, axis=None):
    """`array` divided by its sum (by its sums along `axis`), which may be off one by SUM_SLACK."""
    sums = np.asarray(array.sum(axis=axis, keepdims=axis is not None))
    wrong = ~(np.abs(sums - 1.0) <= SUM_SLACK)
    if wrong.any():
        row = int(np.argmax(wrong.ravel()))
        place = f"{name}[{row}]" if axis is not None else name
        raise ValueError(f"{place} sums to {sums.ravel()[row]!s}, off one by more than {SUM_SLACK:g}")
    return frozen(array if (sums == 1.0).all() else array / sums)


def distortion(d, n_x):
    """A |X| x |X| matrix of nonnegative costs with a zero diagonal."""
    d = nonnegative("distortion", d, 2)
    if d.shape != (n_x, n_x):
        raise ValueError(f"distortion has shape {d.shape}; the alphabet of X needs {(n_x, n_x)}")
    if d.diagonal().any():
        x = int(np.argmax(d.diagonal() != 0.0))
        raise ValueError(f"distortion[{x}, {x}] = {d[x, x]} is not 0: keeping a symbol costs nothing")
    return frozen(d)


def codes(name, values, n_symbols):
    """A contiguous column of native integers. The kernels read them as unsigned: a negative code is a large one."""
    as_it_is = type(values) is np.ndarray and values.flags.carray
    array = values if as_it_is else np.require(values, requirements=["C", "A"])
    if array.size == 0 and isinstance(values, list | tuple):
        array = array.astype(np.uint8)
    masked = isinstance(values, np.ma.MaskedArray)
    if array.ndim != 1 or array.dtype.kind not in "iu" or not array.dtype.isnative or masked:
        raise ValueError(f"{name} has shape {array.shape} and dtype {array.dtype}, not a column of integer codes")
    if array.dtype.kind == "i" and n_symbols > 2 ** (8 * array.itemsize - 1):  # not so large that none reaches it
        array = array.astype(np.int64)
    return array


def raise_out_of_range(name, codes, n_symbols, first=0):
    """The error for the first of `codes` that is none of n_symbols; codes[0] is record `first` of the column."""
    record = int(np.argmax((codes >= n_symbols) | (codes < 0)))
    raise ValueError(f"{name}[{first + record}] is not a code below {n_symbols}")


_BYTES, _BOOLS, _INTEGERS = (bytes, bytearray, memoryview), (bool, np.bool_), (int, np.integer)


def whole_number(name, value, low, high):
    """`value` as an int in [low, high]; high may be None."""
    if isinstance(value, _BYTES):  # it may be a key, which is not to be shown
        raise ValueError(f"{name} is a {type(value).__name__}, not a whole number")
    if isinstance(value, _BOOLS) or not isinstance(value, _INTEGERS):
        raise ValueError(f"{name} = {shortened(value)} is not a whole number")
    if value < low or (high is not None and value > high):
        raise ValueError(f"{name} = {shortened(value)} is outside [{low}, {'inf' if high is None else high}]")
    return int(value)


def freeze_all(instance):
    """Make every array that an instance holds, alone or in a tuple, read-only; unpickled ones are not."""
    for value in vars(instance).values():
        for part in value if isinstance(value, tuple) else (value,):
            if isinstance(part, np.ndarray):
                part.setflags(write=False)


def frozen(array):
    """`array`, made read-only: what a Joint or a Mechanism shows cannot be changed behind its figures."""
    array.setflags(write=False)
    return array


def check_confidence(confidence):
    confidence = number("confidence", confidence, 0.0, 1.0)
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence = {confidence!r} is not between 0 and 1")
    return confidence

"""Numbers as reports print them: bounds are rounded outward, estimates to nearest.

An upper bound is rounded up at the last digit shown and a lower bound down, in exact decimal arithmetic, so that what
is printed is never stronger than the figure behind it.
"""

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

N_DIGITS = 4
"""Significant digits of a figure."""

SMALLEST_FIXED = Decimal("1e-6")
"""Smaller figures are printed with an exponent."""

ALMOST_ALL = 1e-12
"""A share that is closer to one is printed as 100 %."""

_MODES = {"nearest": ROUND_HALF_EVEN, "up": ROUND_CEILING, "down": ROUND_FLOOR}


def figure(value, rounding="nearest"):
    """Return `value` with four significant digits; `rounding` is "nearest", "up" or "down", as in `Leakage`."""
    if value == math.inf:
        return "infinite"
    number = Context(N_DIGITS, _MODES[rounding]).create_decimal_from_float(float(value))
    if not number:
        return "0"
    if number < SMALLEST_FIXED:
        return f"{number:.{N_DIGITS - 1}e}"
    return f"{number:.{max(0, N_DIGITS - 1 - number.adjusted())}f}"


def factor(value, exponential="e^{}"):
    """Return e^value rounded up, with two digits after the point (four for a factor close to one)."""
    up = Context(50, ROUND_CEILING)
    exact = up.create_decimal_from_float(float(value))
    if exact > 13:
        return exponential.format(exact.quantize(Decimal("0.1"), ROUND_CEILING))
    digits = Decimal("0.01") if exact >= Decimal("0.1") else Decimal("0.0001")
    above = up.add(up.exp(exact), Decimal("1e-40")) if exact else Decimal(1)  # exp rounds to nearest, whatever the mode
    return str(above.quantize(digits, ROUND_CEILING))


def share(value, rounding="nearest", space=" "):
    """Return a share in per cent, with two digits after the point (two significant digits below 0.1 %)."""
    percent = 100 * Decimal(float(value))
    if 0 < percent < Decimal("0.0001"):
        return f"under{space}0.0001{space}%"
    if percent >= Decimal("99.995") and value < 1.0 - ALMOST_ALL and rounding == "nearest":
        return f"over{space}99.99{space}%"
    digits = 1 - percent.adjusted() if 0 < percent < Decimal("0.1") else 2
    return f"{percent.quantize(Decimal(1).scaleb(-digits), _MODES[rounding]):f}{space}%"


def level(confidence, space=" "):
    """Return a confidence level in per cent, exactly as it was given."""
    percent = (100 * Decimal(repr(float(confidence)))).normalize()
    return f"{percent:f}{space}%"

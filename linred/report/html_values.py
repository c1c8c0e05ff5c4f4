"""How numbers and labels are said on the page, and labels escaped.

Figures are rounded for reading, those of the sampled integers upwards; in full they are the `value` of the `<data>`
element around them.
"""

import html
import math
import re

SAME = 1e-12
"""Probabilities no farther apart are the same."""


def data(name, value, text):
    return f'<data data-figure="{name}" value="{float(value)!r}">{text}</data>'


def nats(value, up=False):
    """A figure for reading, rounded to nearest or up."""
    if value == math.inf:
        return "infinite"
    if 0.0 < value < 1e-6:
        return "0.000001" if up else "under 0.000001"
    if value == 0.0:
        return "0"
    return _rounded(value, 4 if value >= 0.001 else 2 - math.floor(math.log10(value)), up)


def unit(value):
    return "infinite" if value == math.inf else f"{nats(value)} nats"


def _rounded(value, digits, up):
    text = f"{value:.{digits}f}"
    return f"{float(text) + 10.0**-digits:.{digits}f}" if up and float(text) < value else text


def factor(value):
    """e^value, rounded up."""
    if value > 13.0:
        return f"e<sup>{_rounded(value, 1, up=True)}</sup>"
    return _rounded(math.exp(value), 2 if value >= 0.1 else 4, up=True)


def share(value):
    """A share for reading, in per cent, with three digits that count."""
    percent = 100.0 * float(value)
    if 0.0 < percent < 0.0001:
        return "under\u00a00.0001\u00a0%"
    if percent >= 99.95 and value < 1.0 - SAME:
        return "over\u00a099.9\u00a0%"
    digits = max(1, 2 - math.floor(math.log10(percent))) if percent else 0
    return f"{percent:.{digits}f}\u00a0%"


def count(value):
    return f"{value:,.0f}" if value >= 0.5 or value == 0.0 else "less than one"


def label(value, longest=32):
    """A label's text, the end left out where it is long; hovering shows it all."""
    text = _plain(value)
    if len(text) <= longest:
        return f"<bdi>{html.escape(text)}</bdi>"
    return f'<bdi title="{html.escape(text)}">{html.escape(text[: longest - 1])}…</bdi>'


def escaped(value):
    return html.escape(_plain(value))


def _plain(value):
    if isinstance(value, tuple):
        return " / ".join(map(_plain, value))
    text = "(missing)" if value is None else str(value) or "(empty)"
    return re.sub("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)

"""How the page writes numbers and labels: `linred.report.numbers` with the full double beside each, labels escaped.

A figure stands in a `<data>` element whose `value` has all digits.
"""

import html
import math
import re

from linred.report import numbers

EXPONENTIAL = "e<sup>{}</sup>"
SPACE = "\u00a0"


def data(name, value, text):
    return f'<data data-figure="{name}" value="{float(value)!r}">{text}</data>'


def nats(value, rounding="nearest"):
    """Return a figure for reading, without digits below 0.000001."""
    if 0.0 < value < 1e-6:
        return "0.000001" if rounding == "up" else "under 0.000001"
    return numbers.figure(value, rounding)


def unit(value):
    return "infinite" if value == math.inf else f"{nats(value)} nats"


def factor(value):
    """Return e^value, rounded up."""
    return numbers.factor(value, EXPONENTIAL)


def share(value, rounding="nearest"):
    """Return a share in per cent."""
    return numbers.share(value, rounding, SPACE)


def level(confidence):
    """Return a confidence level in per cent."""
    return numbers.level(confidence, SPACE)


def count(value):
    return f"{value:,.0f}" if value >= 0.5 or value == 0.0 else "less than one"


def label(value, longest=32):
    """Return a label's text, shortened if it is long; hovering shows all of it."""
    text = _plain(value)
    if len(text) <= longest:
        return f"<bdi>{html.escape(text)}</bdi>"
    return f'<bdi title="{html.escape(text)}">{html.escape(text[: longest - 1])}…</bdi>'


def name(column):
    """Return the whole name of a column, escaped."""
    return f"<bdi>{escaped(column)}</bdi>"


def escaped(value):
    return html.escape(_plain(value))


def without_markup(text):
    """Return the text of a piece of HTML as the value of an attribute."""
    return html.escape(html.unescape(re.sub("<[^>]*>", "", text)))


def _plain(value):
    if isinstance(value, tuple):
        return " / ".join(map(_plain, value))
    text = "(missing)" if value is None else str(value) or "(empty)"
    return re.sub("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]", "\ufffd", text)

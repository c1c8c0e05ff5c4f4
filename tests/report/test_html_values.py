"""Numbers and labels on the page: estimates to nearest, bounds rounded up, labels escaped."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

import linred
from linred.columns.schema import ColumnSpec, FitSchema, Leak
from linred.report.html import page
from support.pages import Parsed

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</svg></table>", "a & b", "{s}%s{0}", "'x'"]
LONG = '" onmouseover="alert(1)" ' + "x" * 40


def test_what_is_read_is_the_figure_rounded_and_bounds_upwards(shown):
    """Compared as exact fractions."""
    _, _, parsed = shown
    for name, ((value, text), *_) in parsed.figures.items():
        part, read = name.partition(".")[0], text.replace(",", "")
        if part not in ("before", "after", "sampled"):
            continue
        if value == math.inf or read.startswith("under"):
            assert read == ("infinite" if value == math.inf else "under 0.000001")
            assert value == math.inf or 0.0 < value < 1e-6
            continue
        off, last_digit = Fraction(read) - Fraction(value), Fraction(last_of(read))
        assert 0 <= off < max(last_digit, Fraction(1, 10**6)) if part == "sampled" else abs(off) <= last_digit / 2


def last_of(read):
    """The value of one unit in the last digit."""
    return Decimal(1).scaleb(Decimal(read).as_tuple().exponent)


def test_labels_are_escaped_in_every_place():
    counts = np.random.default_rng(0).integers(1, 50, (7, 7))
    both = [*"abcdef", "y" * 65], [*HOSTILE, LONG]
    plain, hostile = (linred.Joint.from_counts(counts, labels, labels) for labels in both)
    pages = []
    for joint, name in ((plain, "n"), (hostile, HOSTILE[1])):
        mechanism = linred.optimal(joint, ldp=0.2)
        leak = Leak(name, 3, 0.1, 0.0, 0.5, False)
        mechanism = mechanism.replace(
            fitted=FitSchema((ColumnSpec(name),), (ColumnSpec(name + "2", (1.0,)),), leaks=(leak,), scanned=True)
        )
        pages.append(page(mechanism))
    benign, attacked = map(Parsed, pages)
    assert attacked.tags == benign.tags
    assert {name for name, _ in attacked.attributes} == {name for name, _ in benign.attributes}
    for label in HOSTILE:
        assert [row for row in attacked.rows if label in row], label
    assert ("title", LONG) in attacked.attributes
    assert f"Publishing {HOSTILE[1]}2, protecting {HOSTILE[1]}" in attacked.words


def test_labels_of_all_kinds_can_be_read():
    labels = [None, ("a", None, 3), "", 7, "x" * 90, "nul\x00 and \ud800", "עברית", "👩‍👧"]
    joint = linred.Joint.from_counts(np.random.default_rng(0).integers(1, 50, (2, 8)), None, labels)
    text = page(linred.optimal(joint, ldp=0.1))
    text.encode()
    first_cells = {row[0] for row in Parsed(text).rows}
    shown = {"(missing)", "a / (missing) / 3", "(empty)", "7", "x" * 31 + "…", "nul\ufffd and \ufffd", "עברית", "👩‍👧"}
    assert shown <= first_cells
    assert ("title", "x" * 90) in Parsed(text).attributes

"""Numbers of reports: bounds are rounded outward, in exact arithmetic, estimates to nearest."""

import math
import re
from decimal import Decimal
from fractions import Fraction

import hypothesis
import pytest
from hypothesis import strategies

import linred
from linred.assurance.audit import Audit
from linred.mechanism.provenance import FITTED, Certified
from linred.privacy.leakage import FIGURES, Leakage
from linred.report import numbers
from support.joints import example_1

FIGURE = strategies.floats(0.0, 1e6)


@hypothesis.given(FIGURE)
def test_bounds_are_rounded_outward_and_estimates_to_nearest(value):
    exact = Fraction(value)
    up, down, near = (Fraction(Decimal(numbers.figure(value, way))) for way in ("up", "down", "nearest"))
    assert down <= exact <= up
    assert near in (up, down)
    assert abs(near - exact) <= min(up - exact, exact - down)
    assert up - down <= exact / 1000
    digits = re.sub("e.*", "", numbers.figure(value)).replace(".", "").lstrip("0")
    assert value == 0.0 or len(digits) == 4 or (value >= 10_000 and len(digits) > 4)


def test_a_certified_figure_is_not_printed_below_the_truth():
    assert numbers.figure(0.462117, "up") == "0.4622"
    assert numbers.figure(0.462117, "nearest") == "0.4621"
    assert numbers.figure(math.inf, "up") == "infinite"
    assert numbers.figure(0.0, "up") == "0"


@hypothesis.given(strategies.floats(0.0, 12.0))
def test_a_factor_is_rounded_up(value):
    read = Fraction(Decimal(numbers.factor(value)))
    below = sum((Fraction(value) ** k / math.factorial(k) for k in range(80)), Fraction(0))  # e^value to 1e-30
    assert bool(below <= read)
    assert bool(read < below + Fraction(1, 100 if value >= 0.1 else 10_000) + Fraction(1, 10**25))


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (0.008364, "0.84 %"),
        (0.9028, "90.28 %"),
        (0.000743, "0.074 %"),
        (1e-9, "under 0.0001 %"),
        (0.999999, "over 99.99 %"),
        (1.0, "100.00 %"),
        (0.0, "0.00 %"),
    ],
)
def test_shares(value, read):
    assert numbers.share(value) == read


def test_levels_are_exact():
    assert [numbers.level(level) for level in (0.95, 0.5, 0.9995)] == ["95 %", "50 %", "99.95 %"]


def printed(text, n_columns):
    """{figure: numbers of its row} of a table."""
    rows = {}
    for label in FIGURES.values():
        (cells,) = re.findall(rf"^  {label} +(.*)$", text, re.MULTILINE)
        rows[label] = [Fraction(cell) for cell in cells.split()]
        assert len(rows[label]) == n_columns
    return rows


ODD_FIGURES = Leakage(0.462117157, 1.00001, 0.2500001, 2.99999999, 0.0123456, 0.99995)


def test_text_of_certificates_is_rounded_up():
    certificate = linred.optimal(example_1(), ldp=0.7).sampler().certificate()
    for (up,), figure in zip(printed(str(certificate), 1).values(), certificate, strict=True):
        assert Fraction(figure) <= up <= Fraction(figure) * Fraction(1001, 1000)
    certified = Certified(*ODD_FIGURES, 0.95, FITTED, 10, True, "a reason", ODD_FIGURES, ODD_FIGURES)
    for ups, figure in zip(printed(str(certified), 3).values(), ODD_FIGURES, strict=True):
        assert all(Fraction(figure) <= up <= Fraction(figure) * Fraction(1001, 1000) for up in ups)


def test_text_of_audits_is_rounded_down_and_claims_up():
    audit = Audit(*ODD_FIGURES, 0.95, 10, None, ODD_FIGURES, False, None, (), ())
    for (low, high), figure in zip(printed(str(audit), 2).values(), ODD_FIGURES, strict=True):
        assert Fraction(figure) * Fraction(999, 1000) <= low <= Fraction(figure) <= high


def test_the_promise_and_the_sampling_tables_are_rounded_up(linred_command):
    for target in (0.3, 0.462117157, 1.0):
        mechanism = linred.optimal(example_1(), ldp=target)
        (bound,) = re.findall(r"\(LDP at most\s+([\d.]+)", str(mechanism.report()))
        assert Fraction(mechanism.report().after.ldp) <= Fraction(bound)

"""The page: its numbers against the mechanism's, its markup, its words, the curves of its chart."""

import re
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest

import linred
from linred.columns.schema import Leak
from linred.mechanism.summary import largest_moves
from linred.privacy.leakage import FIGURES
from linred.report.html import page
from support.joints import adult, example_1
from support.pages import ODD, Parsed, fitted, made


def test_figures_are_those_of_the_report_and_of_the_certificate(shown):
    mechanism, _, parsed = shown
    report, certificate = mechanism.report(), mechanism.sampler().certificate()
    for part, figures in (("before", report.before), ("after", report.after), ("sampled", certificate)):
        for name in FIGURES:
            assert parsed.figure(f"{part}.{name}")[0] == getattr(figures, name), (part, name)
    for name, value in report.utility._asdict().items():
        if value is not None:
            assert parsed.figure(f"utility.{name}")[0] == value, name
    assert ("utility.expected_distortion" in parsed.figures) == (mechanism.distortion is not None)
    assert parsed.figure("gap")[0] == mechanism.gap
    if mechanism.joint.n_records is None:
        assert "changed" not in parsed.figures
    else:
        assert parsed.figure("changed")[0] == mechanism.joint.n_records * mechanism.dtv()


def test_markup_is_well_formed_and_fetches_nothing(shown):
    _, text, parsed = shown
    assert text.startswith("<!doctype html>")
    assert not parsed.tags & {"script", "img", "link", "iframe", "object", "embed", "image", "use", "a", "form", "base"}
    assert not [name for name, _ in parsed.attributes if name.startswith("on") or name in ("src", "href", "style")]
    for part in ("http://", "https://", "url(", "@import", "javascript:", "//cdn"):
        assert part not in text
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in parsed.attributes
    for picture in re.findall(r"<svg.*?</svg>", text, re.DOTALL):
        root = ElementTree.fromstring(picture)
        assert root.get("aria-hidden") == "true" or {"title", "desc"} <= {child.tag for child in root}
        values = " ".join(value for element in root.iter() for value in element.attrib.values())
        assert not re.search(r"\b(nan|inf)\b|[\d.]e[-+]", values)


def test_the_largest_moves_are_on_the_page(shown):
    mechanism, _, parsed = shown
    moves = largest_moves(mechanism, 15)
    if not moves:
        assert mechanism.dtv() == 0.0
        assert "No record is changed." in parsed.words
    else:
        assert parsed.shares("move") == [move.share for move in moves]


def test_marginals(shown):
    mechanism, _, parsed = shown
    p_x, p_y = mechanism.joint.p_x, mechanism.p_y
    order = np.argsort(-np.maximum(p_x, p_y), kind="stable")[:20]
    assert parsed.shares("p_x") == p_x[order].tolist()
    assert parsed.shares("p_y") == p_y[order].tolist()
    same = np.abs(p_x - p_y).max() <= 1e-12
    assert ("The distribution of Y is the same as that of X" in parsed.words) == same
    assert ("The distribution of Y is not that of X" in parsed.words) == (not same)
    others = [row[2:] for row in parsed.rows if "others together" in row[0]]
    assert len(others) == (p_x.size > 21)
    for texts in others:
        rest = [100.0 * (1.0 - p[order].sum()) for p in (p_x, p_y)]
        assert texts == [f"{percent:.1f}\u00a0%" for percent in rest]


def test_the_page_is_the_same_for_the_same_mechanism():
    assert page(ODD["fitted"]()) == made("fitted")[1]


def test_the_headline_says_what_how_private_and_at_what_cost():
    words = " ".join(Parsed(made("fitted")[1]).words.split())
    assert "Publishing job and age, protecting marital" in words
    assert "by a factor of 2.72 at most (LDP at most 1.0000 nats; unprotected it is infinite)" in words
    assert (
        "0.836 % of the records, about 409 of 48,842, are changed; the distribution of job and age stays the same"
        in words
    )
    assert "LDP at most 1.0 nats: met by the integers" in words
    assert "age in 3 bins" in words


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (
            "log-lift",
            "makes no value of S likelier or less likely by more than a factor of 1.35 (log-lift at most 0.3000",
        ),
        ("ldp 0", "tells nothing about S (LDP 0 nats; unprotected it is infinite)"),
        ("ldp 0", "This mechanism draws y whatever s and x are"),
        ("alpha 0", "rule out a value of S altogether (LDP is infinite). No record is changed"),
        ("alpha 0", "This mechanism is off the chart"),
        ("one symbol", "there is nothing to trade"),
        ("one group", "there is nothing to trade"),
        ("no target", "none was set"),
        ("no target", "given as a distribution"),
        ("x alone", "x alone: s is not needed"),
        ("big", "380 others together"),
        ("big", "The curve of the optimum is left out"),
        ("free marginal", "The curves keep the distribution of X; this mechanism does not"),
        ("distortion", "made for the least distortion"),
        ("both targets", "meets a log-lift target as well"),
        ("optimal", "were not looked at"),
        ("never occurring", "5 of the 9 pairs (s, x) do not occur"),
        ("both targets", "All 8 pairs (s, x) occur"),
    ],
)
def test_odd_mechanisms_are_told_apart(odd, said):
    words = " ".join(Parsed(made(odd)[1]).words.split())
    assert said in words


def test_a_target_that_is_not_met_is_told():
    mechanism = linred.markov(example_1(), 0.5)
    mechanism = mechanism.replace(target=linred.optimal(example_1(), ldp=0.1).target)
    assert "LDP at most 0.1 nats: NOT met by the integers" in Parsed(page(mechanism)).words


def test_other_columns_that_tell_more_are_marked():
    leaks = [
        Leak("noise", 90, 0.06, 0.04, 0.46, False),  # more than Y, which tells 0.045, but mostly by chance
        Leak("age", 74, 0.35, 0.005, 0.612, True),
        *(Leak(f"harmless{i}", 3, 0.01, 0.0, 0.46, False) for i in range(40)),
    ]
    parsed = Parsed(page(fitted(linred.optimal(adult(), ldp=1.0), *leaks)))
    rows = {row[0]: row[1:] for row in parsed.rows}
    assert rows["age tells more than Y"] == ["74", "at least 0.3500", "0.0050", "61.2\u00a0%"]
    assert rows["noise"] == ["90", "0.0600", "0.0400", "46.0\u00a0%"]
    assert "beyond chance: 1 of 42." in " ".join(parsed.words.split())
    assert "12 that tell less are left out" in parsed.words
    assert len(parsed.figures["leak"]) == 30
    assert f"right for {100 * adult().p_s.max():.1f}\u00a0% of the records" in parsed.words


def test_a_curve_that_cannot_be_built_is_left_out(monkeypatch):
    def failing(joint, mechanisms, **points):
        if mechanisms == ["optimal"]:
            raise ValueError("not today")
        return linred.tradeoff(joint, mechanisms=mechanisms, **points)

    monkeypatch.setattr("linred.report.html.tradeoff", failing)
    text = page(linred.optimal(example_1(), ldp=1.0))
    assert "A curve is left out" in text
    assert 'class="line optimal"' not in text
    assert 'class="line markov"' in text


def test_a_curve_that_is_not_optimal_does_not_warn(monkeypatch):
    def warning(joint, **arguments):
        warnings.warn("time is over", linred.NotOptimalWarning, stacklevel=1)
        return linred.tradeoff(joint, **arguments)

    monkeypatch.setattr("linred.report.html.tradeoff", warning)
    assert 'class="line optimal"' in page(linred.optimal(example_1(), ldp=1.0))


def test_something_else():
    with pytest.raises(TypeError, match=r"mechanism is a linred\.Joint, not a linred\.Mechanism"):
        page(example_1())

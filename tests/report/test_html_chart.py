"""The chart of the page: the place of the mechanism, curves, and names beside their lines."""

import functools
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import linred
from support.pages import ODD, made

LETTER = 8.5  # how wide a letter of a chart is on a narrow screen, where letters are largest


def chart(text):
    """The chart's SVG, and functions from its units to figures and to shares, read off its ticks."""
    root = ElementTree.fromstring(re.search(r"<svg viewBox.*?</svg>", text, re.DOTALL).group())
    ticks = [(tick, tick.text.replace(" %", "")) for tick in root.iter("text") if tick.get("class") == "tick"]
    across = [(float(tick.get("x")), float(text)) for tick, text in ticks if "%" not in tick.text]
    up = [(float(tick.get("y")), float(text) / 100.0) for tick, text in ticks if "%" in tick.text]
    assert len(across) > 2
    assert len(up) > 2
    logarithmic = any("logarithmic" in text for text in root.itertext())
    shares = np.log([share for _, share in up]) if logarithmic else np.array([share for _, share in up])
    to_figure = np.polynomial.Polynomial.fit(*np.array(across).T, 1)
    to_scale = np.polynomial.Polynomial.fit([y for y, _ in up], shares, 1)
    return root, to_figure, (lambda y: np.exp(to_scale(y))) if logarithmic else to_scale


@pytest.mark.parametrize(
    "odd", ["optimal", "both targets", "log-lift", "no target", "ldp 0", "k_rr", "big", "distortion"]
)
def test_the_mechanism_is_marked_where_it_is(odd):
    mechanism, text = made(odd)
    root, to_figure, to_share = chart(text)
    (mark,) = root.iter("circle")
    after = mechanism.report().after
    own = after.log_lift if odd == "log-lift" else after.ldp
    assert to_figure(float(mark.get("cx"))) == pytest.approx(own, abs=0.005 * max(1.0, own))
    assert to_share(float(mark.get("cy"))) == pytest.approx(mechanism.dtv(), rel=0.01, abs=0.002)


@pytest.mark.parametrize("odd", ["optimal", "no target"])
def test_curves_are_those_of_tradeoff(odd):
    mechanism, text = made(odd)
    root, to_figure, to_share = chart(text)
    lines = {line.get("class").split()[1]: line.get("points").split() for line in root.iter("polyline")}
    assert list(lines) == ["markov", "non_markov", "optimal"]
    for label, points in lines.items():
        drawn = np.array([[float(number) for number in point.split(",")] for point in points])
        asked = to_figure(drawn[3:12:4, 0])
        expected = linred.tradeoff(mechanism.joint, ldp=asked, mechanisms=[label])[label]["dtv"]
        np.testing.assert_allclose(to_share(drawn[3:12:4, 1]), expected, rtol=0.03, atol=1e-4)


@pytest.mark.parametrize("odd", [odd for odd in ODD if not odd.startswith("one ")])
def test_names_in_the_chart_are_apart_and_inside(odd):
    root, *_ = chart(made(odd)[1])
    names = [text for text in root.iter("text") if text.get("class", "").startswith("name")]
    halves = [0.5 * LETTER * len(name.text) for name in names]
    boxes = [(float(name.get("x")), float(name.get("y")), half) for name, half in zip(names, halves, strict=True)]
    assert names[0].text.startswith("this mechanism")
    assert len(names) >= len(list(root.iter("polyline")))  # at most one line has no name of its own beside it
    frame = next(root.iter("line"))
    for i, (x, y, half) in enumerate(boxes):
        assert x - half >= float(frame.get("x1"))
        assert x + half <= float(frame.get("x2"))
        assert all(abs(x - u) > half + w or abs(y - v) > 13.0 for u, v, w in boxes[:i])


@pytest.mark.parametrize("odd", ["optimal", "ldp 0", "alpha 0", "watchdog", "x alone"])
def test_a_name_is_nearest_to_its_own_line(odd):
    root, *_ = chart(made(odd)[1])
    lines = {line.get("class").split()[1]: line.get("points").split() for line in root.iter("polyline")}
    names = {text.get("class").split()[1]: text for text in root.iter("text") if "name" in text.get("class", "")}
    assert {"own", "markov", "non_markov"} <= names.keys()
    heights = {}
    for label, points in lines.items():
        x, y = np.array([[float(number) for number in point.split(",")] for point in points]).T
        heights[label] = functools.partial(np.interp, xp=x, fp=y)
    for label in names.keys() - {"own"}:
        x, y = (float(names[label].get(axis)) for axis in "xy")
        assert min(heights, key=lambda other: abs(heights[other](x) - y)) == label

"""The page: its numbers against the mechanism's, its markup, its words, the curves of its chart."""

import functools
import math
import re
import warnings
from html.parser import HTMLParser
from xml.etree import ElementTree

import numpy as np
import pytest

import linred
from linred.columns.schema import ColumnSpec, FitSchema, Leak
from linred.mechanism.summary import largest_moves
from linred.privacy.leakage import FIGURES
from linred.report.html import page
from support.joints import adult, example_1, random_joint

VOID = {"meta", "br", "hr", "img", "link", "input"}
HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</svg></table>", "a & b", "{s}%s{0}", "'x'"]
LONG = '" onmouseover="alert(1)" ' + "x" * 40
LETTER = 8.5  # how wide a letter of a chart is on a narrow screen, where letters are largest
STEPS = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))


class Parsed(HTMLParser):
    """Tags that are closed as they were opened, the text of tables and lists, and the figures."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.figures = [], set(), [], {}
        self.rows, self.words = [], ""
        self.feed(text)
        self.close()
        assert self.open == [], f"not closed: {self.open}"

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        if tag == "data":
            given = dict(attributes)
            self.figures.setdefault(given["data-figure"], []).append((float(given["value"]), ""))

    def handle_startendtag(self, tag, attributes):
        self.tags.add(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, text):
        if "style" not in self.open:
            self.words += text
        if "td" in self.open or "th" in self.open:
            self.rows[-1][-1] += text
        if "data" in self.open:
            name = dict(self.attributes[-2:])["data-figure"]
            value, before = self.figures[name][-1]
            self.figures[name][-1] = value, before + text

    def figure(self, name):
        """The only one of its name: (value, text)."""
        (one,) = self.figures[name]
        return one

    def shares(self, name):
        return [value for value, _ in self.figures[name]]


def fitted(mechanism, *leaks, scanned=True, **about):
    mechanism = mechanism.replace(
        fitted=FitSchema(
            (ColumnSpec("marital"),),
            (ColumnSpec("job"), ColumnSpec("age", (30.0, 50.0))),
            leaks=leaks,
            scanned=scanned,
            **about,
        )
    )
    return mechanism


ODD = {
    "optimal": lambda: linred.optimal(adult(), ldp=1.0),
    "fitted": lambda: fitted(linred.optimal(adult(), ldp=1.0), Leak("age", 74, 0.35, 0.005, 0.6, True)),
    "log-lift": lambda: linred.optimal(adult(), log_lift=0.3),
    "both targets": lambda: linred.optimal(example_1(), ldp=1.0, log_lift=0.4),
    "no target": lambda: linred.markov(example_1(), 0.5),
    "alpha 0": lambda: linred.non_markov(adult(), 0.0),
    "alpha 0, finite": lambda: linred.markov(example_1(), 0.0),
    "alpha 1": lambda: linred.non_markov(example_1(), 1.0),
    "ldp 0": lambda: linred.optimal(adult(), ldp=0.0),
    "tiny target": lambda: linred.non_markov(example_1(), ldp=1e-7),
    "large target": lambda: linred.optimal(adult(), ldp=20.0),
    "x alone": lambda: linred.optimal(adult(), ldp=1.0, sees_s=False),
    "free marginal": lambda: linred.optimal(example_1(), ldp=0.5, keep_marginal=False),
    "distortion": lambda: linred.optimal(example_1(), ldp=0.5, distortion=STEPS),
    "k_rr": lambda: linred.baselines.k_rr(adult(), ldp=1.0),
    "watchdog": lambda: linred.baselines.watchdog(adult(), ldp=1.0),
    "one symbol": lambda: linred.markov(linred.Joint([[0.5], [0.5]]), 0.3),
    "one group": lambda: linred.markov(linred.Joint([[0.5, 0.5]]), 0.3),
    "never occurring": lambda: linred.optimal(linred.Joint.from_counts([[0, 3, 1], [0, 1, 2], [0, 0, 0]]), ldp=0.5),
    "infinite after": lambda: linred.markov(linred.Joint([[0.5, 0.0], [0.0, 0.5]]), 0.0),
    "big": lambda: linred.selective(random_joint(np.random.default_rng(1), 40, 400), ldp=1.0),
}


@functools.cache
def made(odd):
    """(mechanism, its page)."""
    mechanism = ODD[odd]()
    return mechanism, page(mechanism)


@pytest.fixture(params=ODD)
def shown(request):
    """(mechanism, its page, the page parsed)."""
    mechanism, text = made(request.param)
    return mechanism, text, Parsed(text)


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


def test_what_is_read_is_the_figure_rounded_and_bounds_upwards(shown):
    _, _, parsed = shown
    for name, ((value, text), *_) in parsed.figures.items():
        part, read = name.partition(".")[0], text.replace(",", "").replace("\u00a0", " ")
        if part not in ("before", "after", "sampled"):
            continue
        if value == math.inf or read.startswith("under"):
            assert read == ("infinite" if value == math.inf else "under 0.000001")
            assert value == math.inf or 0.0 < value < 1e-6
        elif part == "sampled":
            assert value <= float(read) <= value + 1.0001e-4
        else:
            assert float(read) == pytest.approx(value, rel=6e-3, abs=5.1e-5)


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
    with pytest.raises(TypeError, match=r"mechanism is a Joint, not a linred\.Mechanism"):
        page(example_1())

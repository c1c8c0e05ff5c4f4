"""The page: its numbers against the mechanism's, its markup, its opening, the release that it describes."""

import csv
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import linred
from linred.columns.schema import Leak
from linred.mechanism.summary import largest_moves
from linred.privacy.leakage import FIGURES
from linred.report import numbers
from linred.report.html import page
from support.commands import ADULT, ASKED, PAIR, TARGET, fit, text_of
from support.joints import adult, example_1
from support.pages import Parsed, fitted, made


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
    assert ("The distribution of Y equals that of X" in parsed.words) == same
    assert ("The distribution of Y differs from that of X" in parsed.words) == (not same)
    others = [row[2:] for row in parsed.rows if "others together" in row[0]]
    assert len(others) == (p_x.size > 21)
    for texts in others:
        rest = [100.0 * (1.0 - p[order].sum()) for p in (p_x, p_y)]
        assert texts == [f"{percent:.2f}\u00a0%" for percent in rest]


def test_the_page_is_the_same_for_the_same_mechanism():
    mechanism, text = made("fitted")
    assert page(mechanism) == text
    assert text.rstrip().endswith(f"Mechanism {mechanism.id}</footer>\n</body>\n</html>")


def said_by(text):
    return " ".join(Parsed(text).words.split())


def test_the_opening_is_the_promise_what_weakens_it_and_its_price():
    text = made("fitted")[1]
    opening = [
        "Plug-in estimate, not a guarantee: if the population is distributed as the fitted data, someone who knows the "
        "mechanism and P(S, X), and sees only the published job and age (Y) of one record, can shift the odds between "
        "any two values of marital (S) by a factor of at most 2.72 (LDP at most 1.000 nats; without protection: "
        "infinite).",
        "What weakens this",
        "No figure is certified",
        "An attacker who already knows X may rule out values of S from Y, because this mechanism uses S when it "
        "samples (LDP for someone who knows X is infinite).",
        "Changed records (expected): 0.84 % (409 of 48,842); the distribution of job and age stays the same.",
    ]
    words = said_by(text)
    places = [words.index(one) for one in opening]
    assert places == sorted(places)
    assert words[: places[0]].split("}")[-1].endswith("Publishing job and age, protecting marital")
    assert "LDP at most 1.0 nats: met, also after rounding to the integer probabilities" in words
    assert "age in 3 bins" in words


@pytest.fixture(scope="module")
def certain():
    """A mechanism with certified figures, which change more records than the optimum would."""
    joint = linred.Joint.from_counts(adult().counts, adult().s_labels, adult().x_labels)
    return linred.optimal(joint, ldp=1.0, confidence=0.95)


def test_the_page_of_a_certified_mechanism_does_not_contradict_itself(certain):
    words = said_by(page(certain))
    assert "Certified at 95 % confidence: someone who knows" in words
    assert "Plug-in estimate, not a guarantee" not in words
    factors = re.findall(r"a factor of at most (\d+\.\d+)", words)
    assert len(factors) > 2
    certified = {numbers.factor(figure) for figure in certain.certified}
    assert set(factors) <= certified, "the sampled tables allow less, but only for the fitted distribution"
    assert "2.72" in factors
    assert certain.name == "optimal"


@pytest.mark.parametrize("columns", ["education", "relationship,age", "income,education,sex"])
def test_the_columns_named_as_published_are_those_of_the_file_that_was_written(linred_command, columns):
    done = linred_command("run", ADULT, *ASKED, "-o", "out.csv", "--columns", columns, "--html", "page.html")
    with open("out.csv") as file:
        header = next(csv.reader(file))
    text = text_of("page.html")
    (named,) = re.findall("<dt>Published columns</dt><dd>(.*?)</dd>", text)
    assert re.findall("<bdi>(.*?)</bdi>", named) == header
    rows = {row[0].removesuffix(" reveals more about S than the published column"): row for row in Parsed(text).rows}
    assert {name for name, row in rows.items() if row[1:2] == ["yes"]} | {PAIR[1]} == set(header)
    assert {name for name, row in rows.items() if row[1:2] == ["no"]} & set(header) == set()
    assert "published" in rows["column"]
    (line,) = re.findall(r"Published columns: (.*)", done.out)
    assert line.replace(" (randomised, Y)", "").split(", ") == header
    listed = done.out.partition("Other columns of the input")[2].partition("Assumptions")[0]
    said = {row.split()[0]: row.split()[1] for row in listed.splitlines() if re.match(r"  \w+ +(yes|no) ", row)}
    assert {name for name, published in said.items() if published == "yes"} | {PAIR[1]} == set(header)


def test_without_a_release_the_page_says_so(linred_command):
    fit(linred_command, ADULT, *PAIR, *TARGET)
    linred_command("report", "mechanism.json", "--html", "page.html")
    words = said_by(text_of("page.html"))
    assert "this page describes no release" in words
    assert "it cannot say which columns are published" in words
    assert "This report describes no release" in linred_command("report", "mechanism.json").out


def test_published_columns_that_were_not_measured_are_named():
    mechanism = made("fitted")[0]
    words = said_by(page(mechanism, published=("job", "age", "marital", "hobby"), seeded=True))
    assert "Published, but not measured: hobby." in words
    assert "The release contains sensitive columns unchanged: marital. It does not protect them." in words
    assert "The release was drawn with a seed" in words


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        (
            "log-lift",
            "can raise or lower the probability of any value of S, compared with P(S), by a factor of at most 1.35 "
            "(log-lift at most 0.3000",
        ),
        ("ldp 0", "learns nothing about S (LDP is 0; without protection: infinite)"),
        ("independent", "This mechanism draws y independently of s and x"),
        ("alpha 0", "may be able to rule out a value of S (LDP has no finite bound)"),
        ("alpha 0", "This mechanism is off the chart"),
        ("one symbol", "there is nothing to trade off"),
        ("one group", "there is nothing to trade off"),
        ("no target", "none was set"),
        ("no target", "If P(S, X) is exactly as given, someone"),
        ("x alone", "needs only the public column: it does not use S"),
        ("big", "380 others together"),
        ("big", "The curve of the optimum is omitted"),
        ("free marginal", "The curves keep the distribution of X; this mechanism does not"),
        ("distortion", "This mechanism minimises distortion"),
        ("both targets", "has limits that the curves do not have: they are for LDP alone"),
        ("optimal", "were not measured"),
        ("never occurring", "5 of the 9 pairs (s, x) do not occur"),
        ("both targets", "All 8 pairs (s, x) occur"),
    ],
)
def test_odd_mechanisms_are_described(odd, said):
    words = " ".join(Parsed(made(odd)[1]).words.split())
    assert said in words


def test_a_target_that_is_not_met_is_reported():
    mechanism = linred.markov(example_1(), 0.5)
    mechanism = mechanism.replace(target=linred.optimal(example_1(), ldp=0.1).target)
    assert "LDP at most 0.1 nats: NOT met after rounding" in Parsed(page(mechanism)).words


def test_other_columns_that_reveal_more_are_marked():
    leaks = [
        Leak("noise", 90, 0.06, 0.04, 0.46, False),  # more than Y, which tells 0.045, but mostly by chance
        Leak("age", 74, 0.35, 0.005, 0.612, True),
        *(Leak(f"harmless{i}", 3, 0.01, 0.0, 0.46, False) for i in range(40)),
    ]
    parsed = Parsed(page(fitted(linred.optimal(adult(), ldp=1.0), *leaks)))
    rows = {row[0]: row[1:] for row in parsed.rows}
    assert rows["age reveals more about S than the published column"] == [
        "74",
        "at least 0.3499",
        "0.005000",
        "61.20\u00a0%",
    ]
    assert rows["noise"] == ["90", "0.06000", "0.04000", "46.00\u00a0%"]
    assert "after subtracting what is expected by chance: 1 of 42." in " ".join(parsed.words.split())
    assert "12 columns that reveal less are omitted" in " ".join(parsed.words.split())
    assert len(parsed.figures["leak"]) == 30
    assert f"right for {100 * adult().p_s.max():.2f}\u00a0%" in parsed.words


def test_something_else():
    with pytest.raises(TypeError, match=r"mechanism is a linred\.Joint, not a linred\.Mechanism"):
        page(example_1())


def test_the_page_of_a_certified_mechanism_says_that_unseen_pairs_are_covered(certain):
    words = said_by(page(certain))
    assert "have a distribution of their own, which the certified figures cover" in words
    assert "a value drawn from the distribution of Y." not in words

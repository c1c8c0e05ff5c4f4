"""Report pages of unusual mechanisms, and a parser for their content."""

import functools
from html.parser import HTMLParser

import numpy as np

import linred
from linred.columns.schema import ColumnSpec, FitSchema, Leak
from linred.report.html import page
from support.joints import adult, example_1, random_joint

VOID = {"meta", "br", "hr", "img", "link", "input"}
STEPS = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))


class Parsed(HTMLParser):
    """Collects the text of tables and lists and the figures, and checks that tags are closed in order."""

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
        """Return (value, text) of the only figure with this name."""
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
    "alpha 1 of Lemma 1": lambda: linred.markov(adult(), 1.0),
    "alpha 1": lambda: linred.non_markov(example_1(), 1.0),
    "independent": lambda: linred.markov(adult(), 1.0),
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
    """Return (mechanism, page)."""
    mechanism = ODD[odd]()
    return mechanism, page(mechanism)

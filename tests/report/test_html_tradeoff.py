"""The curves of the page: what they claim, and what happens if one cannot be built."""

import warnings

import numpy as np
import pytest

import linred
from linred.report import html_tradeoff
from linred.report.html import page
from linred.report.html_values import share
from support.joints import example_1
from support.target_reports import TARGETS
from support.target_reports import made as made_for

PLANES = {
    "ldp": "LDP",
    "log_lift": "log-lift",
    "max_lift": "max-lift",
    "min_lift": "min-lift",
    "dp": "DP between neighbours",
    "secrets": "LDP of the secrets",
    "pairs": "LDP",
    "given_x": "LDP",
    "max_changed_by_s": "LDP",
    "both lifts": "log-lift",
    "max_lift, dp and a secret": "max-lift",
}


@pytest.mark.parametrize("name", PLANES)
def test_the_curves_are_for_the_measure_of_the_promise(name):
    case = made_for(name, "counts")
    parsed = case.page()
    assert f"Share of changed records against {PLANES[name]} of S to Y" in parsed.words
    assert ("they are for" in parsed.words) == (name not in list(PLANES)[:6])
    for kind in ("markov", "non_markov", "optimal"):
        assert ("class", f"line {kind}") in parsed.attributes


@pytest.mark.parametrize("name", ["ldp", "log_lift", "max_lift", "min_lift", "dp", "secrets"])
def test_the_curve_of_the_optimum_passes_through_an_optimum(name):
    mechanism, (limit, *_) = made_for(name, "counts").mechanism, TARGETS[name].values()
    (row,) = (row for row in made_for(name, "counts").page().rows if len(row) == 4 and row[0] == f"{limit:.4g}")
    assert row[-1] == share(mechanism.dtv())


def test_the_curve_of_the_optimum_is_omitted_where_it_takes_long(monkeypatch):
    monkeypatch.setattr(html_tradeoff, "ROWS_CELLS", 5)
    neighbors = np.ones((2, 2), bool) & ~np.eye(2, dtype=bool)
    large, small = (
        page(linred.optimal(example_1(), ldp=1.0)),
        page(linred.optimal(example_1(), dp=1.0, neighbors=neighbors)),
    )
    assert 'class="line optimal"' in large
    assert 'class="line optimal"' not in small
    assert "The curve of the optimum is omitted" in small


def test_the_curve_of_the_optimum_is_claimed_only_among_mechanisms_that_keep_the_distribution_of_x():
    keeping, free = (linred.optimal(example_1(), ldp=1.0, keep_marginal=keep) for keep in (True, False))
    assert free.dtv() < keeping.dtv() - 1e-3
    assert "changes the fewest records that any mechanism with the same distribution of X can" in page(keeping)


def test_a_curve_that_cannot_be_built_is_left_out(monkeypatch):
    def failing(joint, mechanisms, **points):
        if mechanisms == ["optimal"]:
            raise ValueError("not today")
        return linred.tradeoff(joint, mechanisms=mechanisms, **points)

    monkeypatch.setattr("linred.report.html_tradeoff.curves_of", failing)
    text = page(linred.optimal(example_1(), ldp=1.0))
    assert "A curve is omitted" in text
    assert 'class="line optimal"' not in text
    assert 'class="line markov"' in text


def test_a_curve_that_is_not_optimal_does_not_warn(monkeypatch):
    def warning(joint, **arguments):
        warnings.warn("time is over", linred.NotOptimalWarning, stacklevel=1)
        return linred.tradeoff(joint, **arguments)

    monkeypatch.setattr("linred.report.html_tradeoff.curves_of", warning)
    assert 'class="line optimal"' in page(linred.optimal(example_1(), ldp=1.0))

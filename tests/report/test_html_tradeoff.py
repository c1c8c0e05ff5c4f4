"""The curves of the page: what they claim, and what happens if one cannot be built."""

import warnings

import linred
from linred.report.html import page
from support.joints import example_1


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

"""Reports of every limit of `linred.Target`, alone and together, against figures by brute force from the tables."""

import math
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import linred
from linred.privacy.target import TARGETS as FIELDS
from linred.report import limits, text
from linred.report.html import page
from support.joints import adult, counts, example_1
from support.pages import Parsed
from support.target_reports import CASES, made

ROUNDING = 1e-9
"""Nats by which figures of doubles, and of P(s,x) by division, may exceed the figures of the integers."""


@pytest.fixture(params=CASES, ids="-".join)
def case(request):
    return made(*request.param)


def words(text):
    return " ".join(text.split())


def is_upper_bound(printed, truth):
    """Return whether printed text is the truth or slightly more, as rounding up to three digits makes it."""
    if truth == math.inf:
        return printed == "infinite"
    share = printed.endswith("%")
    number = Fraction(Decimal(printed.rstrip(" \u00a0%"))) / (100 if share else 1)
    return truth - ROUNDING <= number <= truth * 1.001 + (1e-4 if share else ROUNDING)


def of_limit(row):
    return f"{100 * row.limit:g} %" if row.limit < 1.0 and "share" in row.words else repr(row.limit)


def test_every_field_of_a_target_has_words():
    assert set(limits.WORDS) == set(FIELDS) - {"neighbors"}


def test_each_limit_stands_beside_what_was_reached(case):
    for report in (str(case.mechanism.report()), text.full_report(case.mechanism, "adult.csv")):
        assert max(map(len, report.splitlines())) <= 100
        stated = " and ".join(f"{row.words} <= {of_limit(row)}" for row in case.rows)
        assert f", target {stated}" in words(report)
        if len(case.rows) == 1:
            (reached,) = re.findall(rf"^Target {re.escape(stated)}: met, (\S+(?: %)?) reached$", report, re.MULTILINE)
            assert is_upper_bound(reached, case.rows[0].figure)
            continue
        block = report.split("\nTargets (nats)")[1].split("\n\n")[0].splitlines()[1:]
        for line, row in zip(block, case.rows, strict=True):
            name, limit, reached, met = re.split(" {3,}", line.strip())
            assert (name, limit, met) == (row.words, of_limit(row), "yes")
            assert is_upper_bound(reached, row.figure), (name, reached, row.figure)


def test_the_page_has_the_same_targets(case):
    parsed = case.page()
    rows = {row[0].removesuffix(", nats"): row[1:] for row in parsed.rows if len(row) == 4 and row[3] == "yes"}
    assert list(rows) == [row.words for row in case.rows]
    for row in case.rows:
        limit, reached, _ = rows[row.words]
        assert limit.replace("\u00a0", " ") == of_limit(row)
        assert is_upper_bound(reached, row.figure)
    values = [value for name, found in parsed.figures.items() if name[:8] == "reached." for value, _ in found]
    assert sorted(map(round_, values)) == pytest.approx(sorted(row.figure for row in case.rows), abs=ROUNDING)
    assert ": met, also after rounding" in parsed.words


def round_(value):
    """Return a figure without the slack that pairs keep below their limits."""
    return max(0.0, value)


PROMISED = {
    "ldp": (r"can shift the odds between any two values of (?:S|\S+ and \S+ \(S\)) by", "ldp", True),
    "log_lift": (r"can raise or lower the probability of any value of .*, compared with P\(S\), by", "log_lift", True),
    "max_lift": (r"can raise the probability of any value of .*, compared with P\(S\), by", "max_lift", False),
    "min_lift": (r"can lower the probability of any value of .*, compared with P\(S\), by", "min_lift", False),
    "dp": (r"can shift the odds between any two neighbouring values of .* by", None, False),
    "pairs": (r"raise the odds of one value of .* against another, where this pair has the limit L, by", None, False),
    "secrets": (r"between any two values of (?:secret 1 or secret 2|marital_status or sex) by", None, False),
    "both lifts": (
        r"can raise or lower the probability of any value of .*, compared with P\(S\), by",
        "log_lift",
        True,
    ),
    "ldp, given_x and max_changed_by_s": (r"can shift the odds between any two values of \S+", "ldp", True),
    "max_lift, dp and a secret": (r"can raise the probability of any value of", "max_lift", False),
    "ldp, log_lift, min_lift and pairs": (r"can shift the odds between any two values of \S+", "ldp", True),
}


@pytest.mark.parametrize("source", ["given", "counts", "fitted"])
@pytest.mark.parametrize("name", PROMISED)
def test_the_promise_is_about_the_strongest_limit(name, source):
    case, (does, figure, bounds_ldp) = made(name, source), PROMISED[name]
    promise = words(str(case.mechanism.report()).split("\n\n")[0])
    assert re.search(does, promise), promise
    (factor, bound) = re.search(r"a factor of at most (\S+) \(.*? at most (\S+) nats; without", promise).groups()
    truth = case.rows[0].figure if figure is None else getattr(case.figures, figure)
    if name == "secrets":
        truth = max(case.figures.secrets)
    assert is_upper_bound(bound, truth)
    if name == "pairs":
        assert factor == "e^L"
    else:
        assert Fraction(math.exp(truth - ROUNDING)) <= Fraction(Decimal(factor)) <= Fraction(math.exp(truth) + 0.0101)
    ldp = re.search(r"The target sets no limit on the LDP of S, which is (?:at most (\S+) nats|infinite)", promise)
    assert (ldp is None) == bounds_ldp
    if ldp:
        assert is_upper_bound(ldp[1] or "infinite", case.figures.ldp)
        assert ("Y may rule out values of S" in promise) == (case.figures.ldp == math.inf)


def test_max_lift_alone_leaves_ldp_unbounded():
    case = made("max_lift", "counts")
    assert case.figures.ldp == math.inf
    promise = words(str(case.mechanism.report()).split("\n\n")[0])
    assert promise.endswith(
        "The target sets no limit on how far the probability of a value of S can fall. "
        "The target sets no limit on the LDP of S, which is infinite: Y may rule out values of S."
    )


@pytest.mark.parametrize("name", ["given_x", "max_changed_by_s"])
def test_limits_that_do_not_limit_what_y_says_of_s_promise_nothing_of_it(name):
    promise = words(str(made(name, "counts").mechanism.report()).split("\n\n")[0])
    assert "may be able to rule out a value of S (LDP has no finite bound)." in promise
    assert ("Someone who already knows X" in promise) == (name == "given_x")


def test_who_knows_x_is_in_the_promise_if_limited_and_a_weakness_otherwise(case):
    promise, weak, *_ = map(words, str(case.mechanism.report()).split("\n\n"))
    limited = [row for row in case.rows if row.words == "LDP for someone who knows X"]
    assert ("Someone who already knows X" in promise) == bool(limited)
    assert ("An attacker who already knows X" in weak) == (not limited and case.figures.given_x > 0.0)
    if limited and case.figures.given_x > 0.0:
        bound = re.search(r"\(LDP for someone who knows X at most (\S+) nats\)", promise)[1]
        assert is_upper_bound(bound, case.figures.given_x)
    assert ("An attacker who already knows X may rule out values of S" in weak) == (case.figures.given_x == math.inf)


def test_secrets_state_what_they_assume(case):
    _, weak, *_ = map(words, str(case.mechanism.report()).split("\n\n"))
    assert ("assume that an attacker who is told the value of a secret knows no more about S" in weak) == any(
        row.words.startswith("LDP of") for row in case.rows
    )


def test_a_confidence_is_advised_for_limits_that_it_can_certify(case):
    _, weak, *_ = map(words, str(case.mechanism.report()).split("\n\n"))
    is_estimated = case.mechanism.joint.n_records is not None
    is_certifiable = all(row.words in ("LDP", "log-lift", "max-lift", "min-lift") for row in case.rows)
    assert ("(--confidence) to certify a target" in weak) == (is_estimated and is_certifiable)
    assert ("can certify limits of LDP and of lifts only" in weak) == (is_estimated and not is_certifiable)


def test_the_page_says_how_pairs_that_the_fit_never_saw_are_drawn(case):
    is_limited = any(row.words == "LDP for someone who knows X" for row in case.rows)
    said = case.page().words
    assert ("from the mean distribution of Y over the records with their x" in said) == is_limited
    assert ("a value drawn from the distribution of Y." in said) == (not is_limited)


def test_the_ldp_for_someone_who_knows_x_is_in_every_report(case):
    truth = case.figures.given_x
    for report in (str(case.mechanism.report()), text.full_report(case.mechanism, "adult.csv")):
        (before, after) = re.findall(r"^  LDP for someone who knows X +(\S+) +(\S+)$", report, re.MULTILINE)[0]
        assert before == "0"
        assert after == "infinite" if truth == math.inf else abs(float(after) - truth) <= 1e-3 * truth
        (exact,) = re.finditer(r"^For someone who knows X: LDP (?:<= (\S+) nats|infinite)$", report, re.MULTILINE)
        assert is_upper_bound(exact[1] or "infinite", truth)
    parsed = case.page()
    assert [parsed.figure(f"{part}.given_x")[0] for part in ("before", "after", "sampled")] == [
        0.0,
        linred.ldp_given_x(case.mechanism),
        pytest.approx(truth, abs=ROUNDING),
    ]


def test_a_finite_figure_for_who_knows_x_is_stated_without_a_limit():
    """Both s mix the same two rows, in other shares, so that none can be ruled out."""
    mechanism = linred.optimal(counts("adult_sex_occupation"), ldp=1.0, given_x=1.0).replace(
        target=linred.Target(ldp=1.0)
    )
    assert 0.0 < linred.ldp_given_x(mechanism) <= 1.0
    weak = words(str(mechanism.report()).split("\n\n")[1])
    assert "between the values of S that the fit saw with this value of X by a factor of at most 2.72" in weak
    assert "(LDP for someone who knows X at most 1.000 nats), because this mechanism uses S" in weak
    said = words(Parsed(page(mechanism)).words)
    assert "can shift the odds between two values of S that occur with x by a factor of at most 2.72." in said


PRINTED = {"Divorced": 0.1, "Never-married": 0.3, "Married-civ-spouse": 0.7, "Separated": 3.8, "Widowed": 7.5}
"""Per cent of their records that change at LDP 1, from a linear programme that does not use linred."""


def test_who_bears_the_changes():
    mechanism = linred.optimal(adult(), ldp=1.0)
    report = str(mechanism.report())
    rows = dict(re.findall(r"^  S = '(\S+)' +\S+ % +(\S+) %$", report, re.MULTILINE))
    assert list(rows)[:2] == ["Widowed", "Separated"]
    assert len(rows) == 5
    for group in rows.keys() & PRINTED.keys():
        assert round(float(rows[group]), 1) == PRINTED[group]
    assert re.search(r"^  \(all records\) +100.00 % +0.84 %$", report, re.MULTILINE)
    parsed = Parsed(page(mechanism))
    shown = {
        row[0]: float(row[3].rstrip("\u00a0%")) for row in parsed.rows if row[0] in adult().s_labels and len(row) == 4
    }
    assert {group: round(shown[group], 1) for group in PRINTED} == PRINTED
    assert len(parsed.shares("changed_by_s")) == 7
    assert len(parsed.shares("changed_by_x")) == 15


def test_shares_of_groups_are_those_of_the_definition(case):
    parsed, (n_s, _) = case.page(), case.mechanism.joint.shape
    joint, k = case.mechanism.joint, case.mechanism.p_y_given_sx
    changed = joint.p_sx * (1.0 - np.einsum("sxx->sx", k))
    for by, axis, p in (("s", 1, joint.p_s), ("x", 0, joint.p_x)):
        expected = sorted(zip(changed.sum(axis=axis) / p, p, strict=True), reverse=True)
        assert parsed.shares(f"changed_by_{by}") == pytest.approx([share for share, _ in expected], abs=1e-12)
        weighted = np.dot(parsed.shares(f"changed_by_{by}"), parsed.shares(f"records_by_{by}"))
        assert weighted == pytest.approx(case.mechanism.dtv(), abs=1e-12)
    assert n_s == len(parsed.shares("changed_by_s"))


def test_groups_without_records_and_long_names():
    table = [[0, 3, 1], [0, 1, 2], [0, 0, 0]]
    joint = linred.Joint.from_counts(table, ["a", "b" * 200, "never"], ["none", "y", "z"])
    report = str(linred.optimal(joint, ldp=0.5).report())
    assert "never" not in report
    assert "X = 'none'" not in report
    assert max(map(len, report.splitlines())) <= 100
    assert re.search(r"S = 'b{40,}\.\.\. ", report)


def test_the_bars_of_a_large_alphabet_and_the_groups_that_are_left_out():
    rng = np.random.default_rng(5)
    joint = linred.Joint(rng.dirichlet(np.full(100, 0.3), 1).reshape(2, 50))
    mechanism = linred.optimal(joint, ldp=0.5)
    text = page(mechanism)
    changed = np.sort(mechanism.changed("x"))[::-1]
    assert Parsed(text).shares("changed_by_x") == changed[:20].tolist()
    (row,) = (row for row in Parsed(text).rows if row[0] == "30 others, each")
    assert is_upper_bound(row[3].removeprefix("at most "), changed[20])
    section = text.partition("Values of X with the largest shares")[2].partition("</table>")[0]
    widths = [float(width) for width in re.findall(r'class="y" y="5" width="([\d.]+)%', section)]
    assert widths == pytest.approx((100.0 * changed[:20] / changed[0]).tolist(), abs=0.005)


def test_a_target_that_is_not_met_says_so():
    mechanism = linred.optimal(example_1(), ldp=1.0)
    (ldp,) = (row for row in [linred.ldp(mechanism.released)])
    missed = mechanism.replace(target=linred.Target(ldp=0.1))
    assert "Target LDP <= 0.1: NOT MET, 1.000 reached" in str(missed.report())
    both = mechanism.replace(target=linred.Target(ldp=0.1, min_lift=1.0))
    assert re.search(r"\n  LDP +0\.1 +1\.000 +no\n  min-lift +1\.0 +\S+ +yes\n", str(both.report()))
    assert ldp > 0.1
    said = Parsed(page(both))
    assert ["LDP, nats", "0.1", "1.000", "NO"] in said.rows
    assert "NOT met after rounding" in said.words
    pairs = linred.Target(pairs=[[0.0, 0.5], [0.25, 0.0]]).settled(example_1())
    assert "by a factor of at most e^(L + 0.75" in words(str(mechanism.replace(target=pairs).report()))


def test_a_target_that_limits_nothing():
    no_neighbours = linred.optimal(example_1(), dp=0.5, neighbors=np.zeros((2, 2), bool))
    report = str(no_neighbours.report())
    assert re.search(r"Mechanism: \w+, alpha = 0; 2 values of S", report)
    assert "Target" not in report
    assert "Targetnone was set" in Parsed(page(no_neighbours)).words


@pytest.mark.parametrize("least", ["ldp", "max_lift"])
def test_a_limit_that_a_search_found_is_printed_with_four_digits(least):
    mechanism = linred.optimal(adult(), max_changed=0.01, least=least)
    limit, name = getattr(mechanism.target, least), {"ldp": "LDP", "max_lift": "max-lift"}[least]
    (printed,) = re.findall(rf"^Target {name} <= (\S+): met", str(mechanism.report()), re.MULTILINE)
    assert Fraction(limit) <= Fraction(Decimal(printed)) <= Fraction(limit) * Fraction(1001, 1000)
    assert re.search(
        r"^  Changed records \(expected\): 1\.00 % \(488 of 48,842\)$", str(mechanism.report()), re.MULTILINE
    )


def test_the_price_of_a_distortion():
    d = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    mechanism = linred.non_markov(example_1(), 0.5, distortion=d)
    assert "\nPrice\n  Changed records (expected): 10.50 %; expected distortion: 0.1890\n" in str(mechanism.report())
    assert "10.50\u00a0%; expected distortion: 0.1890;" in Parsed(page(mechanism)).words.replace(
        "10.50 %", "10.50\u00a0%"
    )


def test_a_printed_certificate_lists_its_targets():
    mechanism = made("ldp, given_x and max_changed_by_s", "fitted").mechanism
    assert words(str(mechanism.sampler().certificate()).splitlines()[-4]) == "Targets (nats) At most Reached Met"


def test_column_names_are_escaped_in_the_names_of_secrets():
    mechanism = made("secrets", "fitted").mechanism
    sensitive = tuple(
        spec._replace(name=name) for spec, name in zip(mechanism.fitted.sensitive, ("<i>a", "b\nc"), strict=True)
    )
    odd = mechanism.replace(fitted=mechanism.fitted._replace(sensitive=sensitive))
    text = page(odd)
    assert "<i>a" not in text
    assert "LDP of <bdi>&lt;i&gt;a</bdi>" in text
    assert "LDP of 'b\\nc'" in str(odd.report())


def test_many_secrets_are_counted_in_the_promise():
    joint = linred.Joint.from_counts(np.random.default_rng(0).integers(1, 50, (6, 5)))
    mechanism = linred.optimal(joint, ldp=0.1, secrets=[np.eye(6, dtype=int)[i] for i in range(6)])
    assert "between any two values of each of the 6 secrets by a factor" in words(str(mechanism.report()))

"""Text of the `linred` command: the report of a fit, and columns that were not measured."""

import json

import linred
from linred.report.text import counts
from linred.sampling.sanitize_columns import Counts
from support.commands import ADULT, PAIR, TARGET, fit


def test_the_report_of_a_fit(linred_command):
    done = linred_command("fit", ADULT, "--sensitive", PAIR[0], "--public", PAIR[1], *TARGET, "-o", "mechanism.json")
    mechanism = linred.load("mechanism.json")
    for block in str(mechanism.report()).split("\n\n")[-2:]:
        assert block in done.out, "the tables of figures"
    assert (
        f"Changed records (expected): {100 * mechanism.dtv():.2f} % ({mechanism.dtv() * 3000:,.0f} of 3,000)"
        in done.out
    )
    for text in (
        "Target LDP <= 1.0: met",
        "X itself is not protected: y may still reveal x.",
        "Records are assumed independent",
        "taken from the data",
    ):
        assert text in done.out
    assert "confidential" in done.err
    again = linred_command("report", "mechanism.json")
    assert again.out.replace("Source: mechanism.json", f"Source: {ADULT}") == done.out
    figures = json.loads(linred_command("report", "mechanism.json", "--json").out)
    assert figures["figures"]["after"]["ldp"] == mechanism.report().after.ldp
    assert figures["figures"]["before"]["ldp"] == "inf"
    assert "joint" not in figures


def test_columns_that_the_fit_did_not_measure_are_named(linred_command):
    fit(linred_command, ADULT, *PAIR, *TARGET, "--no-scan")
    done = linred_command("sanitize", ADULT, "-m", "mechanism.json", "-o", "out.csv", "--columns", "age,race")
    assert "what they reveal about S was not fully measured: age, race" in done.err
    assert "Other columns were not measured" in linred_command("report", "mechanism.json").out


def test_a_certificate_from_the_fit_is_a_sentence(linred_command):
    fit(linred_command, ADULT, *PAIR, *TARGET)
    lines = linred_command("certify", "mechanism.json").out
    assert "from 3,000 records that the mechanism was fitted on; all figures hold" in " ".join(lines.split())
    assert "LDP: largest for y = " in lines or "LDP: infinite for y = " in lines


def test_pairs_that_the_fit_never_saw_are_said_to_come_from_the_distribution_of_y():
    """P_Y differs from P_X if keep_marginal is False."""
    said = counts(Counts(10, 2, 0, 1, True), "out.csv")
    assert said.endswith("1 had values that no record of the fit has together, and were drawn independently of s")

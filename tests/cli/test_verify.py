"""`linred fit --confidence`, `linred certify` and `linred audit`, run as a user would."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import linred
from support.commands import ADULT, ASKED, process

CERTAIN = (*ASKED, "--confidence", ".9")


@pytest.fixture(scope="module")
def certain(tmp_path_factory):
    """Path of a mechanism certified for LDP 1 at 90 % confidence, fitted on the small Adult file."""
    path = tmp_path_factory.mktemp("certain") / "mechanism.json"
    done = process("fit", ADULT, *CERTAIN, "-o", path, "-q")
    assert done.code == 0, done.err
    return path


def test_fit_with_confidence_is_the_librarys(certain):
    mechanism = linred.load(certain)
    with_all = _joint()
    expected = linred.optimal(with_all, ldp=1.0, confidence=0.9)
    assert mechanism.design == expected.design
    assert mechanism.certified == expected.certified
    np.testing.assert_array_equal(mechanism.sampler().kernel.cells, expected.sampler().kernel.cells)


def _rows():
    with open(ADULT, newline="") as file:
        return list(csv.DictReader(file))


def _joint():
    rows = _rows()
    return linred.Joint.from_records(
        *([row[name] or None for row in rows] for name in ("marital_status", "occupation"))
    )


def test_the_report_says_what_holds_and_what_it_costs(certain, linred_command):
    text = linred_command("report", certain).out
    assert "Certified at 90 % confidence: someone who knows" in text
    assert "(plug-in optimum)" in text
    assert "because their counts are too small to certify" in " ".join(text.split())
    figures = json.loads(linred_command("report", certain, "--json").out)
    assert figures["certified"]["ldp"] == pytest.approx(1.0, abs=1e-7)
    assert figures["design"]["dtv"] == linred.load(certain).dtv()


def test_the_page_says_it_too(certain, linred_command):
    assert linred_command("report", certain, "--html", "page.html").code == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert "Certified at 90 % confidence: someone who knows" in page
    assert f'data-figure="certified.ldp" value="{linred.load(certain).certified.ldp!r}"' in page
    assert "The price of certification" in page


def test_run_with_confidence(linred_command):
    done = linred_command("run", ADULT, *CERTAIN, "-o", "out.csv", "--columns", "education", "-m", "m.json")
    assert done.code == 0
    assert "Certified at 90 %" in done.out
    assert linred.load("m.json").certified.confidence == 0.9


def test_certify_on_the_fit_and_on_others(certain, linred_command):
    on_the_fit = linred_command("certify", certain, "--json", "--confidence", ".8")
    mechanism = linred.load(certain)
    assert json.loads(on_the_fit.out)["ldp"] == linred.certify(mechanism, confidence=0.8).ldp
    twice = [row for row in _rows() for _ in range(2)]
    with open("twice.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, twice[0].keys())
        writer.writeheader()
        writer.writerows(twice)
    done = linred_command("certify", certain, "twice.csv", "-o", "certified.json")
    assert done.code == 0, done.err
    joint = _joint()
    assert linred.load("certified.json").certified == linred.certify(mechanism, joint + joint)
    assert "Plug-in estimate" in done.out


def test_certify_refuses_the_records_of_the_fit(certain, linred_command):
    done = linred_command("certify", certain, ADULT)
    assert done.code == 2
    assert "these are the records that the mechanism was fitted on: give others" in done.err
    assert done.err.count("\n") == 1


@pytest.fixture
def released(certain, linred_command):
    """The columns s, x and y, and a file of them."""
    rows, mechanism = _rows(), linred.load(certain)
    s, x = ([row[name] or None for row in rows] for name in ("marital_status", "occupation"))
    y = mechanism.sanitize(s, x, seed=1)
    with open("released.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["marital_status", "before", "occupation"])
        writer.writerows([a or "", b or "", c or ""] for a, b, c in zip(s, x, y, strict=True))
    return s, x, y


def test_audit_is_the_librarys(certain, released, linred_command):
    s, x, y = released
    mechanism = linred.load(certain)
    done = linred_command("audit", "released.csv", "-m", certain, "--public", "before", "--json")
    assert done.code == 0, done.out
    expected = linred.audit(s, y, x=x, mechanism=mechanism, claim=mechanism.certified)
    shown = json.loads(done.out)
    assert shown["ldp"] == pytest.approx(expected.ldp, rel=1e-12)
    assert (shown["refuted"], shown["conforms"]) == (False, True)
    assert "consistent" in linred_command("audit", "released.csv", "-m", certain).out


def test_audit_refutes(certain, released, linred_command):
    unsanitised = linred_command("audit", "released.csv", "-m", certain, "--public", "before", "--released", "before")
    assert unsanitised.code == 3
    assert "refuted" in unsanitised.out
    claimed = linred_command(
        "audit", "released.csv", "--sensitive", "marital_status", "--released", "before", "--claim", ".01"
    )
    assert claimed.code == 3
    assert "above the claim of 0.01" in claimed.out


def test_audit_says_which_limits_of_a_mechanism_it_does_not_test(certain, released, linred_command):
    s, x, _ = released
    asked = {"log_lift": 0.9, "max_changed_by_s": 0.9, "pairs": lambda a, b: 1.5}
    mechanism = linred.fit(s, x, **asked).replace(fitted=linred.load(certain).fitted)
    mechanism.save("limits.json")
    done = linred_command("audit", "released.csv", "-m", "limits.json", "--json")
    shown = json.loads(done.out)
    assert (shown["claim"]["log_lift"], shown["claim"]["ldp"]) == (0.9, "inf")
    assert shown["not_tested"] == ["pairs", "max_changed_by_s"]
    assert (
        "Not tested: the limits pairs, max_changed_by_s"
        in linred_command("audit", "released.csv", "-m", "limits.json").out
    )


def test_a_value_that_the_mechanism_does_not_know_is_named_by_file_record_and_column(
    certain, linred_command, monkeypatch
):
    def fail(*_, **__):
        raise linred.UnseenError("s", 1199, "Zq7Marker")

    monkeypatch.setattr("linred.assurance.audit.audit", fail)
    done = linred_command("audit", ADULT, "-m", certain)
    assert (done.code, done.out) == (2, "")
    assert f"{ADULT}: record 1,200, column 'marital_status': value not in the alphabet" in done.err
    assert "Zq7Marker" not in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fit", ADULT, *ASKED, "--confidence", "2"), "2 is not between 0 and 1: write 0.02 for 2 %"),
        (
            ("fit", ADULT, *ASKED, "--confidence", ".9", "--mechanism", "markov"),
            "--confidence needs --mechanism optimal",
        ),
        (("certify", "missing.json"), "missing.json"),
        (("audit", "missing.csv", "--sensitive", "a", "--released", "b"), "missing.csv"),
        (("audit", ADULT), "the sensitive columns are not known: name them with --sensitive"),
        (("audit", ADULT, "--sensitive", "sex", "--released", "nothing"), "no column 'nothing'"),
        (("audit", ADULT, "--sensitive", "sex", "--released", "race", "--public", "race"), "give its file with -m"),
        (("audit", ADULT, "--sensitive", "sex", "--released", "race", "--claim", "-1"), "'--claim': -1.0"),
        (("audit", ADULT, "--sensitive", "sex", "--released", "race", "--confidence", "1"), "1 is not between 0 and 1"),
    ],
)
def test_wrong_inputs(arguments, message, linred_command):
    done = linred_command(*arguments)
    assert done.code == 2, done
    assert message in done.err
    assert done.err.count("\n") == 1
    assert done.out == ""

"""The opening of a report: nothing stands above the promise, and what weakens it is named."""

import numpy as np
import pytest

import linred
from linred.columns.schema import ColumnSpec, FitSchema, Leak
from linred.report import promise, text
from linred.report.html import page
from linred.report.subject import Subject
from support.commands import ADULT, PAIR, fit
from support.joints import adult, example_1


def words(text):
    return " ".join(text.split())


def fitted(mechanism, *leaks):
    return mechanism.replace(fitted=FitSchema((ColumnSpec("s"),), (ColumnSpec("x"),), leaks=leaks, scanned=True))


def test_a_report_begins_with_the_promise_what_weakens_it_and_the_price():
    mechanism = linred.optimal(adult(), ldp=1.0)
    for report in (str(mechanism.report()), text.full_report(mechanism, "adult.csv")):
        blocks = [words(block) for block in report.split("\n\n")]
        assert blocks[0].startswith("Plug-in estimate, not a guarantee: if the population is distributed as the fitted")
        assert "someone who knows the mechanism and P(S, X), and sees only Y of one record, can shift" in blocks[0]
        assert blocks[1].startswith("What weakens this - No figure is certified")
        assert blocks[2] == "Price Changed records (expected): 0.84 % (409 of 48,842)"
        assert max(map(len, report.splitlines())) <= 100
    assert report.endswith(f"\n\nMechanism {mechanism.id}")
    wide = Leak("a rather long name of a column", 1_234_567, 2.0, 0.0, 0.6, True), Leak("b", 5, 0.1, 0.0, 0.5, False)
    lines = text.full_report(fitted(mechanism, *wide), "adult.csv", ("x", "b")).splitlines()
    assert max(map(len, lines)) <= 100
    assert any(line.startswith("  a rather long name of...   ") for line in lines)
    assert mechanism.id not in str(mechanism.report()), "the README prints it, and the id is random"


def test_a_distribution_that_was_given_and_a_mechanism_without_s():
    said = words(str(linred.markov(example_1(), ldp=1.0).report()))
    assert said.startswith("If P(S, X) is exactly as given, someone who knows")
    assert "P(S, X) was given, not estimated from records" in said
    assert "already knows X" not in said


def test_what_is_published_beside_y():
    leaks = Leak("age", 74, 2.0, 0.0, 0.6, False), Leak("race", 5, 1e-6, 0.0, 0.5, False)
    mechanism = fitted(linred.optimal(example_1(), ldp=1.0), *leaks)

    def said(published):
        return words("\n".join(promise.weaknesses(Subject(mechanism, published))))

    assert "This report describes no release, so it cannot name them. Each of these columns reveals more" in said(None)
    assert "alone or combined with Y: race." in said(("x", "race"))
    assert "Each of these columns reveals" not in said(("x", "race"))
    assert "Y: race, age. Each of these columns reveals more about S than Y does: age." in said(("race", "x", "age"))
    assert "beside Y" not in said(("x",))
    assert "The release contains sensitive columns unchanged: s. It does not protect them." in said(("s", "x"))
    first = next(promise.weaknesses(Subject(mechanism, ("s", "x"))))
    assert first.startswith("The release contains sensitive columns")


def sparse_joint(n_values, n_records=2000):
    rng = np.random.default_rng(0)
    return linred.Joint.from_records(rng.integers(0, 2, n_records), rng.integers(0, n_values, n_records))


def test_sparse_data_leads():
    dense, sparse = (linred.optimal(sparse_joint(n), ldp=1.0, sees_s=False) for n in (10, 400))
    assert promise.sparse_share(dense) == 0.0
    counts = sparse.joint.counts
    assert promise.sparse_share(sparse) == counts[counts < 20].sum() / 2000 > 0.9
    first = next(promise.weaknesses(Subject(sparse)))
    assert first.startswith("100.00 % of the fitted records are in (S, X) combinations seen fewer than 20 times")
    assert "no figure is certified. Use coarser bins or fewer columns, or fit with a confidence level" in first
    assert "fewer than 20" not in "".join(promise.weaknesses(Subject(dense)))
    certain = linred.fit(*records(sparse.joint), ldp=1.0, confidence=0.9)
    first = next(promise.weaknesses(Subject(certain)))
    assert "only the certified figure counts (LDP at most" in first


def records(joint):
    s, x = np.nonzero(joint.counts)
    n = joint.counts[s, x]
    return np.repeat(s, n), np.repeat(x, n)


def test_almost_as_many_values_as_records_is_a_warning(linred_command, tmp_path):
    path = tmp_path / "wide.csv"
    rng = np.random.default_rng(1)
    rows = (f"{s},{x},{z}\n" for s, x, z in rng.integers(0, [2, 40, 40], (500, 3)).tolist())
    path.write_text("s,x,z\n" + "".join(rows))
    asked = ("fit", path, "--sensitive", "s", "--ldp", "1", "--mechanism", "non-markov")
    assert "values among" not in linred_command(*asked, "--public", "x").err
    done = linred_command(*asked, "--public", "x,z", "-q")
    (warning,) = (line for line in done.err.splitlines() if "values among" in line)
    assert warning.startswith("linred: warning: x, z: ")
    assert "among 500 records, so plug-in estimates are no evidence. Use coarser bins (--bins)" in warning
    done = linred_command("run", *asked[1:], "--public", "x,z", "-o", "out.csv", "-q")
    assert "values among 500 records" in done.err
    asked = (*asked[:-1], "optimal", "--public", "x,z", "--confidence", "0.9", "-q")
    assert "Use coarser bins (--bins) or fewer columns\n" in linred_command(*asked).err


@pytest.mark.parametrize("seeded", [False, True])
def test_a_seed_is_named(linred_command, seeded):
    options = ("--sensitive", PAIR[0], "--public", PAIR[1], "--ldp", "1", "-o", "out.csv")
    done = linred_command("run", ADULT, *options, *["--seed", "7"] * seeded)
    assert ("was drawn with a seed" in words(done.out)) == seeded
    assert "7" not in done.out.partition("was drawn with a seed")[2].partition("Price")[0]


def test_the_report_of_an_artifact_names_the_mechanism(linred_command):
    fit(linred_command, ADULT, *PAIR, "--ldp", "1")
    mechanism = linred.load("mechanism.json")
    assert linred_command("report", "mechanism.json").out.rstrip().endswith(f"Mechanism {mechanism.id}")


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: linred.optimal(adult(), ldp=0.0), None),
        (lambda: linred.optimal(adult(), ldp=0.0, sees_s=False), "A mechanism that uses S and has no limit"),
        (lambda: linred.optimal(example_1(), ldp=0.0), "needs P(S, X) in whole numbers"),
        (lambda: linred.optimal(adult(), ldp=0.0, confidence=0.95), "only then is LDP 0 for every P(S, X)"),
        (lambda: linred.markov(adult(), 1.0), None),
        (lambda: linred.optimal(adult(), ldp=1e-3), None),
    ],
    ids=["exact", "without s", "doubles", "confidence", "alpha", "small"],
)
def test_a_report_says_why_an_ldp_of_0_changes_so_many_records(make, said):
    mechanism = make()
    reasons = list(promise.why_independent(Subject(mechanism)))
    assert len(reasons) == (said is not None)
    for shown in (str(mechanism.report()), page(mechanism)):
        assert (" ".join(shown.split()).count("Y is drawn independently") == 1) is (said is not None)
    if said is not None:
        assert said in reasons[0]
        assert "13.3" in reasons[0] or "whole numbers" in reasons[0], "the price of LDP 0 on Adult, to three digits"

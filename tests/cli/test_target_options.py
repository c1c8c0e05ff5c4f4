"""The options of targets and costs: each in a whole `linred run`, wrong values, and files that they name."""

import csv
import inspect
import itertools
import math
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import linred
from linred.cli.target_options import NAMES, TARGET_OPTIONS, UTILITY_OPTIONS
from linred.privacy.target import TARGETS
from support.commands import ADULT, PAIR, column, process, read_csv, refused, text_of

ONE, TWO = ("marital_status",), ("marital_status", "sex")
MARRIED = ("Married-AF-spouse", "Married-civ-spouse", "Married-spouse-absent")


def in_order(name):
    """The labels of a column of the small Adult file, the last first, so that their order in a file matters."""
    return sorted(set(column(read_csv(ADULT), name)), reverse=True)


def write_matrix(path, labels, cell):
    """Write a matrix file with the csv module of Python. cell : function of two labels."""
    with open(path, "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["", *labels])
        rows.writerows([[a, *(cell(a, b) for b in labels)] for a in labels])


def limit_of(a, b):
    return 1.0 if a == "Divorced" and b != a else None


def cost(a, b):
    return abs(len(a) - len(b)) + (a != b)


@pytest.fixture
def label_files(tmp_path):
    """Write a file of each kind into the directory in which the command runs."""
    statuses, jobs = in_order("marital_status"), in_order("occupation")
    write_matrix(tmp_path / "pairs.csv", statuses, lambda a, b: limit_of(a, b) or "")
    both = sorted({f"{row['marital_status']},{row['sex']}" for row in read_csv(ADULT)}, reverse=True)
    is_divorced = {text: text.startswith("Divorced,") for text in both}
    write_matrix(tmp_path / "both.csv", both, lambda a, b: "1.0" if is_divorced[a] > is_divorced[b] else "")
    write_matrix(tmp_path / "neighbors.csv", statuses, lambda a, b: int((a in MARRIED) != (b in MARRIED)))
    write_matrix(tmp_path / "cost.csv", jobs, cost)
    with open(tmp_path / "groups.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["label", "was married", "first letter"])
        rows.writerows([[status, status not in ("Never-married",), status[0]] for status in statuses])
    return tmp_path


def was_married(status):
    return status != "Never-married"


def first_letter(status):
    return status[0]


MEETS = {
    "--max-lift": (ONE, ("--max-lift", "0.5"), {"max_lift": 0.5}),
    "--min-lift": (ONE, ("--min-lift", "0.5"), {"min_lift": 0.5}),
    "--dp hamming": (TWO, ("--dp", "1", "--neighbors", "hamming"), {"dp": 1.0, "neighbors": "hamming"}),
    "--dp FILE": (
        ONE, ("--dp", "0.7", "--neighbors", "neighbors.csv"),
        {"dp": 0.7, "neighbors": lambda a, b: (a in MARRIED) != (b in MARRIED)},
    ),
    "--pairs": (ONE, ("--pairs", "pairs.csv"), {"pairs": lambda a, b: limit_of(a, b) or math.inf}),
    "--pairs of several columns": (
        TWO, ("--pairs", "both.csv"),
        {"pairs": lambda a, b: 1.0 if (a[0] == "Divorced") > (b[0] == "Divorced") else math.inf},
    ),
    "--secrets each": (TWO, ("--secrets", "each", "--ldp", "1"), {"secrets": "each", "ldp": 1.0}),
    "--secrets each=NATS": (TWO, ("--secrets", "each=1", "--ldp", "2"), {"secrets": {"each": 1.0}, "ldp": 2.0}),
    "--secrets COL": (TWO, ("--secrets", "sex", "--ldp", "0.5"), {"secrets": [(1,)], "ldp": 0.5}),
    "--secrets COL,COL=NATS": (
        TWO, ("--secrets", "sex,marital_status=1.5", "--secrets", "sex=.5"), {"secrets": {(1, 0): 1.5, (1,): 0.5}},
    ),
    "--secrets FILE": (
        ONE, ("--secrets", "groups.csv", "--ldp", "0.5"), {"secrets": [was_married, first_letter], "ldp": 0.5},
    ),
    "--secrets FILE=NATS": (
        ONE, ("--secrets", "groups.csv=0.5"), {"secrets": {was_married: 0.5, first_letter: 0.5}},
    ),
    "--given-x": (ONE, ("--given-x", "1", "--ldp", "1"), {"given_x": 1.0, "ldp": 1.0}),
    "--max-changed-by-s": (ONE, ("--max-changed-by-s", "80%", "--ldp", "1"), {"max_changed_by_s": 0.8, "ldp": 1.0}),
    "--max-changed": (ONE, ("--max-changed", "0.03"), {"max_changed": 0.03}),
    "--max-changed in percent": (
        ONE, ("--max-changed", "3 %", "--least", "log-lift", "--max-lift", "0.6"),
        {"max_changed": 0.03, "least": "log_lift", "max_lift": 0.6},
    ),
    "--distance FILE": (ONE, ("--distance", "cost.csv", "--ldp", "1"), {"distortion": cost, "ldp": 1.0}),
    "--max-distortion": (
        ONE, ("--distance", "cost.csv", "--max-distortion", "0.2"), {"distortion": cost, "max_distortion": 0.2},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", MEETS)
def test_a_run_meets_what_its_options_ask_for_as_the_library_does(linred_command, label_files, what):
    sensitive, asked, keywords = MEETS[what]
    how = ("run", ADULT, "--sensitive", ",".join(sensitive), "--public", PAIR[1], *asked, "--columns", "education")
    done = linred_command(*how, "-o", "out.csv", "-m", "m.json", "--html", "page.html", "--seed", "1")
    assert done.code == 0, done
    rows = read_csv(ADULT)
    s = {name: column(rows, name) for name in sensitive} if len(sensitive) > 1 else column(rows, sensitive[0])
    expected = linred.fit(s, column(rows, PAIR[1]), **keywords)
    mechanism = linred.load("m.json")
    certificate = mechanism.sampler().certificate()
    assert certificate.met
    assert certificate == expected.sampler().certificate()
    limits = {name: limit for name, limit in keywords.items() if name in TARGETS}
    if "least" not in keywords and not {"max_changed", "max_distortion"} & keywords.keys():
        assert mechanism.target == linred.Target(**limits).settled(mechanism.joint)
        assert {one.name for one in certificate.reached} == set(mechanism.target.limits) - {"neighbors"}
    assert mechanism.dtv() == expected.dtv()
    if "max_changed" in keywords:
        assert 0.02 < mechanism.dtv() <= keywords["max_changed"]
    if "max_distortion" in keywords:
        assert 0.1 < mechanism.expected_distortion(cost) <= keywords["max_distortion"]
    assert len(read_csv("out.csv")) == len(rows)
    for command in (("report", "m.json"), ("report", "m.json", "--json"), ("certify", "m.json")):
        assert linred_command(*command).code == 0, command


def test_a_release_for_every_limit_passes_through_all_commands(linred_command, label_files):
    asked = ("--ldp", "1.5", "--max-lift", "2", "--min-lift", "2", "--log-lift", "2", "--dp", "1.4", "--neighbors",
             "hamming", "--secrets", "each=1.2", "--given-x", "4", "--max-changed-by-s", "90%")  # fmt: skip
    how = ("--sensitive", ",".join(TWO), "--public", PAIR[1], *asked, "--keep-sensitive", "--columns", ",".join(TWO))
    drawn = ("--seed", "1", "-q", "--context", "c")
    assert linred_command("run", ADULT, *how, "-o", "out.csv", "-m", "m.json", *drawn).code == 0
    again = ("sanitize", ADULT, "-m", "m.json", "--keep-sensitive", "--columns", ",".join(TWO), "-o", "again.csv")
    assert linred_command(*again, *drawn).code == 0
    assert text_of("out.csv") == text_of("again.csv")
    for command in (("report", "m.json", "--html", "p.html"), ("certify", "m.json", "-o", "c.json")):
        assert linred_command(*command).code == 0
    assert linred.load("c.json").target == linred.load("m.json").target
    done = linred_command("audit", "out.csv", "-m", "m.json", "--json")
    assert done.code == 0
    assert '"refuted": false' in done.out


@pytest.mark.parametrize("name", ["absolute", "squared"])
def test_distances_of_bins_are_between_their_centres(linred_command, name):
    asked = ("--public", "age", "--bins", "age=20,30,60", "--distance", name, "--ldp", "0.3", "-q", "-o", "m.json")
    assert linred_command("fit", ADULT, "--sensitive", "sex", *asked).code == 0
    mechanism, centres = linred.load("m.json"), np.array([15.0, 25.0, 45.0, 75.0])
    power = {"absolute": 1, "squared": 2}[name]
    costs = np.abs(centres[:, None] - centres) ** power
    assert mechanism.joint.x_labels == ("age<20", "20<=age<30", "30<=age<60", "age>=60")
    assert np.array_equal(mechanism.distortion, costs)
    assert np.array_equal(
        mechanism.p_y_given_sx, linred.optimal(mechanism.joint, ldp=0.3, distortion=costs).p_y_given_sx
    )


def test_numbers_in_text_have_distances(linred_command):
    asked = ("--public", "education_num", "--distance", "absolute", "--ldp", "0.1", "-q", "-o", "m.json")
    assert linred_command("fit", ADULT, "--sensitive", "sex", *asked).code == 0
    mechanism = linred.load("m.json")
    assert all(isinstance(label, str) for label in mechanism.joint.x_labels)
    numbers = np.array([float(label) for label in mechanism.joint.x_labels])
    assert np.array_equal(mechanism.distortion, np.abs(numbers[:, None] - numbers))


def test_labels_from_parquet_match_by_their_text(linred_command):
    rng = np.random.default_rng(4)
    s, x = rng.integers(0, 3, 600) * 10, rng.random(600)
    table = {"level": s.astype(np.int16), "value": np.where(x < 0.5, s, 7).astype(float)}
    parquet.write_table(pa.table(table), "in.parquet")
    write_matrix("pairs.csv", [20, 0, 10], lambda a, b: abs(a - b) / 20 if a != b else 0)
    write_matrix("cost.csv", ["7", "0", "10.0", "20"], lambda a, b: abs(float(a) - float(b)))
    asked = ("--sensitive", "level", "--public", "value", "--pairs", "pairs.csv", "--distance", "cost.csv")
    assert linred_command("fit", "in.parquet", *asked, "-o", "m.json", "-q").code == 0
    mechanism = linred.load("m.json")
    assert mechanism.joint.s_labels == (0, 10, 20)
    assert mechanism.target.pairs.tolist() == [[0.0, 0.5, 1.0], [0.5, 0.0, 0.5], [1.0, 0.5, 0.0]]
    assert mechanism.distortion.tolist() == [[abs(a - b) for b in (0, 7, 10, 20)] for a in (0, 7, 10, 20)]


# Wrong values


WRONG = {
    "a negative limit": (("--max-lift", "-1"), "--max-lift = -1.0 is outside [0, inf]"),
    "no number": (("--given-x", "one"), "'--given-x': 'one' is not a valid float"),
    "not a number": (("--min-lift", "nan"), "--min-lift = nan is outside [0, inf]"),
    "a share in whole percent": (
        ("--max-changed", "5"),
        "'--max-changed': '5' is not between 0 and 1: write 5% for 5 %",
    ),
    "a share of more than all": (
        ("--max-changed", "101%"),
        "'--max-changed': '101%' is not between 0 and 1: 0.01 or 1%",
    ),
    "a negative share": (("--max-changed-by-s", "-.1"), "'--max-changed-by-s': '-.1' is not between 0 and 1"),
    "no share": (("--max-changed-by-s", "few"), "'--max-changed-by-s': 'few' is not a share: write 0.01 or 1%"),
    "a share that is no number": (("--max-changed", "sNaN"), "'--max-changed': 'sNaN' is not a share"),
    "a share of nan": (("--max-changed", "nan%"), "'--max-changed': 'nan%' is not between 0 and 1"),
    "dp without neighbours": (("--dp", "1"), "--dp needs --neighbors"),
    "neighbours without dp": (("--neighbors", "neighbors.csv"), "--neighbors needs --dp"),
    "hamming of one column": (("--dp", "1", "--neighbors", "hamming"), "--neighbors hamming compares several columns"),
    "secrets without a limit": (
        ("--secrets", "groups.csv"),
        "--secrets needs --ldp, which limits each of them, or limits",
    ),
    "each of one column": (("--secrets", "each=1"), "'--secrets': S is one column, which --ldp protects"),
    "S itself": (("--secrets", "marital_status=1"), "'--secrets': S is one column, which --ldp protects"),
    "a secret that is no column": (
        ("--secrets", "sex=1"),
        "sex: cannot be read: No such file or directory; or choose each",
    ),
    "a secret with a negative limit": (
        ("--secrets", "groups.csv=-1"),
        "'--secrets': '-1' is not a limit: write a number",
    ),
    "a secret with a limit of nan": (("--secrets", "groups.csv=nan"), "'--secrets': 'nan' is not a limit"),
    "limits for some": (
        ("--secrets", "groups.csv=1", "--secrets", "groups.csv"),
        "'--secrets': some have =NATS and some do not",
    ),
    "no such pairs": (("--pairs", "none.csv"), "'--pairs': none.csv: cannot be read: No such file or directory"),
    "no such neighbours": (
        ("--dp", "1", "--neighbors", "x"),
        "'--neighbors': x: cannot be read: No such file or directory; or choose hamming",
    ),
    "no such distance": (
        ("--ldp", "1", "--distance", "euclid"),
        "'--distance': euclid: cannot be read: No such file or directory; or choose absolute or squared",
    ),
    "pairs that are a directory": (("--pairs", "."), "'--pairs': .: cannot be read: Is a directory"),
    "secrets that are a directory": (("--secrets", ".=1"), "'--secrets': .: cannot be read: Is a directory"),
    "pairs that are no table": (("--pairs", "key"), "'--pairs': key is not a table"),
    "pairs with a negative limit": (("--pairs", "wrong.csv"), "'--pairs': wrong.csv: row 3, column 2 is negative"),
    "least of nothing": (("--ldp", "1", "--least", "ldp"), "--least = 'ldp' needs --max-changed or --max-distortion"),
    "least of another figure": (
        ("--max-changed", ".1", "--least", "dp"),
        "'--least': 'dp' is not one of 'ldp', 'log-lift'",
    ),
    "a cost without a distance": (("--max-distortion", "1"), "--max-distortion needs --distance"),
    "changes of a distance": (
        ("--max-changed", ".1", "--distance", "cost.csv"),
        "--max-changed counts changed records, not",
    ),
    "alpha and a share": (
        ("--alpha", "1", "--max-changed", ".1"),
        "--alpha and a target (--max-changed) are both given",
    ),
    "alpha and a limit": (
        ("--alpha", "1", "--max-lift", "1", "--dp", "1"),
        "--alpha and a target (--max-lift and --dp)",
    ),
    "who knows x, without s": (
        ("--given-x", "1", "--without-sensitive"),
        "--given-x has no effect on a mechanism that",
    ),
    "a closed form for x": (
        ("--given-x", "1", "--mechanism", "markov"),
        "--given-x applies to --mechanism optimal, not markov",
    ),
    "a closed form by group": (
        ("--max-changed-by-s", ".1", "--mechanism", "non-markov"),
        "--max-changed-by-s applies to --mechanism optimal, not non",
    ),
    "a closed form by utility": (
        ("--max-changed", ".1", "--mechanism", "markov"),
        "--max-changed applies to --mechanism opt",
    ),
    "Lemma 1 with a distance": (
        ("--ldp", "1", "--distance", "squared", "--mechanism", "markov"),
        "--distance applies to --mechanism optimal, not mar",
    ),
    "a limit that cannot be certified": (("--given-x", "1", "--confidence", ".9"), "--given-x cannot be certified"),
    "a share that cannot be certified": (
        ("--max-changed", ".1", "--confidence", ".9"),
        "--max-changed and --confidence are both given",
    ),
    "nothing": (("--neighbors", "hamming"), "--neighbors hamming compares several columns"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_values_are_refused_by_the_name_of_the_option_before_data_is_read(linred_command, label_files, what):
    asked, text = WRONG[what]
    Path("key").write_text("no table\n")
    Path("wrong.csv").write_text(",Divorced\nWidowed,0\nDivorced,-1\n")
    before = set(os.listdir("."))
    for command in (("fit",), ("run", "-o", "out.csv")):
        done = linred_command(*command, "none at all.csv", "--sensitive", PAIR[0], "--public", PAIR[1], *asked)
        refused(done, text)
    assert set(os.listdir(".")) == before


WITH_DATA = {
    "a label that the data lack": (("--pairs", "more.csv"), "more.csv: row 3 is for no label of the alphabet"),
    "a matrix of other labels": (
        ("--ldp", "1", "--distance", "pairs.csv"),
        "pairs.csv: row 2 is for no label of the alphabet",
    ),
    "a distance of text": (
        ("--ldp", "1", "--distance", "absolute"),
        "--distance = 'absolute': x_labels[0] is not a number",
    ),
    "a cost that is infinite": (("--ldp", "1", "--distance", "inf.csv"), "inf.csv: row 15, column 14 is infinite"),
    "neighbours one way": (
        ("--dp", "1", "--neighbors", "one way.csv"),
        " is 1, but not the other way round: set both, or neither",
    ),
    "neighbours by half": (("--dp", "1", "--neighbors", "half.csv"), "half.csv: row 8, column 7 is neither 0 nor 1"),
    "limits that exclude one another": (
        ("--ldp", "1", "--max-changed-by-s", "1%"),
        "no mechanism meets --ldp <= 1.0 and --max-changed-by-s <= 0.01",
    ),
    "a share too small": (
        ("--ldp", ".1", "--max-changed", "1%"),
        "--max-changed = 0.01 is too small for the target: the least",
    ),
}


@pytest.mark.parametrize("what", WITH_DATA)
def test_options_that_do_not_fit_the_data_are_refused_by_name(linred_command, label_files, what):
    asked, text = WITH_DATA[what]
    write_matrix("more.csv", ["Divorced", "Engaged"], lambda a, b: 0)
    write_matrix("inf.csv", in_order("occupation"), lambda a, b: "inf" if a != b else 0)
    write_matrix("half.csv", in_order("marital_status"), lambda a, b: 0.5 if a != b else 0)
    write_matrix("one way.csv", in_order("marital_status"), lambda a, b: int(a < b))
    done = linred_command("fit", ADULT, "--sensitive", PAIR[0], "--public", PAIR[1], *asked, "-o", "m.json")
    refused(done, text)
    assert not Path("m.json").exists()


NAMED = {
    "--pairs": ("pairs.csv",),
    "--neighbors": ("neighbors.csv", "--dp", "1"),
    "--secrets": ("groups.csv", "--ldp", "1"),
    "--distance": ("cost.csv", "--ldp", "1"),
}


@pytest.mark.parametrize(("option", "output"), [*itertools.product(NAMED, ["-o", "-m", "--html"])])
def test_no_output_replaces_a_file_that_an_option_names(linred_command, label_files, option, output):
    path, *more = NAMED[option]
    before = text_of(path)
    how = (ADULT, "--sensitive", PAIR[0], "--public", PAIR[1], option, path, *more, "--force")
    command = ("fit", "-o", path) if output == "-o" else ("run", "-o", "out.csv", output, path)
    refused(linred_command(*command, *how), "the input itself")
    refused(linred_command("run", *how, "-o", path), "the input itself")
    assert text_of(path) == before


# The table


def test_every_limit_of_a_target_has_an_option():
    assert (*TARGET_OPTIONS,) == TARGETS
    assert UTILITY_OPTIONS.keys() <= inspect.signature(linred.optimal).parameters.keys()
    assert NAMES["max_changed_by_s"] == "--max-changed-by-s"


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("linred run --max-c", ["plain,--max-changed-by-s", "plain,--max-changed"]),
        ("linred run --least l", ["plain,ldp", "plain,log-lift"]),
        ("linred fit --pairs p", ["file,p"]),
        ("linred fit --secrets ", ["file,"]),
        ("linred fit --sensitive a,b --secrets none.csv --dis", ["plain,--distance"]),
    ],
)
def test_completion_of_targets(typed, expected):
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split(" ")) - 1)}
    done = process(env={**os.environ, "_LINRED_COMPLETE": "bash_complete", **words})
    assert (done.code, done.out.splitlines()) == (0, expected)

"""Artifacts: an exact round trip, and a refusal of whatever is not what was stored."""

import datetime
import decimal
import json
import math
import os
import re
import stat

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linred
from linred.columns import labels
from linred.columns.schema import ColumnSpec, FitSchema, Leak
from linred.design import baselines, fit
from linred.errors import ArtifactError
from linred.mechanism import artifact_writer as artifact
from linred.privacy import metrics
from linred.privacy.target import Target
from support import joints

KEY = bytes(range(32))
DISTANCE = [[abs(i - j) for j in range(4)] for i in range(4)]
MADE = {
    "optimal": lambda: linred.optimal(joints.adult(), ldp=1.0),
    "optimal, both targets": lambda: linred.optimal(joints.adult(), ldp=1.0, log_lift=0.5),
    "optimal, without s": lambda: linred.optimal(joints.adult(), ldp=1.0, sees_s=False),
    "optimal, other marginal": lambda: linred.optimal(joints.example_1(), log_lift=0.4, keep_marginal=False),
    "optimal, distortion": lambda: linred.optimal(joints.example_1(), ldp=0.5, distortion=DISTANCE),
    "independent": lambda: linred.optimal(joints.adult(), ldp=0.0),
    "markov": lambda: linred.markov(joints.adult(), 0.5),
    "non_markov": lambda: linred.non_markov(joints.adult(), ldp=1.0),
    "proportional": lambda: linred.non_markov(joints.example_1(), 0.3, coupling="proportional"),
    "nothing done": lambda: linred.non_markov(joints.example_1(), 0.0),
    "selective": lambda: linred.selective(joints.adult(), ldp=1.0),
    "k_rr": lambda: baselines.k_rr(joints.adult(), ldp=1.0),
    "pram": lambda: baselines.pram(joints.adult(), ldp=1.0),
    "watchdog": lambda: baselines.watchdog(joints.adult(), ldp=1.0),
    "from a matrix": lambda: linred.optimal(linred.Joint([[0.3, 0.2, 0.0], [0.1, 0.1, 0.3]]), ldp=1.0),
    "with confidence": lambda: fit.with_confidence(joints.adult(), Target(1.0, math.inf), 0.95),
    "symbols of no probability": lambda: linred.non_markov(
        linred.Joint.from_counts([[3, 0, 1], [0, 0, 0], [1, 0, 5]]), 0.5
    ),
}


def stored(mechanism, tmp_path):
    path = tmp_path / "mechanism.json"
    mechanism.save(path)
    return path


@pytest.mark.parametrize("name", MADE)
def test_the_round_trip_is_exact(name, tmp_path):
    mechanism = MADE[name]()
    again = linred.load(stored(mechanism, tmp_path))
    for part in ("keep", "move", "table_of"):
        np.testing.assert_array_equal(getattr(again, part), getattr(mechanism, part))
    mine, theirs = (one.sampler().kernel for one in (mechanism, again))
    np.testing.assert_array_equal(mine.rows, theirs.rows)
    np.testing.assert_array_equal(mine.cells, theirs.cells)
    assert str(again.report()) == str(mechanism.report())
    assert (again.certified, again.design) == (mechanism.certified, mechanism.design)
    assert again.sampler().certificate().figures == mechanism.sampler().certificate().figures
    assert (again.target, again.alpha, again.gap, again.name) == (
        mechanism.target, mechanism.alpha, mechanism.gap, mechanism.name
    )  # fmt: skip
    np.testing.assert_array_equal(again.p_y_given_s, mechanism.p_y_given_s)
    s, x = (np.random.default_rng(1).integers(0, n, 5000) for n in mechanism.joint.shape)
    how = {"key": KEY, "context": b"a file"}
    np.testing.assert_array_equal(again.sampler().sample(s, x, **how), mechanism.sampler().sample(s, x, **how))
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "mechanism.json").read_bytes()


def test_what_it_was_fitted_on_is_kept(tmp_path):
    mechanism = linred.markov(joints.example_1(), 0.5)
    leak = Leak("other", 7, 0.25, 0.001, 0.75, True)
    mechanism = mechanism.replace(
        fitted=FitSchema((ColumnSpec("s"),), (ColumnSpec("x", (0.0, 18.5), "age"),), True, "skip", (leak,), True)
    )
    again = linred.load(stored(mechanism, tmp_path))
    assert again.fitted == mechanism.fitted
    assert again.fitted.public[0].bins == ("age<0", "0<=age<18.5", "age>=18.5")
    assert again.fitted.leaks[0].beyond_chance == pytest.approx(0.249)


def test_it_is_for_its_owner_and_says_so(tmp_path):
    old = os.umask(0)
    try:
        path = stored(linred.markov(joints.example_1(), 0.5), tmp_path)
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    content = json.loads(path.read_text())
    assert "not publish it" in content["confidential"]
    assert content["version"] == 1
    figures = metrics.ldp(joints.example_1())
    assert content["figures"]["before"]["ldp"] == figures


def test_an_existing_file_is_kept(tmp_path):
    path = stored(linred.markov(joints.example_1(), 0.5), tmp_path)
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="exists: --force"):
        linred.markov(joints.example_1(), 0.7).save(path)
    assert path.read_bytes() == before
    linred.markov(joints.example_1(), 0.7).save(path, force=True)
    assert linred.load(path).alpha == 0.7
    assert [file.name for file in tmp_path.iterdir()] == ["mechanism.json"]


TYPED = (
    "text", "", "é\n\"", 5, -(2**70), 0.1, float("inf"), True, None, b"\x00\xff", ("a", 1, None), ((1, 2), "b"),
    datetime.date(2013, 1, 31), datetime.datetime(2013, 1, 31, 23, 59, 1, 5), datetime.time(1, 2),
    decimal.Decimal("1.10"), np.datetime64("2013-01-01", "D"), np.datetime64(123456789, "ns"), np.timedelta64(77, "s"),
)  # fmt: skip


def test_labels_keep_their_types(tmp_path):
    joint = linred.Joint.from_counts(np.ones((2, len(TYPED)), int), ["f", "m"], TYPED)
    again = linred.load(stored(linred.markov(joint, 0.5), tmp_path)).joint.x_labels
    assert again == TYPED
    assert [type(label) for label in again] == [type(label) for label in TYPED]


def test_numpy_labels_become_pythons(tmp_path):
    assert labels.from_json("x", labels.to_json("x", (np.int64(5), np.str_("a"), np.bool_(True)))) == (5, "a", True)


def test_a_label_that_cannot_be_stored_is_named_and_nothing_is_written(tmp_path):
    joint = linred.Joint([[0.5, 0.5]], x_labels=["a", frozenset([1])])
    with pytest.raises(ValueError, match=r"x_labels\[1\] = frozenset\(\{1\}\) is a frozenset"):
        linred.markov(joint, 0.5).save(tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    path = tmp_path_factory.mktemp("artifact") / "mechanism.json"
    linred.optimal(joints.example_1(), ldp=1.0).save(path)
    return path.read_bytes()


def refused(raw, tmp_path, match=None):
    path = tmp_path / "damaged.json"
    path.write_bytes(raw)
    with pytest.raises(ArtifactError, match=match) as caught:
        linred.load(path)
    assert "\n" not in str(caught.value)
    assert str(path) in str(caught.value)


@given(data=st.data())
def test_any_change_of_a_byte_is_refused_or_changes_nothing(small, tmp_path_factory, data):
    place = data.draw(st.integers(0, len(small) - 1))
    changed = bytearray(small)
    changed[place] ^= data.draw(st.integers(1, 255))
    path = tmp_path_factory.mktemp("damaged") / "m.json"
    path.write_bytes(changed)
    try:
        again = linred.load(path)
    except ArtifactError:
        return
    assert json.loads(changed) == json.loads(small)  # white space
    assert again.target == Target(1.0, float("inf"))


def test_any_cut_is_refused(small, tmp_path):
    for end in [*range(0, len(small) - 2, 37), len(small.rstrip()) - 1]:
        refused(small[:end], tmp_path, "cut off")


def signed(content):
    content.pop("sha256", None)
    return json.dumps({**content, "sha256": artifact.digest(content)}).encode()


def test_versions_and_other_files_are_refused(small, tmp_path):
    content = json.loads(small)
    refused(signed({**content, "version": 2}), tmp_path, "its version is 2 .* upgrade linred")
    refused(signed({**content, "version": "1"}), tmp_path, "its version is '1'")
    refused(b'{"format": "other"}', tmp_path, "no linred mechanism")
    refused(b"[1, 2]", tmp_path, "no linred mechanism")
    refused(b"\xff\xfe", tmp_path, "not JSON")
    refused(b"[" * 100_000, tmp_path, "not JSON")
    refused(small.replace(b'"version"', b'"version": 1, "version"', 1), tmp_path, "there twice")
    refused(small.replace(b'"version": 1', b'"version": NaN', 1), tmp_path, "the number NaN")


WRONG = {
    "no tables": ("tables", []),
    "a table that does not sum to one": ("tables", [[[0, 0.5]]]),
    "y out of range": ("tables", [[[4, 1.0]]]),
    "a negative probability": ("moves", [[0, 0, 1.5, -0.5, 0]]),
    "s out of range": ("moves", [[2, 0, 0.5, 0.5, 0]]),
    "x out of range": ("moves", [[0, -1, 0.5, 0.5, 0]]),
    "a table that is not there": ("moves", [[0, 0, 0.5, 0.5, 99]]),
    "s looked at and not": ("moves", [[None, 0, 0.5, 0.5, 0]]),
    "not a row": ("moves", [5]),
    "labels too few": ("x_labels", ["a"]),
    "labels twice": ("x_labels", ["a", "a", "b", "c"]),
    "a label of no type": ("x_labels", [{"code": "import os"}, "b", "c", "d"]),
    "probabilities above one": ("joint", {"p_s": [0.3, 0.7], "p_x": [1, 1, 1, 1], "p_x_given_s": [[1] * 4] * 2}),
    "a joint of nothing": ("joint", {}),
    "made of nothing": ("made", None),
    "other figures": ("released", None),
    "fitted by nobody": ("fitted", {"sensitive": 5}),
    "a distortion of another shape": ("distortion", [[0, 1], [1, 0]]),
    "a label of several columns for one": ("x_labels", [["a", 1], "b", "c", {"decimal": "sNaN"}]),
    "tables that are not compiled": ("tables_sha256", "0" * 64),
}


@pytest.mark.parametrize("what", WRONG)
def test_content_that_cannot_be_is_refused_though_its_digest_is_right(what, small, tmp_path):
    name, value = WRONG[what]
    content = json.loads(small)
    assert content[name] != value
    refused(signed({**content, name: value}), tmp_path)


def test_labels_are_of_as_many_parts_as_there_are_columns(tmp_path):
    joint = linred.Joint.from_counts([[3, 1], [1, 2]], ["f", "m"], [("a", 1), ("b", 2)])
    mechanism = linred.markov(joint, 0.5)
    mechanism = mechanism.replace(fitted=FitSchema((ColumnSpec("s"),), (ColumnSpec("x"), ColumnSpec("y"))))
    content = json.loads(stored(mechanism, tmp_path).read_bytes())
    for wrong in (["a", "b"], [["a", 1], ["b"]], [["a", 1], 5], [["a", 1], None]):
        refused(signed({**content, "x_labels": wrong}), tmp_path, "is not of 2 public columns")


def test_an_empty_table_that_may_be_drawn_from_is_refused(tmp_path):
    content = json.loads(stored(linred.non_markov(joints.example_1(), 0.5), tmp_path).read_bytes())
    content["tables"].append([])
    moves = [[0, 0, 1 - 9e-10, 9e-10, len(content["tables"]) - 1]]
    moves += [move for move in content["moves"] if move[:2] != [0, 0]]
    refused(signed({**content, "moves": moves}), tmp_path, "do not sum to one")


@pytest.mark.parametrize("name", ["markov", "non_markov", "optimal, both targets", "optimal, without s", "k_rr"])
def test_moves_that_release_other_than_the_figures_say_are_refused(name, tmp_path):
    """Whoever changes moves, and digests with them, does not get the old figures for the new mechanism."""
    content = json.loads(stored(MADE[name](), tmp_path).read_bytes())
    place = next(i for i, (_, _, keep, _, _) in enumerate(content["moves"]) if 0 < keep < 1)
    s, x, keep, _, table = content["moves"][place]
    content["moves"][place] = [s, x, keep - 1e-6, 1 - keep + 1e-6, table]
    refused(signed(content), tmp_path, r"its moves make P\(y=")


FITTED = FitSchema(
    (ColumnSpec("s"),), (ColumnSpec("x"),), True, "skip", (Leak("other", 7, 0.25, 0.001, 0.75, True),), True
)
WRONG_ABOUT_THE_FIT = [
    ("declared", "yes"),
    ("scanned", 1),
    ("missing", None),
    ("sensitive", [{"name": 5, "edges": [], "called": ""}]),
    ("public", [{"name": "x", "edges": ["a"], "called": ""}]),
    ("leaks", [{**FITTED.leaks[0]._asdict(), "column": 7}]),
    ("leaks", [{**FITTED.leaks[0]._asdict(), "information": "much"}]),
    ("leaks", [{**FITTED.leaks[0]._asdict(), "n_values": 1.5}]),
    ("leaks", [{**FITTED.leaks[0]._asdict(), "at_least": "no"}]),
    ("leaks", [{"column": "other"}]),
    ("missing", "inf"),
    ("public", [{"name": "\ud800", "edges": [], "called": ""}]),
    ("leaks", [{**FITTED.leaks[0]._asdict(), "guessed": 1.5}]),
    ("leaks", [{**FITTED.leaks[0]._asdict(), "information": 1e308}]),
    ("more", 1),
]


@pytest.mark.parametrize(("name", "value"), WRONG_ABOUT_THE_FIT)
def test_what_it_says_of_the_fit_has_the_right_types(name, value, tmp_path):
    mechanism = linred.markov(joints.example_1(), 0.5)
    mechanism = mechanism.replace(fitted=FITTED)
    content = json.loads(stored(mechanism, tmp_path).read_bytes())
    content["fitted"][name] = value
    refused(signed(content), tmp_path)


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        ("certified", "ldp", -1.0),
        ("certified", "ldp", "none"),
        ("certified", "confidence", 1.0),
        ("certified", "basis", "hearsay"),
        ("certified", "n_records", 0.5),
        ("certified", "together", "yes"),
        ("certified", "because", 7),
        ("certified", "ceiling", {}),
        ("design", "dtv", 1.5),
        ("design", "n_passed", -1),
        ("design", "redrawn_s", [99]),
        ("design", "redrawn_x", "all"),
        ("design", "more", 1),
    ],
)
def test_what_it_says_of_its_certificate_has_the_right_types(part, name, value, tmp_path):
    content = json.loads(stored(MADE["with confidence"](), tmp_path).read_bytes())
    content[part][name] = value
    refused(signed(content), tmp_path)


@pytest.mark.parametrize("target", [{"ldp": "1", "log_lift": "inf"}, {"ldp": -1, "log_lift": 1}, {"ldp": 1}, 5])
def test_targets_are_numbers(target, small, tmp_path):
    content = json.loads(small)
    content["made"]["target"] = target
    refused(signed(content), tmp_path)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"decimal": "abc"}, "x[1] = 'abc' is not a decimal"),
        ({"decimal": "sNaN"}, "x[1] = 'sNaN' can be compared with nothing"),
        ({"decimal": [1]}, "x[1] = [1] is not a decimal"),
        ({"date": "2013-13-01"}, "x[1] = '2013-13-01' is not a date"),
        ({"bytes": "zz"}, "x[1] = 'zz' is not a bytes"),
        ({"datetime64": [10**26, "s", 1]}, "x[1] = [100000000000000000000000000, 's', 1] is not a datetime64"),
        ({"datetime64": "2013"}, "x[1] = '2013' is not a datetime64"),
        ({"code": "1"}, "x[1] = {'code': '1'} is no label: known types are bytes, date, datetime, time, decimal"),
        ({}, "x[1] = {} is no label"),
    ],
)
def test_labels_that_cannot_be_read_are_named(value, message):
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}"):
        labels.from_json("x", ["a", value])

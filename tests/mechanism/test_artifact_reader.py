"""Artifacts load as they were stored, those of earlier versions too, and damaged ones are refused.

tests/data/artifact_v*.json were written by each version of the format, by `linred fit` or by `Sanitizer`, on
tests/data/adult.csv; the digests are of what that version drew. They are never written again.
"""

import copy
import hashlib
import json
import math
import re
import traceback
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linred
from linred.columns.schema import ColumnSpec, FitSchema, Leak
from linred.errors import ArtifactError
from linred.mechanism import artifact_writer as artifact
from linred.privacy.target import Target
from support import joints
from support.artifacts import MADE, stored

DATA = Path(__file__).parents[1] / "data"
DRAWN = {
    "artifact_v1_certified": ("9c67a3aa90ae419d", "929e127df08dffa7"),
    "artifact_v2_certified": ("9c67a3aa90ae419d", "929e127df08dffa7"),
    "artifact_v3_targets": ("8dbf786557d9bba0", "cf75f93753a32e06"),
    "artifact_v3_whole": ("eb89b9a6840236f6", "1da685fb9890d93c"),
    "artifact_v1_bins": ("413fe6770b2cfff5", "b58c3e9167ceb91f"),
}


def limit_of_pair(a, b):
    return 0.9 if a[1] == b[1] else 1.2 if a[0] == b[0] else math.inf


TARGETS_OF = {
    "artifact_v1_certified": Target(ldp=1.0),
    "artifact_v2_certified": Target(ldp=1.0),
    "artifact_v1_bins": Target(ldp=1.0, log_lift=0.5),
    "artifact_v3_whole": Target(ldp=0.0),
    "artifact_v3_targets": Target(
        ldp=1.2,
        max_lift=0.7,
        min_lift=0.9,
        dp=0.8,
        neighbors="hamming",
        pairs=limit_of_pair,
        secrets={(0,): 0.1, lambda label: label[1]: 1.0},
        given_x=2.0,
        max_changed_by_s=0.5,
    ),
}
"""The targets as they were asked for."""


@pytest.mark.parametrize("name", DRAWN)
def test_artifacts_of_earlier_versions_draw_what_they_drew(name):
    mechanism, rng = linred.load(DATA / f"{name}.json"), np.random.default_rng(15)
    s, x = (rng.integers(0, n, 20_000).astype(np.uint8) for n in mechanism.joint.shape)
    how = {"key": bytes(range(32)), "context": "stored"}
    drawn = (mechanism.sampler().sample(s, x, **how, **ids) for ids in ({}, {"ids": np.arange(20_000)}))
    assert tuple(hashlib.sha256(y.tobytes()).hexdigest()[:16] for y in drawn) == DRAWN[name]


def test_a_fit_with_confidence_is_not_optimal_in_any_version():
    names = {linred.load(DATA / f"artifact_v{version}_certified.json").name for version in (1, 2)}
    assert names == {"certified"}


def test_an_artifact_of_every_version_is_stored():
    versions = {json.loads((DATA / f"{name}.json").read_text())["version"] for name in DRAWN}
    assert versions == set(range(1, artifact.VERSION + 1))


@pytest.mark.parametrize("name", DRAWN)
def test_artifacts_of_earlier_versions_have_the_figures_that_they_say(name):
    content, mechanism = json.loads((DATA / f"{name}.json").read_text()), linred.load(DATA / f"{name}.json")
    report = mechanism.report()
    for kind, figures in (
        ("before", report.before),
        ("after", report.after),
        ("sampled_integers_at_most", mechanism.sampler().certificate()),
    ):
        stated = {key: math.inf if value == "inf" else value for key, value in content["figures"][kind].items()}
        assert figures.as_dict() == pytest.approx(stated, rel=1e-12)
    assert mechanism.target == TARGETS_OF[name].settled(mechanism.joint)
    assert (mechanism.certified is None) == (content["certified"] is None)
    assert [part.name for part in mechanism.fitted.public] == [part["name"] for part in content["fitted"]["public"]]


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


UNREADABLE = {
    "missing.json": (FileNotFoundError, "no such file"),
    "folder": (IsADirectoryError, "is a directory, not a file"),
    "unreadable.json": (PermissionError, "no permission to read it"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_is_named_in_a_sentence(name, tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    error, said = UNREADABLE[name]
    if error is PermissionError:  # root may read any file

        def open_nothing(*_):
            raise PermissionError(13, "Permission denied", name)

        monkeypatch.setattr("builtins.open", open_nothing)
    with pytest.raises(error) as caught:
        linred.load(tmp_path / name)
    assert str(caught.value) == f"{tmp_path / name}: {said}"


def leaves(value, place=()):
    """The places of all values that have no parts."""
    parts = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    found = [leaf for name, part in parts for leaf in leaves(part, (*place, name))]
    return found or [place]


MARKS = ("Zq7Marker", 918273645, 0.918273645, ["Zq7Marker"], {"Zq7Marker": 918273645}, {"decimal": "Zq7Marker"})


@pytest.mark.parametrize(
    "asked", [{"alpha": 0.5}, {"ldp": 0.0}, {"ldp": 0.9, "pairs": [[0, 0.5], [0.4, 0]], "secrets": {(0,): 0.3}}]
)
@pytest.mark.parametrize("mark", MARKS, ids=str)
def test_no_error_shows_what_is_in_the_file(mark, asked, tmp_path):
    """A marker in place of each value, with a new digest: labels, counts and probabilities are confidential."""
    joint = linred.Joint.from_counts([[31, 10], [10, 20]], [("f", 1), ("m", 2)], ["a", "b"])
    mechanism = linred.non_markov(joint, **asked).replace(fitted=FITTED)
    mechanism = mechanism.replace(certified=linred.certify(mechanism))
    content = json.loads(stored(mechanism, tmp_path).read_bytes())
    n_refused = 0
    for place in leaves(content):
        changed = copy.deepcopy(content)
        part = changed
        for name in place[:-1]:
            part = part[name]
        part[place[-1]] = mark
        (tmp_path / "marked.json").write_bytes(signed(changed))
        try:
            linred.load(tmp_path / "marked.json")
        except ArtifactError as error:
            said, n_refused = "".join(traceback.format_exception(error)), n_refused + 1
            assert not re.search("Zq7|918273", said) or place == ("version",), said
    assert n_refused > 30


def signed(content):
    content.pop("sha256", None)
    return json.dumps({**content, "sha256": artifact.digest(content)}).encode()


@pytest.mark.parametrize(
    ("place", "number"),
    [
        (("moves", 0, 2), -1),
        (("moves", 0, 2), 0.5),
        (("moves", 0, 2), 2**63 - 1),
        (("moves", 0, 2), 2**70),
        (("moves", 0, 3), 0),
        (("moves", 0, 3), 10**6),
        (("moves", 0, 4), 99),
        (("tables", 1, 0, 1), 0),
        (("tables", 1, 0, 1), 1.0),
        (("tables", 0, 0, 1), 2**63 - 1),
        (("tables", 0), []),
        (("made", "sees_s"), False),
        (("in_whole_numbers",), False),
        (("in_whole_numbers",), 1),
    ],
    ids=str,
)
def test_whole_numbers_that_cannot_be_are_refused(place, number, tmp_path):
    """With new digests of the content; those of the integers would not agree either, but are read last."""
    content = json.loads((DATA / "artifact_v3_whole.json").read_text())
    part = content
    for name in place[:-1]:
        part = part[name]
    part[place[-1]] = number
    path = tmp_path / "changed.json"
    path.write_bytes(signed(content))
    with pytest.raises(ArtifactError, match=r"^[^\n]*$"):
        linred.load(path)


def test_a_path_is_no_number():
    """open() reads from a file descriptor, such as standard input, if it is given a number."""
    with pytest.raises(TypeError, match=r"expected str, bytes or os\.PathLike object, not int"):
        linred.load(987)


def test_versions_and_other_files_are_refused(small, tmp_path):
    content = json.loads(small)
    refused(signed({**content, "version": 4}), tmp_path, "its version is 4 .* upgrade linred")
    for version in ("1", 0, -1, True, 1.0, None):
        refused(signed({**content, "version": version}), tmp_path, f"its version is {version!r}")
    for scheme in (2, True, None):
        refused(signed({**content, "scheme_by_number": scheme}), tmp_path, "a scheme that this linred does not know")
    for wrong in ("", "x" * 32, 5, "A" * 32):
        refused(signed({**content, "id": wrong}), tmp_path)
    refused(b'{"format": "other"}', tmp_path, "not a linred mechanism")
    refused(b"[1, 2]", tmp_path, "not a linred mechanism")
    refused(b"\xff\xfe", tmp_path, "not JSON")
    refused(b"[" * 100_000, tmp_path, "not JSON")
    refused(small.replace(b'"version"', b'"version": 1, "version"', 1), tmp_path, "the same name twice")
    refused(small.replace(b'"version": 3', b'"version": NaN', 1), tmp_path, "the number NaN")


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
        said = r"x_labels\[[01]\] does not have one part for each of 2 public columns"
        refused(signed({**content, "x_labels": wrong}), tmp_path, said)


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
    refused(signed(content), tmp_path, r"its moves contradict its figures at s_labels\[\d\], x_labels\[\d\]")


@pytest.mark.parametrize("name", ["markov", "non_markov", "optimal", "independent", "k_rr"])
def test_an_alpha_that_the_figures_contradict_is_refused(name, tmp_path):
    content = json.loads(stored(MADE[name](), tmp_path).read_bytes())
    content["made"]["alpha"] = 0.25
    refused(signed(content), tmp_path, "its (alpha contradicts its|moves contradict its) figures")


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


FORGED = {
    "a target that the plug-in figures miss": ("certified", "ldp", 0.5),
    "a lift": ("certified", "max_lift", 0.1),
    "an average": ("certified", "mutual_information", 0.0),
    "a worst case": ("ceiling", "ldp", 1.5),
    "a worst case of a lift": ("ceiling", "max_lift", 1.5),
    "a worst case of the log-lift": ("ceiling", "log_lift", 1.5),
    "a worst case below what is certified": ("ceiling", "maximal_leakage", 0.4),
}


@pytest.mark.parametrize("what", FORGED)
def test_a_certificate_that_its_own_tables_contradict_is_refused(what, tmp_path):
    """Each figure is changed alone: whoever forges one has to forge the tables too."""
    part, name, value = FORGED[what]
    content = json.loads(stored(MADE["with confidence"](), tmp_path).read_bytes())
    figures = content["certified"] if part == "certified" else content["certified"]["ceiling"]
    assert figures[name] == "inf" or figures[name] > value
    figures[name] = value
    refused(signed(content), tmp_path, "its certificate is below what its own tables show")


@pytest.mark.parametrize("name", MADE)
def test_a_true_certificate_is_not_refused(name, tmp_path):
    """Of the counts of the fit, and of other records of the same distribution, which may fall below the plug-in."""
    mechanism = MADE[name]()
    if mechanism.joint.counts is not None:
        certified = mechanism.replace(certified=linred.certify(mechanism))
        assert linred.load(stored(certified, tmp_path)).certified == certified.certified
    n, p = 10_000, mechanism.joint.p_sx
    counts = np.random.default_rng(5).multinomial(n, p.ravel() / p.sum()).reshape(p.shape)
    held_out = linred.Joint.from_counts(counts, mechanism.joint.s_labels, mechanism.joint.x_labels)
    certified = mechanism.replace(certified=linred.certify(mechanism, held_out), design=None)
    certified.save(tmp_path / "mechanism.json", force=True)
    assert linred.load(tmp_path / "mechanism.json").certified == certified.certified


SQUARE = [[0.0, 1.0, "inf", 1.0], [1.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 1.0], [1.0, 1.0, 1.0, 0.0]]
SECRET = {"limit": 0.4, "groups": [0, 0, 1, 1], "columns": [0]}
WRONG_TARGETS = {
    "text for a number": {"ldp": "1"},
    "text for a limit": {"given_x": "none"},
    "negative": {"ldp": -1},
    "a truth value": {"max_lift": True},
    "no share": {"max_changed_by_s": 1.5},
    "an infinite share": {"max_changed_by_s": "inf"},
    "a null": {"min_lift": None},
    "too large": {"log_lift": 10**400},
    "neighbours without a limit": {"dp": "inf"},
    "a limit without neighbours": {"neighbors": None},
    "neighbours by name": {"neighbors": "hamming"},
    "neighbours as numbers": {"neighbors": [[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]]},
    "neighbours one way": {"neighbors": [[False, True, False, False]] + [[False] * 4] * 3},
    "too few neighbours": {"neighbors": [[False, True], [True, False]]},
    "pairs of another shape": {"pairs": [[0.0, 1.0], [1.0, 0.0]]},
    "pairs of rows of two lengths": {"pairs": [[0.0], *SQUARE[1:]]},
    "no pairs": {"pairs": []},
    "pairs by name": {"pairs": {"a": 1.0}},
    "a negative pair": {"pairs": [[0.0, -1.0, 1.0, 1.0], *SQUARE[1:]]},
    "a pair that is text": {"pairs": [[0.0, "nan", 1.0, 1.0], *SQUARE[1:]]},
    "a pair of a symbol and itself": {"pairs": [[0.5, 1.0, 1.0, 1.0], *SQUARE[1:]]},
    "an infinite diagonal": {"pairs": [["inf", 1.0, 1.0, 1.0], *SQUARE[1:]]},
    "secrets by name": {"secrets": "each"},
    "a secret that is a list": {"secrets": [[0, 0, 1, 1]]},
    "a negative secret": {"secrets": [{**SECRET, "limit": -0.4}]},
    "too few groups": {"secrets": [{**SECRET, "groups": [0, 1], "columns": None}]},
    "groups of text": {"secrets": [{**SECRET, "groups": ["f", "f", "m", "m"]}]},
    "a negative group": {"secrets": [{**SECRET, "groups": [-1, -1, 0, 0]}]},
    "a group beyond S": {"secrets": [{**SECRET, "groups": [0, 0, 4, 4], "columns": None}]},
    "a column that is not there": {"secrets": [{**SECRET, "columns": [2]}]},
    "groups of another column": {"secrets": [{**SECRET, "columns": [1]}]},
    "no column": {"secrets": [{**SECRET, "columns": []}]},
    "columns by name": {"secrets": [{**SECRET, "columns": ["sex"]}]},
    "a field more": {"secrets": [{**SECRET, "more": 1}]},
    "a limit more": {"more": 1.0},
}


@pytest.fixture(scope="module")
def with_all_limits(tmp_path_factory):
    return stored(MADE["all limits"](), tmp_path_factory.mktemp("limits")).read_bytes()


@pytest.mark.parametrize("what", WRONG_TARGETS)
def test_a_target_that_cannot_be_is_refused(what, with_all_limits, tmp_path):
    content = json.loads(with_all_limits)
    assert content["made"]["target"].keys() >= WRONG_TARGETS[what].keys() or what == "a limit more"
    content["made"]["target"] |= WRONG_TARGETS[what]
    refused(signed(content), tmp_path)


def test_a_target_has_all_limits(with_all_limits, tmp_path):
    for name in json.loads(with_all_limits)["made"]["target"]:
        content = json.loads(with_all_limits)
        del content["made"]["target"][name]
        refused(signed(content), tmp_path, "its target lacks a field or has an unknown one")
    for wrong in (5, "ldp", [1.0], {}):
        content["made"]["target"] = wrong
        refused(signed(content), tmp_path)


TIGHTER = {
    "ldp": {"ldp": 0.1},
    "log_lift": {"log_lift": 0.1},
    "max_lift": {"max_lift": 0.1},
    "min_lift": {"min_lift": 0.1},
    "dp": {"dp": 0.1},
    "pairs": {"pairs": [[0.0 if i == j else 0.1 for j in range(4)] for i in range(4)]},
    "secrets": {"secrets": [{**SECRET, "limit": 0.1}]},
    "given_x": {"given_x": 0.1},
    "max_changed_by_s": {"max_changed_by_s": 0.01},
}


@pytest.mark.parametrize("limit", TIGHTER)
def test_a_target_that_its_own_tables_miss_is_refused(limit, with_all_limits, tmp_path):
    """Each limit alone, with the others infinite: whoever forges one has to forge the tables too."""
    content = json.loads(with_all_limits)
    none = {name: "inf" for name in content["made"]["target"]} | {"pairs": None, "secrets": None, "max_changed_by_s": 1}
    neighbors = {"neighbors": content["made"]["target"]["neighbors"] if limit == "dp" else None}
    content["made"]["target"] = {**none, **neighbors, **TIGHTER[limit]}
    refused(signed(content), tmp_path, "its tables do not meet its target")


def test_a_target_of_version_2_limits_nothing_else(tmp_path):
    content = json.loads((DATA / "artifact_v2_certified.json").read_text())
    for target, expected in (
        ({"ldp": 1.0, "log_lift": "inf"}, Target(ldp=1.0)),
        ({"ldp": 1.0, "log_lift": 2.0}, Target(ldp=1.0, log_lift=2.0)),
        ({"ldp": "inf", "log_lift": "inf"}, Target()),
        (None, None),
    ):
        content["made"]["target"] = target
        (tmp_path / "v2.json").write_bytes(signed(content))
        assert linred.load(tmp_path / "v2.json").target == expected
    for wrong in ({"ldp": "1", "log_lift": "inf"}, {"ldp": -1, "log_lift": 1}, {"ldp": 1}, 5):
        content["made"]["target"] = wrong
        refused(signed(content), tmp_path)

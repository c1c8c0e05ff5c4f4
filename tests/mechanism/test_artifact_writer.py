"""Artifacts: an exact round trip, who may read them, and files that are kept."""

import json
import math
import os
import pickle
import stat
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import linred
from linred.columns.schema import ColumnSpec, FitSchema, Leak
from linred.mechanism.artifact_writer import summary
from linred.privacy import metrics
from support import joints, stats
from support.artifacts import MADE, stored
from support.exact_figures import log_ratio

KEY = bytes(range(32))


@pytest.mark.parametrize("name", MADE)
def test_the_round_trip_is_exact(name, tmp_path):
    mechanism = MADE[name]()
    again = linred.load(stored(mechanism, tmp_path))
    for part in ("keep", "move", "table_of"):
        np.testing.assert_array_equal(getattr(again, part), getattr(mechanism, part))
    mine, theirs = (one.sampler().kernel for one in (mechanism, again))
    np.testing.assert_array_equal(mine.rows, theirs.rows)
    np.testing.assert_array_equal(mine.cells, theirs.cells)
    for part in ("before", "after", "utility"):
        assert getattr(again.report(), part) == getattr(mechanism.report(), part)
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


def test_pairs_that_never_occur_keep_their_rows_under_a_limit_given_x(tmp_path):
    """They must meet the limit too, so that they are not drawn from P_Y; checked against P(y|s,x) entry by entry."""
    mechanism = MADE["given x"]()
    assert not mechanism.draws_unseen_from_p_y
    again = linred.load(stored(mechanism, tmp_path))
    assert not again.draws_unseen_from_p_y
    unseen = mechanism.joint.counts == 0
    assert unseen.sum() == 2
    rows = again.p_y_given_sx[unseen]
    np.testing.assert_array_equal(rows, mechanism.p_y_given_sx[unseen])
    assert (abs(rows - again.p_y) > 1e-3).any(axis=1).all()
    assert (again.p_y_given_sx.max(axis=0) <= np.exp(1.0 + 1e-9) * again.p_y_given_sx.min(axis=0)).all()
    s, x = (codes.repeat(1000) for codes in np.nonzero(unseen))
    drawn = (one.sampler().sample(s, x, key=KEY, context="unseen") for one in (mechanism, again))
    np.testing.assert_array_equal(*drawn)


def test_a_target_is_stored_in_the_order_of_the_labels(tmp_path):
    """Every limit as it was settled, by hand; the labels of S are ("f", 20), ("f", 40), ("m", 20), ("m", 40)."""
    content = json.loads(stored(MADE["all limits"](), tmp_path).read_bytes())
    differ = [[abs(i // 2 - j // 2) + abs(i % 2 - j % 2) for j in range(4)] for i in range(4)]
    assert content["made"]["target"] == {
        "ldp": 0.9,
        "log_lift": 0.8,
        "max_lift": 0.6,
        "min_lift": 0.7,
        "dp": 0.8,
        "neighbors": [[n == 1 for n in row] for row in differ],
        "pairs": [[0.0 if i == j else 0.9 if i % 2 != j % 2 else 0.5 for j in range(4)] for i in range(4)],
        "secrets": [{"limit": 0.4, "groups": [0, 0, 1, 1], "columns": [0]}],
        "given_x": 1.5,
        "max_changed_by_s": 0.6,
    }
    target = json.loads(stored(MADE["secrets"](), tmp_path / "more").read_bytes())["made"]["target"]
    assert [secret["columns"] for secret in target["secrets"]] == [[0], [1, 0], None]
    assert [secret["limit"] for secret in target["secrets"]] == [0.3, "inf", 0.4]
    assert [secret["groups"] for secret in target["secrets"]] == [[0, 0, 1, 1], [0, 1, 2, 3], [0, 1, 0, 1]]
    pairs = json.loads(stored(MADE["neighbours and pairs"](), tmp_path / "pairs").read_bytes())["made"]["target"][
        "pairs"
    ]
    assert pairs == [
        [0.0, "inf", "inf", 0.4],
        ["inf", 0.0, "inf", "inf"],
        ["inf"] * 2 + [0.0, "inf"],
        [1e-3, "inf", "inf", 0.0],
    ]


@pytest.mark.parametrize("name", MADE)
def test_it_says_what_was_reached_for_each_limit(name, tmp_path):
    """In the sampled integers, in Fractions: the LDP given x is rounded up, and each limit has its figure beside it."""
    mechanism = MADE[name]()
    figures = json.loads(stored(mechanism, tmp_path).read_bytes())["figures"]
    certificate = mechanism.sampler().certificate()
    assert len(figures["reached"]) == len(certificate.reached)
    for stated, one in zip(figures["reached"], certificate.reached, strict=True):
        figure = math.inf if stated["figure"] == "inf" else stated["figure"]
        assert (stated["name"], stated["place"], stated["limit"], figure) == (
            one.name,
            one.place,
            one.limit,
            one.figure,
        )
        assert figure <= stated["limit"]
    above = math.inf if figures["ldp_given_x"] == "inf" else figures["ldp_given_x"]
    if mechanism.joint.shape[1] > 6:
        assert above >= linred.ldp_given_x(mechanism) * (1.0 - 1e-9)
        return
    channel, exact = stats.channel(mechanism.sampler()), 0.0
    for x in range(mechanism.joint.shape[1]) if mechanism.sees_s else ():
        seen = np.flatnonzero(~mechanism.joint.unseen[:, x])
        for y in range(mechanism.joint.shape[1]):
            column = [channel[s][x, y] for s in seen]
            if column and max(column) > 0:
                exact = max(exact, math.inf if min(column) == 0 else log_ratio(max(column), min(column)))
    assert exact <= above <= exact * (1.0 + 1e-12) + 1e-12 or exact == above == math.inf


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
    assert content["version"] == 3
    figures = metrics.ldp(joints.example_1())
    assert content["figures"]["before"]["ldp"] == figures


def test_an_existing_file_is_kept(tmp_path):
    path = stored(linred.markov(joints.example_1(), 0.5), tmp_path)
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="exists: force=True replaces it"):
        linred.markov(joints.example_1(), 0.7).save(path)
    assert path.read_bytes() == before
    linred.markov(joints.example_1(), 0.7).save(path, force=True)
    assert linred.load(path).alpha == 0.7
    assert [file.name for file in tmp_path.iterdir()] == ["mechanism.json"]


def test_a_label_that_cannot_be_stored_is_named_and_nothing_is_written(tmp_path):
    joint = linred.Joint([[0.5, 0.5]], x_labels=["a", frozenset([1])])
    with pytest.raises(ValueError, match=r"^x_labels\[1\] is a frozenset, which an artifact cannot hold"):
        linred.markov(joint, 0.5).save(tmp_path / "m.json")
    assert list(tmp_path.iterdir()) == []


SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "artifact.schema.json").read_text())


@pytest.mark.parametrize("name", MADE)
def test_what_is_written_follows_the_published_schema(name, tmp_path):
    content = json.loads(stored(MADE[name](), tmp_path).read_bytes())
    jsonschema.validate(content, SCHEMA)
    for part in content:  # every part is needed, and nothing else may be there
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({key: value for key, value in content.items() if key != part}, SCHEMA)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**content, "more": 1}, SCHEMA)


def test_an_id_names_a_mechanism_and_depends_on_nothing(tmp_path):
    one, other = (linred.markov(joints.example_1(), 0.5) for _ in range(2))
    assert one.id != other.id
    assert one.replace(gap=0.0).id == one.id
    assert linred.load(stored(one, tmp_path)).id == one.id
    assert pickle.loads(pickle.dumps(one)).id == one.id


def test_the_summary_says_who_bears_the_changes(tmp_path):
    joint = linred.Joint.from_counts([[9, 1, 0], [2, 8, 0], [0, 0, 0]], ["label one", "label two", "label never"])
    mechanism = linred.optimal(joint, ldp=0.5)
    figures = json.loads(stored(mechanism, tmp_path).read_text())["figures"]
    changed = joint.p_sx * (1.0 - np.einsum("sxx->sx", mechanism.p_y_given_sx))
    for by, shares in (("s", changed.sum(axis=1)[:2] / joint.p_s[:2]), ("x", changed.sum(axis=0)[:2] / joint.p_x[:2])):
        assert figures[f"changed_by_{by}"][:2] == pytest.approx(shares.tolist(), abs=1e-12)
        assert figures[f"changed_by_{by}"][2:] == [None]
    assert not any(label in json.dumps(summary(mechanism)) for label in joint.s_labels)

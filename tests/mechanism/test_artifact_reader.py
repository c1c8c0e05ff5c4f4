"""Artifacts that an earlier version wrote: they load, and draw what they drew.

tests/data/artifact_v1_*.json were written by `linred fit` before the modules were put into packages, on
tests/data/adult.csv; the digests are of what that version drew. They are never written again.
"""

import hashlib
import json
import math
from pathlib import Path

import numpy as np
import pytest

import linred

DATA = Path(__file__).parents[1] / "data"
DRAWN = {
    "artifact_v1_certified": ("9c67a3aa90ae419d", "929e127df08dffa7"),
    "artifact_v1_bins": ("413fe6770b2cfff5", "b58c3e9167ceb91f"),
}


@pytest.mark.parametrize("name", DRAWN)
def test_artifacts_of_earlier_versions_draw_what_they_drew(name):
    mechanism, rng = linred.load(DATA / f"{name}.json"), np.random.default_rng(15)
    s, x = (rng.integers(0, n, 20_000).astype(np.uint8) for n in mechanism.joint.shape)
    how = {"key": bytes(range(32)), "context": "stored"}
    drawn = (mechanism.sampler().sample(s, x, **how, **ids) for ids in ({}, {"ids": np.arange(20_000)}))
    assert tuple(hashlib.sha256(y.tobytes()).hexdigest()[:16] for y in drawn) == DRAWN[name]


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
    assert mechanism.target._asdict() == {
        key: math.inf if value == "inf" else value for key, value in content["made"]["target"].items()
    }
    assert (mechanism.certified is None) == (content["certified"] is None)
    assert [part.name for part in mechanism.fitted.public] == [part["name"] for part in content["fitted"]["public"]]

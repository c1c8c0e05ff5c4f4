"""`Sanitizer`: fit and transform by the conventions of scikit-learn."""

import inspect
import pickle
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest

import linred
from linred.columns.schema import ColumnSpec, FitSchema, parts_of
from linred.design import registry
from linred.errors import NotFittedError
from linred.privacy.target import TARGETS, Target
from linred.sampling import keystream
from support.frames import (
    CONTEXT,
    DATA,
    EDGES,
    JOB,
    JOINT,
    KEY,
    KINDS,
    MECHANISM,
    NAMED,
    SEX,
    TWICE,
    N,
    collected,
    every_kind,
    fit,
)


def clone(sanitizer):
    """What sklearn.base.clone does, and checks."""
    parameters = sanitizer.get_params(deep=False)
    copy = type(sanitizer)(**parameters)
    assert all(copy.get_params()[name] is value for name, value in parameters.items())
    return copy


@every_kind
def test_fit_and_transform(kind):
    sanitizer = linred.Sanitizer("sex", "job", ldp=0.4, key=KEY, context="c")
    frame = KINDS[kind](DATA)
    result = sanitizer.fit_transform(frame, y=[0] * N)
    mechanism = linred.optimal(JOINT, ldp=0.4)
    context = keystream.context_of_columns("c", parts_of("public", "job"))
    assert collected(result)["job"] == mechanism.sanitize(SEX, JOB, key=KEY, context=context) != JOB
    assert collected(sanitizer.transform(frame)) == collected(result)
    assert sanitizer.mechanism_.fitted == FitSchema((ColumnSpec("sex"),), (ColumnSpec("job"),))
    assert sanitizer.mechanism_.joint.counts.tolist() == JOINT.counts.tolist()
    assert sanitizer.feature_names_in_.tolist() == list(DATA)
    assert sanitizer.n_features_in_ == 6
    assert sanitizer.get_feature_names_out().tolist() == list(collected(result))
    assert sanitizer.fit(frame) is sanitizer


@pytest.mark.parametrize(
    ("settings", "made"),
    [
        ({"mechanism": "optimal", "ldp": 0.4, "sees_s": False}, partial(linred.optimal, ldp=0.4, sees_s=False)),
        ({"mechanism": "non-markov", "log_lift": 0.2}, partial(linred.non_markov, log_lift=0.2)),
        ({"mechanism": "markov", "ldp": 0.4, "log_lift": 0.2}, partial(linred.markov, ldp=0.4, log_lift=0.2)),
        ({"mechanism": "markov", "alpha": 0.3, "sees_s": False}, partial(linred.markov, alpha=0.3)),
        ({"mechanism": linred.selective, "ldp": 0.4}, partial(linred.selective, ldp=0.4)),
        ({"mechanism": partial(linred.markov, alpha=0.2), "sees_s": False}, partial(linred.markov, alpha=0.2)),
    ],
)
def test_mechanisms_by_name_or_function(settings, made):
    sanitizer = linred.Sanitizer("sex", "job", **settings).fit(DATA)
    expected = made(JOINT)
    assert sanitizer.mechanism_.described() == expected.described()
    assert sanitizer.mechanism_.sees_s == expected.sees_s
    np.testing.assert_array_equal(sanitizer.mechanism_.keep, expected.keep)


def test_fitted_without_s_it_transforms_frames_without_s():
    sanitizer = fit(mechanism="optimal", sees_s=False, key=KEY, context="c").fit(DATA)
    assert sanitizer.transform({"job": JOB})["job"] == sanitizer.transform(DATA)["job"]


def test_settings_go_through_to_the_frame():
    sanitizer = fit(key=KEY, id="id", context="c", columns=["job", "sex", "year"], keep_sensitive=True, unseen="null")
    data = {**DATA, "job": ["new", *JOB[1:]]}
    assert sanitizer.fit(DATA).transform(data) == linred.sanitize_frame(
        data,
        MECHANISM,
        **NAMED,
        key=KEY,
        start=0,
        id="id",
        context="c",
        columns=["job", "sex", "year"],
        keep_sensitive=True,
        unseen="null",
    )
    assert sanitizer.get_feature_names_out(list(DATA)).tolist() == ["year", "sex", "job"]
    assert fit(seed=4).fit_transform(DATA)["job"] == MECHANISM.sanitize(SEX, JOB, seed=4, context=CONTEXT)


def test_parameters_clones_and_pickles():
    sanitizer = fit(bins=EDGES, public=["job", "age"], key=KEY, context="c", columns=[]).fit(DATA)
    copy = clone(sanitizer)
    assert not hasattr(copy, "mechanism_")
    assert copy.fit(DATA).transform(DATA) == sanitizer.transform(DATA)
    again = pickle.loads(pickle.dumps(sanitizer))
    assert again.get_params() == sanitizer.get_params()
    assert again.transform(DATA) == sanitizer.transform(DATA)
    assert copy.set_params(alpha=0.1, id="id") is copy
    assert (copy.alpha, copy.id, copy.get_params()["alpha"]) == (0.1, "id", 0.1)
    with pytest.raises(
        ValueError, match=r"^'epsilon' is not a parameter of Sanitizer, which has sensitive, public, target, ldp, "
    ):
        copy.set_params(alpha=0.9, epsilon=1)
    assert copy.alpha == 0.1


def test_it_shows_what_is_not_by_default_and_no_key():
    assert repr(linred.Sanitizer("sex", ["job"])) == "Sanitizer(sensitive='sex', public=['job'])"
    shown = repr(linred.Sanitizer("sex", "job", ldp=1, bins={"age": [3]}, key=KEY, sees_s=False))
    assert shown == "Sanitizer(sensitive='sex', public='job', ldp=1, sees_s=False, bins={'age': [3]}, key=<hidden>)"


LIMITS = [
    {"ldp": 0.4, "max_lift": 0.1},
    {"target": Target(min_lift=0.1)},
    {"pairs": {("f", "m"): 0.1}},
    {"neighbors": lambda a, b: True, "dp": 0.2, "given_x": 1.0},
    {"secrets": [{"f": 0, "m": 1}], "ldp": 0.2, "max_changed_by_s": 0.9},
    {"max_changed": 0.1, "least": "log_lift"},
    {"ldp": 0.2, "distortion": {("a", "bb"): 1, ("bb", "a"): 2, ("a", "ccc"): 3, ("ccc", "a"): 1,
                                ("bb", "ccc"): 2, ("ccc", "bb"): 1}},
]  # fmt: skip


@pytest.mark.parametrize("asked", LIMITS, ids=lambda asked: " ".join(asked))
def test_all_limits_are_settings(asked):
    """They reach the mechanism, survive a clone as the same objects, and settings by set_params count too."""
    sanitizer = linred.Sanitizer("sex", "job", seed=3, **asked)
    expected = linred.fit(SEX, JOB, **asked)
    assert 0.0 < expected.dtv() < 0.9
    for one in (sanitizer, clone(sanitizer), linred.Sanitizer("sex", "job", seed=3).set_params(**asked)):
        mechanism = one.fit(DATA).mechanism_
        np.testing.assert_array_equal(mechanism.keep, expected.keep)
        assert mechanism.target == expected.target
    assert sanitizer.get_params().keys() == set(inspect.signature(linred.Sanitizer).parameters)
    assert {*TARGETS, "target", "max_changed", "max_distortion", "least", "distortion"} < sanitizer.get_params().keys()


def test_settings_by_label_are_not_shown():
    shown = repr(linred.Sanitizer("sex", "job", **LIMITS[2], secrets="each", distortion=[["x"]], target=Target(ldp=2)))
    expected = "target=Target(ldp=2.0), pairs=<dict>, secrets='each', distortion=<list>"
    assert shown == f"Sanitizer(sensitive='sex', public='job', {expected})"


def test_bins_have_a_distance():
    """By their centres, and open bins count as wide as their neighbour: 15, 25, 40 and 60."""
    centres = np.array([15.0, 25.0, 40.0, 60.0])
    frame = {"sex": SEX, "age": [15 + i % 60 for i in range(N)]}
    for distance, d in (("absolute", np.abs(np.subtract.outer(centres, centres))),
                        ("squared", np.subtract.outer(centres, centres) ** 2)):  # fmt: skip
        how = {"ldp": 0.05, "distortion": distance}
        mechanism = linred.Sanitizer("sex", "age", bins={"age": [20, 30, 50]}, **how).fit(frame).mechanism_
        np.testing.assert_allclose(mechanism.distortion, d)
        assert mechanism.expected_distortion(d) > 0.0
    with pytest.raises(ValueError, match=r"^distortion = 'absolute': x_labels\[0\] is not a number: give "):
        linred.Sanitizer("sex", "job", ldp=0.1, distortion="absolute").fit(DATA)


def test_it_must_be_fitted_first():
    sanitizer = linred.Sanitizer("sex", "job", ldp=1, key=KEY)
    for call in (lambda: sanitizer.transform(DATA), sanitizer.get_feature_names_out):
        with pytest.raises(NotFittedError, match=r"^this Sanitizer is not fitted: call fit\(frame\) before ") as caught:
            call()
        assert isinstance(caught.value, ValueError)
        assert isinstance(caught.value, AttributeError)


def test_names_out_are_of_the_frame_that_was_fitted():
    sanitizer = fit().fit(DATA)
    with pytest.raises(ValueError, match=r"^input_features is not feature_names_in_: 'year', "):
        sanitizer.get_feature_names_out(["job"])
    sanitizer.set_params(sensitive="year")
    assert (
        sanitizer.get_feature_names_out().tolist()
        == list(sanitizer.transform(DATA))
        == ["year", "job", "full", "age", "id"]
    )
    sanitizer.set_params(keep_sensitive=True)
    assert sanitizer.get_feature_names_out().tolist() == list(sanitizer.transform(DATA)) == list(DATA)


BAD_SETTINGS = [
    ({"alpha": None}, "no target: give ldp=, log_lift= or another limit of linred.Target, or alpha="),
    ({"ldp": 1.0}, "alpha= and a target are both given: give alpha=, or limits such as ldp="),
    ({"alpha": 1.5}, "alpha = 1.5 is outside [0, 1]"),
    ({"target": Target(ldp=1.0)}, "alpha= and a target are both given"),
    ({"alpha": None, "given_x": 1.0}, "non_markov cannot meet given_x=: use optimal, which can"),
    ({"alpha": None, "max_changed": 0.1}, "max_changed = 0.1 applies only to mechanism='optimal': leave it out"),
    ({"least": "ldp"}, "least = 'ldp' applies only to mechanism='optimal': leave it out"),
    ({"mechanism": "markov", "distortion": "absolute"}, "distortion = 'absolute' applies only to mechanism='optimal' "),
    ({"mechanism": "optimal", "max_distortion": 0.1}, "max_distortion= and alpha= are both given: give one of them"),
    ({"alpha": None, "pairs": {("f", "zz"): 1.0}}, "pairs: key 0, counted from 0, is not a pair (label, label)"),
    ({"alpha": None, "log_lift": -1.0}, "log_lift = -1.0 is outside [0, inf]"),
    ({"mechanism": "best"}, "mechanism = 'best' is not 'optimal', 'non_markov', 'markov' or a function"),
    ({"mechanism": None}, "mechanism = None is not 'optimal'"),
    ({"sees_s": False}, "mechanism = 'non_markov' uses S when sampling, which sees_s=False rules out"),
    ({"sees_s": 0}, "sees_s = 0 is not True or False"),
    (
        {"mechanism": linred.non_markov, "sees_s": False},
        "the function given as mechanism= returned a mechanism that uses S when sampling (non_markov), but sees_s is",
    ),
    (
        {"mechanism": linred.linear_reduction},
        "the function given as mechanism= returned a linred.Joint",
    ),
    ({"bins": [30]}, "bins is a list, not a dict of column names and edges"),
    ({"bins": {"year": [30]}}, "bins names 'year', which is neither sensitive nor public"),
    ({"bins": {"job": []}}, "bins of 'job' has no edges: give at least one number"),
    ({"bins": {"job": "39"}}, "bins of 'job' is a str, not a list of edges"),
    ({"bins": {"job": 5}}, "bins of 'job' is a int, not a list of edges"),
    ({"bins": {"job": [5, 4]}}, "bins of 'job': edge 1 is not a finite number above the edge before it"),
    ({"sensitive": "job"}, "public names 'job', which is sensitive"),
    ({"public": None}, "public is a NoneType, not the name of a column or a list of names"),
    ({"public": "work"}, "frame has no column 'work' (public): it has 'year'"),
    ({"sensitive": "gender", "mechanism": "markov"}, "frame has no column 'gender' (sensitive): it has 'year'"),
    ({"columns": ["sex", "job"]}, "columns names 'sex', which is sensitive"),
    ({"keep_sensitive": 1}, "keep_sensitive = 1 is not True or False"),
    ({"id": "id"}, "id needs key"),
    ({"unseen": "drop"}, "unseen = 'drop' is not 'error', 'marginal' or 'null'"),
    ({"key": KEY[:9]}, "key has 9 bytes, not 32"),
    ({"key": KEY}, "key is given alone, so that every call would draw the same: also give id (a name for"),
    ({"key": KEY, "seed": 1}, "key and seed are both given"),
    ({"seed": -1}, "seed is negative"),
    ({"context": 5}, "context is a int, not bytes"),
]


@pytest.mark.parametrize(("wrong", "message"), BAD_SETTINGS)
def test_settings_are_looked_at_by_fit_which_then_changes_nothing(wrong, message):
    sanitizer = fit().fit(DATA)
    before = dict(vars(sanitizer), **wrong)
    sanitizer.set_params(**wrong)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}") as caught:
        sanitizer.fit(DATA)
    assert "\n" not in str(caught.value)
    assert repr(KEY[:9])[2:-1] not in str(caught.value)
    assert vars(sanitizer) == before


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        ({"sex": [], "job": []}, "frame has no records to fit on"),
        (JOB, "frame is a list, not a pandas, Polars or Arrow table"),
        ({"sex": ["f", "m"], "job": ["a", 1]}, "column 'job' has values that cannot be sorted"),
        (pd.DataFrame(DATA).set_index("sex", drop=False), "frame has 'sex' (sensitive) in its index"),
        (TWICE, "frame has 2 columns 'job' (public)"),
    ],
)
def test_frames_that_cannot_be_fitted(frame, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        fit().fit(frame)


def test_declared_categories_are_the_alphabet():
    frame = pd.DataFrame(DATA).astype({"job": pd.CategoricalDtype(["zz", "ccc", "bb", "a"])})
    sanitizer = linred.Sanitizer("sex", "job", ldp=0.4, key=KEY, context="c").fit(frame)
    assert sanitizer.mechanism_.joint.x_labels == ("zz", "ccc", "bb", "a")
    assert "zz" not in sanitizer.transform(frame)["job"].tolist()


def test_building_looks_at_the_time_limit():
    assert registry.build(JOINT, "optimal", target=Target(ldp=1.0), time_limit=9).target.ldp == 1.0
    with pytest.raises(ValueError, match=r"^time_limit = 9 applies only to mechanism='optimal': leave it out$"):
        registry.check("markov", None, {"ldp": 1.0}, time_limit=9)
    with pytest.raises(ValueError, match=r"^time_limit = -1 is outside \[0, inf\]$"):
        registry.check("optimal", None, {"ldp": 1.0}, time_limit=-1)

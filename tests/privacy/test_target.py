"""`Target`, and `takes_target`: limits as keywords or as one `Target`, with and without alpha."""

import copy
import inspect
import math
import pickle
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import linred
from linred.privacy.takes_target import KEYWORDS, TargetKeywords, takes_target, target_or_alpha
from linred.privacy.target import TARGETS, Target
from support.joints import example_1


@takes_target()
def either(joint, alpha=None, *, target=None, more=0):
    return joint, alpha, target, more


@takes_target()
def needed(joint, *, target):
    return target


JOINT = example_1()


def test_limits_are_a_target():
    assert either(JOINT, ldp=1.0, more=2) == (JOINT, None, Target(1.0), 2)
    assert either(JOINT, target=Target(log_lift=0.5)) == either(JOINT, log_lift=0.5)
    assert either(JOINT, 0.5) == either(JOINT, alpha=0.5) == (JOINT, 0.5, None, 0)
    assert needed(JOINT, ldp=1, log_lift=0.5) == Target(1.0, 0.5)
    assert needed(JOINT, ldp=math.inf) == Target()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: either(JOINT), r"^no target: give ldp=, log_lift= or another limit of linred.Target, or alpha=$"),
        (
            lambda: either(JOINT, 0.5, ldp=1.0),
            r"^alpha= and a target are both given: give alpha=, or limits such as ldp=$",
        ),
        (lambda: either(JOINT, alpha=0.5, target=Target(1.0)), r"^alpha= and a target are both given"),
        (lambda: either(JOINT, alpha=2.0), r"^alpha = 2.0 is outside \[0, 1\]$"),
        (lambda: either(JOINT, ldp=1.0, target=Target(1.0)), r"^target= and ldp= are both given: give one of them$"),
        (lambda: needed(JOINT), r"^no target: give ldp=, log_lift= or another limit of linred.Target$"),
        (lambda: either(JOINT, alpha=0.5, ldp=math.inf), r"^alpha= and a target are both given"),
        (lambda: needed(JOINT, ldp=-1.0), r"^ldp = -1.0 is outside \[0, inf\]$"),
        (
            lambda: target_or_alpha(None, {"ldp": None}),
            r"^no target: give ldp=, log_lift= or another limit of linred.Target, or alpha=",
        ),
    ],
)
def test_what_cannot_be_asked_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_other_keywords_are_refused_by_name():
    for call in (
        lambda: either(JOINT, lpd=1.0),
        lambda: either(JOINT, ldp=1.0, lpd=3),
        lambda: needed(JOINT, alpha=0.5),
    ):
        with pytest.raises(TypeError, match=r"^(either|needed)\(\) got an unexpected keyword argument '(lpd|alpha)'"):
            call()
    for call in (lambda: either(), lambda: needed(ldp=1.0)):
        with pytest.raises(TypeError, match="missing a required argument: 'joint'"):
            call()
    with pytest.raises(TypeError, match="too many positional arguments"):
        needed(JOINT, 0.5)


@pytest.mark.parametrize("target", [1, (1.0, 2.0), "x"])
def test_a_target_is_a_target(target):
    with pytest.raises(TypeError, match=r"^target is a (int|tuple|str), not a linred\.Target$"):
        either(JOINT, target=target)


ASKED_FOR_EPSILON = {
    "alpha_for": lambda **limits: linred.alpha_for(example_1(), **limits),
    "markov": lambda **limits: linred.markov(example_1(), **limits),
    "non_markov": lambda **limits: linred.non_markov(example_1(), **limits),
    "optimal": lambda **limits: linred.optimal(example_1(), **limits),
    "selective": lambda **limits: linred.selective(example_1(), **limits),
    "k_rr": lambda **limits: linred.baselines.k_rr(example_1(), **limits),
    "pram": lambda **limits: linred.baselines.pram(example_1(), **limits),
    "watchdog": lambda **limits: linred.baselines.watchdog(example_1(), **limits),
    "fit": lambda **limits: linred.fit([0, 1], [0, 1], **limits),
    "tradeoff": lambda **limits: linred.tradeoff(example_1(), **limits),
    "Sanitizer": lambda **limits: linred.Sanitizer("s", "x", **limits),
    "Target": linred.Target,
}


@pytest.mark.parametrize("epsilon", ["epsilon", "eps"])
@pytest.mark.parametrize("function", ASKED_FOR_EPSILON)
def test_epsilon_is_called_ldp(function, epsilon):
    for more in ({}, {"ldp": 1.0}):
        with pytest.raises(TypeError, match=rf"^{function}\(\) has no argument {epsilon}=: ldp= is epsilon, in nats$"):
            ASKED_FOR_EPSILON[function](**{epsilon: 1.0}, **more)


MAKERS = [linred.alpha_for, linred.markov, linred.non_markov, linred.optimal, linred.selective, linred.baselines.k_rr]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_help_shows_the_limits(make):
    parameters = inspect.signature(make).parameters
    assert "target" not in parameters
    for name in make.meets:
        assert parameters[name].default is None
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
    assert pickle.loads(pickle.dumps(make)) is make


def test_a_target_means_its_limits():
    joint, target = example_1(), Target(1.0, 0.6)
    for make in MAKERS[1:]:
        assert make(joint, target=target).dtv() == make(joint, ldp=1.0, log_lift=0.6).dtv()


def test_targets_of_any_form_are_compared_and_shown():
    frame = pd.DataFrame([[0.0, 1.0], [1.0, 0.0]])
    for given, others in (
        ({"ldp": 1.0, "secrets": [np.array([0, 1]), (0,)]}, {"ldp": 1.0, "secrets": [np.array([0, 0]), (0,)]}),
        ({"ldp": 1.0, "secrets": [[0, 1]]}, {"ldp": 1.0, "secrets": [[0, 1], [0, 1]]}),
        ({"pairs": frame}, {"pairs": frame + 1.0}),
        ({"pairs": [[0.0, 1.0], [1.0, 0.0]]}, {"pairs": {("a", "b"): 1.0}}),
    ):
        assert Target(**given) == Target(**copy.deepcopy(given))
        assert Target(**given) != Target(**others)
    assert repr(Target(pairs={("a", "b"): 1.0}, secrets={(0,): 1.0})) == "Target(pairs=<dict>, secrets=<1 secrets>)"


def test_a_target_is_met_where_every_limit_is():
    assert Target(1.0, 0.5).is_met_by(SimpleNamespace(ldp=1.0, log_lift=0.5))
    assert not Target(1.0, 0.5).is_met_by(SimpleNamespace(ldp=1.0, log_lift=0.6))
    assert not Target(1.0, 0.5).is_met_by(SimpleNamespace(ldp=1.1, log_lift=0.5))
    assert Target(log_lift=0.5).limits == {"log_lift": 0.5}
    assert str(Target(1.0, 0.5)) == "ldp <= 1.0 and log_lift <= 0.5"


@pytest.mark.parametrize("limit", [{"given_x": 1.0}, {"max_changed_by_s": 0.5}, {"dp": 1.0, "neighbors": "hamming"}])
def test_a_limit_that_no_figure_answers_is_not_taken_for_met(limit):
    with pytest.raises(ValueError, match=rf"^{next(iter(limit))}= limits no figure of a Leakage: see met of "):
        Target(ldp=1.0, **limit).is_met_by(SimpleNamespace(ldp=0.5))


def test_the_keywords_of_a_target_are_its_fields():
    """Type checkers read the names from `TargetKeywords`, and everything else from `Target`."""
    assert tuple(TargetKeywords.__annotations__) == KEYWORDS == ("target", *TARGETS)


@pytest.mark.parametrize("function", [linred.fit, linred.Sanitizer])
def test_help_shows_all_keywords_of_a_fit(function):
    parameters = inspect.signature(function).parameters
    for name in KEYWORDS:
        assert parameters[name].default is None
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
    assert all(one.kind is not inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    with pytest.raises(TypeError, match=rf"^{function.__name__}\(\) got an unexpected keyword argument 'lpd'$"):
        function("s", "x", ldp=1.0, lpd=1.0)

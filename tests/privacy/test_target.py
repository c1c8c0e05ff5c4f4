"""`Target`, and `takes_target`: limits by keyword or as one, in place of alpha or not."""

import inspect
import math
import pickle
from types import SimpleNamespace

import pytest

import linred
from linred.privacy.target import Target, takes_target, target_or_alpha
from support.joints import example_1


@takes_target
def either(joint, alpha=None, *, target=None, more=0):
    return joint, alpha, target, more


@takes_target
def needed(joint, *, target):
    return target


def test_limits_are_a_target():
    assert either(1, ldp=1.0, more=2) == (1, None, Target(1.0, math.inf), 2)
    assert either(1, target=Target(log_lift=0.5)) == either(1, log_lift=0.5)
    assert either(1, 0.5) == either(1, alpha=0.5) == (1, 0.5, None, 0)
    assert needed(1, ldp=1, log_lift=0.5) == Target(1.0, 0.5)
    assert needed(1, ldp=math.inf) == Target()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: either(1), r"^nothing is asked of the mechanism: ldp, log_lift or both are needed, or alpha$"),
        (lambda: either(1, 0.5, ldp=1.0), r"^alpha = 0.5 and .* are both given: give alpha, or ldp and log_lift$"),
        (lambda: either(1, alpha=0.5, target=Target(1.0)), r"^alpha = 0.5 and a target are both given"),
        (lambda: either(1, alpha=2.0), r"^alpha = 2.0 is outside \[0, 1\]$"),
        (lambda: either(1, ldp=1.0, target=Target(1.0)), r"^target and ldp are both given"),
        (lambda: needed(1), r"^a target is needed: ldp=, log_lift= or both$"),
        (lambda: either(1, alpha=0.5, ldp=math.inf), r"^alpha = 0.5 and a target are both given"),
        (lambda: needed(1, ldp=-1.0), r"^ldp = -1.0 is outside \[0, inf\]$"),
        (lambda: target_or_alpha(None, {"ldp": None}), r"^nothing is asked of the mechanism"),
    ],
)
def test_what_cannot_be_asked_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_other_keywords_are_refused_by_name():
    for call in (lambda: either(1, lpd=1.0), lambda: either(1, ldp=1.0, lpd=3), lambda: needed(1, alpha=0.5)):
        with pytest.raises(TypeError, match=r"^(either|needed)\(\) got an unexpected keyword argument '(lpd|alpha)'"):
            call()
    for call in (lambda: either(), lambda: needed(ldp=1.0)):
        with pytest.raises(TypeError, match="missing a required argument: 'joint'"):
            call()
    with pytest.raises(TypeError, match="too many positional arguments"):
        needed(1, 0.5)


@pytest.mark.parametrize("target", [1, (1.0, 2.0), "x"])
def test_a_target_is_a_target(target):
    with pytest.raises(TypeError, match=r"^target is a .*, not a Target$"):
        either(1, target=target)


MAKERS = [linred.alpha_for, linred.markov, linred.non_markov, linred.optimal, linred.selective, linred.baselines.k_rr]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_help_shows_the_limits(make):
    parameters = inspect.signature(make).parameters
    assert "target" not in parameters
    for name in Target._fields:
        assert parameters[name].default is None
        assert parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
    assert pickle.loads(pickle.dumps(make)) is make


def test_a_target_means_its_limits():
    joint, target = example_1(), Target(1.0, 0.6)
    for make in MAKERS[1:]:
        assert make(joint, target=target).dtv() == make(joint, ldp=1.0, log_lift=0.6).dtv()


def test_a_target_is_met_where_every_limit_is():
    assert Target(1.0, 0.5).is_met_by(SimpleNamespace(ldp=1.0, log_lift=0.5))
    assert not Target(1.0, 0.5).is_met_by(SimpleNamespace(ldp=1.0, log_lift=0.6))
    assert not Target(1.0, 0.5).is_met_by(SimpleNamespace(ldp=1.1, log_lift=0.5))
    assert Target(log_lift=0.5).limits == {"log_lift": 0.5}
    assert str(Target(1.0, 0.5)) == "ldp <= 1.0 and log_lift <= 0.5"

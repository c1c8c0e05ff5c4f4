"""Annotations of the public functions that make mechanisms: complete, and resolvable at run time."""

import inspect
import typing

import pytest

import linred
from linred.distribution.joint import Joint
from linred.mechanism.mechanism import Mechanism
from linred.privacy.target import Target

MAKERS = {name: getattr(linred, name) for name in ("fit", "markov", "non_markov", "optimal", "selective")}
MAKERS |= {name: getattr(linred.baselines, name) for name in ("k_rr", "pram", "watchdog")}


@pytest.mark.parametrize("name", [*MAKERS, "alpha_for"])
def test_every_argument_and_result_has_a_type(name):
    function = inspect.unwrap(MAKERS.get(name, linred.alpha_for))
    hints, parameters = typing.get_type_hints(function), inspect.signature(function).parameters
    assert set(hints) == {*parameters, "return"}
    assert hints["return"] is (Mechanism if name in MAKERS else float)
    if name != "fit":
        assert hints["joint"] is Joint
        needed = parameters["target"].default is inspect.Parameter.empty
        assert hints["target"] == (Target if needed else Target | None)

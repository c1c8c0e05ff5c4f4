"""The registry of mechanisms: kinds, options, and mechanisms built by name or by a function."""

import numpy as np
import pytest

import linred
from linred.design import registry
from linred.privacy.target import Target
from support.joints import example_1

TARGET = Target(ldp=1.0)


@pytest.mark.parametrize("name", registry.KINDS)
def test_every_kind_is_made_and_is_what_it_says(name):
    kind = registry.KINDS[name]
    mechanism = kind.made(example_1(), target=TARGET, time_limit=60.0)
    assert mechanism.sees_s == kind.sees_s
    assert TARGET.is_met_by(mechanism.sampler().certificate())
    if kind.takes_alpha:
        assert kind.made(example_1(), alpha=0.4).alpha == 0.4


def test_options_reach_those_that_take_them():
    distance = np.abs(np.subtract.outer(range(4), range(4))).astype(float)
    for name, kind in registry.KINDS.items():
        mechanism = kind.made(example_1(), target=TARGET, distortion=distance)
        assert (mechanism.distortion is not None) == ("distortion" in kind.takes), name


def test_mechanisms_built_by_name():
    assert registry.BY_NAME == ("optimal", "non_markov", "markov")
    for name in registry.BY_NAME:
        expected = getattr(linred, name)(example_1(), ldp=1.0)
        assert registry.build(example_1(), name, target=TARGET).dtv() == expected.dtv()
    assert registry.check("non-markov", None, {"ldp": 1.0}) == ("non_markov", TARGET)


def test_a_function_makes_a_mechanism_too():
    assert registry.check(linred.selective, None, {"ldp": None}) == (linred.selective, Target())
    assert registry.build(example_1(), linred.selective, target=TARGET).name == "selective"
    wrong = {
        r"^the function given as mechanism= returned a dict, not a linred\.Mechanism$": lambda joint, ldp: {},
        r" returned a numpy\.ndarray, not a linred\.Mechanism$": lambda joint, ldp: joint.p_sx,
    }
    for message, make in wrong.items():
        with pytest.raises(ValueError, match=message):
            registry.build(example_1(), make, target=TARGET)
    message = r" returned a mechanism that uses S when sampling \(selective\), but sees_s is False$"
    with pytest.raises(ValueError, match=message):
        registry.build(example_1(), linred.selective, target=TARGET, sees_s=False)


def test_a_function_gets_every_limit_as_a_keyword():
    """A whole target is taken apart, and labels are not settled: the function may take its limits in any form."""
    given, received = {"dp": 0.4, "neighbors": "hamming", "given_x": 1.0, "max_lift": 0.3}, []

    def make(joint, **limits):
        received.append(limits)
        return linred.markov(joint, 1.0)

    for keywords in (given, {"target": Target(**given)}):
        known, target = registry.check(make, None, keywords)
        assert registry.build(example_1(), known, target=target).alpha == 1.0
    registry.build(example_1(), make, alpha=0.5)
    assert received == [given, given, {"alpha": 0.5}]

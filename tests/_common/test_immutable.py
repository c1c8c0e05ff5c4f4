"""Joints and mechanisms, and the arrays that they hold, cannot be changed."""

import pickle

import pytest

import linred
from support.joints import example_1


@pytest.fixture(params=["joint", "mechanism"])
def made(request):
    return {"joint": example_1(), "mechanism": linred.non_markov(example_1(), 0.5)}[request.param]


def test_attributes_cannot_be_set_or_removed(made):
    for name in (*vars(made), "anything"):
        with pytest.raises(AttributeError, match=f"^{name} of a {type(made).__name__} cannot be changed"):
            setattr(made, name, None)
    with pytest.raises(AttributeError, match=r"cannot be removed$"):
        del made.name


def test_arrays_cannot_be_written_to_nor_after_pickling(made):
    for one in (made, pickle.loads(pickle.dumps(made))):
        array = one.p_x if hasattr(one, "p_x") else one.keep
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


def test_replace_gives_another_mechanism_that_draws_alike():
    mechanism = linred.non_markov(example_1(), 0.5)
    sampler = mechanism.sampler()
    other = mechanism.replace(gap=0.25)
    assert (mechanism.gap, other.gap) == (0.0, 0.25)
    assert other.sampler() is sampler
    with pytest.raises(TypeError, match=r"^keep, name of a Mechanism cannot be replaced"):
        mechanism.replace(keep=0, name="mine")

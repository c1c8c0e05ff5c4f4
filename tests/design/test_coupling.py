"""Couplings: how much they store, and the relative accuracy of their probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linred
from linred import Joint
from support.joints import alphas, example_1, random_joint
from support.mechanisms import CLOSED_FORMS


def test_northwest_has_at_most_n_minus_one_moves_and_proportional_one_table_an_s():
    joint = random_joint(np.random.default_rng(1), 40, 60)
    mechanism = linred.non_markov(joint, 0.3)
    assert mechanism.tables.y.size <= 60 + 40 * 59
    assert mechanism.tables.probability.min() > 0.0
    proportional = linred.non_markov(joint, 0.3, coupling="proportional")
    assert proportional.tables.indptr.size == 1 + 41
    np.testing.assert_array_equal(proportional.table_of, np.repeat(np.arange(1, 41)[:, None], 60, axis=1))


def gaussian_joint():
    """Two discretised bell curves with tails down to 1e-32, far below the resolution of doubles near one."""
    x = np.arange(-20, 21)
    p = np.exp(-((x - np.array([[-1], [1]])) ** 2) / 6)
    return Joint.from_conditional(p / p.sum(axis=1, keepdims=True), [0.5, 0.5])


STEPS = np.abs(np.subtract.outer(np.arange(41.0), np.arange(41.0)))


@pytest.mark.parametrize("target", [0.1, 1.0, 5.0])
@pytest.mark.parametrize(
    "distortion", [None, STEPS, STEPS**2, np.sqrt(STEPS), np.maximum(STEPS - 1.0, 0.0), 1.0 - np.eye(41)]
)
def test_the_rows_are_as_private_as_the_report_says(target, distortion):
    joint = gaussian_joint()
    mechanism = linred.non_markov(joint, linred.alpha_for(joint, ldp=target), distortion=distortion)
    realised = np.einsum("sx,sxy->sy", joint.p_x_given_s, mechanism.p_y_given_sx)
    np.testing.assert_allclose(realised, mechanism.p_y_given_s, rtol=1e-11, atol=0)
    ldp = np.log(realised.max(axis=0) / realised.min(axis=0)).max()
    assert ldp == pytest.approx(target, abs=1e-11)
    assert mechanism.report().after.ldp == pytest.approx(target, abs=1e-11)


DOMINATED = [
    ([[1, 1e-100], [1, 0], [1, 1e-100]], [2, 3, 1], 0.5),
    ([[3.0273869177768103e-130, 1], [5.957763130178851e-131, 1]], [0.94, 0.06], 0.088),
    ([[1, 3e-12, 6e-22], [1, 3e-12, 3e-22]], [5, 9], 0.5),
    ([[1, 7e-15, 5e-29], [1, 7e-15, 1e-29]], [1, 4], 1.0),
    ([[1, 2e-24, 8e-37, 3e-40], [1, 7e-24, 9e-37, 8e-40], [1, 4e-24, 3e-37, 1e-40]], [9, 6, 6], 1.0),
    ([[1, 7e-32, 5e-41, 0], [1, 4e-32, 0, 2e-44], [1, 8e-32, 3e-41, 4e-44]], [6, 4, 4], 0.25),
    (
        [[1, 8e-61, 4e-74, 2e-109, 8e-33], [1, 5e-61, 2e-74, 7e-109, 3e-33], [1, 7e-61, 2e-74, 2e-109, 8e-33]],
        [1, 4, 2],
        0.5,
    ),
    (
        [[1, 4e-39, 6e-89, 6e-43, 8e-93], [1, 2e-39, 1e-89, 7e-43, 8e-93], [1, 7e-39, 5e-89, 9e-43, 2e-93]],
        [8, 2, 4],
        0.5,
    ),
]


@pytest.mark.parametrize(("p", "weights", "alpha"), DOMINATED)
@pytest.mark.parametrize("kind", [*CLOSED_FORMS, "absolute", "squared", "random"])
def test_a_symbol_with_nearly_all_the_mass_hides_no_other(kind, p, weights, alpha):
    p, weights = np.array(p, float), np.array(weights, float)
    joint = Joint.from_conditional(p / p.sum(axis=1, keepdims=True), weights / weights.sum())
    steps = STEPS[: p.shape[1], : p.shape[1]]
    costs = {
        "absolute": steps,
        "squared": steps**2,
        "random": np.random.default_rng(1).random(steps.shape) * (steps > 0),
    }
    mechanism = (
        CLOSED_FORMS[kind](joint, alpha)
        if kind in CLOSED_FORMS
        else linred.non_markov(joint, alpha, distortion=costs[kind])
    )
    realised = np.einsum("sx,sxy->sy", joint.p_x_given_s, mechanism.p_y_given_sx)
    np.testing.assert_allclose(realised, mechanism.p_y_given_s, rtol=1e-11, atol=0)


def test_groups_that_are_alike_move_nothing():
    joint = Joint.from_conditional([[0.4, 0.6], [0.4, 0.6]], [0.3, 0.7])
    for coupling in ("northwest", "proportional"):
        mechanism = linred.non_markov(joint, 0.3, coupling=coupling)
        assert mechanism.dtv() == 0.0
        assert not mechanism.table_of.any(), "no row may draw from an empty table"


@pytest.mark.parametrize("kind", CLOSED_FORMS)
@given(st.integers(0, 2**32 - 1), alphas)
def test_every_released_probability_is_right_relative_to_itself(kind, seed, alpha):
    rng = np.random.default_rng(seed)
    p = rng.dirichlet(np.full(8, 0.5), 3) * 10.0 ** (rng.integers(-25, 1, (3, 8)) * rng.choice([0, 1, 4]))
    joint = Joint.from_conditional(p / p.sum(axis=1, keepdims=True), rng.dirichlet(np.ones(3)))
    mechanism = CLOSED_FORMS[kind](joint, alpha)
    realised = np.einsum("sx,sxy->sy", joint.p_x_given_s, mechanism.p_y_given_sx)
    np.testing.assert_allclose(realised, mechanism.p_y_given_s, rtol=1e-11, atol=0)


def test_one_of_them_chooses():
    with pytest.raises(ValueError, match="coupling = 'proportional' and prefer = 'sparse' are both given: give one"):
        linred.non_markov(example_1(), 0.5, coupling="proportional", prefer="sparse")
    with pytest.raises(ValueError, match="prefer = 1 is not 'information', 'sparse' or 'smooth'"):
        linred.non_markov(example_1(), 0.5, prefer=1)

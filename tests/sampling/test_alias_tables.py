"""The sampler's tables of integers: the mechanism's probabilities to the last unit, and their memory."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import linred
from linred.sampling import alias_tables
from support import stats
from support.faults import faulty, swap_an_alias
from support.joints import alphas, count_tables, random_joint
from support.samplers import MECHANISMS, NAMES, SMALL, WIDE, mechanisms, wide_joint


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_tables_are_the_mechanisms(mechanism):
    stats.check_channel(mechanism.sampler(), mechanism)


@given(count_tables, alphas, st.sampled_from(NAMES))
@example(np.array([[1, 1]]), 5e-324, "markov")
def test_tables_of_any_mechanism(counts, alpha, name):
    mechanism = mechanisms(linred.Joint.from_counts(counts), alpha)[name]
    stats.check_channel(mechanism.sampler(), mechanism)


def test_probabilities_too_small_for_the_tables_stay_possible():
    p = np.array([[1 - 3e-25, 1e-25, 2e-25], [0.5, 0.5 - 1e-30, 1e-30]])
    joint = linred.Joint.from_conditional(p, [0.5, 0.5])
    for mechanism in mechanisms(joint).values():
        realised, dense = stats.channel(mechanism.sampler()), mechanism.p_y_given_sx
        assert ((realised == 0) == (dense[: realised.shape[0]] == 0.0)).all()
        assert (realised.sum(axis=2) == 1).all()


def test_tables_are_compiled_alike_each_time():
    for name in NAMES:
        one, other = (mechanisms(wide_joint())[name].sampler().kernel for _ in range(2))
        assert one.rows.tobytes() == other.rows.tobytes()
        assert one.cells.tobytes() == other.cells.tobytes()


def test_memory_is_in_proportion_to_what_is_stored():
    rng = np.random.default_rng(4)
    joint = random_joint(rng, 100, 500)
    for coupling in ("northwest", "proportional"):
        mechanism = linred.non_markov(joint, 0.5, coupling=coupling)
        n_symbols = mechanism.tables.y.size + 500
        assert mechanism.sampler().nbytes <= 18 * (100 * 512 + 1) + 2 * 16 * n_symbols
    assert linred.markov(joint, 0.5).sampler().nbytes <= 18 * 513 + 16 * (512 + 500)
    most = alias_tables.MOST_SETTLED_ROWS
    for shape in ((2, 4), (7, 15), (16, 64), (1, 255), (4, 255)):
        for mechanism in mechanisms(random_joint(rng, *shape)).values():
            assert mechanism.sampler().nbytes <= most * (16 + 256 * 17)


def test_each_first_stage_is_chosen_where_it_leaves_less():
    assert SMALL["northwest"].sampler().first_stage == "cells"
    assert WIDE["northwest"].sampler().first_stage == "keep"
    assert "first stage: keep" in repr(WIDE["northwest"].sampler())


def shift_a_threshold(rows, cells, settled, keep_top):
    """By one unit of 2^-64."""
    last_cells = rows["first_cell"] + 2 ** rows["log2_cells"] - 1  # where cells are shared, if any
    row = np.argmax(cells["own"][last_cells] != cells["alias"][last_cells])
    cells["threshold"][last_cells[row]] += np.uint64(2 ** rows["log2_cells"][row])


def shift_a_keep(rows, cells, settled, keep_top):
    """By one unit of 2^-64."""
    moving = np.flatnonzero((rows["keep"] > 0) & (rows["keep"] < 2**64 - 1))
    rows["keep"][moving[0]] += np.uint64(1)


@pytest.mark.parametrize("mechanism", [SMALL["northwest"], WIDE["northwest"]], ids=["small", "wide"])
@pytest.mark.parametrize("fault", [swap_an_alias, shift_a_threshold, shift_a_keep])
def test_wrong_integers_are_caught_by_the_exact_check(mechanism, fault):
    if fault is shift_a_keep and mechanism is SMALL["northwest"]:
        pytest.skip("nothing is kept by a threshold there")
    with pytest.raises(AssertionError):
        stats.check_channel(faulty(mechanism, fault), mechanism)

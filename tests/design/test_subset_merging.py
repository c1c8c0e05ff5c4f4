"""`baselines.watchdog` with subset merging: against all partitions of small alphabets, and against one merged set."""

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linred
from linred import Joint
from linred.design import baselines
from support.joints import adult, count_tables, counts, example_1
from support.partitions import admissible_partitions, is_admissible, merits, one_merged_set

CODES = np.array([0, 0, 1, 1])
STEPS = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
CHAIN = {"neighbors": STEPS == 1.0}
LIMITS = {
    "ldp": lambda most: ({"ldp": most}, {"ldp": most}),
    "log_lift": lambda most: ({"log_lift": most}, {"log_lift": most}),
    "max_lift": lambda most: ({"max_lift": most}, {"max_lift": most}),
    "min_lift": lambda most: ({"min_lift": most}, {"min_lift": most}),
    "both lifts": lambda most: ({"max_lift": most, "min_lift": 2 * most},) * 2,
    "dp": lambda most: ({"dp": most, **CHAIN}, {"pairs": np.where(STEPS == 1.0, most, math.inf)}),
    "pairs": lambda most: ({"pairs": most * STEPS}, {"pairs": most * STEPS}),
    "secrets": lambda most: ({"secrets": [CODES], "ldp": most}, {"secrets": [(CODES, most)]}),
    "ldp and secrets": lambda most: ({"secrets": {(1,): 0.5 * most}, "ldp": most},
                                     {"secrets": [(np.arange(4) % 2, 0.5 * most)], "ldp": most}),
}  # fmt: skip
"""Limits as keywords of `linred`, and as keywords of `support.partitions.is_admissible`."""


def random_joints(seed, n_joints, n_x=None, n_s=4, concentration=0.7):
    rng = np.random.default_rng(seed)
    for _ in range(n_joints):
        p = rng.dirichlet(np.full(n_x or rng.integers(4, 9), concentration), n_s)
        yield Joint.from_conditional(p, rng.dirichlet(np.ones(n_s)), [(s // 2, s % 2) for s in range(n_s)])


def groups_of(mechanism):
    """Return the group of each symbol of a watchdog, read from its P(y|x), which must be that of a partition."""
    w, p_x = mechanism.p_y_given_x, mechanism.joint.p_x
    of = (w > 0.0).argmax(axis=1)
    together = of[:, None] == of
    np.testing.assert_allclose(w, np.where(together, p_x, 0.0) / (together @ p_x)[:, None], rtol=0, atol=1e-15)
    return of


@pytest.mark.parametrize("kind", LIMITS)
def test_groups_meet_every_limit_and_are_nearly_the_best(kind):
    """The search is greedy; the last three bounds are a little above what it reaches on these joints."""
    found, best = [], []
    for i, joint in enumerate(random_joints(1, 60)):
        limits, definition = LIMITS[kind]((0.3, 0.7, 1.2)[i % 3])
        mechanism = baselines.watchdog(joint, **limits)
        of = groups_of(mechanism)
        changed, _ = merits(joint, np.unique(of, return_inverse=True)[1][None])
        assert mechanism.dtv() == pytest.approx(changed[0], abs=1e-14)
        assert mechanism.sampler().certificate().met
        found.append(changed[0])
        best.append(merits(joint, admissible_partitions(joint, **definition))[0].min())
    found, best = np.array(found), np.array(best)
    assert (found >= best - 1e-12).all(), "the oracle has every partition"
    assert found.sum() < 1.03 * best.sum()
    assert (found - best).max() < 0.3
    assert (found < best + 1e-9).mean() > 0.85


def shares_of_information(joint):
    """Return I(X;Y) / H(X) at LDP 1 of five mechanisms: two partitions by the oracle, and three of linred."""
    merged, best = one_merged_set(joint, 1.0)[None], admissible_partitions(joint, ldp=1.0)
    made = (
        linred.optimal(joint, ldp=1.0, sees_s=False),
        linred.optimal(joint, ldp=1.0, prefer="information"),
        baselines.watchdog(joint, ldp=1.0),
    )
    by_oracle = merits(joint, merged)[1][0], merits(joint, best)[1].max()
    entropy = -joint.p_x @ np.log(joint.p_x)
    return np.array([*by_oracle, *(mechanism.mutual_information() for mechanism in made)]) / entropy


def test_known_means_of_information():
    """Known means of 40 random 3 x 6 joints at LDP 1: one merged set, the best subset merging, the best Markov
    mechanism, `optimal(prefer="information")`. Those 40 are not known: ours are 200 others, with a seed of our own and
    P(x|s) from a Dirichlet distribution that fits. The difference of two such means is within two standard errors.
    """
    shares = np.array([shares_of_information(joint) for joint in random_joints(0, 200, 6, 3, concentration=0.6)])
    means, errors = shares.mean(axis=0), shares.std(axis=0) * math.sqrt(1 / 40 + 1 / 200)
    for mean, error, known in zip(means, errors, (0.197, 0.530, 0.665, 0.753), strict=False):
        assert abs(mean - known) < 2.0 * error
    assert means[4] > 0.93 * means[1], "the greedy search for the fewest changes keeps most of the information"


def test_fewest_changes_and_most_information_are_nearly_the_same_partition():
    """Why there is no choice between them: the partition with the fewest changes keeps 97 % of the information."""
    of_fewest, most = 0.0, 0.0
    for joint in random_joints(2, 100, n_x=7):
        changed, information = merits(joint, admissible_partitions(joint, ldp=1.0))
        of_fewest += information[changed.argmin()]
        most += information.max()
    assert of_fewest > 0.97 * most


@pytest.mark.parametrize("joint", [example_1(), adult(), counts("adult_sex_occupation")], ids=str)
@pytest.mark.parametrize("ldp", [0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 4.0])
def test_never_more_changes_than_one_merged_set(joint, ldp):
    merged = merits(joint, one_merged_set(joint, ldp)[None])[0][0]
    assert baselines.watchdog(joint, ldp=ldp).dtv() <= merged + 1e-12


def test_several_groups_change_fewer_records_than_one():
    mechanism = baselines.watchdog(adult(), ldp=1.0)
    sizes = Counter(groups_of(mechanism)).values()
    assert sum(size > 1 for size in sizes) > 1
    assert 1 in sizes, "symbols that meet the target need not be in a larger group"
    merged = merits(adult(), one_merged_set(adult(), 1.0)[None])[0][0]
    assert mechanism.dtv() < 0.5 * merged


def neighbours_of(of):
    """Yield the partitions after one exchange: a symbol moves to another group or to its own, or two change places."""
    n = of.size
    for x in range(n):
        for group in range(n):
            yield np.where(np.arange(n) == x, group, of)
        for y in range(x):
            swapped = of.copy()
            swapped[[x, y]] = of[[y, x]]
            yield swapped


@given(count_tables, st.sampled_from(["ldp", "log_lift", "max_lift", "min_lift"]), st.floats(0.01, 4.0))
@settings(max_examples=150)
def test_no_single_exchange_helps(table, name, most):
    joint = Joint.from_counts(table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0])
    mechanism = baselines.watchdog(joint, **{name: most})
    for of in neighbours_of(groups_of(mechanism)):
        of = np.unique(of, return_inverse=True)[1]
        q = np.stack([np.bincount(of, row) for row in joint.p_x_given_s])
        if is_admissible(q, joint.p_s, slack=-1e-9, **{name: most}).all():
            assert merits(joint, of[None])[0][0] >= mechanism.dtv() - 1e-9


def test_a_target_that_only_all_symbols_together_meet_is_an_independent_draw():
    """Every s has a symbol of its own, so that any group but the whole alphabet has a lift of 0."""
    mechanism = baselines.watchdog(Joint(np.diag([0.2, 0.3, 0.5])), ldp=3.0)
    assert (mechanism.alpha, mechanism.sampler().certificate().ldp) == (1.0, 0.0)
    np.testing.assert_allclose(mechanism.p_y_given_x, [[0.2, 0.3, 0.5]] * 3, rtol=0, atol=1e-15)


def test_symbols_that_never_occur_are_in_no_group():
    table = np.array([[5, 0, 3, 0, 1, 0], [0, 0, 0, 0, 0, 0], [2, 0, 4, 0, 3, 0]])
    with_gaps, without = baselines.watchdog(Joint.from_counts(table), ldp=0.3), np.ix_([0, 2], [0, 2, 4])
    alone = baselines.watchdog(Joint.from_counts(table[without]), ldp=0.3)
    np.testing.assert_array_equal(with_gaps.p_y_given_s[without], alone.p_y_given_s)
    assert (with_gaps.p_y[[1, 3, 5]] == 0.0).all()


def test_a_rare_symbol_is_released_in_place_of_the_other_symbol_of_its_group():
    """The other symbol has the share 1 of its group, rounded; were it kept, the rare one would never be released."""
    mechanism = baselines.watchdog(Joint([[0.5, 1e-20, 0.2], [0.1, 0.0, 0.2]]), ldp=1.8)
    np.testing.assert_allclose(mechanism.p_y_given_x[:2], [[1.0, 1e-20 / 0.6, 0.0]] * 2, rtol=1e-15)
    assert (groups_of(mechanism) == [0, 0, 2]).all()


def test_a_thousand_symbols():
    (joint,) = random_joints(3, 1, n_x=1000, n_s=7)
    mechanism = baselines.watchdog(joint, ldp=1.0)
    groups = np.unique(mechanism.table_of)
    assert groups.size > 200
    assert mechanism.dtv() < 0.8 * merits(joint, one_merged_set(joint, 1.0)[None])[0][0]
    assert mechanism.sampler().certificate().met

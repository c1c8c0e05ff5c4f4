"""Conformance: releases of the mechanism pass at a stated rate, and planted faults are caught.

Seeds and keys are fixed, so results repeat. A correct library fails a check of rates with probability ERROR_RATE.
"""

import numpy as np
import pytest
from scipy.stats import binom

import linred
from linred.assurance import conformance, released
from linred.assurance.audit import audit
from support.faults import faulty, swap_an_alias
from support.joints import adult, example_1, random_joint
from support.populations import ERROR_RATE, records

KEY = bytes(range(32))
TWO = linred.Joint(example_1().p_sx)
MECHANISMS = {
    "cells, by s": linred.non_markov(TWO, ldp=1.0),
    "cells, without s": linred.markov(TWO, ldp=1.0),
    "keep, by s": linred.non_markov(random_joint(np.random.default_rng(3), 20, 70, zeros=0.3), 0.5),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_clean_releases_conform(name):
    """In 40 releases, alarms in 5 % at most, by a test at ERROR_RATE."""
    mechanism, n_alarms = MECHANISMS[name], 0
    for seed in range(40):
        s, x = records(mechanism.joint, 1000, seed)
        found = audit(s, mechanism.sampler().sample(s, x, seed=seed), x=x, mechanism=mechanism)
        assert found.conforms is (not found.reasons)
        n_alarms += not found.conforms
    assert binom.sf(n_alarms - 1, 40, 0.05) > ERROR_RATE


@pytest.mark.long
def test_each_test_of_conformance_has_its_level():
    """2,000 releases at a level of a half, in which alarms are usual: each test by itself, at ERROR_RATE."""
    mechanism, n_alarms = MECHANISMS["cells, by s"], np.zeros(3, int)
    for seed in range(2000):
        s, x = records(mechanism.joint, 400, seed)
        y = mechanism.sampler().sample(s, x, seed=seed)
        transitions = conformance.Transitions(released.Released(s, y, mechanism), x, mechanism)
        n_alarms += [bool(test(0.5)) for test in (transitions.cells, transitions.pools, transitions.lags)]
    for n in n_alarms.tolist():
        assert binom.sf(n - 1, 2000, 0.5) > ERROR_RATE
    assert n_alarms[:2].min() > 20


def refuting(mechanism, s, x, y):
    found = audit(s, y, x=x, mechanism=mechanism, claim=mechanism.sampler().certificate())
    assert found.conforms is False
    return found


def test_an_unrandomised_symbol_is_caught():
    for name, mechanism in MECHANISMS.items():
        s, x = records(mechanism.joint, 50_000, 7)
        y = mechanism.sampler().sample(s, x, key=KEY, start=0)
        symbol = int((mechanism.joint.p_sx * mechanism.move).sum(axis=0).argmax())
        reasons = refuting(mechanism, s, x, np.where(x == symbol, x, y)).reasons
        assert any(f"records of x = {symbol}: 0 of" in reason or "became" in reason for reason in reasons), name


def test_a_swapped_alias_entry_is_caught():
    mechanism = MECHANISMS["cells, by s"]
    s, x = records(mechanism.joint, 1_500_000, 8)
    y = faulty(mechanism, swap_an_alias).sample(s, x, key=KEY, start=0)
    reason = refuting(mechanism, s, x, y).reasons[0]
    assert "became y =" in reason
    assert "times, expected " in reason


def test_alpha_not_applied_is_caught():
    for name in MECHANISMS:
        mechanism = MECHANISMS[name]
        s, x = records(mechanism.joint, 2000, 9)
        found = refuting(mechanism, s, x, x)
        known = "records that may change: 0 of", "which the mechanism never draws"
        assert any(text in reason for reason in found.reasons for text in known), name


def test_alpha_not_applied_refutes_the_claim_too():
    joint = TWO
    mechanism = linred.non_markov(joint, ldp=0.5)
    s, x = records(joint, 20_000, 9)
    found = refuting(mechanism, s, x, x)
    assert found.refuted
    assert found.reasons[0].startswith("LDP is at least 1.")


def test_alpha_applied_twice_is_not_the_mechanism_but_within_the_claim():
    for name, mechanism in MECHANISMS.items():
        s, x = records(mechanism.joint, 20_000, 10)
        once = mechanism.sampler().sample(s, x, key=KEY, start=0)
        found = refuting(mechanism, s, x, mechanism.sampler().sample(s, once, key=KEY[::-1], start=0))
        assert found.refuted is False, name


def test_one_leaked_zero_cell_is_caught_and_named():
    mechanism = linred.non_markov(adult(), ldp=1.0)
    labels, dense = mechanism.joint, mechanism.p_y_given_sx
    s, x = records(mechanism.joint, 5000, 11)
    y = mechanism.sampler().sample(s, x, key=KEY, start=0)
    record = int(np.flatnonzero((dense[s, x] == 0.0).any(axis=1))[100])
    y[record] = int(np.flatnonzero(dense[s[record], x[record]] == 0.0)[0])
    columns = [
        np.array(names, object)[codes]
        for names, codes in ((labels.s_labels, s), (labels.x_labels, x), (labels.x_labels, y))
    ]
    (reason,) = refuting(mechanism, *columns).reasons
    s, x, y = (column[record] for column in columns)
    assert reason == f"record {record}: s = {s!r}, x = {x!r} became y = {y!r}, which the mechanism never draws"


def test_one_keystream_for_two_sets_of_records_is_caught():
    for name, mechanism in MECHANISMS.items():
        sampler, (first, second) = mechanism.sampler(), (records(mechanism.joint, 3000, seed) for seed in (12, 13))
        s, x = np.concatenate([first[0], second[0]]), np.concatenate([first[1], second[1]])
        y = np.concatenate([sampler.sample(*first, key=KEY, start=0), sampler.sample(*second, key=KEY, start=0)])
        (reason,) = refuting(mechanism, s, x, y).reasons
        assert reason.startswith("records 3,000 apart changed together"), name
        assert reason.endswith("so they share randomness")
        y = np.concatenate(
            [sampler.sample(*first, key=KEY, start=0), sampler.sample(*second, key=KEY, context="second")]
        )
        assert audit(s, y, x=x, mechanism=mechanism).conforms is True


def test_a_keystream_that_repeats_every_few_records_is_caught():
    """Both sets of pairs, those with i // d even and odd, are looked at."""
    mechanism = MECHANISMS["cells, by s"]
    s, x = records(mechanism.joint, 8000, 14)
    parts = [mechanism.sampler().sample(s[i : i + 500], x[i : i + 500], key=KEY, start=0) for i in range(0, 8000, 500)]
    reason = refuting(mechanism, s, x, np.concatenate(parts)).reasons[-1]
    assert reason.startswith("records ")
    assert " apart changed together " in reason
    assert int(reason.split()[1].replace(",", "")) % 500 == 0


def test_tails_of_unequal_probabilities_are_no_smaller_than_the_truth():
    """Against the law of the sum itself, by convolution."""
    rng = np.random.default_rng(15)
    for n in (1, 2, 5, 30):
        for _ in range(20):
            p, law = rng.random(n) ** rng.choice([0.3, 1.0, 4.0]), np.ones(1)
            for one in p:
                law = np.convolve(law, [1.0 - one, one])
            for k in range(n + 1):
                fewer, more = conformance._tails_of_unequal(k, n, p.sum())
                assert fewer >= law[: k + 1].sum() * (1 - 1e-9)
                assert more >= law[k:].sum() * (1 - 1e-9)


def test_a_y_outside_the_alphabet_is_an_impossible_move():
    mechanism = MECHANISMS["cells, by s"]
    s, x, y = np.array([0, 1, 0, 1]), np.array([2, 0, 2, 3]), np.array([2, 0, 9, 8])
    for given in ({}, {"x": x}):
        found = audit(s, y, mechanism=mechanism, **given)
        assert found.conforms is False
        assert found.reasons[0] == "y[2] is not in the mechanism's alphabet; 2 such records in total"
    assert audit(s, x, mechanism=mechanism).conforms is None
    many = audit([0, 1] * 500, [9, 0, 9, 1] * 250, mechanism=mechanism)
    assert many.where[0] == 9


def test_s_is_not_looked_at_where_the_mechanism_does_not_see_it():
    mechanism = MECHANISMS["cells, without s"]
    s, x = records(mechanism.joint, 3000, 16)
    y = mechanism.sampler().sample(None, x, key=KEY, start=0)
    assert audit(1 - s, y, x=x, mechanism=mechanism).conforms is True
    mechanism = MECHANISMS["cells, by s"]
    y = mechanism.sampler().sample(s, x, key=KEY, start=0)
    assert audit(1 - s, y, x=x, mechanism=mechanism).conforms is False


def test_changes_too_rare_for_a_difference_of_doubles():
    """P(change) of 2^-64: one change refutes, none does not."""
    joint = linred.Joint.from_conditional([[0.5, 0.5, 0.0], [0.5, 0.5 - 1e-18, 1e-18]], [0.5, 0.5])
    mechanism = linred.markov(joint, 1e-17)
    s, x = np.zeros(1000, int), np.arange(1000) % 2
    assert audit(s, x, x=x, mechanism=mechanism).conforms is True
    y = x.copy()
    y[5] = 0
    assert audit(s, y, x=x, mechanism=mechanism).conforms is False

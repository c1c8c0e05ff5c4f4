"""The numbers in docs/privacy.md and in the README's text, except those that are called measured."""

import csv
import gzip
import math
import re
from pathlib import Path

import numpy as np
import pytest

import linred
from linred.cli import target_options
from support import adult_tables, populations
from support.joints import adult, counts, example_1

ROOT = Path(__file__).parents[1]
TEXT, ERRATA, README = (
    re.sub(r"\s+", " ", (ROOT / name).read_text(encoding="utf-8"))
    for name in ("docs/privacy.md", "docs/errata.md", "README.md")
)

PAIRS = [(0, 0), (0, 1), (1, 0), (1, 1)]


def after(n_releases, mechanism):
    """LDP of several releases of one record, with fresh draws."""
    joint, channel = mechanism.joint, mechanism.p_y_given_sx
    released = joint.p_x_given_s[:, :, None] * channel
    for _ in range(n_releases - 1):
        released = np.einsum("sxa,sxy->sxay", released, channel).reshape(*joint.shape, -1)
    q = released.sum(axis=1)
    q = q[:, q.max(axis=0) > 0.0]
    with np.errstate(divide="ignore"):
        return math.log((q.max(axis=0) / q.min(axis=0)).max())


def test_plug_in_figures_are_broken():
    assert f"above it in {populations.n_broken_plug_ins()} of 100 simulated fits on 2,000 records" in TEXT


def test_the_price_of_confidence():
    design = linred.optimal(adult(), ldp=1.0, confidence=0.95).design
    assert f"`fit(confidence=0.95)` changes {100 * design.dtv:.2f} % of the records" in TEXT
    assert f"the plug-in optimum changes {100 * design.dtv_plug_in:.2f} %" in TEXT
    assert f"a mechanism that needs no data changes {100 * design.dtv_ceiling:.2f} %" in TEXT
    without = linred.optimal(adult(), ldp=1.0, confidence=0.95, sees_s=False)
    assert f"changes {100 * without.dtv():.0f} % of the records of Adult at LDP 1" in TEXT


def test_who_knows_x_may_learn_s():
    channel = linred.optimal(example_1(), ldp=1.0).p_y_given_sx
    assert ((channel[0] == 0.0) & (channel[1] > 0.0)).any()
    assert (np.ptp(linred.optimal(example_1(), ldp=1.0, sees_s=False).p_y_given_sx, axis=0) == 0.0).all()


def changed(joint, **limits):
    """Return the percentage of changed records of the optimum."""
    return 100.0 * linred.optimal(joint, **limits).dtv()


def test_one_side_of_the_lifts():
    by_sex = counts("adult_sex_occupation")
    one, both = (changed(adult(), **{name: 0.5}) for name in ("max_lift", "log_lift"))
    assert f"`max_lift=0.5` changes {one:.2f} % of the records" in TEXT
    assert f"`log_lift=0.5`, which limits both sides, {both:.2f} %" in TEXT
    one, both = (changed(by_sex, **{name: 1.0}) for name in ("max_lift", "log_lift"))
    assert f"the shares are {one:.3f} % and {both:.2f} %, a factor of more than {both // one:.0f}." in TEXT
    for joint, limit in ((adult(), 0.5), (by_sex, 1.0)):
        assert linred.ldp(linred.optimal(joint, max_lift=limit).released) == math.inf


def test_the_tables_of_targets_in_the_readme():
    """Every limit and option stands there, and every example in Python runs."""
    of_columns = linred.Joint(np.random.default_rng(0).dirichlet(np.full(12, 0.5)).reshape(4, 3), PAIRS, [0, 1, 2])
    section = README[README.index("## Targets") : README.index("## Certified figures")]
    examples = re.findall(r"\| `([a-z_]+=[^|]*)` \| `(--[^|]*)` \|", section)
    for code, _ in examples:
        limits = eval(f"dict({code})", {"linred": linred, "joint": of_columns})
        assert linred.optimal(of_columns, **limits).sampler().certificate().met
    for name, option in target_options.NAMES.items():
        assert any(f"{name}=" in code for code, _ in examples), name
        assert any(f"{option} " in command for _, command in examples), option


def test_neighbours_and_pairs():
    joint = adult_tables.by_columns("marital_status", "sex")
    everybody, neighbours = changed(joint, ldp=1.0), changed(joint, dp=1.0, neighbors="hamming")
    assert f"an LDP of 1 changes {everybody:.2f} % of the records, and `dp=1` for labels" in TEXT
    assert f"differ in one column {neighbours:.2f} %" in TEXT
    ages = adult_tables.by_age()
    steps = linred.pairs_by_distance("absolute", range(ages.shape[0]), epsilon=0.5)
    assert (
        f"changes {changed(ages, pairs=steps):.2f} %, and an LDP of 0.5 changes {changed(ages, ldp=0.5):.2f} %" in TEXT
    )
    shown = {(s, t): 1.0 for s in ("Divorced", "Separated") for t in adult().s_labels if s != t}
    assert f"That changes {changed(adult(), pairs=shown):.2f} % of the records, where an LDP of 1 changes" in TEXT


def test_limits_along_a_path_of_neighbours_add_up():
    p = np.random.default_rng(0).dirichlet(np.full(5, 0.3), 3)
    chain = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], bool)
    released = linred.optimal(linred.Joint(p / 3), dp=0.5, neighbors=chain).released
    assert 0.5 < linred.ldp(released) <= 1.0 + 1e-12


def test_secrets():
    joint = adult_tables.by_columns("marital_status", "sex")
    mechanism = linred.optimal(joint, ldp=1.0, secrets="each")
    assert f"two columns changes {100 * mechanism.dtv():.2f} % of the records instead of" in TEXT
    assert linred.ldp(mechanism.released) > 1.0


def test_a_limit_for_someone_who_knows_x():
    limits = (0.0, 0.5, 1.0, 2.0, 4.0, math.inf)
    prices = " | ".join(f"{changed(adult(), ldp=1.0, given_x=limit):.2f} %" for limit in limits)
    assert f"| changed records | {prices} |" in TEXT
    mechanism = linred.optimal(example_1(), ldp=1.0, given_x=0.5)
    most = linred.ldp(example_1()) + 2 * 0.5
    assert f"the bound for two releases is {most:.2f} nats, and their LDP is {after(2, mechanism):.2f}" in TEXT
    assert after(6, mechanism) <= linred.ldp(example_1()) + 6 * 0.5
    assert linred.ldp(adult()) == math.inf


def test_who_bears_the_changes():
    mechanism = linred.optimal(adult(), ldp=1.0)
    by_s = dict(zip(mechanism.joint.s_labels, 100 * mechanism.changed(by="s"), strict=True))
    assert f"{by_s['Widowed']:.1f} % of the widowed and {by_s['Separated']:.1f} % of the separated" in TEXT
    some, few = (changed(adult(), ldp=1.0, max_changed_by_s=share) for share in (0.05, 0.03))
    assert f"`max_changed_by_s=0.05`, {some:.2f} % of all records change, and with 0.03, {few:.2f} %" in TEXT
    with pytest.raises(linred.CannotMeetError):
        linred.optimal(adult(), ldp=1.0, max_changed_by_s=0.02)


def test_the_least_leakage_for_a_share_of_changes():
    mechanism = linred.optimal(adult(), max_changed=0.01)
    assert mechanism.dtv() <= 0.01
    assert f"the LDP is {linred.ldp(mechanism.released):.3f} nats" in TEXT


def test_figures_that_are_not_targets():
    before, after_it = adult(), linred.optimal(adult(), ldp=1.0).released
    exposed = before.x_labels[linred.max_lift(before, by_y=True).argmax()]
    lifts = [linred.max_lift(joint, by_y=True)[before.x_labels.index(exposed)] for joint in (before, after_it)]
    assert f"On Adult that is `{exposed}`: {lifts[0]:.2f} nats before, {lifts[1]:.2f} after" in TEXT
    small = linred.delta(linred.optimal(adult(), max_lift=0.5).released, 1.0)
    assert f"`max_lift=0.5`, delta is {small:.3f} at epsilon = 1" in TEXT
    strongest = [linred.modes(joint).values[0] for joint in (before, after_it)]
    assert f"{strongest[0]:.2f} on Adult and {strongest[1]:.2f} after" in TEXT


def test_a_bound_on_alpha_leakage_of_every_order():
    joint = example_1()
    of_order_2, maximal, lift = linred.alpha_leakage(joint, 2.0), linred.maximal_leakage(joint), linred.max_lift(joint)
    papers = 2.0 * linred.log_lift(joint)
    figures = [f"{figure:.3f}".removeprefix("0") for figure in (of_order_2, maximal, lift, papers)]
    assert "{} <= {} <= {} nats, where the paper's bound is {}".format(*figures) in ERRATA
    for order in (1.0, 1.01, 1.5, 2.0, 10.0, 1e3, math.inf):
        assert linred.alpha_leakage(joint, order) <= maximal <= lift


def test_two_releases():
    assert "at LDP 0.5, two releases by `optimal` have an infinite LDP" in TEXT
    assert after(1, linred.optimal(example_1(), ldp=0.5)) == pytest.approx(0.5)
    assert after(2, linred.optimal(example_1(), ldp=0.5)) == math.inf
    lemma_1 = linred.markov(example_1(), ldp=0.5)
    assert f"({linred.ldp(example_1()):.2f} nats there;" in TEXT
    assert (
        f"two releases by Lemma 1 reveal {after(2, lemma_1):.2f} nats, and six reveal {after(6, lemma_1):.2f})" in TEXT
    )


def test_records_that_share_s_add_up():
    """m records with the same S and X independent given S: LDP is m times that of one."""
    q = linred.markov(example_1(), ldp=0.5).p_y_given_s
    three = np.einsum("sa,sb,sc->sabc", q, q, q).reshape(2, -1)
    assert math.log((three.max(axis=0) / three.min(axis=0)).max()) == pytest.approx(1.5)


def test_lifts_depend_on_the_prior_and_ldp_does_not():
    released = linred.optimal(example_1(), ldp=1.0).released
    other = linred.Joint.from_conditional(released.p_x_given_s, [0.05, 0.95])
    lifts = f"max-lift is {linred.max_lift(released):.3f} with its P(S) and {linred.max_lift(other):.3f} for"
    assert lifts in TEXT
    assert linred.ldp(other) == pytest.approx(linred.ldp(released))
    assert linred.maximal_leakage(other) == pytest.approx(linred.maximal_leakage(released))


def test_a_column_that_is_published_unchanged_breaks_the_target():
    with gzip.open(ROOT / "linred" / "data" / "adult.csv.gz", "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    s, education = ([row[name] for row in rows] for name in ("marital_status", "education"))
    below = math.floor(100 * linred.audit(s, education).ldp) / 100
    assert below > 1.0
    for text, words in ((TEXT, "shows an LDP of at least"), (README, "education alone has an LDP of at least")):
        assert f"{words} {below:.2f}" in text


def test_fewest_changes_among_those_that_keep_the_marginal():
    kept, free = (
        [
            100 * linred.optimal(joint, ldp=1.0, keep_marginal=keep).dtv()
            for joint in (adult(), counts("adult_sex_occupation"))
        ]
        for keep in (True, False)
    )
    assert f"changes {free[0]:.2f} % instead of {kept[0]:.2f} % (marital status)" in README
    assert f"and {free[1]:.2f} % instead of {kept[1]:.2f} % (sex) at LDP 1" in README


def test_an_ldp_of_0():
    exact, near = (linred.optimal(adult(), ldp=ldp) for ldp in (0.0, 1e-12))
    assert exact.sampler().certificate().ldp == 0.0
    assert exact.dtv() == pytest.approx(near.dtv(), abs=1e-9)
    assert f"changes {100 * exact.dtv():.1f} % of the records: the mean" in TEXT
    without_s = linred.optimal(adult(), ldp=0.0, sees_s=False)
    assert f"but changes {100 * without_s.dtv():.1f} % of the records on Adult" in TEXT
    assert f"by {linred.certify(exact).ldp:.2f} nats at 95 % confidence" in TEXT
    certain = linred.optimal(adult(), ldp=0.0, confidence=0.95)
    assert certain.dtv() == pytest.approx(without_s.dtv(), abs=0.002)
    assert certain.certified.ldp == 0.0


def test_the_papers_condition_on_its_approximation():
    joint = linred.Joint.from_conditional([[0.002, 0.998], [0.998, 0.002]], [0.5, 0.5])
    assert linred.local(joint).valid
    approximated, exact = linred.first_order(joint, 0.5), linred.ldp(linred.linear_reduction(joint, 0.5))
    low, high = approximated.ldp_interval
    assert (
        f"approximates an LDP of {exact:.2f} by {approximated.ldp:.2f}. The interval, {low:.2f} to {high:.2f}" in TEXT
    )
    assert low <= exact <= high < approximated.ldp


def test_two_mechanisms_under_one_key_and_ids_are_two_releases():
    """Some pairs of values come from one s alone, thousands of records of the other s notwithstanding."""
    joint, n_records = example_1(), 100_000
    s, x = populations.records(joint, n_records, seed=0)
    under = {"key": bytes(32), "ids": np.arange(n_records)}
    one, two = (linred.optimal(joint, ldp=ldp).sampler().sample(s, x, **under) for ldp in (1.0, 0.5))
    seen = np.zeros((2, 4, 4), int)
    np.add.at(seen, (s, one, two), 1)
    assert ((seen == 0).any(axis=0) & (seen.max(axis=0) > 100)).any()
    assert "release pairs of values that can come from one S only" in TEXT

"""The report of a mechanism, and its largest moves by brute force."""

import numpy as np
import pytest

import linred
from linred import Joint
from linred.mechanism.summary import largest_moves
from linred.privacy.leakage import FIGURES
from support.joints import example_1, random_joint


def test_report_has_every_figure_and_prints_as_a_table():
    mechanism = linred.non_markov(example_1(), 0.5)
    report = mechanism.report(base=2)
    assert report.before.ldp == linred.ldp(example_1(), 2)
    for name in FIGURES:
        assert getattr(report.after, name) == getattr(linred, name)(mechanism.released, 2)
    assert report.utility.dtv == mechanism.dtv()
    assert report.utility.mutual_information == mechanism.mutual_information(2)
    assert report.utility.entropy == pytest.approx(1.8847367482, abs=5e-11)
    assert report.utility.information_loss == pytest.approx(1.8847367482 - 1.3592782611, abs=1e-10)
    made, leakage, utility, *_ = str(report).split("\n\n")[3:]
    assert made == "Mechanism: non_markov, alpha = 0.5; 2 values of S, 4 values of X"
    lines = leakage.splitlines()
    assert " ".join(lines[0].split()) == "Leakage about S (bits) X (unprotected) Y (released)"
    assert lines[1].split() == ["LDP", "2.322", "1.170"]
    assert len({len(line) for line in lines}) == 1, "columns are aligned"
    assert "H(X) (bits)" in utility


def test_a_report_shows_the_distortion_that_a_mechanism_was_made_for():
    d = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))
    report = linred.non_markov(example_1(), 0.5, distortion=d).report()
    assert report.utility.expected_distortion == pytest.approx(0.189)
    assert "\n  Expected distortion                                        0.1890\n" in str(report)
    plain = linred.non_markov(example_1(), 0.5).report()
    assert plain.utility.expected_distortion is None
    assert "istortion" not in str(plain)


def test_a_report_of_an_infinite_figure_prints():
    assert "inf" in str(linred.markov(Joint([[0.5, 0.0], [0.25, 0.25]]), 0.5).report())


MAKERS = {
    "markov": linred.markov,
    "non_markov": linred.non_markov,
    "proportional": lambda joint, ldp: linred.non_markov(joint, ldp=ldp, coupling="proportional"),
    "optimal": linred.optimal,
    "given x alone": lambda joint, ldp: linred.optimal(joint, given_x=ldp),
    "x alone": lambda joint, ldp: linred.optimal(joint, ldp=ldp, sees_s=False),
    "k_rr": linred.baselines.k_rr,
    "pram": linred.baselines.pram,
    "watchdog": linred.baselines.watchdog,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize("seed", range(6))
def test_the_largest_moves_by_brute_force(make, seed):
    rng = np.random.default_rng(seed)
    joint = random_joint(rng, 3, 7, zeros=0.3 * (seed % 2), ties=seed > 3)
    mechanism = make(joint, ldp=0.5)
    share = joint.p_sx[:, :, None] * mechanism.p_y_given_sx
    if not mechanism.sees_s:
        share = share.sum(axis=0, keepdims=True)
    share[:, np.arange(7), np.arange(7)] = 0.0
    for n in (1, 5, 40, 1000):
        moves, expected = largest_moves(mechanism, n), np.sort(share[share > 0.0])[::-1][:n]
        np.testing.assert_allclose([move.share for move in moves], expected, rtol=1e-12)
        assert len({move[:3] for move in moves}) == len(moves)
        for s, x, y, of_all, of_group in moves:
            assert (s is None) == (not mechanism.sees_s)
            assert of_all == pytest.approx(share[s or 0, x, y], rel=1e-12)
            group = joint.p_x[x] if s is None else joint.p_sx[s, x]
            assert of_group == pytest.approx(of_all / group, rel=1e-12)


def test_the_largest_moves_need_nothing_dense():
    joint = random_joint(np.random.default_rng(0), 30, 3000)  # P(y|s,x) would be 2 GB
    (move,) = largest_moves(linred.non_markov(joint, 0.5, coupling="proportional"), 1)
    assert move.share > 0.0

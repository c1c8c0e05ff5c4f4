"""`linred.tradeoff`: each point against the mechanism it stands for; tables."""

import math
from functools import partial

import numpy as np
import pytest

import linred
from support.joints import example_1

ALL = ["markov", "optimal_markov", "non_markov", "optimal", "selective", "k_rr", "pram", "watchdog"]
STEPS = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))


def test_points_are_the_mechanisms_figures():
    joint, targets = example_1(), [0.4, 1.0, 2.0]
    curves = linred.tradeoff(joint, ldp=targets, mechanisms=ALL, distortion=STEPS, base=2)
    assert curves.labels == tuple(ALL)
    makers = {
        "markov": linred.markov,
        "optimal_markov": partial(linred.optimal, sees_s=False, distortion=STEPS),
        "non_markov": partial(linred.non_markov, distortion=STEPS),
        "optimal": partial(linred.optimal, distortion=STEPS),
        "selective": partial(linred.selective, distortion=STEPS),
        "k_rr": linred.baselines.k_rr,
        "pram": linred.baselines.pram,
        "watchdog": linred.baselines.watchdog,
    }
    for label, make in makers.items():
        curve = curves[label]
        for i, target in enumerate(targets):
            mechanism = make(joint, ldp=target)
            report = mechanism.report(2)
            expected = {
                "ldp": report.after.ldp,
                "log_lift": report.after.log_lift,
                "max_lift": report.after.max_lift,
                "min_lift": report.after.min_lift,
                "mutual_information_sy": report.after.mutual_information,
                "maximal_leakage": report.after.maximal_leakage,
                "dtv": report.utility.dtv,
                "mutual_information_xy": report.utility.mutual_information,
                "information_loss": report.utility.information_loss,
                "expected_distortion": mechanism.expected_distortion(STEPS),
                "gap": mechanism.gap,
            }
            assert {name: curve[name][i] for name in expected} == expected
            assert curve["ldp"][i] * math.log(2) <= target + 1e-15


def test_one_point_may_come_alone():
    assert linred.tradeoff(example_1(), ldp=1.0, mechanisms="markov").points.tolist() == [1.0]


def test_over_alphas():
    curves = linred.tradeoff(example_1(), alphas=[0.1, 0.5])
    assert curves.labels == ("markov", "optimal_markov", "non_markov")
    np.testing.assert_array_equal(curves["markov"]["alpha"], [0.1, 0.5])
    np.testing.assert_allclose(curves["markov"]["ldp"], curves["optimal_markov"]["ldp"], rtol=1e-12)
    assert (curves["non_markov"]["dtv"] < curves["optimal_markov"]["dtv"]).all()


def test_over_log_lift_and_with_mechanisms_of_ones_own():
    mine = {"mine": partial(linred.optimal, prefer="information")}
    curves = linred.tradeoff(example_1(), log_lift=[0.2, 0.6], mechanisms=mine)
    assert (curves["mine"]["log_lift"] <= [0.2, 0.6]).all()
    assert np.isnan(curves["mine"]["expected_distortion"]).all()


def test_to_pandas():
    frame = linred.tradeoff(example_1(), ldp=[0.5, 1.0], mechanisms=["markov", "optimal"]).to_pandas()
    assert frame["mechanism"].tolist() == ["markov", "markov", "optimal", "optimal"]
    assert frame["asked"].tolist() == [0.5, 1.0, 0.5, 1.0]
    assert frame["dtv"].round(4).tolist() == [0.4972, 0.2669, 0.1302, 0.0632]
    assert set(linred.tradeoff(example_1(), ldp=[1.0]).measures) <= set(frame.columns)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give exactly one of alphas=, ldp= and log_lift=; given: none"),
        ({"alphas": [0.1], "ldp": [1.0]}, "given: alphas, ldp"),
        ({"alphas": [0.5, 1.5]}, r"alphas\[1\] = 1.5 is outside \[0, 1\]"),
        ({"ldp": [1.0, math.nan]}, r"ldp\[1\] = nan is outside"),
        ({"ldp": [1.0, [2.0]]}, r"ldp\[1\] is a list, not a number"),
        ({"ldp": "1"}, r"ldp\[0\] is a str, not a number"),
        ({"ldp": []}, "ldp= has no points"),
        ({"ldp": [1.0], "mechanisms": 5}, "mechanisms is a int, neither a list of names nor a dict of callables"),
        ({"ldp": [1.0], "mechanisms": {}}, "mechanisms is a dict, neither"),
        ({"ldp": [1.0], "mechanisms": {"mine": lambda joint, ldp: None}}, r"\['mine'\] returned type NoneType, not a"),
        ({"ldp": [1.0], "mechanisms": ["markov", "best"]}, r"mechanisms\[1\] = 'best' is not one of 'markov'"),
        ({"alphas": [0.5], "mechanisms": ["k_rr"]}, r"mechanisms\[0\] = 'k_rr' is not one of .* for alpha"),
        ({"ldp": [1.0], "mechanisms": {"mine": 3}}, r"mechanisms\['mine'\] has type int, which cannot be called"),
        ({"ldp": [1.0], "base": 1.0}, "base = 1.0 is not a finite number above 1"),
    ],
)
def test_bad_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        linred.tradeoff(example_1(), **arguments)


def test_a_curve_that_is_not_there():
    with pytest.raises(KeyError, match="'optimal' is not one of the curves: 'markov'"):
        linred.tradeoff(example_1(), ldp=[1.0], mechanisms="markov")["optimal"]

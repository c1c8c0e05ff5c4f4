"""`linred.tradeoff`: each point against the mechanism it stands for; tables."""

import math
from functools import partial

import numpy as np
import pytest

import linred
from linred.design import optimal as design
from linred.report.curves import MEASURES
from support.joints import adult, example_1
from support.target_programmes import fewest_changes, figures, least_limit

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


NEIGHBORS = np.eye(7, k=1, dtype=bool) | np.eye(7, k=-1, dtype=bool)
GRIDS = {
    "ldp": ([0.5, 1.0], {}),
    "log_lift": ([0.2, 0.6], {}),
    "max_lift": ([0.25, 0.7], {}),
    "min_lift": ([0.3, 0.8], {}),
    "dp": ([0.5, 1.0], {"neighbors": NEIGHBORS}),
    "given_x": ([0.5, 2.0], {"ldp": 1.0}),
    "max_changed_by_s": ([0.05, 0.07], {"ldp": 1.0}),
}


@pytest.mark.parametrize("grid", GRIDS)
def test_every_limit_can_be_the_grid(grid):
    points, others = GRIDS[grid]
    joint, neighbors = adult(), others.get("neighbors")
    curves = linred.tradeoff(joint, **{grid: points}, **others, mechanisms="optimal")
    assert (curves.grid, curves.points.tolist(), curves.missing) == (grid, points, {})
    for i, point in enumerate(points):
        mechanism = linred.optimal(joint, **{grid: point}, **others)
        found = figures(joint.p_sx, mechanism.p_y_given_sx)
        expected = {
            "ldp": found.ldp,
            "log_lift": found.log_lift,
            "max_lift": found.max_lift,
            "min_lift": found.min_lift,
            "dp": math.nan if neighbors is None else found.pairs[neighbors].max(),
            "secrets": math.nan,
            "ldp_given_x": found.given_x,
            "dtv": found.changed,
            "max_changed_by_s": found.changed_by_s.max(),
        }
        measured = {name: curves["optimal"][name][i] for name in expected}
        assert measured == pytest.approx(expected, rel=1e-6, abs=1e-12, nan_ok=True)
        x, y = curves.axes
        assert (measured[x], y) == (pytest.approx(point, rel=1e-3), "dtv"), "the grid is the first axis"


def test_numbers_are_limits_that_every_point_meets():
    joint = adult()
    curves = linred.tradeoff(joint, ldp=[0.5, 1.0, 2.0], max_lift=0.3)
    assert curves.labels == ("markov", "optimal_markov", "non_markov", "optimal")
    for label in curves.labels:
        assert (curves[label]["max_lift"] <= 0.3 + 1e-12).all()
        assert (curves[label]["ldp"] <= curves.points + 1e-12).all()
    expected = [fewest_changes(joint.p_sx, ldp=ldp, max_lift=0.3)[0] for ldp in curves.points]
    np.testing.assert_allclose(curves["optimal"]["dtv"], expected, rtol=1e-6)
    with_target = linred.tradeoff(joint, ldp=[0.5, 1.0, 2.0], target=linred.Target(max_lift=0.3))
    np.testing.assert_array_equal(with_target["optimal"]["dtv"], curves["optimal"]["dtv"])


def test_pairs_and_secrets_hold_at_every_point():
    joint, apart = adult(), np.abs(np.subtract.outer(np.arange(7.0), np.arange(7.0)))
    curves = linred.tradeoff(joint, max_lift=[0.5, 1.0], pairs=0.5 * apart, mechanisms="optimal")
    expected = [fewest_changes(joint.p_sx, max_lift=point, pairs=0.5 * apart)[0] for point in (0.5, 1.0)]
    np.testing.assert_allclose(curves["optimal"]["dtv"], expected, rtol=1e-6)
    halves = np.arange(7) % 2
    curves = linred.tradeoff(joint, ldp=[0.2, 0.4], secrets=(halves,), mechanisms=["non_markov", "optimal"])
    assert curves.axes == ("secrets", "dtv")
    assert linred.tradeoff(joint, ldp=[0.2], secrets={lambda s: 0: 1.0}, mechanisms="markov").axes == ("ldp", "dtv")
    expected = [fewest_changes(joint.p_sx, secrets=[(halves, point)])[0] for point in (0.2, 0.4)]
    np.testing.assert_allclose(curves["optimal"]["dtv"], expected, rtol=1e-6)
    np.testing.assert_allclose(curves["non_markov"]["secrets"], [0.2, 0.4], rtol=1e-9)
    assert (curves["optimal"]["ldp"] > 1.0).all(), "S itself has no limit"


@pytest.mark.parametrize("least", ["ldp", "max_lift"])
def test_a_grid_of_shares_gives_the_least_leakage(least):
    joint, shares = example_1(), [0.05, 0.005, 0.2]
    curves = linred.tradeoff(joint, max_changed=shares, least=least)
    assert (curves.labels, curves.axes) == (("optimal_markov", "optimal"), ("dtv", least))
    assert (curves["optimal"]["dtv"] <= shares).all()
    expected = [least_limit(joint.p_sx, least, share) for share in shares]
    np.testing.assert_allclose(curves["optimal"][least], expected, atol=1e-6)


@pytest.mark.parametrize(
    ("joint", "others"),
    [
        (example_1(), {}),
        (example_1(), {"sees_s": False}),
        (adult(), {"max_lift": 0.4, "max_changed_by_s": 0.3}),
    ],
)
def test_a_warm_curve_is_that_of_the_points_one_by_one_in_any_order(joint, others, monkeypatch):
    shares, sees_s = np.geomspace(0.03, 0.3, 5), others.get("sees_s", True)
    limits, label = {**others}, "optimal" if sees_s else "optimal_markov"
    limits.pop("sees_s", None)
    solved, solve = [], design._Search.best
    monkeypatch.setattr(design._Search, "best", lambda search: solved.append(search) or solve(search))
    expected = np.array([linred.ldp(linred.optimal(joint, max_changed=share, **others).released) for share in shares])
    n_cold = len(solved)
    for order in (np.arange(5)[::-1], np.array([3, 0, 4, 1, 2])):
        solved.clear()
        warm = linred.tradeoff(joint, max_changed=shares[order], mechanisms=label, **limits)[label]
        np.testing.assert_allclose(warm["ldp"], expected[order], atol=1e-6)
        assert (warm["dtv"] <= shares[order]).all()
        assert len(solved) < 0.8 * n_cold, "what one point computed serves the others"


def test_a_grid_of_limits_is_that_of_the_points_one_by_one_to_the_last_bit():
    joint, targets = adult(), [2.0, 0.5, 1.0]
    curve = linred.tradeoff(joint, ldp=targets, mechanisms="optimal")["optimal"]
    assert curve["dtv"].tolist() == [linred.optimal(joint, ldp=target).dtv() for target in targets]


def test_a_grid_of_distortions():
    joint = example_1()
    curves = linred.tradeoff(joint, max_distortion=[0.1, 0.2], distortion=STEPS)
    assert curves.axes == ("expected_distortion", "ldp")
    for i, most in enumerate(curves.points):
        cost = fewest_changes(joint.p_sx, ldp=curves["optimal"]["ldp"][i], distortion=STEPS)[0]
        assert curves["optimal"]["expected_distortion"][i] <= most
        assert cost == pytest.approx(most, rel=1e-5)


def test_a_grid_of_limits_with_a_distortion_is_compared_by_what_is_minimised():
    curves = linred.tradeoff(example_1(), max_lift=[0.2, 0.4], distortion=STEPS)
    assert curves.axes == ("max_lift", "expected_distortion")


def test_a_point_that_nothing_meets_is_nan_and_says_why():
    curves = linred.tradeoff(adult(), max_changed_by_s=[0.02, 0.05], ldp=1.0)
    assert curves.labels == ("optimal_markov", "optimal"), "no other can limit the changes of every s"
    assert all(np.isnan(curves["optimal"][measure][0]) for measure in MEASURES)
    expected = fewest_changes(adult().p_sx, ldp=1.0, max_changed_by_s=0.05)[0]
    assert curves["optimal"]["dtv"][1] == pytest.approx(expected)
    assert [point for label, point in curves.missing if label == "optimal"] == [0.02]
    assert "max_changed_by_s" in curves.missing["optimal", 0.02]
    assert f"{len(curves.missing)} points missing" in repr(curves)
    shares = linred.tradeoff(adult(), max_changed=[0.001, 0.1], max_lift=0.25, mechanisms="optimal")
    assert np.isnan(shares["optimal"]["ldp"]).tolist() == [True, False]
    named = float(shares.missing["optimal", 0.001].split()[-1])
    assert named == pytest.approx(fewest_changes(adult().p_sx, max_lift=0.25)[0], rel=1e-5)


def test_a_curve_without_any_point_is_an_error():
    message = r"at any point; optimal at 0\.002: max_changed = 0\.002 is too small"
    with pytest.raises(linred.CannotMeetError, match=message) as error:
        linred.tradeoff(adult(), max_changed=[0.001, 0.002], max_lift=0.25)
    named = float(str(error.value).split()[-1])
    assert named == pytest.approx(fewest_changes(adult().p_sx, max_lift=0.25)[0], rel=1e-5), "not of a weaker mechanism"


def test_over_alphas():
    curves = linred.tradeoff(example_1(), alphas=[0.1, 0.5])
    assert curves.labels == ("markov", "optimal_markov", "non_markov")
    np.testing.assert_array_equal(curves["markov"]["alpha"], [0.1, 0.5])
    np.testing.assert_allclose(curves["markov"]["ldp"], curves["optimal_markov"]["ldp"], rtol=1e-12)
    assert (curves["non_markov"]["dtv"] < curves["optimal_markov"]["dtv"]).all()


def test_over_log_lift_and_with_mechanisms_of_ones_own():
    mine = {"mine": partial(linred.optimal, prefer="information")}
    keywords = []

    def noting(joint, **asked):
        keywords.append(asked)
        return linred.optimal(joint, **asked)

    linred.tradeoff(example_1(), max_changed=[0.1], max_lift=0.5, least="max_lift", mechanisms={"noting": noting})
    assert keywords == [{"max_changed": 0.1, "max_lift": 0.5, "least": "max_lift"}]
    curves = linred.tradeoff(example_1(), log_lift=[0.2, 0.6], mechanisms=mine)
    assert (curves["mine"]["log_lift"] <= [0.2, 0.6]).all()
    assert np.isnan(curves["mine"]["expected_distortion"]).all()


def test_to_pandas():
    frame = linred.tradeoff(example_1(), ldp=[0.5, 1.0], mechanisms=["markov", "optimal"]).to_pandas()
    assert frame["mechanism"].tolist() == ["markov", "markov", "optimal", "optimal"]
    assert frame["asked"].tolist() == [0.5, 1.0, 0.5, 1.0]
    assert frame["max_changed_by_s"].ge(frame["dtv"]).all()
    assert frame["dtv"].round(4).tolist() == [0.4972, 0.2669, 0.1302, 0.0632]
    assert set(linred.tradeoff(example_1(), ldp=[1.0]).measures) <= set(frame.columns)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, r"the points of exactly one limit as a sequence, such as ldp=\[.*; sequences given: none"),
        ({"ldp": 1.0, "max_lift": 0.5}, "sequences given: none"),
        ({"alphas": [0.1], "ldp": [1.0]}, "sequences given: alphas=, ldp="),
        ({"ldp": [1.0], "max_changed": [0.1]}, "sequences given: ldp=, max_changed="),
        ({"alphas": [0.1], "ldp": 1.0}, "alphas= and ldp= are both given: give one of them"),
        ({"alphas": [0.1], "max_changed": 0.1}, "alphas= and max_changed= are both given"),
        ({"alphas": 0.1}, "sequences given: none"),
        ({"ldp": [1.0], "target": linred.Target(ldp=2.0)}, "ldp= is given twice, in target= and by itself"),
        ({"ldp": [1.0], "least": "ldp"}, "least = 'ldp' needs max_changed= or max_distortion="),
        ({"max_changed": [0.1], "least": "dp"}, "least = 'dp' is not one of 'ldp', 'log_lift', 'max_lift'"),
        ({"max_changed": [0.1, 1.5]}, r"max_changed\[1\] = 1.5 is outside \[0, 1\]"),
        ({"max_changed_by_s": [2.0]}, r"max_changed_by_s\[0\] = 2.0 is outside \[0, 1\]"),
        ({"max_changed": [0.1], "distortion": STEPS}, "give max_distortion="),
        ({"max_distortion": [0.1]}, "max_distortion= needs distortion="),
        ({"dp": [1.0]}, "dp= needs neighbors="),
        ({"max_changed": [0.1], "mechanisms": "markov"}, "markov cannot meet max_changed=: use optimal, which can"),
        ({"given_x": [1.0], "mechanisms": ["optimal_markov"]}, "optimal_markov cannot meet given_x=: use optimal"),
        ({"ldp": [1.0], "given_x": 1.0, "mechanisms": "selective"}, "selective cannot meet given_x=: use optimal"),
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

"""Pictures of trade-off curves: units, names, colours, and refused arguments."""

import numpy as np
import pytest

import linred
from linred.design.registry import KINDS
from support.joints import example_1


def drawn(*labels, **arguments):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("agg")
    curves = linred.tradeoff(example_1(), ldp=np.linspace(0.1, 1.5, 12), mechanisms=list(labels), base=2)
    return curves, curves.plot(**arguments)


def test_a_picture_has_units_and_each_line_its_name_beside_it():
    curves, ax = drawn("markov", "non_markov", "optimal", x="ldp", y="dtv")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("LDP of S to Y [bits]", "share of changed records")
    names = [text.get_text() for text in ax.texts]
    assert names == ["Lemma 1", "Proposition 1", "optimal"]
    assert [text.get_color() for text in ax.texts] == [line.get_color() for line in ax.lines]
    np.testing.assert_array_equal(np.sort(curves["optimal"]["dtv"]), np.sort(ax.lines[2].get_ydata()))
    left, right, bottom, top = *ax.get_xlim(), *ax.get_ylim()
    for text, line in zip(ax.texts, ax.lines, strict=True):
        u, v = text.xy
        own, *others = [line, *(other for other in ax.lines if other is not line)]
        heights = [np.interp(left + u * (right - left), *other.get_data()) for other in (own, *others)]
        distances = [abs((height - bottom) / (top - bottom) - v) for height in heights]
        assert distances[0] == min(distances), "a name is nearest to its own line"


def test_colours_and_dashes_stay_the_same_and_differ():

    _, one = drawn("markov", "optimal")
    _, other = drawn("optimal", "non_markov")
    assert one.lines[1].get_color() == other.lines[0].get_color() == KINDS["optimal"].colour
    assert len({kind.colour for kind in KINDS.values()}) == len(KINDS)
    assert len({kind.dashes for kind in KINDS.values()}) == len(KINDS)


def test_a_picture_of_what_nobody_knows():
    with pytest.raises(ValueError, match="no curve has a point where both 'ldp' and 'expected_distortion' are known"):
        drawn("markov", x="ldp", y="expected_distortion")
    _, ax = drawn("markov", "optimal", x="alpha", y="dtv")  # only the first has an alpha
    assert [text.get_text() for text in ax.texts] == ["Lemma 1"]


def test_the_default_axes_are_those_of_the_grid(monkeypatch):
    pytest.importorskip("matplotlib").use("agg")
    curves = linred.tradeoff(example_1(), max_changed=[0.01, 0.15, 0.2], max_lift=0.4, mechanisms="optimal")
    ax = curves.plot()
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("share of changed records", "LDP of S to Y [nats]")
    left_out = [point for _, point in curves.missing]
    assert left_out == [0.01], "a point that nothing meets is not drawn"
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), curves["optimal"]["dtv"][1:])
    for y in ("ldp_given_x", "max_changed_by_s", "maximal_leakage"):
        ax = linred.tradeoff(example_1(), ldp=[0.5, 1.0], mechanisms="markov").plot("max_lift", y)
        assert ax.get_ylabel() == curves.axis_label(y)


def test_a_picture_of_something_else():
    with pytest.raises(ValueError, match="y = 'damage' is not one of 'alpha', 'ldp'"):
        drawn("markov", y="damage")
    with pytest.raises(ValueError, match=r"x = <list> is not one of 'alpha', 'ldp'"):
        drawn("markov", x=["ldp"])
    with pytest.raises(TypeError, match="ax has type int; matplotlib axes are needed"):
        drawn("markov", ax=3)

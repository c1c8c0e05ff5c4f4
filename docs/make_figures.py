"""Draws the paper's Figures 1 to 5 with the optimum added, and the README's figure of UCI Adult: `make figures`."""

from functools import partial
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import brentq

import linred
from benchmarks.data import adult
from linred.datasets import example_1
from linred.report.plots import label_directly, style_of

matplotlib.rcParams.update({"svg.hashsalt": "linred", "font.size": 10})
FIGURES = Path(__file__).parent / "figures"
ALPHAS = np.linspace(0.0, 0.99, 100)
STEPS = np.abs(np.subtract.outer(np.arange(4.0), np.arange(4.0)))


def save(figure, name):
    figure.savefig(FIGURES / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


def panels(n):
    return plt.subplots(1, n, figsize=(4.6 * n if n > 1 else 6.4, 3.6), layout="constrained", squeeze=False)


def at_equal_changes(joint, alpha, measure):
    """Return the smallest privacy figure, in nats, that can be had with the changed records of Proposition 1."""
    budget = linred.non_markov(joint, alpha).dtv()
    most = getattr(linred, measure)(joint)
    return brentq(lambda target: linred.optimal(joint, **{measure: target}).dtv() - budget, 1e-6, most, xtol=1e-6)


def figure_1():
    """Draw privacy against alpha: exact, approximated as in the paper, and the optimum with as many changed records."""
    joint, alphas = example_1(), np.linspace(0.0, 0.98, 50)
    released = [linred.linear_reduction(joint, alpha) for alpha in alphas]
    figure, axes = panels(2)
    for ax, measure, title in zip(axes[0], ("ldp", "log_lift"), ("LDP", "log-lift"), strict=True):
        exact = np.array([getattr(linred, measure)(one, 2) for one in released])
        linear = (1.0 - alphas) * exact[0]
        best = np.array([at_equal_changes(joint, alpha, measure) for alpha in alphas[1:]]) / np.log(2.0)
        lines = [
            ("linear reduction", style_of("non_markov")[1], (alphas, exact)),
            ("(1 - alpha) times the value of X", "#777777", (alphas, linear)),
            ("optimal, as many changed records", style_of("optimal")[1], (alphas, np.append(exact[0], best))),
        ]
        for (_, colour, points), dashes in zip(lines, ((0, (3, 1.5)), (0, (1, 1.5)), "-"), strict=True):
            ax.plot(*points, color=colour, linestyle=dashes, linewidth=1.8)
        ax.set(xlabel="alpha", ylabel=f"{title} of S to Y [bits]", ylim=(0, None))
        ax.spines[["top", "right"]].set_visible(False)
        label_directly(ax, lines)
    save(figure, "figure_1")


def kept_information():
    """Return mechanisms whose couplings are chosen for a large I(X;Y)."""
    return {
        "markov": linred.markov,
        "optimal_markov": partial(linred.optimal, sees_s=False),
        "non_markov": partial(linred.non_markov, prefer="information"),
        "optimal": partial(linred.optimal, prefer="information"),
    }


def figures_2_to_4():
    """Draw privacy against utility: changed records, information loss and expected distortion."""
    joint, targets = example_1(), np.linspace(0.01, 1.609, 100)
    for name, y, mechanisms in (("figure_2", "dtv", None), ("figure_3", "information_loss", kept_information())):
        figure, axes = panels(1)
        linred.tradeoff(joint, ldp=targets, mechanisms=mechanisms, base=2).plot("ldp", y, axes[0, 0])
        save(figure, name)
    figure, axes = panels(1)
    curves = linred.tradeoff(joint, log_lift=np.linspace(0.01, 0.875, 100), distortion=STEPS, base=2)
    curves.plot("log_lift", "expected_distortion", axes[0, 0])
    axes[0, 0].set_ylabel("expected distortion E |X - Y| [symbols]")
    save(figure, "figure_4")


def figure_5():
    """Draw information loss and changed records against alpha; the optimum has the LDP that alpha gives."""

    def optimal_for_the_same_ldp(joint, alpha):
        return linred.optimal(joint, ldp=linred.ldp(linred.linear_reduction(joint, alpha)), prefer="information")

    mechanisms = kept_information() | {"optimal": optimal_for_the_same_ldp}
    curves = linred.tradeoff(example_1(), alphas=ALPHAS, mechanisms=mechanisms, base=2)
    figure, axes = panels(2)
    for ax, y in zip(axes[0], ("information_loss", "dtv"), strict=True):
        curves.plot("alpha", y, ax)
    save(figure, "figure_5")


def figure_of_adult():
    """Draw changed records against LDP for marital status and occupation in UCI Adult."""
    mechanisms = ["markov", "k_rr", "pram", "watchdog", "optimal_markov", "non_markov", "optimal"]
    figure, axes = panels(1)
    linred.tradeoff(adult(), ldp=np.linspace(0.02, 3.0, 100), mechanisms=mechanisms).plot(ax=axes[0, 0])
    save(figure, "adult")


def main():
    FIGURES.mkdir(exist_ok=True)
    figure_1()
    figures_2_to_4()
    figure_5()
    figure_of_adult()


if __name__ == "__main__":
    main()

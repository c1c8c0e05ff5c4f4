"""`make figures`: the README's picture, from Example 1."""

from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np

import linred
from linred.demo import example_1

matplotlib.rcParams.update(
    {"svg.hashsalt": "linred", "font.size": 10, "axes.spines.top": False, "axes.spines.right": False}
)


def main():
    joint = example_1()
    alphas = np.linspace(0.0, 1.0, 201)
    released = [linred.linear_reduction(joint, alpha) for alpha in alphas]
    ldp = [linred.ldp(reduced) for reduced in released]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")

    left.plot(alphas, ldp, color="#1b6ca8")
    left.plot(alphas, [linred.log_lift(reduced) for reduced in released], color="#c1440e", linestyle="--")
    left.annotate("LDP", (0.3, 1.2), color="#1b6ca8")
    left.annotate("log-lift", (0.22, 0.5), color="#c1440e")
    left.set(
        xlabel="alpha, share of the way to P(x)", ylabel="what Y tells about S [nats]", xlim=(0, 1), ylim=(0, None)
    )

    for make, colour, style, label, place in (
        (linred.markov, "#555555", "--", "Lemma 1, sees x alone", (0.95, 0.33)),
        (linred.non_markov, "#2a7f3f", "-", "Proposition 1, sees s too", (0.12, 0.04)),
    ):
        right.plot(ldp, [make(joint, alpha).dtv() for alpha in alphas], color=colour, linestyle=style)
        right.annotate(label, place, color=colour)
    right.set(xlabel="LDP of S to Y [nats]", ylabel="share of records changed", xlim=(0, None), ylim=(0, None))

    target = Path(__file__).parent / "figures"
    target.mkdir(exist_ok=True)
    figure.savefig(target / "example_1.svg", metadata={"Date": None})


if __name__ == "__main__":
    main()

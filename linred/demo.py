"""The paper's Example 1, end to end: `python -m linred.demo`."""

import linred


def example_1():
    """P(x|s) and P(s) of the paper's Example 1: two sensitive groups, four public symbols."""
    return linred.Joint.from_conditional(
        [[0.2, 0.1, 0.5, 0.2], [0.5, 0.3, 0.1, 0.1]], [0.3, 0.7], s_labels=[1, 2], x_labels=["a", "b", "c", "d"]
    )


def main():
    joint = example_1()
    alpha = linred.alpha_for(joint, ldp=1.0)
    print("Example 1 of the paper: publish X, protect S, with LDP(S->Y) <= 1 nat and P_Y = P_X.")
    print(f"The smallest share of the way to P_X that does it is alpha = {alpha:.6f}.\n")
    for title, mechanism in (
        ("Lemma 1 looks at x alone:", linred.markov(joint, alpha)),
        ("Proposition 1 looks at s too, and changes fewer records:", linred.non_markov(joint, alpha)),
    ):
        print(f"{title}\n{mechanism.report()}\n")


if __name__ == "__main__":
    main()

"""The paper's Example 1, end to end: `python -m linred.demo`."""

import time

import numpy as np

import linred


def example_1():
    """P(x|s) and P(s) of the paper's Example 1: two sensitive groups, four public symbols."""
    return linred.Joint.from_conditional(
        [[0.2, 0.1, 0.5, 0.2], [0.5, 0.3, 0.1, 0.1]], [0.3, 0.7], s_labels=[1, 2], x_labels=["a", "b", "c", "d"]
    )


def main():
    joint = example_1()
    best = linred.optimal(joint, ldp=1.0)
    print("Example 1 of the paper: publish X, protect S, with LDP(S->Y) <= 1 nat and P_Y = P_X.\n")
    print(f"{best.report()}\n")
    print("records changed at the same LDP")
    for name, other in (
        ("optimal", best),
        ("Proposition 1", linred.non_markov(joint, ldp=1.0)),
        ("best without s", linred.optimal(joint, ldp=1.0, sees_s=False)),
        ("Lemma 1, without s", linred.markov(joint, ldp=1.0)),
    ):
        print(f"  {name:<30}{other.dtv():>28.3%}")
    sampler = best.sampler()
    print(f"\n{sampler.certificate()}\n")
    n_records = 10_000_000
    s, x = (np.arange(n_records, dtype=np.uint8) >> shift & mask for shift, mask in ((2, 1), (0, 3)))
    sampler.sample(s[:1], x[:1])  # the cipher is loaded with the first record
    begin = time.perf_counter()
    y = sampler.sample(s, x)
    rate = n_records / (time.perf_counter() - begin) / 1e6
    print(f"{n_records:,} records of all pairs alike: {(x != y).mean():.4%} changed, {rate:.0f} million a second.")


if __name__ == "__main__":
    main()

"""LDP and log-lift in one pass, against `numpy.max` alone and plain NumPy; DP with neighbours, against plain NumPy."""

import numpy as np

import linred
from benchmarks.common import compare
from linred import Joint
from linred._kernels import extremes, simd


def numpy_ldp_and_log_lift(p_x_given_s, p_x):
    highest, lowest = p_x_given_s.max(axis=0), p_x_given_s.min(axis=0)
    return np.log(highest / lowest).max(), max(np.log(highest / p_x).max(), np.log(p_x / lowest).max())


def numpy_dp(p_x_given_s, neighbors):
    worst = 0.0
    for s in range(p_x_given_s.shape[0]):
        others = p_x_given_s[neighbors[s]]
        if others.size:
            worst = max(worst, (p_x_given_s[s] / others).max())
    return np.log(worst)


def rows():
    rng = np.random.default_rng(1)
    for n_s, n_x in [(4000, 4000), (100, 1000)]:
        joint = Joint.from_conditional(rng.dirichlet(np.ones(n_x), n_s), np.full(n_s, 1 / n_s))
        matrix, p_x = joint.p_x_given_s, joint.p_x

        def ours(joint=joint):
            joint.__dict__.pop("column_extremes", None)  # a Joint caches its extremes: compute them again
            return linred.ldp(joint), linred.log_lift(joint)

        np.testing.assert_allclose(ours(), numpy_ldp_and_log_lift(matrix, p_x), rtol=1e-12)
        for variant in extremes.VARIANTS:
            extremes.use_variant(variant)
            what = f"`ldp` and `log_lift`, {n_s} x {n_x}, {variant}"
            yield compare(what, ours, "`numpy.max`", matrix.max, "0.67" if n_s == 4000 else "")
            yield compare(what, ours, "plain NumPy", lambda m=matrix, p=p_x: numpy_ldp_and_log_lift(m, p))
        extremes.use_variant(simd.chosen)
    labels = [(a, b, c) for a in range(8) for b in range(8) for c in range(8)]
    joint = Joint.from_conditional(rng.dirichlet(np.ones(100), 512), np.full(512, 1 / 512), s_labels=labels)
    neighbors = linred.privacy.metrics._hamming_neighbors(labels)
    yield compare(
        "`dp`, 512 x 100, 21 neighbours each",
        lambda: linred.dp(joint, neighbors),
        "plain NumPy",
        lambda: numpy_dp(joint.p_x_given_s, neighbors),
    )

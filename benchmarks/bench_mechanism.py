"""Building mechanisms, against a north-west corner in NumPy, HiGHS and POT."""

import numpy as np
import ot
from scipy.optimize import linprog
from scipy.sparse import eye_array, kron, vstack

import linred
from benchmarks.common import compare
from linred import Joint
from linred._kernels import coupling as coupling_kernel
from linred._kernels import numpy_twins
from linred.solvers import lp


def random_joint(n_s, n_x):
    return Joint.from_conditional(np.random.default_rng(1).dirichlet(np.ones(n_x), n_s), np.full(n_s, 1 / n_s))


def numpy_northwest(joint, alpha):
    delta = alpha * (joint.p_x_given_s - joint.p_x)
    return [numpy_twins.northwest_flows(row) for row in delta]


def plain_highs(p, q, d):
    n = p.size
    constraints = vstack([kron(eye_array(n), np.ones((1, n))), kron(np.ones((1, n)), eye_array(n))], format="csc")
    return linprog(d.ravel(), A_eq=constraints, b_eq=np.concatenate([p, q]), method="highs").fun


def numpy_triangle(d, slack):
    return all((d <= d[:, y, None] + (d[y] + slack)).all() for y in range(d.shape[0]))


def without_pot(call):
    def wrapped():
        has_pot, lp._has_pot = lp._has_pot, lambda: False
        try:
            return call()
        finally:
            lp._has_pot = has_pot

    return wrapped


def rows():
    for n_s, n_x in [(1000, 1000), (105, 4044), (7, 15)]:
        joint = random_joint(n_s, n_x)
        for coupling in ("northwest", "proportional"):
            yield compare(
                f"`non_markov`, {coupling}, {n_s} x {n_x}",
                lambda joint=joint, coupling=coupling: linred.non_markov(joint, 0.5, coupling=coupling),
                "NumPy's north-west corner for each s",
                lambda joint=joint: numpy_northwest(joint, 0.5),
                "1" if n_s == 1000 else "",
            )
    yield from distortion_rows()


def distortion_rows():
    """Compare two transport problems, one for each s: linred and the rivals each solve both."""
    n = 200
    joint = random_joint(2, n)
    released = linred.linear_reduction(joint, 0.5)
    points = np.random.default_rng(2).random((n, 2))
    d = np.ascontiguousarray(np.linalg.norm(points[:, None] - points, axis=2) ** 2)
    pairs = list(zip(joint.p_x_given_s, released.p_x_given_s, strict=True))

    def ours():
        return linred.non_markov(joint, 0.5, distortion=d)

    def highs():
        return [plain_highs(p, q, d) for p, q in pairs]

    def pot():
        return [ot.emd2(p, q, d) for p, q in pairs]

    np.testing.assert_allclose(ours().expected_distortion(d), joint.p_s @ pot(), rtol=1e-9)
    np.testing.assert_allclose(ours().expected_distortion(d), joint.p_s @ highs(), rtol=1e-6)
    what = f"`non_markov(distortion=)`, 2 x {n}, squared distances in the plane"
    yield compare(f"{what}, by POT", ours, "HiGHS", highs, rounds=5)
    yield compare(f"{what}, by POT", ours, "POT's `emd2`", pot)
    yield compare(f"{what}, by HiGHS", without_pot(ours), "HiGHS", highs, rounds=5)

    n = 2000
    joint = random_joint(2, n)
    released = linred.linear_reduction(joint, 0.5)
    position = np.arange(n, dtype=float)
    squared = (position[:, None] - position) ** 2

    def pot_on_a_line():
        return [
            ot.emd2_1d(position, position, p, q, metric="sqeuclidean")
            for p, q in zip(joint.p_x_given_s, released.p_x_given_s, strict=True)
        ]

    yield compare(
        f"`non_markov(distortion=(i-j)^2)`, 2 x {n}",
        lambda: linred.non_markov(joint, 0.5, distortion=squared),
        "POT's `emd2_1d`, which assumes squared distances",
        pot_on_a_line,
    )
    d = np.abs(points[:, :1] - points[:, 0]) + np.abs(points[:, 1:] - points[:, 1])
    yield compare(
        "triangle inequality, 200 symbols",
        lambda: coupling_kernel.shorter_detour(d, 1e-12),
        "plain NumPy",
        lambda: numpy_triangle(d, 1e-12),
    )

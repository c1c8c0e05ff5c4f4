"""The coordinates that the paper plots, and all vertices of its couplings."""

import csv
import itertools
from pathlib import Path

import numpy as np

from support.joints import example_1

DATA = Path(__file__).parents[1] / "data"


def figure(name):
    with open(DATA / name, newline="") as file:
        return [{key: float(value) for key, value in row.items()} for row in csv.DictReader(file)]


FIGURE_1, FIGURE_5 = figure("fig1_privacy_vs_alpha.csv"), figure("fig5_utility_loss_vs_alpha.csv")


def vertices(supply, demand):
    """Return all vertices of a small transport polytope: nonnegative solutions on each set of n + m - 1 arcs."""
    n, m = supply.size, demand.size
    equations = np.array([np.repeat(np.eye(n)[i], m) for i in range(n)] + [np.tile(np.eye(m)[j], n) for j in range(m)])
    found = []
    for arcs in itertools.combinations(range(n * m), n + m - 1):
        basis = equations[:, arcs]
        if np.linalg.matrix_rank(basis) < n + m - 1:
            continue
        mass = np.linalg.lstsq(basis, np.concatenate([supply, demand]), rcond=None)[0]
        if mass.min() > -1e-12:
            plan = np.zeros(n * m)
            plan[list(arcs)] = mass
            if not any(np.allclose(plan, other, atol=1e-12) for other in found):
                found.append(plan)
    return [plan.reshape(n, m) for plan in found]


def losses_at_vertices(alpha):
    """Return H(X) - I(X;Y) in bits at every vertex of the couplings of Example 1 with the fewest changes."""
    joint = example_1()
    delta = alpha * (joint.p_x_given_s - joint.p_x)
    plans = []
    for row, p in zip(delta, joint.p_x_given_s, strict=True):
        excess, deficit = np.flatnonzero(row > 0), np.flatnonzero(row < 0)
        plans.append([])
        for vertex in vertices(row[excess], -row[deficit]):
            plan = np.diag(p - np.maximum(row, 0.0))
            plan[np.ix_(excess, deficit)] += vertex
            plans[-1].append(plan)
    losses = []
    for choice in itertools.product(*plans):
        p_xy = np.einsum("s,sxy->xy", joint.p_s, np.array(choice))
        some = p_xy > 0
        information = (p_xy[some] * np.log2(p_xy[some] / np.outer(joint.p_x, joint.p_x)[some])).sum()
        losses.append(-(joint.p_x @ np.log2(joint.p_x)) - information)
    return losses

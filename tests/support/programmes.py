"""Linear programmes written entry by entry, and the expected distortion of mechanisms."""

import math

import numpy as np
from scipy.optimize import linprog


class PlainProgramme:
    """A programme with one variable for each P(y|s,x), or P(y|x) without S, and limits as they are defined."""

    def __init__(self, joint, d, sees_s):
        self.joint, (self.n_s, self.n_x) = joint, joint.shape
        n_w = joint.p_sx.size * self.n_x if sees_s else self.n_x**2
        self.n = n_w + self.n_x  # the last variables are the smallest Q(y|s) over s
        self.cost = np.zeros(self.n)
        self.q = np.zeros((self.n_s, self.n_x, self.n))
        self.rows_of_w = np.zeros((n_w // self.n_x, self.n))
        for s in range(self.n_s):
            for x in range(self.n_x):
                row = s * self.n_x + x if sees_s else x
                for y in range(self.n_x):
                    at = row * self.n_x + y
                    self.cost[at] += joint.p_sx[s, x] * d[x, y]
                    self.q[s, y, at] += joint.p_x_given_s[s, x]
                    self.rows_of_w[row, at] = 1.0
        self.least = np.eye(self.n)[n_w:]

    def value(self, *, ldp=None, log_lift=None, keep_marginal=True, reduction=None):
        equal, no_more = [(row, 1.0) for row in self.rows_of_w], []
        p_y = np.einsum("s,syv->yv", self.joint.p_s, self.q)
        for y in range(self.n_x):
            if keep_marginal or self.joint.p_x[y] == 0.0:
                equal.append((p_y[y], self.joint.p_x[y]))
        for s in np.flatnonzero(self.joint.p_s):
            for y in range(self.n_x):
                if ldp is not None:
                    no_more += [self.least[y] - self.q[s, y], self.q[s, y] - math.exp(ldp) * self.least[y]]
                if log_lift is not None:
                    no_more.append(self.q[s, y] - math.exp(log_lift) * p_y[y])
                    no_more.append(math.exp(-log_lift) * p_y[y] - self.q[s, y])
                if reduction is not None:
                    equal.append((self.q[s, y], reduction.p_x_given_s[s, y]))
        solved = linprog(
            self.cost,
            np.array(no_more) if no_more else None,
            np.zeros(len(no_more)) if no_more else None,
            np.array([row for row, _ in equal]),
            np.array([right for _, right in equal]),
        )
        assert solved.status == 0, solved.message
        return solved.fun


def metric(kind, n_x):
    steps = np.abs(np.subtract.outer(np.arange(n_x), np.arange(n_x))).astype(float)
    return {"hamming": np.minimum(steps, 1.0), "steps": steps, "squares": steps**2}[kind]


def cost_of(mechanism, d):
    """Return E d(X, Y), computed from the dense P(y|s,x)."""
    return float(np.einsum("sx,sxy,xy->", mechanism.joint.p_sx, mechanism.p_y_given_sx, d))


TARGETS = [{"ldp": 0.7}, {"log_lift": 0.3}, {"ldp": 0.8, "log_lift": 0.5}]

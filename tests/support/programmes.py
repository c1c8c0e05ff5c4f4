"""Distortions and targets for linear programmes, and the expected distortion of mechanisms."""

import numpy as np


def metric(kind, n_x):
    steps = np.abs(np.subtract.outer(np.arange(n_x), np.arange(n_x))).astype(float)
    return {"hamming": np.minimum(steps, 1.0), "steps": steps, "squares": steps**2}[kind]


def cost_of(mechanism, d):
    """Return E d(X, Y), computed from the dense P(y|s,x)."""
    return float(np.einsum("sx,sxy,xy->", mechanism.joint.p_sx, mechanism.p_y_given_sx, d))


TARGETS = [{"ldp": 0.7}, {"log_lift": 0.3}, {"ldp": 0.8, "log_lift": 0.5}]

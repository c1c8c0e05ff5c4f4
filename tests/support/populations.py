"""Known distributions to draw records from, and the true leakage of a mechanism under them."""

import math

import numpy as np
from scipy import stats

import linred
from linred.privacy.leakage import Leakage

ERROR_RATE = 1e-6
"""The probability that a coverage test fails although the confidence holds."""

SHAPES = {
    "example 1": ([[0.2, 0.1, 0.5, 0.2], [0.5, 0.3, 0.1, 0.1]], [0.3, 0.7]),
    "rare s": ([[0.4, 0.3, 0.2, 0.1], [0.3, 0.3, 0.2, 0.2], [0.1, 0.2, 0.3, 0.4]], [0.49, 0.5, 0.01]),
    "rare x": ([[0.5, 0.492, 0.008], [0.4, 0.596, 0.004], [0.6, 0.398, 0.002]], [0.3, 0.4, 0.3]),
    "zeros": ([[0.5, 0.5, 0.0, 0.0], [0.3, 0.3, 0.4, 0.0], [0.1, 0.2, 0.3, 0.4]], [0.3, 0.3, 0.4]),
    "uniform": ([[0.2] * 5] * 3, [0.2, 0.3, 0.5]),
}


def population(name):
    return linred.Joint.from_conditional(*SHAPES[name])


def four_by_twelve():
    rng = np.random.default_rng(4)
    return linred.Joint.from_conditional(rng.dirichlet(np.full(12, 3.0), 4), [0.1, 0.2, 0.3, 0.4])


def drawn(truth, n, rng):
    """Return the counts of n random records."""
    return rng.multinomial(n, truth.p_sx.ravel() / truth.p_sx.sum()).reshape(truth.shape)


def told(mechanism, truth):
    """Return the six figures of S to Y by their definitions, if records come from `truth`."""
    q = np.einsum("sx,sxy->sy", truth.p_x_given_s, mechanism.p_y_given_sx)
    return figures(q, truth.p_s)


def figures(q, p_s):
    """Return the `Leakage` of P(y|s) and P(s), where every s occurs."""
    p_y = p_s @ q
    q, p_y = q[:, p_y > 0.0], p_y[p_y > 0.0]
    with np.errstate(divide="ignore"):
        high, low, log_y = np.log(q.max(axis=0)), np.log(q.min(axis=0)), np.log(p_y)
        terms = np.where(q > 0.0, q * np.log(np.where(q > 0.0, q, 1.0) / p_y), 0.0)
    max_lift, min_lift = (high - log_y).max(), (log_y - low).max()
    leakage = math.log(q.max(axis=0).sum())
    return Leakage((high - low).max(), max(max_lift, min_lift), max_lift, min_lift, p_s @ terms.sum(axis=1), leakage)


def n_broken_plug_ins():
    """Count the fits, of 100 on 2,000 records each, with a true LDP above the plug-in estimate (errata 7)."""
    rng, truth, n_broken = np.random.default_rng(7), population("example 1"), 0
    for _ in range(100):
        mechanism = linred.non_markov(linred.Joint.from_counts(drawn(truth, 2000, rng)), ldp=0.7)
        n_broken += told(mechanism, truth).ldp > 0.7
    return n_broken


def check_failures(n_failures, n_fits, confidence):
    """Check that this many failures have a probability above ERROR_RATE if the confidence holds."""
    assert stats.binom.sf(n_failures - 1, n_fits, 1.0 - confidence) > ERROR_RATE, f"{n_failures} of {n_fits}"


def records(joint, n, seed):
    """Draw n records of a Joint, as codes."""
    cells = np.random.default_rng(seed).choice(joint.p_sx.size, n, p=joint.p_sx.ravel() / joint.p_sx.sum())
    return cells // joint.shape[1], cells % joint.shape[1]

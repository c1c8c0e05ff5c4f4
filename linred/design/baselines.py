"""Mechanisms from the literature with the interface of linred, each with the least noise that meets a target about S.

None of them uses S when sampling. `k_rr` and `pram` were designed to protect X itself. Here they are calibrated on the
leakage of S through Y, like every mechanism of this library, so that they can be compared with the others.
"""

from functools import partial

import numpy as np

from linred._common import validation
from linred.design import calibration, markov_tables
from linred.distribution.joint import Joint
from linred.mechanism.mechanism import Mechanism, drawing_from
from linred.mechanism.tables import TableBuilder
from linred.privacy.takes_target import RATIOS, takes_target
from linred.privacy.target import Target
from linred.solvers.symbol_merging import Merged


@takes_target(meets=RATIOS, needed=True)
def k_rr(joint: Joint, *, target: Target) -> Mechanism:
    """Return k-ary randomised response: keep x, or draw uniformly from the symbols that occur.

    P_Y differs from P_X, and lifts are relative to P_Y. Closed form, O(|S||X|).

    The target: all limits of `linred.Target` on P(y|s).

    >>> from linred.datasets import example_1
    >>> round(k_rr(example_1(), ldp=1.0).dtv(), 4)
    0.2602
    """
    p_x = validation.joint(joint).p_x
    uniform = np.where(p_x > 0.0, 1.0 / np.count_nonzero(p_x), 0.0)

    def build(limits):
        share = calibration.share_for(joint, uniform, limits)
        p_y_given_s, p_y = ((1.0 - share) * p + share * uniform for p in (joint.p_x_given_s, p_x))
        return _redrawing(joint, "k_rr", np.full(p_x.size, share), uniform, p_y_given_s, p_y)

    return calibration.meeting(joint, target, build, partial(drawing_from, joint, uniform, "k_rr"))


@takes_target(meets=RATIOS, needed=True)
def pram(joint: Joint, *, target: Target) -> Mechanism:
    """Return invariant post-randomisation: k-ary randomised response, then a draw by Bayes' rule, so that P_Y = P_X.

    Randomised response turns x into z, and y is drawn from P(x|z) (Gouweleeuw, Kooiman, Willenborg and de Wolf, "Post
    randomisation for statistical disclosure control", 1998). The share of noise is found by bisection. It meets the
    target; it is the least such share if the figures decrease with the noise, which they appear to do. O(|S||X|) for
    each step, O(|X|^2) memory.

    The target: all limits of `linred.Target` on P(y|s).

    >>> from linred.datasets import example_1
    >>> round(pram(example_1(), ldp=1.0).dtv(), 4)
    0.2744
    """
    validation.joint(joint)

    def build(limits):
        def is_enough(share):
            released, _ = _there_and_back(joint, share)
            return calibration.meets(released, limits)

        low, high = 0.0, 0.0 if is_enough(0.0) else 1.0
        while low < (share := 0.5 * (low + high)) < high:
            low, high = (low, share) if is_enough(share) else (share, high)
        released, w = _there_and_back(joint, high)
        return markov_tables.by_class(Merged(joint, symbols=False), released, w(), name="pram")

    return calibration.meeting(joint, target, build, partial(drawing_from, joint, joint.p_x, "pram"))


def _there_and_back(joint, share):
    """Return (the Joint of S and Y, a function that computes P(y|x) for the symbols that occur) for `pram`."""
    x = np.flatnonzero(joint.p_x > 0.0)
    p_x, uniform = joint.p_x[x], 1.0 / x.size
    there, p_z = ((1.0 - share) * p + share * uniform for p in (joint.p_x_given_s[:, x], p_x))
    ratio = there / p_z
    p_y_given_s = np.zeros(joint.shape)
    p_y_given_s[:, x] = p_x * ((1.0 - share) * ratio + share * uniform * ratio.sum(axis=1, keepdims=True))

    def w():
        response = (1.0 - share) * np.eye(x.size) + share * uniform
        return response @ (p_x * response.T / p_z[:, None])

    return Joint.from_parts(p_y_given_s, joint.p_s, joint.p_x, joint.s_labels, joint.x_labels), w


@takes_target(meets=RATIOS, needed=True)
def watchdog(joint: Joint, *, target: Target) -> Mechanism:
    """Return the watchdog mechanism: resample the symbols that leak too much from P_X among them, keep the others.

    The set of resampled symbols starts with those that exceed the target, and grows by the next most informative symbol
    until the set as a whole meets the target. P_Y = P_X. O(|S||X| + |X| log |X|).

    The target: all limits of `linred.Target` on P(y|s).

    >>> from linred.datasets import example_1
    >>> round(watchdog(example_1(), ldp=1.0).dtv(), 4)
    0.2296
    """
    validation.joint(joint)

    def build(limits):
        redrawn = _symbols_to_redraw(joint, limits)
        p_x = np.zeros(joint.shape[1])
        p_x[redrawn] = joint.p_x[redrawn] / joint.p_x[redrawn].sum()
        p_y_given_s = joint.p_x_given_s.copy()
        p_y_given_s[:, redrawn] = joint.p_x_given_s[:, redrawn].sum(axis=1, keepdims=True) * p_x[redrawn]
        return _redrawing(joint, "watchdog", np.where(p_x > 0.0, 1.0, 0.0), p_x, p_y_given_s, joint.p_x)

    return calibration.meeting(joint, target, build, partial(drawing_from, joint, joint.p_x, "watchdog"))


def _symbols_to_redraw(joint, limits):
    """Return the symbols that exceed the limits and the next most informative ones, until the whole set meets them."""
    (highest, lowest), p_x = joint.column_extremes, joint.p_x
    occurs = joint.p_s > 0.0
    over = _over(highest, lowest, p_x, limits)
    order = np.argsort(-over, kind="stable")
    together = np.cumsum(joint.p_x_given_s[np.ix_(occurs, order)], axis=1)
    over_together = _over(together.max(axis=0), together.min(axis=0), np.cumsum(p_x[order]), limits)
    n_over = np.count_nonzero(over > 0.0)
    enough = np.flatnonzero(over_together[max(0, n_over - 1) :] <= 0.0)
    return order[: n_over + (int(enough[0]) if enough.size else order.size)] if n_over else order[:0]


def _over(highest, lowest, p_x, limits):
    """Return by how many nats each symbol exceeds the limits."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ldp, lift = np.log(highest / lowest), np.log(np.maximum(highest / p_x, p_x / lowest))
        over = [
            figure - limit
            for figure, limit in zip((ldp, lift), (limits.ldp, limits.log_lift), strict=True)
            if limit < np.inf
        ]
    return np.where(p_x > 0.0, np.max(over, axis=0, initial=-np.inf), -np.inf)


def _redrawing(joint, name, move, table, p_y_given_s, p_y):
    """Return the mechanism that resamples x with probability move[x], every x from the same table."""
    tables = TableBuilder(p_y)
    parts = {"keep": 1.0 - move, "move": move, "table_of": tables.add(table), "tables": tables.tables()}
    released = Joint.from_parts(p_y_given_s, joint.p_s, p_y, joint.s_labels, joint.x_labels)
    return markov_tables.by_symbol(joint, name=name, released=released, **parts)

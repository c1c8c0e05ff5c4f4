"""Mechanisms from the literature with the interface of linred, each with the least noise that meets a target about S.

None of them uses S when sampling. `k_rr` and `pram` were designed to protect X itself. Here they are calibrated on the
leakage of S through Y, like every mechanism of this library, so that they can be compared with the others.
"""

from functools import partial

import numpy as np

from linred._common import validation
from linred.design import calibration, markov_tables, subset_merging
from linred.distribution.joint import Joint
from linred.mechanism.mechanism import Mechanism, drawing_from
from linred.mechanism.tables import TableBuilder
from linred.privacy.takes_target import RATIOS, takes_target
from linred.privacy.target import Target
from linred.solvers.symbol_merging import Merged


@takes_target(meets=RATIOS)
def k_rr(joint: Joint, *, target: Target) -> Mechanism:
    """Return k-ary randomised response: keep x, or draw uniformly from the symbols that occur.

    P_Y differs from P_X, and lifts are relative to P_Y. Closed form, O(|S||X|).

    A target may have all limits of `linred.Target` but given_x and max_changed_by_s.

    >>> from linred.datasets import example_1
    >>> round(k_rr(example_1(), ldp=1.0).dtv(), 4)
    0.2602
    """
    p_x = validation.joint(joint).p_x
    uniform = np.where(p_x > 0.0, 1.0 / np.count_nonzero(p_x), 0.0)

    def build(limits):
        share = calibration.share_for(joint, uniform, limits)
        p_y_given_s, p_y = ((1.0 - share) * p + share * uniform for p in (joint.p_x_given_s, p_x))
        return _redrawing(joint, "k_rr", np.full(p_x.size, share), 1, [uniform], p_y_given_s, p_y)

    return calibration.meeting(joint, target, build, partial(drawing_from, joint, uniform, "k_rr"))


@takes_target(meets=RATIOS)
def pram(joint: Joint, *, target: Target) -> Mechanism:
    """Return invariant post-randomisation: k-ary randomised response, then a draw by Bayes' rule, so that P_Y = P_X.

    Randomised response turns x into z, and y is drawn from P(x|z) (Gouweleeuw, Kooiman, Willenborg and de Wolf, "Post
    randomisation for statistical disclosure control", 1998). The share of noise is found by bisection. It meets the
    target; it is the least such share if the figures decrease with the noise, which they appear to do. O(|S||X|) for
    each step, O(|X|^2) memory.

    A target may have all limits of `linred.Target` but given_x and max_changed_by_s.

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


@takes_target(meets=RATIOS)
def watchdog(joint: Joint, *, target: Target) -> Mechanism:
    """Return the watchdog mechanism with subset merging: resample the symbols that leak too much within small groups.

    X is partitioned into groups, each of which meets the target as a whole: P(group|s) in place of P(x|s). A symbol in
    a group of its own is kept; in a larger group, y is drawn from P_X within the group. P_Y = P_X. Subset merging is
    due to Zarrabian, Ding, Sadeghi and Rakotoarivelo, "Enhancing utility in the watchdog privacy mechanism", 2022. They
    look for the largest I(X;Y); linred looks for the fewest changed records, as for all its mechanisms.

    linred searches greedily, three times. At the start, every symbol is a group. While some group exceeds the target,
    one such group is merged with the group for which the additional share of changed records, divided by the decrease
    of the excess, is least. The excess is the sum of numerator - e^limit denominator over all ratios above their limit.
    The first search merges the group with the largest excess; the second, that with the largest excess for each record;
    the third, that with the most records. The best of the three results is then improved by exchanges: a symbol moves
    to another group or to a group of its own, or two symbols change places, as long as both groups meet the target and
    fewer records change. If all symbols are in one group, y is drawn from P_X independently of x.

    The result need not be the best partition; tests compare it with all partitions of up to 8 symbols. O(|X|^2 |S|) for
    each search and for each pass of the exchanges, |S|^2 in place of |S| for pairs and neighbors.

    A target may have all limits of `linred.Target` but given_x and max_changed_by_s.

    >>> from linred.datasets import example_1
    >>> round(watchdog(example_1(), ldp=1.0).dtv(), 4)
    0.2296
    """
    validation.joint(joint)
    independent = partial(drawing_from, joint, joint.p_x, "watchdog")

    def build(limits):
        group_of = subset_merging.partition(joint, limits)
        if not group_of.any():
            return independent()
        p_groups = np.bincount(group_of, joint.p_x)
        within = np.divide(joint.p_x, p_groups[group_of], out=np.zeros(group_of.size), where=joint.p_x > 0.0)
        p_y_given_s = np.stack([np.bincount(group_of, row)[group_of] * within for row in joint.p_x_given_s])
        rows = [np.where(group_of == group, within, 0.0) for group in range(p_groups.size)]
        is_alone = np.bincount(group_of, joint.p_x > 0.0)[group_of] == 1.0
        move = np.where(is_alone & (joint.p_x > 0.0), 0.0, 1.0)
        return _redrawing(joint, "watchdog", move, 1 + group_of, rows, p_y_given_s, joint.p_x)

    return calibration.meeting(joint, target, build, independent)


def _redrawing(joint, name, move, table_of, rows, p_y_given_s, p_y):
    """Return the mechanism that resamples x with probability move[x] from rows[table_of[x] - 1]."""
    tables = TableBuilder(p_y)
    for row in rows:
        tables.add(row)
    parts = {"keep": 1.0 - move, "move": move, "table_of": table_of, "tables": tables.tables()}
    released = Joint.from_parts(p_y_given_s, joint.p_s, p_y, joint.s_labels, joint.x_labels)
    return markov_tables.by_symbol(joint, name=name, released=released, **parts)

"""All partitions of the symbols of X into groups, and the best one for a target: the oracle for `baselines.watchdog`.

Nothing of linred is used. A partition is a group number for each symbol; within a group, y is drawn from P_X.
"""

import functools

import numpy as np

INF = np.inf


@functools.cache
def partitions(n):
    """Return all partitions of n symbols, a row each: groups are numbered in the order of their first symbols."""
    rows = [[0]] if n else [[]]
    for _ in range(1, n):
        rows = [[*row, group] for row in rows for group in range(max(row) + 2)]
    return np.array(rows)


def is_admissible(q, p_s, *, ldp=INF, log_lift=INF, max_lift=INF, min_lift=INF, pairs=None, secrets=(), slack=1e-12):
    """Return whether groups with the probabilities q, |S| x groups, meet the limits, from their definitions.

    pairs : |S| x |S| limits. secrets : (code of each s, limit). slack : nats.
    """
    p_y, (highest, lowest) = p_s @ q, (of(q[p_s > 0.0], axis=0) for of in (np.max, np.min))
    fine = np.exp(-ldp - slack) * highest <= lowest
    fine &= np.exp(-min(max_lift, log_lift) - slack) * highest <= p_y
    fine &= np.exp(-min(min_lift, log_lift) - slack) * p_y <= lowest
    for s, t in np.argwhere(np.isfinite(pairs)) if pairs is not None else ():
        fine &= q[s] <= np.exp(pairs[s, t] + slack) * q[t]
    for codes, limit in secrets:
        of = np.array([p_s[codes == code] @ q[codes == code] / p_s[codes == code].sum() for code in np.unique(codes)])
        fine &= (of[:, None] <= np.exp(limit + slack) * of[None]).all(axis=(0, 1))
    return fine


def merits(joint, of):
    """Return (the share of changed records, I(X;Y)) of partitions, of which each row of `of` is one."""
    changed, information = np.ones(len(of)), np.zeros(len(of))
    for group in range(of.shape[1]):
        here = np.where(of == group, joint.p_x, 0.0)
        p = here.sum(axis=1)
        changed -= np.divide((here**2).sum(axis=1), p, out=np.zeros_like(p), where=p > 0.0)
        information -= p * np.log(np.where(p > 0.0, p, 1.0))
    return changed, information


def admissible_partitions(joint, **limits):
    """Return all partitions each group of which meets the limits; all symbols must occur."""
    n = joint.shape[1]
    members = (np.arange(1, 2**n)[:, None] >> np.arange(n)) & 1  # every nonempty subset, by its number
    fine = np.append(True, is_admissible(joint.p_x_given_s @ members.T, joint.p_s, **limits))
    of = partitions(n)
    subsets = np.stack([((of == group) << np.arange(n)).sum(axis=1) for group in range(n)])
    return of[fine[subsets].all(axis=0)]


def one_merged_set(joint, ldp):
    """Return the partition of the watchdog without subset merging: one set of the most informative symbols."""
    with np.errstate(divide="ignore"):
        ratio = joint.p_x_given_s.max(axis=0) / joint.p_x_given_s.min(axis=0)
    ranked, n = np.argsort(-ratio, kind="stable"), joint.shape[1]
    of = np.arange(n)
    for size in range(np.count_nonzero(ratio > np.exp(ldp)), n + 1):
        of[ranked[:size]] = ranked[0]
        if is_admissible(joint.p_x_given_s[:, ranked[:size]].sum(axis=1, keepdims=True), joint.p_s, ldp=ldp).all():
            return np.unique(of, return_inverse=True)[1]
    raise AssertionError("the set of all symbols meets every limit")

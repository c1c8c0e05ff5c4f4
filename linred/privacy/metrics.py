"""Measures of what a column reveals about S: LDP, DP, log-lift, lifts, leakages, mutual information.

Each measure takes a `Joint` of S with X (before), or of S with Y (`mechanism.released`, after), and returns nats or the
unit of `base`. Each is the exact formula, to a few units in the last place of a double, rounded to nearest: a figure
may be that much below or above the truth.

LDP, DP and maximal leakage depend on P(x|s) alone, so they hold whatever an attacker believes about S beforehand. The
lifts, the log-lift, mutual information and alpha-leakage assume that the attacker's prior is P(S).

All measures treat zeros in the same way. 0/0 is no evidence and is skipped; p/0 with p > 0 is infinite and is reported
as infinite. Symbols of probability zero, in either alphabet, are skipped.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from linred._common import validation
from linred._common.types import LabelMatrix
from linred._kernels import extremes
from linred.distribution.joint import Joint
from linred.privacy.neighbors import neighbor_matrix

SLICE = 2**18
"""Largest number of doubles in a slice of `delta`."""

BEYOND_DOUBLES = 1400.0
"""e to this power times the smallest double is above 1, and e to half of it is a double."""


class Where(NamedTuple):
    """Codes of the symbols at which a maximum is attained: `joint.x_labels[x]`, `joint.s_labels[s]`.

    `s_prime` is None for lifts, which compare one s with P(x).
    """

    x: int
    s: int
    s_prime: int | None = None


class Pair(NamedTuple):
    """Codes of two symbols of S that attain a maximum which is a sum over x: `joint.s_labels[s]`."""

    s: int
    s_prime: int


@overload
def ldp(joint: Joint, base: float = ..., *, where: Literal[False] = ...) -> float: ...
@overload
def ldp(joint: Joint, base: float = ..., *, where: Literal[True]) -> tuple[float, Where]: ...
def ldp(joint: Joint, base: float = math.e, *, where: bool = False) -> Any:
    """Return the local differential privacy (LDP), the maximum over x, s, s' of log P(x|s)/P(x|s').

    With where=True, return (value, `Where`). No assumption about the attacker's prior. O(|S||X|), in one pass that the
    lifts of the same Joint share.

    >>> from linred import Joint
    >>> ldp(Joint([[0.4, 0.1], [0.1, 0.4]]), base=2, where=True)
    (2.0, Where(x=0, s=0, s_prime=1))
    """
    highest, lowest = _extremes(joint)
    x = largest_ratio(highest, lowest)
    value = log_ratio(highest[x], lowest[x]) / validation.log_of_base(base)
    return (value, Where(x, _row(joint, x, highest), _row(joint, x, lowest))) if where else value


@overload
def dp(joint: Joint, neighbors: LabelMatrix, base: float = ..., *, where: Literal[False] = ...) -> float: ...
@overload
def dp(
    joint: Joint, neighbors: LabelMatrix, base: float = ..., *, where: Literal[True]
) -> tuple[float, Where | None]: ...
def dp(joint: Joint, neighbors: LabelMatrix, base: float = math.e, *, where: bool = False) -> Any:
    """Return the differential privacy, the maximum of log P(x|s)/P(x|s') over x and all neighbours s ~ s'.

    Parameters
    ----------
    neighbors : symmetric |S| x |S| boolean matrix, or "hamming"
        "hamming" takes two labels as neighbours if they differ in exactly one position; labels must be tuples of equal
        length.
    where : bool
        Return (value, `Where`).

    The result is 0.0 (and None in place of `Where`) if no two symbols that occur are neighbours. O(|X|) for each pair
    of neighbours.

    >>> from linred import Joint
    >>> joint = Joint([[0.2, 0.05], [0.1, 0.15], [0.05, 0.2], [0.1, 0.15]], s_labels=[(0, 0), (0, 1), (1, 1), (1, 0)])
    >>> round(dp(joint, "hamming", base=2), 12), round(ldp(joint, base=2), 12)
    (1.584962500721, 2.0)
    """
    log_base = validation.log_of_base(base)
    neighbors = neighbor_matrix(neighbors, validation.joint(joint).s_labels)
    occurs = np.flatnonzero(joint.p_s > 0.0)
    matrix = joint.p_x_given_s if occurs.size == joint.shape[0] else joint.p_x_given_s[occurs]
    found = extremes.worst_neighbors(matrix, np.ascontiguousarray(neighbors[np.ix_(occurs, occurs)]).view(np.uint8))
    if found is None:
        return (0.0, None) if where else 0.0
    x, s, s_prime = found[0], int(occurs[found[1]]), int(occurs[found[2]])
    value = log_ratio(joint.p_x_given_s[s, x], joint.p_x_given_s[s_prime, x]) / log_base
    return (value, Where(x, s, s_prime)) if where else value


@overload
def delta(joint: Joint, epsilon: float, *, where: Literal[False] = ...) -> float: ...
@overload
def delta(joint: Joint, epsilon: float, *, where: Literal[True]) -> tuple[float, Pair]: ...
def delta(joint: Joint, epsilon: float, *, where: bool = False) -> Any:
    """Return the delta of approximate DP, the maximum over s, s' of sum_x max(0, P(x|s) - e^epsilon P(x|s')).

    No event of X is more probable under s than e^epsilon times its probability under s', plus delta. At epsilon = 0 it
    is the largest total variation distance of two rows P(.|s); at epsilon = inf, the largest probability under s of
    the x that s' excludes. It is 0 from epsilon = `ldp` on, up to rounding. epsilon is in nats. With where=True, return
    (value, `Pair`). No assumption about the attacker's prior. O(|S|^2 |X|), in slices of a few MB.

    >>> from linred import Joint
    >>> joint = Joint([[0.4, 0.1], [0.1, 0.4]])
    >>> [round(delta(joint, epsilon), 6) for epsilon in (0, 1, ldp(joint))]
    [0.6, 0.256344, 0.0]
    """
    occurs = np.flatnonzero(validation.joint(joint).p_s > 0.0)
    epsilon = validation.number("epsilon", epsilon, 0.0, math.inf)
    p, largest, found = joint.p_x_given_s[occurs], 0.0, (0, 0)
    half = math.exp(0.5 * min(epsilon, BEYOND_DOUBLES))
    height = max(1, SLICE // p.shape[1])
    for start in range(0, len(p), height):
        with np.errstate(over="ignore"):
            scaled = half * (half * p[start : start + height])  # small P(x|s') count, although e^epsilon may overflow
        for s, row in enumerate(p):
            excess = np.maximum(row - scaled, 0.0).sum(axis=1)
            nearest = int(excess.argmax())
            if excess[nearest] > largest:
                largest, found = float(excess[nearest]), (s, start + nearest)
    value = min(1.0, largest)
    return (value, Pair(*occurs[list(found)].tolist())) if where else value


@overload
def max_lift(joint: Joint, base: float = ..., *, where: Literal[False] = ..., by_y: Literal[False] = ...) -> float: ...
@overload
def max_lift(
    joint: Joint, base: float = ..., *, where: Literal[True], by_y: Literal[False] = ...
) -> tuple[float, Where]: ...
@overload
def max_lift(
    joint: Joint, base: float = ..., *, where: Literal[False] = ..., by_y: Literal[True]
) -> NDArray[np.float64]: ...
def max_lift(joint: Joint, base: float = math.e, *, where: bool = False, by_y: bool = False) -> Any:
    """Return the max-lift, the maximum over x, s of log P(x|s)/P(x) >= 0; with where=True, (value, `Where`).

    It bounds how much one symbol can raise the probability of an s, for an attacker whose prior is P(S): P(x|s)/P(x)
    = P(s|x)/P(s). With by_y=True, return the maximum over s for each symbol, an array of length |X|: the pointwise
    maximal leakage of that symbol. It is 0 for a symbol that never occurs, which is no evidence. O(|S||X|).

    >>> from linred import Joint
    >>> max_lift(Joint([[0.5, 0.0], [0.25, 0.25]]), base=2, where=True)
    (1.0, Where(x=1, s=1, s_prime=None))
    >>> max_lift(Joint([[0.5, 0.0], [0.25, 0.25]]), base=2, by_y=True).round(6).tolist()
    [0.415037, 1.0]
    """
    highest, _ = _extremes(joint)
    if validation.flag("by_y", by_y):
        if where:
            raise ValueError("where= and by_y= are both True: leave one of them out")
        lifts = [log_ratio(p, q) if p > 0.0 else 0.0 for p, q in zip(highest, joint.p_x, strict=True)]
        return np.maximum(lifts, 0.0) / validation.log_of_base(base)
    return _lift(joint, highest, joint.p_x, highest, base, where)


@overload
def min_lift(joint: Joint, base: float = ..., *, where: Literal[False] = ...) -> float: ...
@overload
def min_lift(joint: Joint, base: float = ..., *, where: Literal[True]) -> tuple[float, Where]: ...
def min_lift(joint: Joint, base: float = math.e, *, where: bool = False) -> Any:
    """Return the min-lift, the maximum over x, s of log P(x)/P(x|s) >= 0; with where=True, (value, `Where`).

    It bounds how much one symbol can lower the probability of an s, for an attacker whose prior is P(S). O(|S||X|).

    >>> from linred import Joint
    >>> min_lift(Joint([[0.5, 0.0], [0.25, 0.25]]), where=True)
    (inf, Where(x=1, s=0, s_prime=None))
    """
    _, lowest = _extremes(joint)
    return _lift(joint, joint.p_x, lowest, lowest, base, where)


@overload
def log_lift(joint: Joint, base: float = ..., *, where: Literal[False] = ...) -> float: ...
@overload
def log_lift(joint: Joint, base: float = ..., *, where: Literal[True]) -> tuple[float, Where]: ...
def log_lift(joint: Joint, base: float = math.e, *, where: bool = False) -> Any:
    """Return the log-lift, the maximum over x, s of |log P(x|s)/P(x)|; with where=True, (value, `Where`).

    It is the larger of `max_lift` and `min_lift`, and assumes the prior P(S) as they do. O(|S||X|).

    >>> from linred import Joint
    >>> log_lift(Joint([[0.375, 0.125], [0.125, 0.375]]), base=2, where=True)
    (1.0, Where(x=0, s=1, s_prime=None))
    """
    highest, lowest = _extremes(joint)
    above = _lift(joint, highest, joint.p_x, highest, base, where)
    below = _lift(joint, joint.p_x, lowest, lowest, base, where)
    return max(above, below, key=lambda lift: lift[0] if where else lift)


def mutual_information(joint: Joint, base: float = math.e) -> float:
    """Return the mutual information I(S; X) = sum P(s,x) log P(x|s)/P(x). An average that assumes P(S). O(|S||X|).

    >>> from linred import Joint
    >>> mutual_information(Joint([[0.5, 0], [0, 0.5]]), base=2)
    1.0
    """
    log_base = validation.log_of_base(base)
    return relative_entropy(validation.joint(joint).p_sx, joint.p_x_given_s, joint.p_x) / log_base


def maximal_leakage(joint: Joint, base: float = math.e) -> float:
    """Return the maximal leakage log sum_x max_s P(x|s), which is Sibson's information of order infinity.

    It is not the limit of Arimoto's information, which `alpha_leakage` of order inf returns and which is often confused
    with it (errata 8). No assumption about the attacker's prior. O(|S||X|).

    >>> from linred import Joint
    >>> maximal_leakage(Joint([[0.375, 0.125], [0.125, 0.375]]), base=2)
    0.5849625007211562
    """
    highest, _ = _extremes(joint)
    return max(0.0, math.log(highest.sum())) / validation.log_of_base(base)


def alpha_leakage(joint: Joint, order: float, base: float = math.e) -> float:
    """Return Arimoto's mutual information of an order in [1, inf].

    The formula is order/(order-1) log sum_x |P(.,x)|_order / |P_S|_order. Order 1 is its limit, `mutual_information`;
    order inf is the guessing leakage, log sum_x max_s P(s,x) / max_s P(s). Assumes the prior P(S). The result is
    accurate for orders close to 1 too, where the formula itself suffers from cancellation. O(|S||X|).

    Guarantee
    ---------
    For every order, alpha-leakage <= `maximal_leakage` <= `max_lift`. This bound does not grow as the order falls to
    1, unlike the paper's order/(order-1) times the log-lift, and is never above it. Proof: its largest value over all
    P(S) is the capacity of that order, which increases with the order up to log sum_x max_s P(x|s) (Sibson's
    information of order inf, the same for every P(S)); and max_s P(x|s) is at most P(x) times the largest lift.

    >>> import math
    >>> from linred import Joint
    >>> joint = Joint([[0.375, 0.125], [0.125, 0.375]])
    >>> [round(alpha_leakage(joint, order, base=2), 6) for order in (1, 2, math.inf)]
    [0.188722, 0.321928, 0.584963]
    """
    order = validation.number("order", order, 1.0, math.inf)
    log_base = validation.log_of_base(base)
    if order == 1.0:
        return mutual_information(joint, base)
    if order < 2.0:
        nats = _arimoto_near_one(validation.joint(joint), order - 1.0)
    else:
        gain = _norms(validation.joint(joint).p_sx, order).sum() / _norms(joint.p_s[:, None], order)[0]
        nats = math.log(gain) if order == math.inf else order / (order - 1.0) * math.log(gain)
    return max(0.0, nats) / log_base


def entropy(p, base=math.e):
    """Return the entropy - sum p log p of one distribution."""
    p = p[p > 0.0]
    return max(0.0, -float(p @ np.log(p))) / validation.log_of_base(base)


def relative_entropy(p_joint, p_row, p_column):
    """Return sum p_joint log(p_row / p_column) in nats over the cells where p_joint > 0. The arguments broadcast."""
    occurs = p_joint > 0.0
    with np.errstate(over="ignore"):
        ratio = np.divide(p_row, p_column, out=np.ones_like(p_joint), where=occurs)
    logs = np.log(ratio)
    if np.isinf(logs).any():  # the ratio overflows or underflows a double, but its logarithm does not
        beyond = np.isinf(logs)
        logs[beyond] = np.log(p_row[beyond]) - np.log(np.broadcast_to(p_column, logs.shape)[beyond])
    return max(0.0, float(np.vdot(p_joint, logs)))


def _extremes(joint):
    return validation.joint(joint).column_extremes


def largest_ratio(numerators, denominators):
    """Return the index of the first largest numerator/denominator; 0/0 is skipped.

    Denominators are scaled by 2^60, which is exact, so that only p/0 is infinite: see csrc/extremes.h.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = numerators / (denominators * 2.0**60)
    return int(np.argmax(np.where(numerators > 0.0, ratios, -1.0)))


def log_ratio(numerator, denominator):
    """Return ln(numerator/denominator) to one or two ulps, also for ratios close to one; finite if the truth is."""
    if denominator == 0.0:
        return math.inf
    ratio = float(numerator) / float(denominator)
    if math.isinf(ratio):
        return math.log(numerator) - math.log(denominator)
    return math.log(ratio) if ratio > 2.0 else math.log1p(float(numerator - denominator) / float(denominator))


def _lift(joint, numerators, denominators, extreme, base, where):
    x = largest_ratio(numerators, denominators)
    # The maximum is never negative, but P(x) is a rounded sum and may leave it one ulp below zero.
    value = max(0.0, log_ratio(numerators[x], denominators[x])) / validation.log_of_base(base)
    return (value, Where(x, _row(joint, x, extreme))) if where else value


def _row(joint, x, extreme):
    """Return the first s that occurs and attains the extreme of column x."""
    return int(np.argmax((joint.p_x_given_s[:, x] == extreme[x]) & (joint.p_s > 0.0)))


def _norms(columns, order):
    """Return the norm of an order >= 1 of each column. Scaling by the largest entry keeps powers from underflowing."""
    largest = columns.max(axis=0)
    if order == math.inf:
        return largest
    scaled = columns / np.where(largest > 0.0, largest, 1.0)
    return largest * (scaled**order).sum(axis=0) ** (1.0 / order)


def _arimoto_near_one(joint, excess):
    """Return Arimoto's information of order 1 + excess. Carries differences from one, so that nothing cancels."""
    order = 1.0 + excess

    def power_sum_minus_one(p):  # sum p^order - 1 along the rows, for rows that sum to one
        logs = np.log(p, out=np.zeros_like(p), where=p > 0.0)
        return (p * np.expm1(excess * logs)).sum(axis=-1)

    norm_of_posterior = np.expm1(np.log1p(power_sum_minus_one(joint.p_s_given_x)) / order)
    norm_of_prior = math.log1p(float(power_sum_minus_one(joint.p_s))) / order
    return order / excess * (math.log1p(float(joint.p_x @ norm_of_posterior)) - norm_of_prior)

"""Chi-square divergence of P(s|x) from P(s), and its modes: singular values and functions of S and X.

All of it is about r(s,x) = P(x|s)/P(x) - 1 = P(s|x)/P(s) - 1, the deviation of a lift from one. Symbols of probability
zero, in either alphabet, are no evidence: their divergence is 0, and the functions of the modes are 0 there.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from linred._common import validation
from linred.distribution.joint import Joint


class Deviations(NamedTuple):
    """r(s,x) = P(x|s)/P(x) - 1 over the symbols that occur, with their probabilities and their masks."""

    r: NDArray[np.float64]
    p_s: NDArray[np.float64]
    p_x: NDArray[np.float64]
    occurs: NDArray[np.bool_]
    seen: NDArray[np.bool_]


def deviations(joint):
    """Return the `Deviations` of a Joint."""
    occurs, seen = validation.joint(joint).p_s > 0.0, joint.p_x > 0.0
    p_s, p_x = joint.p_s[occurs], joint.p_x[seen]
    return Deviations((joint.p_x_given_s[np.ix_(occurs, seen)] - p_x) / p_x, p_s, p_x, occurs, seen)


def divergences(r, p_s):
    """Return sum_s P(s) r(s,x)^2 for each x. The square alone may overflow."""
    return (p_s[:, None] * r * r).sum(axis=0)


@overload
def max_chi_square(joint: Joint, *, by_y: Literal[False] = ...) -> float: ...
@overload
def max_chi_square(joint: Joint, *, by_y: Literal[True]) -> NDArray[np.float64]: ...
def max_chi_square(joint: Joint, *, by_y: bool = False) -> float | NDArray[np.float64]:
    """Return the largest chi-square divergence of P(s|x) from P(s), max over x of sum_s P(s) (P(x|s)/P(x) - 1)^2.

    With by_y=True, return the divergence of each symbol, an array of length |X|; it is 0 for a symbol that never
    occurs. Dimensionless, so there is no base. It assumes the prior P(S). Its mean over P(x), which `linred.local` has
    as `chi_square`, is the sum of the squares of the values of `linred.modes`. O(|S||X|).

    >>> from linred import Joint
    >>> max_chi_square(Joint([[0.375, 0.125], [0.125, 0.375]]))
    0.25
    """
    r, p_s, _, _, seen = deviations(joint)
    divergence = np.zeros(seen.size)
    divergence[seen] = divergences(r, p_s)
    return divergence if validation.flag("by_y", by_y) else float(divergence.max())


class Modes(NamedTuple):
    """Modes of dependence between S and X, the strongest first: `linred.modes`.

    values : singular values in [0, 1], decreasing; the first is the maximal correlation.
    of_s : f(s) of each mode, modes x |S|; mean 0 and variance 1 under P(s); f and f' of two modes are uncorrelated.
    of_x : g(x) of each mode, modes x |X|; likewise under P(x). E[f(S) g(X)] is the value of the mode.
    """

    values: NDArray[np.float64]
    of_s: NDArray[np.float64]
    of_x: NDArray[np.float64]


def modes(joint: Joint) -> Modes:
    """Return the singular values and functions of B(s,x) = P(s,x)/sqrt(P(s)P(x)) - sqrt(P(s)P(x)).

    They say which functions of X reveal which functions of S: E[f(S) | x] = value * g(x), and no functions of S and X
    have a larger correlation than the first value. P(x|s)/P(x) = 1 + sum over modes of value * f(s) g(x). The paper
    names this (the linear algebra of Huang and Zheng) as future work. A linear reduction multiplies all values by
    1-alpha, and leaves the functions as they are.

    Guarantee
    ---------
    There are min(|S|, |X|) - 1 modes, where symbols of probability zero do not count; the functions are 0 there. The
    sum of the squared values is the mean chi-square divergence, `linred.local(joint).chi_square`. Functions of modes
    with equal values are determined up to a rotation, all others up to a sign, which is chosen so that the largest
    sqrt(P(s)) |f(s)| belongs to a positive f(s). O(|S||X| min(|S|, |X|)).

    >>> from linred import Joint
    >>> found = modes(Joint([[0.375, 0.125], [0.125, 0.375]]))
    >>> [part.round(9).tolist() for part in found]
    [[0.5], [[1.0, -1.0]], [[1.0, -1.0]]]
    """
    r, p_s, p_x, occurs, seen = deviations(joint)
    root_s, root_x = np.sqrt(p_s), np.sqrt(p_x)
    # sqrt(P(s)) and sqrt(P(x)) are singular vectors of B with the value 0. Reflected to the first axis, they leave, and
    # every other vector is orthogonal to them, also among ties at 0: this is why all functions have mean 0.
    reflected = _reflected(root_x, _reflected(root_s, root_s[:, None] * r * root_x).T).T
    left, values, right = np.linalg.svd(reflected[1:, 1:], full_matrices=False)
    left, right = _reflected(root_s, _below_zeros(left)), _reflected(root_x, _below_zeros(right.T))
    sign = np.where(np.take_along_axis(left, abs(left).argmax(axis=0)[None], 0) < 0.0, -1.0, 1.0)
    of_s, of_x = np.zeros((values.size, occurs.size)), np.zeros((values.size, seen.size))
    of_s[:, occurs], of_x[:, seen] = (sign * left).T / root_s, (sign * right).T / root_x
    return Modes(np.minimum(values, 1.0), of_s, of_x)


def _below_zeros(matrix):
    return np.pad(matrix, ((1, 0), (0, 0)))


def _reflected(root, matrix):
    """Return H @ matrix for the Householder reflection H that maps the unit vector `root`, which is >= 0, to -e_1."""
    v = root.copy()
    v[0] += 1.0
    return matrix - np.outer(v, (2.0 / (v @ v)) * (v @ matrix))

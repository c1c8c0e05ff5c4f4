"""What Y reveals about S to an attacker who already knows X: `linred.ldp_given_x`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, overload

import numpy as np

from linred._common import validation
from linred.privacy import metrics
from linred.sampling.exact_certificate import ldp_given_x_above
from linred.sampling.sampled_probabilities import Channel

if TYPE_CHECKING:
    from linred.mechanism.mechanism import Mechanism

SCALE = 900
"""Probabilities are times 2^SCALE here: the product of two small doubles must not become 0."""


class WhereGivenX(NamedTuple):
    """Codes at which `ldp_given_x` is attained: of the records with x, those of s become y most often, of s' least."""

    x: int
    y: int
    s: int
    s_prime: int


@overload
def ldp_given_x(mechanism: Mechanism, base: float = ..., *, where: Literal[False] = ...) -> float: ...
@overload
def ldp_given_x(
    mechanism: Mechanism, base: float = ..., *, where: Literal[True]
) -> tuple[float, WhereGivenX | None]: ...
def ldp_given_x(mechanism: Mechanism, base: float = math.e, *, where: bool = False) -> Any:
    """Return the LDP to an attacker who knows x: the maximum over x, y, s, s' of log P(y|s,x)/P(y|s',x).

    s and s' are those that the fit saw with x, P(s,x) > 0 and P(s',x) > 0. The rows of other pairs, usually P_Y, do not
    count, and the figure does not cover such a pair if one turns up later. 0/0 is skipped, and p/0 is infinite. The
    figure is 0 for a mechanism that does not use S when sampling. Apart from which pairs occur, it depends on the
    mechanism alone, and on no probability of S and X. With where=True, return (value, `WhereGivenX`), or None in place
    of the latter if the figure is 0.

    m releases of one record with fresh draws reveal at most LDP(S -> X) + m times this figure. Memory O(|S||X|); time
    O(|S| times the symbols that x may become), summed over x; ends at the first infinite ratio.

    >>> from linred import non_markov, optimal
    >>> from linred.datasets import example_1
    >>> ldp_given_x(optimal(example_1(), ldp=1.0, sees_s=False)), ldp_given_x(optimal(example_1(), ldp=1.0))
    (0.0, inf)
    >>> ldp_given_x(non_markov(example_1(), 0.5), where=True)
    (inf, WhereGivenX(x=0, y=2, s=1, s_prime=0))
    """
    log_base, best, found = validation.log_of_base(base), 0.0, None
    for x in range(mechanism.joint.shape[1]) if validation.mechanism(mechanism).sees_s else ():
        seen, drawn, rows = _rows(mechanism, x)
        if seen.size < 2:
            continue
        highest, lowest = rows.max(axis=0), rows.min(axis=0)
        nth = metrics.largest_ratio(highest, lowest)
        value = metrics.log_ratio(highest[nth], lowest[nth])
        if value > best:
            most, least = int(rows[:, nth].argmax()), int(rows[:, nth].argmin())
            best, found = value, WhereGivenX(x, int(drawn[nth]), int(seen[most]), int(seen[least]))
        if best == math.inf:
            break
    return (best / log_base, found) if where else best / log_base


def sampled_above(mechanism):
    """Return `ldp_given_x` of the sampled integers, rounded up; doubles find most infinite ones, in far less time."""
    if not mechanism.sees_s:
        return 0.0
    return math.inf if ldp_given_x(mechanism) == math.inf else ldp_given_x_above(Channel(mechanism.sampler()))


def _rows(mechanism, x):
    """Return (the s seen with x, the symbols y that one of them may become, P(y|s,x) of both times 2^SCALE)."""
    seen = np.flatnonzero(~mechanism.joint.unseen[:, x])
    keep, move, table_of = (part[seen, x] for part in (mechanism.keep, mechanism.move, mechanism.table_of))
    tables = mechanism.destinations[table_of]
    drawn = np.union1d(tables[move > 0.0].indices, x)
    half = SCALE // 2
    rows = np.ldexp(tables[:, drawn].toarray(), half) * np.ldexp(move, half)[:, None]
    rows[:, drawn == x] += np.ldexp(keep, SCALE)[:, None]
    return seen, drawn, rows

"""Lower bounds of the figures of released records, for `linred.audit`.

*Alphabets need not be known.* Given the column s, the symbols s that occur are fixed. The symbols y are not, and it
would be wrong to share a level equally among the y that happen to occur: the rarer the symbols, the more of them could
have occurred. Each y therefore gets the share P(y|s) of the level; over all y, however many, these shares sum to one.
P(y|s) is not known, but `lowest_of_any` returns a limit that is valid with this share, and a smaller share than that is
always safe.
"""

import math
from enum import Enum
from typing import NamedTuple

import numpy as np

from linred._kernels import counting
from linred.assurance import confidence_limits
from linred.assurance.certify import OF_ALL, OF_ONE, ROUNDINGS
from linred.assurance.conformance import known_codes
from linred.columns.adapters.kinds import adapter_of
from linred.privacy.leakage import Leakage

OF_FLOOR, OF_RATIO = 0.1, 0.9
"""Shares of the LDP's level for the limits that only determine the shares of the y, and for the ratios themselves."""
NEAREST, ROUNDS = 3, ((64, 8), (8, 64))
"""Number of s and of s' that are tried for each y; pairs (number of (y, s, s') examined, number of steps for each).

The level is shared among all (y, s, s'), whether or not they are examined, so this choice costs no validity.
"""
CLIPS = (0.25, 0.5, 1.0, 2.0)
"""The bound of mutual information clips estimates of log P(y|s)/P(y) to [-2 clip, clip], for the best of these."""


class Others(Enum):
    """Stands for all symbols s except one."""

    ALL = "all others"

    def __repr__(self):
        return self.value


OTHERS = Others.ALL


def lowest_of_any(n_hits, n, level):
    """Return lower limits of the probabilities of all symbols of an alphabet whose size is unknown.

    Guarantee
    ---------
    The limit of a symbol of probability p is above p with probability at most level * p, so any limit is wrong with
    probability at most `level`. Proof: let F(p) be the probability of n_hits or more. F(p) / p is the mean over [0, p]
    of a beta density that rises and then falls, so F(p) / p rises and then falls too, to 1 at p = 1. Hence if it is at
    or below the level at some p, it is so everywhere below. A limit with F(limit) <= level * limit is therefore above
    the true p only if n_hits is so large that F(p) <= level * p, and that many hits or more have at most this
    probability. With a single hit the limit is 0.

    >>> lowest_of_any(np.array([1, 10, 1000]), 10000, 0.05).round(5).tolist()
    [0.0, 0.00015, 0.09168]
    """
    guess = np.asarray(n_hits) / n
    for _ in range(3):  # decreases towards the largest valid limit
        guess = confidence_limits.lowest(n_hits, n, level * guess)
    limit = confidence_limits.lowest(n_hits, n, level * guess / 2.0)
    return np.where(limit >= guess / 2.0, limit, 0.0)


def highest_of_any(n_hits, n, level):
    """Return upper limits of symbols with at least one hit, with the guarantee of `lowest_of_any`.

    At the limit h >= n_hits / n the tail is level * n_hits / n <= level * h. Beyond h the tail falls, and the share of
    the level rises.
    """
    return confidence_limits.highest(n_hits, n, level * n_hits / n)


class _Groups(NamedTuple):
    """Hits of each (group, y), and the number of records of each group as a column.

    Groups are the s, then the complement of each s.
    """

    n_hits: np.ndarray
    n: np.ndarray

    def candidates(self, levels):
        """Return (ratio of simple limits, each at half of the level; y; s; s') of the pairs to try."""
        low = confidence_limits.lowest(self.n_hits, self.n, levels / 2.0)
        y = np.flatnonzero((low > 0.0).any(axis=0))
        low, high = low[:, y], confidence_limits.highest(self.n_hits[:, y], self.n, levels[:, y].max(axis=0) / 2.0)
        s, other = self._tried(low, high)
        place = np.broadcast_to(np.arange(y.size), s.shape)
        ratios = np.where(s == other, 0.0, low[s, place] / high[other, place])
        some = ratios > 0.0
        return ratios[some], y[place[some]], s[some], other[some]

    def ratios(self, y, s, other, levels, n_steps):
        """Return lower bounds of P(y|s) / P(y|s'), each at its own level; the proof is in `limits_of_two`.

        Limits are at least one hit away from n_hits, as `Released._ldp` needs.
        """
        evidence = np.array([confidence_limits.evidence_of_two(level) for level in levels[s, y]]).reshape(-1, 1)
        n_hits, n, other_hits, other_n = self.n_hits[s, y, None], self.n[s], self.n_hits[other, y, None], self.n[other]
        share = np.arange(n_steps) / n_steps
        low = confidence_limits.lowest(n_hits, n, np.exp(-evidence * (1.0 - share)))
        high = confidence_limits.highest(other_hits, other_n, np.exp(-evidence * (share + 1.0 / n_steps)))
        return (np.minimum(low, (n_hits - 1) / n) / np.maximum(high, (other_hits + 1) / other_n)).min(axis=1)

    def _tried(self, low, high):
        """Return pairs of groups for each y: s with the highest lower limits and s' with the lowest upper limits, and
        each s with its complement."""
        n_groups, n_y = low.shape
        n_s = n_groups if n_groups == 2 else n_groups // 2
        s, other = np.argsort(-low[:n_s], axis=0)[:NEAREST, None], np.argsort(high[:n_s], axis=0)[None, :NEAREST]
        pairs = [part.reshape(s.shape[0] * other.shape[1], n_y) for part in np.broadcast_arrays(s, other)]
        if n_groups == 2:
            return pairs
        each = np.broadcast_to(np.arange(n_groups)[:, None], (n_groups, n_y))
        return np.vstack([pairs[0], each]), np.vstack([pairs[1], (each + n_s) % n_groups])


class Released:
    """Released records as codes, and the counts of (s, y) for the s and y that occur."""

    def __init__(self, s, y, mechanism):
        self.y_column = y
        if mechanism is None:
            (self.s, s_labels), (self.y, y_labels) = _encoded("s", s), _encoded("y", y)
        else:
            joint = mechanism.joint
            s_labels, y_labels = joint.s_labels, (*joint.x_labels, _Outside)
            self.s, self.y = known_codes("s", s, joint.s_encoder), joint.x_encoder.codes("y", y)
        self.n = self.y.size
        if self.s.size != self.n:
            raise ValueError(f"s has {self.s.size} records and y has {self.n}")
        if self.n == 0:
            raise ValueError("s and y have no records to audit")
        self.s, self.y = (np.ascontiguousarray(codes) for codes in (self.s, self.y))
        self._labels = s_labels, y_labels
        counts = self._count(slice(None))
        self._some = np.flatnonzero(counts.any(axis=1)), np.flatnonzero(counts.any(axis=0))
        self.counts = counts[np.ix_(*self._some)]
        self.n_s = self.counts.sum(axis=1)[:, None]

    def _count(self, which):
        return counting.count_pairs(self.s[which], self.y[which], *map(len, self._labels), names=("s", "y"))

    def figures(self, level):
        """Return (`Leakage`, labels (y, s, s') of the LDP or None)."""
        if self.n_s.size == 1 or self.counts.shape[1] == 1:
            return Leakage.all_equal(0.0), None
        ldp, where = self._ldp(level)
        max_lift, min_lift = self._lifts(level / 2.0)
        halves = self._halves()
        first, second = (self._count(half)[np.ix_(*self._some)] for half in halves)
        leakage, information = _leakage(first, second, level), self._information(first, halves, level)
        figures = Leakage.from_lifts(ldp, max_lift, min_lift, information, leakage)
        return figures.changed_by(_rounded_down), where if ldp > 0.0 else None

    def _halves(self):
        """Return the record numbers of two random halves. Shuffled, because files are often sorted."""
        shuffled = np.argsort(np.random.Philox(key=0x6C696E726564).random_raw(self.n), kind="stable")
        return shuffled[: self.n // 2], shuffled[self.n // 2 :]

    def _ldp(self, level):
        """Return (lower bound, labels (y, s, s')) from every two s, and from each s against all others together.

        All others together are a valid s': at least one of them has a probability of y as small as their mean, and one
        as large. If `lowest_of_any` holds, the bound of (y, s, s') fails with probability at most P(y|s) times the
        level of (s, s'); over all (y, s, s') these sum to the level. Hits among all others are sums of unequal
        probabilities, and limits at least one hit away from n_hits hold for their mean (Hoeffding 1956, Theorem 4).
        """
        groups = self._groups()
        n_s, n_groups = self.n_s.size, groups.n.size
        floor = lowest_of_any(groups.n_hits, groups.n, OF_FLOOR * level / n_groups)
        floor = np.minimum(floor, np.maximum(groups.n_hits - 1, 0) / groups.n)
        n_pairs = n_s * (n_s - 1) + 2 * (n_groups - n_s)
        levels = OF_RATIO * level / n_pairs * floor
        ratios, *where = groups.candidates(levels)
        for n_triples, n_steps in ROUNDS:
            best = np.argsort(-ratios, kind="stable")[:n_triples]
            where = [part[best] for part in where]
            ratios = groups.ratios(*where, levels, n_steps)
        if ratios.size == 0:
            return 0.0, None
        best = int(ratios.argmax())
        return math.log(max(1.0, ratios[best])), self._labelled(*(part[best] for part in where))

    def _groups(self):
        """Return the counts of each s, and of its complement if that has several symbols."""
        if self.n_s.size == 2:
            return _Groups(self.counts, self.n_s)
        n_others, others = self.n - self.n_s, self.counts.sum(axis=0) - self.counts
        return _Groups(np.vstack([self.counts, others]), np.vstack([self.n_s, n_others]))

    def _labelled(self, y, *several_s):
        label = self._labels[1][self._some[1][y]]
        if label is _Outside:
            record = int(np.argmax(self.y == self._some[1][y]))
            label = adapter_of("y", self.y_column).value_at(record)
        n_s = self.n_s.size
        return label, *(OTHERS if s >= n_s else self._labels[0][self._some[0][s]] for s in several_s)

    def _lifts(self, level):
        """Return lower bounds of (max-lift, min-lift). In upper limits of P(y|s), y has the share P(y) of the level."""
        of_one, of_all = OF_ONE * level / self.n_s.size, OF_ALL * level
        n_y = self.counts.sum(axis=0)
        max_ratio = lowest_of_any(self.counts, self.n_s, of_one) / highest_of_any(n_y, self.n, of_all)
        low_y = lowest_of_any(n_y, self.n, of_all)
        min_ratio = low_y / confidence_limits.highest(self.counts, self.n_s, of_one * low_y)
        return tuple(math.log(max(1.0, ratio.max())) for ratio in (max_ratio, min_ratio))

    def _information(self, first, halves, level):
        """Return a lower bound of I(S;Y) >= E T(S,Y) + 1 - E e^T(S',Y).

        The inequality holds for any T, with S' independent of Y (Nguyen, Wainwright & Jordan 2010). T and the bet are
        chosen on the first half of the records; each two records of the second half give a Z with the right-hand side
        as its mean.
        """
        place = [np.searchsorted(some, codes) for some, codes in zip(self._some, (self.s, self.y), strict=True)]
        (s, y), (tested_s, tested_y) = ([codes[half] for codes in place] for half in halves)
        if tested_s.size < 4:
            return 0.0
        scores = _scores(first)
        tries = [_score_and_bet(np.clip(scores, -2.0 * clip, clip), s, y, level) for clip in CLIPS]
        _, scores, bet = max(tries, key=lambda one: one[0])
        return _lowest_mean(_paired(scores, tested_s, tested_y), bet, level)


def _score_and_bet(scores, s, y, level):
    """Return (bound predicted from the first half, with log(1 + u) taken as u - u^2 / 2; scores; bet)."""
    z, low, high = _paired(scores, s, y), scores.min(), scores.max()
    width = high - low + math.exp(high) - math.exp(low)  # of the range of Z
    if width == 0.0:
        return 0.0, scores, 0.0
    bet = min(0.9 / width, math.sqrt(2.0 * math.log(1.0 / level) / max(z.size * float(z.var()), 1e-9)))
    return z.mean() - bet * z.var() / 2.0 - math.log(1.0 / level) / (bet * z.size), scores, bet


def _lowest_mean(z, bet, level):
    """Return the largest m with prod(1 + bet (z - m)) >= 1 / level, or 0.

    If m is at or above the true mean of z, the product has mean at most one, so it is that large with probability at
    most `level` (Markov's inequality); the product falls with m. The bet is such that no factor is negative.
    """

    def evidence(m):
        return float(np.log1p(bet * (z - m)).sum()) + math.log(level)

    low, high = 0.0, max(0.0, float(z.mean()))
    if evidence(low) < 0.0:
        return 0.0
    for _ in range(24):
        middle = (low + high) / 2.0
        low, high = (middle, high) if evidence(middle) >= 0.0 else (low, middle)
    return low


def _scores(counts):
    """Return estimates of log P(y|s)/P(y), shrunk towards 0 by as many pseudo-records as there are y."""
    n_s, p_y = counts.sum(axis=1, keepdims=True), counts.sum(axis=0) / max(1, counts.sum())
    prior = np.count_nonzero(p_y)
    lift = np.divide(counts + prior * p_y, (n_s + prior) * p_y, out=np.ones(counts.shape), where=p_y > 0.0)
    return np.log(lift, out=np.full(lift.shape, -np.inf), where=lift > 0.0)


def _paired(scores, s, y):
    """Return one Z for each two records: mean T of the matching pairs, plus 1, minus mean e^T of the crossed pairs."""
    (s, other_s), (y, other_y) = ((codes[: codes.size // 2 * 2 : 2], codes[1::2]) for codes in (s, y))
    together, apart = scores[s, y] + scores[other_s, other_y], np.exp(scores[s, other_y]) + np.exp(scores[other_s, y])
    return together / 2.0 + 1.0 - apart / 2.0


def _leakage(first, second, level):
    """Return a lower bound of log sum_y max_s P(y|s) >= log sum_s P(Y in A_s|s).

    The inequality holds for any disjoint sets A_s. They are chosen on the first half, for the s with the most records
    in the second, and for as many of them as promise the largest bound. On the second half, the sum over s of the share
    of A_s among the records of s exceeds its mean by sqrt(log(1/level)/2 sum_s 1/n_s) with probability at most `level`
    (Hoeffding 1963), so subtracting that amount gives a lower bound.
    """
    n_s = second.sum(axis=1)
    order = np.argsort(-n_s, kind="stable")[: np.count_nonzero(n_s)]
    price = np.sqrt(math.log(1.0 / level) / 2.0 * np.cumsum(1.0 / n_s[order]))
    share = first[order] / np.maximum(1, first[order].sum(axis=1, keepdims=True))
    promise = np.maximum.accumulate(share, axis=0).sum(axis=1) - price
    best = int(promise.argmax())
    s, y = order[share[: best + 1].argmax(axis=0)], np.arange(first.shape[1])
    return math.log(max(1.0, math.fsum(second[s, y] / n_s[s]) - price[best]))


def _rounded_down(figure):
    return max(0.0, figure - ROUNDINGS * (1.0 + figure))


class _Outside:
    """Stands for all values of y outside the mechanism's alphabet. Merging them cannot increase a figure."""


def _encoded(name, column):
    """Return (codes, labels) in an order that does not depend on the run, even for values that cannot be sorted."""
    encoded = adapter_of(name, column).encoded(sort=False)
    order = sorted(range(len(encoded.labels)), key=lambda code: repr(encoded.labels[code]))
    place = np.argsort(order).astype(np.uint32)  # of each code in this order
    return place[encoded.codes], tuple(encoded.labels[code] for code in order)

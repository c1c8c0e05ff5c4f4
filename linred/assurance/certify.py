"""`linred.certify`: figures that hold with confidence when P(S, X) was estimated.

The result has three sets of figures:

    plug_in     exact for the sampled integers if the fitted P(S, X) is the true one (`sampler.certificate()`);
    its own     computed from records; hold with the stated confidence whatever P(S, X) is;
    ceiling     the worst-case bound, which needs no data: P(y|s) lies in the range of P(y|s,x) for every P(x|s).
                Infinite for most mechanisms.

*Records that were not used for fitting.* The mechanism is fixed, and P(y|s) is the mean, given s, of a known function
of X with range [low, high]. Each record is rounded at random to a hit or a miss, a hit with probability
(P(y|s,x) - low) / (high - low). Hits are then Bernoulli with mean (P(y|s) - low) / (high - low), so binomial limits are
exact. If P(y|s,.) takes only two values, nothing is rounded. `confidence_limits.CountsRng` draws the random numbers, so
the same records always give the same figures.

*The counts that the mechanism was fitted on.* The mechanism depends on the records, so the limits must hold for all
P(x|s) simultaneously.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from linred._common import validation
from linred._common.types import Column
from linred._kernels import counting
from linred.assurance import confidence_limits
from linred.assurance.confidence_set import ConfidenceSet
from linred.assurance.conformance import known_codes
from linred.distribution.joint import Joint
from linred.mechanism.provenance import FITTED, HELD_OUT, NOTHING, Certified
from linred.privacy.leakage import Leakage
from linred.sampling.sampled_probabilities import OneTable, Realised

if TYPE_CHECKING:
    from linred.mechanism.mechanism import Mechanism

MOST_STEPS, FEWEST_STEPS, MOST_LIMITS = 64, 8, 2**21
"""Number of steps in which two groups share the evidence. Large alphabets get fewer, which costs a little tightness."""

MOST_KEPT = 2**24
"""Largest number of entries of P(y|s,x) that are kept in memory."""

ROUNDINGS = 1e-12
"""Bound of the rounding error in this module, in nats; added to every figure."""

CANCELLED = 1e-15
"""Bound of the rounding error of a sum over a group of x minus one of its terms."""

OF_ONE, OF_ALL = 0.8, 0.2
"""Shares of the level for P(y|s) and P(y) in a lift. P(y|s) gets more because it is estimated from fewer records."""


def certify(mechanism: Mechanism, s: Column = None, x: Column = None, confidence: float = 0.95) -> Certified:
    """Return figures of a mechanism that hold with confidence although P(S, X) was estimated.

    Parameters
    ----------
    mechanism : Mechanism
    s, x : columns of records that were NOT used for fitting, as in `Joint.from_records`; or s a Joint with counts
        Without them, the counts that the mechanism was fitted on are used. That costs tightness, because the limits
        must then hold for every mechanism that could have been built from these counts.
    confidence : float in (0, 1)

    Guarantee
    ---------
    With s and x: suppose that the records are independent draws from P(S, X), which may be any distribution, and that
    the mechanism does not depend on them. Then each figure is at or above its true value with probability `confidence`.
    LDP and lifts are maxima over (y, s, s'). The true maximum is attained at a fixed place, and the bound is too low
    only if the limit at that place is, so the number of symbols costs nothing (intersection-union, Berger 1982); the
    log-lift is the larger of two such maxima. Maximal leakage, a sum over y, and mutual information, a sum over y and
    s, divide the level among their terms.
    Without s and x: all figures are at or above their true values simultaneously with probability `confidence`,
    however the mechanism was chosen.
    Lifts, log-lift and mutual information are relative to P_Y and assume the true P(S); LDP and maximal leakage hold
    for every prior.
    A value outside the mechanism's alphabets raises `UnseenError`; the records of the fit raise a ValueError. A figure
    that the records do not bound is infinite. O(|S||X|^2) for mechanisms with many destinations.

    >>> import numpy as np, linred
    >>> joint = linred.Joint.from_conditional([[0.2, 0.1, 0.5, 0.2], [0.5, 0.3, 0.1, 0.1]], [0.3, 0.7])
    >>> mechanism = linred.non_markov(joint, ldp=1.0)
    >>> certified = certify(mechanism, linred.Joint.from_counts([[600, 300, 1500, 600], [3500, 2100, 700, 700]]))
    >>> round(certified.ldp, 3), round(certified.plug_in.ldp, 3)
    (1.048, 1.0)
    """
    validation.mechanism(mechanism)
    level = 1.0 - validation.check_confidence(confidence)
    if s is None and x is None:
        if mechanism.joint.counts is None:
            raise ValueError("mechanism was built from probabilities, without counts: certify needs records, s= and x=")
        return Certifying(mechanism, mechanism.joint.counts).from_fit(confidence, level)
    counts = held_out_counts(mechanism, s, x)
    if _are_of_the_fit(mechanism, counts):
        raise ValueError(
            "these are the records that the mechanism was fitted on: give others, or none to use the counts of the fit"
        )
    return Certifying(mechanism, counts).from_held_out(confidence, level)


def _are_of_the_fit(mechanism, counts):
    """Return whether these are the records of the fit: the same number, and at least as many of each pair."""
    fitted, design = mechanism.joint.counts, mechanism.design
    if fitted is None or (fitted.size and not (counts >= fitted).all()):
        return False
    return int(counts.sum()) in (int(fitted.sum()), 0 if design is None else design.n_fitted + design.n_held_out)


def held_out_counts(mechanism, s, x):
    """Return |S| x |X| counts of records over the mechanism's alphabets."""
    joint = mechanism.joint
    labels = joint.s_labels, joint.x_labels
    if isinstance(s, Joint):
        if x is not None or s.counts is None:
            raise ValueError("s is a Joint: it must have counts, and x must be None")
        unnamed = tuple(range(s.shape[0])), tuple(range(s.shape[1]))
        if s.shape != joint.shape or (s.s_labels, s.x_labels) not in (labels, unnamed):
            raise ValueError("s is a Joint whose alphabets differ from the mechanism's: build it with the same labels")
        return s.counts
    if s is None or x is None:
        raise ValueError(f"{'s' if s is None else 'x'} is None: give both columns, or neither")
    codes = known_codes("s", s, joint.s_encoder), known_codes("x", x, joint.x_encoder)
    if codes[0].size != codes[1].size:
        raise ValueError(f"s has {codes[0].size} records and x has {codes[1].size}")
    if codes[0].size == 0:
        raise ValueError("s and x have no records to certify from")
    return counting.count_pairs(*codes, *joint.shape, names=("s", "x"))


class Certifying:
    """Computes certified figures of one mechanism from |S| x |X| counts."""

    def __init__(self, mechanism, counts):
        self.mechanism, self.counts, self.joint = mechanism, np.asarray(counts), mechanism.joint
        self.n_s, self.n = self.counts.sum(axis=1), int(self.counts.sum())
        self._realised, self._kept = Realised(mechanism.sampler()), None
        if not mechanism.sees_s:
            self._kept = [self._realised.of(0)] * self.n_s.size
        elif self.counts.size * self.joint.shape[1] <= MOST_KEPT:
            self._kept = list(self.rows)
        self.low, self.high = (np.stack(ends) for ends in zip(*(rows.range() for rows in self.rows), strict=True))

    @property
    def rows(self):
        """`Rows` of each s, computed again on each use if all of them would take too much memory."""
        return self._kept or map(self._realised.of, range(self.n_s.size))

    def from_held_out(self, confidence, level):
        """Return figures from records that the mechanism does not depend on, each valid by itself."""
        hits = Hits(self.rows, self.counts, self.low, self.high)
        ldp, where = self._ldp(hits, level)
        max_lift, min_lift = self._lifts(hits, level)
        leakage = _leakage(hits.highest(level / self.joint.shape[1]))
        shared = level / (2.0 * self.counts.size + 2.0 * self.n_s.size)
        weights = _limits(self.n_s, self.n, shared)
        information = _information(hits.lowest(shared), hits.highest(shared), *weights, self.mechanism.p_y)
        figures = Leakage.from_lifts(ldp, max_lift, min_lift, information, leakage).changed_by(_rounded_up)
        return self.certified(figures, confidence, HELD_OUT, False, self._because(ldp, where))

    def from_fit(self, confidence, level):
        """Return figures from the counts of the fit, all valid simultaneously.

        P(S, X) lies in its `ConfidenceSet`; each P(y|s) is bounded by its extremes over this set.
        """
        known = ConfidenceSet.of(self.counts, level)
        ends = [_extremes(*one) for one in zip(self.rows, known.low, known.high, strict=True)]
        low, high = (np.stack(part) for part in zip(*ends, strict=True))
        low, high = np.maximum(low, self.low), np.minimum(high, self.high)
        figures, where = _of_box(low, high, known.s_low, known.s_high, self.mechanism.p_y)
        return self.certified(figures, confidence, FITTED, True, self._because(figures.ldp, where))

    def _ldp(self, hits, level):
        """Return (upper bound, (y, s, s')): the largest bound of any two groups, which are independent given S."""
        n_steps = int(np.clip(MOST_LIMITS // self.counts.size, FEWEST_STEPS, MOST_STEPS))
        return _largest_ratio(*hits.of_two(level, n_steps))

    def _lifts(self, hits, level):
        """Return upper bounds of max-lift and min-lift: P(y|s) from the records of s, P(y) from all records."""
        over_all = Hits(self.rows, self.counts, self.low.min(axis=0), self.high.max(axis=0), together=True)
        of_one, of_all = OF_ONE * level, OF_ALL * level
        return (
            _log_ratio(hits.highest(of_one), over_all.lowest(of_all)).max(),
            _log_ratio(over_all.highest(of_all), hits.lowest(of_one)).max(),
        )

    def certified(self, figures, confidence, basis, together, because):
        """Return the `Certified`; a figure above its worst-case bound is replaced by that bound."""
        ceiling = self.ceiling()
        plug_in = self.mechanism.sampler().certificate().figures
        least = map(min, map(float, figures), ceiling)
        return Certified(*least, confidence, basis, self.n, together, because, plug_in, ceiling)

    def ceiling(self):
        """Return the worst-case bounds, which hold for every P(S, X)."""
        if (self.high.max(axis=0) == self.low.min(axis=0)).all():
            return Leakage.all_equal(0.0)
        zero, one = np.zeros(self.n_s.size), np.ones(self.n_s.size)
        return _of_box(self.low, self.high, zero, one, self.mechanism.p_y)[0]

    def _because(self, ldp, where):
        if ldp == 0.0:
            return NOTHING
        y, *both = where
        labels = [f"s = {self.joint.s_labels[s]!r} ({self.n_s[s]:,} records)" for s in both]
        text = f"y = {self.joint.x_labels[y]!r}, comparing {labels[0]} with {labels[1]}"
        if math.isfinite(ldp):
            return f"largest for {text}"
        return f"infinite for {text}, for which this y may have probability zero"


class Hits:
    """Hits of each (s, y), rounded as the module's docstring describes, and the limits of P(y|s) that follow.

    low, high : the range to which hits are scaled, |S| x |X|. With `together`, |X|, for P(y) from the hits of all s.
    """

    def __init__(self, rows, counts, low, high, together=False):
        self._low, self._high, self._n = low, high, counts.sum(axis=1)[:, None]
        lows, highs = (np.broadcast_to(end, counts.shape) for end in (low, high))
        chance = confidence_limits.CountsRng(b"linred all hits" if together else b"linred hits", counts)
        each = zip(rows, counts, lows, highs, strict=True)
        self.n_hits = np.stack([_rounded(*one, chance) for one in each])
        if together:
            self.n_hits, self._n = self.n_hits.sum(axis=0), counts.sum()

    def highest(self, level):
        return self._scaled(confidence_limits.highest(self.n_hits, self._n, level))

    def lowest(self, level):
        return self._scaled(confidence_limits.lowest(self.n_hits, self._n, level))

    def of_two(self, level, n_steps):
        return tuple(map(self._scaled, confidence_limits.limits_of_two(self.n_hits, self._n, level, n_steps)))

    def _scaled(self, share):
        low, high = (end if share.ndim == end.ndim else end[..., None] for end in (self._low, self._high))
        return np.minimum(low + (high - low) * share, high)


def _rounded(rows, counts, low, high, chance):
    """Return the hits at each y of one s: a sum of binomials, one for each value of P(y|s,.), drawn by inversion."""
    width = np.where(high > low, high - low, 1.0)
    share = np.clip(np.vstack([rows.own, rows.others]) - low, 0.0, None) / width
    n = np.vstack([counts, rows.weights(counts)])
    share = np.minimum(share, 1.0)
    hits = np.where(share == 1.0, n, 0.0)
    some = (share > 0.0) & (share < 1.0) & (n > 0)
    if some.any():
        from scipy.stats import binom

        hits[some] = binom.ppf(chance.uniform(int(some.sum())), n[some], share[some])
    return hits.sum(axis=0)


def _extremes(rows, low_x, high_x):
    """Return (smallest, largest) P(y|s) at each y over all distributions P(x|s) between low_x and high_x."""
    if isinstance(rows, OneTable):
        return _extremes_of_one_table(rows, low_x, high_x)
    values = np.vstack([rows.own, rows.others]).T
    low, high = (np.vstack([limits, rows.weights(limits)]).T for limits in (low_x, high_x))
    low, high = np.clip(low - CANCELLED, 0.0, 1.0), np.clip(high + CANCELLED, 0.0, 1.0)
    return (
        np.clip(confidence_limits.smallest_mean(values, low, high), 0.0, None) * (1.0 - confidence_limits.SLACK),
        confidence_limits.largest_mean(values, low, high) * (1.0 + confidence_limits.SLACK),
    )


def _extremes_of_one_table(rows, low_x, high_x):
    """Do as `_extremes` for `OneTable`, in O(|X| log |X|).

    P(y|s,y) is at least table(y), hence at least P(y|s,x) for every other x. So P(y) is as large as possible where
    P(y|s) is largest, and the order in which the other x get the mass that is left is the same for all y.
    """
    low_x, high_x = np.clip(low_x, 0.0, 1.0), np.clip(high_x, 0.0, 1.0)
    others_low, others_high = low_x.sum() - low_x, high_x.sum() - high_x
    mean_low = low_x @ rows.move
    ends = []
    for sign in (1.0, -1.0):
        own = np.minimum(high_x, 1.0 - others_low) if sign > 0.0 else np.maximum(low_x, 1.0 - others_high)
        order = np.argsort(-sign * rows.move)
        room = (high_x - low_x)[order]
        ends_of_room = np.concatenate([[0.0], np.cumsum(room)])
        value = np.concatenate([[0.0], np.cumsum(room * rows.move[order])])
        starts = np.empty(order.size)
        starts[order] = ends_of_room[:-1]
        left = np.maximum(0.0, 1.0 - own - others_low)  # for the other x, beyond their lower limits
        room = high_x - low_x
        skips = starts < left  # y would get some of it, if it were not at its own limit
        filled = np.interp(left + np.where(skips, room, 0.0), ends_of_room, value)
        moved = mean_low - low_x * rows.move + filled - np.where(skips, room * rows.move, 0.0)
        rounding = sign * (CANCELLED * rows.table + ROUNDINGS * own * rows.own)
        found = own * rows.own + rows.table * moved + rounding
        ends.append(np.clip(found * (1.0 + sign * confidence_limits.SLACK), 0.0, None))
    return ends[1], ends[0]


def _limits(n_hits, n, level):
    return confidence_limits.lowest(n_hits, n, level), confidence_limits.highest(n_hits, n, level)


def _of_box(low, high, w_low, w_high, q):
    """Return (`Leakage`, place of the LDP): upper bounds over all P(y|s) in [low, high] and P(s) in [w_low, w_high].

    q : any distribution of y; I(S;Y) is at most the mean over s of the divergence of P(.|s) from it.
    """
    ldp, where = _largest_ratio(high[..., None], low[..., None])
    max_lift, min_lift = _lifts_of_box(low, high, w_low, w_high)
    information = min(_information(low, high, w_low, w_high, q), math.log(min(low.shape)))
    figures = Leakage.from_lifts(ldp, max_lift, min_lift, information, _leakage(high))
    return figures.changed_by(_rounded_up), where


def _lifts_of_box(low, high, w_low, w_high):
    """Return bounds of max-lift and min-lift.

    P(y|s) / P(y) is largest if P(y|s) is largest and P(y|s') is smallest for all other s', and conversely.
    """
    max_lift = min_lift = 0.0
    for s in range(len(low)):
        of_least, of_most = low.copy(), high.copy()
        of_least[s], of_most[s] = high[s], low[s]
        max_lift = max(max_lift, _log_ratio(high[s], confidence_limits.smallest_mean(of_least.T, w_low, w_high)).max())
        min_lift = max(min_lift, _log_ratio(confidence_limits.largest_mean(of_most.T, w_low, w_high), low[s]).max())
    return float(max_lift), float(min_lift)


def _log_ratio(numerator, denominator):
    """Return max(0, log(numerator / denominator)), which is infinite for p/0 and 0 for 0/0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(numerator) - np.log(denominator)
    return np.where(numerator <= 0.0, 0.0, np.maximum(logs, 0.0))


def _largest_ratio(highs, lows):
    """Return (max over y, steps and s != s' of log(highs[s, y] / lows[s', y]), its (y, s, s')).

    highs, lows : |S| x |X| x steps.
    """
    if len(highs) == 1:
        return 0.0, (0, 0, 0)
    with np.errstate(divide="ignore"):
        above, below = np.log(highs), -np.log(lows)
    below[np.broadcast_to((highs == 0.0).all(axis=0), below.shape)] = 0.0  # this y is never released
    first, second = above.argmax(axis=0), below.argmax(axis=0)
    each_s = np.arange(len(highs))[:, None, None]
    above_elsewhere = np.where(each_s == second, -np.inf, above)
    below_elsewhere = np.where(each_s == first, -np.inf, below)
    choices = (
        (above.max(axis=0), below_elsewhere.max(axis=0), first, below_elsewhere.argmax(axis=0)),
        (above_elsewhere.max(axis=0), below.max(axis=0), above_elsewhere.argmax(axis=0), second),
    )
    largest, where = 0.0, (0, 0, 1)
    for high, low, s, other in choices:
        with np.errstate(invalid="ignore"):
            ratio = np.where(high == -np.inf, 0.0, high + low)
        y, step = np.unravel_index(ratio.argmax(), ratio.shape)
        if ratio[y, step] > largest:
            largest, where = float(ratio[y, step]), (int(y), int(s[y, step]), int(other[y, step]))
    return largest, where


def _leakage(high):
    """Return an upper bound of maximal leakage over all P(y|s) <= high; it never exceeds log min(|S|, |X|)."""
    return min(max(0.0, math.log(math.fsum(np.minimum(high, 1.0).max(axis=0)))), math.log(min(high.shape)))


def _information(low, high, w_low, w_high, q):
    """Return an upper bound of sum_s P(s) sum_y P(y|s) log(P(y|s) / q(y)), which is at or above I(S;Y).

    v log(v / q) is convex in v, so it is at most its chord over [low, high]. Each row is then a `largest_mean`, and so
    is the mean over s.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = [np.where(end > 0.0, end * np.log(end / q), 0.0) for end in (low, high)]
        slope = np.where(high > low, (ends[1] - ends[0]) / (high - low), 0.0)
    if not np.isfinite(ends).all():
        return math.inf
    divergence = (ends[0] - slope * low).sum(axis=1) + confidence_limits.largest_mean(slope, low, np.minimum(high, 1.0))
    return float(max(0.0, confidence_limits.largest_mean(divergence, w_low, w_high)))


def _rounded_up(figure):
    return figure + ROUNDINGS * (1.0 + figure) if figure > 0.0 else 0.0

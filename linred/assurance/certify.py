"""What is guaranteed of a mechanism where P(S, X) was estimated: `linred.certify`.

Three kinds of figures stand beside each other in what it returns:

    plug_in  exact for the integers that are sampled, if P(S, X) were what was fitted (`sampler.certificate()`);
    its own  hold with a stated confidence, whatever P(S, X) is, from records;
    ceiling  need no data at all: P(y|s) lies in the range of P(y|s,x), whatever P(x|s) is. Infinite for most.

From records that were not used for fitting, the mechanism is fixed, and P(y|s) is the mean of a known function of X
given s, in its range [low, high]. Each record is rounded to a hit or none, a hit with probability
(P(y|s,x) - low) / (high - low): hits are Bernoulli with mean (P(y|s) - low) / (high - low), and binomial limits are
exact. Where P(y|s,.) has two values there is nothing to round. What is rounded is drawn by
`confidence_limits.CountsRng`: the same records always get the same figures.

From the counts that the mechanism was fitted on, the mechanism depends on the records, and limits must hold for all
P(x|s) at once.
"""

import math

import numpy as np

from linred._common import validation
from linred.assurance import confidence_limits
from linred.distribution.joint import Joint
from linred.mechanism.provenance import FITTED, HELD_OUT, NOTHING, Certified
from linred.privacy.leakage import Leakage
from linred.sampling.sampled_probabilities import Realised

MOST_STEPS, FEWEST_STEPS, MOST_LIMITS = 64, 8, 2**21
"""Steps in which two groups share the evidence: fewer where there are many symbols, which costs a little tightness."""

MOST_KEPT = 2**24
"""Numbers of P(y|s,x) that are kept in memory."""

ROUNDINGS = 1e-12
"""Nats that the doubles here may be off, added to every figure."""

CANCELLED = 1e-15
"""What a sum over a group of x, less one of them, may be off."""

OF_ONE, OF_ALL = 0.8, 0.2
"""Shares of the level, in a lift, of P(y|s), which few records tell of, and of P(y), which all of them do."""


def certify(mechanism, s=None, x=None, confidence=0.95):
    """Figures of a mechanism that hold with confidence on estimated data.

    Parameters
    ----------
    mechanism : Mechanism
    s, x : columns of records that were NOT used for fitting, as in `Joint.from_records`, or s a Joint of counts
        Without them, the counts that the mechanism was fitted on are used, at a price: the limits must then hold
        for every mechanism that could have come of them.
    confidence : float in (0, 1)

    Guarantee
    ---------
    With records: they are independent draws from P(S, X), which may be anything, and the mechanism does not depend on
    them. Then each figure of the result is at or above its true value with probability `confidence`. LDP and lifts are
    maxima over (y, s, s'): where the true maximum is attained is fixed, and the bound is too low only if the one there
    is, so nothing is lost for the number of symbols (intersection-union, Berger 1982); log-lift is the larger of two
    such. Maximal leakage, a sum over y, and mutual information, over y and s, pay for all of their parts.
    Without: the same with probability `confidence` for all figures at once, however the mechanism was chosen.
    A value outside the mechanism's alphabets is a ValueError, and so are the very records of the fit. Where nothing can
    be said a figure is infinite.
    O(|S||X|^2) for mechanisms with many destinations.

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
            raise ValueError("mechanism was made for probabilities, not for counts: certify needs records, s and x")
        return Certifying(mechanism, mechanism.joint.counts).from_fit(confidence, level)
    counts = held_out_counts(mechanism, s, x)
    if _are_of_the_fit(mechanism, counts):
        raise ValueError("s and x are the records that mechanism was fitted on: without them, certify uses its counts")
    return Certifying(mechanism, counts).from_held_out(confidence, level)


def _are_of_the_fit(mechanism, counts):
    """Whether these must be the records of the fit: as many, and so many of each pair at least."""
    fitted, design = mechanism.joint.counts, mechanism.design
    if fitted is None or (fitted.size and not (counts >= fitted).all()):
        return False
    return int(counts.sum()) in (int(fitted.sum()), 0 if design is None else design.n_fitted + design.n_held_out)


def held_out_counts(mechanism, s, x):
    """|S| x |X| counts of records over the mechanism's alphabets."""
    labels = mechanism.joint.s_labels, mechanism.joint.x_labels
    if isinstance(s, Joint):
        if x is not None or s.counts is None:
            raise ValueError("s is a Joint: it must be one of counts, and x None")
        unnamed = tuple(range(s.shape[0])), tuple(range(s.shape[1]))
        if s.shape != mechanism.joint.shape or (s.s_labels, s.x_labels) not in (labels, unnamed):
            raise ValueError("s is a Joint over other alphabets than the mechanism's")
        return s.counts
    if s is None or x is None:
        raise ValueError(f"{'s' if s is None else 'x'} is None: records have both")
    return Joint.from_records(s, x, *labels).counts


def confirmed(mechanism, counts, asked, confidence):
    """The `Certified` of a mechanism that was chosen because a test on records held out confirmed a target.

    Choosing it looked at these records, so nothing beyond the target is certain. What follows from it is: both lifts
    are at most the LDP, which is at most twice the log-lift; maximal leakage is at most max-lift. With lifts within
    e^-l and e^l, l tanh(l / 2) bounds mutual information: a divergence is convex in the ratio of its two distributions,
    whose mean is one, so it is largest where the ratio is always at an end. Ceilings hold anyhow.
    """
    ldp, lift = min(asked.ldp, 2.0 * asked.log_lift), min(asked.log_lift, asked.ldp)
    if mechanism.sampler().certificate().ldp == 0.0 and (mechanism.keep == 0.0).all():
        ldp = lift = 0.0  # Y is drawn whatever s and x are
    implied = Leakage(ldp, lift, lift, lift, lift * math.tanh(lift / 2.0), lift)
    certifying, because = Certifying(mechanism, counts), "the target, confirmed on records held out"
    if certifying.ceiling().ldp <= ldp:
        because = "its ceiling, which needs no data" if ldp else NOTHING
    return certifying.certified(implied, confidence, HELD_OUT, True, because)


class Certifying:
    """One mechanism, and the |S| x |X| counts that its figures are to come from."""

    def __init__(self, mechanism, counts):
        self.mechanism, self.counts, self.joint = mechanism, np.asarray(counts), mechanism.joint
        self.n_s, self.n = self.counts.sum(axis=1), int(self.counts.sum())
        self._channel, self._kept = Realised(mechanism.sampler()), None
        if not mechanism.sees_s:
            self._kept = [self._channel.of(0)] * self.n_s.size
        elif self.counts.size * self.joint.shape[1] <= MOST_KEPT:
            self._kept = list(self.rows)
        self.low, self.high = (np.stack(ends) for ends in zip(*(rows.range() for rows in self.rows), strict=True))

    @property
    def rows(self):
        """`Rows` of every s; made anew each time where all of them would take too much memory."""
        return self._kept or map(self._channel.of, range(self.n_s.size))

    def from_held_out(self, confidence, level):
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
        """Every P(x|s) and every P(s) in a box of its own, all at once; P(y|s) at the ends of what they allow."""
        shared = level / (2.0 * self.counts.size + 2.0 * self.n_s.size)
        limits_x = _limits(self.counts, self.n_s[:, None], shared)
        ends = [_extremes(rows, *limits) for rows, *limits in zip(self.rows, *limits_x, strict=True)]
        low, high = (np.stack(part) for part in zip(*ends, strict=True))
        low, high = np.maximum(low, self.low), np.minimum(high, self.high)
        figures, where = _of_box(low, high, *_limits(self.n_s, self.n, shared), self.mechanism.p_y)
        return self.certified(figures, confidence, FITTED, True, self._because(figures.ldp, where))

    def confirms(self, asked, level):
        """Whether the figures that are asked for, as `from_held_out` finds them, are within a `Target`."""
        hits, ldp, log_lift = Hits(self.rows, self.counts, self.low, self.high), 0.0, 0.0
        if asked.ldp < math.inf:
            ldp = _rounded_up(self._ldp(hits, level)[0])
        if asked.log_lift < math.inf and ldp <= asked.ldp:
            log_lift = _rounded_up(max(self._lifts(hits, level)))
        return ldp <= asked.ldp and log_lift <= asked.log_lift

    def _ldp(self, hits, level):
        """(upper bound, (y, s, s')): the largest of bounds for each pair of groups, which are independent given S."""
        n_steps = int(np.clip(MOST_LIMITS // self.counts.size, FEWEST_STEPS, MOST_STEPS))
        return _largest_ratio(*hits.of_two(level, n_steps))

    def _lifts(self, hits, level):
        """Upper bounds of max-lift and min-lift: P(y|s) from the records of s, P(y) from all of them."""
        over_all = Hits(self.rows, self.counts, self.low.min(axis=0), self.high.max(axis=0), together=True)
        of_one, of_all = OF_ONE * level, OF_ALL * level
        return (
            _log_ratio(hits.highest(of_one), over_all.lowest(of_all)).max(),
            _log_ratio(over_all.highest(of_all), hits.lowest(of_one)).max(),
        )

    def certified(self, figures, confidence, basis, together, because):
        ceiling = self.ceiling()
        plug_in = self.mechanism.sampler().certificate().figures
        least = map(min, map(float, figures), ceiling)
        return Certified(*least, confidence, basis, self.n, together, because, plug_in, ceiling)

    def ceiling(self):
        """Figures that hold for any P(S, X)."""
        if (self.high.max(axis=0) == self.low.min(axis=0)).all():
            return Leakage.all_equal(0.0)
        zero, one = np.zeros(self.n_s.size), np.ones(self.n_s.size)
        return _of_box(self.low, self.high, zero, one, self.mechanism.p_y)[0]

    def _because(self, ldp, where):
        if ldp == 0.0:
            return NOTHING
        y, *both = where
        labels = [f"{self.joint.s_labels[s]!r} ({self.n_s[s]:,} records)" for s in both]
        text = f"y = {self.joint.x_labels[y]!r}, s = {labels[0]} against {labels[1]}"
        return text if math.isfinite(ldp) else f"infinite: {text}, which may never release it"


class Hits:
    """Hits of every (s, y), rounded as in the module's docstring, and the limits of P(y|s) that follow.

    low, high : the range that hits are scaled to, |S| x |X|; or |X|, with `together`, for P(y) from the hits of all s.
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
    """Hits at every y of one s: a sum of binomials, one for each value that P(y|s,.) has; by inversion."""
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
    """(smallest, largest) P(y|s) at every y, for P(x|s) in a box and on the simplex."""
    values = np.vstack([rows.own, rows.others]).T
    low, high = (np.vstack([limits, rows.weights(limits)]).T for limits in (low_x, high_x))
    low, high = np.clip(low - CANCELLED, 0.0, 1.0), np.clip(high + CANCELLED, 0.0, 1.0)
    return (
        np.clip(confidence_limits.smallest_mean(values, low, high), 0.0, None) * (1.0 - confidence_limits.SLACK),
        confidence_limits.largest_mean(values, low, high) * (1.0 + confidence_limits.SLACK),
    )


def _limits(n_hits, n, level):
    return confidence_limits.lowest(n_hits, n, level), confidence_limits.highest(n_hits, n, level)


def _of_box(low, high, w_low, w_high, q):
    """(`Leakage`, where LDP is): upper bounds for every P(y|s) in [low, high] and P(s) in [w_low, w_high].

    q : a distribution of y: I(S;Y) is at most the mean over s of the divergence of P(.|s) from any.
    """
    ldp, where = _largest_ratio(high[..., None], low[..., None])
    max_lift, min_lift = _lifts_of_box(low, high, w_low, w_high)
    information = min(_information(low, high, w_low, w_high, q), math.log(min(low.shape)))
    figures = Leakage.from_lifts(ldp, max_lift, min_lift, information, _leakage(high))
    return figures.changed_by(_rounded_up), where


def _lifts_of_box(low, high, w_low, w_high):
    """P(y|s) / P(y) is largest where P(y|s) is and the others are smallest, and the other way round."""
    max_lift = min_lift = 0.0
    for s in range(len(low)):
        of_least, of_most = low.copy(), high.copy()
        of_least[s], of_most[s] = high[s], low[s]
        max_lift = max(max_lift, _log_ratio(high[s], confidence_limits.smallest_mean(of_least.T, w_low, w_high)).max())
        min_lift = max(min_lift, _log_ratio(confidence_limits.largest_mean(of_most.T, w_low, w_high), low[s]).max())
    return float(max_lift), float(min_lift)


def _log_ratio(numerator, denominator):
    """max(0, log(numerator / denominator)): infinite over 0, and 0 for 0 over 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(numerator) - np.log(denominator)
    return np.where(numerator <= 0.0, 0.0, np.maximum(logs, 0.0))


def _largest_ratio(highs, lows):
    """(max over y, steps and s != s' of log(highs[s, y] / lows[s', y]), its (y, s, s')), each |S| x |X| x steps."""
    if len(highs) == 1:
        return 0.0, (0, 0, 0)
    with np.errstate(divide="ignore"):
        above, below = np.log(highs), -np.log(lows)
    below[np.broadcast_to((highs == 0.0).all(axis=0), below.shape)] = 0.0  # a y that is never released
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
    """Upper bound of maximal leakage, of every P(y|s) up to `high`; it is log min(|S|, |X|) at most anyhow."""
    return min(max(0.0, math.log(math.fsum(np.minimum(high, 1.0).max(axis=0)))), math.log(min(high.shape)))


def _information(low, high, w_low, w_high, q):
    """Upper bound of sum_s P(s) sum_y P(y|s) log(P(y|s) / q(y)), at or above I(S;Y).

    v log(v / q) is convex in v, and so at most its chord over [low, high]: then each row is a `largest_mean`, and so is
    the mean over s.
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

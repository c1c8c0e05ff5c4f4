"""Computes the exact figures of the sampling tables: `sampler.certificate()`.

P(y|s) is computed in whole numbers, from the integers of the tables and from P(x|s), which is a ratio of counts or a
double of the Joint: a whole number over a power of two. The figures are then rounded up.
"""

import dataclasses
import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from linred._common.render import Printed
from linred.privacy.comparisons import Reached, comparisons, reached
from linred.privacy.leakage import Leakage
from linred.sampling.sampled_probabilities import Channel

HALF_ULP = 2.0**-53
SCALE = 1000
"""Probabilities are doubles times 2^SCALE here: one may be 2^-64 times the smallest double and must not become 0."""


@dataclass(frozen=True, repr=False, eq=False)
class Certificate(Printed, Leakage):
    """Exact figures of the sampling tables in nats, rounded up: at least the truth, by at most 1e-14 (1 + truth).

    They are exact for the P(s) and P(x|s) of the Joint. If these were estimated from records, the figures are plug-in
    estimates for the population that the records came from.

    If the mechanism uses S when sampling, pairs (s, x) that the fit never saw are drawn from P_Y, and ldp and
    maximal_leakage hold for any share of such records. Under a `given_x` limit, which such pairs must meet too, they
    are drawn otherwise, and the figures are for the pairs that the fit saw. Lifts are against the P_Y of the fit, and
    mutual_information is under its P(S, X).
    """

    p_y_given_s: np.ndarray  # nearest doubles, a row for each s; as in a Joint, P(y) if P(s) = 0
    p_y: np.ndarray
    reached: tuple[Reached, ...]  # each limit of the mechanism's target beside its figure; empty without a target

    rounding: ClassVar[str] = "up"
    words = "certificate"

    @property
    def met(self) -> bool:
        """Whether no figure is above its limit."""
        return all(one.met for one in self.reached)


def certificate(sampler):
    """Return the `Certificate` of a Sampler in O(|S||X| + nonzeros) operations on long integers; seconds for 10^6."""
    joint, channel = sampler.joint, Channel(sampler)
    occurring = np.flatnonzero(joint.p_s > 0.0).tolist()
    released = [channel.released_given(s) for s in occurring]
    if channel.unseen.any() and sampler.draws_unseen_from_p_y:
        released.append(channel.unseen_row())
    rows = np.array([(row << SCALE) / total for row, total in released], np.float64)
    seen, p_s = rows[: len(occurring)], joint.p_s[occurring] / math.fsum(joint.p_s)
    p_y = np.array([math.fsum(column) for column in (p_s[:, None] * seen).T.tolist()])
    roundings = 1 if joint.counts is not None else 3  # of P(y|s); two of the three are in P(x|s) as doubles
    information = 0.0 if _all_equal(seen, released) else _information_above(seen, p_s, p_y, roundings)
    all_equal = _all_equal(rows, released)
    ldp, max_lift, min_lift, leakage = (0.0,) * 4 if all_equal else _maxima_above(rows, p_y, roundings)
    figures = Leakage.from_lifts(ldp, max_lift, min_lift, information, leakage)
    p_y_given_s = np.tile(p_y, (joint.shape[0], 1))
    p_y_given_s[occurring] = seen
    equal = all(_all_equal(rows[alike], [released[i] for i in alike]) for alike in _alike(seen))
    compared = _Compared(joint.p_s, p_y_given_s, p_y, roundings, all_equal, equal)
    found = () if sampler.target is None else _reached(sampler.target, figures, compared, channel)
    unscaled = (np.ldexp(p, -SCALE) for p in (p_y_given_s, p_y))
    return Certificate(*figures, *unscaled, found)


class _Compared(NamedTuple):
    """P(y|s) and P(y) times 2^SCALE, for the limits that no figure of a `Leakage` answers."""

    p_s: np.ndarray
    p_y_given_s: np.ndarray
    p_y: np.ndarray
    roundings: int
    all_equal: bool  # whether all rows are the same distribution in whole numbers
    equal_doubles_are: bool  # whether any two rows with the same doubles are

    def log_ratios(self, one):
        """Return upper bounds of `Comparison.log_ratios`."""
        roundings, of_rows = 2 * (self.roundings + 2 * (one.n_terms - 1)), one.name in ("dp", "pairs")
        return np.array([0.0 if self._equal(of_rows, *row) else _log_above(*row, roundings) for row in one.rows()])

    def _equal(self, of_rows, numerators, denominators):
        return self.all_equal or (of_rows and self.equal_doubles_are and np.array_equal(numerators, denominators))


def _reached(target, figures, compared, channel):
    """Return what was reached for each limit of a target."""
    found = [Reached(name, None, limit, getattr(figures, name)) for name, limit in target.figures.items()]
    others = dataclasses.replace(target, **dict.fromkeys(target.figures, math.inf))
    found += reached(comparisons(others, *compared[:3]), compared.log_ratios)
    if target.given_x < math.inf:
        found.append(Reached("given_x", None, target.given_x, ldp_given_x_above(channel, everywhere=True)))
    if target.max_changed_by_s < 1.0:
        found.append(Reached("max_changed_by_s", None, target.max_changed_by_s, _most_changed(channel, compared.p_s)))
    return tuple(found)


def _most_changed(channel, p_s):
    """Return the largest share of changed records of an s, rounded up."""
    kept = (channel.kept_given(s) for s in np.flatnonzero(p_s > 0.0).tolist())
    return max(math.nextafter((total - whole) / total, math.inf) if whole < total else 0.0 for whole, total in kept)


def ldp_given_x_above(channel, everywhere=False):
    """Return `linred.ldp_given_x` of a `Channel` in nats, rounded up: at least the truth, by at most 1e-14 (1 + truth).

    The maximum over x, y and all s, s' with P(s,x) > 0 and P(s',x) > 0 of log P(y|s,x)/P(y|s',x), exactly 0 if no row
    depends on s, and infinite where the truth is; `everywhere`, over all s and s'. O(|S||X|^2) operations on long
    integers; ends at the first infinity.
    """
    largest = 0.0
    for x, unseen in enumerate(channel.unseen.T):  # of one row if S is not used when sampling
        released = [channel.given(s, x) for s in np.flatnonzero(everywhere | ~unseen).tolist()]
        rows = np.array([(row << SCALE) / total for row, total in released], np.float64)
        if len(rows) > 1 and not _all_equal(rows, released):
            largest = max(largest, _log_above(rows.max(axis=0), rows.min(axis=0), 2))
        if largest == math.inf:
            break
    return largest


def _all_equal(rows, released):
    """Return whether all rows are the same distribution, in whole numbers; unequal doubles settle it sooner."""
    first, total = released[0]
    pairs = zip(rows, released, strict=False)
    return all((row == rows[0]).all() and (whole * total == first * other).all() for row, (whole, other) in pairs)


def _alike(rows):
    """Return the places of each group of two or more rows with the same doubles."""
    places = {}
    for place, row in enumerate(rows):
        places.setdefault(row.tobytes(), []).append(place)
    return [group for group in places.values() if len(group) > 1]


def _maxima_above(rows, p_y, roundings):
    """Return LDP, max-lift, min-lift and maximal leakage, rounded up; P(y) has at most eight roundings."""
    highest, lowest = rows.max(axis=0), rows.min(axis=0)
    return (
        _log_above(highest, lowest, 2 * roundings),
        _log_above(highest, p_y, roundings + 8),
        _log_above(p_y, lowest, roundings + 8),
        _above(math.log(math.fsum(np.ldexp(highest, -SCALE))), roundings + 2),
    )


def _information_above(seen, p_s, p_y, roundings):
    """Return sum P(s) P(y|s) log(P(y|s) / P(y)), rounded up.

    The error of a logarithm's argument is at most 2 roundings + 16 half-ulps. Each term has an error of at most as many
    half-ulps of its own, for its factors and for NumPy's logarithm, which may be off by a few ulps.
    """
    lift = np.divide(seen, p_y, out=np.ones_like(seen), where=seen > 0.0)
    terms = p_s[:, None] * np.ldexp(seen, -SCALE) * np.log(lift)
    return _above(math.fsum(terms.ravel().tolist()), (2 * roundings + 16) * (1.0 + float(np.abs(terms).sum())))


def _log_above(numerators, denominators, roundings):
    """Return an upper bound of the largest log(numerator / denominator); 0/0 does not count."""
    some = numerators > 0.0
    if (some & (denominators == 0.0)).any():
        return math.inf
    scaled_down = np.ldexp(numerators, -SCALE // 2)  # no ratio may overflow
    largest = int(np.argmax(np.divide(scaled_down, denominators, out=np.zeros_like(numerators), where=some)))
    numerator, scaled = math.frexp(numerators[largest]), math.frexp(denominators[largest])
    scale = (numerator[1] - scaled[1]) * math.log(2.0)  # not 0 only for ratios beyond a factor of two
    return _above(math.log(numerator[0] / scaled[0]) + scale, roundings + 1 + 2.0 * abs(scale))


def _above(figure, roundings):
    """Return the figure plus so many half-ulps of 1, and a few half-ulps of the figure for log, sum and product."""
    return max(0.0, figure) + HALF_ULP * (roundings + 4.0 + 4.0 * abs(figure))

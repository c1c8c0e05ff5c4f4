"""The mechanism that changes the fewest records, or costs the least, for a privacy target: `linred.optimal`.

A linear programme (`formulations`) finds P(y|s), or P(y|x) where s is not seen. Its sums are made exact, and it is
mixed with P_Y if need be, until the integers that are sampled meet the target (`linred.design.calibration`).
"""

import math
import time
import warnings
from contextlib import suppress
from functools import partial

import numpy as np

from linred._common import validation
from linred.design import baselines, calibration, coupling, markov_tables
from linred.design.closed_form import markov, non_markov
from linred.design.selective import reduced, selective
from linred.distribution.linear_reduction import linear_reduction
from linred.errors import CannotMeetError, NotOptimalWarning
from linred.mechanism.mechanism import drawing_from
from linred.privacy.target import takes_target
from linred.solvers import formulations, interior_point, lp, transport
from linred.solvers.exact_sums import with_exact_sums
from linred.solvers.symbol_merging import Merged

VERTEX_CELLS = 1000
"""Up to so many cells (s, x) HiGHS finds a vertex, which moves fewer pairs; beyond it our own method is far faster."""

GOOD, NOTABLE = 1e-9, 1e-6
"""A gap that is no reason to look at another mechanism, and one that is a reason to warn: times what a change costs."""

NOT_EXACT = "the programme was not solved exactly enough for these targets, symbols and costs"

CAP = 1e5
"""Times the cheapest change: what dearer ones cost in a first programme."""


@takes_target
def optimal(
    joint, *, alpha=None, target=None, sees_s=True, distortion=None, keep_marginal=True, prefer=None, time_limit=None
):
    """The mechanism that changes the fewest records, or costs the least, at the same privacy.

    Parameters
    ----------
    alpha : float, optional
        Keep P(y|s) = (1-alpha) P(x|s) + alpha P(x), and so P_Y = P_X, and choose only how to get there. Or:
    ldp, log_lift : float, optional
        Targets in nats, one or both: P(y|s) is free within them (errata 5).
    sees_s : bool
        Whether a draw may depend on s. If not, the mechanism is P(y|x).
    distortion : |X| x |X| matrix, optional
        Nonnegative costs with zero diagonal: E d(X, Y) is made least. Otherwise the share of records changed is.
    keep_marginal : bool
        P_Y = P_X. If False P_Y is free too, and lifts are against P_Y; symbols that X never takes are never published.
    prefer : "information", "sparse" or "smooth", optional
        Which of the couplings that change the fewest records; see `non_markov`.
    time_limit : float, optional
        Seconds for the programme. When they are over, a `NotOptimalWarning` says so, and the best mechanism known that
        meets the target is returned: never worse than `non_markov` and `selective`, or without s than `markov`,
        `baselines.watchdog` and `baselines.pram`. HiGHS may overrun it: it does not look at the clock while it
        goes to a vertex. Sizes, times and bounds are told to the logger "linred" at level INFO.

    Guarantee
    ---------
    The integers that are sampled meet the targets: `mechanism.sampler().certificate()` is at or under them. P_Y is P_X
    to 1e-12; with alpha and without s, P(y|s) is the linear reduction to 1e-9. The cost is above the least possible by
    `mechanism.gap` at most, a bound by duality that holds whatever the solver did: mostly about 1e-12, and a
    `NotOptimalWarning` says where it is above 1e-6 of what a change costs, as it may be for targets below 1e-6, P(x)
    below 1e-6, LDP above 16 or costs that differ by more than 1e10. For a target of 0 y is drawn independently of s
    and x, whatever that costs.

    Cost: with s, a linear programme of |S||X| cells (one cell for symbols in proportion, where every change costs the
    same), by a method of our own where P_Y is kept and every change costs the same. Without s there are |X|^2 entries:
    about a second for a hundred symbols, and as the cube for more; beyond some hundreds give a time_limit.

    >>> from linred import Joint
    >>> joint = Joint.from_conditional([[0.2, 0.1, 0.5, 0.2], [0.5, 0.3, 0.1, 0.1]], [0.3, 0.7])
    >>> [round(optimal(joint, ldp=1.0, sees_s=sees_s).dtv(), 4) for sees_s in (True, False)]
    [0.0632, 0.1136]
    """
    validation.joint(joint)
    sees_s, keep_marginal = validation.flag("sees_s", sees_s), validation.flag("keep_marginal", keep_marginal)
    time_limit = math.inf if time_limit is None else validation.number("time_limit", time_limit, 0.0, math.inf)
    _, distortion = coupling.chosen(joint, prefer, distortion)
    if prefer is not None and not sees_s:
        raise ValueError(f"prefer = {prefer!r} is for mechanisms that see s: this one has no coupling to choose")
    end = time.monotonic() + time_limit
    if target is not None:
        return _Search(joint, target, sees_s, distortion, keep_marginal, prefer, end).best()
    if sees_s:
        return non_markov(joint, alpha, distortion=distortion, prefer=prefer)
    return _markov_of_reduction(joint, validation.alpha(alpha), distortion, end)


class _Costs:
    """A distortion, None for Hamming: what a mechanism costs by it, and how a programme takes it."""

    def __init__(self, distortion):
        self.distortion = distortion
        self.d = None if distortion is None or _is_hamming(distortion) else distortion
        some = np.ones(1) if distortion is None else distortion[distortion > 0.0]
        self.dearest = float(some.max(initial=0.0)) or 1.0
        self.cheapest = float(some.min(initial=self.dearest))

    def caps(self):
        """What a change may cost at most in a programme: ever more. A solver's tolerance is relative to the dearest
        one, and one that stands for "never" would make all others equal."""
        ratio = CAP
        while (cap := ratio * self.cheapest) < self.dearest:
            yield cap
            ratio *= ratio
        yield self.dearest

    def among(self, x, cap):
        """Capped costs between some of the symbols, the dearest being one."""
        return None if self.d is None else np.minimum(self.d[np.ix_(x, x)], cap) / cap

    def of(self, mechanism):
        return mechanism.dtv() if self.distortion is None else mechanism.expected_distortion(self.distortion)

    def hides(self, cap, mechanism):
        """Whether a cap makes a mechanism look cheaper than it is."""
        if cap >= self.dearest:
            return False
        above = mechanism.expected_distortion(np.maximum(self.distortion - cap, 0.0))
        return above > GOOD * self.unit(self.of(mechanism))

    def unit(self, cost):
        """What a gap is compared with: one change, or all that a mechanism changes if that costs more."""
        return max(self.cheapest, cost)

    def noted(self, mechanism, bound):
        """The mechanism, with its distortion and how far it may be above the bound."""
        return mechanism.replace(distortion=self.distortion, gap=max(0.0, self.of(mechanism) - bound))


def _cheapest(costs, attempt, others, asked, optimum_is_wanted=True):
    """The cheapest mechanism that there is, with its gap, and a warning if that is notable.

    attempt : gives (mechanism, lower bound of the cost, whether it was finished) for a cap of the costs, or raises.
    others : gives mechanisms that need no programme, and a lower bound.
    asked : what all of them meet.
    """
    known, bound, trouble = [], 0.0, None
    for cap in costs.caps():
        try:
            mechanism, least, finished = attempt(cap)
        except (lp.NotSolvedError, CannotMeetError) as error:
            trouble = str(error)
            break
        known.append(mechanism)
        bound, trouble = max(bound, least), None if finished else lp.TIME_IS_OVER
        if trouble or not costs.hides(cap, mechanism):
            break
    cost = min(map(costs.of, known), default=math.inf)
    if trouble or cost - bound > GOOD * costs.unit(cost):
        more, least = others()
        known, bound = known + more, max(bound, least)
    if not known:
        raise ValueError(f"{asked} is met by no mechanism in 64-bit tables: {trouble}")
    best = costs.noted(min(known, key=costs.of), bound)
    cost = costs.of(best)
    if best.gap > (GOOD if trouble else NOTABLE) * costs.unit(cost) and (trouble or optimum_is_wanted):
        warnings.warn(
            f"{trouble or NOT_EXACT}: {best.described()} is returned, which meets {asked} and costs {cost:.6g}; "
            f"the least possible may be {best.gap:.2g} less",
            NotOptimalWarning,
            stacklevel=5,
        )
    return best


class _Search:
    """One problem with a target: what is asked, and the ways to an answer."""

    def __init__(self, joint, target, sees_s, distortion, keep_marginal, prefer, end):
        self.joint, self.target, self.sees_s, self.keep_marginal = joint, target, sees_s, keep_marginal
        self.costs, self.prefer, self.end = _Costs(distortion), prefer, end
        self.moves = {"distortion": distortion, "prefer": prefer}
        self.merged = Merged(joint, symbols=self.costs.d is None)

    def best(self):
        """The mechanism, with its gap."""
        optimum_is_wanted = min(self.target) > 0.0  # and where it is not, y is to be independent of x too
        if optimum_is_wanted and calibration.alpha_for(self.joint, target=self.target) == 0.0:
            make = partial(non_markov, **self.moves) if self.sees_s else markov
            return self.costs.noted(make(self.joint, target=self.target), math.inf)
        return _cheapest(self.costs, self.attempt, self.without_programme, str(self.target), optimum_is_wanted)

    def attempt(self, cap):
        """As `_cheapest` asks for it: the mechanism that a programme finds, with costs in units of the cap."""
        merged = self.merged
        limits = formulations.Limits(merged.p_s, merged.p_x, *self.target, self.keep_marginal)
        d = self.costs.among(merged.x, cap)
        if self.sees_s:
            answer = self.solve_seeing_s(limits, d)
            released = merged.released(self.with_exact_sums(answer.matrix, merged.p_s))
            how = coupling.PREFERENCES.get(self.prefer, "northwest")
            about = {"name": "optimal", "coupling": how, "distortion": self.costs.d}
            mechanism = coupling.meeting(self.joint, self.target, released, **about)
        else:
            answer = _solve_channel(limits, formulations.symbols_as_sources(merged.p), d, self.end)
            w = self.with_exact_sums(_without_dust(answer.matrix, merged.p_x), merged.p_x)
            mechanism = self.meeting(merged.released(merged.p @ w), w)
        return mechanism, answer.bound * cap, answer.finished

    def without_programme(self):
        """(mechanisms for the target that are there at once, what any mechanism must cost)."""
        makers = [markov, baselines.watchdog]
        makers += [partial(make, **self.moves) for make in (non_markov, selective)] if self.sees_s else [baselines.pram]
        known, bound = [], 0.0
        for make in makers:
            with suppress(CannotMeetError):
                known.append(make(self.joint, target=self.target))
        if self.costs.d is None and self.keep_marginal:  # selective reduction knows one
            bound = reduced(self.joint, self.target)[1] * self.costs.dearest
        return known, bound

    def with_exact_sums(self, rows, weights):
        """As `exact_sums` does it; if the marginal is free, for the one that is there, without what is rounding."""
        if self.keep_marginal:
            return with_exact_sums(rows, weights, self.merged.p_x)
        rows = np.where(weights @ rows > coupling.SNAP * self.merged.p_x, rows, 0.0)
        return rows / rows.sum(axis=1, keepdims=True)

    def solve_seeing_s(self, limits, d):
        """The `Answer` of a programme, in Q(y|s)."""
        p = self.merged.p
        if d is not None and not transport.holds_triangle_inequality(d):
            sources = formulations.pairs_as_sources(p)
            answer = _solve_channel(limits, sources, d, self.end)
            return answer._replace(matrix=sources.share @ answer.matrix)
        answer = None
        if d is None and self.keep_marginal and p.size > VERTEX_CELLS and min(self.target) > 0.0:
            answer = interior_point.fewest_changes(limits, p, self.end)
            if not answer.finished or answer.cost - answer.bound <= GOOD:
                return answer
        try:
            return formulations.network(limits, p, d, self.end - time.monotonic())
        except lp.NotSolvedError:
            if answer is None:
                raise  # and if not: ours got stuck somewhere, which is better than nothing, and its bound says so
            return answer

    def meeting(self, found, w):
        """As `coupling.meeting`, where s is not seen: from the P(y|x) over classes of symbols."""

        def build(beta):
            mixed = (1.0 - beta) * w + beta * self.merged.of_classes(found.p_x)
            return markov_tables.by_class(self.merged, linear_reduction(found, beta), mixed, name="optimal")

        independent = partial(drawing_from, self.joint, found.p_x, "optimal")
        return calibration.meeting_by_alpha(found, self.target, build, independent)


def _markov_of_reduction(joint, alpha, distortion, end):
    """The best P(y|x) with the P(y|s) of the linear reduction; Lemma 1 where there is no other (errata 4)."""
    costs, lemma_1 = _Costs(distortion), markov(joint, alpha)
    if alpha == 0.0 or np.linalg.matrix_rank(joint.p_x_given_s) == np.count_nonzero(joint.p_x):
        return costs.noted(lemma_1, math.inf)
    merged = Merged(joint, symbols=costs.d is None)
    limits = formulations.Limits(merged.p_s, merged.p_x, math.inf, math.inf, True)
    fixed = (1.0 - alpha) * merged.p + alpha * merged.p_x

    def attempt(cap):
        sources = formulations.symbols_as_sources(merged.p)
        answer = _solve_channel(limits, sources, costs.among(merged.x, cap), end, fixed)
        w = with_exact_sums(_without_dust(answer.matrix, merged.p_x), merged.p_x, merged.p_x)
        best = markov_tables.by_class(merged, merged.released(merged.p @ w), w, name="optimal", alpha=alpha)
        return min(best, lemma_1, key=costs.of), answer.bound * cap, answer.finished

    return _cheapest(costs, attempt, lambda: ([lemma_1], 0.0), f"P(y|s) for alpha = {alpha!r}")


def _solve_channel(limits, sources, d, end, fixed=None):
    """The `Answer` of a channel programme."""
    changes = np.arange(limits.p_x.size) != sources.x[:, None] if d is None else d[sources.x]
    cost = (limits.p_s @ sources.share)[:, None] * changes
    return formulations.channel(limits, sources, cost, fixed=fixed, time_limit=end - time.monotonic())


def _is_hamming(d):
    """Whether every change costs the same."""
    others = d[~np.eye(len(d), dtype=bool)]
    return bool(others.size and others[0] > 0.0 and (others == others[0]).all())


def _without_dust(w, p_y):
    """Entries that are a solver's rounding are none."""
    return np.where(w > coupling.SNAP * p_y, w, 0.0)

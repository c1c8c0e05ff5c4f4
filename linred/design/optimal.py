"""`linred.optimal`: the mechanism with the fewest changed records, or the least cost, for a privacy target.

A linear programme (`formulations`) finds P(y|s), or P(y|x) for a mechanism that does not use S. The sums of the
solution are made exact, and it is mixed with P_Y until the sampled integers meet the target
(`linred.design.calibration`).
"""

import math
import time
import warnings
from contextlib import suppress
from functools import partial

import numpy as np

from linred._common import validation
from linred._common.types import Matrix, Prefer
from linred.design import baselines, calibration, coupling, markov_tables
from linred.design.closed_form import markov, non_markov
from linred.design.selective import reduced, selective
from linred.distribution.joint import Joint
from linred.distribution.linear_reduction import linear_reduction
from linred.errors import CannotMeetError, NotOptimalWarning
from linred.mechanism.mechanism import Mechanism, drawing_from
from linred.privacy.target import Target, takes_target
from linred.solvers import formulations, interior_point, lp, transport
from linred.solvers.exact_sums import with_exact_sums
from linred.solvers.symbol_merging import Merged

VERTEX_CELLS = 1000
"""Up to this many cells (s, x) HiGHS solves the linear programme: it returns a vertex, which moves fewer pairs. Beyond,
the interior-point method is far faster."""

GOOD, NOTABLE = 1e-9, 1e-6
"""Gaps relative to the cost of a change: up to GOOD no other mechanism is tried, above NOTABLE a warning is issued."""

NOT_EXACT = "the linear programme was not solved accurately enough for these targets, symbols and costs"

CAP = 1e5
"""Ratio to the cheapest change at which the first linear programme caps all costs."""


@takes_target
def optimal(
    joint: Joint,
    *,
    alpha: float | None = None,
    target: Target | None = None,
    sees_s: bool = True,
    distortion: Matrix | None = None,
    keep_marginal: bool = True,
    prefer: Prefer | None = None,
    time_limit: float | None = None,
) -> Mechanism:
    """Return the mechanism that changes the fewest records, or has the least cost, for a target or an alpha.

    Parameters
    ----------
    joint : Joint
        P(S, X).
    alpha : float, optional
        Fixes P(y|s) = (1-alpha) P(x|s) + alpha P(x), hence P_Y = P_X; only the transport plans from P(x|s) to P(y|s)
        (P(y|x), if sees_s is False) are optimised. Give alpha or a target, not both.
    ldp, log_lift : float, optional
        Target: upper limits in nats, one or both. P(y|s) is chosen freely among those that meet it (errata 5).
    sees_s : bool, default True
        Whether the mechanism uses S when sampling. If False, it is a matrix P(y|x).
    distortion : array_like of shape (|X|, |X|), optional
        Nonnegative costs with a zero diagonal. The mechanism minimises E d(X, Y); without a distortion, the share of
        changed records.
    keep_marginal : bool, default True
        Whether P_Y = P_X is required. If False, P_Y is free, lifts are relative to P_Y, and a symbol with P(x) = 0 is
        never published.
    prefer : {"information", "sparse", "smooth"}, optional
        Which of the couplings that change the fewest records to return; see `non_markov`.
    time_limit : float, optional
        Seconds for the linear programme. When it is reached, a `NotOptimalWarning` is issued and the best known
        mechanism for the target is returned. That is never worse than `non_markov` and `selective` or, if sees_s is
        False, than `markov`, `baselines.watchdog` and `baselines.pram`. HiGHS may exceed the limit, because it does
        not check the clock while it moves to a vertex. The logger "linred" gets sizes, times and bounds at level INFO.

    Guarantee
    ---------
    The sampled integers meet the target: the figures of `mechanism.sampler().certificate()` do not exceed it. P_Y
    equals P_X to 1e-12; with alpha and sees_s=False, P(y|s) equals the linear reduction to 1e-9. The cost exceeds the
    optimum by at most `mechanism.gap`, a dual bound that holds whatever the solver did. The gap is mostly about 1e-12;
    a `NotOptimalWarning` is issued if it exceeds 1e-6 of the cost of a change, which can happen for targets below
    1e-6, P(x) below 1e-6, LDP above 16 or costs that differ by a factor above 1e10.

    The optimum is taken over mechanisms with the same alpha or target and the same `sees_s` and `keep_marginal`. With
    keep_marginal=True, no mechanism *with P_Y = P_X* changes fewer records (up to the gap); keep_marginal=False can
    change fewer: .762 % of the records in place of .836 % for UCI Adult (marital status, occupation) at ldp=1.

    For a target of 0, y is drawn from P_Y, independently of s and x. This changes far more records than a small
    positive target does: 90.3 % at ldp=0 and 13.4 % at ldp=1e-12 for the same data.

    Cost: if sees_s is True, a linear programme of |S||X| cells; where every change costs the same, symbols with
    proportional columns share one cell, and with P_Y = P_X an interior-point method solves it. If sees_s is False, the
    programme has |X|^2 entries: about a second for a hundred symbols, growing with the cube. Set `time_limit` for more
    than a few hundred symbols.

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
        raise ValueError(f"prefer = {prefer!r} needs sees_s=True: a mechanism that does not use S has no coupling")
    end = time.monotonic() + time_limit
    if target is not None:
        return _Search(joint, target, sees_s, distortion, keep_marginal, prefer, end).best()
    if sees_s:
        return non_markov(joint, alpha, distortion=distortion, prefer=prefer)
    return _markov_of_reduction(joint, validation.alpha(alpha), distortion, end)


class _Costs:
    """A distortion (None for Hamming): the cost of a mechanism, and the cost matrix of a linear programme."""

    def __init__(self, distortion):
        self.distortion = distortion
        self.d = None if distortion is None or _is_hamming(distortion) else distortion
        some = np.ones(1) if distortion is None else distortion[distortion > 0.0]
        self.costliest = float(some.max(initial=0.0)) or 1.0
        self.cheapest = float(some.min(initial=self.costliest))

    def caps(self):
        """Yield increasing caps on the costs in a linear programme.

        A solver's tolerance is relative to the largest cost, so a prohibitive cost would make all others look equal.
        """
        ratio = CAP
        while (cap := ratio * self.cheapest) < self.costliest:
            yield cap
            ratio *= ratio
        yield self.costliest

    def among(self, x, cap):
        """Return the capped costs between the symbols `x`, scaled so that the cap is one."""
        return None if self.d is None else np.minimum(self.d[np.ix_(x, x)], cap) / cap

    def of(self, mechanism):
        return mechanism.dtv() if self.distortion is None else mechanism.expected_distortion(self.distortion)

    def hides(self, cap, mechanism):
        """Return whether the cap makes the mechanism look cheaper than it is."""
        if cap >= self.costliest:
            return False
        above = mechanism.expected_distortion(np.maximum(self.distortion - cap, 0.0))
        return above > GOOD * self.unit(self.of(mechanism))

    def unit(self, cost):
        """Return the unit of gaps: the cost of the cheapest change, or of the whole mechanism if that is larger."""
        return max(self.cheapest, cost)

    def noted(self, mechanism, bound):
        """Return the mechanism with its distortion and its gap to the lower bound."""
        return mechanism.replace(distortion=self.distortion, gap=max(0.0, self.of(mechanism) - bound))


def _cheapest(costs, attempt, others, requirement, optimum_is_wanted=True):
    """Return the cheapest known mechanism with its gap; warn if the gap is notable.

    attempt : function of a cap on the costs: (mechanism, lower bound of the cost, whether the solver finished); may
        raise.
    others : function that returns (mechanisms that need no linear programme, lower bound of the cost).
    requirement : text for the warning: the target or alpha of all these mechanisms.
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
        raise CannotMeetError(f"no mechanism in 64-bit tables was found that meets {requirement}: {trouble}")
    best = costs.noted(min(known, key=costs.of), bound)
    cost = costs.of(best)
    if best.gap > (GOOD if trouble else NOTABLE) * costs.unit(cost) and (trouble or optimum_is_wanted):
        warnings.warn(
            f"{trouble or NOT_EXACT}: the mechanism returned ({best.described()}) meets {requirement} at a cost of "
            f"{cost:.6g}, at most {best.gap:.2g} above the optimum",
            NotOptimalWarning,
            stacklevel=5,
        )
    return best


class _Search:
    """One problem with a target, and the methods that solve it."""

    def __init__(self, joint, target, sees_s, distortion, keep_marginal, prefer, end):
        self.joint, self.target, self.sees_s, self.keep_marginal = joint, target, sees_s, keep_marginal
        self.costs, self.prefer, self.end = _Costs(distortion), prefer, end
        self.moves = {"distortion": distortion, "prefer": prefer}
        self.merged = Merged(joint, symbols=self.costs.d is None)

    def best(self):
        """Return the best mechanism found, with its gap."""
        optimum_is_wanted = min(self.target) > 0.0  # a target of 0 draws y independently of x too: no warning for that
        if optimum_is_wanted and calibration.alpha_for(self.joint, target=self.target) == 0.0:
            make = partial(non_markov, **self.moves) if self.sees_s else markov
            return self.costs.noted(make(self.joint, target=self.target), math.inf)
        return _cheapest(self.costs, self.attempt, self.without_programme, str(self.target), optimum_is_wanted)

    def attempt(self, cap):
        """Solve a linear programme with capped costs; the `attempt` of `_cheapest`."""
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
        """Return (mechanisms for the target that need no linear programme, a lower bound of any mechanism's cost)."""
        makers = [markov, baselines.watchdog]
        makers += [partial(make, **self.moves) for make in (non_markov, selective)] if self.sees_s else [baselines.pram]
        known, bound = [], 0.0
        for make in makers:
            with suppress(CannotMeetError):
                known.append(make(self.joint, target=self.target))
        if self.costs.d is None and self.keep_marginal:  # the bound of selective reduction needs both
            bound = reduced(self.joint, self.target)[1] * self.costs.costliest
        return known, bound

    def with_exact_sums(self, rows, weights):
        """Make row sums exact, and the marginal too if it is kept; otherwise drop entries that are rounding noise."""
        if self.keep_marginal:
            return with_exact_sums(rows, weights, self.merged.p_x)
        rows = np.where(weights @ rows > coupling.SNAP * self.merged.p_x, rows, 0.0)
        return rows / rows.sum(axis=1, keepdims=True)

    def solve_seeing_s(self, limits, d):
        """Return the `Answer` of a linear programme in Q(y|s)."""
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
                raise
            return answer  # the interior-point method stopped early; its dual bound is valid all the same

    def meeting(self, found, w):
        """Do as `coupling.meeting` for a mechanism that does not use S: w is P(y|x) over classes of symbols."""

        def build(beta):
            mixed = (1.0 - beta) * w + beta * self.merged.of_classes(found.p_x)
            return markov_tables.by_class(self.merged, linear_reduction(found, beta), mixed, name="optimal")

        independent = partial(drawing_from, self.joint, found.p_x, "optimal")
        return calibration.meeting_by_alpha(found, self.target, build, independent)


def _markov_of_reduction(joint, alpha, distortion, end):
    """Return the cheapest P(y|x) whose P(y|s) is the linear reduction; Lemma 1 where it is the only one (errata 4)."""
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
    """Return the `Answer` of `formulations.channel`."""
    changes = np.arange(limits.p_x.size) != sources.x[:, None] if d is None else d[sources.x]
    cost = (limits.p_s @ sources.share)[:, None] * changes
    return formulations.channel(limits, sources, cost, fixed=fixed, time_limit=end - time.monotonic())


def _is_hamming(d):
    """Return whether every change costs the same."""
    others = d[~np.eye(len(d), dtype=bool)]
    return bool(others.size and others[0] > 0.0 and (others == others[0]).all())


def _without_dust(w, p_y):
    """Set entries to zero that are rounding noise of the solver."""
    return np.where(w > coupling.SNAP * p_y, w, 0.0)

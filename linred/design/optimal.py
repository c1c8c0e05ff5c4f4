"""`linred.optimal`: the mechanism with the fewest changed records, or the least cost, for a privacy target.

A linear programme (`formulations`) finds P(y|s), or P(y|x) for a mechanism that does not use S. The sums of the
solution are made exact, and it is mixed with P_Y until the sampled integers meet the target
(`linred.design.calibration`).
"""

import dataclasses
import math
import time
import warnings
from contextlib import suppress
from functools import partial

import numpy as np

from linred._common import validation
from linred._common.types import LabelMatrix, Least, Prefer
from linred.design import baselines, calibration, coupling, markov_tables
from linred.design.closed_form import markov, non_markov
from linred.design.costs import GOOD, NOT_EXACT, Costs, cheapest
from linred.design.equal_rows import exactly_coupled
from linred.design.least_leakage import Share, least_leakage
from linred.design.price_of_confidence import design_of
from linred.design.robust_optimum import check_robust, robust_optimum
from linred.design.selective import reduced, selective
from linred.distribution.joint import Joint
from linred.distribution.linear_reduction import linear_reduction
from linred.errors import CannotMeetError, NotOptimalWarning
from linred.mechanism.mechanism import Mechanism, drawing_from
from linred.privacy.takes_target import refuse_given_x, takes_target
from linred.privacy.target import Target
from linred.solvers import constraints, formulations, interior_point, lp, transport
from linred.solvers.exact_sums import with_exact_sums
from linred.solvers.symbol_merging import Merged

VERTEX_CELLS = 1000
"""Up to this many cells (s, x) HiGHS solves the linear programme: it returns a vertex, which moves fewer pairs. Beyond,
the interior-point method is far faster."""

ZERO_FOR_SOME = "limits of 0 for some symbols are met by one P(y|s) for all symbols; small positive limits cost less"


@takes_target()
def optimal(
    joint: Joint,
    *,
    alpha: float | None = None,
    target: Target | None = None,
    max_changed: float | None = None,
    max_distortion: float | None = None,
    least: Least | None = None,
    sees_s: bool = True,
    distortion: LabelMatrix | None = None,
    keep_marginal: bool = True,
    prefer: Prefer | None = None,
    confidence: float | None = None,
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
    ldp, log_lift, max_lift, min_lift, dp, neighbors, pairs, secrets, given_x, max_changed_by_s
        The limits of a `linred.Target`, one or several. P(y|s) is chosen freely among those that meet them (errata 5).
    max_changed : float in [0, 1], optional
        The share of records that may change. The mechanism is then the one with the least leakage among those that
        change no more and meet the target, if there is one.
    max_distortion : float, optional
        The same for the expected distortion; needs a distortion.
    least : {"ldp", "log_lift", "max_lift"}, optional
        The figure that max_changed or max_distortion makes as small as possible, to 1e-6 nats; by default "ldp".
    sees_s : bool, default True
        Whether the mechanism uses S when sampling. If False, it is a matrix P(y|x).
    distortion : |X| x |X| matrix, mapping {(x, y): cost}, function of two labels, "absolute" or "squared", optional
        Nonnegative costs, 0 for keeping a symbol. The names stand for |x - y| and (x - y)^2 of labels that are numbers.
        The mechanism minimises E d(X, Y); without a distortion, the share of changed records.
    keep_marginal : bool, default True
        Whether P_Y = P_X is required. If False, P_Y is free, lifts are relative to P_Y, and a symbol with P(x) = 0 is
        never published.
    prefer : {"information", "sparse", "smooth"}, optional
        Which of the couplings that change the fewest records to return; see `non_markov`.
    confidence : float in (0, 1), optional
        Meet the target for all P(S, X) in a confidence set of this level, from all records of a Joint with counts, in
        place of the fitted P(S, X) alone. Only limits of LDP and of lifts can be certified; P_Y = P_X is kept. See
        `linred.design.robust_optimum`.
    time_limit : float, optional
        Seconds for the linear programme. When it is reached, a `NotOptimalWarning` is issued and the best known
        mechanism for the target is returned. That is never worse than `non_markov` and `selective` or, if sees_s is
        False, than `markov`, `baselines.watchdog` and `baselines.pram`, as far as these meet the target. HiGHS may
        exceed the limit, because it does not check the clock while it moves to a vertex. The logger "linred" gets
        sizes, times and bounds at level INFO.

    Guarantee
    ---------
    The sampled integers meet the target: the figures of `mechanism.sampler().certificate()` do not exceed it. P_Y
    equals P_X to 1e-12; with alpha and sees_s=False, P(y|s) equals the linear reduction to 1e-9. The cost exceeds the
    optimum by at most `mechanism.gap`, a dual bound that holds whatever the solver did. The gap is mostly about 1e-12;
    a `NotOptimalWarning` is issued if it exceeds 1e-6 of the cost of a change, which can happen for targets below
    1e-6, P(x) below 1e-6, LDP above 16 or costs that differ by a factor above 1e10.

    With a confidence: if the records are independent draws from P(S, X), then with probability at least `confidence`
    the figures of `mechanism.certified` are at or above their true values, all at once, and they meet the target.

    The optimum is taken over mechanisms with the same alpha or target and the same `sees_s` and `keep_marginal`. With
    keep_marginal=True, no mechanism *with P_Y = P_X* changes fewer records (up to the gap); keep_marginal=False can
    change fewer: .762 % of the records in place of .836 % for UCI Adult (marital status, occupation) at ldp=1.

    A limit of 0 on LDP or a lift is met exactly, at the price of Proposition 1 (13.4 % of the records for the same
    data), if sees_s is True, given_x has no limit and the products of counts stay below 2^63. So are limits of 0
    between some s (pairs, neighbors); see `linred.design.equal_rows`. A limit of 0 on a secret is met by one P(y|s) for
    all s, with a `NotOptimalWarning`. Otherwise, as for most P(S, X) given as doubles, y is drawn from P_Y
    independently of s and x, which changes far more records (90.3 %).

    Cost: if sees_s is True, a linear programme of |S||X| cells; where every change costs the same, symbols with
    proportional columns share one cell, and with P_Y = P_X an interior-point method solves it. If sees_s is False, the
    programme has |X|^2 entries: about a second for a hundred symbols, growing with the cube. Set `time_limit` for more
    than a few hundred symbols. With a confidence, half a second for UCI Adult; if |S||X|^2 is above 25,000, a search
    that is not exact finds the mechanism, in a quarter of a minute for 16 x 105 symbols.

    >>> from linred import Joint
    >>> joint = Joint.from_conditional([[0.2, 0.1, 0.5, 0.2], [0.5, 0.3, 0.1, 0.1]], [0.3, 0.7])
    >>> [round(optimal(joint, ldp=1.0, sees_s=sees_s).dtv(), 4) for sees_s in (True, False)]
    [0.0632, 0.1136]
    """
    validation.joint(joint)
    sees_s, keep_marginal = validation.flag("sees_s", sees_s), validation.flag("keep_marginal", keep_marginal)
    time_limit = math.inf if time_limit is None else validation.number("time_limit", time_limit, 0.0, math.inf)
    _, distortion = coupling.chosen(joint, prefer, distortion)
    refuse_given_x(target, sees_s)
    if prefer is not None and not sees_s:
        raise ValueError(f"prefer = {prefer!r} needs sees_s=True: a mechanism that does not use S has no coupling")
    share = Share.of(max_changed, max_distortion, distortion, least, alpha)
    if confidence is not None:
        given = {"alpha": alpha, "max_changed": max_changed, "max_distortion": max_distortion, "prefer": prefer}
        check_robust(target, confidence, **given, keep_marginal=None if keep_marginal else False)
    end = time.monotonic() + time_limit
    if target is not None:
        best = partial(best_mechanism, joint, sees_s, distortion, keep_marginal, prefer, end)
        if confidence is not None:
            how = {"sees_s": sees_s, "distortion": distortion, "time_limit": end - time.monotonic()}
            certified = robust_optimum(joint, target, confidence, **how)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", NotOptimalWarning)  # of the plug-in optimum, which is not returned
                plug_in = best(target)
            return certified.replace(design=design_of(certified, target, plug_in))
        return best(target) if share is None else least_leakage(least or "ldp", target, share, best)
    if sees_s:
        return non_markov(joint, alpha, distortion=distortion, prefer=prefer)
    return _markov_of_reduction(joint, validation.alpha(alpha), distortion, end)


def best_mechanism(joint, sees_s, distortion, keep_marginal, prefer, end, target):
    """Return the mechanism with the least cost for a settled target; the arguments are those of `optimal`, checked.

    end : time by `time.monotonic` at which linear programmes must end.
    """
    if target.given_x == 0.0:  # S adds nothing: P(y|s,x) is the same for all s
        without = dataclasses.replace(target, given_x=math.inf)
        return _Search(joint, without, False, distortion, keep_marginal, None, end).best().replace(target=target)
    return _Search(joint, target, sees_s, distortion, keep_marginal, prefer, end).best()


class _Search:
    """One problem with a target, and the methods that solve it."""

    def __init__(self, joint, target, sees_s, distortion, keep_marginal, prefer, end):
        self.joint, self.target, self.sees_s, self.keep_marginal = joint, target, sees_s, keep_marginal
        self.costs, self.end = Costs(distortion), end
        self.moves = {"distortion": distortion, "prefer": prefer}
        how = coupling.PREFERENCES.get(prefer, "northwest")
        self.about = {"name": "optimal", "coupling": how, "distortion": self.costs.d}
        treats_all_s_alike = all(part is None for part in (target.neighbors, target.pairs, target.secrets))
        self.merged = Merged(joint, symbols=self.costs.d is None, rows=treats_all_s_alike)
        self.limits = constraints.Limits.of(target, self.merged, keep_marginal)
        self.is_zero = calibration.smallest(target, joint.p_s) == 0.0

    def best(self):
        """Return the best mechanism found, with its gap."""
        with suppress(CannotMeetError):
            if calibration.meets(self.joint, self.target):
                make = partial(non_markov, **self.moves) if self.sees_s else markov
                build = lambda alpha: make(self.joint, alpha)  # noqa: E731
                found = calibration.meeting_by_alpha(self.joint, self.target, build, self.not_by_alpha)
                return self.costs.noted(found, math.inf)
        if self.leaves_only_the_marginal and (exact := self.exactly_independent()) is not None:
            return exact
        inexact = ZERO_FOR_SOME if self.is_zero else NOT_EXACT
        if self.leaves_only_the_marginal:
            inexact = None  # where whole numbers are too large, y is drawn independently of x too, as documented
        return cheapest(self.costs, self.attempt, self.without_programme, str(self.target), inexact)

    def not_by_alpha(self):
        """Raise a CannotMeetError: there are cheaper mechanisms than the reduction with alpha = 1."""
        raise CannotMeetError(f"{self.target} cannot be met by a small alpha")

    @property
    def leaves_only_the_marginal(self):
        """Whether the target forces P(y|s) = P(y) for all s."""
        return any(getattr(self.target, name) == 0.0 for name in ("ldp", "log_lift", "max_lift", "min_lift"))

    def exactly_independent(self):
        """Return the optimum for P(y|s) = P_X in whole numbers; None for other problems, or if they are too large."""
        on_ratios = self.target.given_x == math.inf and self.target.max_changed_by_s == 1.0
        if not (on_ratios and self.sees_s and self.keep_marginal):
            return None
        exact = exactly_coupled(self.joint, self.joint.p_x, self.joint.p_x, target=self.target, **self.about)
        return None if exact is None else exact.replace(distortion=self.costs.distortion)

    def attempt(self, cap):
        """Solve a linear programme with capped costs; the `attempt` of `cheapest`."""
        merged, limits = self.merged, self.limits
        d = self.costs.among(merged.x, cap)
        if not self.sees_s:
            answer = _solve_channel(limits, formulations.symbols_as_sources(merged.p), d, self.end)
            mechanism = self.meeting(answer.matrix, merged.p_x)
        elif limits.given_x < math.inf or (limits.changed < 1.0 and d is not None):
            sources = formulations.pairs_as_sources(merged.p)
            answer = _solve_channel(limits, sources, d, self.end)
            mechanism = self.meeting(answer.matrix, merged.p_s @ sources.share)
        else:
            answer = self.solve_seeing_s(limits, d)
            released = merged.released(self.with_exact_sums(answer.matrix, merged.p_s))
            mechanism = coupling.meeting(self.joint, self.target, released, **self.about)
        return mechanism, answer.bound * cap, answer.finished

    def without_programme(self):
        """Return (mechanisms for the target that need no linear programme, a lower bound of any mechanism's cost)."""
        makers = [markov, baselines.watchdog]
        makers += [partial(make, **self.moves) for make in (non_markov, selective)] if self.sees_s else [baselines.pram]
        known, bound = [], 0.0
        on_ratios = dataclasses.replace(self.target, given_x=math.inf, max_changed_by_s=1.0)
        for make in makers:
            with suppress(CannotMeetError, ValueError):  # of a maker that cannot meet such limits
                mechanism = make(self.joint, target=on_ratios).replace(target=self.target)
                known += [mechanism] * mechanism.sampler().certificate().met
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
        is_large = p.size > VERTEX_CELLS and limits.are_intervals
        if d is None and self.keep_marginal and is_large and not self.is_zero:
            answer = interior_point.fewest_changes(limits, p, self.end)
            if not answer.finished or answer.cost - answer.bound <= GOOD:
                return answer
        try:
            return formulations.network(limits, p, d, self.end - time.monotonic())
        except lp.NotSolvedError:
            if answer is None:
                raise
            return answer  # the interior-point method stopped early; its dual bound is valid all the same

    def meeting(self, w, weights):
        """Do as `coupling.meeting` for a mechanism that is stated as a matrix: w is P(y|x), or P(y|s,x) for all pairs.

        weights : P(x) or P(s,x) of the rows of w, over classes.
        """
        merged = self.merged
        s, x = np.nonzero(merged.p) if self.sees_s else (0, np.arange(merged.p_x.size))
        w = self.with_exact_sums(_without_dust(w, x, merged.p_x), weights)
        rows = np.zeros((merged.p_s.size if self.sees_s else 1, merged.p_x.size, merged.p_x.size))
        rows[s, x] = w
        found = merged.released(np.matmul(merged.p[:, None, :], rows)[:, 0])

        def build(limits):
            beta = calibration.share_for(found, found.p_x, limits)
            if self.sees_s:
                beta = max(beta, _share_for_rows(rows, merged.p > 0.0, merged.of_classes(found.p_x), limits.given_x))
            mixed = (1.0 - beta) * rows + beta * merged.of_classes(found.p_x)
            released = linear_reduction(found, beta)
            if self.sees_s:
                return markov_tables.by_pair(merged, released, mixed, name="optimal")
            return markov_tables.by_class(merged, released, mixed[0], name="optimal")

        independent = partial(drawing_from, self.joint, found.p_x, "optimal")
        return calibration.meeting(found, self.target, build, independent)


def _share_for_rows(rows, occurs, toward, limit):
    """Return the share of `toward` that brings P(y|s,x) of the s that occur with an x within a limit of one another."""
    highest = np.where(occurs[:, :, None], rows, 0.0).max(axis=0)
    lowest = np.where(occurs[:, :, None], rows, np.inf).min(axis=0)
    return calibration.share_for_ratio(highest, lowest, toward, limit)


def _without_dust(w, x, p_y):
    """Set entries to zero that are rounding noise in all rows of an x; a limit on the ratio of these rows stays met."""
    largest = np.zeros((p_y.size, p_y.size))
    np.maximum.at(largest, x, w)
    return np.where(largest[x] > coupling.SNAP * p_y, w, 0.0)


def _markov_of_reduction(joint, alpha, distortion, end):
    """Return the cheapest P(y|x) whose P(y|s) is the linear reduction; Lemma 1 where it is the only one (errata 4)."""
    costs, lemma_1 = Costs(distortion), markov(joint, alpha)
    if alpha == 0.0 or np.linalg.matrix_rank(joint.p_x_given_s) == np.count_nonzero(joint.p_x):
        return costs.noted(lemma_1, math.inf)
    merged = Merged(joint, symbols=costs.d is None)
    limits = constraints.Limits(merged.p_s, merged.p_x, True)
    fixed = (1.0 - alpha) * merged.p + alpha * merged.p_x

    def attempt(cap):
        sources = formulations.symbols_as_sources(merged.p)
        answer = _solve_channel(limits, sources, costs.among(merged.x, cap), end, fixed)
        w = with_exact_sums(_without_dust(answer.matrix, sources.x, merged.p_x), merged.p_x, merged.p_x)
        best = markov_tables.by_class(merged, merged.released(merged.p @ w), w, name="optimal", alpha=alpha)
        return min(best, lemma_1, key=costs.of), answer.bound * cap, answer.finished

    return cheapest(costs, attempt, lambda: ([lemma_1], 0.0), f"P(y|s) for alpha = {alpha!r}")


def _solve_channel(limits, sources, d, end, fixed=None):
    """Return the `Answer` of `formulations.channel`."""
    changes = np.arange(limits.p_x.size) != sources.x[:, None] if d is None else d[sources.x]
    cost = (limits.p_s @ sources.share)[:, None] * changes
    return formulations.channel(limits, sources, cost, fixed=fixed, time_limit=end - time.monotonic())

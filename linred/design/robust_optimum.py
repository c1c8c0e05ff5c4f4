"""The robust optimum: the fewest changed records among mechanisms that meet a target for every P(S, X) in a box.

The box (`linred.assurance.confidence_set`) holds the true P(S, X) with the stated confidence. So the target is met with
that confidence, for all figures at once, however the mechanism was chosen: no records are held out.

A pair (s, x) that no record has may still occur, so it has a row of its own. All x that an s never has share one row:
by symmetry, that does not raise the cost.
"""

import math
import time
import warnings

import numpy as np

from linred._common import validation
from linred.assurance import certify
from linred.assurance.confidence_set import ConfidenceSet
from linred.design import calibration
from linred.design.costs import Costs
from linred.distribution.joint import Joint
from linred.errors import CannotMeetError, NotOptimalWarning
from linred.mechanism.mechanism import Mechanism, drawing_from
from linred.mechanism.tables import TableBuilder
from linred.privacy.comparisons import of_lifts
from linred.privacy.leakage import FIGURES
from linred.privacy.target import TARGETS
from linred.solvers import constraints, interior_point, lp
from linred.solvers.constraints import LARGEST_LDP
from linred.solvers.exact_sums import with_exact_sums
from linred.solvers.robust_channel import Box, Ratios, robust_channel
from linred.solvers.robust_resampling import Limits, are_met_by_x, cheapest, least_changes, redrawing, toward_marginal
from linred.solvers.symbol_merging import Merged

FIRST_SHARE, GROWTH = 2.0**-40, 4.0
"""Shares of P_Y that are mixed into the solution until its integers are certified: the first, and their ratio."""

LARGEST = 25_000
"""Largest |S||X|^2 for which the full linear programme is solved."""

ROOM = 1e-8
"""Margin in nats of the mechanisms for large alphabets, for the slack of the confidence limits and for rounding."""

LAST_SECONDS = 1.0
"""Seconds for a lower bound after the time limit."""

SHARE_OF_START = 0.4
"""Share of the time for the optimum without a box, with which the search for large alphabets begins."""

HALVINGS = 20
"""Halvings of the interval of the smallest share of P_X that is certified."""

CERTIFIED = tuple(name for name in TARGETS if name in FIGURES)
"""The limits that can be certified: those of LDP and of lifts, which `Certified` has as figures."""


def check_robust(target, confidence, **others):
    """Check the arguments of `optimal` with a confidence. others : arguments that exclude it, None if not given."""
    validation.check_confidence(confidence)
    for name, value in others.items():
        if value is not None:
            raise ValueError(f"{name}= and confidence= are both given: leave one of them out")
    for name in target.limits:
        if name not in CERTIFIED:
            raise ValueError(
                f"{name}= cannot be certified: leave confidence= out for a plug-in estimate, or limit only "
                f"{', '.join(f'{one}=' for one in CERTIFIED[:-1])} and {CERTIFIED[-1]}="
            )


def robust_optimum(joint, target, confidence, *, sees_s=True, distortion=None, time_limit=None):
    """Return the cheapest mechanism whose certified figures meet the target, with these figures in `certified`.

    joint : Joint with counts. target : settled `Target` with limits of LDP and lifts only. confidence : checked.

    Guarantee
    ---------
    If the records are independent draws from P(S, X), then with probability at least `confidence` all certified figures
    are at or above their true values, and they meet the target. P_Y equals the P_X of the records to 1e-12. The cost is
    at most `gap` above the least one for this box. A limit above 16 nats is treated as one of 16 nats, and `gap` is
    then the distance from the optimum for 16 nats.

    Up to |S||X|^2 = LARGEST, one linear programme finds the optimum. Beyond, linred searches among mechanisms that keep
    x or draw y from one table for each s, or from one table if they do not use S (`linred.solvers.robust_resampling`).
    Limits on lifts are then met by the same limit on LDP, which implies them. The choice depends on the alphabets
    alone, never on the counts. `gap` is the distance from a lower bound: the optimum for the P(S, X) of the records, or
    what rare pairs force (`robust_resampling.least_changes`), whichever is larger. With a distortion, that is
    multiplied by the cost of the cheapest change, so that it says little.

    If the time limit is reached, a `NotOptimalWarning` states the gap, and the cheapest mechanism known by then is
    returned: at worst Lemma 1 with the smallest share of P_X that is certified. Certifying takes its time after that.
    """
    if joint.counts is None:
        raise ValueError("confidence= needs a joint with counts: use Joint.from_counts or Joint.from_records")
    end = time.monotonic() + (math.inf if time_limit is None else time_limit)
    problem = _Problem(joint, target, confidence, sees_s, Costs(distortion), end)
    if joint.p_sx.size * joint.shape[1] > LARGEST:
        build, bound, trouble = _at_scale(problem)
    else:
        try:
            (build, bound), trouble = _by_full_programme(problem), None
        except lp.NotSolvedError as error:
            build, bound, trouble = None, problem.lower_bound(), str(error)
    found = None if build is None else problem.certified(build)
    if found is None:
        found = problem.redrawing()
    if found is None:
        raise CannotMeetError(f"{target} cannot be certified: drawing y independently of s and x does not meet it")
    found = problem.costs.noted(found, bound)
    if trouble:
        warnings.warn(
            f"{trouble}: the mechanism returned ({found.described()}) is certified to meet {target} at a cost of "
            f"{problem.costs.of(found):.6g}, at most {found.gap:.2g} above the optimum",
            NotOptimalWarning,
            stacklevel=4,
        )
    return found


class _Problem:
    """The arguments of `robust_optimum`, and what both programmes need of them."""

    def __init__(self, joint, target, confidence, sees_s, costs, end):
        self.joint, self.target, self.confidence, self.sees_s = joint, target, confidence, sees_s
        self.costs, self.end, self.y = costs, end, np.flatnonzero(joint.p_x > 0.0)
        self.known = ConfidenceSet.of(joint.counts, 1.0 - confidence)

    def certified(self, build):
        """Return build(share) with its certified figures, for the smallest tried share of P_X that meets the target.

        None if no share below one does.
        """
        share = 0.0
        while share < 1.0:
            mechanism = self.if_certified(build(share))
            if mechanism is not None:
                return mechanism
            share = max(FIRST_SHARE, GROWTH * share)
        return self.if_certified(drawing_from(self.joint, self.joint.p_x, "optimal"))

    def if_certified(self, mechanism):
        """Return the mechanism with its certified figures; None if they do not meet the target."""
        level = 1.0 - self.confidence
        certified = certify.Certifying(mechanism, self.joint.counts).from_fit(self.confidence, level)
        return mechanism.replace(target=self.target, certified=certified) if self.target.is_met_by(certified) else None

    def redrawing(self):
        """Return Lemma 1's mechanism with the smallest share of P_X that is certified, by bisection."""
        low, high, best = 0.0, 1.0, self.if_certified(self.redrawn(1.0))
        for _ in range(HALVINGS if best is not None else 0):
            share = 0.5 * (low + high)
            found = self.if_certified(self.redrawn(share))
            low, high, best = (share, high, best) if found is None else (low, share, found)
        return best

    def redrawn(self, share):
        """Return the mechanism that draws y from P_X with probability `share` and keeps x otherwise."""
        if share == 1.0:
            return drawing_from(self.joint, self.joint.p_x, "optimal")
        seen = self.joint.p_x > 0.0
        q = (1.0 - share) * self.joint.p_x_given_s + share * self.joint.p_x
        released = Joint.from_parts(q, self.joint.p_s, self.joint.p_x, self.joint.s_labels, self.joint.x_labels)
        rows = {"keep": np.where(seen, 1.0 - share, 0.0), "move": np.where(seen, share, 1.0)}
        rows |= {"table_of": np.int32(0), "tables": TableBuilder(self.joint.p_x).tables()}
        return Mechanism(self.joint, name="optimal", sees_s=False, released=released, **rows)

    def limits(self):
        """Return the `Limits` of `robust_resampling` over the symbols that occur."""
        joint, known, y = self.joint, self.known, self.y
        spare = np.minimum(1.0, known.high[:, joint.p_x == 0.0].sum(axis=1))
        ldp = min(self.target.ldp, *of_lifts(self.target))
        ends = known.low[:, y], known.high[:, y], spare
        return Limits(joint.p_x_given_s[:, y], joint.p_s, joint.p_x[y], *ends, max(0.0, ldp - ROOM))

    def plug_in(self, end):
        """Return (P(y|s), a lower bound of the share of changed records) of the optimum for the records' P(S, X).

        That P(S, X) is in the box, so no mechanism for the box changes fewer records.
        """
        merged = Merged(self.joint, symbols=False, rows=False)
        limits = constraints.Limits.of(self.target, merged, True)
        q, bound = np.tile(merged.p_x, (self.joint.shape[0], 1)), 0.0
        if calibration.smallest(self.target, self.joint.p_s) > 0.0:
            answer = interior_point.fewest_changes(limits, merged.p, end)
            q[merged.s], bound = answer.matrix, max(0.0, answer.bound)
        return q, bound

    def lower_bound(self, plug_in=None):
        """Return a lower bound of the cost of every mechanism that meets the target for the box."""
        bound = self.plug_in(max(self.end, time.monotonic() + LAST_SECONDS))[1] if plug_in is None else plug_in
        if self.target.ldp < math.inf:
            bound = max(bound, least_changes(self.limits()._replace(ldp=self.target.ldp)))
        return bound * (self.costs.costliest if self.costs.d is None else self.costs.cheapest)


def _by_full_programme(problem):
    """Return (a function of the share of P_X that returns a mechanism, lower bound of the cost)."""
    joint, y, costs = problem.joint, problem.y, problem.costs
    sources = _Sources(joint, problem.known, problem.sees_s)
    answer = robust_channel(
        sources.box, _ratios(problem.target, joint.shape[0]), sources.weight[:, None] * _costs_of(sources.x, y, costs),
        sources.weight, joint.p_x[y], problem.end - time.monotonic(),
    )  # fmt: skip
    w = with_exact_sums(answer.matrix, sources.weight, joint.p_x[y])
    build = lambda share: sources.mechanism(y, (1.0 - share) * w + share * joint.p_x[y])  # noqa: E731
    return build, answer.bound * costs.costliest


def _at_scale(problem):
    """Return (a function of the share of P_X that returns a mechanism, lower bound of the cost, what went wrong)."""
    if are_met_by_x(problem.limits()):
        return problem.redrawn, 0.0, None
    now = time.monotonic()
    q, bound = problem.plug_in(now + SHARE_OF_START * (problem.end - now))
    bound = problem.lower_bound(bound)
    limits, d, sees_s = problem.limits(), problem.costs.d, problem.sees_s
    if limits.ldp == 0.0:
        return (lambda share: drawing_from(problem.joint, problem.joint.p_x, "optimal")), bound, None
    d = None if d is None else d[np.ix_(problem.y, problem.y)]
    found = min(cheapest(limits, q, d, problem.end, sees_s), redrawing(limits, d), key=lambda one: one.cost)
    trouble = lp.TIME_IS_OVER if time.monotonic() >= problem.end else None

    def build(share):
        return _resampling(problem, *toward_marginal(limits, found.a, found.moved, share, sees_s))

    return build, bound, trouble


def _resampling(problem, a, moved):
    """Return the mechanism that keeps x with probability a(s, x), or draws y from the table of s, in proportion to T.

    Symbols that never occur are always drawn from the table.
    """
    joint, y, sees_s = problem.joint, problem.y, problem.sees_s
    keep, tables = np.zeros(joint.shape), TableBuilder(joint.p_x)
    keep[:, y] = a
    q, row = np.zeros(joint.shape), np.zeros(joint.shape[1])
    for s, part in enumerate(moved):
        row[y] = part / part.sum()
        if s == 0 or sees_s:
            tables.add(row)
        q[s] = joint.p_x_given_s[s] * keep[s] + row * (joint.p_x_given_s[s] @ (1.0 - keep[s]))
    table_of = np.broadcast_to(np.arange(1, len(q) + 1, dtype=np.int32)[:, None], joint.shape)
    released = Joint.from_parts(q, joint.p_s, joint.p_x, joint.s_labels, joint.x_labels)
    rows = {"keep": keep, "move": 1.0 - keep, "table_of": table_of}
    rows = rows if sees_s else {name: part[0] for name, part in rows.items()}
    return Mechanism(joint, name="optimal", sees_s=sees_s, released=released, tables=tables.tables(), **rows)


def _ratios(target, n_s):
    """Return the `Ratios` of a target."""
    ldp, *lifts = (min(limit, LARGEST_LDP) if limit < math.inf else limit for limit in (target.ldp, *of_lifts(target)))
    pairs = np.full((n_s, n_s), ldp)
    np.fill_diagonal(pairs, math.inf)
    return Ratios(pairs, *lifts)


def _costs_of(x, y, costs):
    """Return the cost of each source's moves to y, scaled so that the largest is one; 0 for those that never occur."""
    if costs.d is None:
        return (x[:, None] != y).astype(np.float64)
    return np.where(x[:, None] >= 0, costs.d[np.ix_(np.maximum(x, 0), y)], 0.0) / costs.costliest


class _Sources:
    """The rows P(y|r) of a mechanism: a source r is a pair (s, x), or a symbol x if S is not used when sampling.

    All x that never occur with an s, or never at all, are one source; its `x` is -1.

    Attributes
    ----------
    of : the source of each pair, |S| x |X|.
    x, weight : the symbol and P(r) of each source.
    box : `Box`
    """

    def __init__(self, joint, known, sees_s):
        self.joint, self.sees_s = joint, sees_s
        counts = joint.counts if sees_s else np.broadcast_to(joint.counts.sum(axis=0), joint.shape)
        x = np.where(counts > 0, np.arange(joint.shape[1]), -1)
        s = np.arange(joint.shape[0])[:, None] * np.ones_like(x)
        keys = np.stack([s if sees_s else np.zeros_like(s), x], axis=-1).reshape(-1, 2)
        found, of = np.unique(keys, axis=0, return_inverse=True)
        self.of, self.x = of.reshape(joint.shape), found[:, 1]
        n_pairs = np.bincount(self.of[: None if sees_s else 1].ravel())
        alone = np.flatnonzero((self.x < 0) & (n_pairs == 1))  # a table of a single pair must not contain its x
        self.x[alone] = (self.of == alone[:, None, None]).any(axis=1).argmax(axis=1)
        self.weight = np.bincount(self.of.ravel(), joint.p_sx.ravel())
        term = s * self.x.size + self.of
        terms, of_term = np.unique(term, return_inverse=True)
        low, high = (np.bincount(of_term.ravel(), part.ravel()) for part in (known.low, known.high))
        ends = low, np.minimum(high, 1.0)
        self.box = Box(terms // self.x.size, terms % self.x.size, *ends, known.s_low, known.s_high)

    def mechanism(self, y, w):
        """Return the `Mechanism` with the rows w, sources x the symbols y."""
        joint, n_x = self.joint, self.joint.shape[1]
        rows, tables = np.zeros((self.x.size, n_x)), TableBuilder(joint.p_x)
        rows[:, y] = w
        keep, r = np.zeros(self.x.size), np.arange(self.x.size)
        keep[self.x >= 0] = rows[r, self.x][self.x >= 0]
        leave = rows.copy()
        leave[r[self.x >= 0], self.x[self.x >= 0]] = 0.0
        move = leave.sum(axis=1)
        total = keep + move
        table_of = np.zeros(self.x.size, np.int32)
        for source in np.flatnonzero(move > 0.0).tolist():
            table_of[source] = tables.add(leave[source] / move[source])
        of = self.of if self.sees_s else self.of[:1]
        parts = {"keep": (keep / total)[of], "move": (move / total)[of], "table_of": table_of[of]}
        q = np.einsum("sx,sxy->sy", joint.p_x_given_s, rows[self.of])
        released = Joint.from_parts(q, joint.p_s, joint.p_x, joint.s_labels, joint.x_labels)
        return Mechanism(joint, name="optimal", sees_s=self.sees_s, released=released, tables=tables.tables(), **parts)

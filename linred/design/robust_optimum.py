"""The robust optimum: the fewest changed records among mechanisms that meet a target for every P(S, X) in a box.

The box (`linred.assurance.confidence_set`) holds the true P(S, X) with the stated confidence. So the target is met with
that confidence, for all figures at once, however the mechanism was chosen: no records are held out.

A pair (s, x) that no record has may still occur, so it has a row of its own. All x that an s never has share one row:
by symmetry, that does not raise the cost.
"""

import math
import warnings
from functools import partial

import numpy as np

from linred._common import validation
from linred.assurance import certify
from linred.assurance.confidence_set import ConfidenceSet
from linred.design.costs import Costs
from linred.distribution.joint import Joint
from linred.errors import NotOptimalWarning
from linred.mechanism.mechanism import Mechanism, drawing_from
from linred.mechanism.tables import TableBuilder
from linred.privacy.comparisons import of_lifts
from linred.solvers import lp
from linred.solvers.constraints import LARGEST_LDP
from linred.solvers.exact_sums import with_exact_sums
from linred.solvers.robust_channel import Box, Ratios, robust_channel

FIRST_SHARE, GROWTH, CLOSE = 2.0**-40, 4.0, 2.0**-14
"""Shares of P_Y that are mixed into the solution until its integers are certified: the first, their ratio, and how far
the last may be above the smallest one."""

MOST_CELLS = 50_000
"""Largest number of pairs (s, x), unseen ones merged, times |X|: HiGHS then takes minutes."""

CERTIFIED = ("ldp", "log_lift", "max_lift", "min_lift")
"""The limits that can be certified: those of figures that hold for any P(S, X) in the box."""


def check_robust(target, confidence, **others):
    """Check the arguments of `optimal` with a confidence. others : arguments that exclude it, None if not given."""
    validation.check_confidence(confidence)
    for name, value in others.items():
        if value is not None:
            raise ValueError(f"{name}= and confidence= are both given: with a confidence give a target, such as ldp=")
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
    at most `gap` above the least one for this box, if no limit is above 16 nats. If the linear programme is not solved
    in time, the result is Lemma 1 with the smallest alpha that is certified, and a NotOptimalWarning says so. The
    programme has 3 |S||X|^2 variables, of which those of unseen pairs are merged.
    """
    if joint.counts is None:
        raise ValueError("confidence= needs a joint with counts: use Joint.from_counts or Joint.from_records")
    costs, y = Costs(distortion), np.flatnonzero(joint.p_x > 0.0)
    sources = _Sources(joint, ConfidenceSet.of(joint.counts, 1.0 - confidence), sees_s)
    if sources.box.s.size * y.size > MOST_CELLS:
        raise ValueError(
            f"joint has {joint.shape[0]} x {joint.shape[1]} symbols, which is too many for optimal with confidence=: "
            "use linred.fit with confidence=, or merge symbols"
        )
    cost = sources.weight[:, None] * _costs_of(sources.x, y, costs)
    try:
        answer = robust_channel(
            sources.box, _ratios(target, joint.shape[0]), cost, sources.weight, joint.p_x[y], time_limit
        )
        w, bound, trouble = with_exact_sums(answer.matrix, sources.weight, joint.p_x[y]), answer.bound, None
    except lp.NotSolvedError as error:
        w, bound, trouble = np.where(sources.x[:, None] < 0, joint.p_x[y], sources.x[:, None] == y), 0.0, str(error)
    best = _smallest_share(partial(_mixed, sources, y, w, target, confidence))
    best = costs.noted(best.replace(target=target), bound * costs.costliest)
    if trouble:
        warnings.warn(
            f"{trouble}: the mechanism returned meets {target} with Lemma 1, at most {best.gap:.2g} above the optimum",
            NotOptimalWarning,
            stacklevel=4,
        )
    return best


def _mixed(sources, y, w, target, confidence, share):
    """Return the mechanism with a share of P_Y mixed into all rows, certified; None if it does not meet the target."""
    joint = sources.joint
    if share < 1.0:
        mechanism = sources.mechanism(y, (1.0 - share) * w + share * joint.p_x[y])
    else:
        mechanism = drawing_from(joint, joint.p_x, "optimal")
    certified = certify.Certifying(mechanism, joint.counts).from_fit(confidence, 1.0 - confidence)
    return mechanism.replace(certified=certified) if target.is_met_by(certified) else None


def _smallest_share(attempt):
    """Return attempt(share) for nearly the smallest share in [0, 1] for which it is not None; it is not for 1."""
    low, high, best = 0.0, FIRST_SHARE, attempt(0.0)
    while best is None:
        best = attempt(min(high, 1.0))
        low, high = (low, min(high, 1.0)) if best else (high, GROWTH * high)
    while low > 0.0 and high - low > CLOSE:
        middle = 0.5 * (low + high)
        found = attempt(middle)
        low, high, best = (middle, high, best) if found is None else (low, middle, found)
    return best


def _ratios(target, n_s):
    """Return the `Ratios` of a target."""
    ldp, *lifts = (min(limit, LARGEST_LDP) if limit < math.inf else limit for limit in (target.ldp, *of_lifts(target)))
    pairs = np.full((n_s, n_s), ldp)
    np.fill_diagonal(pairs, math.inf)
    return Ratios(pairs, *lifts)


def _costs_of(x, y, costs):
    """Return the cost of each source's moves to y, scaled so that the largest is one."""
    if costs.d is None:
        return (x[:, None] != y).astype(np.float64)
    return costs.d[np.ix_(np.maximum(x, 0), y)] / costs.costliest


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

"""Mechanisms that expect P(x|s) to be off: what the path of `linred.design.fit` is made of.

`careful` sees s. With a margin m(s,y) in nats for how far the share of y among the records of s may be off, P(y|s) is
kept so far inside of its limits that it stays there:  L(y) e^m <= P(y|s) <= L(y) e^(eps - m).  Where the margin leaves
no room, the pair (s,y) is *rare*: P(y|s) = P_X(y) is then made to hold whatever P(x|s) is, without any data.

    x that are rare with s are redrawn from P_X; all others become one of them with probability P_X(rare with s), in the
    ratios of P_X. That changes about 2 P_X(rare with s) of the records of s, and all of them where all x are rare.

`careful_markov` does not see s: the x that are rare with the rarest s are treated so for all s, and a share of all
draws is from P_X.
"""

import math

import numpy as np

from linred.design.coupling import couple, excess_over
from linred.design.optimal import optimal
from linred.distribution.joint import Joint
from linred.mechanism.mechanism import Mechanism, released_by
from linred.mechanism.tables import TableBuilder
from linred.privacy.target import Target
from linred.solvers import exact_sums, lp

MOST_PROGRAMME_CELLS = 6000
"""Pairs (s, x): above, P(y|s) is found by clipping in place of a programme, if at all, and more records change."""

MOST_MARGIN = 2.0
"""Nats: pairs with a larger margin have so few records that none may show, whatever the target is."""

LARGEST = 50.0
"""Nats: a larger target is met by the same mechanisms."""

CLOSE = 1e-11
"""How far sums of P(y|s) may be off."""


def careful(joint, n_tested, asked, z, time_limit=None):
    """The mechanism with margins of z standard errors, or None where it cannot be found.

    joint : of counts, what is fitted on. n_tested : records of each s that are expected to test it. asked : `Target`.

    Guarantee
    ---------
    P_Y = P_X to 1e-11; P(y|s) = P_X(y) for rare pairs, whatever P(x|s) is.
    """
    log_lift = min(asked.log_lift, LARGEST)
    ldp = min(asked.ldp, 2.0 * log_lift, LARGEST)
    margins = _margins(joint, n_tested, z)
    rare = (margins > min(0.5 * ldp, log_lift, MOST_MARGIN)) | (joint.p_x == 0.0)
    rare |= ((joint.counts * ~rare).sum(axis=1) == 0)[:, None] | (rare.sum(axis=1) >= joint.shape[1] - 1)[:, None]
    n_cells = np.count_nonzero(joint.p_s) * np.count_nonzero(joint.p_x)  # of symbols that were fitted on
    solve = _by_programme if n_cells <= MOST_PROGRAMME_CELLS else _by_clipping
    lifts = solve(joint, rare, np.where(rare, 0.0, margins), (ldp, log_lift), time_limit)
    if lifts is None:
        return None
    return _redrawing(joint, rare, _coupled(joint, rare, lifts), mixed=0.0, sees_s=True)


def careful_markov(joint, n_tested, asked, mixed, evidence, time_limit=None, known=None):
    """As `careful`, for mechanisms that do not see s: a share `mixed` of all draws is from P_X.

    evidence : nats, as in `confidence_limits.evidence_of_two`: in n records none may show of what is evidence / n of
        them. A symbol is rare if so many, in the rarest s, would break the target in spite of the mixing.
    known : a dict in which mechanisms for what is not rare are kept, for the next call.
    """
    most = evidence / max(1.0, float(n_tested[joint.p_s > 0.0].min()))
    factor = math.exp(min(*asked, LARGEST))
    rare = (joint.p_x * (factor - mixed) < (1.0 - mixed) * most) | (joint.p_x == 0.0)
    common = np.flatnonzero(~rare)
    if common.size < 2:
        return None
    known = {} if known is None else known
    if rare.tobytes() not in known:
        known[rare.tobytes()] = _optimal_markov(joint, common, asked, time_limit)
    inner = known[rare.tobytes()]
    keep, move, table_of = np.zeros((1, rare.size)), np.zeros((1, rare.size)), np.zeros((1, rare.size), np.int32)
    for whole, part in ((keep, inner.keep), (move, inner.move), (table_of, inner.table_of)):
        whole[0, common] = part[0]
    indptr, y, probability = inner.tables
    coupling = keep, move, table_of, (indptr, common[y].astype(np.int32), probability)
    return _redrawing(joint, rare[None, :], coupling, mixed=mixed, sees_s=False)


def _optimal_markov(joint, common, asked, time_limit):
    """The optimum that does not see s, for some of the symbols."""
    seen = joint.counts[:, common].sum(axis=1) > 0
    target = Target(*(min(limit, LARGEST) if limit < math.inf else limit for limit in asked))
    table = Joint.from_counts(joint.counts[np.ix_(seen, common)])
    return optimal(table, target=target, sees_s=False, time_limit=time_limit)


def _margins(joint, n_tested, z):
    """z standard errors of log P(y|s), about: of the part that is fitted on and of the part that is tested on, evenly.
    Infinite where there are no records."""
    margins, n_fitted = np.full(joint.shape, np.inf), joint.counts.sum(axis=1)
    s, y = np.nonzero(np.outer((n_tested > 0) & (n_fitted > 0), joint.p_x > 0.0))
    margins[s, y] = z * np.sqrt(0.5 * (1.0 / n_tested[s] + 1.0 / n_fitted[s]) / joint.p_x[y])
    return margins


def _limits(least, margins, ldp, log_lift, rare):
    """The ends of P(y|s) / P_X(y); `least` is L / P_X."""
    low = np.maximum(least * np.exp(margins), np.exp(margins - log_lift))
    high = np.minimum(least * np.exp(ldp - margins), np.exp(log_lift - margins))
    return np.where(rare, 1.0, low), np.where(rare, 1.0, high)


def _least_lift(joint, rare):
    """What redrawing rare x from P_X alone makes of P(y|s) / P_X(y)."""
    return (joint.p_x_given_s * rare).sum(axis=1)


def _by_programme(joint, rare, margins, limits, time_limit):
    """P(y|s) / P_X(y) that loses the least: sum over s, x of P(s) max(0, P(x|s) - P(y=x|s)) over pairs not rare."""
    (ldp, log_lift), p_s, p_x = limits, joint.p_s, joint.p_x
    s, y = np.nonzero(~rare)
    if s.size == 0:
        return np.ones(joint.shape)
    programme, weight, margin = lp.LinearProgram(), p_s[s] * p_x[y], margins[s, y]
    least = programme.variables(np.zeros(p_x.size))
    lift = programme.variables(np.zeros(s.size), _least_lift(joint, rare)[s])
    lost = programme.variables(weight)
    equations, inequalities = programme.equations, programme.inequalities
    for places, weights, fixed in ((s, p_x[y], (rare * p_x).sum(axis=1)), (y, p_s[s], p_s @ rare)):
        rows = equations.add_some(np.bincount(places, minlength=fixed.size) > 0, 1.0 - fixed)
        equations.term(rows[places], lift, weights)
    for sign, factor in ((-1.0, np.exp(margin)), (1.0, np.exp(ldp - margin))):
        row = inequalities.add(np.zeros(s.size))
        inequalities.term(row, lift, sign)
        inequalities.term(row, least[y], -sign * factor)
        if log_lift < ldp:  # otherwise it follows from the limit of LDP
            row = inequalities.add(sign * np.exp(sign * (log_lift - margin)))
            inequalities.term(row, lift, sign)
    row = inequalities.add(-(joint.p_x_given_s[s, y] / p_x[y]))
    inequalities.term(row, lift, -1.0)
    inequalities.term(row, lost, -1.0)
    try:
        solved = programme.solve(time_limit)
    except lp.NotSolvedError:
        return None
    lifts = np.ones(joint.shape)
    lifts[s, y] = solved.x[lift]
    return _balanced(joint, rare, lifts, *_limits(solved.x[least], margins, ldp, log_lift, rare))


def _by_clipping(joint, rare, margins, limits, _):
    """P(x|s) / P_X(x) clipped to its limits, L(x) such that P_X is kept; then made to sum to one for each s."""
    lifts = np.divide(joint.p_x_given_s, joint.p_x, out=np.ones(joint.shape), where=~rare)
    low, high = np.full(joint.p_x.size, -limits[0]), np.zeros(joint.p_x.size)
    for _ in range(60):  # bisection for log L: the mean over s rises with it
        middle = 0.5 * (low + high)
        too_much = joint.p_s @ np.clip(lifts, *_limits(np.exp(middle), margins, *limits, rare)) > 1.0
        low, high = np.where(too_much, low, middle), np.where(too_much, middle, high)
    ends = _limits(np.exp(low), margins, *limits, rare)
    return _balanced(joint, rare, np.clip(lifts, *ends), *ends)


def _balanced(joint, rare, lifts, low, high):
    """Lifts whose means are one to CLOSE, along s and along y; None where that cannot be."""
    low = np.where(rare, 1.0, np.maximum(np.minimum(low, lifts), _least_lift(joint, rare)[:, None]))
    lifts = exact_sums.with_both_means(np.maximum(lifts, low), low, np.maximum(high, lifts), joint.p_s, joint.p_x)
    off = max(np.abs(lifts @ joint.p_x - 1.0).max(), np.abs((joint.p_s @ lifts - 1.0)[joint.p_x > 0.0]).max())
    return lifts if off <= CLOSE else None


def _coupled(joint, rare, lifts):
    """keep, move, table_of, tables: from P(x|s), x not rare, to what is left of P(y|s) once rare x are redrawn."""
    p, p_x, by_rare = joint.p_x_given_s, joint.p_x, _least_lift(joint, rare)[:, None]
    source, target = np.where(rare, 0.0, p), np.where(rare, 0.0, np.maximum(lifts - by_rare, 0.0) * p_x)
    nothing = rare.all(axis=1)[:, None]  # all of it is redrawn: any coupling does
    source, target = (np.where(nothing, p_x, part) for part in (source, target))
    source, target = (part / part.sum(axis=1, keepdims=True) for part in (source, target))
    joints = (Joint.from_parts(part, joint.p_s, p_x) for part in (source, target))
    parts = couple(*joints, excess_over(source, target))
    return tuple(parts[name] for name in ("keep", "move", "table_of", "tables"))


def _redrawing(joint, rare, coupling, *, mixed, sees_s):
    """The mechanism of a coupling, with rare pairs redrawn and a share of all draws from P_X. `rare` and the
    coupling have a row for each s; one for all where s is not seen."""
    p_x, tables = joint.p_x, TableBuilder(joint.p_x)
    keep, move, table_of = np.zeros(rare.shape), np.ones(rare.shape), np.zeros(rare.shape, np.int32)
    drawn = ~(rare | joint.unseen) if sees_s else ~rare  # all others are redrawn from table 0, P_X
    for s, of_s in enumerate(rare):
        background = np.where(of_s, p_x, mixed * p_x)
        scale = (1.0 - p_x[of_s].sum()) * (1.0 - mixed)
        alone = None  # the table of the x that go to the background alone, which has none of them
        for x in np.flatnonzero(drawn[s]).tolist():
            row = _row(coupling, s, x, background, scale)
            stays, total = row[x], math.fsum(row)
            row[x] = 0.0
            keep[s, x], move[s, x] = stays / total, row.sum() / total
            if move[s, x] == 0.0:
                continue
            shared = coupling[1][s, x] == 0.0 and background[x] == 0.0
            table = alone if shared and alone is not None else tables.add(row / row.sum())
            alone = table if shared else alone
            table_of[s, x] = table
    parts = {"keep": keep, "move": move, "table_of": table_of, "tables": tables.tables()}
    p_y_given_s = np.where(rare, p_x, released_by(joint, **parts))
    released = Joint.from_parts(p_y_given_s, joint.p_s, p_x, joint.s_labels, joint.x_labels)
    mechanism = Mechanism(joint, name="certified", sees_s=sees_s, released=released, **parts)
    return mechanism.replace(gap=mechanism.dtv())  # no better bound is known


def _row(coupling, s, x, background, scale):
    """P(y|s,x), dense."""
    keep, move, table_of, (indptr, y, probability) = coupling
    row, span = background.copy(), slice(*indptr[table_of[s, x] :][:2])
    row[x] += scale * keep[s, x]
    if move[s, x] > 0.0:
        row[y[span]] += scale * move[s, x] * probability[span]
    return row

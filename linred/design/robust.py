"""Mechanisms with margins for the estimation error of P(x|s): the path of `linred.design.fit`.

`careful` uses S when sampling. The margin m(s,y), in nats, allows for the error in the estimated share of y among the
records of s. P(y|s) is kept that far inside its limits:  L(y) e^m <= P(y|s) <= L(y) e^(eps - m).  If the margin leaves
no room, (s,y) is a *rare pair*: the mechanism then makes P(y|s) = P_X(y) hold for any P(x|s), so no data is trusted.

    An x that is rare with s is resampled from P_X. Every other x becomes an x that is rare with s with probability
    P_X(rare with s), distributed as P_X. This changes about 2 P_X(rare with s) of the records of s, and all of them
    if every x is rare.

`careful_markov` does not use S: an x that is rare with the least frequent s is resampled for all s, and a share of all
draws is from P_X.
"""

import math

import numpy as np

from linred.assurance.certify import certified_limits
from linred.design.coupling import couple, excess_over
from linred.design.optimal import optimal
from linred.distribution.joint import Joint
from linred.mechanism.mechanism import Mechanism, released_by
from linred.mechanism.tables import TableBuilder
from linred.solvers import exact_sums, lp

MOST_PROGRAMME_CELLS = 6000
"""Pairs (s, x). Beyond, clipping replaces the linear programme; it changes more records, and may find no solution."""

MOST_MARGIN = 2.0
"""Largest margin in nats. A pair beyond it may have no held-out record, so it is rare whatever the target is."""

LARGEST = 50.0
"""Largest target in nats; larger ones lead to the same mechanisms."""

CLOSE = 1e-11
"""Tolerance on the sums of P(y|s)."""


def careful(joint, n_tested, asked, z, time_limit=None):
    """Return the mechanism with margins of z standard errors, or None if none is found.

    joint : the fitted records, with counts. n_tested : expected number of held-out records of each s. asked : `Target`.

    Guarantee
    ---------
    P_Y = P_X to 1e-11. P(y|s) = P_X(y) for rare pairs, for any P(x|s).
    """
    ldp, log_lift = certified_limits(asked)
    log_lift = min(log_lift, LARGEST)
    ldp = min(ldp, 2.0 * log_lift, LARGEST)
    margins = _margins(joint, n_tested, z)
    rare = (margins > min(0.5 * ldp, log_lift, MOST_MARGIN)) | (joint.p_x == 0.0)
    rare |= ((joint.counts * ~rare).sum(axis=1) == 0)[:, None] | (rare.sum(axis=1) >= joint.shape[1] - 1)[:, None]
    n_cells = np.count_nonzero(joint.p_s) * np.count_nonzero(joint.p_x)  # of symbols in the fitted records
    solve = _by_programme if n_cells <= MOST_PROGRAMME_CELLS else _by_clipping
    lifts = solve(joint, rare, np.where(rare, 0.0, margins), (ldp, log_lift), time_limit)
    if lifts is None:
        return None
    return _redrawing(joint, rare, _coupled(joint, rare, lifts), mixed=0.0, sees_s=True)


def careful_markov(joint, n_tested, asked, mixed, evidence, time_limit=None, known=None):
    """Do as `careful` for a mechanism that does not use S: a share `mixed` of all draws is from P_X.

    evidence : nats, from `confidence_limits.evidence_of_two`. A symbol of probability evidence / n may have no hit in n
        records. A symbol is rare if that probability, in the least frequent s, would break the target despite mixing.
    known : dict that caches the mechanisms for the common symbols between calls.
    """
    most = evidence / max(1.0, float(n_tested[joint.p_s > 0.0].min()))
    factor = math.exp(min(*certified_limits(asked), LARGEST))
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
    """Return the optimal mechanism that does not use S, for the symbols `common`."""
    seen = joint.counts[:, common].sum(axis=1) > 0
    limits = {name: min(limit, LARGEST) for name, limit in asked.limits.items()}
    table = Joint.from_counts(joint.counts[np.ix_(seen, common)])
    return optimal(table, **limits, sees_s=False, time_limit=time_limit)


def _margins(joint, n_tested, z):
    """Return about z standard errors of log P(y|s): the mean variance of the fitted and the held-out records.

    Infinite where there are no records.
    """
    margins, n_fitted = np.full(joint.shape, np.inf), joint.counts.sum(axis=1)
    s, y = np.nonzero(np.outer((n_tested > 0) & (n_fitted > 0), joint.p_x > 0.0))
    margins[s, y] = z * np.sqrt(0.5 * (1.0 / n_tested[s] + 1.0 / n_fitted[s]) / joint.p_x[y])
    return margins


def _limits(least, margins, ldp, log_lift, rare):
    """Return the lower and upper limits of P(y|s) / P_X(y); `least` is L / P_X."""
    low = np.maximum(least * np.exp(margins), np.exp(margins - log_lift))
    high = np.minimum(least * np.exp(ldp - margins), np.exp(log_lift - margins))
    return np.where(rare, 1.0, low), np.where(rare, 1.0, high)


def _least_lift(joint, rare):
    """Return the part of P(y|s) / P_X(y) that comes from resampling rare x from P_X."""
    return (joint.p_x_given_s * rare).sum(axis=1)


def _by_programme(joint, rare, margins, limits, time_limit):
    """Return the lifts P(y|s) / P_X(y) with the least sum of P(s) max(0, P(x|s) - P(y=x|s)) over pairs not rare."""
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
        if log_lift < ldp:  # otherwise the LDP limit implies it
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
    """Clip P(x|s) / P_X(x) to its limits, with L(x) such that P_X is preserved; then make the sums over x exact."""
    lifts = np.divide(joint.p_x_given_s, joint.p_x, out=np.ones(joint.shape), where=~rare)
    low, high = np.full(joint.p_x.size, -limits[0]), np.zeros(joint.p_x.size)
    for _ in range(60):  # bisection for log L: the mean over s increases with L
        middle = 0.5 * (low + high)
        too_large = joint.p_s @ np.clip(lifts, *_limits(np.exp(middle), margins, *limits, rare)) > 1.0
        low, high = np.where(too_large, low, middle), np.where(too_large, middle, high)
    ends = _limits(np.exp(low), margins, *limits, rare)
    return _balanced(joint, rare, np.clip(lifts, *ends), *ends)


def _balanced(joint, rare, lifts, low, high):
    """Return lifts whose means over s and over y are one to within CLOSE, or None if there are none."""
    low = np.where(rare, 1.0, np.maximum(np.minimum(low, lifts), _least_lift(joint, rare)[:, None]))
    lifts = exact_sums.with_both_means(np.maximum(lifts, low), low, np.maximum(high, lifts), joint.p_s, joint.p_x)
    off = max(np.abs(lifts @ joint.p_x - 1.0).max(), np.abs((joint.p_s @ lifts - 1.0)[joint.p_x > 0.0]).max())
    return lifts if off <= CLOSE else None


def _coupled(joint, rare, lifts):
    """Couple P(x|s), x not rare, with the rest of P(y|s) once rare x are resampled: keep, move, table_of, tables."""
    p, p_x, by_rare = joint.p_x_given_s, joint.p_x, _least_lift(joint, rare)[:, None]
    source, target = np.where(rare, 0.0, p), np.where(rare, 0.0, np.maximum(lifts - by_rare, 0.0) * p_x)
    all_rare = rare.all(axis=1)[:, None]  # every x of this s is resampled, so any coupling will do
    source, target = (np.where(all_rare, p_x, part) for part in (source, target))
    source, target = (part / part.sum(axis=1, keepdims=True) for part in (source, target))
    joints = (Joint.from_parts(part, joint.p_s, p_x) for part in (source, target))
    parts = couple(*joints, excess_over(source, target))
    return tuple(parts[name] for name in ("keep", "move", "table_of", "tables"))


def _redrawing(joint, rare, coupling, *, mixed, sees_s):
    """Return the mechanism of a coupling, with rare pairs resampled from P_X and a share `mixed` of all draws from P_X.

    `rare` and the coupling have a row for each s, or a single row if the mechanism does not use S.
    """
    p_x, tables = joint.p_x, TableBuilder(joint.p_x)
    keep, move, table_of = np.zeros(rare.shape), np.ones(rare.shape), np.zeros(rare.shape, np.int32)
    coupled = ~(rare | joint.unseen) if sees_s else ~rare  # all other pairs draw from table 0, P_X
    for s, of_s in enumerate(rare):
        background = np.where(of_s, p_x, mixed * p_x)
        scale = (1.0 - p_x[of_s].sum()) * (1.0 - mixed)
        background_only = None  # one table for all x that move only to the background, which does not contain them
        for x in np.flatnonzero(coupled[s]).tolist():
            row = _row(coupling, s, x, background, scale)
            stays, total = row[x], math.fsum(row)
            row[x] = 0.0
            keep[s, x], move[s, x] = stays / total, row.sum() / total
            if move[s, x] == 0.0:
                continue
            shared = coupling[1][s, x] == 0.0 and background[x] == 0.0
            table = background_only if shared and background_only is not None else tables.add(row / row.sum())
            background_only = table if shared else background_only
            table_of[s, x] = table
    parts = {"keep": keep, "move": move, "table_of": table_of, "tables": tables.tables()}
    p_y_given_s = np.where(rare, p_x, released_by(joint, **parts))
    released = Joint.from_parts(p_y_given_s, joint.p_s, p_x, joint.s_labels, joint.x_labels)
    mechanism = Mechanism(joint, name="certified", sees_s=sees_s, released=released, **parts)
    return mechanism.replace(gap=mechanism.dtv())  # no better bound is known


def _row(coupling, s, x, background, scale):
    """Return P(y|s,x) as a dense row."""
    keep, move, table_of, (indptr, y, probability) = coupling
    row, span = background.copy(), slice(*indptr[table_of[s, x] :][:2])
    row[x] += scale * keep[s, x]
    if move[s, x] > 0.0:
        row[y[span]] += scale * move[s, x] * probability[span]
    return row

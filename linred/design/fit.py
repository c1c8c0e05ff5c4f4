"""Mechanisms from records: `linred.fit`. With a confidence, the least damage whose *certified* figures meet the target.

A part of the records, drawn at random, is held out. The others make a path of mechanisms, from drawing Y whatever s and
x are, which tells nothing, towards less and less damage. They are tested one after the other on the records that were
held out, each at the full level, up to the first that fails; of those before it, the one with the least damage is
returned (fixed-sequence testing: Maurer, Hothorn & Lehmacher 1995; Learn then Test: Angelopoulos et al. 2021).

What the path is made of is in `robust`: pairs (s, x) that are too rare to say anything about are redrawn from
P_X, which needs no data; they are told in `mechanism.design`.
"""

import math
import time
from functools import partial
from typing import NamedTuple

import numpy as np

from linred._common import validation
from linred.assurance import certify, confidence_limits
from linred.design import registry
from linred.design.closed_form import markov
from linred.design.optimal import optimal
from linred.design.robust import careful, careful_markov
from linred.distribution.joint import Joint
from linred.mechanism.mechanism import Mechanism, drawing_from
from linred.mechanism.provenance import Design
from linred.privacy.target import Target

HELD_OUT = 0.5
STANDARD_ERRORS = tuple(z / 10 for z in (80, 60, 50, 45, 40, *range(36, -1, -2)))
"""Margins along the path, where s is seen."""
MIXED = tuple(share / 100 for share in (99, 98, 97, 96, *range(95, -1, -3), 0))
"""Shares of draws from P_X along the path, where s is not seen."""


def fit(
    s,
    x,
    *,
    ldp=None,
    log_lift=None,
    alpha=None,
    mechanism="optimal",
    sees_s=True,
    confidence=None,
    held_out=HELD_OUT,
    s_labels=None,
    x_labels=None,
    time_limit=None,
):
    """A mechanism for columns of records: the least damage that meets the target, with confidence or without.

    Parameters
    ----------
    s, x : columns, as in `Joint.from_records`, with s_labels and x_labels that declare the alphabets
    ldp, log_lift : targets in nats, one or both; or alpha, without a confidence
    mechanism : "optimal", "non_markov" or "markov"; with a confidence always "optimal"
    sees_s : whether a draw may depend on s
    confidence : float in (0, 1), optional
        Without it, the target is met for the P(S, X) that is fitted, which is an estimate: see errata 7.
    held_out : the share of the records that the result is tested on
    time_limit : seconds for a programme; with a confidence, then also the path ends, at the best so far

    Guarantee
    ---------
    With a confidence: if the records are independent draws from P(S, X), the true LDP and log-lift of what is returned
    are at or under the targets with probability `confidence`. `mechanism.certified` has the figures, `mechanism.design`
    what it cost. Proof: the path depends on the fitted part alone, which is independent of the records held out. Given
    it, each step's test lets a mechanism that misses a target pass with probability 1 - confidence at most;
    and for any of them to be returned, the first of these must have passed. If both targets are asked for, a
    mechanism that misses either must pass the test of that one. P_Y is P_X as it was fitted. Without confidence: that
    of `linred.optimal` and its like.

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> s = rng.integers(0, 2, 40000)
    >>> x = np.where(rng.random(40000) < 0.6, s, rng.integers(0, 4, 40000))
    >>> certain = fit(s, x, ldp=1.0, confidence=0.95)
    >>> certain.certified.ldp <= 1.0, fit(s, x, ldp=1.0).dtv() < certain.dtv() < 0.5
    (True, True)
    """
    limits = {"ldp": ldp, "log_lift": log_lift}
    settings = FitSettings.checked(mechanism, alpha, limits, sees_s, time_limit, confidence, held_out)
    return settings.mechanism_for(Joint.from_records(s, x, s_labels, x_labels))


class FitSettings(NamedTuple):
    """What is asked of a fit, checked before records are read: by `linred.fit`, `Sanitizer` and the command."""

    mechanism: object  # a name in `registry.BY_NAME`, or a function
    alpha: float | None
    target: Target | None
    sees_s: bool
    time_limit: float | None
    confidence: float | None
    held_out: float

    @classmethod
    def checked(cls, mechanism, alpha, limits, sees_s=True, time_limit=None, confidence=None, held_out=HELD_OUT, /):
        """limits : {name: limit or None}, the fields of a `Target`."""
        mechanism, target = registry.check(mechanism, alpha, limits, sees_s, time_limit)
        validation.number("held_out", held_out, 0.01, 0.99)
        if confidence is not None:
            validation.check_confidence(confidence)
            if alpha is not None:
                raise ValueError(
                    f"alpha = {alpha!r} and confidence are both given: a confidence is for a target, ldp or log_lift"
                )
            if mechanism != "optimal":
                raise ValueError(f"mechanism = {mechanism!r} cannot be fitted with a confidence: only 'optimal' can")
        return cls(mechanism, alpha, target, sees_s, time_limit, confidence, held_out)

    def mechanism_for(self, joint):
        """The mechanism for a Joint of records."""
        if self.confidence is not None:
            return with_confidence(joint, self.target, self.confidence, self.sees_s, self.held_out, self.time_limit)
        asked = {"alpha": self.alpha, "target": self.target}
        return registry.build(joint, self.mechanism, **asked, sees_s=self.sees_s, time_limit=self.time_limit)


def with_confidence(joint, asked, confidence, sees_s=True, held_out=HELD_OUT, time_limit=None):
    """As `fit` with a confidence, from a Joint of counts. asked : `Target`."""
    if joint.counts is None:
        raise ValueError("joint was given as probabilities, not as counts: there are no records to hold out")
    fitted, held = split(joint, held_out)
    level = 1.0 - validation.check_confidence(confidence)
    n_expected = fitted.counts.sum(axis=1) * (held_out / (1.0 - held_out))  # of each s, held out
    if sees_s:
        steps, build = STANDARD_ERRORS, partial(careful, fitted, n_expected, asked, time_limit=time_limit)
    else:
        about = {"evidence": confidence_limits.evidence_of_two(level), "time_limit": time_limit, "known": {}}
        steps, build = MIXED, partial(careful_markov, fitted, n_expected, asked, **about)
    best, n_passed = _best_on_path(steps, build, fitted, held, asked, level, time_limit)
    redrawn = (best.keep == 0.0) & (best.table_of == 0)  # pairs (s, x) whose Y is drawn from P_Y
    design = Design(
        _all_redrawn(redrawn, fitted.counts, 1, joint.s_labels),
        _all_redrawn(redrawn, fitted.counts, 0, joint.x_labels),
        float(fitted.p_sx[redrawn].sum()),
        fitted.n_records,
        int(held.sum()),
        n_passed,
        len(steps),
        best.dtv(),
        optimal(joint, target=asked, sees_s=sees_s, time_limit=time_limit).dtv(),
        _lemma_1_ceiling(joint, asked).dtv(),
    )
    return best.replace(target=asked, certified=certify.confirmed(best, held, asked, confidence), design=design)


def _best_on_path(steps, build, fitted, held, asked, level, time_limit):
    """(the mechanism with the least damage of those before the first that fails, how many steps these are).

    build : the mechanism of a step, or None where it cannot be found; steps are from the most careful to the least.
    """
    end = math.inf if time_limit is None else time.monotonic() + time_limit
    passed = [drawing_from(fitted, fitted.p_x, "certified")]
    lemma_1 = _lemma_1_ceiling(fitted, asked)
    if asked.is_met_by(certify.Certifying(lemma_1, held).ceiling()):  # which needs no test
        passed.append(lemma_1)
    n_certain = len(passed)
    for step in steps if min(asked) > 0.0 else ():
        if time.monotonic() > end:
            break
        candidate = build(step)
        if candidate is None:  # which the records held out had no say in
            continue
        met = asked.is_met_by(candidate.sampler().certificate())
        if not (met and certify.Certifying(candidate, held).confirms(asked, level)):
            break
        passed.append(candidate)
    return min(passed, key=Mechanism.dtv), len(passed) - n_certain


def _all_redrawn(redrawn, counts, axis, labels):
    """Labels of which all pairs are redrawn, and some record is there."""
    return tuple(labels[i] for i in np.flatnonzero(redrawn.all(axis=axis) & counts.any(axis=axis)))


def split(joint, held_out):
    """(Joint of the records that are fitted on, counts of those that are held out), drawn at random from the counts.

    Each record is held out with probability `held_out`, whatever the others are: both parts are then independent draws
    from P(S, X), in whatever order the records came. The same counts are always split the same way
    (`confidence_limits.CountsRng`).
    """
    from scipy.stats import binom

    rng = confidence_limits.CountsRng(b"linred held out", joint.counts)
    held = binom.ppf(rng.uniform(joint.counts.size).reshape(joint.shape), joint.counts, held_out).astype(np.int64)
    fitted = joint.counts - held
    for name, part in (("to fit on", fitted), ("to test on", held)):
        if not part.any():
            raise ValueError(f"{joint.n_records} records are too few: none is left {name}")
    return Joint.from_counts(fitted, joint.s_labels, joint.x_labels), held


def _lemma_1_ceiling(joint, asked):
    """Lemma 1 with the smallest alpha for which P(y|x) itself meets the targets (errata 7): no data is trusted.

    y may be (1 - alpha + alpha p) / (alpha p) times as likely under one s as under another, p = P_X(y)."""
    factor = math.expm1(min(*asked, 700.0)) * (1.0 - 1e-9)
    rarest = joint.p_x[joint.p_x > 0.0].min()
    return markov(joint, 1.0 / (1.0 + factor * rarest))

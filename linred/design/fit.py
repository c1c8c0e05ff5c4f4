"""`linred.fit`: mechanisms from records; with a confidence, the fewest changed records with *certified* figures.

A random part of the records is held out. The others determine a path of mechanisms, from drawing Y independently of s
and x, which leaks nothing, towards fewer and fewer changed records. The mechanisms are tested in this order on the
held-out records, each at the full level, up to the first that fails. Of those that passed, the one with the fewest
changed records is returned (fixed-sequence testing: Maurer, Hothorn & Lehmacher 1995; Learn then Test: Angelopoulos et
al. 2021).

`robust` builds the mechanisms on the path. They resample rare pairs (s, x), whose counts are too small to certify, from
P_X, which needs no data; `mechanism.design` lists these pairs.
"""

import math
import time
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Unpack

import numpy as np

from linred._common import validation
from linred._common.types import Column, LabelMatrix, Labels, Least
from linred.assurance import certify, confidence_limits
from linred.columns.label_distance import check_name, distortion_of
from linred.design import registry
from linred.design.closed_form import markov
from linred.design.least_leakage import Share
from linred.design.optimal import optimal
from linred.design.robust import careful, careful_markov
from linred.distribution.joint import Joint
from linred.mechanism.mechanism import Mechanism, drawing_from
from linred.mechanism.provenance import Design
from linred.privacy.takes_target import TargetKeywords, takes_keywords
from linred.privacy.target import Target

HELD_OUT = 0.5
UTILITY = ("max_changed", "max_distortion", "least", "distortion")
"""The arguments of `optimal` on what the mechanism costs."""
STANDARD_ERRORS = tuple(z / 10 for z in (80, 60, 50, 45, 40, *range(36, -1, -2)))
"""Margins along the path of mechanisms that use S when sampling."""
MIXED = tuple(share / 100 for share in (99, 98, 97, 96, *range(95, -1, -3), 0))
"""Shares of draws from P_X along the path of mechanisms that do not use S."""


@takes_keywords
def fit(
    s: Column,
    x: Column,
    *,
    alpha: float | None = None,
    max_changed: float | None = None,
    max_distortion: float | None = None,
    least: Least | None = None,
    distortion: LabelMatrix | None = None,
    mechanism: str | Callable[..., Mechanism] = "optimal",
    sees_s: bool = True,
    confidence: float | None = None,
    held_out: float = HELD_OUT,
    s_labels: Labels | None = None,
    x_labels: Labels | None = None,
    time_limit: float | None = None,
    **keywords: Unpack[TargetKeywords[float]],
) -> Mechanism:
    """Return the mechanism with the fewest changed records that meets a target, from columns of records.

    Parameters
    ----------
    s, x : columns of equal length
        The sensitive and the public column, of any kind that `Joint.from_records` accepts; a table of columns is one
        composite column.
    ldp, log_lift, max_lift, min_lift, dp, neighbors, pairs, secrets, given_x, max_changed_by_s
        The limits of a `linred.Target`, one or several; or `target`, a whole one. Only "optimal" can meet all of them,
        and only ldp and log_lift can be certified.
    alpha : float, optional
        In [0, 1]; replaces the target. Not available with a confidence.
    max_changed, max_distortion, least : as in `linred.optimal`, optional
        The share of records that may change, or the expected distortion; and the figure to make as small as possible.
        They need mechanism="optimal" and no confidence.
    distortion : matrix, mapping, function, "absolute" or "squared", optional
        The costs of changing x to y, in place of counting changed records; see `distortion_of` in
        `linred.columns.label_distance`. Not for "markov", and not with a confidence.
    mechanism : {"optimal", "non_markov", "markov"} or callable, default "optimal"
        The kind of mechanism, or a function that is called with a Joint and the limits (or alpha) as keywords and
        returns a Mechanism. With a confidence it must be "optimal".
    sees_s : bool, default True
        Whether the mechanism uses S when sampling.
    confidence : float in (0, 1), optional
        Confidence level at which the target is certified, for example 0.95. Without it, the mechanism meets the target
        for the fitted P(S, X), and the figures are plug-in estimates (errata 7).
    held_out : float in [0.01, 0.99], default 0.5
        Share of the records used for testing. Unused without a confidence.
    s_labels, x_labels : sequence of hashable, optional
        Declare the alphabets; by default they are taken from the records.
    time_limit : float, optional
        Seconds for a linear programme. With a confidence, also the time after which no further mechanism on the path
        is built; the best one that passed is returned.

    Returns
    -------
    Mechanism
        With a confidence, `mechanism.certified` has the certified figures and `mechanism.design` their price.

    Guarantee
    ---------
    With a confidence: if the records are independent draws from P(S, X), then with probability at least `confidence`
    the true LDP and log-lift of the returned mechanism meet the target. Proof: the path depends only on the fitted
    records, which are independent of the held-out records. Given the path, a mechanism that misses the target passes
    its test with probability at most 1 - confidence; and for any such mechanism to be returned, the first one on the
    path must have passed. If the target has two limits, a mechanism that misses one of them must pass the test of that
    limit. P_Y equals the fitted P_X.

    Without a confidence: the guarantee of `linred.optimal` (or of the function named by `mechanism`).

    >>> import numpy as np
    >>> rng = np.random.default_rng(1)
    >>> s = rng.integers(0, 2, 40000)
    >>> x = np.where(rng.random(40000) < 0.6, s, rng.integers(0, 4, 40000))
    >>> certain = fit(s, x, ldp=1.0, confidence=0.95)
    >>> certain.certified.ldp <= 1.0, fit(s, x, ldp=1.0).dtv() < certain.dtv() < 0.5
    (True, True)
    """
    more = {"max_changed": max_changed, "max_distortion": max_distortion, "least": least, "distortion": distortion}
    how = {"confidence": confidence, "held_out": held_out, "time_limit": time_limit, **more}
    settings = FitSettings.checked(mechanism, alpha, keywords, sees_s, **how)
    return settings.mechanism_for(Joint.from_records(s, x, s_labels, x_labels))


class FitSettings(NamedTuple):
    """The settings of a fit. `linred.fit`, `Sanitizer` and the command check them before they read records.

    options : time_limit and those of `UTILITY`, by name; None if not given.
    """

    mechanism: object  # a name in `registry.BY_NAME`, or a function
    alpha: float | None
    target: Target | None
    sees_s: bool
    confidence: float | None
    held_out: float
    options: dict[str, Any]

    @classmethod
    def checked(cls, mechanism, alpha, keywords, sees_s=True, confidence=None, held_out=HELD_OUT, **options):
        """Return the settings, checked. keywords : `TargetKeywords`, {name: limit or None}, or a whole "target"."""
        options = dict.fromkeys(("time_limit", *UTILITY)) | options
        mechanism, target = registry.check(mechanism, alpha, keywords, sees_s, **options)
        Share.of(**{name: options[name] for name in UTILITY}, alpha=alpha)
        check_name("distortion", options["distortion"])
        validation.number("held_out", held_out, 0.01, 0.99)
        if confidence is not None:
            validation.check_confidence(confidence)
            if alpha is not None:
                raise ValueError(
                    f"alpha = {alpha!r} and confidence are both given: with confidence give a target, ldp or log_lift"
                )
            if mechanism != "optimal":
                shown = validation.shortened(mechanism)
                raise ValueError(f"mechanism = {shown} cannot be fitted with a confidence: only 'optimal' can")
            certify.refuse_uncertified(name for name in UTILITY if options[name] is not None)
            certify.certified_limits(target)
        return cls(mechanism, alpha, target, sees_s, confidence, held_out, options)

    def mechanism_for(self, joint, column=None):
        """Build the mechanism for a Joint of records. column : the `ColumnSpec` of the one public column, or None.

        The column has the edges of its bins, from which a distortion such as "absolute" takes their centres.
        """
        if self.confidence is not None:
            how = self.sees_s, self.held_out, self.options["time_limit"]
            return with_confidence(joint, self.target, self.confidence, *how)
        options = self.options
        if options["distortion"] is not None:
            distortion = distortion_of("distortion", options["distortion"], joint.x_labels, column)
            options = options | {"distortion": distortion}
        asked = {"alpha": self.alpha, "target": self.target}
        return registry.build(joint, self.mechanism, **asked, sees_s=self.sees_s, **options)


def with_confidence(joint, asked, confidence, sees_s=True, held_out=HELD_OUT, time_limit=None):
    """Return the mechanism of `fit` with a confidence, from a Joint with counts.

    asked : `Target` with no other limits than those of LDP and log-lift.
    """
    certify.certified_limits(asked)
    if joint.counts is None:
        raise ValueError("joint has probabilities but no counts, so no records can be held out: use Joint.from_counts")
    fitted, held = split(joint, held_out)
    level = 1.0 - validation.check_confidence(confidence)
    n_expected = fitted.counts.sum(axis=1) * (held_out / (1.0 - held_out))  # held-out records of each s
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
    """Return (the mechanism with the fewest changed records among those that passed, the number of steps that passed).

    steps : from the most to the least conservative. build : function of a step that returns its mechanism, or None if
    none is found.
    """
    end = math.inf if time_limit is None else time.monotonic() + time_limit
    passed = [drawing_from(fitted, fitted.p_x, "certified")]
    lemma_1 = _lemma_1_ceiling(fitted, asked)
    if asked.is_met_by(certify.Certifying(lemma_1, held).ceiling()):
        passed.append(lemma_1)  # its worst-case bound meets the target, so it needs no test
    n_certain = len(passed)
    for step in steps if min(certify.certified_limits(asked)) > 0.0 else ():
        if time.monotonic() > end:
            break
        candidate = build(step)
        if candidate is None:
            continue  # skipping does not depend on the held-out records, so the test stays valid
        met = asked.is_met_by(candidate.sampler().certificate())
        if not (met and certify.Certifying(candidate, held).confirms(asked, level)):
            break
        passed.append(candidate)
    return min(passed, key=Mechanism.dtv), len(passed) - n_certain


def _all_redrawn(redrawn, counts, axis, labels):
    """Return the labels that occur and whose pairs are all resampled."""
    return tuple(labels[i] for i in np.flatnonzero(redrawn.all(axis=axis) & counts.any(axis=axis)))


def split(joint, held_out):
    """Split the counts at random; return (Joint of the fitted records, counts of the held-out records).

    Each record is held out with probability `held_out`, independently of the others. Both parts are then independent
    draws from P(S, X), whatever the order of the records. Equal counts are always split in the same way
    (`confidence_limits.CountsRng`).
    """
    from scipy.stats import binom

    rng = confidence_limits.CountsRng(b"linred held out", joint.counts)
    held = binom.ppf(rng.uniform(joint.counts.size).reshape(joint.shape), joint.counts, held_out).astype(np.int64)
    fitted = joint.counts - held
    for name, part in (("to fit on", fitted), ("to test on", held)):
        if not part.any():
            raise ValueError(
                f"{joint.n_records} records are too few for held_out = {held_out:g}: none is left {name}; fit more "
                "records, or fit without a confidence"
            )
    return Joint.from_counts(fitted, joint.s_labels, joint.x_labels), held


def _lemma_1_ceiling(joint, asked):
    """Return Lemma 1 with the smallest alpha whose worst-case bound meets the target for any P(X|S) (errata 7).

    With p = P_X(y), y can be at most (1 - alpha + alpha p) / (alpha p) times as likely under one s as under another.
    """
    factor = math.expm1(min(*certify.certified_limits(asked), 700.0)) * (1.0 - 1e-9)
    rarest = joint.p_x[joint.p_x > 0.0].min()
    return markov(joint, 1.0 / (1.0 + factor * rarest))

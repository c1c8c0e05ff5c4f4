"""`linred.fit`: mechanisms from columns of records, and the checked settings of a fit."""

from collections.abc import Callable
from typing import Any, NamedTuple, Unpack

from linred._common.types import Column, LabelMatrix, Labels, Least
from linred.columns.label_distance import check_name, distortion_of
from linred.design import registry
from linred.design.least_leakage import Share
from linred.design.robust_optimum import check_robust
from linred.distribution.joint import Joint
from linred.mechanism.mechanism import Mechanism
from linred.privacy.takes_target import TargetKeywords, takes_keywords
from linred.privacy.target import Target

UTILITY = ("max_changed", "max_distortion", "least", "distortion")
"""The arguments of `optimal` on what the mechanism costs."""


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
        and only those of LDP and of lifts can be certified.
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
    s_labels, x_labels : sequence of hashable, optional
        Declare the alphabets; by default they are taken from the records.
    time_limit : float, optional
        Seconds for a linear programme.

    Returns
    -------
    Mechanism
        With a confidence, `mechanism.certified` has the certified figures and `mechanism.design` their price.

    Guarantee
    ---------
    With a confidence: if the records are independent draws from P(S, X), then with probability at least `confidence`
    the true figures of the returned mechanism meet the target, and are at most those in `mechanism.certified`, all of
    them at once. All records serve to fit and to certify: see `linred.design.robust_optimum`. P_Y equals the P_X of the
    records. If |S||X|^2 is above 25,000, other mechanisms that meet the target may change fewer records, by at most
    `gap`.

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
    settings = FitSettings.checked(
        mechanism, alpha, keywords, sees_s, confidence=confidence, time_limit=time_limit, **more
    )
    return settings.mechanism_for(Joint.from_records(s, x, s_labels, x_labels))


class FitSettings(NamedTuple):
    """The settings of a fit. `linred.fit`, `Sanitizer` and the command check them before they read records.

    options : confidence, time_limit and those of `UTILITY`, by name; None if not given.
    """

    mechanism: object  # a name in `registry.BY_NAME`, or a function
    alpha: float | None
    target: Target | None
    sees_s: bool
    options: dict[str, Any]

    @classmethod
    def checked(cls, mechanism, alpha, keywords, sees_s=True, **options):
        """Return the settings, checked. keywords : `TargetKeywords`, {name: limit or None}, or a whole "target"."""
        options = dict.fromkeys(("confidence", "time_limit", *UTILITY)) | options
        mechanism, target = registry.check(mechanism, alpha, keywords, sees_s, **options)
        Share.of(**{name: options[name] for name in UTILITY}, alpha=alpha)
        check_name("distortion", options["distortion"])
        if options["confidence"] is not None:
            given = {"alpha": alpha, "max_changed": options["max_changed"], "max_distortion": options["max_distortion"]}
            check_robust(target, options["confidence"], **given)
        return cls(mechanism, alpha, target, sees_s, options)

    def mechanism_for(self, joint, column=None):
        """Build the mechanism for a Joint of records. column : the `ColumnSpec` of the one public column, or None.

        The column has the edges of its bins, from which a distortion such as "absolute" takes their centres.
        """
        options = self.options
        if options["distortion"] is not None:
            distortion = distortion_of("distortion", options["distortion"], joint.x_labels, column)
            options = options | {"distortion": distortion}
        asked = {"alpha": self.alpha, "target": self.target}
        return registry.build(joint, self.mechanism, **asked, sees_s=self.sees_s, **options)

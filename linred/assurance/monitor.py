"""`linred.Monitor`: tests whether a stream of records still has the P(X|S) that a mechanism was fitted on.

The fit is an estimate. A test of the stream against the fitted P(X|S) (chi-square, likelihood ratio) eventually rejects
without any drift, because the estimate has an error and a long stream reveals it. The test here compares two samples,
the m records of the calibration and those of the stream, and it may be evaluated after every record.

For one s, let c be the counts of the calibration and n those of the stream so far, over k = |X| + 1 categories, of
which the last is for x outside the alphabet; let h = c / m. The evidence against "both samples come from one P" is an
e-process (universal inference: Wasserman, Ramdas & Balakrishnan 2020),

    E_s = min over P of A(P) B(P),   A(P) = prod_x ((h_x + P_x) / (2 P_x))^c_x / G,   B(P) = Q(n) / prod_x P_x^n_x,

where Q is a mean of Dirichlet-multinomial predictive distributions of several concentrations, all with the centre
(c + 1/2) / (m + k/2), and

    G = sum over i = 0 .. m of binom(i + k - 2, i) 2^-i m! / ((m - i)! m^i) <= 2^(k-1).

The evidence is the mean of E_s over the s of the calibration. The alarm is raised at 1 / (1 - confidence).

*Proof that without drift the alarm is ever raised with probability at most 1 - confidence.* Given all s, let the
records be independent, and let those of s have the distribution P both in the calibration and in the stream.
(1) A(P) has mean one. To show: the sum over c of m! / prod c_x! prod_x ((h_x + P_x) / 2)^c_x equals G for every P. With
z = 1/2m and T = u e^(zT), Lagrange's inversion gives sum_j (a + jz)^j u^j / j! = e^(aT) / (1 - zT). With a = P_x / 2,
the product over x is e^(T/2) (1 - zT)^-k. Its coefficient of u^m is, by Lagrange's inversion again, the coefficient of
T^m in e^T (1 - zT)^(1-k), which is G / m!. (This is Abel's identity for several variables; Agrawal 2020 bounds such
sums in another way.)
(2) Given the calibration, B(P) is a likelihood ratio of the stream, hence a nonnegative martingale that starts at one.
(3) Therefore A(P) B(P) is a nonnegative martingale of mean one, and so is its mean over s, because each record changes
only one term. By Ville's inequality it ever reaches 1 / (1 - confidence) with probability at most 1 - confidence. E_s
is a minimum over P, so it never exceeds A(P) B(P): not after any record, and hence not at the end of any batch,
whatever the batch sizes are.

P(s) does not occur in the test, so a change of P(S) alone is not drift. LDP and maximal leakage are figures of P(Y|S)
and stay valid then, and so do limits of pairs, given x, and of changed records by s; lifts and mutual information are
relative to P_Y, which changes with P(S), and limits of secrets assume P(s|group).

*Why not a simpler A(P).* With a Dirichlet(1/2, ..., 1/2) mixture q(c), A(P) = q(c) / prod_x P_x^c_x has mean one too,
but costs (k-1)/2 log m nats, where G costs (k-1) log 2. With that A(P), and the same prior for the stream, it took four
times as many records to find a drift of total variation .1 in the largest s of Adult, and a drift of .05 was never
found. Other weights of the s, several mixtures of h and P, or a product over s instead of the mean changed little.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import gammaln, xlogy

from linred._common import render, validation
from linred._common.types import Codes, Column, Label
from linred._kernels import counting
from linred.errors import DriftError, DriftWarning

if TYPE_CHECKING:
    from linred.mechanism.mechanism import Mechanism

CONCENTRATIONS = (1.0, 16.0, 256.0, 4096.0, 65536.0)
"""Concentrations of the predictive distributions: how close a drifted P(x|s) may be to the calibration.

A finer grid does not find drift sooner.
"""
NEWTON_STEPS = 60
"""Largest number of steps; six are usual. Stopping early can only lower the evidence, so the test stays valid."""


class Monitor:
    """Watches a stream of records (s, x) and raises an alarm when P(x|s) is no longer what the mechanism was fitted on.

    Parameters
    ----------
    mechanism : Mechanism
        Its Joint must have counts. They are the calibration with which the stream is compared.
    confidence : float
        Probability that a stream without drift never raises the alarm.
    on_drift : "warn" or "error"
        "warn" issues one `DriftWarning` at the alarm. "error" raises a `DriftError` at the alarm and at every later
        update. In both cases the batch has been counted.

    Attributes
    ----------
    drifted : bool
        Whether the alarm was ever raised. The mechanism's certificate is then withdrawn permanently.
    drifted_at : n_records at the end of the batch that raised the alarm; None before.
    evidence : current evidence against "no drift", the log of the e-process in nats. It can fall again after an alarm.
    evidence_given_s : the same for each s alone, |S|; minus infinity for an s without records in the calibration.
    strongest : label of the s with the most evidence.
    limit : evidence at which the alarm is raised, log(1 / (1 - confidence)).
    n_records, n_unseen : number of records so far, and of those with an s or x outside the alphabets.

    Guarantee
    ---------
    Suppose that records are independent given s, and that P(x|s) is the same in the calibration and in the stream for
    each s. Then the probability that the monitor *ever* raises the alarm is at most 1 - confidence, over calibration
    and stream together, whatever P(S) does and however records are grouped into batches. The proof is in
    `linred.assurance.monitor`. Neither the order of the records nor the batches change `evidence`.

    An x outside the alphabet is one more category of its s. Records with an s outside the alphabet, or without records
    in the calibration, are only counted. The alphabet of X is taken as fixed in advance. If it was read from the
    calibration, the guarantee assumes that the calibration contained every value that can occur; a value that it did
    not contain counts as drift.

    Notes
    -----
    The absence of an alarm does not prove that nothing changed. As a rule of thumb, a change of P(x|s) to P'(x|s) is
    found, at a confidence of .999, when sum_x (P'(x|s) - P(x|s))^2 / P(x|s) times m n / (m + n) is about 4 |X| + 20,
    with m records of s in the calibration and n in the stream. A small calibration therefore never reveals a small
    drift, however long the stream is.

    Memory O(|S||X|). An update takes O(records + |S||X|), with logarithms only for the s in the batch.

    Examples
    --------
    >>> from linred import Joint, non_markov
    >>> mechanism = non_markov(Joint.from_counts([[600, 400], [300, 700]], ["f", "m"], ["a", "b"]), 0.5)
    >>> monitor = Monitor(mechanism)
    >>> monitor.update(["f", "m"] * 50, ["a", "b"] * 30 + ["b", "a"] * 20)
    >>> print(monitor)
    Drift monitor: 100 records observed; 2,000 in the calibration
    Evidence: -1.7 nats; the alarm is raised at 6.9 (confidence 0.999)
    Largest evidence within one value of S: -1.6 nats
    No drift detected
    """

    def __init__(
        self, mechanism: Mechanism, *, confidence: float = 0.999, on_drift: Literal["warn", "error"] = "warn"
    ) -> None:
        joint = validation.mechanism(mechanism).joint
        if joint.counts is None:
            raise ValueError("mechanism was built from probabilities, without counts: fit it on records to monitor it")
        confidence = validation.check_confidence(confidence)
        if not isinstance(on_drift, str) or on_drift not in ("warn", "error"):
            raise ValueError(f"on_drift = {validation.shortened(on_drift)} is not 'warn' or 'error'")
        self.mechanism, self.confidence, self.on_drift = mechanism, confidence, on_drift
        self.limit = -math.log1p(-confidence)
        self.n_records, self.n_unseen = 0, 0
        self.drifted_at: int | None = None
        self._calibration = np.pad(joint.counts, ((0, 0), (0, 1)))
        self._stream = np.zeros_like(self._calibration)
        n_calibrated = self._calibration.sum(axis=1)
        self._price = np.array([_log_price(int(m), joint.shape[1] + 1) for m in n_calibrated])
        self._calibrated = n_calibrated > 0
        self._evidence_given_s = np.where(self._calibrated, -self._price, -math.inf)

    @property
    def drifted(self) -> bool:
        """Whether the alarm was ever raised."""
        return self.drifted_at is not None

    @property
    def n_calibrated(self) -> int:
        """The number of records of the calibration."""
        return int(self._calibration.sum())

    @property
    def evidence(self) -> float:
        """The current evidence against "no drift", in nats."""
        return float(np.logaddexp.reduce(self._evidence_given_s)) - math.log(np.count_nonzero(self._calibrated))

    @property
    def evidence_given_s(self) -> np.ndarray:
        """The current evidence for each s alone, |S|."""
        return self._evidence_given_s.copy()

    @property
    def strongest(self) -> Label:
        """The label of the s with the most evidence."""
        return self.mechanism.joint.s_labels[int(np.argmax(self._evidence_given_s))]

    def update(self, s: Column, x: Column) -> None:
        """Count the records of two columns, of any kind that `mechanism.sanitize` accepts, and test for drift.

        s is needed even if the mechanism does not use S when sampling. A batch that raises an error changes nothing.
        """
        joint = self.mechanism.joint
        if s is None:
            raise ValueError(
                "s is None: drift is a change of P(x|s), so a monitor needs s even if the mechanism does not"
            )
        s_codes, x_codes = joint.s_encoder.codes("s", s), joint.x_encoder.codes("x", x)
        if s_codes.size != x_codes.size:
            raise ValueError(f"s has {s_codes.size} records and x has {x_codes.size}")
        self._count(s_codes, x_codes)
        self._check()

    def update_codes(self, s_codes: Codes, x_codes: Codes) -> None:
        """Count codes, and test for drift. The codes |S| and |X| stand for values outside the alphabets."""
        self._count(s_codes, x_codes)
        self._check()

    def _count(self, s_codes, x_codes):
        n_s, n_x = self.mechanism.joint.shape
        batch = counting.count_pairs(s_codes, x_codes, n_s + 1, n_x + 1)
        self._stream += batch[:n_s]
        self.n_records += int(batch.sum())
        self.n_unseen += int(batch[n_s].sum() + batch[:n_s, n_x].sum())
        changed = np.flatnonzero(batch[:n_s].any(axis=1) & self._calibrated)
        if changed.size:
            c, n = self._calibration[changed].astype(float), self._stream[changed].astype(float)
            self._evidence_given_s[changed] = _log_predictive(c, n) + _log_worst(c, n) - self._price[changed]

    def _check(self):
        """Raise the alarm once the evidence reaches the limit. It stays raised."""
        first = not self.drifted and self.evidence >= self.limit
        if first:
            self.drifted_at = self.n_records
        if self.drifted and self.on_drift == "error":
            raise DriftError(render.text("drift", self))
        if first:
            warnings.warn(render.text("drift", self), DriftWarning, stacklevel=3)

    def __str__(self) -> str:
        return render.text("monitor", self)

    def __repr__(self) -> str:
        seen = "drift" if self.drifted else "no drift"
        return f"<Monitor of {self.mechanism!r}: {seen} in {self.n_records} records>"


def _log_price(m, k):
    """Return an upper bound of log G for m records of calibration in k >= 2 categories. O(k).

    From i = 2k + 200 on, each term is less than 3/4 of the one before, so the omitted terms sum to less than three
    times the last.
    """
    i = np.arange(min(m, 2 * k + 200) + 1)
    falling = np.concatenate([[0.0], np.cumsum(np.log1p(-i[:-1] / max(m, 1)))])  # m! / ((m - i)! m^i)
    terms = gammaln(i + k - 1) - gammaln(i + 1) - gammaln(k - 1) - i * math.log(2.0) + falling
    if i[-1] < m:
        terms[-1] += math.log(4.0)
    return float(np.logaddexp.reduce(terms))


def _log_predictive(c, n):
    """Return log Q(n), the probability of the stream as a sequence, for each row."""
    centre = (c + 0.5) / (c.sum(axis=1, keepdims=True) + 0.5 * c.shape[1])
    n_records = n.sum(axis=1)
    logs = []
    for concentration in CONCENTRATIONS:
        prior = concentration * centre
        log_p = (gammaln(prior + n) - gammaln(prior)).sum(axis=1)
        logs.append(log_p + gammaln(concentration) - gammaln(concentration + n_records))
    return np.logaddexp.reduce(logs) - math.log(len(logs))


def _log_worst(c, n):
    """Return a lower bound of min over P of sum_x c log((h + P) / 2P) - n log P, for each row with c.sum() > 0.

    The function is convex in P. With a multiplier v for sum P = 1, P(v) is the root of
    v P^2 + (v h - n) P - (c + n) h = 0. The value at P(v) plus v (sum P(v) - 1) is at most the minimum for every v, by
    weak duality, with equality if sum P(v) = 1. That sum is convex and decreasing in v and equals one at or above
    v = n.sum() + c.sum() / 2, so Newton steps from there never overshoot.
    """
    m = c.sum(axis=1, keepdims=True)
    h, total, v = c / m, c + n, n.sum(axis=1, keepdims=True) + 0.5 * m
    p = _tilted(h, n, total, v)
    for _ in range(NEWTON_STEPS):
        over = p.sum(axis=1, keepdims=True) - 1.0
        if (over <= 1e-13).all():
            break
        ratio = np.divide(p, h + p, out=np.zeros_like(p), where=p > 0.0)
        slope = np.divide(p * p, total - c * ratio * ratio, out=np.zeros_like(p), where=p > 0.0)
        v = v + np.maximum(over, 0.0) / slope.sum(axis=1, keepdims=True)
        p = _tilted(h, n, total, v)
    value = xlogy(c, 0.5 * (h + p)) - xlogy(total, p)
    return value.sum(axis=1) + v[:, 0] * (p.sum(axis=1) - 1.0)


def _tilted(h, n, total, v):
    """Return the nonnegative root of v P^2 + (v h - n) P - total h, without cancellation."""
    b = v * h - n
    larger = 0.5 * (np.abs(b) + np.sqrt(b * b + 4.0 * v * total * h))
    return np.where(b > 0.0, np.divide(total * h, larger, out=np.zeros_like(b), where=b > 0.0), larger / v)

"""Drift: whether a stream of records still comes from the P(X|S) that a mechanism was fitted on.

The fit is an estimate. A test of the stream against it (chi-square, a likelihood ratio) rejects in the end without any
drift, because the estimate is off and a long stream shows it. The test here is of two samples, the m records of the
calibration and those of the stream, and it may be looked at after every record.

For one s: c counts the calibration, n the stream so far, over k = |X| + 1 categories, the last for x outside the
alphabet; h = c / m. The evidence against "both come from one P" is an e-process (universal inference: Wasserman, Ramdas
& Balakrishnan 2020),

    E_s = min over P of A(P) B(P),   A(P) = prod_x ((h_x + P_x) / (2 P_x))^c_x / G,   B(P) = Q(n) / prod_x P_x^n_x,

where Q is a mean of Dirichlet-multinomial predictives, centred on (c + 1/2) / (m + k/2), of several concentrations, and

    G = sum over i = 0 .. m of binom(i + k - 2, i) 2^-i m! / ((m - i)! m^i) <= 2^(k-1).

The evidence is the mean of E_s over the s of the calibration, and the alarm is at 1 / (1 - confidence).

*Proof that without drift it ever alarms with probability 1 - confidence at most.* Given all s, let the records be
independent, and those of s have the distribution P, in calibration and stream.
(1) A(P) has mean one: the sum over c of m! / prod c_x! prod_x ((h_x + P_x) / 2)^c_x is G whatever P is. With z = 1/2m
and T = u e^(zT), Lagrange's inversion gives sum_j (a + jz)^j u^j / j! = e^(aT) / (1 - zT). With a = P_x / 2 the product
over x is e^(T/2) (1 - zT)^-k; its coefficient of u^m is, by Lagrange again, that of T^m in e^T (1 - zT)^(1-k), which
is G / m!. (It is Abel's identity for several variables; Agrawal 2020 bounds such sums in another way.)
(2) Given the calibration, B(P) is a likelihood ratio of the stream: a nonnegative martingale that starts at one.
(3) So A(P) B(P) is a nonnegative martingale of mean one, and so is its mean over s, as a record moves only one of them.
By Ville's inequality it ever reaches 1 / (1 - confidence) with probability 1 - confidence at most. E_s is a minimum, so
never above it: not after any record, and so not at the ends of batches either, whatever their sizes are.

P(s) is nowhere in it: a change of P(S) alone is no drift. LDP and maximal leakage are figures of P(Y|S) and stay;
lifts and mutual information are against P_Y, which moves with P(S).

*Why not plainer.* With q(c), a Dirichlet(1/2, ..., 1/2) mixture, A(P) = q(c) / prod_x P_x^c_x has mean one as well, but
costs (k-1)/2 log m nats where G costs (k-1) log 2. With that, and the same prior for the stream, it took four times
as many records to find a drift by a total variation of .1 in the largest s of Adult, and one of .05 was never found.
Other weights of the s, several mixtures of h and P, or a product over s in place of the mean changed little.
"""

import math
import warnings

import numpy as np
from scipy.special import gammaln, xlogy

from linred._common import render, validation
from linred._kernels import counting
from linred.errors import DriftError, DriftWarning

CONCENTRATIONS = (1.0, 16.0, 256.0, 4096.0, 65536.0)
"""Of the predictives: how near to the calibration a drifted P(x|s) may be. A finer grid finds nothing sooner."""
NEWTON_STEPS = 60
"""At most; six are usual. Stopping early gives less evidence, never too much."""


class Monitor:
    """Watches a stream of records (s, x), and says when P(x|s) is no longer what a mechanism was fitted on.

    Parameters
    ----------
    mechanism : Mechanism
        Its Joint must have counts: the calibration that the stream is compared with.
    confidence : float
        That a stream without drift never raises the alarm.
    on_drift : "warn" or "error"
        At the alarm, one `DriftWarning`; or a `DriftError`, then and at every later update. The batch has been counted.

    Attributes
    ----------
    drifted : bool, whether it ever alarmed. Then the mechanism's certificate is withdrawn, for good.
    drifted_at : n_records at the end of the batch that raised the alarm; None before.
    evidence : against "no drift", as it is now: log of the e-process, in nats. It may fall again, `drifted` does not.
    evidence_given_s : the same for each s alone, |S|; minus infinity for an s that the calibration never saw.
    strongest : the label of the s with the most evidence.
    limit : the evidence that is an alarm, log(1 / (1 - confidence)).
    n_records, n_unseen : records so far; those of them with an s or x outside the alphabets.

    Guarantee
    ---------
    If records are independent given s, and P(x|s) is for every s what it was in the calibration, the probability that
    the monitor *ever* alarms is at most 1 - confidence, over calibration and stream together, whatever P(S) does and
    whatever the batches are. `linred.assurance.monitor` proves it. The order of the records does not change `evidence`,
    nor do the batches.

    An x outside the alphabet is one more category of its s; records of an s outside it, or never seen in the
    calibration, are only counted. The alphabet of X is taken for fixed. Where it was read off the calibration, the
    probability is that of an alarm although the calibration had every value that can occur: a value that it did not
    have counts as drift.

    Notes
    -----
    No alarm is no proof that nothing changed. As a rule of thumb, P(x|s) that becomes P'(x|s) is found, at a confidence
    of .999, when sum_x (P'(x|s) - P(x|s))^2 / P(x|s) times m n / (m + n) is about 4 |X| + 20, with m records of s in
    the calibration and n in the stream: few records in the calibration never show a small drift, however long it is.

    Memory O(|S||X|). An update takes O(records + |S||X|), logarithms only for the s in the batch.

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

    def __init__(self, mechanism, *, confidence=0.999, on_drift="warn"):
        joint = validation.mechanism(mechanism).joint
        if joint.counts is None:
            raise ValueError("mechanism.joint was given as probabilities: drift is seen against counts of records")
        confidence = validation.number("confidence", confidence, 0.0, 1.0)
        if not 0.0 < confidence < 1.0:
            raise ValueError(f"confidence = {confidence!r} is not above 0 and below 1")
        if not isinstance(on_drift, str) or on_drift not in ("warn", "error"):
            raise ValueError(f"on_drift = {on_drift!r} is not 'warn' or 'error'")
        self.mechanism, self.confidence, self.on_drift = mechanism, confidence, on_drift
        self.limit = -math.log1p(-confidence)
        self.n_records, self.n_unseen, self.drifted_at = 0, 0, None
        self._calibration = np.pad(joint.counts, ((0, 0), (0, 1)))
        self._stream = np.zeros_like(self._calibration)
        n_calibrated = self._calibration.sum(axis=1)
        self._price = np.array([_log_price(int(m), joint.shape[1] + 1) for m in n_calibrated])
        self._calibrated = n_calibrated > 0
        self._evidence_given_s = np.where(self._calibrated, -self._price, -math.inf)

    @property
    def drifted(self):
        return self.drifted_at is not None

    @property
    def n_calibrated(self):
        """Records of the calibration."""
        return int(self._calibration.sum())

    @property
    def evidence(self):
        return float(np.logaddexp.reduce(self._evidence_given_s)) - math.log(np.count_nonzero(self._calibrated))

    @property
    def evidence_given_s(self):
        return self._evidence_given_s.copy()

    @property
    def strongest(self):
        return self.mechanism.joint.s_labels[int(np.argmax(self._evidence_given_s))]

    def update(self, s, x):
        """Count the records of two columns of any kind, as `mechanism.sanitize` takes them, and look for drift.

        s is needed also where the mechanism does not see it. A batch that is refused changes nothing.
        """
        joint = self.mechanism.joint
        if s is None:
            raise ValueError("s is None: drift is that of P(x|s), also where the mechanism draws without s")
        s_codes, x_codes = joint.s_encoder.codes("s", s), joint.x_encoder.codes("x", x)
        if s_codes.size != x_codes.size:
            raise ValueError(f"s has {s_codes.size} records and x has {x_codes.size}")
        self._count(s_codes, x_codes)
        self._judge()

    def update_codes(self, s_codes, x_codes):
        """`update` for codes below |S| and |X|; |S| and |X| themselves stand for values outside the alphabets."""
        self._count(s_codes, x_codes)
        self._judge()

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

    def _judge(self):
        """The alarm: it is raised here, and stays."""
        first = not self.drifted and self.evidence >= self.limit
        if first:
            self.drifted_at = self.n_records
        if self.drifted and self.on_drift == "error":
            raise DriftError(render.text("drift", self))
        if first:
            warnings.warn(render.text("drift", self), DriftWarning, stacklevel=3)

    def __str__(self):
        return render.text("monitor", self)

    def __repr__(self):
        seen = "drift" if self.drifted else "no drift"
        return f"<Monitor of {self.mechanism!r}: {seen} in {self.n_records} records>"


def _log_price(m, k):
    """log G for m records of calibration in k >= 2 categories, from above. O(k).

    From i = 2k + 200 on a term is less than 3/4 of the one before: what is left out is below three times the last.
    """
    i = np.arange(min(m, 2 * k + 200) + 1)
    falling = np.concatenate([[0.0], np.cumsum(np.log1p(-i[:-1] / max(m, 1)))])  # m! / ((m - i)! m^i)
    terms = gammaln(i + k - 1) - gammaln(i + 1) - gammaln(k - 1) - i * math.log(2.0) + falling
    if i[-1] < m:
        terms[-1] += math.log(4.0)
    return float(np.logaddexp.reduce(terms))


def _log_predictive(c, n):
    """log Q(n), the probability of the stream as a sequence, for each row."""
    centre = (c + 0.5) / (c.sum(axis=1, keepdims=True) + 0.5 * c.shape[1])
    n_records = n.sum(axis=1)
    logs = []
    for concentration in CONCENTRATIONS:
        prior = concentration * centre
        log_p = (gammaln(prior + n) - gammaln(prior)).sum(axis=1)
        logs.append(log_p + gammaln(concentration) - gammaln(concentration + n_records))
    return np.logaddexp.reduce(logs) - math.log(len(logs))


def _log_worst(c, n):
    """min over P of sum_x c log((h + P) / 2P) - n log P, from below, for each row of counts with c.sum() > 0.

    It is convex in P. With a multiplier v for sum P = 1, P(v) is the root of v P^2 + (v h - n) P - (c + n) h = 0. The
    value there plus v (sum P(v) - 1) is at most the minimum for every v (weak duality), and equal where the sum is one.
    The sum is convex and decreasing in v, and its root n.sum() + c.sum() / 2 or above: Newton's steps from there
    never overshoot.
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
    """The nonnegative root of v P^2 + (v h - n) P - total h, without cancellation."""
    b = v * h - n
    larger = 0.5 * (np.abs(b) + np.sqrt(b * b + 4.0 * v * total * h))
    return np.where(b > 0.0, np.divide(total * h, larger, out=np.zeros_like(b), where=b > 0.0), larger / v)

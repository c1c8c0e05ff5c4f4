"""How tight certified figures are (certified LDP divided by true LDP), and how many more records change for them.

The first table is for a known 4 x 12 distribution: `optimal` at LDP 1 is fitted on n records, and figures are medians
of 9 fits at 95 % confidence. "Held out" is `certify` with n other records, and "from the fit" is `certify` without
records. The rivals bound the same LDP from the same held-out records: Clopper-Pearson limits with half of the level
each, and Hoeffding's bound for a pair of groups.
"""

import math
import statistics

import numpy as np

import linred
from benchmarks.data import TABLES, counts
from linred.assurance import certify, confidence_limits

SIZES, N_FITS, LEVEL = (1000, 3000, 10_000, 30_000, 100_000, 1_000_000), 9, 0.05


def text():
    return f"{_by_n()}\n\n{_prices()}\n"


def _by_n():
    lines = ["| n | true LDP | held out | from the fit | halves of the level | Hoeffding, pairs |"]
    lines.append("|---:|---:|---:|---:|---:|---:|")
    rng = np.random.default_rng(1)
    truth = linred.Joint.from_conditional(rng.dirichlet(np.full(12, 3.0), 4), [0.1, 0.2, 0.3, 0.4])
    for n in SIZES:
        rows = [_one(truth, n, rng) for _ in range(N_FITS)]
        true, *ratios = map(statistics.median, zip(*rows, strict=True))
        lines.append(f"| {n:,} | {true:.3f} | " + " | ".join(f"{ratio:.3f}" for ratio in ratios) + " |")
    return "\n".join(lines)


def _one(truth, n, rng):
    fitted, held = (linred.Joint.from_counts(rng.multinomial(n, truth.p_sx.ravel()).reshape(4, 12)) for _ in range(2))
    mechanism = linred.optimal(fitted, ldp=1.0)
    q = np.einsum("sx,sxy->sy", truth.p_x_given_s, mechanism.p_y_given_sx)
    true = math.log((q.max(axis=0) / q.min(axis=0)).max())
    certifying = certify.Certifying(mechanism, held.counts)
    hits = certify.Hits(certifying.rows, held.counts, certifying.low, certifying.high)
    halves = _ldp(hits.highest(LEVEL / 2), hits.lowest(LEVEL / 2))
    u, n_hits, n_s = (
        confidence_limits.evidence_of_two(LEVEL),
        hits.n_hits[..., None],
        held.counts.sum(axis=1)[:, None, None],
    )
    steps = np.linspace(0.0, u, 65)
    pairs = _ldp(*(hits._scaled(part) for part in _hoeffding(n_hits, n_s, steps[1:], steps[:0:-1])))
    ours = linred.certify(mechanism, held).ldp, linred.certify(mechanism).ldp
    return true, *(figure / true for figure in (*ours, halves, pairs))


def _ldp(highs, lows):
    return certify._largest_ratio(*(part.reshape(*part.shape[:2], -1) for part in (highs, lows)))[0]


def _hoeffding(n_hits, n, above, below):
    """Return the largest p with n kl(n_hits / n, p) <= above and the smallest with <= below, by bisection."""
    share = n_hits / n
    ends = []
    for evidence, end in ((above, 1.0), (below, 0.0)):
        near, far = np.broadcast_arrays(share + 0.0 * evidence, np.full_like(share + evidence, end))
        for _ in range(60):
            middle = 0.5 * (near + far)
            inside = n * _divergence(share, middle) <= evidence
            near, far = np.where(inside, middle, near), np.where(inside, far, middle)
        ends.append(far)
    return ends


def _divergence(p, q):
    from scipy.special import rel_entr

    return rel_entr(p, q) + rel_entr(1.0 - p, 1.0 - q)


def _prices():
    """Return the shares of changed records on real data: plug-in, certified at three levels, and without data."""
    lines = ["| S, X | LDP | plug-in | 90 % | 95 % | 99 % | without data |", "|---|---:|---:|---:|---:|---:|---:|"]
    for name, file in TABLES.items():
        joint = counts(file)
        for ldp in (0.5, 1.0, 2.0):
            designs = [linred.optimal(joint, ldp=ldp, confidence=confidence).design for confidence in (0.9, 0.95, 0.99)]
            shares = (designs[0].dtv_plug_in, *(design.dtv for design in designs), designs[0].dtv_ceiling)
            lines.append(f"| {name} | {ldp:g} | " + " | ".join(f"{100 * share:.2f} %" for share in shares) + " |")
    title = (
        "The share of changed records: the plug-in optimum, `linred.fit` at three confidence levels, and without data."
    )
    return f"{title}\n\n" + "\n".join(lines)

"""Tests whether a mechanism released these records, for `linred.audit`.

Compares the transitions (s, x) -> y with the integers that the mechanism samples from.
"""

import numpy as np

from linred.columns.adapters.kinds import adapter_of
from linred.errors import UnseenError
from linred.sampling.sampled_probabilities import Realised

MOST_LAGGED, MOST_LAGS = 2**22, 16
"""Number of records, from the first, that are searched for shared randomness; number of lags that are tested."""
TAIL_SLACK = 1.0 + 1e-6
"""Tail probabilities are computed in doubles and increased by this factor, which covers their rounding error."""
BLOCK_CELLS = 2**20
"""Number of cells (s, x, y) that are held in memory at a time."""


def conformance(released, x, mechanism, level):
    """Return (verdict or None, reasons). Reasons are for the mechanism's owner and contain labels."""
    outside, reasons = released.y == mechanism.joint.shape[1], []
    if outside.any():
        record = int(np.argmax(outside))
        reasons.append(f"y[{record}] is not in the mechanism's alphabet{_in_total(outside.sum(), 'records')}")
    if x is None:
        return (False if reasons else None), reasons
    transitions = Transitions(released, x, mechanism)
    reasons += transitions.impossible() + transitions.cells(level / 3.0) + transitions.pools(level / 3.0)
    because = "which the deviations above may explain" if reasons else "so they share randomness"
    reasons += [f"{reason}, {because}" for reason in transitions.lags(level / 3.0)]
    return not reasons, reasons


def known_codes(name, column, encoder):
    """Return the codes of a column in a mechanism's alphabet. Any other value raises `UnseenError`."""
    codes = encoder.codes(name, column)
    record = encoder.first_unknown(codes)
    if record is not None:
        value = adapter_of(name, column).value_at(record)
        raise UnseenError(name, record, value, f"fit again, and declare the value in {name}_labels=")
    return codes


def _in_total(n, what):
    return f"; {n:,} such {what} in total" if n > 1 else ""


class Transitions:
    """The transitions (s, x) -> y of records, with their probabilities in the sampled integers.

    Pairs are the (s, x) that occur, in order; s is 0 if the mechanism does not use S when sampling. All y are
    independent given s and x, so the set of pairs and cells to test is fixed.
    """

    def __init__(self, released, x, mechanism):
        from scipy.sparse import csr_array

        self._labels, self._sees_s = mechanism.joint, mechanism.sees_s
        self._realised, n_x = Realised(mechanism.sampler()), mechanism.joint.shape[1]
        self.x, self.y = known_codes("x", x, mechanism.joint.x_encoder).astype(np.int64), released.y.astype(np.int64)
        if self.x.size != self.y.size:
            raise ValueError(f"x has {self.x.size} records and y has {self.y.size}")
        s = released.s.astype(np.int64) if self._sees_s else np.zeros(self.x.size, np.int64)
        pairs, self._pair = np.unique(s * n_x + self.x, return_inverse=True)
        self._pair_s, self._pair_x = np.divmod(pairs, n_x)
        self._n, self._changed = np.bincount(self._pair), self.x != self.y
        self._counts = csr_array((np.ones(self.x.size), (self._pair, self.y)), shape=(pairs.size, n_x + 1))
        self._change, self._never, self._cells, self._n_cells = np.empty(pairs.size), [], [], 0
        for of_pairs, p, n_hits in self._blocks(max(1, BLOCK_CELLS // n_x)):
            self._add(of_pairs, p, n_hits)

    def _blocks(self, n_pairs):
        """Yield (numbers of pairs of one s, P(y|s,x), counts), with a row for each pair."""
        starts = np.flatnonzero(np.diff(self._pair_s, prepend=-1))
        for first, last in zip(starts, [*starts[1:], self._n.size], strict=True):
            rows = self._realised.of(int(self._pair_s[first]))
            for start in range(first, last, n_pairs):
                of_pairs = np.arange(start, min(start + n_pairs, last))
                x = self._pair_x[of_pairs]
                p = rows.others[rows.group[x]]
                p[np.arange(x.size), x] = rows.own[x]
                yield of_pairs, p, self._counts[start : of_pairs[-1] + 1].toarray()[:, :-1]

    def _add(self, of_pairs, p, n_hits):
        """Record the impossible transitions, the tail probabilities of cells and P(Y != x) of a block of pairs."""
        at, x, n = np.arange(of_pairs.size), self._pair_x[of_pairs], self._n[of_pairs]
        row, y = np.nonzero((p == 0.0) & (n_hits > 0))
        self._never.append(self._cell(of_pairs[row], y))
        uncertain, expected = (p > 0.0) & (p < 1.0), n[:, None] * p
        self._n_cells += np.count_nonzero(uncertain)
        row, y = np.nonzero(uncertain & ((n_hits > 0) | (expected > 3.0)))  # others have tails above e^-3
        tail = np.minimum(*_tails(n_hits[row, y], n[row], p[row, y]))
        self._cells.append(np.column_stack([of_pairs[row], y, tail, n_hits[row, y], expected[row, y]]))
        others = p.copy()
        others[at, x] = 0.0  # a sum, because 1 - P(x|s,x) would suffer from cancellation
        self._change[of_pairs] = np.where(p[at, x] == 0.0, 1.0, np.minimum(others.sum(axis=1), 1.0))

    def _cell(self, pair, y):
        """Return the number of the cell (s, x, y)."""
        return pair * self._counts.shape[1] + y

    def _named(self, pair, y=None):
        s, x = self._labels.s_labels[self._pair_s[pair]], self._labels.x_labels[self._pair_x[pair]]
        given = f"s = {s!r}, x = {x!r}" if self._sees_s else f"x = {x!r}"
        return given if y is None else f"{given} became y = {self._labels.x_labels[y]!r}"

    def impossible(self):
        """Report transitions that have probability zero in the integers."""
        never = np.concatenate(self._never)
        if never.size == 0:
            return []
        hit = np.isin(self._cell(self._pair, self.y), never)
        record = int(np.argmax(hit))
        transition = self._named(self._pair[record], self.y[record])
        return [f"record {record}: {transition}, which the mechanism never draws{_in_total(hit.sum(), 'records')}"]

    def cells(self, level):
        """Report counts of (s, x, y) that deviate, by the two binomial tails of each that can occur."""
        cells = np.concatenate(self._cells)
        wrong = cells[cells[:, 2] <= level / (2.0 * max(1, self._n_cells))]
        if len(wrong) == 0:
            return []
        pair, y, tail, n_hits, expected = wrong[wrong[:, 2].argmin()]
        times = f"{n_hits:.0f} of {self._n[int(pair)]:,} times, expected {expected:.1f}"
        return [f"{self._named(int(pair), int(y))} {times} ({_p_value(tail)}){_in_total(len(wrong), 'deviations')}"]

    def pools(self, level):
        """Report numbers of changed records that deviate, in total, of each s and of each x.

        Pairs (s, x) whose records always or never change are left out.
        """
        free = (self._change > 0.0) & (self._change < 1.0)
        names = {"": np.zeros_like(self._pair_x), "x": self._pair_x} | ({"s": self._pair_s} if self._sees_s else {})
        n_changed = np.bincount(self._pair, self._changed, self._n.size)
        pools = []
        for name, pool in names.items():
            parts = [np.bincount(pool[free], part[free]) for part in (self._n * 1.0, n_changed, self._n * self._change)]
            some = np.flatnonzero(parts[0])
            pools += [(name, code, *(part[code] for part in parts)) for code in some.tolist()]
        reasons = []
        for name, code, n, changed, mean in pools:
            tail = min(_tails_of_unequal(changed, n, mean))
            if tail <= level / (2.0 * len(pools)):
                labels = self._labels.s_labels if name == "s" else self._labels.x_labels
                of = f" with {name} = {labels[code]!r}" if name else " that may change"
                times = f"{changed:,.0f} of {n:,.0f} changed, expected {mean:,.1f}"
                reasons.append((tail, f"records{of}: {times} ({_p_value(tail)})"))
        return [min(reasons)[1] + _in_total(len(reasons), "deviations")] if reasons else []

    def lags(self, level):
        """Report a distance d at which records i and i + d change together too often.

        Pairs with i // d even share no record, nor do those with i // d odd, so each of the two sets is a sum of
        independent hits. The level is shared among all distances d and both sets.
        """
        n = min(self.x.size, MOST_LAGGED)
        changed, p = self._changed[:n], self._change[self._pair[:n]]
        found = []
        for lag in _suspicious(changed, p):
            both, q = changed[:-lag] & changed[lag:], p[:-lag] * p[lag:]
            odd = (np.arange(n - lag) // lag % 2).astype(bool)
            for chosen in (~odd & (q < 1.0), odd & (q < 1.0)):
                hits, mean = np.count_nonzero(both & chosen), q[chosen].sum()
                tail = _tails_of_unequal(hits, np.count_nonzero(q[chosen]), mean)[1]
                if tail <= level / (2.0 * (n - 1)):
                    found.append((tail, lag, hits, mean))
        if not found:
            return []
        tail, lag, hits, mean = min(found)
        return [f"records {lag:,} apart changed together {hits:,} times, expected {mean:,.1f} ({_p_value(tail)})"]


def _p_value(tail):
    return f"p-value {tail:.2g}" if tail > 1e-300 else "p-value below 1e-300"


def _suspicious(changed, p):
    """Return the distances at which records change together most above expectation, by the Poisson exponent."""
    from scipy.fft import irfft, next_fast_len, rfft

    n = changed.size
    if n < 2 or p.sum() == 0.0:
        return []
    size = next_fast_len(2 * n, real=True)
    seen, mean = (np.clip(irfft(np.abs(rfft(part, size)) ** 2, size)[1:n], 1e-6, None) for part in (changed * 1.0, p))
    score = np.where(seen > mean, seen * np.log(seen / mean) - seen + mean, 0.0)
    return (np.argsort(-score, kind="stable")[:MOST_LAGS] + 1).tolist()


def _tails(n_hits, n, p):
    """Return (P(n_hits or fewer), P(n_hits or more)) of binomials, rounded up."""
    from scipy.special import betainc, betaincc

    n_hits, n, p = np.broadcast_arrays(*(np.asarray(part, np.float64) for part in (n_hits, n, p)))
    fewer, more = np.ones(n.shape), np.ones(n.shape)
    below, above = n_hits < n, n_hits > 0.0
    fewer[below] = betaincc(n_hits[below] + 1.0, (n - n_hits)[below], p[below])
    more[above] = betainc(n_hits[above], (n - n_hits)[above] + 1.0, p[above])
    return fewer * TAIL_SLACK, more * TAIL_SLACK


def _tails_of_unequal(n_hits, n, mean):
    """Return bounds of the same tails for n independent hits of unequal probabilities that sum to `mean`.

    Below mean - 1 and above mean + 1 the binomial with equal probabilities has the larger tails (Hoeffding 1956,
    Theorem 4). In between the bounds are 1.
    """
    fewer, more = _tails(n_hits, n, min(1.0, mean / n) if n else 0.0)
    return float(fewer) if n_hits <= mean - 1.0 else 1.0, float(more) if n_hits >= mean + 1.0 else 1.0

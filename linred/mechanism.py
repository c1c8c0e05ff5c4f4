"""The paper's mechanisms: the linear reduction of P(S, X), and how to draw Y from (S, X).

`Mechanism` stores keep-probabilities and sparse tables of destinations, and tells what it does to the data.
"""

import math
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from linred import _check, _mechanism, calibrate, metrics
from linred.joint import Joint
from linred.report import Privacy, Report, Utility


class Tables(NamedTuple):
    """Distributions over Y in compressed rows: table t has the symbols y[indptr[t]:indptr[t+1]], summing to one."""

    indptr: np.ndarray
    y: np.ndarray
    probability: np.ndarray


class Mechanism:
    """A randomised P(y|s,x) with the alphabet of X, made by `markov`, `non_markov` and others to come.

    A record (s, x) is kept with probability `keep[s, x]`; with probability `move[s, x]` its y is drawn from table
    `table_of[s, x]` of `tables`. Table 0 is P_Y. Pairs that the fit never saw, P(s,x) = 0 (or P(x) = 0, where s is not
    looked at), are never kept and draw from it (errata 9); elsewhere it is the only table that may hold x itself.

    Attributes
    ----------
    joint : Joint of S and X that it was made for.
    name : "markov" or "non_markov".
    alpha : the share of the way from P(x|s) to P(x).
    sees_s : whether a draw depends on s; if not, sanitising needs no S.
    distortion : the cost matrix that its moves minimise; None where they change the fewest records.
    gap : how far its expected distortion may be above the optimum, by a dual bound; 0.0 for closed forms.
    target : the `Target` in nats that it was made for, and that its sampler's integers meet; None with alpha given.

    Guarantee
    ---------
    keep, move and tables are nonnegative and rows sum to one to 1e-14. What the rows amount to, sum_x P(y|s,x) P(x|s),
    is `p_y_given_s` to a relative 1e-11 for every y, however small: so their LDP and lifts are those that are reported.
    """

    def __init__(
        self, joint, *, name, alpha, sees_s, keep, move, table_of, tables, distortion=None, gap=0.0, target=None
    ):
        self.joint, self.name, self.alpha, self.sees_s = joint, name, alpha, sees_s
        self.distortion, self.gap, self.target = distortion, gap, target
        self.keep, self.move, self.table_of, self.tables = keep, move, table_of, Tables(*tables)
        _check.freeze_all(self)

    @cached_property
    def released(self):
        """The Joint of S and Y: what an observer of the output can learn of S."""
        return linear_reduction(self.joint, self.alpha)

    @property
    def p_y(self):
        """P(y), which is P(x)."""
        return self.released.p_x

    @property
    def p_y_given_s(self):
        """P(y|s), |S| x |X|: equation (3)."""
        return self.released.p_x_given_s

    @property
    def p_y_given_x(self):
        """P(y|x), |X| x |X|; P_Y where P(x) = 0."""
        p_xy, p_x = self._joint_xy(0, self.joint.shape[1]), self.joint.p_x[:, None]
        return np.divide(p_xy, p_x, out=np.tile(self.p_y, (p_x.size, 1)), where=p_x > 0.0)

    @property
    def p_y_given_sx(self):
        """P(y|s,x), a dense |S| x |X| x |X| array: only where it fits."""
        n_x = self.joint.shape[1]
        dense = self._destinations.toarray()[self.table_of]
        dense *= self.move[:, :, None]
        dense[:, np.arange(n_x), np.arange(n_x)] += self.keep
        return dense

    def dtv(self):
        """Share of the records that change: 1 - sum_x P(x) P(Y=x|x), the paper's total variation distance."""
        self_drawn = np.where(self.table_of == 0, self.p_y, 0.0)
        return float((self.joint.p_sx * self.move * (1.0 - self_drawn)).sum())

    def expected_distortion(self, d):
        """E d(X, Y) for a nonnegative |X| x |X| matrix d with zero diagonal, d[x, y] the cost of x becoming y."""
        d = _check.distortion(d, self.joint.shape[1])
        return float(sum(np.vdot(block, d[rows]) for rows, block in self._blocks_xy()))

    def mutual_information(self, base=math.e):
        """I(X; Y), what the output still tells of the input."""
        log_base = _check.log_of_base(base)
        if not self.sees_s and self.tables.indptr.size == 2:
            return self._information_of_one_table() / log_base
        total = 0.0
        for rows, p_xy in self._blocks_xy():
            p_x = self.joint.p_x[rows, None]
            p_y_given_x = np.divide(p_xy, p_x, out=np.zeros_like(p_xy), where=p_x > 0.0)
            total += metrics.relative_entropy(p_xy, p_y_given_x, self.p_y)
        return total / log_base

    def _information_of_one_table(self):
        """I(X; Y) in nats where all is redrawn from P_Y: P(y|x)/P(y) is then the same for every y but x. O(|X|)."""
        seen = self.joint.p_x > 0.0
        p_x, keep, move = self.joint.p_x[seen], self.keep[0, seen], self.move[0, seen]
        stay = keep + move * p_x
        log_move = np.log(move, out=np.zeros_like(move), where=move > 0.0)
        return max(0.0, float(p_x @ (stay * np.log(stay / p_x) + move * (1.0 - p_x) * log_move)))

    def report(self, base=math.e):
        """Every figure, before and after, in nats or in another base; prints as a table."""
        entropy, information = metrics.entropy(self.joint.p_x, base), self.mutual_information(base)
        cost = None if self.distortion is None else self.expected_distortion(self.distortion)
        utility = Utility(self.dtv(), information, entropy, max(0.0, entropy - information), cost)
        return Report(self, base, Privacy.of(self.joint, base), Privacy.of(self.released, base), utility)

    def sampler(self):
        """The `Sampler` of this mechanism: its integer tables, compiled once."""
        return self._sampler

    def sanitize(
        self,
        s,
        x,
        *,
        seed=None,
        key=None,
        context=b"",
        ids=None,
        start=0,
        threads=None,
        unseen="error",
        return_counts=False,
    ):
        """The column Y for columns of records: the same kind of column as x, as long, in the same order.

        Parameters
        ----------
        s, x : columns, or tables of columns, as in `Joint.from_records`
            s may be None, and is not looked at, where the mechanism does not see it.
        seed, key, context, ids, start, threads : as in `Sampler.sample`
            Without any, each call draws anew with a key from the operating system.
        unseen : "error", "marginal" or "null"
            What a record with a value outside the alphabets gets: a ValueError that names it, a draw from P_X that
            depends on nothing, or a missing value. A missing value is one of the alphabet where the fit had any.
        return_counts : bool
            Return (column, `Counts`).

        Guarantee
        ---------
        Pairs of known values that the fit never saw together are drawn from P_Y, whatever `unseen` says; where s is not
        seen, so are symbols that the fit never saw. The result has the length of x whatever the values are. It is
        the same kind of column for lists, tuples, NumPy, pandas, Polars and Arrow, and a list for any other.

        >>> joint = Joint.from_records(["f", "m", "m", "f"], ["a", "b", "a", "a"])
        >>> non_markov(joint, 0.5).sanitize(["f", "m", "f"], ["a", "b", "a"], seed=1)
        ['a', 'a', 'a']
        """
        from linred import sanitize

        how = {"seed": seed, "key": key, "context": context, "ids": ids, "start": start, "threads": threads}
        column, counts = sanitize.sanitize(self, s, x, unseen, **how)
        return (column, counts()) if return_counts else column

    @cached_property
    def _sampler(self):
        from linred.sampler import Sampler

        return Sampler(self)

    @cached_property
    def _marginal_sampler(self):
        """Draws from P_X, whatever s and x are."""
        return markov(self.joint, 1.0).sampler()

    def __getstate__(self):
        """Without the tables, which are compiled again."""
        compiled = ("_sampler", "_marginal_sampler")
        return {name: value for name, value in self.__dict__.items() if name not in compiled}

    def __setstate__(self, state):
        self.__dict__.update(state)
        _check.freeze_all(self)

    def __repr__(self):
        n_s, n_x = self.joint.shape
        return f"<Mechanism {self.name} with alpha = {self.alpha:.6g} for {n_s} x {n_x} symbols>"

    @cached_property
    def _destinations(self):
        """The tables as a sparse matrix, tables x |X|."""
        from scipy.sparse import csr_array

        indptr, y, probability = self.tables
        return csr_array((probability, y, indptr), shape=(indptr.size - 1, self.joint.shape[1]))

    @cached_property
    def _redrawn(self):
        """Mass of x that is redrawn from each table, sparse |X| x tables."""
        from scipy.sparse import csr_array

        n_s, n_x = self.joint.shape
        mass = (self.joint.p_sx * self.move).ravel()
        x = np.tile(np.arange(n_x, dtype=np.int32), n_s)
        some = mass > 0.0
        return csr_array((mass[some], (x[some], self.table_of.ravel()[some])), shape=(n_x, self.tables.indptr.size - 1))

    def _joint_xy(self, start, stop):
        """Rows start:stop of P(x, y), dense."""
        block = (self._redrawn[start:stop] @ self._destinations).toarray()
        kept = (self.joint.p_sx[:, start:stop] * self.keep[:, start:stop]).sum(axis=0)
        block[np.arange(stop - start), np.arange(start, stop)] += kept
        return block

    def _blocks_xy(self):
        """P(x, y) in blocks of rows of about 16 MB, so that no |X| x |X| array is needed."""
        n_x = self.joint.shape[1]
        height = max(1, 2**21 // n_x)
        for start in range(0, n_x, height):
            stop = min(n_x, start + height)
            yield slice(start, stop), self._joint_xy(start, stop)


def linear_reduction(joint, alpha):
    """The Joint of S and Y with P(y|s) = (1-alpha) P(x|s) + alpha P(x), equation (3). O(|S||X|).

    Guarantee
    ---------
    P_Y is P_X to the last bit; with alpha = 1 so is every P(y|s), and every measure is exactly 0.

    >>> joint = Joint.from_conditional([[0.2, 0.8], [0.6, 0.4]], [0.5, 0.5])
    >>> linear_reduction(joint, 0.5).p_x_given_s.round(12).tolist()
    [[0.3, 0.7], [0.5, 0.5]]
    """
    _check.joint(joint)
    alpha = _check.alpha(alpha)
    p_y_given_s = (1.0 - alpha) * joint.p_x_given_s + alpha * joint.p_x
    return Joint._from_parts(p_y_given_s, joint.p_s, joint.p_x, joint.s_labels, joint.x_labels)


def markov(joint, alpha=None, *, ldp=None, log_lift=None):
    """Lemma 1: keep x with probability 1-alpha, else draw from P_X. It does not look at s, and is stored in O(|X|).

    The Markov mechanism that the paper gives, not the best one: that takes a linear programme (errata 4).
    Either alpha is given, or targets in nats: see `non_markov`.

    >>> joint = Joint.from_conditional([[0.2, 0.8], [0.6, 0.4]], [0.5, 0.5])
    >>> markov(joint, 0.5).p_y_given_x.round(12).tolist()
    [[0.7, 0.3], [0.2, 0.8]]
    """
    _check.joint(joint)
    if alpha is None or ldp is not None or log_lift is not None:
        return calibrate.meeting(joint, alpha, ldp, log_lift, markov, partial(markov, joint, 1.0))
    alpha = _check.alpha(alpha)
    seen = joint.p_x > 0.0
    return Mechanism(
        joint,
        name="markov",
        alpha=alpha,
        sees_s=False,
        keep=np.broadcast_to(np.where(seen, 1.0 - alpha, 0.0), joint.shape),
        move=np.broadcast_to(np.where(seen, alpha, 1.0), joint.shape),
        table_of=np.broadcast_to(np.int32(0), joint.shape),
        tables=_marginal_table(joint.p_x),
    )


def non_markov(joint, alpha=None, *, ldp=None, log_lift=None, distortion=None, coupling="northwest"):
    """Proposition 1: for each s, move only what P(x|s) has in excess of P(y|s), to where it is short.

    Parameters
    ----------
    alpha : float, optional
        How far to go. Or, in its place:
    ldp, log_lift : float, optional
        Targets in nats, one or both. alpha is then above `alpha_for` by a margin with which the integers that are
        sampled meet them, not only the formula: `mechanism.sampler().certificate()` is at or under. A target of 0, or
        too small for anything else, gives the mechanism that draws from P_X whatever s and x are.
    distortion : |X| x |X| matrix, optional
        Nonnegative costs with zero diagonal. Then the moves minimise E d(X, Y), exactly and for any such d, and among
        equal costs change the fewest records; see `linred.transport`.
    coupling : "northwest" or "proportional"
        Which of the couplings that change the fewest records: excess against deficit in alphabet order, at most
        |X| - 1 moves an s; or every excess to all deficits in proportion, one table an s.

    Guarantee
    ---------
    No mechanism with the same P(y|s) changes fewer records or, given a distortion, costs less than by `gap`.
    O(|S||X|) in time and memory without a distortion, and where the distortion is Monge: O(|S||X| + |X|^2).

    >>> joint = Joint.from_conditional([[0.2, 0.1, 0.5, 0.2], [0.5, 0.3, 0.1, 0.1]], [0.3, 0.7])
    >>> non_markov(joint, 0.5).p_y_given_sx[0].round(12).tolist()[2]
    [0.21, 0.07, 0.72, 0.0]
    """
    _check.joint(joint)
    if not isinstance(coupling, str) or coupling not in ("northwest", "proportional"):
        raise ValueError(f"coupling = {coupling!r} is not 'northwest' or 'proportional'")
    if distortion is not None and coupling != "northwest":
        raise ValueError(f"coupling = {coupling!r} cannot be chosen: the distortion decides the moves")
    if alpha is None or ldp is not None or log_lift is not None:
        build = partial(non_markov, distortion=distortion, coupling=coupling)
        return calibrate.meeting(joint, alpha, ldp, log_lift, build, partial(markov, joint, 1.0))
    alpha, p = _check.alpha(alpha), joint.p_x_given_s
    q, delta, gap = linear_reduction(joint, alpha).p_x_given_s, _mechanism.excess(p, joint.p_x, alpha), 0.0
    seen = p if joint.p_s.all() else np.where(joint.p_s[:, None] > 0.0, p, 0.0)  # P(x) stands there where P(s) = 0
    if coupling == "proportional":
        keep, move, table_of, *tables = _proportional(seen, q, joint.p_x, delta)
    elif distortion is None:
        keep, move, table_of, *tables = _mechanism.tables_from_flows(
            seen, q, joint.p_x, _mechanism.northwest(delta), False
        )
    else:
        from linred import transport

        distortion = _check.distortion(distortion, joint.shape[1])
        flows, complete, gaps = transport.cheapest_flows(p, q, delta, distortion)
        keep, move, table_of, *tables = _mechanism.tables_from_flows(seen, q, joint.p_x, flows, complete)
        gap = float(joint.p_s @ gaps)
    return Mechanism(
        joint,
        name="non_markov",
        alpha=alpha,
        sees_s=True,
        keep=keep,
        move=move,
        table_of=table_of,
        tables=tables,
        distortion=distortion,
        gap=gap,
    )


def _marginal_table(p_y):
    y = np.flatnonzero(p_y).astype(np.int32)
    return np.array([0, y.size]), y, p_y[y]


def _proportional(p, q, p_y, delta):
    """Table 1 + s is the deficit of s, scaled to one; where there is none it is empty, and no row draws from it."""
    short = delta < 0.0
    some = short.any(axis=1)
    deficit = np.where(short, -delta, 0.0)
    deficit[some] /= deficit[some].sum(axis=1, keepdims=True)
    excess = (delta > 0.0) & (p > 0.0) & some[:, None]
    keep = np.divide(np.minimum(q, p), p, out=np.where(p > 0.0, 1.0, 0.0), where=excess)
    move = np.divide(delta, p, out=np.where(p > 0.0, 0.0, 1.0), where=excess)
    table_of = np.where((p > 0.0) & some[:, None], 1 + np.arange(p.shape[0])[:, None], 0).astype(np.int32)
    indptr, y, probability = _marginal_table(p_y)
    return (
        keep,
        move,
        table_of,
        np.concatenate([indptr, indptr[-1] + np.cumsum(short.sum(axis=1))]),
        np.concatenate([y, np.nonzero(short)[1].astype(np.int32)]),
        np.concatenate([probability, deficit[short]]),
    )

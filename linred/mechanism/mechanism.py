"""A mechanism P(y|s,x): how it is stored, what it does to the data, and how it is applied.

`Mechanism` keeps probabilities of keeping and sparse tables of destinations. What makes one is in
`linred.design.closed_form`, `linred.design.optimal`, `linred.design.selective` and `linred.design.baselines`.
"""

import math
import secrets
from functools import cached_property

import numpy as np

from linred._common import validation
from linred._common.immutable import Immutable
from linred.distribution.joint import Joint
from linred.distribution.linear_reduction import linear_reduction
from linred.mechanism.tables import TableBuilder, Tables
from linred.privacy import metrics
from linred.privacy.leakage import Leakage, Utility


class Mechanism(Immutable):
    """A randomised P(y|s,x) with the alphabet of X, made by `markov`, `non_markov`, `optimal` and others.

    A record (s, x) is kept with probability `keep[s, x]`; with probability `move[s, x]` its y is drawn from table
    `table_of[s, x]` of `tables`. Table 0 is P_Y. Pairs that the fit never saw, P(s,x) = 0 (or P(x) = 0, where s is not
    looked at), are never kept and draw from it (errata 9). A table that belongs to one pair does not hold its x.

    Attributes
    ----------
    joint : Joint of S and X that it was made for.
    released : Joint of S and Y: what an observer of the output can learn of S.
    name : what made it.
    alpha : the share of the way from P(x|s) to P(x), where P(y|s) is the linear reduction; else None.
    sees_s : whether a draw depends on s; if not, sanitising needs no S.
    distortion : the cost matrix that its moves minimise; None where they change the fewest records.
    gap : how far its cost may be above the least for its kind of mechanism, by a dual bound; 0.0 for closed forms. The
        cost is the expected distortion, or the share of records changed.
    target : the `Target` in nats that it was made for, and that its sampler's integers meet; None with alpha given.
    fitted : the columns of the table that it was fitted on (`linred.columns.schema.FitSchema`); None without a table.
    certified, design : figures that hold with confidence, and what they cost, where `linred.fit` was asked for them.
    id : 32 random hexadecimal digits that name this mechanism in artifacts and reports. They depend on nothing.

    Guarantee
    ---------
    keep, move and tables are nonnegative and rows sum to one to 1e-14. What the rows amount to, sum_x P(y|s,x) P(x|s),
    is `p_y_given_s` to a relative 1e-11 for every y, down to 1e-290: so LDP and lifts are as reported.
    """

    def __init__(
        self,
        joint,
        *,
        name,
        sees_s,
        keep,
        move,
        table_of,
        tables,
        alpha=None,
        released=None,
        distortion=None,
        gap=0.0,
        target=None,
        fitted=None,
        certified=None,
        design=None,
        id=None,
    ):
        rows = {"keep": keep, "move": move, "table_of": table_of}
        if not sees_s:  # one row for all s
            rows = {part: np.broadcast_to(row, joint.shape) for part, row in rows.items()}
        self._freeze(joint=joint, name=name, sees_s=sees_s, alpha=alpha, distortion=distortion, gap=gap, target=target)
        self._freeze(**rows, tables=Tables(*tables), fitted=fitted, certified=certified, design=design)
        self._freeze(id=id or secrets.token_hex(16))
        self._freeze(**{} if released is None else {"released": released}, releases_reduction=released is None)

    def replace(self, **changes):
        """The same mechanism with another gap, distortion or target, or with other words about where it comes from
        (fitted, certified, design). What it draws stays, and so do its compiled tables."""
        unknown = changes.keys() - {"gap", "distortion", "target", "fitted", "certified", "design"}
        if unknown:
            raise TypeError(f"{', '.join(sorted(unknown))} of a Mechanism cannot be replaced: make another one")
        other = object.__new__(type(self))
        other._freeze(**{**self.__dict__, **changes})
        return other

    @cached_property
    def released(self):
        """The Joint of S and Y. Where none was given it is the linear reduction."""
        return linear_reduction(self.joint, self.alpha)

    @property
    def p_y(self):
        """P(y), which is P(x) where the marginal was kept."""
        return self.released.p_x

    @property
    def p_y_given_s(self):
        """P(y|s), |S| x |X|."""
        return self.released.p_x_given_s

    @property
    def p_y_given_x(self):
        """P(y|x), |X| x |X|; P_Y where P(x) = 0."""
        p_xy, p_x = self.joint_xy(0, self.joint.shape[1]).toarray(), self.joint.p_x[:, None]
        return np.divide(p_xy, p_x, out=np.tile(self.p_y, (p_x.size, 1)), where=p_x > 0.0)

    @property
    def p_y_given_sx(self):
        """P(y|s,x), a dense |S| x |X| x |X| array: only where it fits."""
        n_x = self.joint.shape[1]
        dense = self.destinations.toarray()[self.table_of]
        dense *= self.move[:, :, None]
        dense[:, np.arange(n_x), np.arange(n_x)] += self.keep
        return dense

    def dtv(self):
        """Share of the records that change: 1 - sum_x P(x) P(Y=x|x), the paper's total variation distance."""
        if self.sees_s:
            return float((self.joint.p_sx * self.move * (1.0 - self._drawn_anew(self.table_of))).sum())
        return float((self.joint.p_x * self.move[0] * (1.0 - self._drawn_anew(self.table_of[:1])[0])).sum())

    def _drawn_anew(self, table_of):
        """P(x | table of (s, x)); only tables that several pairs share can hold x itself."""
        n_x, n_pairs = table_of.shape[1], np.bincount(table_of.ravel(), minlength=self.tables.indptr.size - 1)
        shared = np.flatnonzero((n_pairs > 1) | (np.arange(n_pairs.size) == 0))
        of_shared, place = self.destinations[shared].toarray(), np.full(n_pairs.size, shared.size)
        place[shared] = np.arange(shared.size)
        return np.vstack([of_shared, np.zeros(n_x)])[place[table_of], np.arange(n_x)]

    def expected_distortion(self, d):
        """E d(X, Y) for a nonnegative |X| x |X| matrix d with zero diagonal, d[x, y] the cost of x becoming y."""
        d = validation.distortion(d, self.joint.shape[1])
        return float(sum(block.data @ d[rows][block.row, block.col] for rows, block in self._blocks_xy()))

    def mutual_information(self, base=math.e):
        """I(X; Y), what the output still tells of the input."""
        log_base = validation.log_of_base(base)
        if not self.sees_s and self.tables.indptr.size == 2:
            return self._information_of_one_table() / log_base
        total = 0.0
        for rows, p_xy in self._blocks_xy():
            p_x = self.joint.p_x[rows][p_xy.row]
            total += metrics.relative_entropy(p_xy.data, p_xy.data / p_x, self.p_y[p_xy.col])
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
        from linred.mechanism.summary import Report

        entropy, information = metrics.entropy(self.joint.p_x, base), self.mutual_information(base)
        cost = None if self.distortion is None else self.expected_distortion(self.distortion)
        utility = Utility(self.dtv(), information, entropy, max(0.0, entropy - information), cost)
        return Report(self, base, Leakage.of(self.joint, base), Leakage.of(self.released, base), utility)

    def local(self, base=math.e):
        """Local approximations of its figures beside the exact ones; see `linred.local`. Prints as a table."""
        from linred.mechanism.summary import LocalReport

        return LocalReport(self, base)

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
        start=None,
        threads=None,
        unseen="error",
        return_counts=False,
        monitor=None,
    ):
        """The column Y for columns of records: the same kind of column as x, as long, in the same order.

        Parameters
        ----------
        s, x : columns, or tables of columns, as in `Joint.from_records`
            s may be None, and is not looked at, where the mechanism does not see it.
        seed, key, context, ids, start, threads : as in `Sampler.sample`
            Without any, each call draws anew with a key from the operating system.
        unseen : "error", "marginal" or "null"
            What a record with a value outside the alphabets gets: a ValueError that names it, a draw from P_Y that
            depends on nothing, or a missing value. A missing value is one of the alphabet where the fit had any.
        return_counts : bool
            Return (column, `Counts`).
        monitor : Monitor, optional
            `linred.Monitor(mechanism)`: it is shown the records before they are returned, and warns or raises
            where they have drifted.

        Guarantee
        ---------
        Pairs of known values that the fit never saw together are drawn from P_Y, whatever `unseen` says; where s is not
        seen, so are symbols that the fit never saw. The result has the length of x whatever the values are. It is
        the same kind of column for lists, tuples, NumPy, pandas, Polars and Arrow, and a list for any other.

        >>> from linred import Joint, non_markov
        >>> joint = Joint.from_records(["f", "m", "m", "f"], ["a", "b", "a", "a"])
        >>> non_markov(joint, 0.5).sanitize(["f", "m", "f"], ["a", "b", "a"], seed=1)
        ['a', 'a', 'a']
        """
        from linred.sampling import sanitize_columns

        how = {"seed": seed, "key": key, "context": context, "ids": ids, "start": start, "threads": threads}
        column, counts = sanitize_columns.sanitize(self, s, x, unseen, **how)
        if monitor is not None:
            monitor.update(s, x)
        return (column, counts()) if return_counts else column

    def save(self, path, *, force=False):
        """Store it as a JSON file that `linred.load` reads; see `linred.mechanism.artifact_writer`.

        The file holds P(S, X): it is confidential, and readable by its owner only. One that is there already is an
        error, and kept, unless `force`.
        """
        from linred.mechanism import artifact_writer

        artifact_writer.save(self, path, force)

    @cached_property
    def _sampler(self):
        from linred.sampling.sampler import Sampler

        return Sampler(self)

    @cached_property
    def marginal_sampler(self):
        """Draws from P_Y, whatever s and x are."""
        return drawing_from(self.joint, self.p_y, "marginal").sampler()

    def __getstate__(self):
        """Without the tables, which are compiled again."""
        compiled = ("_sampler", "marginal_sampler")
        return {name: value for name, value in self.__dict__.items() if name not in compiled}

    def __repr__(self):
        n_s, n_x = self.joint.shape
        return f"<Mechanism {self.described()} for {n_s} x {n_x} symbols>"

    def described(self):
        """Its name, and what was asked of it."""
        if self.alpha is not None:
            return f"{self.name}, alpha = {self.alpha:.6g}"
        return f"{self.name}, {self.target}" if self.target and str(self.target) else self.name

    @cached_property
    def destinations(self):
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

    def joint_xy(self, start, stop):
        """Rows start:stop of P(x, y), sparse: (row, col, data) of what occurs."""
        from scipy.sparse import csr_array

        n_rows, n_x = stop - start, self.joint.shape[1]
        kept = (self.joint.p_sx[:, start:stop] * self.keep[:, start:stop]).sum(axis=0)
        stays = csr_array((kept, np.arange(start, stop), np.arange(n_rows + 1)), shape=(n_rows, n_x))
        block = self._redrawn[start:stop] @ self.destinations + stays
        block.eliminate_zeros()
        return block.tocoo()

    def _blocks_xy(self):
        """P(x, y) in blocks of rows that take some 50 MB at most, so that no |X| x |X| array is needed."""
        n_x = self.joint.shape[1]
        height = max(1, 2**21 // n_x)
        for start in range(0, n_x, height):
            stop = min(n_x, start + height)
            yield slice(start, stop), self.joint_xy(start, stop)


def drawing_from(joint, p_y, name):
    """The mechanism that draws y from p_y, whatever s and x are: it tells nothing about S."""
    return Mechanism(
        joint,
        name=name,
        alpha=1.0 if np.array_equal(p_y, joint.p_x) else None,
        released=Joint.from_parts(np.tile(p_y, (joint.shape[0], 1)), joint.p_s, p_y, joint.s_labels, joint.x_labels),
        sees_s=False,
        keep=0.0,
        move=1.0,
        table_of=np.int32(0),
        tables=TableBuilder(p_y).tables(),
    )


def released_by(joint, keep, move, table_of, tables):
    """P(y|s) = sum_x P(x|s) P(y|s,x), |S| x |X|."""
    from scipy.sparse import csr_array

    (indptr, y, probability), (n_s, n_x) = tables, joint.shape
    s, table = np.repeat(np.arange(n_s), n_x), np.broadcast_to(table_of, joint.shape)
    of_tables = (joint.p_x_given_s * move).ravel(), (s, table.ravel())
    redrawn = csr_array(of_tables, shape=(n_s, indptr.size - 1))
    destinations = csr_array((probability, y, indptr), shape=(indptr.size - 1, n_x))
    return (redrawn @ destinations).toarray() + joint.p_x_given_s * keep

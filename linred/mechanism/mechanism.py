"""`Mechanism`, P(y|s,x): how it is stored, its figures, and how it is applied to data.

A mechanism is stored as probabilities of keeping a record and sparse tables of destinations. Functions that build one
are in `linred.design.closed_form`, `linred.design.optimal`, `linred.design.selective` and `linred.design.baselines`.
"""

from __future__ import annotations

import math
import os
import secrets
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from linred._common import validation
from linred._common.immutable import Immutable
from linred._common.types import Column, Context, Key, LabelMatrix, Unseen
from linred.columns.label_distance import distortion_of
from linred.distribution.joint import Joint
from linred.distribution.linear_reduction import linear_reduction
from linred.mechanism import changed_records
from linred.mechanism.tables import TableBuilder, Tables, Whole
from linred.privacy import metrics
from linred.privacy.leakage import Leakage, Utility

if TYPE_CHECKING:
    from linred.assurance.monitor import Monitor
    from linred.columns.schema import FitSchema
    from linred.mechanism.provenance import Certified, Design
    from linred.mechanism.summary import LocalReport, Report
    from linred.privacy.target import Target
    from linred.sampling.sampler import Sampler
    from linred.sampling.sanitize_columns import Counts


class Mechanism(Immutable):
    """A randomised P(y|s,x) over the alphabet of X, built by `markov`, `non_markov`, `optimal` and others.

    A record (s, x) is kept with probability `keep[s, x]`; with probability `move[s, x]` its y is drawn from table
    `table_of[s, x]` of `tables`. Table 0 is P_Y. Pairs without probability, P(s,x) = 0 (or P(x) = 0 if the mechanism
    does not use S when sampling), are never kept and draw from table 0 (errata 9), unless the mechanism was made with a
    given_x limit or a confidence (`draws_unseen_from_p_y`). A table of a single pair does not contain its x.

    Attributes
    ----------
    joint : Joint of S and X for which it was built.
    released : Joint of S and Y, from which all leakage figures are computed.
    name : name of the kind of mechanism.
    alpha : share of the way from P(x|s) to P(x), if P(y|s) is the linear reduction; otherwise None.
    sees_s : whether it uses S when sampling. If False, sanitising needs no sensitive column.
    distortion : cost matrix whose expectation it minimises; None if it minimises the share of changed records.
    gap : bound, from a dual solution, on its cost minus the least cost of its kind of mechanism; 0.0 for closed forms.
        The cost is the expected distortion or the share of changed records.
    target : `Target` in nats that it was built for and that its sampled integers meet; None if alpha was given.
    fitted : columns of the table it was fitted on (`linred.columns.schema.FitSchema`); None without a table.
    certified, design : certified figures and what they cost; None unless a confidence was given.
    whole : the same probabilities in whole numbers (`linred.mechanism.tables.Whole`), for mechanisms that release
        exactly the same P(y|s) for every s, or for some, because a limit is 0; otherwise None.
    id : 32 random hexadecimal digits that name this mechanism in artifacts and reports. They reveal nothing about it.

    Guarantee
    ---------
    keep, move and tables are nonnegative, and rows sum to one within 1e-14. sum_x P(y|s,x) P(x|s) equals `p_y_given_s`
    within a relative 1e-11 for every y, down to 1e-290, so LDP and lifts are as reported.
    """

    joint: Joint
    name: str
    sees_s: bool
    alpha: float | None
    distortion: np.ndarray | None
    gap: float
    target: Target | None
    fitted: FitSchema | None
    certified: Certified | None
    design: Design | None
    id: str
    keep: np.ndarray
    move: np.ndarray
    table_of: np.ndarray
    tables: Tables
    whole: Whole | None
    releases_reduction: bool

    def __init__(
        self,
        joint: Joint,
        *,
        name: str,
        sees_s: bool,
        keep: Any,
        move: Any,
        table_of: Any,
        tables: Any,
        whole: Whole | None = None,
        alpha: float | None = None,
        released: Joint | None = None,
        distortion: np.ndarray | None = None,
        gap: float = 0.0,
        target: Target | None = None,
        fitted: FitSchema | None = None,
        certified: Certified | None = None,
        design: Design | None = None,
        id: str | None = None,
    ) -> None:
        rows = {"keep": keep, "move": move, "table_of": table_of}
        if not sees_s:  # store one row for all s
            rows = {part: np.broadcast_to(row, joint.shape) for part, row in rows.items()}
        self._freeze(joint=joint, name=name, sees_s=sees_s, alpha=alpha, distortion=distortion, gap=gap, target=target)
        self._freeze(**rows, tables=Tables(*tables), whole=whole, fitted=fitted, certified=certified, design=design)
        self._freeze(id=id or secrets.token_hex(16))
        self._freeze(**{} if released is None else {"released": released}, releases_reduction=released is None)

    def replace(self, **changes: Any) -> Mechanism:
        """Return the same mechanism with another gap, distortion, target, fitted, certified or design.

        Its probabilities and its compiled tables stay the same.
        """
        unknown = changes.keys() - {"gap", "distortion", "target", "fitted", "certified", "design"}
        if unknown:
            raise TypeError(f"{', '.join(sorted(unknown))} of a Mechanism cannot be replaced: build another one")
        if "target" in changes and "_sampler" in self.__dict__:
            changes["_sampler"] = self._sampler.with_target(changes["target"])
        other = object.__new__(type(self))
        other._freeze(**{**self.__dict__, **changes})
        return other

    @cached_property
    def released(self) -> Joint:
        """The Joint of S and Y. If none was given, it is the linear reduction of `joint`."""
        return linear_reduction(self.joint, self.alpha)  # type: ignore[arg-type]  # one of released, alpha is given

    @property
    def p_y(self) -> np.ndarray:
        """P(y), which equals P(x) if the mechanism keeps the distribution of X."""
        return self.released.p_x

    @property
    def p_y_given_s(self) -> np.ndarray:
        """P(y|s), |S| x |X|."""
        return self.released.p_x_given_s

    @property
    def p_y_given_x(self) -> np.ndarray:
        """P(y|x), |X| x |X|. The row is P_Y if P(x) = 0."""
        p_xy, p_x = self.joint_xy(0, self.joint.shape[1]).toarray(), self.joint.p_x[:, None]
        return np.divide(p_xy, p_x, out=np.tile(self.p_y, (p_x.size, 1)), where=p_x > 0.0)

    @property
    def p_y_given_sx(self) -> np.ndarray:
        """P(y|s,x), a dense |S| x |X| x |X| array, which must fit in memory."""
        n_x = self.joint.shape[1]
        dense = self.destinations.toarray()[self.table_of]
        dense *= self.move[:, :, None]
        dense[:, np.arange(n_x), np.arange(n_x)] += self.keep
        return dense

    @property
    def draws_unseen_from_p_y(self) -> bool:
        """Whether pairs (s, x) that the fit never saw draw from P_Y; under a given_x limit, each has its own row."""
        unseen = self.joint.unseen if self.sees_s else np.broadcast_to(self.joint.p_x == 0.0, self.keep.shape)
        return not (self.keep[unseen].any() or self.table_of[unseen].any())

    def dtv(self) -> float:
        """Return the share of changed records, 1 - sum_x P(x) P(Y=x|x), the paper's total variation distance."""
        return changed_records.share(self)

    @overload
    def changed(self, by: None = ...) -> float: ...
    @overload
    def changed(self, by: Literal["s", "x"]) -> np.ndarray: ...
    def changed(self, by: Literal["s", "x"] | None = None) -> float | np.ndarray:
        """Return the share of changed records: of all records (`dtv`), or of the records of each s or of each x.

        changed("s")[s] is sum_x P(x|s) (1 - P(Y=x|s,x)); by x, with P(s|x). nan for symbols of probability zero.

        >>> from linred import optimal
        >>> from linred.datasets import example_1
        >>> optimal(example_1(), ldp=1.0).changed(by="s").round(4).tolist()
        [0.1054, 0.0452]
        """
        return changed_records.share(self) if by is None else changed_records.share_by(self, by)

    def expected_distortion(self, d: LabelMatrix) -> float:
        """Return E d(X, Y), where d(x, y) >= 0 is the cost of x -> y and d(x, x) = 0.

        d : |X| x |X| matrix in the order of the labels, mapping {(x, y): cost}, function of two labels, or "absolute"
            or "squared" for labels that are numbers or bins.
        """
        column = None if self.fitted is None else self.fitted.only_public
        d = distortion_of("distortion", d, self.joint.x_labels, column)
        return float(sum(block.data @ d[rows][block.row, block.col] for rows, block in self._blocks_xy()))

    def mutual_information(self, base: float = math.e) -> float:
        """Return I(X; Y), a measure of how much of X is left in Y."""
        log_base = validation.log_of_base(base)
        if not self.sees_s and self.tables.indptr.size == 2:
            return self._information_of_one_table() / log_base
        total = 0.0
        for rows, p_xy in self._blocks_xy():
            p_x = self.joint.p_x[rows][p_xy.row]
            total += metrics.relative_entropy(p_xy.data, p_xy.data / p_x, self.p_y[p_xy.col])
        return total / log_base

    def _information_of_one_table(self):
        """Return I(X; Y) in nats if all draws are from P_Y: P(y|x)/P(y) is then the same for every y != x. O(|X|)."""
        seen = self.joint.p_x > 0.0
        p_x, keep, move = self.joint.p_x[seen], self.keep[0, seen], self.move[0, seen]
        stay = keep + move * p_x
        log_move = np.log(move, out=np.zeros_like(move), where=move > 0.0)
        return max(0.0, float(p_x @ (stay * np.log(stay / p_x) + move * (1.0 - p_x) * log_move)))

    def report(self, base: float = math.e) -> Report:
        """Return all figures of S to X, S to Y and X to Y, in nats or in the unit of `base`; prints as a table."""
        from linred.mechanism.summary import Report

        entropy, information = metrics.entropy(self.joint.p_x, base), self.mutual_information(base)
        cost = None if self.distortion is None else self.expected_distortion(self.distortion)
        utility = Utility(self.dtv(), information, entropy, max(0.0, entropy - information), cost)
        return Report(self, base, Leakage.of(self.joint, base), Leakage.of(self.released, base), utility)

    def local(self, base: float = math.e) -> LocalReport:
        """Return local approximations of the figures beside the exact ones; see `linred.local`. Prints as a table."""
        from linred.mechanism.summary import LocalReport

        return LocalReport(self, base)

    def sampler(self) -> Sampler:
        """Return the `Sampler` of this mechanism. Its integer tables are compiled once."""
        return self._sampler

    @overload
    def sanitize(
        self,
        s: Column,
        x: Column,
        *,
        seed: int | None = ...,
        key: Key | None = ...,
        context: Context = ...,
        ids: Column = ...,
        start: int | None = ...,
        threads: int | None = ...,
        unseen: Unseen = ...,
        return_counts: Literal[False] = ...,
        monitor: Monitor | None = ...,
    ) -> Column: ...
    @overload
    def sanitize(
        self,
        s: Column,
        x: Column,
        *,
        seed: int | None = ...,
        key: Key | None = ...,
        context: Context = ...,
        ids: Column = ...,
        start: int | None = ...,
        threads: int | None = ...,
        unseen: Unseen = ...,
        return_counts: Literal[True],
        monitor: Monitor | None = ...,
    ) -> tuple[Column, Counts]: ...
    def sanitize(
        self,
        s: Column,
        x: Column,
        *,
        seed: int | None = None,
        key: Key | None = None,
        context: Context = b"",
        ids: Column = None,
        start: int | None = None,
        threads: int | None = None,
        unseen: Unseen = "error",
        return_counts: bool = False,
        monitor: Monitor | None = None,
    ) -> Any:
        """Return the released column Y: the same kind of column as x, of the same length, in the same order.

        Parameters
        ----------
        s, x : columns, or tables of columns, as in `Joint.from_records`
            s may be None and is ignored if the mechanism does not use S when sampling.
        seed, key, context, ids, start, threads : as in `Sampler.sample`
            Without any of them, each call uses a fresh key from the operating system.
        unseen : "error", "marginal" or "null"
            What happens to a record with a value outside the alphabets: "error" raises an `UnseenError`, "marginal"
            draws from P_Y independently of the record, "null" returns a missing value. A missing value in s or x
            belongs to the alphabet if the fit had missing values.
        return_counts : bool
            Return (column, `Counts`).
        monitor : Monitor, optional
            `linred.Monitor(mechanism)`. It is updated with the records before they are returned, and warns or raises if
            they have drifted.

        Guarantee
        ---------
        Pairs of known values that the fit never saw together are drawn from P_Y, whatever `unseen` is; under a given_x
        limit, from the mean distribution of their x, which is within that limit; after a fit with a confidence, from a
        distribution that the certified figures cover. If the mechanism does not use S when sampling, that is true of
        symbols x of the alphabet that the fit never saw. The result has the length of x whatever the values are. It is
        the same kind of column for lists, tuples, NumPy, pandas, Polars and Arrow, and a list for any other.
        """
        from linred.sampling import sanitize_columns

        how = {"seed": seed, "key": key, "context": context, "ids": ids, "start": start, "threads": threads}
        column, counts = sanitize_columns.sanitize(self, s, x, unseen, **how)
        if monitor is not None:
            monitor.update(s, x)
        return (column, counts()) if return_counts else column

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the mechanism to a JSON file that `linred.load` reads; see `linred.mechanism.artifact_writer`.

        The file contains P(S, X), so it is confidential and readable by its owner only. An existing file is kept, and
        a `FileExistsError` raised, unless force=True.
        """
        from linred.mechanism import artifact_writer

        artifact_writer.save(self, path, force)

    @cached_property
    def _sampler(self):
        from linred.sampling.sampler import Sampler

        return Sampler(self)

    @cached_property
    def marginal_sampler(self) -> Sampler:
        """A `Sampler` that draws from P_Y independently of s and x."""
        return drawing_from(self.joint, self.p_y, "marginal").sampler()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the sampling tables, which are compiled again on first use."""
        compiled = ("_sampler", "marginal_sampler")
        return {name: value for name, value in self.__dict__.items() if name not in compiled}

    def __repr__(self) -> str:
        n_s, n_x = self.joint.shape
        return f"<Mechanism {self.described()} for {n_s} x {n_x} symbols>"

    def described(self) -> str:
        """Return the name with alpha or the target."""
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
        """P(X = x, and y is drawn from table t), sparse |X| x tables."""
        from scipy.sparse import csr_array

        n_s, n_x = self.joint.shape
        mass = (self.joint.p_sx * self.move).ravel()
        x = np.tile(np.arange(n_x, dtype=np.int32), n_s)
        some = mass > 0.0
        return csr_array((mass[some], (x[some], self.table_of.ravel()[some])), shape=(n_x, self.tables.indptr.size - 1))

    def joint_xy(self, start, stop):
        """Return rows start:stop of P(x, y) as a sparse matrix with the entries (row, col, data) above 0."""
        from scipy.sparse import csr_array

        n_rows, n_x = stop - start, self.joint.shape[1]
        kept = (self.joint.p_sx[:, start:stop] * self.keep[:, start:stop]).sum(axis=0)
        stays = csr_array((kept, np.arange(start, stop), np.arange(n_rows + 1)), shape=(n_rows, n_x))
        block = self._redrawn[start:stop] @ self.destinations + stays
        block.eliminate_zeros()
        return block.tocoo()

    def _blocks_xy(self):
        """Yield P(x, y) in blocks of rows of at most about 50 MB, so that no |X| x |X| array is needed."""
        n_x = self.joint.shape[1]
        height = max(1, 2**21 // n_x)
        for start in range(0, n_x, height):
            stop = min(n_x, start + height)
            yield slice(start, stop), self.joint_xy(start, stop)


def drawing_from(joint, p_y, name):
    """Return the mechanism that draws y from p_y independently of s and x, so that Y reveals nothing about S."""
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
    """Return P(y|s) = sum_x P(x|s) P(y|s,x), |S| x |X|."""
    from scipy.sparse import csr_array

    (indptr, y, probability), (n_s, n_x) = tables, joint.shape
    s, table = np.repeat(np.arange(n_s), n_x), np.broadcast_to(table_of, joint.shape)
    of_tables = (joint.p_x_given_s * move).ravel(), (s, table.ravel())
    redrawn = csr_array(of_tables, shape=(n_s, indptr.size - 1))
    destinations = csr_array((probability, y, indptr), shape=(indptr.size - 1, n_x))
    return (redrawn @ destinations).toarray() + joint.p_x_given_s * keep

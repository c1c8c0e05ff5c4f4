"""`Joint`: the distribution of a sensitive S and a public X, its labels, and the counts it was estimated from."""

from __future__ import annotations

from functools import cached_property
from itertools import compress
from typing import TYPE_CHECKING, Any

import numpy as np

from linred._common import validation
from linred._common.immutable import Immutable
from linred._kernels import counting, extremes
from linred.columns.alphabet import check_labels
from linred.columns.encoder import Encoder, encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from linred._common.types import Column, Labels, Matrix


class Joint(Immutable):
    """The joint distribution P(S, X) over two finite alphabets.

    Parameters
    ----------
    p_sx : array_like, |S| x |X|
        Probabilities, nonnegative and finite. If their sum differs from one by at most 1e-9, they are renormalised.
    s_labels, x_labels : sequence, optional
        One distinct, hashable label for each row and column; by default 0, 1, 2, ...

    Notes
    -----
    Conditional matrices have a row for each symbol of the condition, so their rows sum to one. Symbols of probability
    zero stay in the alphabet. Their conditional row is undefined, and is set to the marginal of the other variable.
    That never changes a measure, because a marginal lies between the smallest and the largest conditional.

    Arrays are read-only. O(|S||X|) in time and memory.

    Examples
    --------
    >>> joint = Joint([[0.06, 0.03, 0.15, 0.06], [0.35, 0.21, 0.07, 0.07]], s_labels=["no", "yes"])
    >>> joint.shape, joint.s_labels
    ((2, 4), ('no', 'yes'))
    >>> joint.p_x.round(2).tolist()
    [0.41, 0.24, 0.22, 0.13]
    """

    p_s: NDArray[np.float64]
    p_x: NDArray[np.float64]
    s_labels: tuple[Any, ...]
    x_labels: tuple[Any, ...]
    counts: NDArray[np.int64] | None
    given_as: str

    def __init__(self, p_sx: Matrix, s_labels: Labels | None = None, x_labels: Labels | None = None) -> None:
        p_sx = validation.distribution("p_sx", validation.nonnegative("p_sx", p_sx, 2))
        p_s, p_x = p_sx.sum(axis=1), p_sx.sum(axis=0)
        self._set(p_s, p_x, s_labels, x_labels, p_sx=p_sx)

    @classmethod
    def from_conditional(
        cls, p_x_given_s: Matrix, p_s: Any, s_labels: Labels | None = None, x_labels: Labels | None = None
    ) -> Joint:
        """Return the Joint with these P(x|s), a row for each s, and P(s). Rows with P(s) = 0 are replaced by P(x)."""
        p_x_given_s = validation.nonnegative("p_x_given_s", p_x_given_s, 2)
        p_x_given_s = validation.distribution("p_x_given_s", p_x_given_s, axis=1)
        p_s = validation.distribution("p_s", validation.nonnegative("p_s", p_s, 1))
        if p_s.size != p_x_given_s.shape[0]:
            raise ValueError(f"p_s has {p_s.size} entries and p_x_given_s has {p_x_given_s.shape[0]} rows")
        p_x = p_s @ p_x_given_s
        lost = (p_s[:, None] > 0.0) & (p_x_given_s > 0.0) & (p_x == 0.0)
        if lost.any():
            s, x = np.argwhere(lost)[0]
            raise ValueError(
                f"p_x_given_s[{s}, {x}] * p_s[{s}] = {p_x_given_s[s, x]} * {p_s[s]} is too small for a double"
            )
        return cls.from_parts(p_x_given_s, p_s, p_x, s_labels, x_labels)

    @classmethod
    def from_counts(cls, counts: Matrix, s_labels: Labels | None = None, x_labels: Labels | None = None) -> Joint:
        """Return the Joint of an |S| x |X| table of counts, which is kept; `a + b` adds two such Joints."""
        as_float = validation.nonnegative("counts", counts, 2)
        wrong = (as_float != np.floor(as_float)) | (as_float >= 2.0**53)
        if wrong.any():
            s, x = np.argwhere(wrong)[0]
            raise ValueError(f"counts[{s}, {x}] is not a whole number below 2**53")
        if not 0.0 < as_float.sum() < 2.0**53:
            raise ValueError(f"counts sums to {as_float.sum():.0f}, not to a number of records in [1, 2**53)")
        counts = as_float.astype(np.int64)
        n_s, n_x, n_records = counts.sum(axis=1), counts.sum(axis=0), int(counts.sum())
        return cls.from_marginals(n_s / n_records, n_x / n_records, s_labels, x_labels, counts=counts)

    @classmethod
    def from_records(
        cls, s: Column, x: Column, s_labels: Labels | None = None, x_labels: Labels | None = None
    ) -> Joint:
        """Return the Joint of two columns of records: lists, NumPy, pandas, Polars or Arrow.

        A table of columns (a frame, a dict of columns, a two-dimensional array) has a composite alphabet, whose labels
        are tuples. If labels are given, they are the alphabet, and any other value is a ValueError. Otherwise the
        alphabet is the values that occur, sorted (a categorical keeps its order), with None for missing values last.

        >>> Joint.from_records(["f", "m", "m"], [1, 1, 2]).counts.tolist()
        [[1, 0], [1, 1]]
        """
        s, x = encode("s", s, s_labels), encode("x", x, x_labels)
        if s.codes.size != x.codes.size:
            raise ValueError(f"s has {s.codes.size} records and x has {x.codes.size}")
        if s.codes.size == 0:
            raise ValueError("s and x have no records to estimate a distribution from")
        counts = counting.count_pairs(s.codes, x.codes, len(s.labels), len(x.labels), names=("s", "x"))
        s_stays, x_stays = counts.any(axis=1) | s.all_labels_stay, counts.any(axis=0) | x.all_labels_stay
        counts = counts[np.ix_(s_stays, x_stays)]
        return cls.from_counts(counts, tuple(compress(s.labels, s_stays)), tuple(compress(x.labels, x_stays)))

    @classmethod
    def from_parts(
        cls,
        p_x_given_s: NDArray[np.float64],
        p_s: NDArray[np.float64],
        p_x: NDArray[np.float64],
        s_labels: Labels | None = None,
        x_labels: Labels | None = None,
    ) -> Joint:
        """Return the Joint of consistent parts, unchecked and unchanged, so that P_Y = P_X can hold to the last bit."""
        p_x_given_s = _with_marginal(p_x_given_s, p_s, p_x)
        return cls.from_marginals(p_s, p_x, s_labels, x_labels, p_x_given_s=p_x_given_s)

    @classmethod
    def from_marginals(
        cls,
        p_s: NDArray[np.float64],
        p_x: NDArray[np.float64],
        s_labels: Labels | None,
        x_labels: Labels | None,
        **given: NDArray[Any],
    ) -> Joint:
        """Return the Joint of its marginals and one matrix, unchecked: counts=, p_sx= or p_x_given_s=."""
        self = cls.__new__(cls)
        self._set(p_s, p_x, s_labels, x_labels, **given)
        return self

    def _set(self, p_s, p_x, s_labels, x_labels, **given):
        """Set all attributes from the marginals and one matrix; `given_as` is the name of that matrix."""
        s_labels = check_labels("s_labels", s_labels, p_s.size)
        x_labels = check_labels("x_labels", x_labels, p_x.size)
        matrix = {"counts": None} | given  # counts, or one of the cached properties below
        self._freeze(p_s=p_s, p_x=p_x, s_labels=s_labels, x_labels=x_labels, given_as=next(iter(given)), **matrix)

    @property
    def shape(self) -> tuple[int, int]:
        """(|S|, |X|)."""
        return self.p_s.size, self.p_x.size

    @property
    def n_records(self) -> int | None:
        """Number of records that it was estimated from; None if it was given as probabilities."""
        return None if self.counts is None else int(self.counts.sum())

    @cached_property
    def p_sx(self) -> NDArray[np.float64]:
        """P(s, x), |S| x |X|."""
        if self.counts is not None:
            return validation.frozen(self.counts / int(self.counts.sum()))
        return validation.frozen(self.p_s[:, None] * self.p_x_given_s)

    @cached_property
    def p_x_given_s(self) -> NDArray[np.float64]:
        """P(x|s), |S| x |X|: a row for each s, which is P(x) if P(s) = 0."""
        weights = self.p_sx if self.counts is None else self.counts
        return _conditional(weights, weights.sum(axis=1), self.p_x)

    @cached_property
    def p_s_given_x(self) -> NDArray[np.float64]:
        """P(s|x), |X| x |S|: a row for each x, which is P(s) if P(x) = 0."""
        weights = self.p_sx if self.counts is None else self.counts
        return _conditional(weights.T, weights.sum(axis=0), self.p_s)

    @property
    def unseen(self) -> NDArray[np.bool_]:
        """Mask of the pairs (s, x) that never occur, |S| x |X|. p_sx would not do, because it may underflow."""
        return (self.p_x_given_s == 0.0) | (self.p_s[:, None] == 0.0)

    @cached_property
    def column_extremes(self) -> Any:
        """max_s and min_s of P(x|s) over the s that occur: all that LDP, lifts and calibration need, in one pass.

        Rows of other s are P(x), which lies between the extremes in theory but may exceed them by rounding.
        """
        occurs = self.p_s > 0.0
        return extremes.column_extremes(self.p_x_given_s if occurs.all() else self.p_x_given_s[occurs])

    @cached_property
    def s_encoder(self) -> Encoder:
        """The `Encoder` of s_labels."""
        return Encoder(self.s_labels)

    @cached_property
    def x_encoder(self) -> Encoder:
        """The `Encoder` of x_labels."""
        return Encoder(self.x_labels)

    def __add__(self, other: Joint) -> Joint:
        """Return the Joint of both tables of counts, which must have the same labels in the same order."""
        if not isinstance(other, Joint):
            return NotImplemented
        for name in ("s_labels", "x_labels"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if len(mine) != len(theirs):
                raise ValueError(f"the alphabets differ: {name} has {len(mine)} and {len(theirs)} labels")
            for place, (label, other_label) in enumerate(zip(mine, theirs, strict=True)):
                if label != other_label:
                    raise ValueError(f"the alphabets differ: {name}[{place}] is not the same label in both")
        if self.counts is None or other.counts is None:
            raise ValueError("only Joints of counts can be added, because their numbers of records are their weights")
        return Joint.from_counts(self.counts + other.counts, self.s_labels, self.x_labels)

    def __getstate__(self):
        """Leave the encoders out of pickles; they are made again when needed."""
        return {name: value for name, value in self.__dict__.items() if not name.endswith("_encoder")}

    def __repr__(self) -> str:
        origin = "" if self.counts is None else f" from {self.n_records} records"
        return f"<Joint of {self.shape[0]} x {self.shape[1]} symbols{origin}>"


def _conditional(weights, totals, marginal):
    """Return weights / totals by row, with the marginal for rows without weight; see `_with_marginal`."""
    with np.errstate(invalid="ignore"):
        return validation.frozen(_with_marginal(np.ascontiguousarray(weights / totals[:, None]), totals, marginal))


def _with_marginal(conditional, totals, marginal):
    """Return `conditional` with the marginal in the rows that never occur.

    If only one row occurs, it is the marginal too, and is replaced so that rounding does not make the two differ.
    """
    occurs = totals > 0
    if occurs.all() and occurs.size > 1:
        return conditional
    return np.where(occurs[:, None] & (occurs.sum() > 1), conditional, marginal)

"""A Joint from a file, in one pass and in the memory of its alphabets; and what every other column tells about S."""

import itertools
import json
import math

import numpy as np

from linred._kernels import counting
from linred.batches.arrow_columns import binned, is_missing, is_ordered, kind_of_type, pyarrow
from linred.columns import encode, labels
from linred.columns.schema import FitSchema, Leak, names
from linred.distribution.joint import Joint
from linred.errors import FileError
from linred.io.pipes import listed
from linred.io.prefetch import Prefetch
from linred.privacy import metrics

MOST_CELLS, MOST_WATCHED_CELLS = 2**26, 2**22
"""Of the table of counts of S and X, and of that of S and any other column: 512 MB and 32 MB of numbers."""
MOST_LABELS = 2**22
"""Of S or of X."""
MOST_VALUES, N_BINS = 4096, 256
"""Values of a column that are told apart by the leak scan, and bins of numbers that are more."""


def fit(source, sensitive, public, *, domain=None, missing="category", scan=True, progress=None):
    """(Joint, FitSchema) of a source. sensitive, public: `ColumnSpec`s.

    domain: {column: labels}, or None to read them off.
    missing: "category" (a label of its own, None), "skip" (those records are left out) or "error".
    """
    _check_columns(source, sensitive, public)
    alphabets = (None, None) if domain is None else _declared(sensitive, public, domain)
    return _counted(source, sensitive, public, alphabets, domain is not None, missing, scan, progress)


def counted_for(mechanism, source, progress=None):
    """The Joint of a source over the alphabets of a mechanism that was fitted on such columns; other values are an
    error, and records with a missing value are left out where the fit left them out."""
    fitted, joint = mechanism.fitted, mechanism.joint
    _check_columns(source, fitted.sensitive, fitted.public)
    alphabets = joint.s_labels, joint.x_labels
    return _counted(source, fitted.sensitive, fitted.public, alphabets, True, fitted.missing, False, progress)[0]


def _counted(source, sensitive, public, alphabets, declared, missing, scan, progress):
    both = (*names(sensitive), *names(public))
    others = [name for name in source.names if name not in both] if scan else []
    watched = [_Watched(name) for name in others]
    orders = {name: {} for name in both if is_ordered(source.schema.field(name).type)}
    tally, n_read = Tally("S and X", MOST_CELLS), 0
    with Prefetch(source.batches({*both, *others}, both)) as batches:
        for batch in batches:
            read = _Read(source.path, batch, n_read)
            n_read += batch.num_rows
            s, x = read.sides(sensitive, public, alphabets, missing)
            for name, order in orders.items():
                order.update(dict.fromkeys(batch.column(name).dictionary.to_pylist()))
            tally.add(s, x)
            for column in watched:
                column.add(s, read.kept(batch.column(column.name)))
            if progress:
                progress(n_read, source.n_bytes_read)
    if not tally.n_records:
        raise FileError(f"{source.path} has no records to fit on" + (" without a missing value" if n_read else ""))
    joint = tally.joint((sensitive, public), alphabets, orders)
    leaks = [column.leak(tally.n_records) for column in watched if column.measured]
    leaks.sort(key=lambda leak: -leak.beyond_chance)
    return joint, FitSchema(sensitive, public, declared, missing, tuple(leaks), scan)


def _check_columns(source, sensitive, public):
    for name in (*names(sensitive), *names(public)):
        if name not in source.names:
            raise FileError(f"{source.path} has no column {name!r}; it has {listed(source.names)}")
        if name in names(sensitive) and name in names(public):
            raise FileError(f"column {name!r} is both sensitive and public")
        arrow_type = source.schema.field(name).type
        if getattr(arrow_type, "unit", None) == "ns" or kind_of_type(arrow_type) not in _LABEL_KINDS:
            raise FileError(
                f"{source.path}: column {name!r} of {arrow_type} cannot be fitted: cast it to text, numbers or times"
            )


_LABEL_KINDS = ("text", "true or false", "whole numbers", "numbers", "bytes", "date", "datetime", "time", "Decimal")


def read_domain(path):
    """{column: labels} of a JSON file; null among the labels stands for missing values."""
    try:
        with open(path, "rb") as file:
            content = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise FileError(f"{path}: the domain cannot be read as JSON: {error}") from None
    if not isinstance(content, dict):
        raise FileError(f'{path}: a domain is {{"column": ["label", ...], ...}}')
    try:
        return {
            name: encode.check_labels(repr(name), labels.from_json(name, values)) for name, values in content.items()
        }
    except ValueError as error:
        raise FileError(f"{path}: {error}") from None


def _declared(sensitive, public, domain):
    """The alphabets of S and X: a column's labels, or all tuples of several columns'."""
    sides = [[_declared_labels(part, domain) for part in parts] for parts in (sensitive, public)]
    _check_size("S and X", [math.prod(map(len, of_parts)) for of_parts in sides], MOST_CELLS)
    return [of_parts[0] if len(of_parts) == 1 else tuple(itertools.product(*of_parts)) for of_parts in sides]


def _declared_labels(part, domain):
    if not part.edges and part.name not in domain:
        raise FileError(f"the domain declares nothing for column {part.name!r}")
    given = tuple(domain.get(part.name, ()))
    return (*part.bins, *(label for label in given if label is None)) if part.edges else given


def _check_size(what, shape, most_cells):
    if math.prod(shape) > most_cells or max(shape) > MOST_LABELS:
        raise FileError(
            f"{what} have {shape[0]:,} and {shape[1]:,} values, too many for a table of counts: "
            "sort numbers into --bins, or choose other columns"
        )


class _Read:
    """A batch, its first record being number `start` of the table."""

    def __init__(self, path, batch, start):
        self._path, self._batch, self._start, self._valid = path, batch, start, None

    def sides(self, sensitive, public, alphabets, missing):
        """S and X as `records.Column`s."""
        columns = [
            [binned(self._path, part, self._batch.column(part.name), self._start) for part in parts]
            for parts in (sensitive, public)
        ]
        self._leave_out(itertools.chain(*columns), itertools.chain(sensitive, public), missing)
        return [
            self._encoded([self.kept(column) for column in of_side], parts, alphabet)
            for of_side, parts, alphabet in zip(columns, (sensitive, public), alphabets, strict=True)
        ]

    def _leave_out(self, columns, parts, missing):
        if missing == "category":
            return
        for column, part in zip(columns, parts, strict=True):
            absent = is_missing(column)
            if missing == "error" and absent.any():
                record = int(np.argmax(absent)) + self._start + 1
                raise FileError(f"{self._path}: record {record:,} has no {part.name!r}; see --missing")
            self._valid = ~absent if self._valid is None else self._valid & ~absent

    def kept(self, column):
        return column if self._valid is None else column.filter(pyarrow().array(self._valid))

    def _encoded(self, columns, parts, alphabet):
        table = columns[0] if len(columns) == 1 else pyarrow().record_batch(columns, names(parts))
        if alphabet is None:
            return encode.encode("the column", table)
        codes = encode.codes_in("the column", table, alphabet)
        unknown = codes == len(alphabet)
        if unknown.any():
            value = encode.value_at("", table, int(np.argmax(unknown)))
            raise FileError(
                f"{self._path}: {', '.join(names(parts))} has {value!r} after record {self._start:,}, "
                "which the domain, or the mechanism, does not declare"
            )
        return encode.Column(codes, alphabet)


class Tally:
    """Counts of pairs of labels, over alphabets that grow as batches come."""

    def __init__(self, what, most_cells):
        self._what, self._most_cells = what, most_cells
        self._places, self._counts = ({}, {}), np.zeros((0, 0), np.int64)

    @property
    def n_records(self):
        return int(self._counts.sum())

    def add(self, s, x):
        """Count two `records.Column`s as long as each other."""
        where = []
        for place, column in zip(self._places, (s, x), strict=True):
            where.append(np.array([place.setdefault(label, len(place)) for label in column.labels], np.intp))
        shape = tuple(map(len, self._places))
        _check_size(self._what, shape, self._most_cells)
        if shape != self._counts.shape:
            grown = np.zeros(shape, np.int64)
            grown[: self._counts.shape[0], : self._counts.shape[1]] = self._counts
            self._counts = grown
        counts = counting.count_pairs(s.codes, x.codes, len(s.labels), len(x.labels), names=("s", "x"))
        np.add.at(self._counts, np.ix_(*where), counts)  # NaN and null, say, are two codes of one label

    def joint(self, sides, declared, orders):
        """The Joint over declared alphabets; where that is None, over the labels that came, in order, None last."""
        alphabets, where = [], []
        for place, parts, alphabet in zip(self._places, sides, declared, strict=True):
            alphabets.append(_in_order(tuple(place), parts, orders) if alphabet is None else alphabet)
            where.append(np.array([place[label] for label in alphabets[-1]], np.intp))
        return Joint.from_counts(self._counts[np.ix_(*where)], *alphabets)

    @property
    def counts(self):
        return self._counts


def _in_order(alphabet, parts, orders):
    """Labels sorted, bins from the lowest on, those of an ordered dictionary as it has them, None last; tuples by the
    order of each of their parts."""
    if len(parts) > 1:
        of_parts = zip(zip(*alphabet, strict=True), parts, strict=True)
        in_order = (_in_order(set(seen), (part,), orders) for seen, part in of_parts)
        places = [{label: i for i, label in enumerate(labels)} for labels in in_order]
        return tuple(sorted(alphabet, key=lambda label: [place[one] for place, one in zip(places, label, strict=True)]))
    order = {label: i for i, label in enumerate(parts[0].bins or orders.get(parts[0].name, ()))}
    known = sorted((label for label in alphabet if label is not None), key=order.__getitem__ if order else None)
    return (*known, None) if len(known) < len(alphabet) else tuple(known)


OTHERS = "others"
"""Stands among labels of the leak scan for all values that are not told apart; as a key, it is not such a value."""


class _Watched:
    """A column that would pass, counted against S. The first `MOST_VALUES` values are told apart, all others are one;
    numbers that are more from the start are sorted into bins of equal size. Both can only lose information."""

    def __init__(self, name):
        self.name, self.measured, self._tally = name, True, Tally(f"S and {name}", MOST_WATCHED_CELLS)
        self._edges, self._values, self._others = None, {}, False

    def add(self, s, column):
        if self.measured:
            try:
                self._tally.add(s, self._column(column))
            except (
                pyarrow().ArrowException,
                ValueError,
                TypeError,
                ArithmeticError,
            ):  # values that cannot be told apart, a list say
                self.measured = False

    def _column(self, column):
        if self._edges is None and not self._others:
            _, indices, categories = encode.arrow_dictionary(self.name, column)
            if len(self._values) == 0 and len(categories) > MOST_VALUES:
                self._edges = _edges_of(column)
            if self._edges is None:
                self._values.update(dict.fromkeys(categories))
                self._others = len(self._values) > MOST_VALUES
            if self._edges is None and not self._others:
                return encode.Column(indices, (*(None if one != one else one for one in categories), None))
        return self._in_bins(column) if self._edges is not None else self._among_others(column)

    def _in_bins(self, column):
        numbers = _numbers(column)
        codes = np.where(np.isnan(numbers), self._edges.size + 1, np.searchsorted(self._edges, numbers, side="right"))
        return encode.Column(codes, (*range(self._edges.size + 1), None))

    def _among_others(self, column):
        from pyarrow import compute

        known = [value for value, _ in zip(self._values, range(MOST_VALUES), strict=False) if value is not None]
        value_type = column.type.value_type if hasattr(column.type, "value_type") else column.type
        found = compute.index_in(column.cast(value_type), pyarrow().array(known, value_type))
        codes = np.asarray(found.fill_null(len(known)))
        return encode.Column(codes, (*known, (OTHERS,)))

    def leak(self, n_records):
        if self._tally.n_records != n_records:
            raise RuntimeError(f"{self._tally.n_records:,} of {n_records:,} records were counted for {self.name!r}")
        counts = self._tally.counts
        counts = counts[counts.any(axis=1)][:, counts.any(axis=0)]
        n_s, n_values = counts.shape
        return Leak(
            self.name,
            n_values,
            metrics.mutual_information(Joint.from_counts(counts)),
            (n_s - 1) * (n_values - 1) / (2.0 * n_records),
            float(counts.max(axis=0).sum() / n_records),
            self._others or self._edges is not None,
        )


def _numbers(column):
    pa = pyarrow()
    return np.asarray(column.cast(pa.float64()).fill_null(np.nan))


def _edges_of(column):
    """Edges of bins that hold about as many records each; None where the values are no numbers."""
    try:
        numbers = _numbers(column)
    except pyarrow().ArrowException:
        return None
    numbers = numbers[np.isfinite(numbers)]
    return np.unique(np.quantile(numbers, np.arange(1, N_BINS) / N_BINS)) if numbers.size else None

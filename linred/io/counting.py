"""Counts a file into a Joint, in one pass and in the memory of its alphabets, and measures leakage of other columns."""

import itertools
import json
import math

import numpy as np

from linred.assurance.column_leakage import ColumnLeakage
from linred.batches.arrow_columns import KINDS, adapter_in, is_ordered, kind_of_type
from linred.columns import labels
from linred.columns.adapters.kinds import symbol_of
from linred.columns.alphabet import check_labels
from linred.columns.encoded_column import EncodedColumn
from linred.columns.encoder import Encoder
from linred.columns.schema import ColumnSpec, FitSchema, missing_column, names
from linred.distribution.tally import Tally, check_size
from linred.errors import FileError
from linred.io.pipes import fault
from linred.io.prefetch import Prefetch

MOST_CELLS = 2**26
"""The largest table of counts of S and X: 512 MB of numbers."""


def fit(source, sensitive, public, *, domain=None, missing="category", scan=True, progress=None):
    """Return (Joint, FitSchema) of a source. sensitive, public: `ColumnSpec`s.

    domain: {column: labels}, or None to take the labels from the data.
    missing: "category" (the label None), "skip" (leave those records out) or "error".
    """
    _check_columns(source, sensitive, public)
    encoders = (None, None) if domain is None else map(Encoder, _declared(sensitive, public, domain))
    schema = FitSchema(sensitive, public, domain is not None, missing, scanned=scan)
    return _counted(source, schema, tuple(encoders), progress)


def counted_for(mechanism, source, progress=None):
    """Return the Joint of a source over the alphabets of a mechanism that was fitted on such columns.

    Other values are an error. Records with a missing value are left out if the fit left them out.
    """
    fitted, joint = mechanism.fitted, mechanism.joint
    _check_columns(source, fitted.sensitive, fitted.public)
    schema = fitted._replace(scanned=False, leaks=())
    return _counted(source, schema, (joint.s_encoder, joint.x_encoder), progress)[0]


def _counted(source, schema, encoders, progress):
    """Return (Joint, `FitSchema` with the leaks) over the alphabets of encoders; None: the values that occur."""
    sides = schema.sensitive, schema.public
    both = names(itertools.chain(*sides))
    watched = {name: ColumnLeakage(name) for name in source.names if schema.scanned and name not in both}
    orders = {name: {} for name in both if is_ordered(source.schema.field(name).type)}
    tally, n_read = Tally("S and X", MOST_CELLS), 0
    with Prefetch(source.batches({*both, *watched}, both)) as batches:
        for batch in batches:
            read = _Read(source.path, batch, n_read)
            n_read += batch.num_rows
            s, x = read.sides(sides, encoders, schema.missing)
            for name, order in orders.items():
                order.update(dict.fromkeys(batch.column(name).dictionary.to_pylist()))
            tally.add(s, x)
            for name, leakage in watched.items():
                leakage.add(s, read.column(ColumnSpec(name)))
            if progress:
                progress(n_read, source.n_bytes_read)
    if not tally.n_records:
        raise FileError(f"{source.path} has no records to fit on" + (" without a missing value" if n_read else ""))
    alphabets = [
        _in_order(came, specs, orders) if encoder is None else encoder.labels
        for came, specs, encoder in zip(tally.labels, sides, encoders, strict=True)
    ]
    leaks = [leakage.leak(tally.n_records) for leakage in watched.values() if leakage.measured]
    leaks.sort(key=lambda leak: -leak.beyond_chance)
    return tally.joint(alphabets), schema._replace(leaks=tuple(leaks))


def _check_columns(source, sensitive, public):
    asked = (*names(sensitive), *names(public))
    for name in asked:
        if name not in source.names:
            raise FileError(missing_column(source.path, name, asked, source.names))
        if name in names(sensitive) and name in names(public):
            raise FileError(f"column {name!r} is both sensitive and public: choose one")
        arrow_type = source.schema.field(name).type
        if getattr(arrow_type, "unit", None) == "ns" or kind_of_type(arrow_type) not in KINDS:
            raise FileError(
                f"{source.path}: column {name!r} of {arrow_type} cannot be S or X: cast it to text, numbers or times"
            )


def read_domain(path):
    """Return {column: labels} of a JSON file. A null among the labels stands for missing values."""
    try:
        with open(path, "rb") as file:
            content = json.load(file)
    except OSError as error:
        raise FileError(f"{path}: the domain cannot be read: {fault(error)}") from None
    except json.JSONDecodeError as error:
        raise FileError(f"{path}: the domain is not JSON: line {error.lineno}, column {error.colno}") from None
    except (ValueError, RecursionError):
        raise FileError(f"{path}: the domain is not JSON in UTF-8") from None
    if not isinstance(content, dict):
        raise FileError(f'{path}: a domain is an object {{"column": ["label", ...], ...}}')
    try:
        return {name: check_labels(repr(name), labels.from_json(name, values)) for name, values in content.items()}
    except ValueError as error:
        raise FileError(f"{path}: {error}") from None


def _declared(sensitive, public, domain):
    """Return the alphabets of S and X: the labels of a column, or all tuples of the labels of several columns."""
    sides = [[_declared_labels(part, domain) for part in parts] for parts in (sensitive, public)]
    check_size("S and X", [math.prod(map(len, of_parts)) for of_parts in sides], MOST_CELLS)
    return [of_parts[0] if len(of_parts) == 1 else tuple(itertools.product(*of_parts)) for of_parts in sides]


def _declared_labels(part, domain):
    if part.edges:
        return (*part.bins, None) if None in domain.get(part.name, ()) else part.bins
    if part.name not in domain:
        raise FileError(f"--domain declares no labels for column {part.name!r}: add them to the file")
    return domain[part.name]


class _Read:
    """A batch whose first record is number `start` of the table."""

    def __init__(self, path, batch, start):
        self._path, self._batch, self._start, self._valid = path, batch, start, None

    def sides(self, sides, encoders, missing):
        """Return S and X as `EncodedColumn`s."""
        columns = {spec.name: self.column(spec) for spec in itertools.chain(*sides)}
        if missing != "category":
            self._valid = np.ones(self._batch.num_rows, bool)
            for name, column in columns.items():
                absent = column.missing()
                if missing == "error" and absent.any():
                    record = int(np.argmax(absent)) + self._start + 1
                    where = f"record {record:,}, column {name!r}"
                    raise FileError(f"{self._path}: {where}: missing value. Choose --missing category or skip")
                self._valid &= ~absent
            columns = {name: column.take(self._valid) for name, column in columns.items()}
        return [self._encoded(columns, specs, encoder) for specs, encoder in zip(sides, encoders, strict=True)]

    def column(self, spec):
        """Return the `ArrowColumn` of the records that are not left out, which `sides` decides."""
        column = adapter_in(self._batch, self._path, spec, self._start)
        return column if self._valid is None else column.take(self._valid)

    def _record(self, place):
        """Return the number in the table, from 1, of the record at a place among those that are not left out."""
        return self._start + 1 + (place if self._valid is None else int(np.flatnonzero(self._valid)[place]))

    def _encoded(self, columns, specs, encoder):
        column = symbol_of("the column", {name: columns[name] for name in names(specs)})
        if encoder is None:
            return column.encoded(sort=True)
        codes = column.codes_in(encoder)
        record = encoder.first_unknown(codes)
        if record is not None:
            where = f"record {self._record(record):,}, column {', '.join(map(repr, names(specs)))}"
            what = "value outside the alphabet. Declare it with --domain, and fit again"
            raise FileError(f"{self._path}: {where}: {what}")
        return EncodedColumn(codes, encoder.labels)


def _in_order(alphabet, parts, orders):
    """Return the labels in order: sorted, bins from the lowest, an ordered dictionary's in its order, and None last.

    Tuples are sorted by the order of each of their parts.
    """
    if len(parts) > 1:
        of_parts = zip(zip(*alphabet, strict=True), parts, strict=True)
        in_order = (_in_order(set(seen), (part,), orders) for seen, part in of_parts)
        places = [{label: i for i, label in enumerate(labels)} for labels in in_order]
        return tuple(sorted(alphabet, key=lambda label: [place[one] for place, one in zip(places, label, strict=True)]))
    order = {label: i for i, label in enumerate(parts[0].bins or orders.get(parts[0].name, ()))}
    known = sorted((label for label in alphabet if label is not None), key=order.__getitem__ if order else None)
    return (*known, None) if len(known) < len(alphabet) else tuple(known)

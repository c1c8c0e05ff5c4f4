"""Sanitises a file in one pass, batch by batch and in order, on all cores.

A thread reads; all cores sanitise and, for CSV, make lines; the calling thread writes.
"""

import os
import warnings
from concurrent.futures import ThreadPoolExecutor
from itertools import chain

import numpy as np
import pyarrow as pa

from linred.batches.arrow_columns import Replaced, adapter_in, is_ordered, kind_of_type, with_labels
from linred.columns import labels
from linred.columns.adapters.arrow_arrays import ArrowColumn
from linred.columns.adapters.arrow_buffers import has_dictionary, rebuilt_type
from linred.columns.adapters.kinds import symbol_of
from linred.columns.repeated_ids import RepeatedIds
from linred.columns.schema import missing_column, names, withheld_names
from linred.errors import FileError, UnseenError
from linred.io.formats import open_sink
from linred.io.prefetch import Prefetch
from linred.sampling import sanitize_columns


class Plan:
    """Decides what happens to each column of a table, and checks it against the schema before any record is read.

    Attributes
    ----------
    reads : the columns that are needed.
    encoded : the columns among `reads` that are best read as dictionaries.
    schema : the schema of the output, with columns in the order of the table.
    passes : the columns that pass without being sanitised.
    """

    def __init__(self, mechanism, source, *, keep_sensitive, columns, id_column, unseen, how):
        schema, fitted = source.schema, mechanism.fitted
        self._mechanism, self._path, self._id, self._how = mechanism, source.path, id_column, {**how, "unseen": unseen}
        self._sensitive, self._public = fitted.sensitive if mechanism.sees_s else (), fitted.public
        sensitive, drawn_by, public = map(names, (fitted.sensitive, self._sensitive, self._public))
        needed = (*drawn_by, *public, *((id_column,) if id_column else ()))
        asked = (*needed, *(columns or ()))
        for name in asked:
            if name not in schema.names:
                raise FileError(missing_column(self._path, name, (*asked, *sensitive), schema.names))
        if id_column in (*sensitive, *public):
            raise FileError(f"--id names {id_column!r}, which is sensitive or public: an id must name one record")
        self.repeated = RepeatedIds() if id_column else None
        if id_column:
            self._check_id(schema.field(id_column).type)
        withheld = () if keep_sensitive else withheld_names(fitted.sensitive, self._public)
        written = self._written(schema.names, withheld, columns)
        self.passes = tuple(name for name in written if name not in public)
        self.reads = {*needed, *self.passes}
        self.encoded = {*drawn_by, *public} - {*self.passes}
        self._check_types(schema)
        self.schema = self._schema_of(schema, written)
        self.nothing = sanitize_columns.Counts(0, 0, 0, 0, how["seed"] is None)

    def _written(self, all_names, left_out, columns):
        for name in columns or ():
            if name in left_out:
                raise FileError(f"--columns names {name!r}, which is sensitive: add --keep-sensitive to let it pass")
        wanted = set(all_names if columns is None else (*columns, *names(self._public)))
        return [name for name in all_names if name in wanted and name not in left_out]

    def _check_types(self, schema):
        """Raise a `FileError` unless the values of the columns are of the same kind as the mechanism's labels."""
        joint = self._mechanism.joint
        sides = with_labels(self._sensitive, joint.s_labels), with_labels(self._public, joint.x_labels)
        for part, own in chain(*sides):
            kind, found = labels.kind_of(own), kind_of_type(schema.field(part.name).type)
            if not part.edges and kind is not None and found != kind:
                raise FileError(
                    f"{self._path}: column {part.name!r} has {found}, but the mechanism was fitted on {kind}"
                )

    def _schema_of(self, schema, written):
        """Return the schema of the output.

        Columns that are sorted into bins become text, ordered dictionaries that pass become plain values (see
        `columnar_file`), and all others keep their type. A public column is nullable only if a missing value can be
        sampled: Parquet is written much faster if it is not.
        """
        fields = {name: pa.field(name, schema.field(name).type) for name in written}
        for name in self.passes:
            arrow_type = fields[name].type
            plain = rebuilt_type(arrow_type, decode=has_dictionary(arrow_type, is_ordered=True))
            fields[name] = fields[name].with_type(plain)
        for part, own in with_labels(self._public, self._mechanism.joint.x_labels):
            arrow_type = pa.string() if part.edges else fields[part.name].type
            fields[part.name] = pa.field(part.name, arrow_type, self._how["unseen"] == "null" or None in own)
        return pa.schema(list(fields.values()))

    def replaced(self, first_batch):
        """Return {name: `Replaced`} of the public columns; ordered dictionaries keep the order of the table."""
        x_labels = (*self._mechanism.joint.x_labels, None)  # None for records that become missing values
        replaced = {}
        for part, own in with_labels(self._public, x_labels):
            arrow_type, order = self.schema.field(part.name).type, ()
            if is_ordered(arrow_type) and first_batch is not None:
                order = first_batch.column(part.name).dictionary.to_pylist()
            replaced[part.name] = Replaced(part.name, own, arrow_type, order)
        return replaced

    def drawn(self, batch, start):
        """Return `sanitize_columns.Drawn` for a batch whose first record is number `start` of the table."""
        ids = self._ids(batch.column(self._id), start) if self._id else None
        how = self._how | ({"ids": ids} if self._id else {"start": start})
        s = self._side("s", batch, self._sensitive, start) if self._sensitive else None
        x = self._side("x", batch, self._public, start)
        try:
            drawn = sanitize_columns.draw(self._mechanism, s, x, threads=1, **how)
        except UnseenError as error:
            raise FileError(self._unseen_line(error, start)) from None
        if self._id:
            joint = self._mechanism.joint
            self.repeated.add(ids, x.codes_in(joint.x_encoder), None if s is None else s.codes_in(joint.s_encoder))
        return drawn

    def _side(self, name, batch, parts, start):
        return symbol_of(name, {part.name: adapter_in(batch, self._path, part, start) for part in parts})

    def _check_id(self, arrow_type):
        """Refuse what `record_ids` refuses: 5.0 or a date has several texts, and each would get another draw."""
        of_values = arrow_type.value_type if pa.types.is_dictionary(arrow_type) else arrow_type
        is_whole = pa.types.is_integer(of_values) or (pa.types.is_decimal(of_values) and of_values.scale == 0)
        if not is_whole and kind_of_type(of_values) not in ("text", "bytes"):
            what = f"column {self._id!r} of {arrow_type}, whose values are not integers or text"
            raise FileError(f"--id names {what}: choose a column of integers or text")

    def _ids(self, column, start):
        """Return ids as text, so that 5 in a Parquet file and 5 in a CSV file name the same record."""
        absent = ArrowColumn(self._id, column).missing()
        if absent.any():
            record = int(np.argmax(absent)) + start + 1
            raise FileError(f"{self._path}: record {record:,}, column {self._id!r} (--id): missing value")
        try:
            return column.cast(pa.string()).to_pylist()
        except (pa.ArrowException, UnicodeError):
            what = f"a value after record {start:,} is not text"
            raise FileError(f"{self._path}: column {self._id!r} (--id): {what}") from None

    def _unseen_line(self, error, start):
        columns = ", ".join(map(repr, names(self._sensitive if error.name == "s" else self._public)))
        where = f"record {start + error.record + 1:,}, column {columns}"
        return (
            f"{self._path}: {where}: value not in the alphabet of the mechanism. Fit again, declare the value with "
            "--domain, or choose --unseen marginal or null"
        )


MOST_THREADS = 8
"""Largest default number of threads: the one thread that reads cannot keep more of them busy."""


def run(source, file, form, plan, threads=None, progress=None):
    """Sanitise a source into a binary file and return the `Counts`. Rows keep their order; their number is checked.

    Warns if ids occur with different values of S or X; up to a million ids are checked (see `RepeatedIds`).
    """
    total, batches = plan.nothing, source.batches(plan.reads, plan.encoded)
    first = next(batches, None)
    sink = open_sink(file, form, plan.schema, plan.replaced(first))
    if not threads:  # all cores, less one for writing if the sink encodes
        threads = max(1, min(MOST_THREADS, os.cpu_count() or 1) - sink.encodes)

    def work(batch, start):
        drawn = plan.drawn(batch, start)
        return sink.prepare(batch, drawn.y_codes), drawn.counts()

    try:
        with ThreadPoolExecutor(threads) as pool:
            jobs = _jobs(pool, work, batches if first is None else chain([first], batches))
            with Prefetch(jobs, 2 * threads + 8) as jobs_in_order:
                for job in jobs_in_order:
                    prepared, counts = job.result()
                    sink.write(prepared)
                    total += counts
                    if progress:
                        progress(total.n_records, source.n_bytes_read)
        sink.close()
    except BaseException:
        sink.abandon()
        raise
    n_written = sink.n_written() if file.readable() else None
    if source.n_read != total.n_records or n_written not in (None, total.n_records):
        raise FileError(f"{source.n_read:,} records were read, {total.n_records:,} sanitised, {n_written} written")
    text = plan.repeated and plan.repeated.warning("--id")
    if text:
        warnings.warn(text, stacklevel=2)
    return total


def _jobs(pool, work, batches):
    """Yield a job for every batch: work(batch, number of its first record).

    The thread that reads submits them, so that no core waits for the thread that writes.
    """
    start = 0
    for batch in batches:
        yield pool.submit(work, batch, start)
        start += batch.num_rows

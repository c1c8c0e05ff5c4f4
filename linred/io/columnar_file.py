"""Parquet and Arrow files. Columns keep their types; metadata is left out.

A dictionary that passes holds the values that occur in its batch. An ordered dictionary, and any dictionary in an Arrow
file, becomes a column of plain values: the same dictionary would serve all batches, also those not yet read.
"""

import base64
import os
from contextlib import AbstractContextManager, contextmanager

import pyarrow as pa
from pyarrow import parquet

from linred.batches.arrow_columns import Replaced, with_replaced
from linred.columns.adapters.arrow_buffers import rebuilt_type
from linred.errors import FileError
from linred.io.pipes import PIPE, Lent, check_names, fault, holding, stdin

BATCH_BYTES, BATCH_RECORDS, FEW_RECORDS = 8 * 2**20, 2**18, 1024
GROUP_BYTES, GROUP_RECORDS = 64 * 2**20, 2**20
"""Largest batch that is read and row group that is written; FEW_RECORDS are read to measure the size of a record."""


class _Source(AbstractContextManager):
    n_records, n_bytes_read, n_read, reads_pipes = None, None, 0, False

    def __init__(self, path, form, encoding):
        self.path, self._kind = path, form.kind
        with self._reading():
            self._file = pa.PythonFile(stdin(), mode="r") if path == PIPE else pa.OSFile(os.fsencode(path))
            self._stored = self._read_schema().remove_metadata()
        self.names = tuple(self._stored.names)
        check_names(path, self.names)
        self.schema = pa.schema([field.with_type(_without_views(field.type)) for field in self._stored])

    def __exit__(self, *_):
        self._file.close()

    def batches(self, columns, encoded=()):
        """Yield record batches of some columns in the order of the file; `encoded` ones as dictionaries if the file
        stores them so."""
        columns = [name for name in self.names if name in columns]
        with self._reading():
            plain = pa.schema([self.schema.field(name) for name in columns])
            for batch in self._batches(columns, encoded):
                self.n_read += batch.num_rows
                yield batch if self._stored == self.schema else batch.cast(plain)
        if self.n_records is not None and self.n_read != self.n_records:
            raise FileError(
                f"{self.path} should have {self.n_records:,} records, but {self.n_read:,} could be read: it is damaged"
            )

    @contextmanager
    def _reading(self):
        """Turn any error of pyarrow, whose text may contain values, into a `FileError`."""
        try:
            yield
        except (pa.ArrowException, OSError, UnicodeError) as error:
            place = f" after record {self.n_read:,}" if self.n_read else ""
            raise FileError(f"{self.path}: cannot be read as {self._kind}{place}: {fault(error)}") from None


def _without_views(arrow_type):
    """Return the type, plain instead of a view of text or bytes, which few functions of Arrow accept."""
    if pa.types.is_dictionary(arrow_type):
        return pa.dictionary(arrow_type.index_type, _without_views(arrow_type.value_type), arrow_type.ordered)
    if pa.types.is_string_view(arrow_type):
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary_view(arrow_type) else arrow_type


class ParquetSource(_Source):
    """A Parquet file."""

    def _read_schema(self):
        self._parquet = parquet.ParquetFile(self._file)
        self.n_records = self._parquet.metadata.num_rows
        return self._parquet.schema_arrow

    def _batches(self, columns, encoded):
        texts = [name for name in columns if _is_text(self.schema.field(name).type)]
        reader = self._reader([name for name in texts if name in encoded])
        peeking = self._reader(texts)
        for groups in self._groups():
            longest = max(self._record_bytes(peeking, group, columns, encoded) for group in groups)
            n_records = int(min(BATCH_RECORDS, max(1, BATCH_BYTES // max(1, longest))))
            yield from reader.iter_batches(batch_size=n_records, row_groups=groups, columns=columns)

    def _reader(self, as_dictionaries):
        return parquet.ParquetFile(self._file, read_dictionary=as_dictionaries, buffer_size=2**20)

    def _groups(self):
        """Return lists of row groups with about GROUP_RECORDS together: small groups are slow to read one by one."""
        together, n_records = [], 0
        for group in range(self._parquet.num_row_groups):
            together.append(group)
            n_records += self._parquet.metadata.row_group(group).num_rows
            if n_records >= GROUP_RECORDS:
                yield together
                together, n_records = [], 0
        if together:
            yield together

    def _record_bytes(self, peeking, group, columns, encoded):
        """Return an estimate, rather too large, of the memory of a record of a row group.

        The first records may be shorter than others, so the size in the file and the longest value of a dictionary
        count too.
        """
        of_group = self._parquet.metadata.row_group(group)
        chunks = (of_group.column(place) for place in range(of_group.num_columns))
        wanted = (chunk for chunk in chunks if _is_part(chunk.path_in_schema, columns))
        stored = sum(chunk.total_uncompressed_size for chunk in wanted) / max(1, of_group.num_rows)
        few = next(peeking.iter_batches(batch_size=FEW_RECORDS, row_groups=[group], columns=columns), None)
        if few is None or few.num_rows == 0:
            return stored
        decoded = zip(few.schema.names, few.columns, strict=True)
        return max(stored, sum(_value_bytes(column, name in encoded) for name, column in decoded))


def _is_part(path, columns):
    """Return whether a path in a Parquet schema is one of the columns or inside one; names may contain dots."""
    return path in columns or any(path.startswith(f"{name}.") for name in columns)


def _is_text(arrow_type):
    return pa.types.is_string(arrow_type) or pa.types.is_binary(arrow_type)


def _value_bytes(column, stays_encoded):
    from pyarrow import compute

    if not pa.types.is_dictionary(column.type) or not _is_text(column.type.value_type):
        return column.nbytes / len(column)
    longest = None if stays_encoded else compute.max(compute.binary_length(column.dictionary)).as_py()
    return (longest or 0) + column.indices.nbytes / len(column)


class ArrowFileSource(_Source):
    """The Arrow format with random access. A file with the stream format inside is read as a stream."""

    def _read_schema(self):
        self._is_stream = self._file.read(6) != b"ARROW1"
        self._open = pa.ipc.open_stream if self._is_stream else pa.ipc.open_file
        self._file.seek(0)
        schema = self._open(self._file).schema
        self._file.seek(0)
        return schema

    def _batches(self, columns, _):
        how = pa.ipc.IpcReadOptions(included_fields=[self.names.index(name) for name in columns])
        reader = self._open(self._file, options=how)
        return _checked(reader if self._is_stream else map(reader.get_batch, range(reader.num_record_batches)))


class ArrowStreamSource(_Source):
    """The Arrow stream format."""

    reads_pipes = True

    def _read_schema(self):
        self._reader = pa.ipc.open_stream(self._file)
        return self._reader.schema

    def _batches(self, columns, _):
        return _checked(batch.select(columns) for batch in self._reader)


def _checked(batches):
    """Return batches of a bounded size. They are validated, because a damaged batch may point outside its memory."""
    for batch in batches:
        batch.validate(full=True)
        for first in range(0, batch.num_rows, BATCH_RECORDS):
            yield batch.slice(first, BATCH_RECORDS)


class _Sink:
    """The common part of both sinks: a writer of pyarrow, which cannot close the file."""

    _writes_hidden = False  # whether the writer stores more of a column than its values

    def prepare(self, batch, codes):
        """Return the batch as it is written, with its public columns sampled. Any thread may call this."""
        return with_replaced(batch, self._schema, self._replaced, codes, self._writes_hidden)

    def close(self):
        self._writer.close()

    def abandon(self):
        self._lent.abandon()
        self._writer.close()


class ParquetSink(_Sink):
    """Writes row groups of up to a million records, without statistics, which would take longer than all the rest.

    Public columns of text are written from small dictionaries and read back with their own type.
    """

    encodes = True  # encoding while it writes keeps a core busy

    def __init__(self, file, form, schema, replaced):
        self._file, self._lent, self._waiting, self._n_waiting, self._n_bytes = file, Lent(file), [], 0, 0
        self._logical, self._schema, self._replaced = schema, schema, dict(replaced)
        for name, as_asked in replaced.items():
            place, field = schema.get_field_index(name), schema.field(name)
            if pa.types.is_string(getattr(field.type, "value_type", field.type)):
                text = pa.dictionary(pa.uint8() if len(as_asked.labels) < 2**8 else pa.int32(), pa.string())
                self._schema = self._schema.set(place, field.with_type(text))
                self._replaced[name] = Replaced(name, as_asked.labels, text, as_asked.order)
        with holding("Parquet", schema.names, lambda name: _parquet_writer(schema.field(name))):
            self._writer = parquet.ParquetWriter(
                pa.PythonFile(self._lent, mode="w"), self._schema, write_statistics=False, store_schema=False
            )

    def write(self, batch):
        self._waiting.append(batch)
        self._n_waiting, self._n_bytes = self._n_waiting + batch.num_rows, self._n_bytes + batch.nbytes
        if self._n_waiting >= GROUP_RECORDS or self._n_bytes >= GROUP_BYTES:
            self._write_group()

    def _write_group(self):
        if self._waiting:
            table = pa.Table.from_batches(self._waiting)
            table = pa.table([_unified(column) for column in table.columns], schema=table.schema)
            self._waiting, self._n_waiting, self._n_bytes = [], 0, 0
            with holding("Parquet", table.column_names, lambda name: _write_alone(table.select([name]))):
                self._writer.write_table(table, row_group_size=max(1, table.num_rows))

    def close(self):
        """Finish the file. The types are stored as pyarrow stores them, but without the dictionaries of public text."""
        self._write_group()
        types = base64.b64encode(self._logical.serialize()).decode()
        self._writer.add_key_value_metadata({"ARROW:schema": types})
        super().close()

    def n_written(self):
        """Return the number of records according to the finished file."""
        self._file.seek(0)
        return parquet.read_metadata(self._file).num_rows


def _parquet_writer(field):
    return parquet.ParquetWriter(pa.BufferOutputStream(), pa.schema([field]))


def _write_alone(table):
    parquet.write_table(table, pa.BufferOutputStream())


def _unified(column):
    """Return a column with one dictionary for all chunks: the writer encodes only one."""
    if not pa.types.is_dictionary(column.type):
        return column
    try:
        return column.unify_dictionaries()
    except pa.ArrowException:  # the indices are too narrow for all values
        return column


class ArrowSink(_Sink):
    """Writes Arrow files and streams."""

    encodes, _writes_hidden = False, True

    def __init__(self, file, form, schema, replaced):
        if form.kind == "arrow":
            plain = (field.with_type(rebuilt_type(field.type, decode=True)) for field in schema)
            schema = pa.schema([schema.field(one.name) if one.name in replaced else one for one in plain])
        self._schema, self._replaced = schema, replaced
        self._file, self._lent, self._kind, self._n_written, self._n_batches = file, Lent(file), form.kind, 0, 0
        new = pa.ipc.new_file if form.kind == "arrow" else pa.ipc.new_stream
        with holding("Arrow", schema.names, lambda name: new(pa.BufferOutputStream(), pa.schema([schema.field(name)]))):
            self._writer = new(pa.PythonFile(self._lent, mode="w"), schema)

    def write(self, batch):
        with holding("Arrow", (), None):
            self._writer.write_batch(batch)
        self._n_written, self._n_batches = self._n_written + batch.num_rows, self._n_batches + 1

    def n_written(self):
        """Return the number of records written, after checking the number of batches in the finished file."""
        if self._kind == "arrow":
            self._file.seek(0)
            n_batches = pa.ipc.open_file(self._file).num_record_batches
            if n_batches != self._n_batches:
                raise FileError(f"{self._n_batches:,} batches were written, but the file has {n_batches:,}")
        return self._n_written

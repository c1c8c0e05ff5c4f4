"""CSV files, with one rule for every value.

Every value is the text in the file. An empty field, quoted or not, is missing, and nothing else is: "NA" is text. A
record with too many or too few fields, text after a closing quote, and a quote that is never closed are errors: such a
quote would carry all records after it, S included, into one value. Fields that pass from CSV to CSV keep their bytes.
"""

import codecs
import csv
import io
from contextlib import AbstractContextManager
from functools import cached_property, lru_cache
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import csv as arrow_csv

from linred._kernels import csv_text, recoding
from linred.batches.arrow_columns import with_replaced
from linred.columns.adapters.arrow_arrays import ArrowColumn
from linred.errors import FileError
from linred.io.pipes import PIPE, Lent, check_names, fault, holding, is_pipe, stdin

BLOCK_BYTES, HEAD_BYTES, MOST_RECORD_BYTES = 4 * 2**20, 2**20, 64 * 2**20
"""Size of a block, of a block in search of the header, and of the longest record allowed."""


class CsvSource(AbstractContextManager):
    """Reads a CSV file or a pipe."""

    n_records, n_read, reads_pipes = None, 0, True

    def __init__(self, path, form, encoding):
        self.path, self._delimiter = path, form.delimiter
        self._text = _Utf8(path, form.compression, encoding)
        try:
            self.names, self._first = self._header()
        except BaseException:
            self._text.close()
            raise
        self.schema = pa.schema([(name, pa.string()) for name in self.names])

    def __exit__(self, *_):
        self._text.close()

    @property
    def n_bytes_read(self):
        return self._text.n_bytes_read

    def _header(self):
        """Return (the column names in the first line that is not empty, the bytes that were read after it)."""
        head, piece, rest = b"", b"not the end", b""
        while piece and not rest:  # a read from a pipe may end within the line
            piece = self._read(HEAD_BYTES)
            head += piece
            names, rest = self._first_line(head)
            if len(head) > MOST_RECORD_BYTES:
                raise FileError(f"{self.path}: its first line is longer than {MOST_RECORD_BYTES >> 20} MB")
        try:
            head[: len(head) - len(rest)].decode()
        except UnicodeDecodeError:
            encoding = self._text.encoding
            raise FileError(f"{self.path}: its first line is not {encoding} text: set --encoding") from None
        if not names:
            raise FileError(f"{self.path} is empty: its first line must hold the names of the columns")
        check_names(self.path, names)
        return tuple(names), rest

    def _first_line(self, head):
        """Return (fields of the first line that is not empty, the bytes after it) of the bytes read so far."""
        bom = len(codecs.BOM_UTF8) * head.startswith(codecs.BOM_UTF8)
        lines = io.StringIO(head[bom:].decode(errors="replace"), newline="")
        try:
            names = next((row for row in csv.reader(lines, delimiter=self._delimiter) if row), [])
        except csv.Error:
            raise FileError(f"{self.path}: its first line is not CSV: check --delimiter and the quotes") from None
        header = lines.getvalue()[: lines.tell()]
        return names, head[bom + len(header.encode()) :]

    def batches(self, columns, encoded=()):
        """Yield `TextBatch`es with some of the columns."""
        wanted = [place for place, name in enumerate(self.names) if name in columns]
        slots = {self.names[place]: _Slot(slot, place) for slot, place in enumerate(wanted)}
        slot_of = np.full(len(self.names), -1, np.int32)
        slot_of[wanted] = np.arange(len(wanted))
        rest, more = self._first, True
        while more:
            block = self._read(BLOCK_BYTES)
            more, block = bool(block), rest + block
            if block:
                bounds, n_bytes = self._split(block, not more, slot_of)
                rest = block[n_bytes:]
                if len(rest) > MOST_RECORD_BYTES:
                    raise self._error(0, f"is longer than {MOST_RECORD_BYTES >> 20} MB: is a quote never closed?")
                if len(bounds):
                    yield TextBatch(block, bounds, slots, self._delimiter)
                    self.n_read += len(bounds)

    def _split(self, block, is_last, slot_of):
        try:
            bounds, n_bytes = csv_text.split(block, is_last, ord(self._delimiter), slot_of)
            if not block.isascii():
                codecs.utf_8_decode(memoryview(block)[:n_bytes], "strict", True)
        except csv_text.CsvError as error:
            raise self._error(error.record, error.what) from None
        except UnicodeDecodeError as error:
            record = int(np.searchsorted(bounds[:, 0, 0], error.start, side="right")) - 1
            raise self._error(max(0, record), f"is not {self._text.encoding} text: set --encoding") from None
        return bounds, n_bytes

    def _read(self, n_bytes):
        try:
            return self._text.read(n_bytes)
        except UnicodeError:
            raise self._error(0, f"or one after it is not {self._text.encoding} text: set --encoding") from None
        except (pa.ArrowException, OSError) as error:
            place = f" after record {self.n_read:,}" if self.n_read else ""
            raise FileError(f"{self.path}: cannot be read{place}: {fault(error)}") from None

    def _error(self, record, what):
        return FileError(f"{self.path}: record {self.n_read + record + 1:,} {what}")


class _Utf8:
    """Reads a file as UTF-8 bytes, decompressed and decoded."""

    def __init__(self, path, compression, encoding):
        try:
            "".encode(encoding)  # raises for codecs of Python that are not for text
            self.encoding = codecs.lookup(encoding).name
            self._decoder = None if self.encoding == "utf-8" else codecs.getincrementaldecoder(encoding)()
        except (LookupError, TypeError, ValueError):
            raise FileError(f"--encoding {encoding!r} is unknown: examples are utf-8, latin-1 and cp1252") from None
        self._path, self._is_pipe, self.n_bytes_read = path, is_pipe(path), 0
        self._file = stdin() if path == PIPE else open(path, "rb", buffering=0)  # noqa: SIM115, close() is below
        self._stream = self._file
        if compression:
            self._stream = pa.CompressedInputStream(pa.PythonFile(self._file, mode="r"), compression)

    def read(self, n_bytes):
        """Return about n_bytes, and none at the end."""
        piece, raw = b"", b"not the end"
        while raw and not piece:
            raw = self._stream.read(n_bytes)
            piece = raw if self._decoder is None else self._decoder.decode(raw, final=not raw).encode()
        self.n_bytes_read = self.n_bytes_read + len(piece) if self._is_pipe else self._file.tell()
        return piece

    def close(self):
        if self._path != PIPE:
            self._file.close()


class _Slot(NamedTuple):
    number: int  # among the columns that are read
    place: int  # among all columns of the file


class TextBatch:
    """Records of CSV as the bytes in the file."""

    def __init__(self, block, bounds, slots, delimiter):
        self._block, self._bounds, self._slots, self.delimiter = block, bounds, slots, delimiter
        self.num_rows = len(bounds)

    def column(self, name):
        """Return an Arrow column of text, in which empty values are missing."""
        return self.text(name).column

    def text(self, name):
        """Return the `TextColumn` of a column."""
        return TextColumn(name, self._block, self._bounds, self._slots[name].number)

    def pieces(self, names, texts):
        """Return the pieces of a line of some columns, in order: runs of neighbours in the file, and texts by code."""
        pieces = []
        for is_new, run in groupby(names, key=texts.__contains__):
            if is_new:
                pieces += [texts[name] for name in run]
                continue
            slots = enumerate(self._slots[name] for name in run)
            for _, neighbours in groupby(slots, key=lambda pair: pair[1].place - pair[0]):
                near = [slot.number for _, slot in neighbours]
                pieces.append((near[0], near[-1]))
        return pieces

    def lines(self, pieces, codes):
        """Return the lines that the pieces make up, with sampled values by their codes."""
        return csv_text.lines(self._block, self._bounds, pieces, codes, ord(self.delimiter))


class TextColumn(ArrowColumn):
    """One column of a `TextBatch`. Its codes come from the bytes, all else from its Arrow form, made when needed."""

    dtype = pa.string()

    def __init__(self, name, block, bounds, slot):
        self.name, self._block, self._bounds, self._slot = name, block, bounds, slot

    def __len__(self):
        return len(self._bounds)

    @cached_property
    def column(self):
        values, begins = csv_text.column(self._block, self._bounds, self._slot)
        valid = np.packbits(begins[1:] > begins[:-1], bitorder="little")
        buffers = [pa.py_buffer(part) for part in (valid, begins, values)]
        return pa.Array.from_buffers(pa.string(), len(self), buffers)

    def codes_in(self, encoder):
        index, recode = _index(encoder)
        return recoding.recode(index.codes(self._block, self._bounds, self._slot), recode)


@lru_cache(maxsize=16)
def _index(encoder):
    """Return (index of the labels that a field can hold, table from its codes to codes of the encoder)."""
    texts = [label for label in encoder.labels if isinstance(label, str) and label]
    index = csv_text.Labels([text.encode(errors="surrogatepass") for text in texts], len(texts) + 1)
    return index, encoder.recoding_table([*texts, _NO_LABEL, None])


_NO_LABEL = object()


class CsvSink:
    """Writes CSV in UTF-8, with lines that end in a line feed."""

    encodes = False  # lines are made by the threads that sample

    def __init__(self, file, form, schema, replaced):
        self.schema, self._delimiter, self._replaced = schema, form.delimiter, replaced
        self._texts = {name: self._text_of(new.labels) for name, new in replaced.items()}
        with holding("CSV", schema.names, lambda name: self._write_null(schema.field(name).type)):
            for field in schema:
                self._write_null(field.type)
        self._file = self._stream = Lent(file)
        if form.compression:
            self._stream = pa.CompressedOutputStream(pa.PythonFile(self._file, mode="w"), form.compression)
        self._stream.write(
            self._delimiter.encode().join(_field(name, self._delimiter) for name in schema.names) + b"\n"
        )

    def _write_null(self, arrow_type):
        self._arrow_lines(pa.record_batch([pa.nulls(1, arrow_type)], [""]), "none")

    def _text_of(self, labels):
        """Return the field for each label. A missing value alone in a line is quoted: most readers skip empty lines."""
        nothing = b'""' if len(self.schema) == 1 else b""
        texts = ("" if label is None else str(label) for label in labels)
        return csv_text.Text([_field(text, self._delimiter) or nothing for text in texts])

    def prepare(self, batch, codes):
        """Return the lines of a batch with its public columns sampled. Any thread may call this."""
        if isinstance(batch, TextBatch) and batch.delimiter == self._delimiter:
            pieces = batch.pieces(self.schema.names, self._texts)
            if len(pieces) <= csv_text.MOST_PIECES:
                return batch.lines(pieces, codes.astype(np.uint32, copy=False))
        batch = with_replaced(batch, self.schema, self._replaced, codes)
        with holding("CSV", self.schema.names, lambda name: self._lines(batch.select([name]))):
            return self._lines(batch)

    def _lines(self, batch):
        """Return the lines of a batch, with all of its text in quotes if one of its values needs them."""
        if batch.num_columns == 1:
            text = batch.column(0).cast(pa.string()).fill_null("")
            if pa.compute.any(pa.compute.equal(text, "")).as_py():
                return self._arrow_lines(pa.record_batch([text], batch.schema.names), "needed")
        try:
            lines = self._arrow_lines(batch, "none")
        except pa.ArrowInvalid:
            return self._arrow_lines(batch, "needed")
        if np.count_nonzero(np.frombuffer(lines, np.uint8) == ord("\n")) != batch.num_rows:
            raise FileError(f"{batch.num_rows} records gave another number of lines: please report this fault")
        return lines

    def _arrow_lines(self, batch, quoting):
        lines = pa.BufferOutputStream()
        how = arrow_csv.WriteOptions(
            include_header=False, delimiter=self._delimiter, quoting_style=quoting, batch_size=2**16
        )
        arrow_csv.write_csv(batch, lines, how)
        return lines.getvalue()

    def write(self, lines):
        self._stream.write(lines)

    def close(self):
        if self._stream is not self._file:
            self._stream.close()

    def abandon(self):
        self._file.abandon()
        self.close()

    def n_written(self):
        """Return None: the number of records is unknown without reading the file again."""
        return None


def _field(text, delimiter):
    """Return a value as a field of CSV, quoted if it must be."""
    if any(character in text for character in (delimiter, '"', "\r", "\n")):
        doubled = text.replace('"', '""')
        text = f'"{doubled}"'
    return text.encode()

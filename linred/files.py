"""Tables in files, as streams of Arrow record batches: which format a path has, and how it is opened.

Every source gives its columns' names, then batches of the columns that are asked for, rows in the order of the file;
every sink takes batches. CSV is in `linred.csv_files`, Parquet and Arrow in `linred.columnar_files`.
"""

import os
import sys
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np


class FileError(ValueError):
    """A file that cannot be read, written or understood: one line that names it and says what to do."""


class Format(NamedTuple):
    kind: str  # "csv", "parquet", "arrow" (random access) or "arrows" (a stream)
    compression: str | None = None
    delimiter: str = ","


_EXTENSIONS = {
    ".csv": Format("csv"),
    ".tsv": Format("csv", delimiter="\t"),
    ".parquet": Format("parquet"),
    ".pq": Format("parquet"),
    ".arrow": Format("arrow"),
    ".feather": Format("arrow"),
    ".arrows": Format("arrows"),
}
_COMPRESSIONS = {".gz": "gzip", ".zst": "zstd"}
PIPE = "-"


def format_of(path, name=None, delimiter=None):
    """The `Format` by a path's extension, or by `name` (an extension without its dot); CSV for a pipe."""
    found = _format_of(str(path), name)
    if delimiter is None:
        return found
    if found.kind != "csv":
        raise FileError(f"{path}: a delimiter is for CSV, and this is {found.kind}")
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise FileError(f"delimiter {delimiter!r} is not one ASCII character, or is a quote or the end of a line")
    return found._replace(delimiter=delimiter)


def _format_of(path, name):
    root, extension = os.path.splitext(f"x.{name}" if name else "x.csv" if path == PIPE else path.lower())
    compression = _COMPRESSIONS.get(extension)
    if compression:
        extension = os.path.splitext(root)[1]
    found = _EXTENSIONS.get(extension)
    if found is None or (compression and found.kind != "csv"):
        known = ", ".join((*_EXTENSIONS, ".csv.gz", ".csv.zst"))
        what = f"format {name!r}" if name else f"{path}: its extension"
        raise FileError(f"{what} is not one of {known}: rename it, or say --from or --to")
    return found._replace(compression=compression)


def pyarrow():
    """The package that reads and writes files."""
    try:
        import pyarrow
    except ImportError:
        raise ImportError("files need pyarrow: pip install linred[cli]") from None
    return pyarrow


def open_source(path, form, *, encoding="utf-8"):
    """A source, to be used in a `with` statement."""
    pyarrow()
    if path != PIPE and not os.path.exists(path):
        raise FileError(f"{path}: there is no such file")
    if path != PIPE and os.path.isdir(path):
        raise FileError(f"{path} is a directory, not a file")
    if form.kind == "csv":
        from linred.csv_files import CsvSource

        return CsvSource(path, form, encoding)
    from linred import columnar_files

    if is_pipe(path) and form.kind != "arrows":
        raise FileError(f"{form.kind} cannot be read from a pipe, it must seek: give a file, or pipe csv or arrows")
    return {
        "parquet": columnar_files.ParquetSource,
        "arrow": columnar_files.ArrowFileSource,
        "arrows": columnar_files.ArrowStreamSource,
    }[form.kind](path)


def open_sink(file, form, schema, replaced):
    """A sink that writes columns of a schema to a binary file; `replaced`: {name: Replaced} of those drawn anew."""
    if form.kind == "csv":
        from linred.csv_files import CsvSink as Sink
    elif form.kind == "parquet":
        from linred.columnar_files import ParquetSink as Sink
    else:
        from linred.columnar_files import ArrowSink as Sink
    return Sink(file, form, schema, replaced)


class Lent:
    """A binary file for a writer that would close it, or write to it once more when all is lost."""

    closed = False

    def __init__(self, file):
        self.write, self.flush, self.tell = file.write, file.flush, file.tell

    def close(self):
        self.flush()

    def abandon(self):
        """Take what is written from here on and do nothing with it."""
        self.write, self.flush = len, lambda: None


@contextmanager
def holding(form):
    """What a format cannot hold, as a `FileError`; a full disk stays an OSError."""
    try:
        yield
    except pyarrow().ArrowException as error:
        raise FileError(f"{form} cannot hold it: {one_line(error)}; see --columns, or another format") from None


def check_names(path, names):
    seen = set()
    for place, name in enumerate(names):
        if not name:
            raise FileError(f"{path}: column {place + 1} has no name")
        seen.add(name)
        if len(seen) == place:
            raise FileError(f"{path} has two columns called {listed([name])}: rename one")


def is_ordered(arrow_type):
    """Whether it is a dictionary whose values have an order."""
    return getattr(arrow_type, "ordered", False)


def is_missing(column):
    """Of an Arrow column, which records have no value: null, NaN, or a code for one of these in a dictionary."""
    if hasattr(column.type, "ordered"):
        of_codes = np.append(is_missing(column.dictionary), True)
        return of_codes[np.asarray(column.indices.cast("int64").fill_null(len(of_codes) - 1))]
    return np.asarray(column.is_null(nan_is_null=True))


def stdin():
    if sys.stdin is None:
        raise FileError("standard input is closed, and - was to be read from it")
    return sys.stdin.buffer


def stdout():
    if sys.stdout is None:
        raise FileError("standard output is closed, and - was to be written to it")
    return sys.stdout.buffer


def is_pipe(path):
    """Whether it can be read once only, and its name says nothing of what is in it: - or a FIFO, say."""
    return path == PIPE or (os.path.exists(path) and not os.path.isfile(path))


def listed(values):
    """Values for a message: those that fit on a line, each cut where it is long."""
    texts = [text if len(text := repr(value)) <= 60 else f"{text[:57]}..." for value in values[:12]]
    return ", ".join(texts) + (f" and {len(values) - 12:,} more" if len(values) > 12 else "")


def one_line(error):
    """What an error of a package says, on one line that is not too long."""
    text = " ".join(str(error).split())
    return text if len(text) <= 200 else f"{text[:197]}..."

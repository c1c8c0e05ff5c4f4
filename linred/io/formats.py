"""Which format a path has, and how it is opened.

Every source gives its columns' names, then batches of the columns that are asked for, rows in the order of the file;
every sink takes batches. CSV is in `linred.io.csv_file`, Parquet and Arrow in `linred.io.columnar_file`.
"""

import os
from typing import NamedTuple

from linred.errors import FileError
from linred.io import columnar_file, csv_file
from linred.io.pipes import PIPE, is_pipe


class Format(NamedTuple):
    kind: str  # "csv", "parquet", "arrow" (random access) or "arrows" (a stream)
    compression: str | None = None
    delimiter: str = ","


_KINDS = {
    "csv": (csv_file.CsvSource, csv_file.CsvSink),
    "parquet": (columnar_file.ParquetSource, columnar_file.ParquetSink),
    "arrow": (columnar_file.ArrowFileSource, columnar_file.ArrowSink),
    "arrows": (columnar_file.ArrowStreamSource, columnar_file.ArrowSink),
}
"""What reads and what writes each kind of file."""
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


def open_source(path, form, *, encoding="utf-8"):
    """A source, to be used in a `with` statement."""
    if path != PIPE and not os.path.exists(path):
        raise FileError(f"{path}: there is no such file")
    if path != PIPE and os.path.isdir(path):
        raise FileError(f"{path} is a directory, not a file")
    source, _ = _KINDS[form.kind]
    if is_pipe(path) and not source.reads_pipes:
        raise FileError(f"{form.kind} cannot be read from a pipe, it must seek: give a file, or pipe csv or arrows")
    return source(path, form, encoding)


def open_sink(file, form, schema, replaced):
    """A sink that writes columns of a schema to a binary file; `replaced`: {name: Replaced} of those drawn anew."""
    _, sink = _KINDS[form.kind]
    return sink(file, form, schema, replaced)

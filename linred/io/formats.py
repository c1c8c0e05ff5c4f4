"""Selects the format of a path and opens it.

Every source yields batches of the columns that are asked for, with rows in the order of the file; every sink writes
batches. CSV is in `linred.io.csv_file`, Parquet and Arrow in `linred.io.columnar_file`.
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
"""The source and the sink of each kind of file."""
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
    """Return the `Format` by `name` (an extension without its dot) or a path's extension; CSV for a pipe."""
    found = _format_of(str(path), name)
    if delimiter is None:
        return found
    if found.kind != "csv":
        raise FileError(f"{path}: --delimiter is for CSV, and this is {found.kind}")
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise FileError(f"--delimiter {delimiter!r} must be one ASCII character, and not a quote or the end of a line")
    return found._replace(delimiter=delimiter)


def _format_of(path, name):
    root, extension = os.path.splitext(f"x.{name}" if name else "x.csv" if path == PIPE else path.lower())
    compression = _COMPRESSIONS.get(extension)
    if compression:
        extension = os.path.splitext(root)[1]
    found = _EXTENSIONS.get(extension)
    if found is None or (compression and found.kind != "csv"):
        raise FileError(f"format {name!r} is unknown: choose {_NAMES}" if name else _unknown(path, extension))
    return found._replace(compression=compression)


_NAMES = "csv, tsv, csv.gz, csv.zst, parquet, arrow, feather or arrows"
_OF_OTHERS = frozenset(
    f".{name}"
    for names in ("xls xlsx xlsm ods numbers", "json jsonl ndjson xml html pdf", "db sqlite sqlite3 mdb accdb",
                  "dta sav sas7bdat xpt rds rdata", "orc avro h5 hdf5 pkl pickle npy npz zip 7z")
    for name in names.split()
)  # fmt: skip
"""Extensions of other formats, for which --from cannot help."""


def _unknown(path, extension):
    """Return the message for an unknown extension; it names --from only if the format may be a known one."""
    known = "linred reads and writes CSV (.csv, .tsv, .csv.gz, .csv.zst), Parquet (.parquet, .pq) and Arrow (.arrow, "
    known += ".feather, .arrows)"
    if extension in _OF_OTHERS:
        return f"{path}: {extension} files are not supported. {known}: export the table to CSV or Parquet"
    return f"{path}: its extension is unknown. {known}: rename it, or name its format, as in --from csv or --to csv"


def open_source(path, form, *, encoding="utf-8"):
    """Return a source, for a `with` statement."""
    if path != PIPE and not os.path.exists(path):
        raise FileError(f"{path}: no such file")
    if path != PIPE and os.path.isdir(path):
        raise FileError(f"{path} is a directory, not a file")
    source, _ = _KINDS[form.kind]
    if is_pipe(path) and not source.reads_pipes:
        raise FileError(f"{path}: {form.kind} cannot be read from a pipe: name a file, or pipe csv or arrows")
    return source(path, form, encoding)


def open_sink(file, form, schema, replaced):
    """Return a sink that writes a schema's columns to a binary file. replaced: {name: Replaced} of the public ones."""
    _, sink = _KINDS[form.kind]
    return sink(file, form, schema, replaced)

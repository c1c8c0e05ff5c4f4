"""Common parts of all formats: pipes, files that a writer cannot close, and the texts of errors."""

import os
import sys
from contextlib import contextmanager

import pyarrow as pa

from linred.errors import FileError

PIPE = "-"


class Lent:
    """Wraps a binary file so that a writer cannot close it. After abandon(), writes are discarded."""

    closed = False

    def __init__(self, file):
        self.write, self.flush, self.tell = file.write, file.flush, file.tell

    def close(self):
        self.flush()

    def abandon(self):
        """Discard everything that is written from here on."""
        self.write, self.flush = len, lambda: None


@contextmanager
def holding(form, names, attempt):
    """Turn an error of pyarrow about what a format cannot hold into a `FileError` that names the column.

    attempt(name) raises such an error for the column. A full disk stays an OSError.
    """
    try:
        yield
    except pa.ArrowException:  # its text may contain values
        name = next((name for name in names if _fails(attempt, name)), None)
        which = "one of the columns" if name is None else f"column {name!r}"
        raise FileError(f"{form} cannot hold {which}: leave it out with --columns, or choose another format") from None


def _fails(attempt, name):
    try:
        attempt(name)
    except pa.ArrowException:
        return True
    return False


def check_names(path, names):
    """Raise a `FileError` unless every column has a name of its own.

    The message has the places of columns and no name, because a file without a header has values in place of names.
    """
    first_place = {}
    for place, name in enumerate(names, 1):
        if not name:
            raise FileError(f"{path}: column {place} has no name. Is its first line a record, not a header?")
        if first_place.setdefault(name, place) != place:
            raise FileError(
                f"{path}: columns {first_place[name]} and {place} have the same name: rename one. "
                "Is its first line a record, not a header?"
            )


def stdin():
    """Return standard input as a binary file."""
    if sys.stdin is None:
        raise FileError("standard input is closed, so - cannot be read: name a file")
    return sys.stdin.buffer


def stdout():
    """Return standard output as a binary file."""
    if sys.stdout is None:
        raise FileError("standard output is closed, so - cannot be written: name a file")
    return sys.stdout.buffer


def is_pipe(path):
    """Return whether a path can be read only once and its name does not identify the content: -, a FIFO or a device."""
    return path == PIPE or (os.path.exists(path) and not os.path.isfile(path))


def fault(error):
    """Return the kind of a read error for a message, without the text of pyarrow, which may contain values."""
    if isinstance(error, OSError) and error.strerror and error.errno:
        return os.strerror(error.errno)
    if isinstance(error, NotImplementedError):
        return "it uses a feature that pyarrow does not support"
    return "it is out of memory" if isinstance(error, MemoryError) else "it is damaged, cut off or of another format"

"""What all formats share: pipes, files that a writer may not close, and what is said of errors."""

import os
import sys
from contextlib import contextmanager

import pyarrow as pa

from linred.errors import FileError

PIPE = "-"


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
    except pa.ArrowException as error:
        raise FileError(f"{form} cannot hold it: {one_line(error)}; see --columns, or another format") from None


def check_names(path, names):
    seen = set()
    for place, name in enumerate(names):
        if not name:
            raise FileError(f"{path}: column {place + 1} has no name")
        seen.add(name)
        if len(seen) == place:
            raise FileError(f"{path} has two columns called {listed([name])}: rename one")


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

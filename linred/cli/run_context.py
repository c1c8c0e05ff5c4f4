"""The context of one run of a command: its source and outputs, the key of its draws, its progress, log and messages."""

import logging
import os
import sys
from contextlib import contextmanager, nullcontext
from functools import wraps
from typing import NamedTuple

import click

from linred._common import atomic_file
from linred.cli.help_pages import Command
from linred.errors import FileError
from linred.io import formats, key_file, pipes
from linred.io.pipes import PIPE
from linred.sampling import keystream

log = logging.getLogger("linred")


class RunContext(NamedTuple):
    """The options of `linred.cli.options` that concern the run as a whole, under the names that click gives them."""

    stored: list  # paths of the files written so far: `linred.cli.main` names them if the run is cut off
    force: bool = False
    quiet: bool = False
    verbose: bool = False
    from_format: str | None = None
    to_format: str | None = None
    delimiter: str | None = None
    encoding: str = "utf-8"
    key_file: str | None = None
    seed: int | None = None
    id_column: str | None = None
    context: str | None = None

    def check_outputs(self, inputs, *files, table=None):
        """Raise an error unless every output can be written. Called before any input is read. Only `table` may be -."""
        if PIPE in files:
            raise click.UsageError("standard output takes only a sanitised table: name a file for this output")
        inputs = [path for path in (*inputs, self.key_file) if path not in (None, PIPE)]
        outputs = [path for path in (*files, table) if path not in (None, PIPE)]
        for place, path in enumerate(outputs):
            if os.path.realpath(path) in map(os.path.realpath, outputs[:place]):
                raise click.UsageError(f"{path} is named for two outputs: name a file for each")
            atomic_file.check_target(path, self.force, inputs)
            for temporary in atomic_file.stale(path):
                warn(f"{temporary} was left by a run that was killed: it is an incomplete {path}; remove it")

    def source(self, data):
        form = formats.format_of(data, self.from_format, self.delimiter)
        return formats.open_source(data, form, encoding=self.encoding)

    def sink_format(self, path):
        """Return the `Format` of the output `path`. CSV has the delimiter of --delimiter, if it is given."""
        form = formats.format_of(path, self.to_format)
        return form._replace(delimiter=self.delimiter) if form.kind == "csv" and self.delimiter else form

    @contextmanager
    def writer(self, path, private=False):
        """Yield a binary file that becomes `path` when the block ends, or standard output if `path` is -."""
        if path == PIPE:
            yield pipes.stdout()
            return
        with atomic_file.atomic_writer(path, force=self.force, private=private) as file:
            yield file
        self.stored.append(path)

    def store(self, path, save):
        """Call save(path, force=...), if there is a path."""
        if path:
            save(path, force=self.force)
            self.stored.append(path)

    def secret(self):
        """Return key, seed and ids as arguments of `pipeline.Plan`. Reads the key file."""
        if self.seed is not None and self.key_file:
            raise click.UsageError("--seed and --key-file are both given: use a key for a release, a seed for a test")
        if self.id_column and not self.key_file:
            raise click.UsageError("--id needs --key-file: without a key, an id gets another draw in every run")
        return {"key": key_file.read(self.key_file) if self.key_file else None, "seed": self.seed, "ids": None}

    def draw_context(self, data, public):
        """Return the context of the draws, which identifies the release.

        The default is the path of the file, so that two files under one key share no randomness. With ids there is no
        default, so that a record gets the same draw in every file.
        """
        release = self.context
        if release is None and not self.id_column:
            if pipes.is_pipe(data) and self.key_file:
                raise FileError(
                    "DATA is a pipe and has no name, and two pipes under one key must not share draws: name this "
                    "release with --context"
                )
            release = os.path.realpath(data)
        return keystream.context_of_columns(release, public)

    def progress(self, what, source):
        """Yield progress(n_records, n_bytes), which draws a bar on a terminal, or None if stderr is not a terminal."""
        return nullcontext() if self.quiet or not sys.stderr.isatty() else _bar(what, source)

    def note(self, text):
        if not self.quiet:
            click.echo(text, err=True)

    def note_artifact(self, path):
        if path:
            self.note(f"\n{path} holds the mechanism and P(S, X). It is confidential; only you can read it.")


@contextmanager
def _bar(what, source):
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    total, by_bytes = source.n_records, source.n_records is None
    if by_bytes and not pipes.is_pipe(source.path):
        total = os.path.getsize(source.path)
    name, share = TextColumn("{task.description}"), TextColumn("{task.percentage:>3.0f} %")
    speed = TextColumn("{task.fields[records]:,} records, {task.fields[rate]:.1f} M/s")
    columns = (name, BarColumn(), share, speed, TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, refresh_per_second=4) as bar:
        task = bar.add_task(what, total=total, records=0, rate=0.0)

        def progress(n_records, n_bytes):
            elapsed = bar.tasks[0].elapsed or 1e-9
            done = n_bytes if by_bytes else n_records
            bar.update(task, completed=done, records=n_records, rate=n_records / elapsed / 1e6)

        yield progress


class _ToStderr(logging.Handler):
    """Prints log lines like all other messages. It looks up sys.stderr each time, as a progress bar replaces it."""

    def emit(self, record):
        click.echo(f"linred: {self.format(record)}", err=True)


@contextmanager
def _log_shown(verbose):
    """Print the log of linred on stderr while the block runs, if `verbose`."""
    if not verbose:
        yield
        return
    handler, level = _ToStderr(), log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)


def warn(message):
    click.echo(f"linred: warning: {' '.join(message.split())}", err=True)


def command(name=None, cls=Command):
    """Return `click.command` for a function that takes a `RunContext` and, by name, the options outside of it."""

    def decorate(function):
        @wraps(function)
        def called(**options):
            of_run = {field: options.pop(field) for field in RunContext._fields if field in options}
            run = RunContext(click.get_current_context().obj, **of_run)
            with _log_shown(run.verbose):
                return function(run, **options)

        return click.command(name, cls=cls)(called)

    return decorate

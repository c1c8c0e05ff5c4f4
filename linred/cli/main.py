"""Run the `linred` command: every failure is one line on stderr and an exit code, never a traceback.

The exit codes are listed in `help_pages.EPILOG`. The commands are in `linred.cli.commands` and `linred.cli.verify`;
`all_commands` registers all of them.
"""

import contextlib
import errno
import os
import re
import signal
import sys
import threading
import traceback
import warnings

from linred.errors import FileError

COMPLETE = "_LINRED_COMPLETE"
"""The environment variable by which a shell asks for its completion script, or for completions."""


def main(arguments=None):
    """Run the command and exit with its exit code."""
    stored = []  # filled by the `RunContext` of the command
    _stand_in_for_closed_streams()
    signal.signal(signal.SIGTERM, _terminated)
    try:
        code = _run(list(sys.argv[1:] if arguments is None else arguments), stored)
        if sys.stdout:
            sys.stdout.flush()
    except KeyboardInterrupt:
        code = _say("interrupted", 130, stored)
    except _Terminated:
        code = _say("terminated", 143, stored)
    except BrokenPipeError:  # the reader of standard output has closed it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 128 + 13
    if any(thread.name == "linred reader" for thread in threading.enumerate()):
        sys.stderr.flush()
        os._exit(code)  # the thread waits for a pipe, and sys.exit would wait for the thread
    sys.exit(code)


def _stand_in_for_closed_streams():
    """Occupy descriptors 0 to 2 if they are closed, so that no output file gets one of them: packages may print there.

    A closed stderr is replaced too: Python sets it to None, for which `print` writes to stdout.
    """
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= 2:
        descriptor = os.open(os.devnull, os.O_RDWR)
    os.close(descriptor)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, open until the process ends


class _Terminated(BaseException):
    """SIGTERM as an exception, so that temporary files are removed."""


def _terminated(*_):
    raise _Terminated


@contextlib.contextmanager
def _signals_blocked():
    """Block signals during imports: an exception in the middle of one would leave a half-initialised module."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def all_commands():
    """Return the group of all commands, with everything imported that they need."""
    import pyarrow
    import rich  # noqa: F401

    from linred.cli import commands, verify
    from linred.sampling import keystream

    pyarrow.array([None])  # imports pandas if it is installed
    keystream.blocks_into(bytes(32), bytes(16), bytearray(31))  # imports the cipher
    of_data = (commands.fit, commands.sanitize, commands.fit_and_sanitize, commands.tradeoff, verify.audit)
    for command in (*of_data, commands.report, verify.certify, commands.keygen, commands.demo):
        commands.linred.add_command(command)
    return commands.linred


def _run(arguments, stored):
    try:
        with _signals_blocked():
            import click
            from click.shell_completion import shell_complete

            linred = all_commands()
    except ImportError as error:
        return _say(f"the command needs {error.name}: pip install linred[cli]", 2)
    if os.environ.get(COMPLETE):
        return shell_complete(linred, {}, "linred", COMPLETE, os.environ[COMPLETE])

    warnings.showwarning = lambda message, *_: print(f"linred: warning: {message}", file=sys.stderr)
    context = None
    try:
        with linred.make_context("linred", arguments, obj=stored) as context:
            return linred.invoke(context) or 0
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.ctx.get_help())
        return 2
    except click.UsageError as error:
        if getattr(error, "option_name", None) in ("--epsilon", "--eps"):
            error.possibilities, error.message = None, f"{error.message.rstrip('.')}: --ldp is epsilon, in nats"
        hint = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
        return _say(f"{error.format_message().removesuffix('.')}{hint}", 2)
    except click.exceptions.Exit as done:
        return done.exit_code
    except BrokenPipeError:
        raise
    except Exception as error:
        return _failed(error, context and linred.commands.get(context.invoked_subcommand), stored)


_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_BAD_INPUT = (None, errno.ENOENT, errno.EEXIST, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR, errno.EROFS)


def _failed(error, command, stored):
    """Print what an exception means for the user, and return the exit code."""
    if isinstance(error, MemoryError):
        return _say("out of memory", 1, stored)
    if isinstance(error, OSError) and error.errno in _NO_SPACE:
        return _say(f"no space left to write ({error.strerror})", 1, stored)
    if isinstance(error, OSError):
        return _say(in_option_names(_reason(error), command), 2 if error.errno in _BAD_INPUT else 1)
    if isinstance(error, FileError):  # written for the command: it names options already, and its paths must not change
        return _say(str(error), 2)
    package = type(error).__module__.partition(".")[0]
    is_message = isinstance(error, (ValueError, TypeError, ImportError)) and not isinstance(error, UnicodeError)
    if is_message and package in ("builtins", "linred"):
        return _say(in_option_names(str(error), command), 2)
    if os.environ.get("LINRED_DEBUG"):
        raise error
    return _say_fault(error, package)


def _reason(error):
    """Return the path and the reason of an OSError; errors of linred itself are sentences already."""
    if error.strerror is None:
        return str(error)
    reason = "no such file" if error.errno == errno.ENOENT else error.strerror[:1].lower() + error.strerror[1:]
    return reason if error.filename is None else f"{error.filename}: {reason}"


def _say_fault(error, package):
    """Report an unexpected exception by its type and place. Its text may contain values of the data."""
    name, place = type(error).__name__, traceback.extract_tb(error.__traceback__)[-1]
    shows = "LINRED_DEBUG=1 prints the traceback, which may contain values of the data"
    if isinstance(error, ValueError):  # pyarrow's are about the data
        return _say(f"{package} cannot process this data ({name}); {shows}", 2)
    where = f"{name} in {os.path.basename(place.filename)}, line {place.lineno}"
    return _say(f"a fault in linred, please report it: {where}; {shows}", 1)


def in_option_names(message, command):
    """Replace arguments in a message of the library by the options of a command.

    They stand there as `ldp=`, `ldp = 2`, `ldp <= 2`, `pairs[0, 1]` or `force=True`.
    """
    options = {"sees_s": "--without-sensitive"}
    for parameter in command.params if command else ():
        if parameter.param_type_name == "option":
            options[parameter.name] = max(parameter.opts, key=len)
    argument = rf"(?<![\w.-])({'|'.join(options)})(?:=(?:True|False)\b|=(?=[\s,.;:)]|$)|(?= ?<?=|\[))"
    return re.sub(argument, lambda match: options[match[1]], message)


def _say(message, code, stored=None):
    """Print a line on stderr and return the exit code. stored: paths to name, if the run was cut off."""
    if stored is not None:
        were = "was" if len(stored) == 1 else "were"
        message += f": only {', '.join(stored)} {were} written" if stored else ": nothing was written"
    print(f"linred: {' '.join(message.split())}", file=sys.stderr)
    return code

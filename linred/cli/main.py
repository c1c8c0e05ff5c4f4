"""The `linred` command: what went wrong is said in one line on stderr, with an exit code, and never as a traceback.

0  done    1  the machine failed (a full disk, say)    2  bad input or usage    3  an audit refutes what was claimed
130, 143  interrupted

The commands themselves are in `linred.cli.commands` and `linred.cli.verify`; `_commands` registers all of them.
"""

import contextlib
import errno
import os
import signal
import sys
import threading
import warnings


def main(arguments=None):
    """Run the command and leave with its exit code."""
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
    except BrokenPipeError:  # whoever read from us has left
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 128 + 13
    if any(thread.name == "linred reader" for thread in threading.enumerate()):
        sys.stderr.flush()
        os._exit(code)  # it waits for a pipe, and Python would wait for it
    sys.exit(code)


def _stand_in_for_closed_streams():
    """A file that is opened must not become descriptor 0, 1 or 2, which a package may print to. Python says None for
    a stream that was closed, and messages to None would go to stdout."""
    descriptor = os.open(os.devnull, os.O_RDWR)
    while descriptor <= 2:
        descriptor = os.open(os.devnull, os.O_RDWR)
    os.close(descriptor)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, for as long as the process lives


class _Terminated(BaseException):
    """SIGTERM, as an exception: so that temporary files are removed."""


def _terminated(*_):
    raise _Terminated


@contextlib.contextmanager
def _signals_wait():
    """Hold signals back: an exception in the middle of an import would leave a module that is half there."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _commands():
    """The group of all commands, and all that they import."""
    import pyarrow
    import rich  # noqa: F401

    from linred.cli import commands, verify
    from linred.sampling import keystream

    pyarrow.array([None])  # imports pandas, where it is there
    keystream.blocks_into(bytes(32), bytes(16), bytearray(31))  # imports the cipher
    of_data = (commands.fit, commands.sanitize, commands.fit_and_sanitize, commands.tradeoff, verify.audit)
    for command in (*of_data, commands.report, verify.certify, commands.keygen, commands.demo):
        commands.linred.add_command(command)
    return commands.linred


def _run(arguments, stored):
    try:
        with _signals_wait():
            import click

            linred = _commands()
    except ImportError as error:
        return _say(f"the command needs {error.name}: pip install linred[cli]", 2)

    warnings.showwarning = lambda message, *_: print(f"linred: warning: {message}", file=sys.stderr)
    try:
        with linred.make_context("linred", arguments, obj=stored) as context:
            return linred.invoke(context) or 0
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.ctx.get_help())
        return 2
    except click.UsageError as error:
        hint = f" (see {error.ctx.command_path} --help)" if error.ctx else ""
        return _say(f"{error.format_message()}{hint}", 2)
    except click.exceptions.Exit as done:
        return done.exit_code
    except BrokenPipeError:
        raise
    except (ValueError, TypeError, ImportError) as error:
        return _say(str(error), 2)
    except OSError as error:
        if error.errno in _NO_ROOM:
            return _say(f"no room left to write ({error.strerror})", 1, stored)
        return _say(str(error), 2 if error.errno in _BAD_INPUT else 1)
    except MemoryError:
        return _say("out of memory", 1, stored)
    except Exception as error:
        if os.environ.get("LINRED_DEBUG"):
            raise
        fault = f"{type(error).__name__}: {error}"
        return _say(f"a fault in linred, please report it: {fault} (LINRED_DEBUG=1 shows where)", 1)


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_BAD_INPUT = (None, errno.ENOENT, errno.EEXIST, errno.EACCES, errno.EPERM, errno.EISDIR, errno.ENOTDIR, errno.EROFS)


def _say(message, code, stored=None):
    """Print a line on stderr and return the exit code. stored: the files to name, where the run was cut off."""
    if stored is not None:
        were = "was" if len(stored) == 1 else "were"
        message += f": only {', '.join(stored)} {were} stored" if stored else ": nothing was stored"
    print(f"linred: {' '.join(message.split())}", file=sys.stderr)
    return code

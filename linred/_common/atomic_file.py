"""Atomic file writes: a file is written completely or not at all.

Output goes to a temporary file beside the target and takes the target's name at the end. Whatever happens before that,
even kill -9, leaves the target as it was. The next run names temporary files that no process holds any more.
"""

import glob
import hashlib
import os
import re
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: temporary files in use cannot be told from those that were left behind
    fcntl = None  # type: ignore[assignment]


def check_target(path, force=False, inputs=()):
    """Return the path to write to, with symbolic links followed; raise OSError or ValueError if it cannot be written.

    A name of an open descriptor is refused: replacing the file behind it would cut off a redirection, and every other
    holder of that descriptor would go on writing to a file without a name.
    """
    if _descriptor(path):
        raise ValueError(f"{path} is an open file descriptor, not a file: name a file")
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no directory {target.parent}: create it first")
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a directory: name a file")
    for other in inputs:
        if target.exists() and os.path.exists(other) and target.samefile(other):
            raise ValueError(f"{path} is the input itself: name another file for the output")
    if target.exists():
        if not stat.S_ISREG(target.stat().st_mode):
            raise ValueError(f"{path} is not a regular file: name another file")
        if not force:
            raise FileExistsError(f"{path} exists: force=True replaces it")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"{path}: no permission to write to {target.parent}")
    return target


@contextmanager
def atomic_writer(path, *, force=False, private=False):
    """Yield a binary file that becomes `path` if the block ends without an error, and is removed otherwise.

    private: only the owner may read the file, from the first byte on. Otherwise it gets the mode of the file that it
    replaces.
    """
    target = check_target(path, force)
    temporary = target.with_name(f".{_stem(target)}.{secrets.token_hex(4)}.linred-tmp")
    how = os.O_CREAT | os.O_EXCL | os.O_RDWR | getattr(os, "O_BINARY", 0)
    descriptor = os.open(temporary, how, 0o600 if private or target.exists() else 0o666)
    try:
        if target.exists() and not private:
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode) & 0o777)
        with open(descriptor, "w+b", buffering=2**20) as file:
            if fcntl:
                fcntl.flock(file, fcntl.LOCK_EX)
            yield file
            file.flush()
            os.fsync(file.fileno())
            check_target(path, force)
            _take_name(temporary, target, force)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _stem(target):
    """Return the name of the target, or its hash if the name of the temporary file would be too long."""
    name = os.fsencode(target.name)
    return target.name if len(name) <= 200 else hashlib.sha256(name).hexdigest()


def _take_name(temporary, target, force):
    """Rename; without `force`, keep a file that another process has created in the meantime."""
    if not force:
        try:
            os.link(temporary, target)
        except FileExistsError:
            raise FileExistsError(f"{target} exists: force=True replaces it") from None
        except OSError:  # a file system without links
            pass
        else:
            os.unlink(temporary)
            return
    os.replace(temporary, target)


def stale(path):
    """Return the temporary files of `path` that a killed run left behind."""
    target = Path(os.path.realpath(path))
    found = target.parent.glob(f".{glob.escape(_stem(target))}.*.linred-tmp")
    return [temporary for temporary in sorted(found) if not _is_held(temporary)]


def is_standard_output(path):
    """Return whether `path` names descriptor 1 of this process: /dev/stdout, /dev/fd/1, /proc/self/fd/1 or a link."""
    return _descriptor(path) in ("/dev/fd/1", os.path.realpath("/proc/self/fd") + "/1")


def _descriptor(path):
    """Return the path of the open descriptor that `path` leads to, or None. `os.path.realpath` would go on to the file
    behind it."""
    path = os.path.abspath(path)
    for _ in range(40):  # as many links as Linux follows
        folder, name = os.path.split(path)
        folder = os.path.realpath(folder)
        if re.fullmatch(r"/dev/fd|/proc/\d+(/task/\d+)?/fd", folder) and name.isdigit():
            return re.sub(r"/task/\d+", "", f"{folder}/{name}")
        if not os.path.islink(path):
            return None
        path = os.path.join(folder, os.readlink(path))
    return None


def _is_held(temporary):
    if not fcntl:
        return False
    try:
        with open(temporary, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # locked, or gone by now
        return True
    return False

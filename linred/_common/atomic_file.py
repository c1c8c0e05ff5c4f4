"""Files that are there whole or not at all.

What is written goes to a temporary file beside its target, and takes the target's name at the end. Whatever happens
before that, kill -9 too, leaves the target as it was; the next run names a temporary that nobody holds any more.
"""

import glob
import hashlib
import os
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: a temporary that is in use is then not told from one that is left behind
    fcntl = None  # type: ignore[assignment]


def check_target(path, force=False, inputs=()):
    """The path to write to, symbolic links followed; an OSError or ValueError that says why it cannot be."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{path}: there is no directory {target.parent}")
    if target.is_dir():
        raise IsADirectoryError(f"{path} is a directory")
    for other in inputs:
        if target.exists() and os.path.exists(other) and target.samefile(other):
            raise ValueError(f"{path} is the input itself: write to another file")
    if target.exists():
        if not stat.S_ISREG(target.stat().st_mode):
            raise ValueError(f"{path} is not a regular file: write to another, or to - for a pipe")
        if not force:
            raise FileExistsError(f"{path} exists: --force (force=True) replaces it")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"{path}: no permission to write to {target.parent}")
    return target


@contextmanager
def atomic_writer(path, *, force=False, private=False):
    """A binary file that becomes `path` when the block ends without an error, and is removed otherwise.

    private: for its owner's eyes only, from the first byte on. Otherwise a file that is replaced passes on its mode.
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
    """Its name, or where a temporary's would be too long, what stands for it."""
    name = os.fsencode(target.name)
    return target.name if len(name) <= 200 else hashlib.sha256(name).hexdigest()


def _take_name(temporary, target, force):
    """Rename; without `force` a file that has come to be there this very moment is kept."""
    if not force:
        try:
            os.link(temporary, target)
        except FileExistsError:
            raise FileExistsError(f"{target} exists: --force (force=True) replaces it") from None
        except OSError:  # a file system without links
            pass
        else:
            os.unlink(temporary)
            return
    os.replace(temporary, target)


def stale(path):
    """Temporaries of `path` that a killed run left behind."""
    target = Path(os.path.realpath(path))
    found = target.parent.glob(f".{glob.escape(_stem(target))}.*.linred-tmp")
    return [temporary for temporary in sorted(found) if not _is_held(temporary)]


def _is_held(temporary):
    if not fcntl:
        return False
    try:
        with open(temporary, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:  # locked, or gone by now
        return True
    return False

"""Key files: 32 secret bytes as 64 hexadecimal digits, which only their owner can read. `linred keygen` writes one."""

import os
import re
import stat

from linred._common.atomic_file import atomic_writer
from linred.errors import FileError
from linred.sampling import keystream


def write(path, force=False):
    """Write a fresh key from the operating system."""
    with atomic_writer(path, force=force, private=True) as file:
        file.write(keystream.secret().hex().encode() + b"\n")


def read(path):
    """Return the key. A file that others may read, or that is not a key file, is an error, which shows none of it."""
    if re.fullmatch("[0-9a-fA-F]{64}", str(path)):
        raise FileError("the key file is given as a key, not as a path: store the key in a file that only you can read")
    try:
        with open(path, "rb") as file:
            mode, text = os.fstat(file.fileno()).st_mode, file.read(1000)
    except OSError as error:
        raise FileError(f"{path}: the key cannot be read: {error.strerror}") from None
    if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise FileError(f"{path}: users other than its owner can read this key: run chmod 600 on it, or make a new key")
    try:
        key = bytes.fromhex(text.decode("ascii").strip())
    except ValueError:
        key = b""
    if len(key) != keystream.KEY_BYTES:
        raise FileError(f"{path} is not a key file: make one with linred keygen")
    return key

"""Addressed random bits: AES-CTR by OpenSSL under derived keys; a caller's key is never used as it is.

Each purpose has a key of its own, a keyed BLAKE2b of (key, context, purpose). The keystream of a purpose is AES-256
of the counters 0, 1, 2, ... as 16 bytes, most significant first. Any part of it can be computed without the rest: from
a counter on (`words_into`), or for given counters (`blocks_into`).
"""

import hashlib
import json
import os
from functools import cache

import numpy as np

from linred._common import validation

KEY_BYTES = 32
BLOCK_BYTES = 16


def secret(key=None, seed=None):
    """Return the 32 bytes that all subkeys of a call derive from: `key`, a hash of `seed`, or fresh bytes from the OS.

    Messages show neither the key nor the seed, because a key may have been passed as a seed by mistake.
    """
    if key is not None and seed is not None:
        raise ValueError("key and seed are both given: give a key for private draws, or a seed for tests")
    if key is not None:
        if not isinstance(key, bytes | bytearray | memoryview):
            raise ValueError(f"key is a {validation.type_name(key)}, not {KEY_BYTES} bytes")
        key = bytes(key)
        if len(key) != KEY_BYTES:
            raise ValueError(f"key has {len(key)} bytes, not {KEY_BYTES}")
        return key
    if seed is not None:
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
            raise ValueError(f"seed is a {validation.type_name(seed)}, not a whole number")
        if seed < 0:
            raise ValueError("seed is negative: give a whole number of at least 0")
        seed = int(seed)
        digits = seed.to_bytes((seed.bit_length() + 7) // 8, "little")
        return hashlib.blake2b(digits, digest_size=KEY_BYTES, person=b"linred seed").digest()
    return os.urandom(KEY_BYTES)


def context_bytes(context):
    """Return the caller's context, bytes or text, as bytes (UTF-8)."""
    if isinstance(context, str):
        return context.encode(errors="surrogatepass")
    if not isinstance(context, bytes | bytearray | memoryview):
        raise ValueError(f"context is a {validation.type_name(context)}, not bytes or text")
    return bytes(context)


def check_key_use(key, ids, start, context, name="ids"):
    """Refuse a key without ids, start or context, with which every batch of a loop would get the same draws.

    name : the argument of the caller that holds the ids
    """
    if key is not None and ids is None and start is None and not context:
        raise ValueError(
            f"key is given alone, so that every call would draw the same: also give {name} (a name for each record), "
            "start (the number of the first record, 0 for a whole column) or context (a name for this release)"
        )


def context_of_columns(context, public):
    """Return the context of draws for named public columns, the same for frames, files and the command.

    context : the caller's own context, bytes or text; None or empty for none.
    public : `ColumnSpec`s, which enter under the names that they were fitted under.
    """
    context = b"" if context is None else context
    text = context if isinstance(context, str) else context_bytes(context).decode(errors="surrogateescape")
    return json.dumps(["linred file", text or None, [part.called or part.name for part in public]]).encode()


def subkey(secret, context, purpose):
    """Return the key of one purpose (at most 16 bytes) in one context."""
    return hashlib.blake2b(context, key=secret, digest_size=KEY_BYTES, person=purpose).digest()


def subkey_of_try(secret, context, purpose, attempt):
    """Return the key of the blocks of a try; the first try, 0, has the key of the purpose itself.

    purpose : at most 14 bytes. Two bytes count the tries, of which each succeeds with probability 1/4 or more.
    """
    return subkey(secret, context, purpose + (attempt.to_bytes(2, "big") if attempt else b""))


def words_into(key, first_byte, zeros, buffer):
    """Write len(zeros) bytes of a key's keystream from `first_byte` on into `buffer`, which is 15 bytes longer.

    `zeros` must hold zeros, because the cipher adds the keystream to it.
    """
    counter, skipped = divmod(first_byte, BLOCK_BYTES)
    cipher, aes, modes = _ciphers()
    encryptor = cipher(aes(key), modes.CTR(counter.to_bytes(BLOCK_BYTES, "big"))).encryptor()
    if skipped:
        encryptor.update(bytes(skipped))
    encryptor.update_into(zeros, buffer)


def blocks_into(key, counters, buffer):
    """Write the 16-byte blocks of a key's keystream for these counters into `buffer`, which is 15 bytes longer."""
    cipher, aes, modes = _ciphers()
    cipher(aes(key), modes.ECB()).encryptor().update_into(counters, buffer)


@cache
def _ciphers():
    """Import OpenSSL through `cryptography` at first use, because that takes longer than importing linred."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    return Cipher, algorithms.AES, modes


def id_counters(ids, secret, context):
    """Return the counters of record ids, 16 bytes each: integers in two's complement, a keyed BLAKE2b of others.

    `ids` has the form that `record_ids.plain_ids` returns: integers, bytes and tuples of bytes. The parts of a tuple
    are hashed with their lengths, so that ("a", "bc") and ("ab", "c") are two ids.
    """
    if isinstance(ids, np.ndarray):
        counters = np.empty((ids.size, 2), ">u8")
        counters[:, 0] = np.where(ids < 0, np.uint64(2**64 - 1), np.uint64(0))
        counters[:, 1] = ids.astype(np.uint64)
        return counters.view(np.uint8).ravel()
    of_text, of_parts = (subkey(secret, context, purpose) for purpose in (b"linred id hash", b"linred id parts"))

    def counter(one):
        if isinstance(one, int):
            return one.to_bytes(BLOCK_BYTES, "big", signed=True)
        if isinstance(one, bytes):
            return hashlib.blake2b(one, key=of_text, digest_size=BLOCK_BYTES).digest()
        parts = b"".join(len(part).to_bytes(8, "big") + part for part in one)
        return hashlib.blake2b(parts, key=of_parts, digest_size=BLOCK_BYTES).digest()

    return np.frombuffer(b"".join(map(counter, ids)), np.uint8)

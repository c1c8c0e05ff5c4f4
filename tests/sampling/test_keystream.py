"""Keys and the keystream: published test vectors through this library's addressing, and refused arguments."""

import numpy as np
import pytest

from linred.columns.schema import parts_of
from linred.sampling import keystream

# NIST SP 800-38A, F.5.5 (CTR-AES256.Encrypt): key, first counter, and ciphertext xor plaintext.
KEY = bytes.fromhex("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")
COUNTER = 0xF0F1F2F3F4F5F6F7F8F9FAFBFCFDFEFF
PLAIN = bytes.fromhex(
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"
    "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710"
)
CIPHER = bytes.fromhex(
    "601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5"
    "2b0930daa23de94ce87017ba2d84988ddfc9c58db67aada613c2dd08457941a6"
)
STREAM = bytes(a ^ b for a, b in zip(PLAIN, CIPHER, strict=True))


def words(first_byte, n):
    buffer = np.zeros(n + 16, np.uint8)
    keystream.words_into(KEY, first_byte, bytes(n), buffer)
    return buffer[:n].tobytes()


@pytest.mark.parametrize("first", [0, 1, 5, 15, 16, 17, 31, 32, 63])
@pytest.mark.parametrize("n", [0, 1, 2, 15, 16, 17, 33, 64])
def test_words_are_nists_from_any_byte_on(first, n):
    n = min(n, 64 - first)
    assert words(16 * COUNTER + first, n) == STREAM[first : first + n]


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [3, 0, 2], [1, 1]])
def test_blocks_are_nists_in_any_order(order):
    counters = b"".join((COUNTER + i).to_bytes(16, "big") for i in order)
    buffer = np.zeros(len(counters) + 15, np.uint8)
    keystream.blocks_into(KEY, counters, buffer)
    assert buffer[: len(counters)].tobytes() == b"".join(STREAM[16 * i : 16 * i + 16] for i in order)


def test_subkeys_are_of_the_key_the_context_and_the_purpose():
    keys = [bytes(32), bytes(31) + b"\1"]
    contexts, purposes = [b"", b"a", b"a\0"], [b"linred first", b"linred second", b"linred ids"]
    all_of_them = {
        keystream.subkey(key, context, purpose) for key in keys for context in contexts for purpose in purposes
    }
    assert len(all_of_them) == 2 * 3 * 3
    assert {len(one) for one in all_of_them} == {32}


def test_a_secret_is_the_key_a_hash_of_the_seed_or_fresh():
    assert keystream.secret(key=KEY) == KEY == keystream.secret(key=bytearray(KEY))
    seeds = [keystream.secret(seed=seed) for seed in (0, 1, 255, 256, 2**64, 2**300, np.int64(7))]
    assert len(set(seeds)) == len(seeds)
    assert keystream.secret(seed=7) == keystream.secret(seed=np.uint8(7))
    assert keystream.secret() != keystream.secret()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"key": KEY, "seed": 1}, "key and seed are both given"),
        ({"key": KEY[:-1]}, "key has 31 bytes, not 32"),
        ({"key": KEY.hex()}, "key is a str, not 32 bytes"),
        ({"seed": -9876}, "^seed is negative: "),
        ({"seed": 9876.5}, "^seed is a float, not a whole number"),
        ({"seed": True}, "^seed is a bool, not a whole number"),
        ({"seed": "9876"}, "^seed is a str, not a whole number"),
        ({"seed": KEY}, "^seed is a bytes, not a whole number"),
        ({"seed": np.array([9876])}, r"^seed is a numpy\.ndarray, not a whole number"),
    ],
)
def test_bad_secrets_are_named_and_neither_keys_nor_seeds_are_shown(arguments, message):
    with pytest.raises(ValueError, match=message) as caught:
        keystream.secret(**arguments)
    for shown in (KEY.hex(), str(KEY), "9876"):
        assert shown not in str(caught.value)


def counters(ids, key=KEY, context=b""):
    return keystream.id_counters(ids, key, context).tobytes()


def test_counters_of_integers_are_these_in_16_bytes():
    numbers = [0, 1, -1, 2**63 - 1, -(2**63), 255]
    expected = b"".join(one.to_bytes(16, "big", signed=True) for one in numbers)
    assert counters(np.array(numbers)) == counters(numbers) == expected
    large = np.array([2**64 - 1, 2**63], np.uint64)
    assert counters(large) == counters(large.tolist())
    for dtype in (np.int8, np.uint8, np.int16, np.uint32):
        assert counters(np.array([7], dtype)) == (7).to_bytes(16, "big")


def test_counters_of_text_are_keyed_hashes():
    x, y, again = np.frombuffer(counters([b"x", b"y", b"x"]), np.uint8).reshape(3, 16)
    assert x.tobytes() == again.tobytes() != y.tobytes()
    assert counters([b"x", 5]) == counters([b"x"]) + (5).to_bytes(16, "big")
    assert len({counters([b"x"]), counters([b"x"], bytes(32)), counters([b"x"], KEY, b"c")}) == 3


def test_counters_of_several_columns_tell_their_parts_apart():
    rows = [(b"a", b"bc"), (b"ab", b"c"), (b"abc", b""), (b"abc",), (b"", b"abc"), (b"a", b"b", b"c")]
    assert len({counters([row]) for row in [*rows, b"abc"]}) == len(rows) + 1


def test_the_context_of_columns_is_that_of_the_caller_and_of_the_fitted_names():
    job, age = parts_of("public", ["job", "age"])
    contexts = {
        keystream.context_of_columns(context, public)
        for context in (None, "", "a", "ab", b"\xff")
        for public in ((job,), (age,), (job, age), (age, job))
    }
    assert len(contexts) == 4 * 4  # no context is an empty one
    assert keystream.context_of_columns(b"a", (job,)) == keystream.context_of_columns("a", (job.renamed("work"),))
    for wrong in (0, False, 5, ["a"]):
        with pytest.raises(ValueError, match=r"^context is a (int|bool|list), not bytes or text$"):
            keystream.context_of_columns(wrong, (job,))


@pytest.mark.parametrize("key", [None, KEY])
@pytest.mark.parametrize("beside", [{}, {"ids": [1]}, {"start": 0}, {"context": b"c"}])
def test_a_key_is_not_used_alone(key, beside):
    arguments = {"ids": None, "start": None, "context": b"", **beside}
    if key and not beside:
        with pytest.raises(ValueError, match=r"^key is given alone.*: .*ids.*start.*context"):
            keystream.check_key_use(key, **arguments)
    else:
        keystream.check_key_use(key, **arguments)

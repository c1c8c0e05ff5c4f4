"""Keys, seeds and contexts of the `linred` command."""

import os
import stat
from pathlib import Path

import linred.io.key_file
from support.commands import (
    ADULT,
    PAIR,
    TARGET,
    column,
    fit,
    key_file,
    read_csv,
    text_of,
)


def test_keys_seeds_and_contexts(linred_command):
    fit(linred_command, ADULT, *PAIR, "--alpha", "1")
    key_file(linred_command, "a")
    key_file(linred_command, "b")

    def drawn(*how, data=ADULT):
        done = linred_command("sanitize", data, "-m", "mechanism.json", "-o", "out.csv", "--force", *how)
        assert done.code == 0, done
        return column(read_csv("out.csv"), "occupation"), done.err

    with_a, said = drawn("--key-file", "a")
    assert "not private" not in said
    assert drawn("--key-file", "a", "--threads", "1")[0] == with_a
    copy = "copy.csv"
    Path(copy).write_text(text_of(ADULT))
    different = [
        drawn("--key-file", "b")[0],
        drawn("--key-file", "a", "--context", "other")[0],
        drawn("--key-file", "a", data=copy)[0],
        drawn()[0],
        drawn()[0],
        drawn("--seed", "1")[0],
    ]
    assert len({tuple(one) for one in (with_a, *different)}) == 7
    assert drawn("--key-file", "a", "--context", os.path.realpath(ADULT), data=copy)[0] == with_a
    seeded, said = drawn("--seed", "1")
    assert "a seed is not private" in said
    assert seeded == different[-1]


def test_a_key_is_read_once(linred_command, monkeypatch):
    key_file(linred_command)
    read, paths = linred.io.key_file.read, []
    monkeypatch.setattr("linred.io.key_file.read", lambda path: paths.append(path) or read(path))
    asked = ("run", ADULT, "--sensitive", PAIR[0], "--public", PAIR[1], *TARGET, "-o", "out.csv", "--key-file", "key")
    assert linred_command(*asked).code == 0
    assert paths == ["key"]


def test_a_key_is_for_its_owner_and_is_never_shown(linred_command):
    made = linred_command("keygen", "key")
    text = text_of("key").strip()
    assert stat.S_IMODE(os.stat("key").st_mode) == 0o600
    assert len(text) == 64
    fit(linred_command, ADULT, *PAIR, *TARGET)
    done = linred_command("sanitize", ADULT, "-m", "mechanism.json", "-o", "out.csv", "--key-file", "key")
    os.chmod("key", 0o640)
    refused = linred_command("sanitize", ADULT, "-m", "mechanism.json", "-o", "other.csv", "--key-file", "key")
    assert refused.code == 2
    assert "users other than its owner can read this key" in refused.err
    for path in ("out.csv", "mechanism.json"):
        assert text not in text_of(path)
    for said in (made, done, refused):
        assert text not in said.out + said.err
    Path("key").write_text("not a key")
    os.chmod("key", 0o600)
    refused = linred_command("sanitize", ADULT, "-m", "mechanism.json", "-o", "other.csv", "--key-file", "key")
    assert (refused.code, refused.err.count("\n")) == (2, 1)
    assert "not a key\n" not in refused.err

"""Pipes and FIFOs as inputs and outputs of the `linred` command."""

import gzip
import os
import subprocess
import threading
import time

import pyarrow as pa
import pytest

from support.commands import (
    ADULT,
    ASKED,
    PAIR,
    TARGET,
    command,
    process,
    refused,
    text_of,
)


def test_pipes(tmp_path):
    assert process("fit", "-", "--sensitive", PAIR[0], "--public", PAIR[1], *TARGET, "-o", "m.json", "-q",
                   stdin=ADULT.read_bytes(), cwd=tmp_path) == (0, "", "")  # fmt: skip
    process("keygen", "key", cwd=tmp_path)
    how = ("-m", "m.json", "--key-file", "key", "--context", "c")
    done = process("sanitize", "-", *how, "-o", "-", stdin=ADULT.read_bytes(), cwd=tmp_path)
    assert done.code == 0
    assert process("sanitize", ADULT, *how, "-o", "out.csv", cwd=tmp_path).code == 0
    assert done.out == (tmp_path / "out.csv").read_text()
    assert "\x1b" not in done.err  # no bar where there is no terminal
    packed = process(
        "sanitize",
        "-",
        *how,
        "-o",
        "out.csv.gz",
        "--from",
        "csv.gz",
        stdin=gzip.compress(ADULT.read_bytes()),
        cwd=tmp_path,
    )
    assert packed.code == 0
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()).decode() == done.out
    unnamed = process(
        "sanitize", "-", "-m", "m.json", "--key-file", "key", "-o", "-", stdin=ADULT.read_bytes(), cwd=tmp_path
    )
    assert (unnamed.code, unnamed.out) == (2, "")
    assert "--context" in unnamed.err
    refused = process("sanitize", "-", *how, "-o", "-", "--from", "parquet", stdin=b"", cwd=tmp_path)
    assert (refused.code, refused.out) == (2, "")
    assert "cannot be read from a pipe" in refused.err


def test_a_stream_of_arrow_passes_through_a_pipe(tmp_path):
    process("fit", ADULT, "--sensitive", PAIR[0], "--public", PAIR[1], *TARGET, "-o", "m.json", "-q", cwd=tmp_path)
    how = ("-m", "m.json", "--seed", "1", "--context", "c", "-q", "--columns", "age")
    assert process("sanitize", ADULT, *how, "-o", "out.csv", cwd=tmp_path).code == 0
    assert (
        process("sanitize", ADULT, *how, "-o", "in.arrows", "--keep-sensitive", "--columns", PAIR[0], cwd=tmp_path).code
        == 0
    )
    stream = (tmp_path / "in.arrows").read_bytes()
    done = subprocess.run(
        command("sanitize", "-", *how[:-2], "-o", "-", "--from", "arrows", "--to", "arrows"),
        input=stream, capture_output=True, cwd=tmp_path, check=True,
    )  # fmt: skip
    assert pa.ipc.open_stream(done.stdout).read_all().num_rows == 3000


@pytest.fixture
def fifo(tmp_path):
    os.mkfifo(tmp_path / "fifo.csv")
    return tmp_path / "fifo.csv"


def written_to(fifo, *pieces):
    """A thread that writes to a FIFO piece by piece, so that a reader gets them one by one."""

    def write():
        with open(fifo, "wb", buffering=0) as file:
            for piece in pieces:
                file.write(piece)
                time.sleep(0.3)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    return writer


def test_a_fifo_is_a_pipe(artifact_path, tmp_path, fifo):
    """Its header may come in pieces; its name names no release; it is read once."""
    text = ADULT.read_bytes()
    how = ("-m", artifact_path, "--columns", "age", "-q", "--seed", "1", "--context", "c")
    assert process("sanitize", ADULT, *how, "-o", "out.csv", cwd=tmp_path).code == 0
    writer = written_to(fifo, text[:7], text[7:40], text[40:])
    done = process("sanitize", fifo, *how, "-o", "-", cwd=tmp_path)
    writer.join(10)
    assert (done.code, done.out, done.lines) == (0, text_of(tmp_path / "out.csv"), [])
    process("keygen", "key", cwd=tmp_path)
    named = ("-m", artifact_path, "--key-file", "key", "-o", "-")
    refused(process("sanitize", fifo, *named, cwd=tmp_path), "name this release with --context")
    refused(process("run", fifo, *ASKED, "-o", "-", cwd=tmp_path), "a pipe can be read only once")
    refused(
        process("sanitize", fifo, *named, "--from", "parquet", "--context", "c", cwd=tmp_path),
        "cannot be read from a pipe",
    )

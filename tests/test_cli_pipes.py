"""The `linred` command as a process of its own: pipes, and packages that are missing."""

import gzip
import subprocess
import sys

import pyarrow as pa

from commands import (
    ADULT,
    PAIR,
    TARGET,
    command,
    process,
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
    assert "it must seek" in refused.err


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


def test_a_reader_that_leaves_is_no_error(tmp_path):
    process("fit", ADULT, "--sensitive", PAIR[0], "--public", PAIR[1], *TARGET, "-o", "m.json", "-q", cwd=tmp_path)
    (tmp_path / "long.csv").write_text(text_of(ADULT) + text_of(ADULT).partition("\n")[2] * 30)
    with subprocess.Popen(
        command("sanitize", "long.csv", "-m", "m.json", "-o", "-", "-q"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
    ) as running:  # fmt: skip
        running.stdout.readline()
        running.stdout.close()
        said = running.stderr.read().decode()
    assert running.returncode == 141
    assert "Traceback" not in said
    assert "Exception" not in said


def test_an_extra_that_is_missing_is_named(tmp_path):
    for package in ("click", "rich", "pyarrow"):
        code = f"import sys; sys.modules[{package!r}] = None; from linred.cli import main; main(['--version'])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 2
        assert done.stderr == f"linred: the command needs {package}: pip install linred[cli]\n"

"""The `linred` command as a process: missing packages, closed and redirected streams, completion, the log."""

import logging
import os
import subprocess
import sys

import pytest

from support.commands import ADULT, ASKED, PAIR, TARGET, Done, command, files_in, process, refused, text_of


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
        code = f"import sys; sys.modules[{package!r}] = None; from linred.cli.main import main; main(['--version'])"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert done.returncode == 2
        assert done.stderr == f"linred: the command needs {package}: pip install linred[cli]\n"


def closed(*arguments, descriptor, cwd):
    """Run the command with one of its streams closed, as `2>&-` does in a shell."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {descriptor}>&-', "sh", *command(*arguments)], capture_output=True, text=True, cwd=cwd
    )
    return Done(done.returncode, done.stdout, done.stderr)


def test_streams_that_are_closed(artifact_path, tmp_path):
    """No output file gets descriptor 0, 1 or 2; - is refused if its stream is closed."""
    how = ("sanitize", ADULT, "-m", artifact_path, "-q", "--force", "-o")
    for descriptor in (0, 1, 2):
        assert closed(*how, "out.csv", descriptor=descriptor, cwd=tmp_path).code == 0
        assert len(text_of(tmp_path / "out.csv").splitlines()) == 3001
    refused(closed(*how, "-", descriptor=1, cwd=tmp_path), "standard output is closed")
    refused(closed("sanitize", "-", *how[2:], "out.csv", descriptor=0, cwd=tmp_path), "standard input is closed")
    assert closed("report", artifact_path, descriptor=1, cwd=tmp_path) == (0, "", "")
    assert closed("report", "none.json", descriptor=2, cwd=tmp_path) == (2, "", "")


STANDARD_OUTPUT = ("/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link")


@pytest.mark.parametrize("target", STANDARD_OUTPUT)
def test_the_file_behind_a_redirection_is_written_to_and_not_replaced(artifact_path, tmp_path, target):
    """As `{ echo before; linred sanitize ... -o /dev/stdout --force; } > out.csv`"""
    os.symlink("/dev/stdout", tmp_path / "link")
    out = tmp_path / "out.csv"
    how = ("sanitize", ADULT, "-m", artifact_path, "-q", "--columns", "age", "--seed", "1", "--context", "c")
    with open(out, "wb") as file:
        file.write(b"before\n")
        file.flush()
        node = os.fstat(file.fileno()).st_ino
        running = subprocess.run(command(*how, "-o", target, "--force"), stdout=file, cwd=tmp_path)
        file.write(b"after\n")
    assert running.returncode == 0
    assert os.stat(out).st_ino == node
    assert text_of(out) == f"before\n{process(*how, '-o', '-').out}after\n"
    assert files_in(tmp_path) == ["link", "out.csv"]


@pytest.mark.parametrize("target", ["/dev/stdout", "/dev/stderr", "/dev/fd/2"])
def test_a_mechanism_does_not_replace_a_file_behind_a_redirection(tmp_path, target):
    asked = command("fit", ADULT, *ASKED, "-o", target, "--force")
    with open(tmp_path / "out", "w+") as out, open(tmp_path / "err", "w+") as err:
        assert subprocess.run(asked, stdout=out, stderr=err, cwd=tmp_path).returncode == 2
        assert out.read() == ""
    assert files_in(tmp_path) == ["err", "out"]
    refused(Done(2, text_of(tmp_path / "out"), text_of(tmp_path / "err")), "name a file")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_for_every_shell(shell):
    done = process(env={**os.environ, "_LINRED_COMPLETE": f"{shell}_source"})
    assert done.code == 0
    assert f"_LINRED_COMPLETE={shell}_complete" in done.out


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("linred s", ["plain,sanitize"]),
        ("linred run --without", ["plain,--without-sensitive"]),
        ("linred run --mechanism non", ["plain,non-markov"]),
        ("linred sanitize -m", ["plain,-m"]),
        ("linred report ", ["file,"]),
    ],
)
def test_completion_of_commands_options_and_values(typed, expected):
    words = {"COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split(" ")) - 1)}
    done = process(env={**os.environ, "_LINRED_COMPLETE": "bash_complete", **words})
    assert (done.code, done.out.splitlines()) == (0, expected)


def test_verbose_shows_the_log_on_stderr(linred_command):
    how = (ADULT, *ASKED, "--without-sensitive", "-q")
    logged = linred_command("fit", *how, "-v", "-o", "m.json")
    assert (logged.code, logged.out) == (0, "")
    assert f"linred: read {ADULT}: 3,000 records, " in logged.err
    assert "linred: built the mechanism in " in logged.err
    assert "linred: HiGHS" in logged.err or "linred: interior point" in logged.err
    assert linred_command("fit", *how).err == ""
    assert logging.getLogger("linred").level == logging.NOTSET
    assert logging.getLogger("linred").handlers == []
    done = linred_command("sanitize", ADULT, "-m", "m.json", "-o", "out.csv", "-q", "--verbose", "--columns", "sex")
    assert "linred: sanitised 3,000 records in " in done.err
    for name in ("run", "tradeoff", "certify", "audit", "demo"):
        assert "--verbose" in linred_command(name, "--help").out


FOREIGN = {
    "an unexpected exception": ("KeyError('Zq7Marker')", 1, "fault in linred", "KeyError", "LINRED_DEBUG"),
    "an exception of Arrow": ("__import__('pyarrow').ArrowInvalid('Zq7Marker')", 2, "ArrowInvalid"),
}


@pytest.mark.parametrize("what", FOREIGN)
def test_the_text_of_other_packages_exceptions_is_not_shown(linred_command, monkeypatch, what):
    error, code, *texts = FOREIGN[what]

    def fail(path):
        raise eval(error)

    monkeypatch.setattr("linred.cli.commands.load", fail)
    done = linred_command("report", "m.json")
    assert done.code == code
    assert "Zq7Marker" not in done.err
    assert all(text in done.err for text in texts), done.err

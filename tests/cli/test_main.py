"""The `linred` command as a process of its own: packages that are missing, streams that are closed or left."""

import subprocess
import sys

from support.commands import ADULT, PAIR, TARGET, Done, command, process, refused, text_of


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
    """The command with one of its streams closed: `2>&-` in a shell."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {descriptor}>&-', "sh", *command(*arguments)], capture_output=True, text=True, cwd=cwd
    )
    return Done(done.returncode, done.stdout, done.stderr)


def test_streams_that_are_closed(artifact_path, tmp_path):
    """A file must not be opened as descriptor 1, say; what goes nowhere is refused where it was asked for."""
    how = ("sanitize", ADULT, "-m", artifact_path, "-q", "--force", "-o")
    for descriptor in (0, 1, 2):
        assert closed(*how, "out.csv", descriptor=descriptor, cwd=tmp_path).code == 0
        assert len(text_of(tmp_path / "out.csv").splitlines()) == 3001
    refused(closed(*how, "-", descriptor=1, cwd=tmp_path), "standard output is closed")
    refused(closed("sanitize", "-", *how[2:], "out.csv", descriptor=0, cwd=tmp_path), "standard input is closed")
    assert closed("report", artifact_path, descriptor=1, cwd=tmp_path) == (0, "", "")
    assert closed("report", "none.json", descriptor=2, cwd=tmp_path) == (2, "", "")

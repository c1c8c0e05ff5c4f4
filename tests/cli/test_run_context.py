"""The progress bar of the `linred` command; the rest of `RunContext` is tested with the commands."""

import os
import pty
import subprocess

import pytest

from support.commands import ADULT, command


@pytest.mark.parametrize("quiet", [False, True])
def test_progress_is_drawn_on_a_terminal_and_wiped_again(artifact_path, tmp_path, quiet):
    terminal, stderr = pty.openpty()
    asked = ("sanitize", ADULT, "-m", artifact_path, "-o", "out.csv", "--columns", "occupation", *["-q"] * quiet)
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    running = subprocess.Popen(command(*asked), stderr=stderr, cwd=tmp_path, env=environment)
    assert running.wait(timeout=60) == 0
    os.close(stderr)
    said = _read(terminal)
    os.close(terminal)
    assert ("sanitising" in said) == ("100 %" in said) == ("3,000 records, " in said) == (not quiet)
    if not quiet:
        erase_line = "\x1b[2K"
        assert said.rpartition(erase_line)[2].startswith("out.csv: 3,000 records, ")


def _read(terminal):
    said = b""
    try:
        while more := os.read(terminal, 2**16):
            said += more
    except OSError:  # Linux raises it when the other end is closed
        pass
    return said.decode()

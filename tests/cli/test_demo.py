"""The demo keeps existing files, and names the files that its steps wrote."""

import os
import stat
from pathlib import Path

from support.commands import files_in, refused


def test_the_demo_keeps_what_is_there(linred_command):
    os.mkdir("mine")
    Path("mine/report.html").write_text("as it was")
    refused(linred_command("demo", "mine"), "report.html exists: --force")
    assert files_in("mine") == ["report.html"]
    assert Path("mine/report.html").read_text() == "as it was"
    assert linred_command("demo", "mine", "--force").code == 0
    assert stat.S_IMODE(os.stat("mine/report.html").st_mode) == 0o600


def test_the_demo_says_what_all_its_steps_stored(linred_command, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("linred.report.tradeoff.tradeoff", interrupt)
    done = linred_command("demo", "mine")
    stored = "mine/adult.csv.gz, sanitised.csv, mechanism.json, report.html"
    assert (done.code, done.lines[-1]) == (130, f"linred: interrupted: only {stored} were written")

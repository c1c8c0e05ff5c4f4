"""The command when things go wrong: bad input, a full disk, an interrupt, a kill. Targets stay as they were."""

import contextlib
import errno
import gzip
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv, parquet

import linred
from support.commands import ADULT, ASKED, DATA, HEADER, command, files_in, process, refused

ROW = "Divorced,Sales"

BAD_FILES = {
    "nothing in it": ("", "is empty"),
    "blank lines only": ("\n\n", "is empty"),
    "a missing column": (
        "marital_status,job\nDivorced,Sales\n",
        "no column 'occupation': it has 'marital_status', 'job'",
    ),
    "no header": ("a" * 5000 + f",{ROW}" * 30 + "\n", "columns 2 and 4 have the same name"),
    "two columns of one name": ("marital_status,occupation,occupation\na,b,c\n", "columns 2 and 3 have the same name"),
    "a column without a name": ("marital_status,occupation,\na,b,c\n", "column 3 has no name"),
    "too few fields": (HEADER + f"{ROW}\nDivorced\n", "record 2 has 1 fields, and the header has 2"),
    "too many fields": (HEADER + f"{ROW}\n{ROW}\n{ROW},1\n", "record 3 has 3 fields"),
    "an open quote": (HEADER + f'{ROW}\nDivorced,"Sales\n{ROW}\n', "record 2 has a quote that is never closed"),
    "text after a quote": (HEADER + 'Divorced,"Sales"s\n', "record 1 has a quoted field with text after"),
    "another encoding": (
        (HEADER + f"{ROW}\nDivorced,Vend\u00e9e\n").encode("latin-1"),
        "record 2 is not utf-8 text: set --encoding",
    ),
    "another encoding in the header": (
        "marital_status,occupation,\u00e9\n".encode("latin-1"),
        "first line is not utf-8",
    ),
    "an unseen value": (
        HEADER + f"{ROW}\nDivorced,Astronaut\n",
        "record 2, column 'occupation': value not in",
        "--unseen",
    ),
    "an unseen s": (HEADER + "Engaged,Sales\n", "record 1, column 'marital_status': value not in"),
    "an unseen missing value": (HEADER + "Divorced,\n", "record 1, column 'occupation': value not in"),
}


@pytest.mark.parametrize("what", BAD_FILES)
def test_a_bad_csv_file_is_refused(linred_command, artifact_path, what):
    raw, *texts = BAD_FILES[what]
    Path("in.csv").write_bytes(raw if isinstance(raw, bytes) else raw.encode())
    refused(linred_command("sanitize", "in.csv", "-m", artifact_path, "-o", "out.csv"), "in.csv", *texts)
    if "unseen" not in what and "no column" not in texts[0]:
        refused(linred_command("fit", "in.csv", *ASKED, "-o", "m.json"), "in.csv", *texts)
    assert files_in(".") == ["in.csv"]


def test_no_records_are_nothing_to_fit_on_and_nothing_to_sanitize(linred_command, artifact_path):
    for text in (HEADER, HEADER.strip()):
        Path("in.csv").write_text(text)
        refused(linred_command("fit", "in.csv", *ASKED, "-o", "m.json"), "no records to fit on")
        for to in ("csv", "parquet", "arrow"):
            assert linred_command("sanitize", "in.csv", "-m", artifact_path, "-o", f"out.{to}", "--force").code == 0
        assert Path("out.csv").read_text() == "occupation\n"
        assert parquet.ParquetFile("out.parquet").metadata.num_rows == 0


@pytest.mark.parametrize("unseen", ["marginal", "null"])
def test_what_becomes_of_unseen_values(linred_command, artifact_path, unseen):
    rows = ["Divorced,Astronaut", "Engaged,Sales", "Divorced,", ROW] * 500
    Path("in.csv").write_text(HEADER + "\n".join(rows) + "\n")
    done = linred_command("sanitize", "in.csv", "-m", artifact_path, "-o", "out.csv", "--unseen", unseen, "--seed", "1")
    assert done.code == 0
    assert "1,500 had a value that the fit did not see" in done.err
    drawn = Path("out.csv").read_text().splitlines()[1:]
    assert len(drawn) == 2000
    unknown = [value for i, value in enumerate(drawn) if i % 4 < 3]
    if unseen == "null":
        assert set(unknown) == {'""'}  # alone in a line, so that it is not taken for no record
    else:
        assert "Astronaut" not in drawn
        assert len(set(unknown)) > 10
        assert set(unknown) <= set(linred.load(artifact_path).joint.x_labels)


def test_files_that_are_not_what_their_name_says(linred_command, artifact_path):
    for extension in ("parquet", "arrow", "arrows", "csv.gz", "csv.zst"):
        for raw in (b"", b"garbage" * 100, HEADER.encode()):
            Path(f"in.{extension}").write_bytes(raw)
            refused(linred_command("sanitize", f"in.{extension}", "-m", artifact_path, "-o", "out.csv"), "in.")
    refused(linred_command("sanitize", "nowhere.csv", "-m", artifact_path, "-o", "out.csv"), "no such file")
    refused(linred_command("sanitize", ".", "-m", artifact_path, "-o", "out.csv", "--from", "csv"), "is a directory")
    how = ("-m", artifact_path, "-o")
    refused(linred_command("sanitize", "in.xls", *how, "out.csv"), ".xls files are not supported", "CSV or Parquet")
    refused(linred_command("sanitize", ADULT, *how, "out.xls"), ".xls files are not supported", "CSV or Parquet")
    refused(linred_command("sanitize", "in.txt", *how, "out.csv"), "its extension is unknown", "--from csv")
    assert not any(name.startswith("out") for name in files_in("."))


def test_a_cut_file_is_refused_and_nothing_is_left(linred_command, artifact_path):
    table = csv.read_csv(ADULT)
    Path("in.csv.gz").write_bytes(gzip.compress(ADULT.read_bytes())[:-1000])
    refused(
        linred_command("sanitize", "in.csv.gz", "-m", artifact_path, "-o", "out.csv"), "in.csv.gz", "damaged, cut off"
    )
    parquet.write_table(table, "in.parquet")
    raw = Path("in.parquet").read_bytes()
    Path("in.parquet").write_bytes(raw[: len(raw) // 2])
    refused(linred_command("sanitize", "in.parquet", "-m", artifact_path, "-o", "out.csv"), "in.parquet")
    assert not any("out" in name for name in files_in("."))


def test_a_mechanism_for_other_columns_or_types(linred_command, artifact_path):
    parquet.write_table(pa.table({"marital_status": ["Divorced"], "occupation": [5]}), "in.parquet")
    refused(
        linred_command("sanitize", "in.parquet", "-m", artifact_path, "-o", "out.csv"),
        "column 'occupation' has whole numbers, but the mechanism was fitted on text",
    )
    refused(
        linred_command("sanitize", DATA / "flights.csv", "-m", artifact_path, "-o", "out.csv"),
        "no column 'marital_status'",
    )
    linred.markov(linred.Joint([[0.5, 0.5]]), 0.5).save("bare.json")
    refused(linred_command("sanitize", ADULT, "-m", "bare.json", "-o", "out.csv"), "does not say which columns")
    renamed = ("sanitize", ADULT, "-m", "bare.json", "-o", "out.csv", "--public", "sex,race", "--sensitive", "age")
    refused(linred_command(*renamed), "is not of 2 public columns")
    twice = ("sanitize", ADULT, "-m", artifact_path, "-o", "out.csv", "--sensitive", "occupation")
    refused(linred_command(*twice), "both sensitive and public")
    refused(linred_command("sanitize", ADULT, "-m", ADULT, "-o", "out.csv"), "not JSON")
    refused(linred_command("sanitize", ADULT, "-m", "none.json", "-o", "out.csv"), "none.json")


TARGETS = {
    "the input": ("in.csv", "the input itself"),
    "a link to the input": ("link.csv", "the input itself"),
    "the artifact": ("m.json", "the input itself"),
    "an existing file": ("there.csv", "exists: --force"),
    "a directory": ("dir", "is a directory"),
    "in no directory": ("nowhere/out.csv", "there is no directory"),
    "a device": ("/dev/null", "not a regular file"),
}


@pytest.mark.parametrize("what", TARGETS)
def test_a_bad_target_is_refused_before_anything_is_read(linred_command, artifact_path, what):
    target, text = TARGETS[what]
    Path("in.csv").write_text(HEADER + ROW + "\n")
    Path("m.json").write_bytes(artifact_path.read_bytes())
    Path("there.csv").write_text("as it was")
    os.symlink("in.csv", "link.csv")
    os.mkdir("dir")
    before = {name: Path(name).read_bytes() for name in ("in.csv", "m.json", "there.csv")}
    force = () if what == "an existing file" else ("--force",)
    more = ("--to", "csv") if not target.endswith(".csv") else ()
    refused(linred_command("sanitize", "in.csv", "-m", "m.json", "-o", target, *force, *more), text)
    assert {name: Path(name).read_bytes() for name in before} == before
    assert files_in(".") == ["dir", "in.csv", "link.csv", "m.json", "there.csv"]


def test_a_directory_that_may_not_be_written_to(linred_command, artifact_path):
    os.mkdir("closed", 0o500)
    nobody = os.geteuid() != 0  # root may write anywhere but there
    target = "closed/out.csv" if nobody else "/proc/out.csv"
    done = linred_command("sanitize", ADULT, "-m", artifact_path, "-o", target)
    refused(done, "no permission" if nobody else "/proc/")


def test_names_of_columns_that_break_lines_do_not_break_ours(linred_command):
    rows = "".join(f"{s},{x},{s}\n" for s, x in [("f", "a"), ("m", "b"), ("m", "a")] * 9)
    Path("in.csv").write_text('"s\nlinred: done",x,"other\r\n\x1b[2J"\n' + rows)
    asked = ("--sensitive", '"s\nlinred: done"', "--public", "x", "--alpha", "0.5", "-o", "m.json")
    done = linred_command("fit", "in.csv", *asked)
    assert done.code == 0
    assert "protect 's\\nlinred: done' (2 values)" in done.out
    assert "\x1b" not in done.out
    done = linred_command("sanitize", "in.csv", "-m", "m.json", "-o", "out.csv", "--keep-sensitive")
    assert done.code == 0
    assert "\x1b" not in done.err
    assert [line.partition(":")[0] for line in done.err.splitlines()] == ["linred"] * 2 + ["out.csv"]


# The machine fails

FAILURES = {
    "interrupted": (KeyboardInterrupt(), 130),
    "out of memory": (MemoryError(), 1),
    "no room left to write (Disk quota exceeded)": (OSError(errno.EDQUOT, "Disk quota exceeded"), 1),
}


@pytest.mark.parametrize("what", FAILURES)
@pytest.mark.parametrize(
    ("outputs", "stored"),
    [(("--html", "page.html"), ["out.csv"]), (("-m", "m.json", "--html", "page.html"), ["out.csv", "m.json"])],
)
def test_a_failure_in_a_later_step_says_what_was_stored(linred_command, monkeypatch, what, outputs, stored):
    """While the page is made; its own file has been begun by then."""
    error, code = FAILURES[what]

    def fail(mechanism):
        assert any("page.html" in name for name in files_in("."))
        raise error

    monkeypatch.setattr("linred.report.html.page", fail)
    done = linred_command("run", ADULT, *ASKED, "-o", "out.csv", *outputs, "-q")
    assert done.code == code
    assert done.lines == [f"linred: {what}: only {', '.join(stored)} {'was' if len(stored) == 1 else 'were'} stored"]
    assert files_in(".") == sorted(stored)
    done = linred_command("report", ADULT)
    assert "stored" not in done.err  # nothing is kept from one call to the next


def test_sigterm_in_a_later_step_says_what_was_stored(tmp_path):
    code = """
import os, signal, sys
from linred.cli.main import main
from linred.report import html
html.page = lambda mechanism: os.kill(os.getpid(), signal.SIGTERM)
main(sys.argv[1:])
"""
    asked = ("run", ADULT, *ASKED, "-o", "out.csv", "--html", "page.html", "-q")
    done = subprocess.run([sys.executable, "-c", code, *map(str, asked)], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 143
    assert done.stderr.splitlines()[-1] == "linred: terminated: only out.csv was stored"
    assert files_in(tmp_path) == ["out.csv"]


@pytest.fixture(scope="module")
def long_csv(tmp_path_factory):
    """Four hundred thousand records."""
    path = tmp_path_factory.mktemp("long") / "long.csv"
    path.write_text(HEADER + f"{ROW}\nNever-married,Craft-repair\n" * 200_000)
    return path


@pytest.mark.parametrize(("to", "room"), [("csv", 10**6), ("csv.gz", 10**4), ("parquet", 5000), ("arrow", 10**6)])
def test_a_full_disk(artifact_path, long_csv, tmp_path, to, room):
    """The limit on the size of a file stands for the disk."""
    target = tmp_path / f"out.{to}"
    target.write_text("as it was")
    done = process(
        *("sanitize", long_csv, "-m", artifact_path, "-o", target, "--force", "--keep-sensitive"),
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (room, room)),
    )
    assert done.code == 1, done
    assert done.lines == ["linred: no room left to write (File too large): nothing was stored"]
    assert files_in(tmp_path) == [target.name]
    assert target.read_text() == "as it was"


def started(artifact_path, tmp_path):
    """A run that has begun to write, and waits for more input."""
    running = subprocess.Popen(
        command("sanitize", "-", "-m", artifact_path, "-o", "out.csv", "--force"),
        stdin=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path,
    )  # fmt: skip
    running.stdin.write((HEADER + f"{ROW}\n" * 3_000_000).encode())
    running.stdin.flush()
    for _ in range(1000):
        found = [name for name in files_in(tmp_path) if name.endswith("linred-tmp")]
        if found and (tmp_path / found[0]).stat().st_size:
            return running, found[0]
        time.sleep(0.02)
    raise AssertionError("nothing was written")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt(artifact_path, tmp_path, number, code):
    (tmp_path / "out.csv").write_text("as it was")
    running, _ = started(artifact_path, tmp_path)
    running.send_signal(number)
    _, said = running.communicate(timeout=60)
    assert running.returncode == code
    assert said.decode().splitlines()[-1].endswith("nothing was stored")
    assert b"Traceback" not in said
    assert files_in(tmp_path) == ["out.csv"]
    assert (tmp_path / "out.csv").read_text() == "as it was"


def test_kill_9_leaves_the_target_and_the_next_run_names_what_is_left(artifact_path, tmp_path):
    (tmp_path / "out.csv").write_text("as it was")
    running, temporary = started(artifact_path, tmp_path)
    other = process("sanitize", ADULT, "-m", artifact_path, "-o", "out.csv", "--force", cwd=tmp_path)
    assert other.code == 0
    assert temporary not in other.err  # it is in use
    running.kill()
    running.communicate(timeout=60)
    assert sorted(files_in(tmp_path)) == sorted([temporary, "out.csv"])
    assert len((tmp_path / "out.csv").read_text().splitlines()) == 3001
    after = process("sanitize", ADULT, "-m", artifact_path, "-o", "out.csv", "--force", cwd=tmp_path)
    assert after.code == 0
    assert f"{temporary} is what a killed run left" in after.err


def test_an_error_late_in_the_file_leaves_nothing(artifact_path, tmp_path):
    text = HEADER + f"{ROW}\n" * 700_000 + "Divorced,Astronaut\n"
    (tmp_path / "in.csv").write_text(text)
    (tmp_path / "out.csv").write_text("as it was")
    done = process("sanitize", "in.csv", "-m", artifact_path, "-o", "out.csv", "--force", cwd=tmp_path)
    refused(done, "record 700,001, column 'occupation': value not in")
    assert files_in(tmp_path) == ["in.csv", "out.csv"]
    assert (tmp_path / "out.csv").read_text() == "as it was"


def test_an_error_ends_a_run_whose_pipe_is_still_open(artifact_path, tmp_path):
    running = subprocess.Popen(
        command("sanitize", "-", "-m", artifact_path, "-o", "out.csv"), stdin=subprocess.PIPE, stderr=subprocess.PIPE,
        cwd=tmp_path,
    )  # fmt: skip
    with contextlib.suppress(BrokenPipeError):
        running.stdin.write((HEADER + "Divorced,Astronaut\n" + f"{ROW}\n" * 1_000_000).encode())
        running.stdin.flush()
    assert running.wait(timeout=60) == 2
    (said,) = running.stderr.read().decode().splitlines()
    assert "value not in the alphabet" in said
    with contextlib.suppress(BrokenPipeError):
        running.stdin.close()
    running.stderr.close()
    assert files_in(tmp_path) == []

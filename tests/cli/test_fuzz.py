"""Generated files and damaged artifacts: the command either succeeds or refuses them in one line."""

import contextlib
import io
import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linred.cli.main import main
from support.commands import ADULT, ASKED, HEADER, files_in, process


def outcome(arguments, directory):
    """Run the command in this process, in a directory; return the exit code and stderr."""
    out, err, before = io.StringIO(), io.StringIO(), os.getcwd()
    os.chdir(directory)
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as left:
            main([str(argument) for argument in arguments])
    finally:
        os.chdir(before)
    return left.value.code, err.getvalue()


def clean(code, said, directory, before):
    """Assert a success, or a refusal in one line that leaves no file."""
    assert code in (0, 2), said
    assert "Traceback" not in said
    assert "fault in linred" not in said
    lines = [line for line in said.splitlines() if "warning: " not in line]
    if code == 2:
        assert len(lines) == 1, said
        assert sorted(files_in(directory)) == sorted(before)
    assert not [name for name in files_in(directory) if name.endswith("linred-tmp")]


pieces = st.sampled_from(
    [
        "Divorced",
        "Sales",
        "Never-married",
        "Craft-repair",
        ",",
        ",",
        "\n",
        "\n",
        "\r\n",
        '"',
        '""',
        "",
        "é",
        "\x00",
        "x" * 90,
        "\ufeff",
    ]
)
cells = st.lists(pieces, max_size=30).map("".join)
bodies = st.one_of(
    cells.map(str.encode),
    st.binary(max_size=200),
    st.tuples(
        st.sampled_from([HEADER, '"marital_status","occupation"\r\n', "occupation,x,marital_status\n"]), cells
    ).map(lambda parts: "".join(parts).encode()),
)


@given(
    body=bodies,
    extension=st.sampled_from(["csv", "csv.gz", "csv.zst", "tsv", "parquet", "arrow", "arrows"]),
    unseen=st.sampled_from(["error", "marginal", "null"]),
)
@settings(max_examples=120)
def test_any_file_is_a_clean_success_or_a_clean_refusal(artifact_path, tmp_path_factory, body, extension, unseen):
    directory = tmp_path_factory.mktemp("any")
    path = directory / f"in.{extension}"
    path.write_bytes(body)
    no_signals = pytest.MonkeyPatch()
    no_signals.setattr("signal.signal", lambda *_: None)
    with no_signals.context():
        before = files_in(directory)
        code, said = outcome(
            ("sanitize", path.name, "-m", artifact_path, "-o", "out.csv", "--unseen", unseen), directory
        )
        clean(code, said, directory, before)
        if code == 0:
            n_records = int(said.rsplit("out.csv: ", 1)[1].split(" ")[0].replace(",", ""))
            assert len((directory / "out.csv").read_bytes().splitlines()) >= n_records + 1
        before = files_in(directory)
        code, said = outcome(("fit", path.name, *ASKED, "-o", "m.json", "-q"), directory)
        clean(code, said, directory, before)
    no_signals.undo()


@given(data=st.data())
@settings(max_examples=60)
def test_any_damage_to_an_artifact_is_refused_by_the_command(artifact_path, tmp_path_factory, data):
    raw = bytearray(artifact_path.read_bytes())
    directory = tmp_path_factory.mktemp("damage")
    begin = data.draw(st.integers(0, len(raw) - 1))
    end = data.draw(st.integers(begin, min(len(raw), begin + 20)))
    raw[begin:end] = data.draw(st.binary(max_size=20))
    (directory / "m.json").write_bytes(raw)
    before = files_in(directory)
    code, said = outcome(("report", "m.json", "--html", "page.html"), directory)
    if json.loads(artifact_path.read_bytes()) == _parsed(raw):
        assert code == 0
    else:
        assert code == 2
        clean(code, said, directory, before)


def _parsed(raw):
    try:
        return json.loads(raw)
    except ValueError:
        return None


def test_damaged_columnar_files(artifact_path, tmp_path):
    """Random bytes changed in Parquet and Arrow files cause no crash and no incomplete output."""
    rng = np.random.default_rng(1)
    assert (
        process("sanitize", ADULT, "-m", artifact_path, "-o", tmp_path / "a.parquet", "--keep-sensitive", "-q").code
        == 0
    )
    assert (
        process("sanitize", ADULT, "-m", artifact_path, "-o", tmp_path / "a.arrow", "--keep-sensitive", "-q").code == 0
    )
    code = """
import sys, os
from pathlib import Path
import numpy as np
from linred.cli.main import main
artifact, name, seed = sys.argv[1:]
rng, raw = np.random.default_rng(int(seed)), bytearray(Path(name).read_bytes())
for place in rng.integers(0, len(raw), rng.integers(1, 6)):
    raw[place] ^= 1 << rng.integers(8)
Path("damaged" + Path(name).suffix).write_bytes(raw)
damaged = "damaged" + Path(name).suffix
main(["sanitize", damaged, "-m", artifact, "-o", "out.csv", "--unseen", "null", "--force", "-q"])
"""
    for i in range(6):
        for name in ("a.parquet", "a.arrow"):
            arguments = [sys.executable, "-c", code, str(artifact_path), name, str(rng.integers(2**31) + i)]
            done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True)
            assert done.returncode in (0, 2), done.stderr
            assert "Traceback" not in done.stderr

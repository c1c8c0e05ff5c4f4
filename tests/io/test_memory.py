"""The memory of the `linred` command: of the alphabets and of a few batches, not of the file."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from linred.columns.schema import parts_of
from linred.errors import FileError
from linred.io import counting
from support.commands import HEADER, process

ROW = "Divorced,Sales"
PEAK = """
import resource, sys
from linred.cli.main import main
import pyarrow.parquet, linred.cli.commands, linred.io.pipeline, linred.io.csv_file, linred.io.columnar_file
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    main(sys.argv[1:])
except SystemExit as left:
    assert left.code == 0, left
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""


def peak_of(*arguments, cwd):
    """MB above the import."""
    done = subprocess.run(
        [sys.executable, "-c", PEAK, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return int(done.stdout) / 1024


@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_memory_does_not_grow_with_the_file(artifact_path, tmp_path, to):
    """Twelve million records take no more than three million, and both less than 600 MB above the import."""
    peaks = []
    for n_millions in (3, 12):
        with open(tmp_path / "in.csv", "w") as file:
            file.write(HEADER)
            for _ in range(n_millions * 10):
                file.write(f"{ROW}\nNever-married,Craft-repair\n" * 50_000)
        how = ("-m", artifact_path, "--force", "-q", "--threads", "2")
        if to == "parquet":
            assert process("sanitize", "in.csv", *how, "-o", "in.parquet", "--keep-sensitive", cwd=tmp_path).code == 0
        peaks.append(peak_of("sanitize", f"in.{to}", *how, "-o", f"out.{to}", cwd=tmp_path))
    assert peaks[1] < 600
    assert peaks[1] < 1.25 * peaks[0] + 30


@pytest.mark.parametrize("repeats", [True, False], ids=["in a dictionary", "as they are"])
def test_short_records_and_then_long_ones(artifact_path, tmp_path, repeats):
    """Batches are sized by the longest records of a row group, not by its first: 640 MB of text in half of that."""
    n, n_short, rng = 80_000, 2_000, np.random.default_rng(1)
    noise = pa.array(rng.integers(97, 123, (n, 16), np.uint8).view("S16")[:, 0]).cast(pa.string())
    long = pa.array(["q" * 8000] * n) if repeats else pa.array(text * 500 for text in noise.to_pylist())
    text = pa.concat_arrays([pa.array(["short"] * n_short), long[n_short:]])
    table = pa.table({"marital_status": ["Divorced"] * n, "occupation": ["Sales"] * n, "text": text})
    parquet.write_table(table, tmp_path / "in.parquet", row_group_size=n)
    for to in ("parquet", "csv"):
        how = ("-m", artifact_path, "-o", f"out.{to}", "-q")
        assert peak_of("sanitize", "in.parquet", *how, cwd=tmp_path) < 450
    assert peak_of("fit", "in.parquet", "--sensitive", "marital_status", "--public", "occupation", "--alpha", ".5",
                   "-o", "m.json", "-q", cwd=tmp_path) < 450  # fmt: skip


def test_too_many_tuples_are_refused_before_they_are_made():
    domain = {name: tuple(range(1500)) for name in "abc"} | {"s": ("f", "m")}
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match=r"have 2 and 3,375,000,000 values"):
            counting._declared(parts_of("s", "s"), parts_of("x", ["a", "b", "c"]), domain)
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()

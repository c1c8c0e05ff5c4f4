"""Formats of files, by their extensions: the same values from and to each of them."""

import pyarrow as pa
import pytest
from pyarrow import parquet

from support.commands import (
    FLIGHTS,
    TARGET,
    as_rows,
    fit,
    key_file,
    read_csv,
)

FORMATS = ("csv", "csv.gz", "csv.zst", "tsv", "parquet", "arrow", "feather", "arrows")


def test_all_formats_agree(linred_command):
    """From CSV to every format, and from every format to CSV: the same values."""
    fit(linred_command, FLIGHTS, "carrier", "dest", *TARGET)
    key_file(linred_command)
    how = ("-m", "mechanism.json", "--key-file", "key", "--context", "a release")
    for to in FORMATS:
        assert linred_command("sanitize", FLIGHTS, *how, "-o", f"out.{to}").code == 0
        assert linred_command("sanitize", FLIGHTS, *how, "-o", f"kept.{to}", "--keep-sensitive").code == 0
    expected = as_rows("out.csv")
    assert len(expected) == 4000
    assert sum(row["tailnum"] is None for row in expected) == sum(row["tailnum"] == "" for row in read_csv(FLIGHTS)) > 0
    for to in FORMATS:
        assert as_rows(f"out.{to}") == expected, to
    original = [{name: value or None for name, value in row.items()} for row in read_csv(FLIGHTS)]
    for to in FORMATS:
        passed = [{**new, "dest": old["dest"]} for new, old in zip(as_rows(f"kept.{to}"), original, strict=True)]
        assert passed == original
        write_format(f"in.{to}", original)
        assert linred_command("sanitize", f"in.{to}", *how, "-o", f"from-{to}.csv").code == 0
        assert as_rows(f"from-{to}.csv") == expected, to


def write_format(path, rows):
    """The rows by pyarrow and Python's csv module."""
    table = pa.Table.from_pylist(rows)
    if path.endswith(".parquet"):
        parquet.write_table(table, path, row_group_size=999)
    elif path.endswith((".arrow", ".feather", ".arrows")):
        new = pa.ipc.new_stream if path.endswith("arrows") else pa.ipc.new_file
        with new(path, table.schema) as file:
            file.write_table(table, max_chunksize=777)
    else:
        with pa.output_stream(path, compression="detect") as file:
            delimiter = "\t" if path.endswith("tsv") else ","
            names = list(rows[0])
            lines = [delimiter.join(names), *(delimiter.join(row[name] or "" for name in names) for row in rows)]
            file.write("\r\n".join(lines).encode())


@pytest.mark.parametrize("path", ["q.xlsx", "q.XLS", "q.json"])
def test_a_file_of_another_kind_is_told_what_can_be_read(linred_command, artifact_path, path):
    done = linred_command("sanitize", path, "-m", artifact_path, "-o", "out.csv")
    assert done.code == 2
    assert "CSV (.csv, .tsv, .csv.gz, .csv.zst), Parquet (.parquet, .pq) and Arrow" in done.err
    assert "export the table to CSV or Parquet" in done.err
    assert "--from" not in done.err


def test_a_file_without_a_known_extension_is_told_how_to_name_its_format(linred_command, artifact_path):
    done = linred_command("sanitize", "q.txt", "-m", artifact_path, "-o", "out.csv")
    assert "--from csv" in done.err
    done = linred_command("sanitize", "q.txt", "-m", artifact_path, "-o", "out.csv", "--from", "excel")
    assert "format 'excel' is unknown: choose csv, tsv" in done.err

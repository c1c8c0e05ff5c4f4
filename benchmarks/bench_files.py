"""Sanitising a file, against a pass by pyarrow that reads and writes the same columns without sanitising.

Both read two columns of text, S and X, and write X; with "S kept", both write both columns. The file has 20 M records,
drawn from the distribution of UCI Adult. pyarrow reads in a thread, with as few options as possible.
"""

import os
import queue
import tempfile
import threading

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

import linred
from benchmarks.common import compare
from benchmarks.data import adult
from linred._common.atomic_file import atomic_writer
from linred.columns.schema import FitSchema, parts_of
from linred.io import formats, pipeline

N_RECORDS, BATCH = 20_000_000, 2**20
COLUMNS = ("marital_status", "occupation")


def write_inputs(directory, joint, n_records):
    """Write the same records as CSV and as Parquet, and return {kind: path}."""
    rng = np.random.default_rng(1)
    types = pa.schema([(name, pa.dictionary(pa.int32(), pa.string())) for name in COLUMNS])
    paths = {kind: os.path.join(directory, f"in.{kind}") for kind in ("csv", "parquet")}
    texts = pa.schema([(name, pa.string()) for name in COLUMNS])
    with (
        csv.CSVWriter(paths["csv"], texts, write_options=csv.WriteOptions(quoting_style="none")) as as_csv,
        parquet.ParquetWriter(paths["parquet"], types, write_statistics=False) as as_parquet,
    ):
        for first in range(0, n_records, BATCH):
            cells = rng.choice(joint.p_sx.size, min(BATCH, n_records - first), p=joint.p_sx.ravel())
            codes = [code.astype(np.int32) for code in (cells // joint.shape[1], cells % joint.shape[1])]
            labels = (pa.array(joint.s_labels), pa.array(joint.x_labels))
            columns = [pa.DictionaryArray.from_arrays(*pair) for pair in zip(codes, labels, strict=True)]
            batch = pa.record_batch(columns, schema=types)
            as_parquet.write_batch(batch)
            as_csv.write_batch(batch.cast(texts))
    return paths


def ours(mechanism, path, target, keep_sensitive):
    how = {"key": bytes(32), "seed": None, "ids": None, "context": b""}
    asked = {"columns": None, "id_column": None, "unseen": "error", "how": how}
    with formats.open_source(path, formats.format_of(path)) as source:
        plan = pipeline.Plan(mechanism, source, keep_sensitive=keep_sensitive, **asked)
        with atomic_writer(target, force=True) as file:
            pipeline.run(source, file, formats.format_of(target), plan)


def ahead(batches):
    waiting = queue.Queue(2)

    def read():
        for batch in batches:
            waiting.put(batch)
        waiting.put(None)

    threading.Thread(target=read).start()
    while (batch := waiting.get()) is not None:
        yield batch


def plain_csv(path, target, names):
    reader = csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=2**22),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(column_types={name: pa.string() for name in COLUMNS}),
    )
    schema = pa.schema([(name, pa.string()) for name in names])
    how = csv.WriteOptions(quoting_style="none", batch_size=2**16)
    with csv.CSVWriter(target, schema, write_options=how) as writer:
        for batch in ahead(reader):
            writer.write_batch(batch.select(names))


def plain_parquet(path, target, names):
    reader = parquet.ParquetFile(path, read_dictionary=list(COLUMNS), buffer_size=2**20)
    schema = pa.schema([(name, pa.dictionary(pa.int32(), pa.string())) for name in names])
    with parquet.ParquetWriter(target, schema, write_statistics=False) as writer:
        for batch in ahead(reader.iter_batches(batch_size=2**20)):
            writer.write_batch(batch.select(names))


def rows():
    joint = adult()
    fitted = FitSchema(parts_of("S", COLUMNS[0]), parts_of("X", COLUMNS[1]))
    mechanism = linred.optimal(joint, ldp=1.0).replace(fitted=fitted)
    with tempfile.TemporaryDirectory() as directory:
        paths = write_inputs(directory, joint, N_RECORDS)
        for kind, plain in (("parquet", plain_parquet), ("csv", plain_csv)):
            for keep, names in ((False, COLUMNS[1:]), (True, COLUMNS)):
                target, other = (os.path.join(directory, f"{who}.{kind}") for who in ("ours", "plain"))
                yield compare(
                    f"{kind}, {N_RECORDS // 10**6} M records" + (", S kept" if keep else ""),
                    lambda target=target, kind=kind, keep=keep: ours(mechanism, paths[kind], target, keep),
                    "pyarrow without sanitising",
                    lambda other=other, plain=plain, kind=kind, names=names: plain(paths[kind], other, list(names)),
                    "0.8",
                    rounds=11,
                )

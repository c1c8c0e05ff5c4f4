"""A small frame of every kind, for the tests of `sanitize_frame` and of `Sanitizer`."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import linred
from linred.columns.schema import parts_of
from linred.sampling import keystream

KEY = bytes(range(100, 132))
N = 600
RNG = np.random.default_rng(3)
SEX = RNG.choice(["f", "m"], N).tolist()
JOB = [RNG.choice(["a", "bb", "ccc"], p=[0.2, 0.3, 0.5] if s == "f" else [0.5, 0.3, 0.2]).item() for s in SEX]
DATA = {
    "year": RNG.integers(2000, 2005, N).tolist(),
    "sex": SEX,
    "job": JOB,
    "full": RNG.choice([True, False], N).tolist(),
    "age": [float(age) for age in RNG.integers(18, 80, N)],
    "id": [f"id {i}" for i in range(N)],
}
JOINT = linred.Joint.from_records(SEX, JOB)
MECHANISM = linred.non_markov(JOINT, 0.6)
MARKOV = linred.markov(JOINT, 0.5)
NAMED = {"sensitive": "sex", "public": "job"}
CONTEXT = keystream.context_of_columns(b"", parts_of("public", "job"))
"""The context of draws for frames with the public column job, if the caller gives none."""
EXPECTED = MECHANISM.sanitize(SEX, JOB, key=KEY, context=CONTEXT)

KINDS = {
    "pandas": lambda data: pd.DataFrame(data, index=range(7, 7 + len(next(iter(data.values()))))),
    "polars": lambda data: pl.DataFrame(data, strict=False),
    "lazy": lambda data: pl.LazyFrame(data, strict=False),
    "arrow": pa.table,
    "batch": lambda data: pa.RecordBatch.from_pydict(data),
    "dict": dict,
}
every_kind = pytest.mark.parametrize("kind", KINDS)


def collected(frame):
    """Return {name: values}, with None for missing values."""
    frame = frame.collect() if isinstance(frame, pl.LazyFrame) else frame
    if isinstance(frame, pd.DataFrame):
        return {name: [None if pd.isna(value) else value for value in frame[name].tolist()] for name in frame}
    to_dict = getattr(frame, "to_pydict", None) or (lambda: frame.to_dict(as_series=False))
    return dict(frame) if isinstance(frame, dict) else to_dict()


def types(frame):
    """Return {name: type of the column}."""
    if isinstance(frame, pd.DataFrame | dict):
        return {name: getattr(frame[name], "dtype", type(frame[name])) for name in frame}
    if hasattr(frame, "collect_schema"):
        return dict(frame.collect_schema())
    return {field.name: field.type for field in frame.schema}


EDGES = {"age": [30, 50.5]}
BINS = ["age<30", "30<=age<50.5", "age>=50.5"]
BIN_OF_AGE = [BINS[(age >= 30) + (age >= 50.5)] for age in DATA["age"]]


def fit(**settings):
    return linred.Sanitizer(
        **{"sensitive": "sex", "public": "job", "alpha": 0.6, "mechanism": "non_markov", **settings}
    )


TWICE = pd.DataFrame([["f", "a", "b"]] * 3, columns=["sex", "job", "job"])


def uniform(*labels, s_labels=("f", "m")):
    shape = len(s_labels), len(labels)
    return linred.markov(linred.Joint(np.full(shape, 1 / np.prod(shape)), s_labels=s_labels, x_labels=labels), 0.9)

"""Records with a mechanism for them, and a column of every kind, for the tests of `linred.columns`."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import linred

COLOURS = ["red", "blue", "red", "green", "blue", "red"]
AGES = [30, 20, 30, 30, 20, 40]
KEY = bytes(range(32))
RNG = np.random.default_rng(1)
S = RNG.choice(["f", "m"], 2000).tolist()
X = [RNG.choice(["a", "bb", "ccc"], p=[0.2, 0.3, 0.5] if s == "f" else [0.5, 0.3, 0.2]).item() for s in S]
JOINT = linred.Joint.from_records(S, X)
MECHANISM = linred.non_markov(JOINT, 0.6)
EXPECTED = MECHANISM.sanitize(S, X, key=KEY, start=0)


def values(column):
    for method in ("to_pylist", "tolist", "to_list"):
        if hasattr(column, method):
            return [None if value is pd.NA else value for value in getattr(column, method)()]
    return list(column)


KINDS = {
    "list": list,
    "tuple": tuple,
    "numpy str": np.array,
    "numpy object": lambda x: np.array(x, object),
    "numpy str, strided": lambda x: np.repeat(np.array(x), 2)[::2],
    "pandas str": lambda x: pd.Series(x, index=range(7, 7 + len(x)), name="col", dtype="str"),
    "pandas object": lambda x: pd.Series(x, dtype=object, name="col"),
    "pandas string[python]": lambda x: pd.Series(x, dtype="string[python]"),
    "pandas string[pyarrow]": lambda x: pd.Series(x, dtype="string[pyarrow]"),
    "pandas arrow": lambda x: pd.Series(x, dtype=pd.ArrowDtype(pa.string())),
    "pandas category": lambda x: pd.Series(x, dtype=pd.CategoricalDtype(["bb", "a", "zz", "ccc"]), name="col"),
    "pandas ordered": lambda x: pd.Series(x, dtype=pd.CategoricalDtype(["ccc", "bb", "a"], ordered=True)),
    "pandas Categorical": pd.Categorical,
    "pandas Index": lambda x: pd.Index(x, name="i"),
    "pandas array": lambda x: pd.array(x, dtype="string"),
    "polars String": lambda x: pl.Series("col", x),
    "polars Categorical": lambda x: pl.Series("col", x, dtype=pl.Categorical),
    "polars Enum": lambda x: pl.Series("col", x, dtype=pl.Enum(["ccc", "a", "bb"])),
    "arrow": pa.array,
    "arrow large_string": lambda x: pa.array(x, pa.large_string()),
    "arrow dictionary": lambda x: pa.array(x).dictionary_encode(),
    "arrow dictionary int8": lambda x: pa.array(x).cast(pa.dictionary(pa.int8(), pa.string())),
    "arrow chunked": lambda x: pa.chunked_array([x[:5], x[5:5], x[5:]], pa.string()),
    "arrow chunked dictionary": lambda x: pa.chunked_array([x[:5], x[5:]]).dictionary_encode(),
}


def uniform(*labels):
    return linred.markov(linred.Joint(np.full((1, len(labels)), 1 / len(labels)), x_labels=labels), 0.9)

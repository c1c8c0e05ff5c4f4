"""Type aliases for the annotations of public functions. They are documentation; nothing checks them at run time."""

from collections.abc import Hashable, Sequence
from typing import Any, Literal, TypeAlias

Column: TypeAlias = Any
"""A column of records, or a table of columns: list, tuple, NumPy, pandas, Polars, Arrow (see `adapters.kinds`)."""
Frame: TypeAlias = Any
"""A pandas or Polars DataFrame, a Polars LazyFrame, an Arrow Table or RecordBatch, or a dict of columns."""
Codes: TypeAlias = Any
"""A one-dimensional array of integer codes."""
Matrix: TypeAlias = Any
"""Anything that NumPy converts to a two-dimensional array of numbers."""
LabelMatrix: TypeAlias = Any
"""A number for each pair of labels: a `Matrix` in the order of the labels, a mapping {(label, label): number}, a
function of two labels, or the name of a distance (see `columns.label_distance`)."""
Label: TypeAlias = Hashable
Labels: TypeAlias = Sequence[Hashable]
Names: TypeAlias = str | Sequence[str]
"""The name of a column, or the names of several columns."""
Key: TypeAlias = bytes | bytearray | memoryview
Context: TypeAlias = bytes | bytearray | memoryview | str
Unseen: TypeAlias = Literal["error", "marginal", "null"]
Prefer: TypeAlias = Literal["information", "sparse", "smooth"]
Coupling: TypeAlias = Literal["northwest", "proportional"]
Least: TypeAlias = Literal["ldp", "log_lift", "max_lift"]

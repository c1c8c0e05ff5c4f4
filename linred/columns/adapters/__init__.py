"""One adapter for each kind of column and table: lists, NumPy, pandas, Polars, pyarrow, and exporters of Arrow data.

`base` defines the protocol; `kinds` selects the adapter. Only its own adapter uses a package, and imports it only when
it is given a column of that kind.
"""

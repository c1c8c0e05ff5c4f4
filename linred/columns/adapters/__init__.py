"""One adapter a kind of column and of table: lists, NumPy, pandas, Polars, Arrow, and what exports Arrow data.

`base` has the protocol, `kinds` the choice. A package is known inside its own module only, and never imported before a
column of it was given.
"""

"""Reads and writes files: formats, CSV, Parquet, Arrow, counting, the sanitising pass, key files.

This package prints nothing; terminal output is in `linred.cli`.
"""

"""Files in, files out: formats, CSV, Parquet and Arrow, counting, the pass that sanitises, key files.

It reads and writes; what it says on a terminal is in `linred.cli`.
"""

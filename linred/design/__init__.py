"""Makers of mechanisms: closed forms, `optimal`, `selective`, baselines, `fit`; calibration; the registry of names.

All of them take a `Joint` or columns of records. Files and frames are read above.
"""

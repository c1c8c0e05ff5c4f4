"""Builds mechanisms: closed forms, `optimal`, `selective`, baselines, `fit`; calibration; the registry of mechanisms.

Functions take a `Joint` or columns of records. Files and frames are read in `linred.io` and `linred.frames`.
"""

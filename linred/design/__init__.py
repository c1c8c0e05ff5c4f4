"""Builds mechanisms: closed forms, `optimal`, `selective`, baselines and `fit`; calibration; the mechanism registry.

Functions take a `Joint` or columns of records. `linred.io` and `linred.frames` read files and frames.
"""

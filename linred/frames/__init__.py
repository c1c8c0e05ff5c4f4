"""Frames of pandas, Polars and Arrow: `sanitize_frame`, and scikit-learn's fit and transform in `Sanitizer`.

How one column is read and rebuilt is in `linred.columns`.
"""

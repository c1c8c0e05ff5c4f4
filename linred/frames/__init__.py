"""pandas, Polars and Arrow frames: `sanitize_frame`, and `Sanitizer` with the fit and transform of scikit-learn.

How one column is read and rebuilt is in `linred.columns`.
"""

"""Processing of Arrow record batches: reads their columns and replaces the public ones with sampled values.

Below this package, only the Arrow adapters of `linred.columns` may import pyarrow. Files are handled in `linred.io`.
"""

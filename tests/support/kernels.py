"""What the tests of the kernels share: lengths and types of columns of codes."""

import numpy as np

LENGTHS = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 2047, 2048, 2049, 5000]
"""Around vector widths and blocks."""
DTYPES = [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int64]

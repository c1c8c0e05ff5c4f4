"""Shared by the tests of the kernels: families with variants, and lengths and types of columns of codes."""

import pkgutil
from importlib import import_module

import numpy as np

from linred import _kernels

LENGTHS = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 2047, 2048, 2049, 5000]
"""Lengths around vector widths and block sizes."""
DTYPES = [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int64]

MODULES = [import_module(f"linred._kernels.{module.name}") for module in pkgutil.iter_modules(_kernels.__path__)]
WITH_VARIANTS = [module for module in MODULES if hasattr(module, "use_variant")]
"""The families with several variants; all others are plain C."""

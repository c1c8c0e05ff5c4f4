"""Builds the compiled kernels. Everything else is in pyproject.toml."""

import os
import sys
from glob import glob

from Cython.Build import cythonize
from setuptools import Extension, setup

FAMILIES = ("simd", "counting", "recoding", "extremes", "coupling", "alias", "sampling", "csv_text")
# Contraction to fused multiply-add is off, so that every variant rounds in the same way on every machine.
FLAGS = ["/O2", "/fp:precise"] if sys.platform == "win32" else ["-O3", "-std=c11", "-ffp-contract=off"]
if os.environ.get("LINRED_NATIVE") == "1":
    FLAGS.append("-march=native")
FLAGS += os.environ.get("LINRED_CFLAGS", "").split()

setup(
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
    ext_modules=cythonize(
        [
            Extension(
                f"linred._kernels.{family}",
                [f"csrc/{family}.pyx"],
                include_dirs=["csrc"],
                depends=sorted(glob("csrc/*.h")),
                extra_compile_args=FLAGS,
                extra_link_args=os.environ.get("LINRED_LDFLAGS", "").split(),
            )
            for family in FAMILIES
        ],
        nthreads=0 if sys.platform == "win32" else os.cpu_count() or 1,
        build_dir="build/cython",
        force=True,  # directives and flags may have changed although the sources did not
        compiler_directives={
            "language_level": 3,
            "embedsignature": True,
            "freethreading_compatible": True,
        },
    ),
)

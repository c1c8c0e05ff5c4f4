"""Levels of vector instructions: which of them this machine supports, and which variants of kernels are used.

The level is chosen once, at import, from the processor or from LINRED_SIMD. A family of kernels has variants for some
levels, and uses the highest one that is not above the chosen level.
"""

import os

cdef extern from "simd.h":
    int linred_runs_avx2()

RUNS_HERE = {"serial": True, "avx2": bool(linred_runs_avx2())}
"""{level: whether this build and this processor can run it}, in ascending order."""
LEVELS = tuple(RUNS_HERE)


def available():
    """Return the levels that this build and this processor can run, in ascending order."""
    return tuple(level for level in LEVELS if RUNS_HERE[level])


def choose(request):
    """Return the level for a value of LINRED_SIMD; "auto" is the highest of `available()`."""
    if request == "auto":
        return available()[-1]
    if request not in available():
        choices = ", ".join(("auto", *available()))
        raise ImportError(f"LINRED_SIMD = {request!r} is not one of those that run here: {choices}")
    return request


chosen = choose(os.environ.get("LINRED_SIMD") or "auto")


def runnable(functions):
    """Return the functions {level: address} that this machine can run. An address is 0 if a function was not built."""
    return {level: address for level, address in functions.items() if address and RUNS_HERE[level]}


def highest(variants, level, levels=LEVELS):
    """Return the variant that a family uses at a level: its highest one that is not above the level."""
    return max((own for own in variants if levels.index(own) <= levels.index(level)), key=levels.index)

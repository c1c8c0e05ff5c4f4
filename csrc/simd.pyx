"""Levels of vector instructions: which ones run here, which one is chosen, and which variant of a kernel that means.

The level is chosen once, at import, from the processor or from LINRED_SIMD. A family of kernels has variants for some
levels, and takes the highest one that is not above the level.
"""

import os

cdef extern from "simd.h":
    int linred_runs_avx2()

RUNS_HERE = {"serial": True, "avx2": bool(linred_runs_avx2())}
"""Every level, the lowest first, and whether this build and this processor can run it."""
LEVELS = tuple(RUNS_HERE)


def available():
    """Names of the levels that this build and this processor can run, the lowest first."""
    return tuple(level for level in LEVELS if RUNS_HERE[level])


def choose(request):
    """The level that a value of LINRED_SIMD asks for; "auto" is the last of `available()`."""
    if request == "auto":
        return available()[-1]
    if request not in available():
        choices = ", ".join(("auto", *available()))
        raise ImportError(f"LINRED_SIMD = {request!r} is not one of those that run here: {choices}")
    return request


chosen = choose(os.environ.get("LINRED_SIMD") or "auto")


def runnable(functions):
    """Those of a family's functions {level: address} that run here; the address is 0 where one was not built."""
    return {level: address for level, address in functions.items() if address and RUNS_HERE[level]}


def highest(variants, level, levels=LEVELS):
    """The variant that a family takes at a level: the highest one that it has and that is not above the level."""
    return max((own for own in variants if levels.index(own) <= levels.index(level)), key=levels.index)

"""The choice among kernel variants: made once, at import, from the processor or from LINRED_SIMD."""

import os

cdef extern from "simd.h":
    int linred_runs_avx2()


def available():
    """Names of the variants that this build and this processor can run, the plainest first."""
    return ("serial", "avx2") if linred_runs_avx2() else ("serial",)


def choose(request):
    """The variant that a value of LINRED_SIMD asks for; "auto" is the last of `available()`."""
    if request == "auto":
        return available()[-1]
    if request not in available():
        choices = ", ".join(("auto", *available()))
        raise ImportError(f"LINRED_SIMD = {request!r} is not one of those that run here: {choices}")
    return request


chosen = choose(os.environ.get("LINRED_SIMD") or "auto")

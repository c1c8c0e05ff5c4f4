"""The choice among variants."""

import pytest

from linred._kernels import simd


def test_the_variant_can_be_forced_and_nonsense_is_refused():
    assert simd.choose("serial") == "serial"
    assert simd.choose("auto") == simd.available()[-1]
    with pytest.raises(ImportError, match="LINRED_SIMD = 'sse9' is not one of"):
        simd.choose("sse9")

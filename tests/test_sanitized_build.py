"""That `make sanitizers` tests the build it made, and not the one that is installed."""

import os

import pytest

from linred import _metrics


@pytest.mark.skipif("libasan" not in os.environ.get("LD_PRELOAD", ""), reason="only under `make sanitizers`")
def test_the_sanitized_kernels_are_the_ones_tested():
    assert os.path.join("build", "sanitizers") in _metrics.__file__

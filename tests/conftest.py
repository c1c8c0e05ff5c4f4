import hypothesis
import pytest

from linred import _lp, _metrics, _sampling, _simd

# Fixed examples: a red run is red again. `make test-all` draws more of them.
hypothesis.settings.register_profile("linred", derandomize=True, deadline=None, max_examples=150)
hypothesis.settings.register_profile("long", derandomize=True, deadline=None, max_examples=1500)
hypothesis.settings.load_profile("linred")


@pytest.fixture(params=_simd.available())
def variant(request):
    """Each kernel variant that this machine runs."""
    for family in (_metrics, _sampling):
        family.use_variant(request.param)
    yield request.param
    for family in (_metrics, _sampling):
        family.use_variant(_simd.chosen)


@pytest.fixture(params=["pot", "highs"])
def solver(request, monkeypatch):
    """Each solver of transport problems."""
    monkeypatch.setattr(_lp, "_has_pot", lambda: request.param == "pot")
    return request.param

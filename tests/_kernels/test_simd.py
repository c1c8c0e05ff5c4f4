"""The choice of kernel variants: the level, and the variant that a family uses at that level."""

import pytest

from linred._kernels import simd
from support.kernels import WITH_VARIANTS


def test_the_variant_can_be_forced_and_nonsense_is_refused():
    assert simd.choose("serial") == "serial"
    assert simd.choose("auto") == simd.available()[-1]
    with pytest.raises(ImportError, match="LINRED_SIMD = 'sse9' is not one of"):
        simd.choose("sse9")


def test_serial_is_the_lowest_level_and_runs_everywhere():
    assert simd.available()[0] == simd.LEVELS[0] == "serial"


@pytest.mark.parametrize(
    ("variants", "level", "taken"),
    [
        ("serial avx2 avx512", "avx512", "avx512"),
        ("serial avx2 avx512", "avx2", "avx2"),
        ("serial avx2 avx512", "serial", "serial"),
        ("serial avx2", "avx512", "avx2"),
        ("serial avx2", "avx1024", "avx2"),
        ("serial", "avx512", "serial"),
        ("serial avx512", "avx2", "serial"),
        ("serial avx512", "avx1024", "avx512"),
        ("avx512 serial avx2", "avx1024", "avx512"),
        ("avx2 serial", "avx512", "avx2"),
    ],
)
def test_a_family_falls_to_its_next_lower_variant(variants, level, taken):
    levels = ("serial", "avx2", "avx512", "avx1024")
    assert simd.highest(variants.split(), level, levels) == taken


def test_a_level_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="not in tuple"):
        simd.highest(("serial",), "sse9")
    with pytest.raises(KeyError, match="sse9"):
        simd.runnable({"serial": 1, "sse9": 2})


def test_what_was_not_built_or_does_not_run_is_not_listed(monkeypatch):
    monkeypatch.setitem(simd.RUNS_HERE, "avx2", True)
    assert simd.runnable({"serial": 8, "avx2": 16}) == {"serial": 8, "avx2": 16}
    assert simd.runnable({"serial": 8, "avx2": 0}) == {"serial": 8}
    monkeypatch.setitem(simd.RUNS_HERE, "avx2", False)
    assert simd.runnable({"serial": 8, "avx2": 16}) == {"serial": 8}


def test_the_families_with_variants_are_found():
    names = {family.__name__.rpartition(".")[2] for family in WITH_VARIANTS}
    assert names >= {"extremes", "sampling"}


@pytest.mark.parametrize("family", WITH_VARIANTS, ids=lambda family: family.__name__)
def test_a_family_reports_its_variants_and_the_one_in_use(family):
    assert "serial" in family.VARIANTS
    assert set(family.VARIANTS) <= set(simd.available())
    assert len(set(family.VARIANTS.values())) == len(family.VARIANTS), "two names for one function"
    assert family.variant == simd.highest(family.VARIANTS, simd.chosen)


def test_every_variant_of_every_family_is_run_at_its_level(variant):
    for family in WITH_VARIANTS:
        assert family.variant == variant or variant not in family.VARIANTS

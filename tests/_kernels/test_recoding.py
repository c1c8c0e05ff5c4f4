"""Recoding of codes: every type and length equals the NumPy twin; errors name the record."""

import itertools

import numpy as np
import pytest

from linred._kernels import numpy_twins, recoding
from support.kernels import DTYPES, LENGTHS


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("to", [np.uint8, np.uint16, np.uint32])
def test_recode_equals_its_twin(dtype, to):
    rng = np.random.default_rng(4)
    for n_records, n_codes in itertools.product(LENGTHS, [1, 2, 15, 127, 128, 300]):
        n_codes = min(n_codes, np.iinfo(dtype).max)
        table = rng.integers(0, np.iinfo(to).max, n_codes, to, endpoint=True)
        codes = rng.integers(0, n_codes, 2 * n_records).astype(dtype)[::2]
        recoded = recoding.recode(codes, table)
        assert recoded.dtype == to
        np.testing.assert_array_equal(recoded, numpy_twins.recode(codes, table))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("record", [0, 2047, 2048, 4999])
@pytest.mark.parametrize("code", [6, 7, 255, 2**31, 2**32 + 5, 2**63 + 5, 2**64 - 1, -1])
def test_recode_names_a_code_out_of_range(dtype, record, code):
    low = 6 if np.iinfo(dtype).min == 0 else np.iinfo(dtype).min  # an unsigned type has no -1
    codes = np.zeros(5000, dtype)
    codes[record] = max(min(code, np.iinfo(dtype).max), low)
    for n_codes in (0, 6):
        first = record if n_codes else 0
        with pytest.raises(ValueError, match=rf"^x\[{first}\] is not a code below {n_codes}$"):
            recoding.recode(codes, np.zeros(n_codes, np.uint8), "x")


def test_recode_refuses_tables_that_are_not_of_codes():
    codes = np.zeros(3, np.uint8)
    assert recoding.recode(codes[:0], np.zeros(0, np.uint8)).size == 0
    for table in (np.zeros(3), np.zeros(3, np.int32), np.zeros(3, np.uint64), np.zeros((2, 2), np.uint8)):
        with pytest.raises(ValueError, match="is not for codes"):
            recoding.recode(codes, table)
    with pytest.raises(ValueError, match=r"dtype float64, not a column of integer codes"):
        recoding.recode(codes.astype(float), np.zeros(3, np.uint8))

"""Counting pairs of codes: every type and length equals the NumPy twin; errors name the record."""

import itertools

import numpy as np
import pytest

from linred._kernels import counting, numpy_twins
from support.kernels import DTYPES, LENGTHS


@pytest.mark.parametrize("s_dtype", DTYPES)
@pytest.mark.parametrize("x_dtype", DTYPES)
def test_count_pairs_equals_its_twin(s_dtype, x_dtype):
    rng = np.random.default_rng(1)
    for n_records, (n_s, n_x) in itertools.product(LENGTHS, [(1, 1), (2, 4), (7, 15), (16, 256), (200, 130)]):
        n_s, n_x = min(n_s, np.iinfo(s_dtype).max), min(n_x, np.iinfo(x_dtype).max)
        s, x = rng.integers(0, n_s, n_records).astype(s_dtype), rng.integers(0, n_x, n_records).astype(x_dtype)
        counted = counting.count_pairs(s, x, n_s, n_x)
        assert counted.dtype == np.int64
        np.testing.assert_array_equal(counted, numpy_twins.count_pairs(s, x, n_s, n_x))


@pytest.mark.parametrize("n_x", [5, 3000, 2**20 + 1])
def test_count_pairs_with_any_number_of_copies_of_the_table(n_x):
    rng = np.random.default_rng(2)
    s, x = rng.integers(0, 3, 9999).astype(np.uint8), np.full(9999, n_x - 1, np.uint32)
    np.testing.assert_array_equal(counting.count_pairs(s, x, 3, n_x), numpy_twins.count_pairs(s, x, 3, n_x))


def test_count_pairs_on_several_threads():
    rng = np.random.default_rng(9)
    n_records = 2 * counting.FEWEST_RECORDS_A_THREAD + 12345
    s, x = rng.integers(0, 7, n_records).astype(np.uint8), rng.integers(0, 300, n_records).astype(np.uint16)
    expected = np.bincount(s.astype(np.int64) * 300 + x, minlength=2100).reshape(7, 300)
    for threads in (1, 2, 3):
        np.testing.assert_array_equal(counting.count_pairs(s, x, 7, 300, threads), expected)
    x[-1] = 300
    with pytest.raises(ValueError, match=rf"^x_codes\[{n_records - 1}\] is not a code below 300$"):
        counting.count_pairs(s, x, 7, 300)


def test_count_pairs_takes_strided_and_read_only_columns():
    table = np.random.default_rng(3).integers(0, 6, (1001, 2)).astype(np.uint8)
    table.setflags(write=False)
    expected = numpy_twins.count_pairs(table[:, 0], table[:, 1], 6, 6)
    np.testing.assert_array_equal(counting.count_pairs(table[:, 0], table[:, 1], 6, 6), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("record", [0, 1, 2047, 2048, 4999])
@pytest.mark.parametrize(
    "code", [6, 7, 255, 2**16 - 1, 2**31 - 1, 2**31, 2**31 + 5, 2**32 - 1, 2**32, 2**63, 2**63 + 5, 2**64 - 1]
)
def test_a_code_out_of_range_is_named(dtype, record, code):
    code = min(code, np.iinfo(dtype).max)
    good, bad = np.zeros(5000, dtype), np.zeros(5000, dtype)
    bad[record] = code
    with pytest.raises(ValueError, match=rf"^s_codes\[{record}\] is not a code below 6$"):
        counting.count_pairs(bad, good, 6, 6)
    with pytest.raises(ValueError, match=rf"^x_codes\[{record}\] is not a code below 6$"):
        counting.count_pairs(good, bad, 6, 6)


def test_count_pairs_refuses_what_it_cannot_count():
    codes = np.zeros(3, np.uint8)
    with pytest.raises(ValueError, match="s_codes has 3 records and x_codes 2"):
        counting.count_pairs(codes, codes[:2], 2, 2)
    with pytest.raises(ValueError, match="dtype float64"):
        counting.count_pairs(codes.astype(float), codes, 2, 2)
    for n_s in (2, 127, 128, 129, 256):
        with pytest.raises(ValueError, match=rf"^s_codes\[1\] is not a code below {n_s}$"):
            counting.count_pairs(np.array([0, -1, 0], np.int8), codes, n_s, 2)
    with pytest.raises(ValueError, match="cannot be counted"):
        counting.count_pairs(codes, codes, 2**20, 2**20)


@pytest.mark.long
def test_a_cell_of_more_than_2_to_the_32_records():
    zeros = np.zeros(2**32 + 7, np.uint8)
    assert counting.count_pairs(zeros, zeros, 2, 2, threads=1).tolist() == [[2**32 + 7, 0], [0, 0]]

"""Sampling: every variant and type equals the NumPy twin, for lengths around vector widths and blocks."""

import numpy as np
import pytest

import linred
from linred._kernels import sampling
from support import stats
from support.samplers import WHOLE


def kernel_of(first_stage):
    """A small alphabet with 256 cells a row, or a larger one with thresholds; some pairs unseen, some never move."""
    rng = np.random.default_rng(5)
    n_s, n_x = (3, 6) if first_stage == "cells" else (3, 300)
    counts = rng.integers(0, 9, (n_s, n_x))
    counts[0, 1] = 0
    return linred.non_markov(linred.Joint.from_counts(counts), 0.4).sampler()


@pytest.mark.parametrize("first_stage", ["cells", "keep"])
@pytest.mark.parametrize("s_dtype", [np.uint8, np.int16, np.uint32, np.int64])
@pytest.mark.parametrize("x_dtype", [np.uint8, np.uint16, np.uint32, np.int64])
def test_the_two_stages_equal_their_twin(first_stage, s_dtype, x_dtype, variant):
    sampler = kernel_of(first_stage)
    assert sampler.first_stage == first_stage
    (n_s, n_x), kernel = sampler.shape, sampler.kernel
    if n_x > np.iinfo(x_dtype).max:
        pytest.skip("codes of x have no room")
    rng = np.random.default_rng(6)
    for n in [1, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129, 2047, 2048, 2049, 4500]:
        s, x = rng.integers(0, n_s, n).astype(s_dtype), rng.integers(0, n_x, n).astype(x_dtype)
        words, blocks = rng.integers(0, 256, 2 * n).astype(np.uint8), rng.integers(0, 256, 16 * n).astype(np.uint8)
        y, pending = np.empty_like(x), sampling.Pending(n)
        columns = sampling.Columns(s, x, y)
        counters = kernel.first_stage(columns, words, pending)
        numbers = counters.reshape(-1, 16)[:, 8:].copy().view(">u8").ravel().astype(int)
        kernel.second_stage(columns, words, pending, numbers.size, blocks.reshape(n, 16)[numbers].ravel())
        assert y.tolist() == stats.twin(sampler, s, x, words, blocks).tolist()
        kernel.no_first_stage(columns, pending)
        kernel.second_stage(columns, None, pending, n, blocks)
        assert y.tolist() == stats.twin(sampler, s, x, None, blocks).tolist()


@pytest.mark.parametrize("name", WHOLE)
@pytest.mark.parametrize("x_dtype", [np.uint8, np.uint32])
def test_tables_in_whole_numbers_equal_their_twin(name, x_dtype, variant):
    sampler, rng = WHOLE[name].sampler(), np.random.default_rng(7)
    (n_s, n_x), kernel = sampler.shape, sampler.kernel
    for n in (1, 33, 2049):
        s, x = rng.integers(0, n_s, n).astype(np.uint8), rng.integers(0, n_x, n).astype(x_dtype)
        words, tries = rng.integers(0, 256, 2 * n).astype(np.uint8), rng.integers(0, 256, (80, n, 16)).astype(np.uint8)
        tries[0, : n // 2] = 255  # words at the very end are rejected
        for first_words in (words, None):
            y, pending, attempt = np.empty_like(x), sampling.Pending(n), 0
            columns = sampling.Columns(s, x, y)
            n_pending = n
            if first_words is None:
                kernel.no_first_stage(columns, pending)
            else:
                n_pending = kernel.first_stage(columns, words, pending).size // 16
            while n_pending:
                blocks = tries[attempt][pending.positions[:n_pending]].ravel()
                words_of_try = first_words if attempt == 0 else None
                n_pending = kernel.second_stage(columns, words_of_try, pending, n_pending, blocks)
                attempt += 1
            assert y.tolist() == stats.twin(sampler, s, x, first_words, tries.reshape(80, -1)).tolist()
            assert attempt > 1 or n == 1, "some words were rejected"


def test_counters_are_the_numbers_of_the_records():
    sampler, n = linred.markov(linred.Joint.from_counts(np.ones((1, 300))), 1.0).sampler(), 5
    x, words = np.zeros(n, np.uint16), np.full(2 * n, 255, np.uint8)  # no record is kept: all are pending
    for start in (0, 255, 2**32 - 2, 2**63, 2**64 - n):
        expected = b"".join((start + i).to_bytes(16, "big") for i in range(n))
        columns, pending = sampling.Columns(None, x, x.copy()), sampling.Pending(n)
        assert sampler.kernel.first_stage(columns, words, pending, start).tobytes() == expected


def test_the_kernel_refuses_tables_and_buffers_that_are_too_small():
    kernel = kernel_of("keep").kernel
    _, (n_s, n_x, shift, rows, cells, settled, keep_top, _) = kernel.__reduce__()
    too_many_cells = rows.copy()
    too_many_cells["log2_cells"][3] = 63
    for wrong in (
        (n_s, n_x, shift, rows[:-1], cells, settled, keep_top),
        (n_s, n_x, shift, rows, cells[:-1], settled, keep_top),
        (n_s, n_x, shift - 1, rows, cells, settled, keep_top),
        (n_s, n_x, shift, rows, cells, settled, keep_top[:-1]),
        (n_s, n_x, shift, rows, cells, np.zeros(9, np.uint8), None),
        (n_s, n_x, shift, too_many_cells, cells, settled, keep_top),
        (n_s, n_x, shift, rows, cells, settled, keep_top, np.ones(rows.size - 1, np.uint64)),
    ):
        with pytest.raises(ValueError, match=r"cells|keep_top|settled|limits"):
            sampling.Kernel(*wrong)
    codes, pending = np.zeros(5, np.uint16), sampling.Pending(5)
    columns = sampling.Columns(codes, codes, codes.copy())
    for call in (
        lambda: kernel.first_stage(columns, np.zeros(9, np.uint8), pending),
        lambda: kernel.first_stage(columns, np.zeros(10, np.uint8), sampling.Pending(4)),
        lambda: kernel.no_first_stage(columns, sampling.Pending(4)),
        lambda: kernel.second_stage(columns, None, pending, 5, np.zeros(79, np.uint8)),
    ):
        with pytest.raises(ValueError, match="too little"):
            call()

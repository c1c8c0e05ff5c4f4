"""Every kernel, every variant, lengths around vector widths and block sizes: equal to its NumPy twin."""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import linred
from linred._kernels import alias, counting, coupling, extremes, numpy_twins, recoding, sampling, simd
from support import stats

LENGTHS = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 2047, 2048, 2049, 5000]
DTYPES = [np.uint8, np.uint16, np.uint32, np.uint64, np.int8, np.int64]


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
    with pytest.raises(ValueError, match=rf"x_codes\[{n_records - 1}\] = 300 is not a code below 300"):
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
    with pytest.raises(ValueError, match=rf"s_codes\[{record}\] = {code} is not a code below 6"):
        counting.count_pairs(bad, good, 6, 6)
    with pytest.raises(ValueError, match=rf"x_codes\[{record}\] = {code} is not a code below 6"):
        counting.count_pairs(good, bad, 6, 6)


def test_count_pairs_refuses_what_it_cannot_count():
    codes = np.zeros(3, np.uint8)
    with pytest.raises(ValueError, match="s_codes has 3 records and x_codes 2"):
        counting.count_pairs(codes, codes[:2], 2, 2)
    with pytest.raises(ValueError, match="dtype float64"):
        counting.count_pairs(codes.astype(float), codes, 2, 2)
    for n_s in (2, 127, 128, 129, 256):
        with pytest.raises(ValueError, match=rf"s_codes\[1\] = -1 is not a code below {n_s}"):
            counting.count_pairs(np.array([0, -1, 0], np.int8), codes, n_s, 2)
    with pytest.raises(ValueError, match="cannot be counted"):
        counting.count_pairs(codes, codes, 2**20, 2**20)


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
    code = max(min(code, np.iinfo(dtype).max), np.iinfo(dtype).min)
    codes = np.zeros(5000, dtype)
    codes[record] = code
    if code in (0, 5):
        return
    for n_codes in (0, 6):
        first = record if n_codes else 0
        with pytest.raises(ValueError, match=rf"x\[{first}\] = {codes[first]} is not a code below {n_codes}"):
            recoding.recode(codes, np.zeros(n_codes, np.uint8), "x")


def test_recode_refuses_tables_that_are_not_of_codes():
    codes = np.zeros(3, np.uint8)
    assert recoding.recode(codes[:0], np.zeros(0, np.uint8)).size == 0
    for table in (np.zeros(3), np.zeros(3, np.int32), np.zeros(3, np.uint64), np.zeros((2, 2), np.uint8)):
        with pytest.raises(ValueError, match="is not for codes"):
            recoding.recode(codes, table)
    with pytest.raises(ValueError, match=r"dtype float64, not a column of integer codes"):
        recoding.recode(codes.astype(float), np.zeros(3, np.uint8))


def test_column_extremes_equal_their_twin(variant):
    rng = np.random.default_rng(4)
    for n_rows, n_columns in itertools.product([1, 2, 7, 8, 9, 15, 16, 17, 25], [1, 2, 3, 4, 5, 7, 8, 9, 33]):
        matrix = rng.random((n_rows, n_columns)) * (rng.random((n_rows, n_columns)) < 0.7)
        for ours, twin in zip(extremes.column_extremes(matrix), numpy_twins.column_extremes(matrix), strict=True):
            np.testing.assert_array_equal(ours, twin)


def test_column_extremes_see_every_cell(variant):
    for n_rows, n_columns in [(17, 9), (8, 4), (9, 5)]:
        for s, x in itertools.product(range(n_rows), range(n_columns)):
            matrix = np.full((n_rows, n_columns), 0.5)
            matrix[s, x] = 0.75
            assert extremes.column_extremes(matrix)[0][x] == 0.75
            matrix[s, x] = 0.25
            assert extremes.column_extremes(matrix)[1][x] == 0.25


@given(st.integers(1, 6), st.integers(1, 7), st.integers(0, 2**32 - 1))
def test_worst_neighbors_equal_their_twin(n_s, n_x, seed):
    rng = np.random.default_rng(seed)
    matrix = rng.choice([0.0, 0.25, 0.5, 1.0, 5e-324, 1e-300], (n_s, n_x))
    neighbors = rng.random((n_s, n_s)) < 0.5
    neighbors = neighbors | neighbors.T
    largest, places = numpy_twins.worst_neighbors(matrix, neighbors)
    found = extremes.worst_neighbors(matrix, neighbors.view(np.uint8))
    if largest > 0.0:
        assert found in places
    elif found is not None:  # equal entries: attained, with a ratio of one
        x, s, s_prime = found
        assert matrix[s, x] == matrix[s_prime, x] > 0.0
        assert neighbors[s, s_prime]


@pytest.mark.parametrize("n_x", [1, 2, 3, 5, 8, 100])
def test_excess_equals_its_twin(n_x):
    rng = np.random.default_rng(11)
    p = rng.dirichlet(np.full(n_x, 0.5), 7)
    p_x = p.mean(axis=0)
    p[0] = p_x * (1.0 + 1e-15 * rng.normal(size=n_x))
    for alpha in (0.0, 0.3, 1.0):
        ours, twin = coupling.excess(p, p_x, alpha), numpy_twins.excess(p, p_x, alpha)
        np.testing.assert_allclose(ours, twin, rtol=0, atol=1e-15)
        np.testing.assert_allclose(ours.sum(axis=1), 0.0, rtol=0, atol=1e-16)
        assert not ours[0].any(), "rounding is no excess"


def dense_plan(flows, row, n_x):
    indptr, x, y, mass = flows
    span = slice(indptr[row], indptr[row + 1])
    plan = np.zeros((n_x, n_x))
    np.add.at(plan, (x[span], y[span]), mass[span])
    assert (np.diff(x[span].astype(int) * n_x + y[span]) > 0).all(), "flows are ordered by x, then y, each once"
    return plan


@pytest.mark.parametrize("n_x", [1, 2, 3, 4, 8, 33, 500])
def test_northwest_equals_its_twin(n_x):
    rng = np.random.default_rng(5)
    supply, demand = rng.dirichlet(np.full(n_x, 0.5), (2, 9))
    supply[rng.random(supply.shape) < 0.2] = 0.0
    supply[:, 0] += 1.0 - supply.sum(axis=1)
    delta = supply - demand
    for row in range(9):
        plan = dense_plan(coupling.northwest(supply, demand), row, n_x)
        np.testing.assert_allclose(plan, numpy_twins.northwest(supply[row], demand[row]), rtol=0, atol=1e-14)
        excess, deficit = np.maximum(delta[row], 0), np.maximum(-delta[row], 0)
        plan = dense_plan(coupling.northwest(delta), row, n_x)
        np.testing.assert_allclose(plan, numpy_twins.northwest(excess, deficit), rtol=0, atol=1e-14)
        sparse = np.zeros((n_x, n_x))
        if excess.any() and deficit.any():
            x, y, mass = numpy_twins.northwest_flows(delta[row])
            some = mass > 1e-15
            np.add.at(sparse, (x[some], y[some]), mass[some])
        np.testing.assert_allclose(plan, sparse, rtol=0, atol=1e-14)


def test_northwest_leaves_no_dust_on_ties():
    flows = coupling.northwest(np.array([[0.14, 0.035, -0.105, -0.07]]))
    np.testing.assert_array_equal(flows[1], [0, 0, 1])
    np.testing.assert_array_equal(flows[2], [2, 3, 3])
    np.testing.assert_allclose(flows[3], [0.105, 0.035, 0.035], rtol=1e-14)


def test_northwest_meets_every_small_demand_to_its_last_places():
    rng = np.random.default_rng(10)
    for _ in range(50):
        tails = np.exp(-0.5 * np.linspace(-15, 15, 40)[None, :] ** 2 + rng.normal(0, 0.3, (2, 40)))
        supply, demand = tails / tails.sum(axis=1, keepdims=True)
        _, x, y, mass = coupling.northwest(supply[None, :], demand[None, :])
        met, pivot = np.bincount(y, mass, 40), demand.argmax()
        np.testing.assert_allclose(np.delete(met, pivot), np.delete(demand, pivot), rtol=1e-14)
        np.testing.assert_allclose(met[pivot], demand[pivot], rtol=1e-14)
        np.testing.assert_allclose(np.bincount(x, mass, 40), supply, rtol=1e-13)


def test_northwest_without_demand_moves_nothing():
    for flows in (coupling.northwest(np.array([[1e-17, 0.0]])), coupling.northwest(np.zeros((1, 3)))):
        np.testing.assert_array_equal(flows[0], [0, 0])


@pytest.mark.parametrize("complete", [False, True])
def test_tables_amount_to_the_twins_matrix(complete):
    rng = np.random.default_rng(6)
    for n_s, n_x in [(1, 1), (3, 2), (4, 7), (2, 20)]:
        p = rng.dirichlet(np.ones(n_x), n_s)
        p[rng.random(p.shape) < 0.3] = 0.0
        p[p.sum(axis=1) == 0, 0] = 1.0
        p /= p.sum(axis=1, keepdims=True)
        p_y = rng.dirichlet(np.ones(n_x)) * (np.arange(n_x) != 1)
        p_y /= p_y.sum()
        q = 0.4 * p + 0.6 * p_y
        flows = coupling.northwest(p, q) if complete else coupling.northwest(p - q)
        keep, move, table_of, indptr, y, probability = coupling.tables_from_flows(p, q, p_y, flows, complete)
        assert min(keep.min(), move.min()) >= 0.0
        np.testing.assert_allclose(keep + move, 1.0, rtol=0, atol=1e-15)
        tables = np.zeros((indptr.size - 1, n_x))
        np.add.at(tables, (np.repeat(np.arange(indptr.size - 1), np.diff(indptr)), y), probability)
        np.testing.assert_allclose(tables.sum(axis=1), 1.0, rtol=1e-14)
        dense = move[:, :, None] * tables[table_of] + keep[:, :, None] * np.eye(n_x)
        np.testing.assert_allclose(dense, numpy_twins.tables_from_flows(p, q, p_y, flows, complete), rtol=0, atol=1e-14)


def test_monge_margin_has_the_sign_of_its_twin():
    rng = np.random.default_rng(8)
    for n_x, n_y in [(1, 1), (1, 5), (2, 2), (4, 3), (5, 7)]:
        x, y = np.arange(n_x, dtype=float)[:, None], np.arange(n_y, dtype=float)
        for d in (np.abs(x - y), (x - y) ** 2, -((x - y) ** 2), rng.integers(0, 9, (n_x, n_y)).astype(float)):
            ours, twin = coupling.monge_margin(d), numpy_twins.monge_margin(d)
            assert np.sign(ours) == np.sign(twin)


def test_shorter_detour_equals_its_twin():
    rng = np.random.default_rng(7)
    points = rng.random((9, 2))
    metric = np.linalg.norm(points[:, None] - points, axis=2)
    for d in (metric, metric**2, rng.random((9, 9)), np.zeros((1, 1)), np.ones((5, 5)) - np.eye(5)):
        for slack in (0.0, 1e-12, 0.3):
            found = coupling.shorter_detour(d, slack)
            assert (found is not None) == numpy_twins.shorter_detour(d, slack)
            if found is not None:
                x, y, z = found
                assert d[x, z] * (1.0 - slack) > d[x, y] + d[y, z]


def test_one_planted_detour_is_found_wherever_it_is():
    for x, z in itertools.permutations(range(6), 2):
        d = np.ones((6, 6)) - np.eye(6)
        d[x, z] = 2.5
        assert coupling.shorter_detour(d, 0.0)[::2] == (x, z)


def test_the_variant_can_be_forced_and_nonsense_is_refused():
    assert simd.choose("serial") == "serial"
    assert simd.choose("auto") == simd.available()[-1]
    with pytest.raises(ImportError, match="LINRED_SIMD = 'sse9' is not one of"):
        simd.choose("sse9")


probabilities = st.lists(
    st.one_of(st.floats(1e-320, 1.0), st.floats(0.1, 1.0), st.sampled_from([2.0**-64, 2.0**-65, 0.5, 0.25, 1e-20])),
    min_size=2,
    max_size=40,
)


@given(probabilities)
def test_quantise_equals_its_twin_and_sums_to_two_to_the_64(p):
    weight = alias.quantise(np.array([0, len(p)]), np.array(p)).tolist()
    assert weight == numpy_twins.quantise(p)
    assert sum(weight) == 2**64
    assert min(weight) >= 1
    total = sum(map(Fraction, p))
    for one, of in zip(weight, p, strict=True):
        ideal = Fraction(of) / total * 2**64
        assert abs(one - ideal) <= 3 + ideal * Fraction(2, 10**14)


def test_quantise_keeps_what_is_exact():
    assert alias.quantise(np.array([0, 1, 3, 6]), np.array([0.3, 0.5, 0.5, 0.25, 0.25, 0.5])).tolist() == [
        0,
        2**63,
        2**63,
        2**62,
        2**62,
        2**63,
    ]


@given(probabilities, st.integers(0, 3))
def test_cells_amount_to_the_weights(p, spare):
    y = np.arange(len(p), dtype=np.int32)[::-1].copy()
    indptr, log2_cells = np.array([0, len(p)]), min(8, (len(p) - 1).bit_length() + spare)
    weight = alias.quantise(indptr, np.array(p))
    first_cell, cells = alias.cells_of(indptr, y, weight, np.array([log2_cells], np.uint8))
    assert first_cell.tolist() == [0, 2**log2_cells]
    expected = dict(zip(y.tolist(), weight.tolist(), strict=True))
    assert numpy_twins.weights_of_cells(cells, log2_cells) == expected
    shared = cells["own"] != cells["alias"]
    assert (shared == np.sort(shared)).all(), "whole cells come first"
    assert shared.sum() < len(p)
    whole = cells["own"][~shared]
    assert (np.diff(np.flatnonzero(y == whole[:, None])) >= 0).all() if whole.size else True


def test_cells_of_one_symbol_are_whole():
    first_cell, cells = alias.cells_of(
        np.array([0, 1, 1, 2]), np.array([5, 6], np.int32), np.zeros(2, np.uint64), np.array([0, 1, 3], np.uint8)
    )
    assert first_cell.tolist() == [0, 1, 3, 11]
    assert cells["own"].tolist() == cells["alias"].tolist() == [5, 0, 0] + [6] * 8
    assert not cells["threshold"].any()


@given(st.one_of(st.floats(0.0, 1.0), st.sampled_from([0.0, 1.0, 0.5, 1e-25, 2.0**-64, 2.0**-53, 1 - 2.0**-53])))
def test_keep_weights_are_nearest_and_zero_only_for_zero(smaller):
    for keep, move in ((smaller, 1.0 - smaller), (1.0 - smaller, smaller)):
        rows = alias.rows_of(
            np.array([[keep]]), np.array([[move]]), np.zeros((1, 1), np.int32), 1, np.array([0, 4, 6]),
            np.array([2, 1], np.uint8), 1,
        )  # fmt: skip
        weight, first_cell, log2_cells = rows[0].tolist()
        if move == 0.0:
            assert (weight, first_cell, log2_cells) == (2**64 - 1, 4, 1)
            continue
        assert (first_cell, log2_cells) == (0, 2)
        exact = Fraction(keep) if keep <= move else 1 - Fraction(move)
        assert abs(Fraction(weight, 2**64) - exact) <= Fraction(1, 2**64)
        assert (weight == 0) == (keep == 0.0)


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
    (n_s, n_x), kernel = sampler.shape, sampler._kernel
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


def test_counters_are_the_numbers_of_the_records():
    sampler, n = linred.markov(linred.Joint.from_counts(np.ones((1, 300))), 1.0).sampler(), 5
    x, words = np.zeros(n, np.uint16), np.full(2 * n, 255, np.uint8)  # nothing is kept: all are pending
    for start in (0, 255, 2**32 - 2, 2**63, 2**64 - n):
        expected = b"".join((start + i).to_bytes(16, "big") for i in range(n))
        columns, pending = sampling.Columns(None, x, x.copy()), sampling.Pending(n)
        assert sampler._kernel.first_stage(columns, words, pending, start).tobytes() == expected


def test_the_kernel_refuses_tables_and_buffers_that_are_too_small():
    kernel = kernel_of("keep")._kernel
    _, (n_s, n_x, shift, rows, cells, settled, keep_top) = kernel.__reduce__()
    too_many_cells = rows.copy()
    too_many_cells["log2_cells"][3] = 63
    for wrong in (
        (n_s, n_x, shift, rows[:-1], cells, settled, keep_top),
        (n_s, n_x, shift, rows, cells[:-1], settled, keep_top),
        (n_s, n_x, shift - 1, rows, cells, settled, keep_top),
        (n_s, n_x, shift, rows, cells, settled, keep_top[:-1]),
        (n_s, n_x, shift, rows, cells, np.zeros(9, np.uint8), None),
        (n_s, n_x, shift, too_many_cells, cells, settled, keep_top),
    ):
        with pytest.raises(ValueError, match=r"cells|keep_top|settled"):
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

"""Counting pairs of codes, against `numpy.bincount`."""

import numpy as np

from benchmarks.common import compare, seconds
from linred import Joint
from linred._kernels import counting, recoding

N_RECORDS = 20_000_000
CASES = [
    (2, 4, np.uint8),
    (7, 15, np.uint8),
    (16, 105, np.uint8),
    (7, 15, np.uint32),
    (7, 15, np.int64),
    (100, 1000, np.uint16),
    (105, 4044, np.uint16),
]


def records(n_s, n_x, dtype):
    """Draw codes from a random joint distribution, which is skewed as real columns are."""
    rng = np.random.default_rng(1)
    cells = rng.choice(n_s * n_x, N_RECORDS, p=rng.dirichlet(np.ones(n_s * n_x)))
    return (cells // n_x).astype(dtype), (cells % n_x).astype(dtype)


def fastest_numpy_way(s, x, n_s, n_x):
    """Return the fastest of three ways to build the index; which one it is depends on the alphabet and the dtype."""
    narrow = np.min_scalar_type(n_s * n_x - 1).type

    def by_int64():
        return np.bincount(s.astype(np.int64) * n_x + x, minlength=n_s * n_x)

    def by_product():
        return np.bincount(np.multiply(s, n_x, dtype=np.intp) + x, minlength=n_s * n_x)

    def by_narrow():
        index = s.astype(narrow, copy=False) * narrow(n_x) + x.astype(narrow, copy=False)
        return np.bincount(index, minlength=n_s * n_x)

    ways = (by_int64, by_product, by_narrow)
    return min(ways, key=lambda way: sorted(seconds(way) for _ in range(3))[1])


def _recoding_row(codes, n_codes, size):
    table = np.arange(n_codes)[::-1].astype(codes.dtype)
    rivals = (lambda: table[codes]), (lambda: table.take(codes)), (lambda: np.take(table, codes, mode="clip"))
    fastest = min(rivals, key=lambda way: sorted(seconds(way) for _ in range(3))[1])
    return compare(f"recoding a column, {size}", lambda: recoding.recode(codes, table), "`take`", fastest, "2")


def rows():
    for n_s, n_x, dtype in CASES:
        s, x = records(n_s, n_x, dtype)
        index = s.astype(np.int64) * n_x + x
        size = f"20 M records, {n_s} x {n_x}, {np.dtype(dtype)}"

        def ours(s=s, x=x, n_s=n_s, n_x=n_x):
            return Joint.from_records(s, x, range(n_s), range(n_x))

        def one_thread(s=s, x=x, n_s=n_s, n_x=n_x):
            return counting.count_pairs(s, x, n_s, n_x, threads=1)

        numpy_way = fastest_numpy_way(s, x, n_s, n_x)

        def ready_index(index=index, n_s=n_s, n_x=n_x):
            return np.bincount(index, minlength=n_s * n_x)

        assert (ours().counts.ravel() == numpy_way()).all()
        yield _recoding_row(s, n_s, size)
        yield compare(f"`Joint.from_records`, {size}", ours, "index and `bincount`", numpy_way, "4")
        yield compare(f"`Joint.from_records`, {size}", ours, "`bincount` of a ready index", ready_index, "1.5")
        yield compare(f"the kernel on one thread, {size}", one_thread, "index and `bincount`", numpy_way, "4")
        yield compare(
            f"the kernel on one thread, {size}", one_thread, "`bincount` of a ready index", ready_index, "1.5"
        )

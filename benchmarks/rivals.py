"""Other ways to draw Y from (S, X): in NumPy, tuned as well as we can, and in other packages.

Each way is built from sparse rows P(y|s,x), one for each (s, x) or, if s is not used, for each x, and from a function
from (s, x) to row numbers. The result is a function from columns (s, x) to y. The generators are fast and not secure:
PCG64, in single precision where that helps. Blocks fit a second-level cache.
"""

import numpy as np

from linred._kernels import alias as alias_kernel

BLOCK = 2**14
MOST_DENSE = 2**22


def numpy_ways(rows, row_of):
    """Return {name: way} of the usual ways in NumPy."""
    ways = {"`searchsorted` over sparse rows": flat_searchsorted(rows, row_of)}
    if rows.shape[0] * rows.shape[1] <= MOST_DENSE:  # larger dense rows take seconds to read
        ways["`Generator.choice` by group"] = grouped_choice(rows, row_of)
        ways["inverse CDF, whole array"] = inverse_cdf(rows, row_of)
        ways["inverse CDF in blocks, float32"] = blocked_inverse_cdf(rows, row_of)
    return ways


def numpy_ways_by_our_tables(rows, row_of):
    """Return {name: way} of NumPy with tables that linred compiled, which is harder to beat."""
    return {
        "alias tables in blocks": blocked_alias(rows, row_of),
        "keep first, then `searchsorted`, in blocks": keep_then_searchsorted(rows, row_of),
    }


def by_pair(n_rows, n_x):
    """Return a function from (s, x) to row numbers, in the narrowest type that can hold them."""
    index = np.min_scalar_type(n_rows - 1)
    return lambda s, x: s.astype(index) * index.type(n_x) + x.astype(index)


def by_x(s, x):
    return x


def grouped_choice(rows, row_of):
    rng, dense = np.random.default_rng(1), rows.toarray()

    def draw(s, x):
        def of_group(p, size):
            return rng.choice(p.size, size, p=p)

        return _by_group(row_of(s, x), x, dense, of_group)

    return draw


def _by_group(row, x, groups, of_group):
    order, sizes = np.argsort(row, kind="stable"), np.bincount(row, minlength=len(groups))
    y = np.empty_like(x)
    y[order] = np.concatenate([of_group(group, n) for group, n in zip(groups, sizes, strict=True) if n])
    return y


def inverse_cdf(rows, row_of):
    rng, thresholds = np.random.default_rng(1), np.cumsum(rows.toarray(), axis=1)[:, :-1]

    def draw(s, x):
        return (rng.random(x.size)[:, None] >= thresholds[row_of(s, x)]).sum(axis=1).astype(x.dtype)

    return draw


def _in_blocks(of_block):
    def draw(s, x):
        y = np.empty_like(x)
        for start in range(0, x.size, BLOCK):
            block = slice(start, start + BLOCK)
            of_block(s[block], x[block], y[block])
        return y

    return draw


def blocked_inverse_cdf(rows, row_of):
    """Compare all records with one threshold at a time, which needs no temporary array of records x symbols."""
    rng = np.random.default_rng(1)
    thresholds = np.ascontiguousarray(np.cumsum(rows.toarray(), axis=1)[:, :-1].T.astype(np.float32))
    u, at = np.empty(BLOCK, np.float32), np.empty(BLOCK, np.float32)

    def of_block(s, x, y):
        n, row = x.size, row_of(s, x)
        rng.random(out=u[:n], dtype=np.float32)
        y[:] = 0
        for threshold in thresholds:
            np.take(threshold, row, out=at[:n], mode="clip")
            y += u[:n] >= at[:n]

    return _in_blocks(of_block)


def _flat_cdf(rows):
    """Return row + CDF over the nonzeros of all rows, as one ascending array."""
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    total = np.cumsum(rows.data)
    before = np.concatenate([[0.0], total])[rows.indptr[:-1]]
    cdf = np.minimum(total - before[row], 1.0)
    cdf[rows.indptr[1:] - 1] = 1.0
    return row + cdf


def flat_searchsorted(rows, row_of):
    rng, flat, symbols = np.random.default_rng(1), _flat_cdf(rows), rows.indices

    def of_block(s, x, y):
        y[:] = symbols[np.searchsorted(flat, row_of(s, x) + rng.random(x.size), side="right")]

    return _in_blocks(of_block)


def keep_then_searchsorted(rows, row_of):
    """Decide first whether x is kept, and draw the rest from the remaining row: fast if few records change."""
    from scipy.sparse import csr_array

    n_rows, n_x = rows.shape
    row = np.repeat(np.arange(n_rows), np.diff(rows.indptr))
    stays = rows.indices == row % n_x
    keep = np.zeros(n_rows, np.float32)
    keep[row[stays]] = rows.data[stays]
    moves = np.bincount(row[~stays], rows.data[~stays], minlength=n_rows)
    mass = np.where(
        stays, np.where(moves[row] > 0.0, 0.0, 1.0), rows.data / np.where(moves[row] > 0.0, moves[row], 1.0)
    )
    rng, flat = np.random.default_rng(1), _flat_cdf(csr_array((mass, rows.indices, rows.indptr), shape=rows.shape))
    symbols = rows.indices

    def of_block(s, x, y):
        row = row_of(s, x)
        moved = np.flatnonzero(rng.random(x.size, dtype=np.float32) >= keep.take(row, mode="clip"))
        y[:] = x
        y[moved] = symbols[np.searchsorted(flat, row[moved] + rng.random(moved.size), side="right")]

    return _in_blocks(of_block)


def blocked_alias(rows, row_of):
    """Draw from alias rows of power-of-two sizes in single precision; each row has an offset and a size."""
    rng = np.random.default_rng(1)
    log2_cells = np.frexp(np.diff(rows.indptr) - 0.5)[1].astype(np.uint8)
    indptr = rows.indptr.astype(np.int64)
    first_cell, cells = alias_kernel.cells_of(
        indptr, rows.indices.astype(np.int32), alias_kernel.quantise(indptr, rows.data), log2_cells
    )
    first_cell, n_cells = first_cell[:-1].astype(np.int32), (2.0**log2_cells).astype(np.float32)
    threshold = (cells["threshold"] / 2.0**64).astype(np.float32)
    own, alias = (cells[name].astype(np.min_scalar_type(rows.shape[1] - 1)) for name in ("own", "alias"))

    def of_block(s, x, y):
        row = row_of(s, x)
        u = rng.random(x.size, dtype=np.float32) * n_cells.take(row)
        whole = u.astype(np.int32)
        cell = first_cell.take(row) + whole
        y[:] = np.where(u - whole < threshold.take(cell), own.take(cell), alias.take(cell))

    return _in_blocks(of_block)


def scipy_urn(rows, row_of):
    """Draw from one `scipy.stats.sampling.DiscreteAliasUrn` for each row, group by group."""
    from scipy.stats.sampling import DiscreteAliasUrn

    rng = np.random.default_rng(1)
    urns = [DiscreteAliasUrn(p, random_state=rng) for p in rows.toarray()]
    return lambda s, x: _by_group(row_of(s, x), x, urns, lambda urn, size: urn.rvs(size))


def numba_alias(rows, row_of):
    """Draw in a compiled loop over records with NumPy's generator."""
    import numba

    log2_cells = np.full(rows.shape[0], (rows.shape[1] - 1).bit_length(), np.uint8)
    indptr = rows.indptr.astype(np.int64)
    _, cells = alias_kernel.cells_of(
        indptr, rows.indices.astype(np.int32), alias_kernel.quantise(indptr, rows.data), log2_cells
    )
    threshold = (cells["threshold"] / 2.0**64).astype(np.float32)
    own, alias = (cells[name].astype(np.min_scalar_type(rows.shape[1] - 1)) for name in ("own", "alias"))

    @numba.njit
    def loop(rng, s, x, y, n_x, n_cells, threshold, own, alias):
        for i in range(x.size):
            u = rng.random() * n_cells
            whole = int(u)
            cell = (s[i] * n_x + x[i]) * n_cells + whole
            y[i] = own[cell] if u - whole < threshold[cell] else alias[cell]

    rng = np.random.default_rng(1)

    def draw(s, x):
        y = np.empty_like(x)
        loop(rng, s, x, y, rows.shape[1], 1 << int(log2_cells[0]), threshold, own, alias)
        return y

    return draw


def opendp_response(n_x):
    """Draw by OpenDP's randomised response on as many categories. It works record by record only."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    response = dp.m.make_randomized_response(list(range(n_x)), 0.9)
    return lambda s, x: np.array([response(int(one)) for one in x], x.dtype)


def pure_ldp_response(n_x):
    """Draw by pure-ldp's direct encoding (k-ary randomised response) on as many categories, record by record."""
    from pure_ldp.frequency_oracles.direct_encoding import DEClient

    client = DEClient(epsilon=3, d=n_x)
    return lambda s, x: np.array([client.privatise(int(one) + 1) for one in x])

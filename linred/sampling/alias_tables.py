"""Compiles a mechanism into the integer tables that `linred.sampling.sampler` draws from. Deterministic; O(nonzeros).

A row (s, x) becomes a threshold `keep` out of 2^64 and a table of alias cells. If the mechanism is in whole numbers
(`linred.mechanism.tables.Whole`), each row and table is out of a whole number of its own instead; see csrc/alias.h.
"""

from typing import NamedTuple

import numpy as np

from linred._kernels import alias, sampling

MOST_SETTLED_ROWS = 2**10
FIRST_STAGE_NS, PENDING_NS = {"cells": 1.0, "keep": 1.5}, 10.0
"""Approximate costs of a record and of a pending record. They are constants because they decide the first stage, on
which the values drawn under a key depend, and every machine must choose the same one."""


MOST_WORDS = np.uint64(2**64 - 1)


class Compiled(NamedTuple):
    """The tables in the form that `sampling.Kernel` takes; either settled or keep_top is None.

    limits : for a mechanism in whole numbers, how many words each row accepts; otherwise None.
    """

    n_s: int  # 0 if the mechanism does not use S; then there is one row for each x
    n_x: int
    shift: int
    rows: np.ndarray  # the row of (s, x) is at s << shift | x
    cells: np.ndarray
    settled: np.ndarray | None
    keep_top: np.ndarray | None
    limits: np.ndarray | None
    pending: float  # share of records from P(S, X) that the first stage leaves to the second

    @property
    def nanoseconds(self):
        cost = FIRST_STAGE_NS["keep" if self.settled is None else "cells"] + PENDING_NS * self.pending
        return round(cost, 6)  # because the last digits of a sum may differ between machines


def compile_tables(mechanism):
    """Return the mechanism as `Compiled`, with the cheaper of the two first stages."""
    if mechanism.whole is not None:
        return _by_whole(mechanism)
    p_sx, parts = mechanism.joint.p_sx, (mechanism.keep, mechanism.move, mechanism.table_of)
    if not mechanism.sees_s:
        p_sx, parts = mechanism.joint.p_x[None, :], (part[:1] for part in parts)
    keep, move, table_of = (np.ascontiguousarray(part) for part in parts)
    n_s, n_x = keep.shape[0] if mechanism.sees_s else 0, keep.shape[1]
    by_keep = _by_keep(n_s, p_sx, keep, move, table_of, mechanism.tables)
    if n_x > sampling.PENDING or keep.shape[0] << by_keep.shift > MOST_SETTLED_ROWS:
        return by_keep
    by_cells = _by_cells(n_s, p_sx, keep, move, mechanism.destinations.toarray()[table_of])
    return min(by_cells, by_keep, key=lambda compiled: compiled.nanoseconds)


def _by_keep(n_s, p_sx, keep, move, table_of, tables):
    """Compile rows that keep x by a threshold of their own and share the mechanism's tables.

    A row that always keeps x has a table that holds x alone, because no threshold below 2^64 means "always".
    """
    n_x, n_tables = keep.shape[1], tables.indptr.size - 1
    shift = (n_x - 1).bit_length()
    indptr = np.concatenate([tables.indptr, tables.indptr[-1] + np.arange(1, n_x + 1)])
    y = np.concatenate([tables.y, np.arange(n_x, dtype=np.int32)])
    weight = alias.quantise(indptr, np.concatenate([tables.probability, np.ones(n_x)]))
    log2_cells = _log2_at_least(np.diff(indptr))
    first_cell, cells = alias.cells_of(indptr, y, weight, log2_cells)
    rows = alias.rows_of(keep, move, table_of, 1 << shift, first_cell, log2_cells, n_tables)
    keep_top, pending = _first_bits(rows["keep"], p_sx)
    return Compiled(n_s, n_x, shift, rows, cells, None, keep_top, None, pending)


def _first_bits(keep, p_sx):
    """Return (the first 16 bits of each threshold and one more entry, share of records that they leave pending)."""
    keep_top = np.append((keep >> np.uint64(48)).astype(np.uint16), np.uint16(0))
    kept = keep_top[:-1].reshape(len(p_sx), -1)[:, : p_sx.shape[1]]
    return keep_top, 1.0 - float((p_sx * kept).sum()) / 2.0**16


def _by_whole(mechanism):
    """Compile a mechanism in whole numbers, which uses S when sampling.

    A word stands for a whole number below n if it is below n units of floor((2^64 - 1) / n); other words are rejected.
    """
    (n_s, n_x), (keep, total, weight) = mechanism.joint.shape, mechanism.whole
    shift, (indptr, y, _) = (n_x - 1).bit_length(), mechanism.tables
    log2_cells = _log2_at_least(np.diff(indptr))
    first_cell = np.cumsum([0, *np.left_shift(1, log2_cells, dtype=np.int64)])
    table = np.repeat(np.arange(log2_cells.size), np.diff(first_cell))
    # Cells beyond the symbols of a table repeat its last symbol.
    entry = np.minimum(indptr[table] + np.arange(table.size) - first_cell[table], indptr[table + 1] - 1)
    ends = np.cumsum(weight.astype(np.uint64))  # may wrap around, which the differences undo
    before = np.append(np.uint64(0), ends)[indptr]
    cells = np.zeros(table.size, alias.CELL)
    cells["threshold"] = (ends[entry] - before[table]) * (MOST_WORDS // np.diff(before))[table]
    cells["own"] = cells["alias"] = y[entry]
    rows, limits = np.zeros((n_s, 1 << shift), alias.ROW), np.zeros((n_s, 1 << shift), np.uint64)
    limits[:, :n_x] = MOST_WORDS // total.astype(np.uint64)
    rows["keep"][:, :n_x] = keep.astype(np.uint64) * limits[:, :n_x]
    limits[:, :n_x] *= total.astype(np.uint64)
    rows["first_cell"][:, :n_x] = first_cell[mechanism.table_of]
    rows["log2_cells"][:, :n_x] = log2_cells[mechanism.table_of]
    keep_top, pending = _first_bits(rows["keep"].ravel(), mechanism.joint.p_sx)
    return Compiled(n_s, n_x, shift, rows.ravel(), cells, None, keep_top, limits.ravel(), pending)


def _by_cells(n_s, p_sx, keep, move, destinations):
    """Compile rows without a threshold, each with a table of 256 cells of its own."""
    n_x = keep.shape[1]
    shift = (n_x - 1).bit_length()
    possible = (destinations > 0.0) & (move > 0.0)[..., None]
    # the smallest double instead of an underflow, so that a possible value stays possible
    p = np.where(possible, np.maximum(destinations * move[..., None], 5e-324), 0.0)
    p[:, np.arange(n_x), np.arange(n_x)] += keep
    padded = np.pad(p, ((0, 0), (0, (1 << shift) - n_x), (0, 0)))
    padded[:, n_x:, 0] = 1.0
    by_row = padded.reshape(-1, n_x)
    (row, y), n_rows = np.nonzero(by_row), len(by_row)
    indptr, probability = np.searchsorted(row, np.arange(n_rows + 1)), by_row[row, y]
    log2_cells = np.full(n_rows, 8, np.uint8)
    first_cell, cells = alias.cells_of(indptr, y.astype(np.int32), alias.quantise(indptr, probability), log2_cells)
    rows = np.zeros(n_rows, alias.ROW)
    rows["first_cell"], rows["log2_cells"] = first_cell[:-1], log2_cells
    settled = np.where(cells["own"] == cells["alias"], cells["own"], sampling.PENDING).astype(np.uint8)
    left = (settled == sampling.PENDING).reshape(p.shape[0], -1, 256)[:, :n_x].mean(axis=2)
    return Compiled(n_s, n_x, shift, rows, cells, settled, None, None, float((p_sx * left).sum()))


def _log2_at_least(n):
    """Return the smallest k with 2^k >= n."""
    return np.frexp(np.maximum(n, 1) - 0.5)[1].astype(np.uint8)

"""Compiling a mechanism into the integers that `linred.sampling.sampler` draws from. Deterministic; O(nonzeros).

A row (s, x) becomes a `keep` out of 2^64 and a table of alias cells; see csrc/alias.h.
"""

from typing import NamedTuple

import numpy as np

from linred._kernels import alias, sampling

MOST_SETTLED_ROWS = 2**10
FIRST_STAGE_NS, PENDING_NS = {"cells": 1.0, "keep": 1.5}, 10.0
"""What a record and a pending record cost, about: the choice of a first stage is part of what a key yields, so it is
made by these and not by the machine at hand."""


class Compiled(NamedTuple):
    """The tables, as `sampling.Kernel` takes them; one of settled and keep_top is None."""

    n_s: int  # 0 where s is not seen: there is one row for each x then
    n_x: int
    shift: int
    rows: np.ndarray  # that of (s, x) at s << shift | x
    cells: np.ndarray
    settled: np.ndarray | None
    keep_top: np.ndarray | None
    pending: float  # the share of records that the first stage leaves, where they come from P(S, X)

    @property
    def nanoseconds(self):
        cost = FIRST_STAGE_NS["keep" if self.settled is None else "cells"] + PENDING_NS * self.pending
        return round(cost, 6)  # the last digits of a sum may be the machine's


def compile_tables(mechanism):
    """`Compiled`, with the first stage that leaves less to do."""
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
    """Rows that keep x by their own threshold and share the mechanism's tables.

    A row that keeps for certain has a table of its x alone, because no threshold below 2^64 is certain."""
    n_x, n_tables = keep.shape[1], tables.indptr.size - 1
    shift = (n_x - 1).bit_length()
    indptr = np.concatenate([tables.indptr, tables.indptr[-1] + np.arange(1, n_x + 1)])
    y = np.concatenate([tables.y, np.arange(n_x, dtype=np.int32)])
    weight = alias.quantise(indptr, np.concatenate([tables.probability, np.ones(n_x)]))
    log2_cells = _log2_at_least(np.diff(indptr))
    first_cell, cells = alias.cells_of(indptr, y, weight, log2_cells)
    rows = alias.rows_of(keep, move, table_of, 1 << shift, first_cell, log2_cells, n_tables)
    keep_top = np.append((rows["keep"] >> np.uint64(48)).astype(np.uint16), np.uint16(0))
    kept = keep_top[:-1].reshape(keep.shape[0], -1)[:, :n_x]
    return Compiled(n_s, n_x, shift, rows, cells, None, keep_top, 1.0 - float((p_sx * kept).sum()) / 2.0**16)


def _by_cells(n_s, p_sx, keep, move, destinations):
    """Rows that each have a table of 256 cells of their own, and keep nothing by a threshold."""
    n_x = keep.shape[1]
    shift = (n_x - 1).bit_length()
    possible = (destinations > 0.0) & (move > 0.0)[..., None]
    p = np.where(possible, np.maximum(destinations * move[..., None], 5e-324), 0.0)  # what is possible never underflows
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
    return Compiled(n_s, n_x, shift, rows, cells, settled, None, float((p_sx * left).sum()))


def _log2_at_least(n):
    """The least k with 2^k >= n."""
    return np.frexp(np.maximum(n, 1) - 0.5)[1].astype(np.uint8)

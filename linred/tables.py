"""Compiling a mechanism into the integers that `linred.sampler` draws from. Deterministic; O(nonzeros).

A row (s, x) becomes a `keep` out of 2^64 and a table of alias cells; see csrc/sampling.h and csrc/alias.h.
"""

from typing import NamedTuple

import numpy as np

from linred import _alias, _sampling

MOST_SETTLED_ROWS = 2**10
FIRST_STAGE_NS, PENDING_NS = {"cells": 1.0, "keep": 1.5}, 10.0
"""What a record and a pending record cost, about: the choice of a first stage is part of what a key yields, so it is
made by these and not by the machine at hand."""


class Rows(NamedTuple):
    """The mechanism's rows that the sampler tells apart: one for each (s, x), or for each x where s is not seen."""

    n_s: int  # 0 where s is not seen
    n_x: int
    p_sx: np.ndarray
    keep: np.ndarray
    move: np.ndarray
    table_of: np.ndarray

    @classmethod
    def of(cls, mechanism):
        n_s, n_x = mechanism.joint.shape
        parts = mechanism.keep, mechanism.move, mechanism.table_of
        if mechanism.sees_s:
            return cls(n_s, n_x, mechanism.joint.p_sx, *parts)
        return cls(0, n_x, mechanism.joint.p_x[None, :], *(part[:1] for part in parts))

    @property
    def shift(self):
        return (self.n_x - 1).bit_length()

    def padded(self, values, dtype):
        """`values`, one a row, at the places s << shift | x."""
        width = self.n_x if self.n_s == 0 else 1 << self.shift
        array = np.zeros((max(1, self.n_s), width), dtype)
        array[:, : self.n_x] = values
        return array.ravel()


class Compiled(NamedTuple):
    """The tables, as `_sampling.Kernel` takes them; one of settled and keep_top is None."""

    n_s: int
    n_x: int
    shift: int
    rows: np.ndarray
    cells: np.ndarray
    settled: np.ndarray | None
    keep_top: np.ndarray | None
    pending: float  # the share of records that the first stage leaves, where they come from P(S, X)

    @property
    def nanoseconds(self):
        return FIRST_STAGE_NS["keep" if self.settled is None else "cells"] + PENDING_NS * self.pending


def compile(mechanism):
    """`Compiled`, with the first stage that leaves less to do."""
    rows = Rows.of(mechanism)
    by_keep = _by_keep(rows, mechanism.tables)
    if rows.n_x > _sampling.PENDING or max(1, rows.n_s) << rows.shift > MOST_SETTLED_ROWS:
        return by_keep
    by_cells = _by_cells(rows, mechanism._destinations.toarray())
    return min(by_cells, by_keep, key=lambda compiled: compiled.nanoseconds)


def _by_keep(rows, tables):
    """Rows that keep x by their own threshold and share the mechanism's tables.

    A row that keeps for certain has the one-symbol table of its x, because no threshold below 2^64 is certain."""
    n_tables, n_x = tables.indptr.size - 1, rows.n_x
    indptr = np.concatenate([tables.indptr, tables.indptr[-1] + np.arange(1, n_x + 1)])
    y = np.concatenate([tables.y, np.arange(n_x, dtype=np.int32)])
    weight = _alias.quantise(indptr, np.concatenate([tables.probability, np.ones(n_x)]))
    log2_cells = _log2_cells(np.diff(indptr))
    first_cell, cells = _alias.cells_of(indptr, y, weight, log2_cells)
    keep = _keep_weights(rows.keep, rows.move)
    table = np.where(rows.move == 0.0, n_tables + np.arange(n_x), rows.table_of)
    compiled_rows = np.empty(keep.shape, _sampling.ROW)
    compiled_rows["keep"], compiled_rows["first_cell"] = keep, first_cell[table]
    compiled_rows["log2_cells"] = log2_cells[table]
    keep_top = np.append(rows.padded(keep >> np.uint64(48), np.uint16), np.uint16(0))
    pending = 1.0 - float((rows.p_sx * (keep >> np.uint64(48))).sum()) / 2.0**16
    padded = rows.padded(compiled_rows, _sampling.ROW)
    return Compiled(rows.n_s, n_x, rows.shift, padded, cells, None, keep_top, pending)


def _by_cells(rows, destinations):
    """Rows that each have a table of 256 cells of their own."""
    n_x = rows.n_x
    p = destinations[rows.table_of]
    possible = (p > 0.0) & (rows.move > 0.0)[..., None]
    p = np.where(possible, np.maximum(p * rows.move[..., None], 5e-324), 0.0)  # what is possible does not underflow
    p[:, np.arange(n_x), np.arange(n_x)] += rows.keep
    p = p.reshape(-1, n_x)
    row, y = np.nonzero(p)
    indptr = np.searchsorted(row, np.arange(p.shape[0] + 1))
    weight = _alias.quantise(indptr, p[row, y])
    first_cell, cells = _alias.cells_of(indptr, y.astype(np.int32), weight, np.full(p.shape[0], 8, np.uint8))
    compiled_rows = np.zeros(rows.keep.shape, _sampling.ROW)
    compiled_rows["first_cell"], compiled_rows["log2_cells"] = first_cell[:-1].reshape(rows.keep.shape), 8
    whole = np.where(cells["own"] == cells["alias"], cells["own"], _sampling.PENDING).astype(np.uint8)
    whole = whole.reshape(*rows.keep.shape, 256)
    pending = float((rows.p_sx * (whole == _sampling.PENDING).mean(axis=2)).sum())
    settled = rows.padded(whole.view("V256")[..., 0], "V256").view(np.uint8)
    padded = rows.padded(compiled_rows, _sampling.ROW)
    return Compiled(rows.n_s, n_x, rows.shift, padded, cells, settled, None, pending)


def _log2_cells(n_symbols):
    """The least k with 2^k >= n."""
    return np.frexp(np.maximum(n_symbols, 1) - 0.5)[1].astype(np.uint8)


def _keep_weights(keep, move):
    """keep out of 2^64, from whichever of keep and move is the smaller: 0 only for 0, and 2^64 - 1 stands for 1."""
    smaller = np.minimum(keep, move)
    weight = np.rint(np.ldexp(smaller, 64)).astype(np.uint64)
    weight[(weight == 0) & (smaller > 0.0)] = 1
    weight = np.where(keep <= move, weight, np.uint64(0) - weight)
    return np.where(move == 0.0, np.uint64(2**64 - 1), weight)

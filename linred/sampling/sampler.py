"""Samples records from a mechanism that is compiled into integer alias tables: `Sampler`.

Two 64-bit random words decide a record: x is kept if the first is below the `keep` of the record's row, otherwise the
second selects a symbol from the row's table. For most records, the first stage needs only a few leading bits:

    "cells"  for small alphabets: each row has a table of 256 cells instead of a threshold, and 8 bits select a cell;
    "keep"   for all others: 16 bits are compared with the first 16 bits of `keep`.

The second stage takes the remaining bits from a cipher block that belongs to the record. Tables in whole numbers reject
a few words, and the record then takes another block. See csrc/sampling.h.
"""

from __future__ import annotations

import copy
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from linred._common import validation
from linred._kernels import sampling
from linred.columns.record_ids import plain_ids
from linred.sampling import alias_tables, keystream
from linred.sampling.threads import block_size, run

if TYPE_CHECKING:
    from linred._common.types import Codes, Column, Context, Key
    from linred.distribution.joint import Joint
    from linred.privacy.target import Target
    from linred.sampling.exact_certificate import Certificate


class Sampler:
    """Samples Y for records (s, x) from integer tables; `mechanism.sampler()` returns one.

    Attributes
    ----------
    joint : the Joint that the mechanism was made for, to which the figures of `certificate()` apply.
    shape : (|S|, |X|).
    sees_s : whether the mechanism uses S when sampling; if not, `sample` needs no s_codes.
    target : the `Target` of the mechanism, beside which `certificate()` states what was reached; may be None.
    draws_unseen_from_p_y : whether pairs that the fit never saw are drawn from P_Y, and have no rows of their own.
    first_stage : "cells" or "keep"; see the module.
    nbytes : memory of the tables, O(|S||X| + nonzeros of the mechanism); at most 4.3 MB for 1,000 rows with "cells".

    Guarantee
    ---------
    The tables are a deterministic function of the mechanism. Their probabilities are whole numbers over 2^64, or over
    2^128 if keeping x and selecting y are two steps. For mechanisms in whole numbers (limits of 0), they are over two
    numbers below 2^63, of the row and of its table, and are sampled by rejection of 64-bit words. Probabilities 0 and 1
    are realised exactly, and no other probability becomes 0 or 1. Pairs with P(s,x) = 0 are drawn from P_Y, unless the
    mechanism was made with a given_x limit; if the mechanism does not use S, symbols with P(x) = 0 are. The draw for
    record i depends on (subkey, i, try, s_i, x_i) alone, not on threads, chunks or the machine; try counts the words
    that were rejected. No state is kept between calls.
    """

    joint: Joint
    shape: tuple[int, int]
    sees_s: bool
    target: Target | None
    draws_unseen_from_p_y: bool
    first_stage: str

    def __init__(self, mechanism: Any) -> None:
        validation.mechanism(mechanism)
        self.joint, self.shape, self.sees_s = mechanism.joint, mechanism.joint.shape, mechanism.sees_s
        self.target, self.draws_unseen_from_p_y = mechanism.target, mechanism.draws_unseen_from_p_y
        compiled = alias_tables.compile_tables(mechanism)
        self.first_stage = "keep" if compiled.settled is None else "cells"
        *parts, pending = compiled
        self.kernel = sampling.Kernel(*parts)
        self._block_records = block_size(pending)

    def sample(
        self,
        s_codes: Codes | None,
        x_codes: Codes,
        *,
        out: np.ndarray[Any, Any] | None = None,
        seed: int | None = None,
        key: Key | None = None,
        context: Context = b"",
        ids: Column | None = None,
        start: int | None = None,
        threads: int | None = None,
    ) -> np.ndarray[Any, Any]:
        """Return the codes of Y for codes of S and X, as an array of x_codes' dtype.

        Parameters
        ----------
        s_codes, x_codes : columns of integers, preferably uint8, uint16 or uint32
            Codes below |S| and |X|. If the mechanism does not use S, s_codes is ignored and may be None.
        out : array, optional
            The array to write to: contiguous, of x_codes' dtype and length. It may be x_codes itself.
        seed : int, optional
            Makes the draw repeatable but not private: anyone who guesses the seed can undo the draw.
        key : 32 bytes, optional
            Makes the draw repeatable, and private as long as the key is secret. Without key and seed, each call uses a
            fresh key. A key needs `ids`, `start` or `context` as well: alone, it would draw the same for every batch of
            a loop.
        context : bytes or str
            A name for the file, column or release. Under one key, two contexts share no randomness, but two columns
            with the same context do: whatever reveals the draws of one reveals those of the other.
        ids : column of integers or of text, or table of such columns, optional
            A name for each record, which replaces its number: a record gets the same answer in any position and in
            every release. Needs `key`. 5, "5" and b"5" are one id, "05" is another.
        start : int, optional
            The number of the first record, by default 0. A column sampled in parts, each with its own `start`, equals
            the column sampled at once.
        threads : int, optional
            Maximum number of threads, by default the number of cores.

        Guarantee
        ---------
        A code out of range raises a ValueError before anything is written to `out`. O(n_records); releases the GIL.
        """
        columns = self._columns(s_codes, x_codes, out)
        n_records = columns[1].size
        secret, context = keystream.secret(key, seed), keystream.context_bytes(context)
        keystream.check_key_use(key, ids, start, context)
        threads = None if threads is None else validation.whole_number("threads", threads, 1, None)
        if ids is None:
            start = validation.whole_number("start", 0 if start is None else start, 0, 2**64 - n_records)
            draw = _by_number(self.kernel, self.first_stage, secret, context, start)
        else:
            if key is None:
                raise ValueError("ids needs key: only calls with the same key give the same id the same answer")
            if start is not None and validation.whole_number("start", start, 0, None) > 0:
                raise ValueError(f"start = {start} and ids are both given: ids replace record numbers, leave start out")
            draw = _by_id(self.kernel, secret, context, plain_ids(ids, n_records))
        if out is not None:
            run(lambda block, _: self.kernel.check(block), columns, self._block_records, threads)
        run(draw, columns, self._block_records, threads)
        return columns[2]

    def certificate(self) -> Certificate:
        """Return the exact privacy figures of the sampling tables: see `exact_certificate`."""
        from linred.sampling import exact_certificate

        return exact_certificate.certificate(self)

    def with_target(self, target: Target | None) -> Sampler:
        """Return a sampler of the same tables whose certificate compares them with another target."""
        other = copy.copy(self)
        other.target = target
        return other

    @property
    def nbytes(self) -> int:
        """Memory of the tables."""
        kernel = self.kernel
        parts = (kernel.rows, kernel.cells, kernel.keep_top, kernel.settled)
        return sum(part.nbytes for part in parts if part is not None)

    def _columns(self, s_codes, x_codes, out):
        n_s, n_x = self.shape
        x_codes = validation.codes("x_codes", x_codes, 0)
        if n_x > 2 ** (8 * x_codes.itemsize - (x_codes.dtype.kind == "i")):
            raise ValueError(f"x_codes has dtype {x_codes.dtype}, which cannot hold the codes of {n_x} symbols")
        if s_codes is None and self.sees_s:
            raise ValueError("s_codes is None: this mechanism uses S when sampling, so it needs the codes of S")
        s_codes = validation.codes("s_codes", s_codes, n_s) if self.sees_s else None
        if s_codes is not None and s_codes.size != x_codes.size:
            raise ValueError(f"s_codes has {s_codes.size} records and x_codes {x_codes.size}")
        return s_codes, x_codes, _output(out, s_codes, x_codes)

    def __repr__(self) -> str:
        n_s, n_x = self.shape
        return f"<Sampler of {n_s} x {n_x} symbols, {self.nbytes:,} bytes, first stage: {self.first_stage}>"


def _output(out, s_codes, x_codes):
    if out is None:
        return np.empty_like(x_codes)
    if not isinstance(out, np.ndarray) or out.shape != x_codes.shape or out.dtype != x_codes.dtype:
        is_array = isinstance(out, np.ndarray)
        what = f"has shape {out.shape} and dtype {out.dtype}" if is_array else f"is a {validation.type_name(out)}"
        raise ValueError(f"out {what}, but must be an array of shape {x_codes.shape} and dtype {x_codes.dtype}")
    if not (out.flags.c_contiguous and out.flags.aligned and out.flags.writeable):
        raise ValueError("out is not contiguous, aligned and writeable")
    in_place = out.ctypes.data == x_codes.ctypes.data
    for name, codes in (("s_codes", s_codes), ("x_codes", None if in_place else x_codes)):
        if codes is not None and np.may_share_memory(out, codes):
            raise ValueError(f"out shares memory with {name}: pass another array, or x_codes itself")
    return out


def _by_number(kernel, first_stage, secret, context, start):
    """Return a function that draws a run of records addressed by their numbers, from `start` on."""
    word_bytes = 1 if first_stage == "cells" else 2
    first_key = keystream.subkey(secret, context, b"linred first")
    key_of = partial(keystream.subkey_of_try, secret, context, b"linred second")

    def draw(columns, buffers):
        first = start + columns.first
        zeros = buffers.zeros[: columns.n_records * word_bytes]
        keystream.words_into(first_key, first * word_bytes, zeros, buffers.words)
        counters = kernel.first_stage(columns, buffers.words, buffers.pending, first)
        counters_of = partial(buffers.pending.count, start=first)
        _second_stage(kernel, columns, buffers, buffers.words, counters, counters_of, key_of)

    return draw


def _by_id(kernel, secret, context, ids):
    """Return a function that draws a run of records addressed by their ids, without a first stage: a block each."""
    counters = keystream.id_counters(ids, secret, context)
    key_of = partial(keystream.subkey_of_try, secret, context, b"linred ids")

    def draw(columns, buffers):
        kernel.no_first_stage(columns, buffers.pending)
        of_run = counters[16 * columns.first : 16 * (columns.first + columns.n_records)]

        def counters_of(n):
            return of_run.reshape(-1, keystream.BLOCK_BYTES)[buffers.pending.positions[:n]].ravel()

        _second_stage(kernel, columns, buffers, None, of_run, counters_of, key_of)

    return draw


def _second_stage(kernel, columns, buffers, words, counters, counters_of, key_of):
    """Sample the pending records, each by the block of its counter, and again by another block while any are left.

    counters_of : function that returns the counters of the first n pending records.
    key_of : function that returns the key of a try, counted from 0. Each try of a record has an address of its own.
    """
    attempt, n_pending = 0, counters.size // keystream.BLOCK_BYTES
    while n_pending:
        keystream.blocks_into(key_of(attempt), counters, buffers.blocks)
        n_pending = kernel.second_stage(columns, words, buffers.pending, n_pending, buffers.blocks)
        attempt, words, counters = attempt + 1, None, counters_of(n_pending)

"""Sampler: a mechanism compiled into integer alias tables, and records drawn from them.

What is drawn is decided by two 64-bit words of a record: it is kept where the first is below the `keep` of its row,
otherwise the second picks from the row's table. Most records need only the first bits of one of them:

    "cells"  small alphabets: nothing is kept apart, each row has a table of 256 cells, and 8 bits pick one;
    "keep"   all others: 16 bits against the first 16 of `keep`.

The rest of the bits come from a block of the record's own. csrc/sampling.h has both stages.
"""

import numpy as np

from linred._common import validation
from linred._kernels import sampling
from linred.columns.record_ids import plain_ids
from linred.sampling import alias_tables, keystream
from linred.sampling.threads import block_size, run


class Sampler:
    """Draws Y for records (s, x) by integer tables: `mechanism.sampler()` makes it.

    Attributes
    ----------
    joint : Joint that the mechanism was made for; `certificate()` is about it.
    shape : (|S|, |X|).
    sees_s : whether draws depend on s; if not, `sample` needs no s_codes.
    first_stage : "cells" or "keep": see the module.
    nbytes : memory of the tables, O(|S||X| + nonzeros of the mechanism); up to 4.3 MB for 1,000 rows with "cells".

    Guarantee
    ---------
    Tables are a deterministic function of the mechanism: whole numbers over 2^64, or over 2^128 where keeping and
    drawing are two steps. A probability of 0 or 1 is realised as 0 or 1, any other as neither. Pairs with P(s,x) = 0
    are drawn from P_Y; where s is not seen, symbols with P(x) = 0. Record i is a function of (subkey, i, s_i, x_i)
    alone, whatever the threads, the chunks and the machine. No state is kept between calls.
    """

    def __init__(self, mechanism):
        validation.mechanism(mechanism)
        self.joint, self.shape, self.sees_s = mechanism.joint, mechanism.joint.shape, mechanism.sees_s
        compiled = alias_tables.compile_tables(mechanism)
        self.first_stage = "keep" if compiled.settled is None else "cells"
        *parts, pending = compiled
        self.kernel = sampling.Kernel(*parts)
        self._block_records = block_size(pending)

    def sample(
        self, s_codes, x_codes, *, out=None, seed=None, key=None, context=b"", ids=None, start=None, threads=None
    ):
        """Codes of Y for columns of codes of S and X, as an array of x_codes' dtype.

        Parameters
        ----------
        s_codes, x_codes : columns of integers, best uint8, uint16 or uint32
            Below |S| and |X|. s_codes may be None, and is not looked at, where the mechanism does not see s.
        out : array, optional
            Where to write: contiguous, of x_codes' dtype and length; x_codes itself may be given.
        seed : int, optional
            Repeatable, and not private: who guesses the seed can undo the draw.
        key : 32 bytes, optional
            Repeatable and private as long as the key is secret. Without key and seed, each call has a fresh one. A key
            needs `ids`, `start` or `context` beside it: alone it would draw the same for every batch of a loop.
        context : bytes or str
            Which file, column or release this is: two contexts share no randomness under one key. Two columns under one
            key and one context do: what one of them gives away is known of the other.
        ids : column of integers or of text, or table of such columns, optional
            Each record's own name, in place of its number: the same record gets the same answer wherever it
            stands and however often it is released. Needs `key`. 5, "5" and b"5" are one name, "05" is another.
        start : int, optional
            The number of the first record, 0 by default: a column drawn in parts is the same as drawn at once.
        threads : int, optional
            At most so many; all cores otherwise.

        Guarantee
        ---------
        A code out of range is a ValueError, and `out` is then as it was. O(n_records), the GIL released.
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
                raise ValueError("ids needs key: without a secret of its own, the same id has no same answer")
            if start is not None and validation.whole_number("start", start, 0, None) > 0:
                raise ValueError(f"start = {start} is given with ids, which take the place of record numbers")
            draw = _by_id(self.kernel, secret, context, plain_ids(ids, n_records))
        if out is not None:
            run(lambda block, _: self.kernel.check(block), columns, self._block_records, threads)
        run(draw, columns, self._block_records, threads)
        return columns[2]

    def certificate(self):
        """Exact privacy figures of what is drawn, from the tables' integers: see `exact_certificate`."""
        from linred.sampling import exact_certificate

        return exact_certificate.certificate(self)

    @property
    def nbytes(self):
        kernel = self.kernel
        first = kernel.keep_top if kernel.settled is None else kernel.settled
        return kernel.rows.nbytes + kernel.cells.nbytes + first.nbytes

    def _columns(self, s_codes, x_codes, out):
        n_s, n_x = self.shape
        x_codes = validation.codes("x_codes", x_codes, 0)
        if n_x > 2 ** (8 * x_codes.itemsize - (x_codes.dtype.kind == "i")):
            raise ValueError(f"x_codes has dtype {x_codes.dtype}, which has no room for {n_x} symbols")
        if s_codes is None and self.sees_s:
            raise ValueError("s_codes is None: this mechanism draws by s")
        s_codes = validation.codes("s_codes", s_codes, n_s) if self.sees_s else None
        if s_codes is not None and s_codes.size != x_codes.size:
            raise ValueError(f"s_codes has {s_codes.size} records and x_codes {x_codes.size}")
        return s_codes, x_codes, _output(out, s_codes, x_codes)

    def __repr__(self):
        n_s, n_x = self.shape
        return f"<Sampler of {n_s} x {n_x} symbols, {self.nbytes:,} bytes, first stage: {self.first_stage}>"


def _output(out, s_codes, x_codes):
    if out is None:
        return np.empty_like(x_codes)
    if not isinstance(out, np.ndarray) or out.shape != x_codes.shape or out.dtype != x_codes.dtype:
        what = f"shape {out.shape} and dtype {out.dtype}" if isinstance(out, np.ndarray) else type(out).__name__
        raise ValueError(f"out has {what}; x_codes have shape {x_codes.shape} and dtype {x_codes.dtype}")
    if not (out.flags.c_contiguous and out.flags.aligned and out.flags.writeable):
        raise ValueError("out is not contiguous, aligned and writeable")
    in_place = out.ctypes.data == x_codes.ctypes.data
    for name, codes in (("s_codes", s_codes), ("x_codes", None if in_place else x_codes)):
        if codes is not None and np.may_share_memory(out, codes):
            raise ValueError(f"out shares memory with {name}, and is not x_codes itself")
    return out


def _by_number(kernel, first_stage, secret, context, start):
    """A function that draws a run of records by their numbers, from `start` on."""
    word_bytes = 1 if first_stage == "cells" else 2
    first_key = keystream.subkey(secret, context, b"linred first")
    second_key = keystream.subkey(secret, context, b"linred second")

    def draw(columns, buffers):
        first = start + columns.first
        zeros = buffers.zeros[: columns.n_records * word_bytes]
        keystream.words_into(first_key, first * word_bytes, zeros, buffers.words)
        counters = kernel.first_stage(columns, buffers.words, buffers.pending, first)
        if counters.size:
            keystream.blocks_into(second_key, counters, buffers.blocks)
            n_pending = counters.size // keystream.BLOCK_BYTES
            kernel.second_stage(columns, buffers.words, buffers.pending, n_pending, buffers.blocks)

    return draw


def _by_id(kernel, secret, context, ids):
    """A function that draws a run of records by their ids; there is no first stage, each has one block."""
    counters, key = keystream.id_counters(ids, secret, context), keystream.subkey(secret, context, b"linred ids")

    def draw(columns, buffers):
        kernel.no_first_stage(columns, buffers.pending)
        of_run = counters[16 * columns.first : 16 * (columns.first + columns.n_records)]
        keystream.blocks_into(key, of_run, buffers.blocks)
        kernel.second_stage(columns, None, buffers.pending, columns.n_records, buffers.blocks)

    return draw

"""Samples in blocks of records, on several threads if the input is large, and reuses buffers between calls."""

import os
import threading
from collections import deque
from contextlib import contextmanager
from functools import partial

import numpy as np

from linred._kernels import sampling
from linred.sampling import keystream

BLOCK_RECORDS, MOSTLY_SETTLED = 2**20, 0.05
"""Records per block. Large blocks let a thread run for long between acquisitions of the GIL. If the first stage leaves
more than a share MOSTLY_SETTLED of the records pending, blocks are a quarter of this, so that they fit in the cache."""
FEWEST_RECORDS_A_THREAD = 2**18
MOST_SPARE_RECORDS = 2**18
_spare = threading.local()


class Buffers:
    """Buffers of one thread, for blocks of at most `n_records` records."""

    def __init__(self, n_records):
        self.n_records = n_records
        self.zeros = memoryview(bytes(2 * n_records))
        self.words = np.empty(2 * n_records + keystream.BLOCK_BYTES, np.uint8)
        self.blocks = np.empty(keystream.BLOCK_BYTES * (n_records + 1), np.uint8)
        self.pending = sampling.Pending(n_records)


@contextmanager
def _buffers(n_records):
    """Lend the spare buffers of this thread if they are large enough, otherwise new ones.

    Allocating memory for every batch would take longer than sampling it. Old content is overwritten before it is read.
    """
    buffers = _spare.__dict__.pop("buffers", None)
    if buffers is None or buffers.n_records < n_records:
        buffers = Buffers(n_records)
    yield buffers
    if buffers.n_records <= MOST_SPARE_RECORDS:
        _spare.buffers = buffers


def block_size(pending):
    """Number of records in a block; `pending` is the share of records that the first stage leaves to the second."""
    return BLOCK_RECORDS if pending <= MOSTLY_SETTLED else BLOCK_RECORDS // 4


def run(draw, columns, block_records, threads):
    """Call draw(block, buffers) for every block of records, on up to `threads` threads including this one.

    Small inputs run on this thread alone. If blocks fail, the error of the lowest-numbered failed block is raised.
    """
    n_records = columns[1].size
    if n_records <= min(block_records, FEWEST_RECORDS_A_THREAD):
        if n_records:
            with _buffers(n_records) as buffers:
                draw(sampling.Columns(*columns), buffers)
        return
    threads = min(threads or os.cpu_count() or 1, max(1, n_records // FEWEST_RECORDS_A_THREAD))
    block_records = min(block_records, -(-n_records // threads))
    starts, errors = deque(range(0, n_records, block_records)), {}
    work = partial(_work, draw, columns, block_records, starts, errors)
    others = []
    try:
        for _ in range(threads - 1):
            others.append(threading.Thread(target=work))
            others[-1].start()
        work()
    except BaseException as error:
        errors.setdefault(n_records, error)
    for thread in others:
        if thread.ident is not None:
            thread.join()
    if errors:
        raise errors[min(errors)]


def _work(draw, columns, block_records, starts, errors):
    """Draw blocks until none is left, or one has an error."""
    buffers = Buffers(block_records)
    while starts and not errors:
        try:
            first = starts.popleft()
        except IndexError:  # another thread took the last one
            return
        block = slice(first, first + block_records)
        try:
            draw(sampling.Columns(*(None if part is None else part[block] for part in columns), first), buffers)
        except BaseException as error:
            errors[first] = error

"""Records drawn block by block, on several threads where there are enough, with buffers that a thread keeps."""

import os
import threading
from collections import deque
from contextlib import contextmanager
from functools import partial

import numpy as np

from linred._kernels import sampling
from linred.sampling import keystream

BLOCK_RECORDS, MOSTLY_SETTLED = 2**20, 0.05
"""Records that a thread draws at once: many, because it then waits for the interpreter a few times; a quarter of that
where so many are pending that their blocks would not stay in a cache."""
FEWEST_RECORDS_A_THREAD = 2**18
MOST_SPARE_RECORDS = 2**18
_spare = threading.local()


class Buffers:
    """One thread's buffers, for up to so many records."""

    def __init__(self, n_records):
        self.n_records = n_records
        self.zeros = memoryview(bytes(2 * n_records))
        self.words = np.empty(2 * n_records + keystream.BLOCK_BYTES, np.uint8)
        self.blocks = np.empty(keystream.BLOCK_BYTES * (n_records + 1), np.uint8)
        self.pending = sampling.Pending(n_records)


@contextmanager
def _buffers(n_records):
    """`Buffers`, those of this thread's last call where they are large enough: to get memory anew from the system for
    every batch of a file takes longer than to draw it. What is left in them is overwritten before it is read."""
    buffers = _spare.__dict__.pop("buffers", None)
    if buffers is None or buffers.n_records < n_records:
        buffers = Buffers(n_records)
    yield buffers
    if buffers.n_records <= MOST_SPARE_RECORDS:
        _spare.buffers = buffers


def block_size(pending):
    """How many records a thread draws at once, where the first stage leaves this share of them."""
    return BLOCK_RECORDS if pending <= MOSTLY_SETTLED else BLOCK_RECORDS // 4


def run(draw, columns, block_records, threads):
    """Call draw(block, buffers) for all records: a block at a time, on several threads where there are enough; this
    thread is one of them. The error of the first block that has one is raised."""
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
            return

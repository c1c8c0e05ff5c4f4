"""Finds ids that different records share, a sign of a wrong id column."""

import threading

import numpy as np

SLOTS = 2**20
"""Ids that are remembered: a fixed memory of 18 MB, however many records there are."""


class RepeatedIds:
    """Counts the ids that occur with different values of S or X, over any number of batches and threads.

    Each id has one slot of a hash table, which belongs to the first id that needs it, so at most SLOTS ids are checked
    and the count is a lower bound.
    """

    def __init__(self):
        self._lock = threading.Lock()
        self._owner = np.zeros(SLOTS, np.int64)
        self._symbol = np.zeros(SLOTS, np.int64)  # 0 for a free slot
        self._differs = np.zeros(SLOTS, bool)

    def add(self, ids, x_codes, s_codes=None):
        """Add the records of a batch. ids: an array of integers, or a list of hashable values."""
        if not len(ids):
            return
        if not isinstance(ids, np.ndarray):
            hashes = (-1 if one == -1 else hash(one) for one in ids)  # because hash(-1) is hash(-2)
            ids = np.fromiter(hashes, np.int64, len(ids))
        ids, symbols = ids.astype(np.int64, copy=False), x_codes.astype(np.int64) + 1
        if s_codes is not None:
            symbols += s_codes.astype(np.int64) << 32
        slots = (ids.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(64 - SLOTS.bit_length() + 1)
        with self._lock:
            free = self._symbol[slots] == 0
            self._owner[slots[free]], self._symbol[slots[free]] = ids[free], symbols[free]
            self._differs[slots[(self._owner[slots] == ids) & (self._symbol[slots] != symbols)]] = True

    def warning(self, argument):
        """Return the text of a warning about the ids of an argument or option, or None if no ids differ."""
        n_ids = int(np.count_nonzero(self._differs))
        if not n_ids:
            return None
        which = "at least 1 id occurs" if n_ids == 1 else f"at least {n_ids:,} ids occur"
        return (
            f"{argument}: {which} with different values of the sensitive or public columns. Records with one id share "
            "their random numbers, so their released values are not independent: choose an id that names one record"
        )

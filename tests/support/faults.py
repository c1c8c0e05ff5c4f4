"""Faults planted in the integers of a sampler, which tests must find."""

import pickle

import numpy as np


def faulty(mechanism, change):
    """Return a sampler whose tables were changed before use."""
    sampler = pickle.loads(pickle.dumps(mechanism.sampler()))
    constructor, (*sizes, rows, cells, settled, keep_top, limits) = sampler.kernel.__reduce__()
    rows, cells = rows.copy(), cells.copy()
    settled = None if settled is None else settled.copy()
    keep_top = None if keep_top is None else keep_top.copy()
    change(rows, cells, settled, keep_top)
    sampler.kernel = constructor(*sizes, rows, cells, settled, keep_top, limits)
    return sampler


def swap_an_alias(rows, cells, settled, keep_top):
    """Swap the symbols of the cell whose threshold is farthest from one half, where it matters most."""
    off_half = np.abs(cells["threshold"].astype(float) - 2.0**63) * (cells["own"] != cells["alias"])
    cell = cells[off_half.argmax()]
    cell["own"], cell["alias"] = cell["alias"], cell["own"]

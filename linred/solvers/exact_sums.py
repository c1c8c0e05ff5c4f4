"""Tables of probabilities whose sums along both ways must be right: made so with the least that it takes."""

import numpy as np

MOST_PASSES = 200
CLOSE = 2.0**-46
"""Sums of probabilities that differ from one by less are right."""


def with_exact_sums(rows, weights, p_y):
    """`rows` of probabilities with sums of one and with weights @ rows = p_y, from some that are nearly so.

    What a symbol has too much of moves on to those that have too little, by one channel for all rows: none becomes
    negative, and what rows have in common stays in common.
    """
    rows = rows / rows.sum(axis=1, keepdims=True)
    there = weights @ rows
    short = np.maximum(p_y - there, 0.0)
    if not short.any():
        return rows
    keep = np.divide(p_y, there, out=np.ones_like(there), where=there > p_y)
    return rows * keep + (rows @ (1.0 - keep))[:, None] * (short / short.sum())


def with_both_means(q, low, high, p_s, p_x):
    """q within [low, high] whose means are one along x and along s, or nearly.

    What is missing along a row, or too much, is spread over the room of its cells; then along columns; and so on.
    """
    for _ in range(MOST_PASSES):
        missing = 1.0 - q @ p_x
        if np.abs(missing).max() <= CLOSE:
            break
        q = q + _filled(missing, (high - q) @ p_x)[:, None] * (high - q)
        q = q - _filled(-missing, (q - low) @ p_x)[:, None] * (q - low)
        missing = 1.0 - p_s @ q
        q = q + _filled(missing, p_s @ (high - q)) * (high - q)
        q = q - _filled(-missing, p_s @ (q - low)) * (q - low)
    return q


def _filled(missing, room):
    """The share of the room that what is missing takes."""
    share = np.divide(missing, room, out=np.zeros_like(room), where=(missing > 0.0) & (room > 0.0))
    return np.minimum(share, 1.0)

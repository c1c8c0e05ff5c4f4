"""Balancing: small corrections that give a table of probabilities exact sums along rows and columns."""

import numpy as np

MOST_PASSES = 200
CLOSE = 2.0**-46
"""Tolerance on sums of probabilities."""


def with_exact_sums(rows, weights, p_y):
    """Return rows that sum to one, with weights @ rows = p_y, from `rows` that nearly satisfy both.

    The excess of a symbol moves to the symbols with a deficit, by the same transition matrix for every row. No entry
    becomes negative, and mass that rows share stays shared.
    """
    rows = rows / rows.sum(axis=1, keepdims=True)
    marginal = weights @ rows
    deficit = np.maximum(p_y - marginal, 0.0)
    if not deficit.any():
        return rows
    keep = np.divide(p_y, marginal, out=np.ones_like(marginal), where=marginal > p_y)
    return rows * keep + (rows @ (1.0 - keep))[:, None] * (deficit / deficit.sum())


def with_both_means(q, low, high, p_s, p_x):
    """Return q within [low, high] whose means over x and over s are one, to within CLOSE if it converges.

    The error of each row's mean is spread over the cells of the row in proportion to their slack, then that of each
    column's mean over the cells of the column, in turn.
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


def _filled(missing, slack):
    """Return the share of the slack that the missing mass uses, between 0 and 1."""
    share = np.divide(missing, slack, out=np.zeros_like(slack), where=(missing > 0.0) & (slack > 0.0))
    return np.minimum(share, 1.0)

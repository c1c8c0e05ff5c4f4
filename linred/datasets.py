"""Data for examples: Example 1 of the paper."""

from __future__ import annotations

from linred.distribution.joint import Joint


def example_1() -> Joint:
    """Return the Joint of the paper's Example 1: two sensitive groups, four public symbols."""
    return Joint.from_conditional(
        [[0.2, 0.1, 0.5, 0.2], [0.5, 0.3, 0.1, 0.1]], [0.3, 0.7], s_labels=[1, 2], x_labels=["a", "b", "c", "d"]
    )

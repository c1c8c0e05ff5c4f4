"""`Prefetch`: all items in order, errors where they happen, and a thread that ends."""

import itertools
import threading

import pytest

from linred.io.prefetch import READER, Prefetch


def readers():
    return [thread for thread in threading.enumerate() if thread.name == READER]


def test_all_items_come_in_order():
    with Prefetch(iter(range(1, 1000))) as items:
        assert list(items) == list(range(1, 1000))
    assert readers() == []


def test_an_error_comes_after_the_items_before_it():
    def failing():
        yield from (1, 2, 3)
        raise KeyError("read")

    with Prefetch(failing()) as items:
        one_by_one = iter(items)
        assert [next(one_by_one) for _ in range(3)] == [1, 2, 3]
        with pytest.raises(KeyError, match="read"):
            next(one_by_one)


def test_whoever_leaves_early_leaves_no_thread():
    made = itertools.count(1)
    with Prefetch(made, depth=2) as items:
        assert next(iter(items)) == 1
    assert readers() == []
    assert next(made) < 20, "no more than a little ahead"

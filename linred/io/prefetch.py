"""Reads ahead in a thread."""

import queue
import threading

READER = "linred reader"


class Prefetch:
    """Iterates over items that a thread of its own takes from another iterator, up to `depth` items ahead."""

    def __init__(self, items, depth=4):
        self._items, self._queue, self._stopped = items, queue.Queue(depth), threading.Event()
        self._thread = threading.Thread(target=self._work, name=READER, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stopped.set()
        for _ in range(100):  # a thread that waits for a pipe may never end, and is left behind
            while not self._queue.empty():
                self._queue.get()
            self._thread.join(0.01)
            if not self._thread.is_alive():
                break

    def _work(self):
        try:
            for item in self._items:
                if self._stopped.is_set():
                    return
                self._queue.put((item, None))
            self._queue.put((None, None))
        except BaseException as error:
            self._queue.put((None, error))

    def _next(self):
        item, error = self._queue.get()
        if error is not None:
            raise error
        return item

    def __iter__(self):
        return iter(self._next, None)

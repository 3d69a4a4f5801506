"""Threads that do what they are given: started when there is work for them, and never waited for at the end."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable

Work = Callable[[], None]


class WorkerThreads:
    """Up to so many threads. They are daemons, so that a sink that hangs does not keep the process alive."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._work: queue.SimpleQueue[Work] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._free = 0

    def submit(self, work: Work) -> None:
        """Have it done by a thread that is free, or by a new one, or by the first that will be free."""
        with self._lock:
            if self._free > 0:
                self._free -= 1
            elif self._threads < self._most:
                self._threads += 1
                threading.Thread(target=self._serve, name=f"postroom-delivery-{self._threads}", daemon=True).start()
            else:
                self._free -= 1
        self._work.put(work)

    def _serve(self) -> None:
        while True:
            self._work.get()()
            with self._lock:
                self._free += 1

"""Outages of a source: said once in the log when one begins, and once when it is over."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Lock

log = logging.getLogger(__name__)


class Outage:
    """Whether a source is away at present; told from any thread, by whoever notices it first."""

    def __init__(
        self, source: str, told: Callable[[bool], None] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._source = source
        self._told = told
        self._clock = clock
        self._since: float | None = None
        self._lock = Lock()

    @property
    def is_on(self) -> bool:
        """Whether the source is away."""
        return self._since is not None

    def begin(self, reason: str) -> None:
        """The source does not answer; said unless it was said already."""
        with self._lock:
            if self._since is not None:
                return
            self._since = self._clock()
        log.warning("%s is away, and waited for: %s", self._source, reason)
        if self._told is not None:
            self._told(True)

    def end(self) -> None:
        """The source answers; said if it was away."""
        with self._lock:
            if self._since is None:
                return
            lasted, self._since = self._clock() - self._since, None
        log.warning("%s is back after %.0f s", self._source, lasted)
        if self._told is not None:
            self._told(False)

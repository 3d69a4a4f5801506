"""What access keeps now and then instead of with every request."""

from __future__ import annotations

import threading

from postroom.access.authentication import Authenticator

FLUSH_SECONDS = 300.0


class AccessUpkeep:
    """A thread of each server process; what is still to be kept when it stops is kept then."""

    def __init__(self, authenticator: Authenticator) -> None:
        self._authenticator = authenticator
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="access", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, and keep what is left."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        is_over = False
        while not is_over:
            is_over = self._stopping.wait(FLUSH_SECONDS)
            self._authenticator.flush_uses()

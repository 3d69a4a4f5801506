"""What access keeps now and then instead of with every request."""

from __future__ import annotations

import logging
import threading
import time

from postroom.access.audit import AuditJournal, forget_audit
from postroom.access.authentication import Authenticator
from postroom.access.sessions import forget_sessions
from postroom.registry.problems import RegistryProblem
from postroom.settings import Settings
from postroom.store.interface import Store

LOG = logging.getLogger(__name__)
AUDIT_SECONDS = 10.0
USES_SECONDS = 300.0
FORGET_SECONDS = 3600.0


class AccessUpkeep:
    """A thread of each server process; what is still to be kept when it stops is kept then.

    A commit makes all answers be rendered anew, so what can wait is kept seldom.
    """

    def __init__(self, store: Store, authenticator: Authenticator, journal: AuditJournal, settings: Settings) -> None:
        self._store = store
        self._authenticator = authenticator
        self._journal = journal
        self._days = settings.audit_kept_days
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="access", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, and keep what is left."""
        self._stopping.set()
        self._thread.join()
        self._authenticator.flush_uses()
        self._journal.flush(self._store)

    def _run(self) -> None:
        next_uses, next_forget = time.monotonic() + USES_SECONDS, time.monotonic()
        while not self._stopping.wait(AUDIT_SECONDS):
            self._journal.flush(self._store)
            if time.monotonic() >= next_uses:
                next_uses = time.monotonic() + USES_SECONDS
                self._authenticator.flush_uses()
            if time.monotonic() >= next_forget:
                next_forget = time.monotonic() + FORGET_SECONDS
                self._forget()

    def _forget(self) -> None:
        try:
            forget_audit(self._store, self._days)
            forget_sessions(self._store)
        except RegistryProblem as problem:
            LOG.warning("old records of the audit, and sessions, cannot be removed at present: %s", problem)

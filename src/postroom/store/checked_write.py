"""Writing with the checks of documents done before the write lock is taken."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from postroom.registry.transaction import Transaction
from postroom.registry.write.deferred_checks import DeferredChecks
from postroom.store.interface import Store

ATTEMPTS = 5
T = TypeVar("T")


def write_checked(store: Store, work: Callable[[Transaction], T]) -> T:
    """Do some work in a write transaction; it is repeated as long as documents in it wait for a check.

    The checks themselves run while nobody holds the lock. The last attempt no longer waits: others may change what the
    documents refer to, again and again.
    """
    checks = DeferredChecks()
    for attempt in range(ATTEMPTS):
        checks.waits = attempt < ATTEMPTS - 1
        try:
            with store.write(checks) as tx:
                done = work(tx)
                checks.require_answers()
                return done
        except Exception:
            # What went wrong may rest on a document that is.
            if not checks.is_open:
                raise
        checks.answer(store.read)
    raise AssertionError("the last attempt left a question open")

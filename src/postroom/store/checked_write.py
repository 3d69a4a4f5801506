"""Write transactions whose documents are checked while nobody holds the write lock."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.deferred_checks import DeferredChecks
from postroom.store.interface import Store

ATTEMPTS = 5
_CHECKING = threading.BoundedSemaphore(4)
"""Checks compute; more of them at a time are done no sooner, and keep everybody else from the interpreter."""
T = TypeVar("T")


def write_checked(store: Store, work: Callable[[Transaction], T], *, is_small: bool = False) -> T:
    """Do some work in a write transaction, and repeat it as long as documents in it have not been checked.

    The checks themselves run between the attempts, without the lock. The last attempt checks inside the transaction:
    others may change what the documents refer to, again and again.
    """
    checks = DeferredChecks()
    for attempt in range(ATTEMPTS):
        checks.waits = attempt < ATTEMPTS - 1
        try:
            with store.write(checks, is_small=is_small) as tx:
                done = work(tx)
                checks.require_answers()
                return done
        except Exception:
            # The error may follow from a document that has not been checked yet.
            if not checks.is_open:
                raise
        with _CHECKING:
            checks.answer(store.read)
    raise AssertionError("the last attempt left a question open")

"""A store whose transactions are timed, and traced where somebody wants that."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from types import TracebackType
from typing import Protocol, Self

from postroom.registry.permissions import Permissions
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.deferred_checks import DeferredChecks
from postroom.store.interface import Claim, Store, StoredResource


class TransactionObserver(Protocol):
    """Whoever is told how long transactions took."""

    def observe_transaction(self, operation: str, outcome: str, begin_s: float, seconds: float) -> None:
        """A transaction has ended: `done`, `refused` or `failed`; `begin_s` is how long it took to begin."""


class MeasuredStore:
    """Another store, timed. What a principal sees of it is timed as well."""

    def __init__(self, store: Store, *observers: TransactionObserver, base: Store | None = None) -> None:
        self._store = store
        self._observers = observers
        self._base = base

    @property
    def permissions(self) -> Permissions:
        """What transactions are restricted to."""
        return self._store.permissions

    @property
    def base(self) -> Store:
        """The store without restrictions."""
        return self._base or self

    def seen_by(self, permissions: Permissions) -> Store:
        """The store as a principal sees it."""
        inner = self._store.seen_by(permissions)
        return self if inner is self._store else MeasuredStore(inner, *self._observers, base=self.base)

    def read(self) -> AbstractContextManager[Transaction]:
        """A timed transaction that changes nothing."""
        return self._timed("read", self._store.read())

    def write(
        self, checks: DeferredChecks | None = None, *, is_small: bool = False
    ) -> AbstractContextManager[Transaction]:
        """A timed transaction that is committed when the block ends well."""
        return self._timed("write", self._store.write(checks, is_small=is_small))

    @contextmanager
    def _timed(self, operation: str, transaction: AbstractContextManager[Transaction]) -> Iterator[Transaction]:
        outcome, begin, begun = "failed", time.perf_counter(), 0.0
        try:
            with transaction as tx:
                begun = time.perf_counter()
                yield tx
            outcome = "done"
        except RegistryProblem:
            outcome = "refused"
            raise
        finally:
            end = time.perf_counter()
            for observer in self._observers:
                observer.observe_transaction(operation, outcome, (begun or end) - begin, end - begin)

    def resource_at_once(self, xid: str) -> StoredResource | None:
        """A Resource that is read without waiting, and without a transaction that would be timed."""
        return self._store.resource_at_once(xid)

    def watch(self) -> AbstractContextManager[Transaction]:
        """A short transaction, which is not timed: it is not what a request asks for."""
        return self._store.watch()

    def version(self) -> int:
        """A number that changes whenever committed data changes."""
        return self._store.version()

    def trouble(self, least_free: int) -> str:
        """Why nothing can be stored at present."""
        return self._store.trouble(least_free)

    def claim(self, name: str) -> Claim | None:
        """A lock among all processes on this store."""
        return self._store.claim(name)

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def __enter__(self) -> Self:
        """The store itself."""
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the store."""
        self.close()

"""Interface of a store: read and write transactions, and a number that tells whether data changed."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType
from typing import Protocol, Self

import msgspec

from postroom.registry.entities import Entity
from postroom.registry.permissions import Permissions
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.deferred_checks import DeferredChecks


class Claim(Protocol):
    """The right to do something that only one process may do, until it is closed."""

    def holds(self) -> bool:
        """Whether it is still ours; when not, another process may have it."""

    def close(self) -> None:
        """Let others have it."""


class StoredResource(msgspec.Struct, frozen=True):
    """A Resource as one statement read it."""

    meta: Entity
    default: Entity
    """The default Version, without its document."""
    versions: int
    sequence: int
    """That of the newest row of the change log."""


class Store(Protocol):
    """Storage of a registry. Methods may be called from any thread."""

    @property
    def permissions(self) -> Permissions:
        """What transactions are restricted to."""

    @property
    def base(self) -> Store:
        """The store without restrictions."""

    def seen_by(self, permissions: Permissions) -> Store:
        """The store as a principal sees it; whatever its permissions are here, these count."""

    def read(self) -> AbstractContextManager[Transaction]:
        """A transaction that sees one state and changes nothing."""

    def write(
        self, checks: DeferredChecks | None = None, *, is_small: bool = False
    ) -> AbstractContextManager[Transaction]:
        """A transaction that is committed when the block ends well, and leaves nothing behind when it does not.

        With `checks`, documents are checked later: see `checked_write`. One that `is_small` may be committed together
        with others that wait; what is not takes longer than they should wait for.
        """

    def resource_at_once(self, xid: str) -> StoredResource | None:
        """A Resource that holds data of its own, read without waiting for anybody; None where it has to be looked for
        in a transaction.
        """

    def watch(self) -> AbstractContextManager[Transaction]:
        """A short transaction that changes nothing, on a connection that nobody else holds for long."""

    def version(self) -> int:
        """A number that changes whenever committed data changes."""

    def trouble(self, least_free: int) -> str:
        """Why nothing can be stored at present: fewer free bytes than that, or a write that failed; else empty."""

    def claim(self, name: str) -> Claim | None:
        """A lock among all processes on this store, for one task; None when another process holds it.

        It is held until it is closed, the process ends, or the database is lost.
        """

    def close(self) -> None:
        """Close files and connections."""

    def __hash__(self) -> int:
        """Stores are compared by identity."""

    def __enter__(self) -> Self:
        """The store itself."""

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the store."""

"""What every store offers: transactions for reading and for writing, and a cheap sign that something changed."""

from __future__ import annotations

from contextlib import AbstractContextManager
from types import TracebackType
from typing import Protocol, Self

from postroom.registry.transaction import Transaction
from postroom.registry.write.deferred_checks import DeferredChecks


class Store(Protocol):
    """Where a registry lives. Methods may be called from any thread."""

    def read(self) -> AbstractContextManager[Transaction]:
        """A transaction that sees one state and changes nothing."""

    def write(self, checks: DeferredChecks | None = None) -> AbstractContextManager[Transaction]:
        """A transaction that is committed when the block ends well, and leaves nothing behind when it does not.

        With `checks`, documents are checked later: see `checked_write`.
        """

    def version(self) -> int:
        """A number that changes whenever committed data changes."""

    def trouble(self, least_free: int) -> str:
        """Why nothing can be stored at present, in a sentence: less room than so many bytes, or a write that failed.

        Empty when all is well.
        """

    def claim(self, name: str) -> AbstractContextManager[object] | None:
        """The right to be the only one, among all processes on this store, that does something; None when it is taken.

        It is held from now until its block ends, or the process does, however that comes.
        """

    def close(self) -> None:
        """Give back files and connections."""

    def __hash__(self) -> int:
        """Stores are told apart by identity."""

    def __enter__(self) -> Self:
        """The store itself."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the store."""

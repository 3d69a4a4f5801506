"""What a lake needs of the place where it lies. Paths are relative to that place, with `/` between their parts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    import pyarrow as pa

Item = TypeVar("Item")
Result = TypeVar("Result")


class StoredFile(NamedTuple):
    """A file, its size, and when it was written by the clock of the storage."""

    path: str
    size: int
    modified: float


class LeaseTaken(Exception):
    """A living process holds the lease."""


class SeenLease(NamedTuple):
    """A lease as somebody found it: what its holder wrote into it, how old that is, and whether somebody holds it.

    `tag` tells this state of it from all others.
    """

    state: bytes
    age_s: float
    is_held: bool
    tag: Any = None


class HeldLease(Protocol):
    """A lease in our hands, for as long as this process lives."""

    def set_state(self, state: bytes) -> None:
        """Write into it how far we are."""


class Lock(Protocol):
    """A lock in our hands."""

    def promise(self, path: str, data: bytes) -> None:
        """Make sure that a file will be there, now or when the next one takes the lock, unless the lock was lost."""


class Storage(Protocol):
    """A folder, or what looks like one in an object store."""

    def __hash__(self) -> int:
        """Storages that are the same count as one."""

    @property
    def url(self) -> str:
        """Its name for people, ledgers and checkpoints: a path or an address, never a secret."""

    @property
    def folder(self) -> Path | None:
        """The folder, where it is one."""

    def delta(self, folder: str) -> tuple[str, dict[str, str] | None]:
        """The address of a table as delta-rs takes it, and the options that go with it."""

    def read(self, path: str) -> bytes:
        """A whole file; raises FileNotFoundError."""

    def write(self, path: str, data: bytes | pa.Buffer) -> None:
        """Write a whole file, in place of one that is there."""

    def create(self, path: str, data: bytes) -> bool:
        """Write a whole file unless there is one; says whether it is there by us. Then it survives a power cut."""

    def move(self, source: str, target: str) -> bool:
        """Give a file another name; says whether it was there."""

    def delete(self, paths: Iterable[str]) -> None:
        """Remove files, those that are there."""

    def exists(self, path: str) -> bool:
        """Whether there is a file."""

    def names(self, folder: str) -> Iterator[str]:
        """The names of the files in a folder, not of those below; none where there is no such folder."""

    def files(self, folder: str) -> Iterator[StoredFile]:
        """The files in a folder, not those below."""

    def everything(self, folder: str) -> Iterator[StoredFile]:
        """The files in a folder and in all below."""

    def folders(self, folder: str) -> list[str]:
        """The names of the folders in a folder, in order."""

    def input(self, path: str) -> pa.NativeFile:
        """A file to read parts of."""

    def output(self, path: str) -> AbstractContextManager[pa.NativeFile]:
        """A file to write piece by piece; it is there when the block ends well."""

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """The results of a function that asks the storage, in order; several at once where each takes its time."""

    def lock(self, path: str) -> AbstractContextManager[Lock]:
        """Wait for a lock and keep it for the block; one whose holder died is free."""

    def hold(self, path: str) -> AbstractContextManager[HeldLease]:
        """Take a lease for the block; raises LeaseTaken when a living process has it."""

    def look(self, path: str) -> SeenLease | None:
        """A lease as it is."""

    def mark(self, path: str, seen: SeenLease, state: bytes) -> bool:
        """Write into a lease of a process that is gone; says whether it was still as it was seen."""

    def guard(self, path: str) -> AbstractContextManager[None]:
        """Keep others from taking or marking leases, where the storage cannot tell by itself that one was changed."""

"""Storage in a folder of a file system: locks are those of the kernel, which end with the process that holds them."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO
from uuid import uuid4

import msgspec

from postroom.pipeline.storage.interface import Item, LeaseTaken, Result, SeenLease, StoredFile

if TYPE_CHECKING:
    import pyarrow as pa


class FolderLock:
    """A lock in a folder: what its holder creates is there at once, so there is nothing to promise."""

    def promise(self, path: str, data: bytes) -> None:
        """Nothing to do: nobody else takes the lock as long as this process lives."""


class FolderLease:
    """A lease in a folder: a locked file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def set_state(self, state: bytes) -> None:
        """Write into it how far we are."""
        self._file.truncate(0)
        self._file.write(state)
        self._file.flush()


class FolderStorage(msgspec.Struct, frozen=True):
    """A folder of a file system that has locks."""

    root: Path

    @property
    def url(self) -> str:
        """The path of the folder."""
        return str(self.root)

    @property
    def folder(self) -> Path | None:
        """The folder itself."""
        return self.root

    def delta(self, folder: str) -> tuple[str, dict[str, str] | None]:
        """The path of a table; it needs no options."""
        return str(self.root / folder), None

    def read(self, path: str) -> bytes:
        """A whole file."""
        return (self.root / path).read_bytes()

    def write(self, path: str, data: bytes | pa.Buffer) -> None:
        """Write a whole file; who reads it meanwhile sees the old one or the new one."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{uuid4().hex}.part")
        partial.write_bytes(data)
        partial.replace(target)

    def create(self, path: str, data: bytes) -> bool:
        """Write a whole file unless there is one, and see it onto the disk."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(f".{uuid4().hex}.part")
        with partial.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        try:
            # A link fails when the name is taken, so of two writers only the first counts.
            os.link(partial, target)
        except FileExistsError:
            return False
        finally:
            partial.unlink()
        _sync_folder(target.parent)
        return True

    def move(self, source: str, target: str) -> bool:
        """Give a file another name."""
        try:
            (self.root / source).replace(self.root / target)
        except FileNotFoundError:
            (self.root / target).parent.mkdir(parents=True, exist_ok=True)
            try:
                (self.root / source).replace(self.root / target)
            except FileNotFoundError:
                return False
        return True

    def delete(self, paths: Iterable[str]) -> None:
        """Remove files, those that are there."""
        for path in paths:
            (self.root / path).unlink(missing_ok=True)

    def exists(self, path: str) -> bool:
        """Whether there is a file."""
        return (self.root / path).exists()

    def names(self, folder: str) -> Iterator[str]:
        """The names of the files in a folder."""
        return (entry.name for entry in _entries(self.root / folder) if not entry.is_dir())

    def files(self, folder: str) -> Iterator[StoredFile]:
        """The files in a folder; those that go away meanwhile are passed over."""
        prefix = f"{folder}/" if folder else ""
        for entry in _entries(self.root / folder):
            with suppress(FileNotFoundError):
                if not entry.is_dir():
                    found = entry.stat()
                    yield StoredFile(f"{prefix}{entry.name}", found.st_size, found.st_mtime)

    def everything(self, folder: str) -> Iterator[StoredFile]:
        """The files in a folder and in all below."""
        yield from self.files(folder)
        for name in self.folders(folder):
            yield from self.everything(f"{folder}/{name}" if folder else name)

    def folders(self, folder: str) -> list[str]:
        """The names of the folders in a folder."""
        return sorted(entry.name for entry in _entries(self.root / folder) if entry.is_dir())

    def input(self, path: str) -> pa.NativeFile:
        """A file to read parts of."""
        import pyarrow as pa

        return pa.OSFile(str(self.root / path))

    @contextmanager
    def output(self, path: str) -> Iterator[pa.NativeFile]:
        """A file to write piece by piece; what was written is removed when the block fails."""
        import pyarrow as pa

        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            with pa.OSFile(str(target), "wb") as file:
                yield file
        except BaseException:
            target.unlink(missing_ok=True)
            raise

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """One after the other: a disk is quicker than threads are."""
        return map(function, items)

    @contextmanager
    def lock(self, path: str) -> Iterator[FolderLock]:
        """Wait for a lock."""
        with (self.root / path).open("wb") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield FolderLock()

    @contextmanager
    def hold(self, path: str) -> Iterator[FolderLease]:
        """Take a lease."""
        with (self.root / path).open("a+b") as file:
            if not _locked(file.fileno()):
                raise LeaseTaken
            yield FolderLease(file)

    def look(self, path: str) -> SeenLease | None:
        """A lease as it is."""
        try:
            with (self.root / path).open("rb") as file:
                age_s = time.time() - os.fstat(file.fileno()).st_mtime
                return SeenLease(file.read(), age_s, not _locked(file.fileno()))
        except FileNotFoundError:
            return None

    def mark(self, path: str, seen: SeenLease, state: bytes) -> bool:
        """Write into a lease; who guards the leases knows that it is as it was seen."""
        (self.root / path).write_bytes(state)
        return True

    @contextmanager
    def guard(self, path: str) -> Iterator[None]:
        """Keep others from taking or marking leases."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        with self.lock(path):
            yield


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _sync_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

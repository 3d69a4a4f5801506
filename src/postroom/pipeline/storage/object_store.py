"""Storage in an object store, through obstore: S3 and what speaks its language, Azure, Google Cloud.

There are no folders, no locks and no renaming there. What must happen once happens by a conditional put, which the
store refuses when another one was first; `check_conditions` finds out whether it does.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit
from uuid import uuid4

import obstore
import pyarrow as pa
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError, PreconditionError
from obstore.store import from_url

from postroom.errors import BadFlag, LakeRefused
from postroom.pipeline.storage import object_lease
from postroom.pipeline.storage.errors import telling_errors, without_secrets
from postroom.pipeline.storage.interface import Item, Result, SeenLease, StoredFile
from postroom.pipeline.storage.options import client_options, retry_options, store_options

# Requests at the same time: each waits for its answer most of the time.
AT_ONCE = 16
# Up to here one request is quicker than many, and the store then sees the whole file or nothing.
SINGLE_PUT = 64 * 2**20
READ_AHEAD = 4 * 2**20


class ObjectStorage:
    """A prefix of a bucket (or container), with the options that it is reached by; workers get both, pickled."""

    def __init__(self, url: str, options: tuple[tuple[str, str], ...]) -> None:
        self.url = url.rstrip("/")
        self.options = options

    def __reduce__(self) -> tuple[Any, ...]:
        return ObjectStorage, (self.url, self.options)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ObjectStorage) and (self.url, self.options) == (other.url, other.options)

    def __hash__(self) -> int:
        return hash((self.url, self.options))

    def __repr__(self) -> str:
        return f"ObjectStorage({self.url!r})"

    @property
    def folder(self) -> Path | None:
        """There is none."""
        return None

    @cached_property
    def _store(self) -> Any:
        options = dict(self.options)
        # Which names are options depends on the store; obstore finds out.
        open_store: Any = from_url
        try:
            return open_store(
                quoted_url(self.url),
                config=store_options(options),
                client_options=client_options(options),
                retry_config=retry_options(options),
            )
        except (BaseError, ValueError):
            # Only names: a value may be secret.
            names = ", ".join(sorted(store_options(options).keys() | {"max_retries", "retry_timeout", "timeout"}))
            raise BadFlag(f"one of these options has a wrong name or value: {names}.", place=self.url) from None

    def delta(self, folder: str) -> tuple[str, dict[str, str] | None]:
        """The address of a table, and the options."""
        return quoted_url(f"{self.url}/{folder}"), dict(self.options)

    def read(self, path: str) -> bytes:
        """A whole object."""
        with self._telling():
            return bytes(obstore.get(self._store, path).bytes())

    def write(self, path: str, data: bytes | pa.Buffer) -> None:
        """Write a whole object: who reads meanwhile sees the old one or the new one."""
        with self._telling():
            obstore.put(self._store, path, memoryview(data).cast("B"), use_multipart=len(data) > SINGLE_PUT)

    def create(self, path: str, data: bytes) -> bool:
        """Write an object unless there is one; one with the same content is ours: the answer to its put was lost."""
        with self._telling():
            try:
                obstore.put(self._store, path, data, mode="create", use_multipart=False)
            except (AlreadyExistsError, PreconditionError):
                found = self.fetch(path)
                return found is not None and found[0] == data
        return True

    def replace(self, path: str, data: bytes, tag: Any) -> Any:
        """Write an object in place of the one with a tag; its new tag, or None when that is not there any more."""
        with self._telling():
            try:
                return _tag(obstore.put(self._store, path, data, mode=tag, use_multipart=False))
            except (PreconditionError, NotFoundError):
                return None

    def fetch(self, path: str) -> tuple[bytes, Any, float] | None:
        """An object, its tag, and when it was written; None where there is none."""
        with self._telling():
            try:
                found = obstore.get(self._store, path)
            except FileNotFoundError as error:
                if "NoSuchBucket" in str(error) or "ContainerNotFound" in str(error):
                    raise
                return None
            return bytes(found.bytes()), _tag(found.meta), found.meta["last_modified"].timestamp()

    def now(self, beside: str) -> float:
        """What time it is by the clock of the store."""
        path = f"{beside.rpartition('/')[0]}/.clock".lstrip("/")
        with self._telling():
            obstore.put(self._store, path, uuid4().bytes, use_multipart=False)
            return float(obstore.head(self._store, path)["last_modified"].timestamp())

    def move(self, source: str, target: str) -> bool:
        """Copy an object and remove it."""
        with self._telling():
            try:
                obstore.copy(self._store, source, target)
            except FileNotFoundError:
                return False
            obstore.delete(self._store, source)
        return True

    def delete(self, paths: Iterable[str]) -> None:
        """Remove objects, those that are there."""
        some = list(paths)
        if some:
            with self._telling():
                for start in range(0, len(some), 1000):
                    self._delete(some[start : start + 1000])

    def _delete(self, paths: list[str]) -> None:
        try:
            obstore.delete(self._store, paths)
        except FileNotFoundError:
            # Some stores refuse what is not there, and do not say what became of the others.
            for path in paths:
                with suppress(FileNotFoundError):
                    obstore.delete(self._store, path)

    def exists(self, path: str) -> bool:
        """Whether there is an object."""
        with self._telling():
            try:
                obstore.head(self._store, path)
            except FileNotFoundError:
                return False
        return True

    def names(self, folder: str) -> Iterator[str]:
        """The names of the objects of a prefix."""
        return (file.path.rpartition("/")[2] for file in self.files(folder))

    def files(self, folder: str) -> Iterator[StoredFile]:
        """The objects of a prefix, without those below."""
        with self._telling():
            found = obstore.list_with_delimiter(self._store, f"{folder}/" if folder else None)["objects"]
        for each in found:
            yield StoredFile(each["path"], each["size"], each["last_modified"].timestamp())

    def everything(self, folder: str) -> Iterator[StoredFile]:
        """All objects of a prefix and below."""
        with self._telling():
            for page in obstore.list(self._store, f"{folder}/" if folder else None, chunk_size=1000):
                for each in page:
                    yield StoredFile(each["path"], each["size"], each["last_modified"].timestamp())

    def folders(self, folder: str) -> list[str]:
        """What stands before the next slash."""
        with self._telling():
            found = obstore.list_with_delimiter(self._store, f"{folder}/" if folder else None)["common_prefixes"]
        return sorted(prefix.rstrip("/").rpartition("/")[2] for prefix in found)

    def input(self, path: str) -> pa.NativeFile:
        """An object to read ranges of; one that is not large is read at once, which takes a single request."""
        with self._telling():
            found = obstore.get(self._store, path)
            if found.meta["size"] <= SINGLE_PUT:
                return pa.BufferReader(pa.py_buffer(found.bytes()))
        return pa.PythonFile(self.reader(path, found.meta["size"]), mode="r")

    def reader(self, path: str, size: int | None = None) -> io.BufferedReader:
        """The bytes of an object, read as they are asked for."""
        with self._telling():
            known = obstore.head(self._store, path)["size"] if size is None else size
        return io.BufferedReader(_Ranges(self, path, known), READ_AHEAD)

    def reader_of(self, url: str) -> io.BufferedReader:
        """The bytes of an object by its address."""
        return self.reader(url.removeprefix(f"{self.url}/"))

    def read_range(self, path: str, start: int, length: int) -> bytes:
        """Part of an object."""
        with self._telling():
            return bytes(obstore.get_range(self._store, path, start=start, length=length))

    @contextmanager
    def output(self, path: str) -> Iterator[pa.NativeFile]:
        """An object to write part by part; it is there when the block ends well."""
        with self._telling():
            writer = obstore.open_writer(self._store, path)
            yield pa.PythonFile(_Parts(writer), mode="w")
            writer.close()

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
        """Several at once."""
        with ThreadPoolExecutor(AT_ONCE) as pool:
            yield from list(pool.map(function, items))

    def lock(self, path: str) -> AbstractContextManager[object_lease.ObjectLease]:
        """Wait for a lock."""
        return object_lease.take(self, path, wait=True)

    def hold(self, path: str) -> AbstractContextManager[object_lease.ObjectLease]:
        """Take a lease."""
        return object_lease.take(self, path, wait=False)

    def look(self, path: str) -> SeenLease | None:
        """A lease as it is."""
        return object_lease.look(self, path)

    def mark(self, path: str, seen: SeenLease, state: bytes) -> bool:
        """Write into a lease, if it is still as it was seen."""
        return object_lease.mark(self, path, seen, state)

    def guard(self, path: str) -> AbstractContextManager[None]:
        """Nothing to guard: a conditional put says whether a lease was changed."""
        return nullcontext()

    def check_conditions(self, folder: str) -> None:
        """Raise unless the store refuses a conditional put whose condition does not hold."""
        path = f"{folder}/.probe-{uuid4().hex}"
        with self._telling():
            tag = _tag(obstore.put(self._store, path, b"1", mode="create", use_multipart=False))
            try:
                is_safe = not self.create(path, b"2") and self.replace(path, b"3", tag) is not None
                is_safe = is_safe and self.replace(path, b"4", tag) is None
            finally:
                obstore.delete(self._store, path)
        if not is_safe:
            raise LakeRefused(
                "this object store ignores the conditions of puts (If-None-Match, If-Match), so that two writers would "
                "overwrite each other's commits.",
                place=self.url,
                remedy="Use a newer release of it, or another store.",
            )

    def _telling(self) -> AbstractContextManager[None]:
        return telling_errors(self.url, BaseError)


def _tag(meta: Any) -> dict[str, str]:
    """What tells a state of an object from all others: S3 and Azure have ETags, Google Cloud has versions."""
    return {name: meta[name] for name in ("e_tag", "version") if meta[name] is not None}


class _Ranges(io.RawIOBase):
    """An object as a file that can only be read."""

    def __init__(self, store: ObjectStorage, path: str, size: int) -> None:
        self._store = store
        self._path = path
        self._size = size
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._position

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = base + offset
        return self._position

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]  # the only kind of buffer it ever gets
        length = max(0, min(len(buffer), self._size - self._position))
        if length:
            buffer[:length] = self._store.read_range(self._path, self._position, length)
            self._position += length
        return length


class _Parts(io.RawIOBase):
    """A writer of obstore's as a file that can only be written; closing it here decides nothing."""

    def __init__(self, writer: Any) -> None:
        self._writer = writer
        self._written = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._written

    def write(self, data: Any) -> int:
        octets = memoryview(data).cast("B")
        self._writer.write(octets)
        self._written += len(octets)
        return len(octets)


def quoted_url(url: str) -> str:
    """An address as libraries parse it: names of objects may have anything in them."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host}{slash}{quote(path)}"


def check_url(url: str, kind: str) -> str:
    """An address of a prefix in its usual spelling; raises for what is none, or has a password in it."""
    scheme, separator, rest = url.partition("://")
    host, _, path = rest.partition("/")
    if not separator or not host or host.startswith("@"):
        raise LakeRefused(f"{kind} in an object store is written {scheme.rstrip(':/')}://bucket/path.", place=url)
    if ":" in (urlsplit(f"x://{host}").netloc.rpartition("@")[0]):
        safe = f"{scheme}://…@{host.rpartition('@')[2]}/{path}"
        raise BadFlag("credentials do not belong into an address.", place=safe, remedy="Use variables or --storage.")
    return f"{'s3' if scheme.lower() == 's3a' else scheme.lower()}://{host}/{path.strip('/')}".rstrip("/")


__all__ = ["ObjectStorage", "check_url", "quoted_url", "without_secrets"]

"""Following a catalog while a stream runs: each batch is sorted by the catalog as it is when the batch begins."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import msgspec

from postroom.catalog.catalog import Catalog, open_catalog
from postroom.catalog.service_client import ServiceClient, open_client
from postroom.catalog.service_entities import find_incomplete
from postroom.catalog.service_reader import REFUSES_INLINE, ServiceReader
from postroom.catalog.subjects.schema_registry import Held, RegistryWatch
from postroom.catalog.subjects.subject_versions import SubjectVersions
from postroom.documents.read_files import document_files
from postroom.errors import PostroomError
from postroom.messages.definitions.definition import CompiledCatalog
from postroom.settings import Settings, load_settings
from postroom.urls import STORE_SCHEMES, scheme_of

if TYPE_CHECKING:
    from postroom.store.interface import Store

log = logging.getLogger(__name__)

# What tells one state of a catalog from another, cheaply.
Mark = Any
Catalogs = Callable[[], Catalog]

_READ_ALL_S = 60.0


def watch_catalog(
    source: str | Path | Catalog | CompiledCatalog, *, settings: Settings | None = None, endpoint: str = ""
) -> Catalogs:
    """A function that gives the catalog as it is now; one that is open already does not change any more."""
    if isinstance(source, CompiledCatalog):
        fixed = Catalog({}, settings=settings, compiled=source)
        return lambda: fixed
    if isinstance(source, Catalog):
        return lambda: source
    return CatalogWatch(str(source), settings or load_settings(), endpoint)


class CatalogWatch:
    """A catalog that is opened again when it changed; while it does not open, the last good one stays."""

    def __init__(self, source: str, settings: Settings, endpoint: str = "") -> None:
        self._source = source
        self._settings = settings
        self._endpoint = endpoint
        self._mark_now = _marker(source, settings)
        self._registry = RegistryWatch(settings) if settings.schema_registry else None
        self._held: Held | None = None
        self._complained = ""
        self._lock = Lock()
        self._mark = self._mark_now()
        self._catalog = self._open()

    @property
    def name(self) -> str:
        """The catalog as a checkpoint names it: a path in full, an address without what may be secret in it."""
        scheme, separator, rest = self._source.partition("://")
        if separator:
            place = f"{scheme}://{rest.partition('?')[0].rpartition('@')[2]}"
        else:
            place = str(Path(self._source).absolute())
        return f"{place} {self._endpoint}".strip()

    def __call__(self) -> Catalog:
        """The catalog as it is now; streams of several sources may ask at the same time."""
        with self._lock:
            return self._renewed()

    def _renewed(self) -> Catalog:
        try:
            mark = self._mark_now()
            if mark != self._mark or (self._registry is not None and self._registry() is not self._held):
                self._catalog = self._open()
                # Only now: a change that could not be read is tried again with the next batch.
                self._mark = mark
            self._complained = ""
        except PostroomError as error:
            self._complain(str(error))
        return self._catalog

    def _open(self) -> Catalog:
        held = None if self._registry is None else self._registry()
        subjects = None if held is None else SubjectVersions(held, self._settings)
        opened = open_catalog(self._source, settings=self._settings, subjects=subjects)
        self._held = held
        return opened.for_endpoint(self._endpoint) if self._endpoint else opened

    def _complain(self, sentence: str) -> None:
        if sentence != self._complained:
            log.warning("the catalog cannot be opened and the last good one stays: %s", sentence)
        self._complained = sentence


def _marker(source: str, settings: Settings) -> Callable[[], Mark]:
    scheme = scheme_of(source)
    if scheme in STORE_SCHEMES:
        return _StoreMark(source)
    if scheme:
        return _ServiceMark(source, settings)
    return lambda: _file_mark(Path(source))


def _file_mark(path: Path) -> Mark:
    """Names, times, sizes: cheap, and the digest of the compiled catalog says later whether anything really changed."""
    return [_stat(file) for file in document_files(path)]


def _stat(file: Path) -> tuple[str, int, int]:
    try:
        found = file.stat()
    except OSError:
        return str(file), 0, 0
    return str(file), found.st_mtime_ns, found.st_size


class _StoreMark:
    """The last number in the change log of a store.

    SQLite's own count of commits would be cheaper, but opening the store to read it moves that too.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._store: Store | None = None

    def __call__(self) -> Mark:
        if self._store is None:
            from postroom.catalog.open_store import open_store

            self._store = open_store(self._url, create=False)
        with self._store.read() as transaction:
            last = transaction.last_change()
        return last.sequence if last is not None else 0


class _ServiceMark:
    """What a service answers; one that gives an ETag is asked only whether that still holds.

    One that does not inline is asked for what it exports; where that is not everything either, all its entities are
    read, though not more often than once a minute.
    """

    def __init__(self, url: str, settings: Settings) -> None:
        self._url = url
        self._settings = settings
        self._path, self._etag = "", ""
        self._digest = ""
        self._read_at = -_READ_ALL_S

    def __call__(self) -> Mark:
        with open_client(self._url, self._settings) as client:
            reader = ServiceReader(client)
            paths = [""] if client.is_document else ["/?inline=*", "/export"]
            if not any(self._is_known(client, reader, path) for path in paths):
                self._read_all(reader)
        return self._digest

    def _is_known(self, client: ServiceClient, reader: ServiceReader, path: str) -> bool:
        """Take the digest of an answer that has the whole catalog in it."""
        reply = reader.ask(path, {"if-none-match": self._etag} if self._etag and path == self._path else None)
        if reply.status == 304:
            return True
        if reply.status in REFUSES_INLINE or (reply.status >= 400 and path == "/export"):
            return False
        client.check(reply, path or "/")
        if path and find_incomplete(reader.object_in(reply, path)):
            return False
        self._path, self._etag = path, reply.headers.get("etag", "")
        self._digest = hashlib.sha256(reply.body).hexdigest()
        return True

    def _read_all(self, reader: ServiceReader) -> None:
        if time.monotonic() - self._read_at >= _READ_ALL_S:
            self._digest = hashlib.sha256(msgspec.json.encode(reader.whole())).hexdigest()
            self._read_at = time.monotonic()

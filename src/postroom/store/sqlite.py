"""The embedded store: one SQLite file in WAL mode, durable at every commit."""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import msgspec

from postroom.errors import FolderUnwritable, StoreUnusable
from postroom.registry.entities import Entity
from postroom.registry.permissions import UNRESTRICTED, Permissions
from postroom.registry.problems import RegistryProblem
from postroom.registry.rules import Rules
from postroom.registry.write.deferred_checks import DeferredChecks
from postroom.store.disk import FULL, LEAST_FREE, NEARLY_FULL, Disk, disk_full, lacks_room
from postroom.store.group_commit import GroupCommit, busy
from postroom.store.interface import Store, StoredResource
from postroom.store.migrations import LATEST, MIGRATIONS
from postroom.store.pending_rows import Row, Rows
from postroom.store.restricted import RestrictedStore
from postroom.store.retention import FOREVER, Retention, forget
from postroom.store.sql_transaction import SqlTransaction, entity_of
from postroom.store.sqlite_search import SqliteSearch
from postroom.store.tables import Table

LOG = logging.getLogger(__name__)
PROGRESS = logging.getLogger("postroom.progress")
_WITHOUT_DOCUMENT = "{0}.xid, {0}.epoch, {0}.createdat, {0}.modifiedat, {0}.attributes, NULL, NULL, 0, {0}.counter"
RESOURCE_AT_ONCE = f"""
    SELECT (SELECT count(*) FROM entity WHERE collection = ?), (SELECT max(sequence) FROM change),
        {_WITHOUT_DOCUMENT.format("meta")}, {_WITHOUT_DOCUMENT.format("version")}
    FROM entity AS meta JOIN entity AS version ON version.xid =
        meta.xid || '/versions/' || json_extract(CAST(meta.attributes AS TEXT), '$.defaultversionid')
    WHERE meta.xid = ? AND meta.xref IS NULL
"""  # noqa: S608
WAIT_SECONDS = 10.0
PRIVATE = 0o600
"""The mode of the files: passwords of sinks and links are among what they hold."""
PAGES = 4096
"""How many pages a backup copies between two reports of progress."""
LARGE_LOG = 8 * 1024 * 1024
CHECKPOINT_SECONDS = 2.0
SHORT_WAIT, LONG_WAIT = 0.25, 3.0
LOCKED_SECONDS = 0.02
PAUSE_FACTOR = 10
"""How many times as long as one wait for readers the pause until the next one is."""


class SqliteTransaction(SqliteSearch, SqlTransaction):
    """A transaction on SQLite."""

    # + keeps the index on xids away
    changes_near = "sequence > ? AND sequence <= ? AND (+xid = ? OR (+xid > ? AND +xid < ?))"

    def __init__(
        self,
        connection: sqlite3.Connection,
        rules: Rules,
        *,
        writes: bool = False,
        written: list[tuple[str, Entity | None]] | None = None,
    ) -> None:
        super().__init__(rules, writes=writes, written=written)
        self._db = connection

    def _run(self, statement: str, values: Sequence[Any] = ()) -> Rows:
        return self._db.execute(statement, values)

    def _run_many(self, statement: str, rows: Iterable[Row]) -> None:
        self._db.executemany(statement, rows)

    def expect(self, path: str) -> None:
        """Nothing is read before it is asked for: a statement takes no round trip here."""

    def _read_last_sequence(self) -> int:
        row = self._db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'change'").fetchone()
        return int(row[0]) if row else 0

    def rows(self, table: Table) -> Iterator[Row]:
        """All rows of a table; SQLite finds each when it is asked for."""
        return iter(self._execute(table.select()))

    def insert_rows(self, table: Table, rows: Iterable[Row]) -> None:
        """Add rows to a table; what does not fit into the cache goes to disk."""
        self._start_over()
        marks = ", ".join("?" * len(table.columns))
        self._db.executemany(f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES ({marks})", rows)  # noqa: S608

    def copy_pages(self, target: sqlite3.Connection) -> None:
        """Copy the whole file as this transaction sees it, while others write to it."""
        self._db.backup(target, pages=PAGES, progress=_report_pages)


class SqliteWrites:
    """What is written on the connection for writes until the next commit."""

    def __init__(self, connection: sqlite3.Connection, tidy: Callable[[], None]) -> None:
        self._connection = connection
        self._is_marked = False
        self.close = tidy

    def mark(self) -> None:
        """Begin another write."""
        if self._is_marked:
            self._connection.execute("RELEASE another")
        self._connection.execute("SAVEPOINT another")
        self._is_marked = True

    def undo(self) -> None:
        """Take back the last write; after some errors SQLite has taken back everything, and says so."""
        self._connection.execute("ROLLBACK TO another")

    def commit(self) -> None:
        """Keep everything; refused where SQLite has taken it back already."""
        self._connection.execute("COMMIT")

    def rollback(self) -> None:
        """Keep nothing."""
        self._connection.rollback()


class SqliteClaim:
    """A connection with a lock on a file of this machine, which nothing but its process ends."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def holds(self) -> bool:
        """Whether it is still ours: as long as it is open."""
        return True

    def close(self) -> None:
        """Let others have it."""
        self._connection.close()


class SqliteStore:
    """A store in one file. Readers have connections of their own; writers take turns on one."""

    permissions = UNRESTRICTED

    def __init__(
        self, path: Path, rules: Rules, retention: Retention = FOREVER, write_wait_s: float = WAIT_SECONDS
    ) -> None:
        self._path = path
        self._rules = rules
        self._retention = retention
        self._wait = write_wait_s
        self._log = path.with_name(f"{path.name}-wal")
        self._next_checkpoint = 0.0
        self._commits = GroupCommit(self._begin, write_wait_s)
        self._watching = threading.Lock()
        self._readers: queue.SimpleQueue[sqlite3.Connection] = queue.SimpleQueue()
        self._open: list[sqlite3.Connection] = []
        self._disk = Disk(path)
        self._thawing = threading.Lock()
        self._openings = 0
        _check_folder(path)
        try:
            self._start()
        except sqlite3.Error as error:
            self.close()
            if not (lacks_room(error) and self._disk.holds_all()):
                raise StoreUnusable(f"the database cannot be used: {error}.", place=str(path)) from None
            self._freeze()

    @property
    def base(self) -> Store:
        """The store itself, which has no restrictions."""
        return self

    def seen_by(self, permissions: Permissions) -> Store:
        """The store as a principal sees it."""
        return self if permissions is UNRESTRICTED else RestrictedStore(self, permissions)

    @contextmanager
    def read(self) -> Iterator[SqliteTransaction]:
        """A snapshot: BEGIN and the first SELECT fix the state that all later ones see."""
        if self._disk.is_frozen:
            self._thaw()
        readers = self._readers
        connection = self._reader(readers)
        try:
            connection.execute("BEGIN")
            yield SqliteTransaction(connection, self._rules)
        finally:
            connection.rollback()
            readers.put(connection)

    @contextmanager
    def write(self, checks: DeferredChecks | None = None, *, is_small: bool = False) -> Iterator[SqliteTransaction]:
        """One writer at a time, in this process by its turn, among processes by BEGIN IMMEDIATE."""
        with self._disk.watched(), self._commits.write(is_small=is_small):
            transaction = self._writing(checks)
            yield transaction
            transaction.flush()
            if transaction.appended:
                forget(transaction, self._retention, transaction.appended)

    def _shorten_log(self) -> None:
        """Checkpoint a WAL that has grown large: SQLite does so only while nobody reads, so wait a little for that.

        Readers that come meanwhile need no WAL and do not count; the larger it is, the longer the wait.
        """
        size = 0
        with contextlib.suppress(FileNotFoundError):
            size = os.stat(self._log).st_size  # noqa: PTH116  # at every write; a Path takes twice as long
        if size <= LARGE_LOG or time.monotonic() < self._next_checkpoint:
            return
        wait = min(SHORT_WAIT * size / LARGE_LOG, self._wait / 2, LONG_WAIT)
        with contextlib.suppress(sqlite3.OperationalError):  # what was written is safe; the next write tries again
            self._writer.execute(f"PRAGMA busy_timeout = {int(wait * 1000)}")
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        self._writer.execute(f"PRAGMA busy_timeout = {int(self._wait * 1000)}")
        # After the wait: while a reader stays on, most writes must not wait for it.
        self._next_checkpoint = time.monotonic() + max(CHECKPOINT_SECONDS, wait * PAUSE_FACTOR)

    def _writing(self, checks: DeferredChecks | None) -> SqliteTransaction:
        if checks is None:
            return SqliteTransaction(self._writer, self._rules, writes=True)
        checks.begin(self._rules.documents)
        rules = msgspec.structs.replace(self._rules, documents=checks)
        return SqliteTransaction(self._writer, rules, writes=True, written=checks.written)

    def _begin(self) -> SqliteWrites:
        if (self._disk.is_frozen or self._thawing.locked()) and not self._thaw(waits=True):
            raise disk_full()
        try:
            self._writer.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            raise busy(f"Another process has been writing for {self._wait:g} seconds.") from None
        return SqliteWrites(self._writer, self._shorten_log)

    def resource_at_once(self, xid: str) -> StoredResource | None:
        """One statement on the watcher's connection: it sees one state, and a reader of a WAL waits for nobody."""
        if self._disk.is_frozen:
            return None
        try:
            with self._watching:
                row = self._watcher.execute(RESOURCE_AT_ONCE, (f"{xid}/versions", xid)).fetchone()
        except sqlite3.Error:
            return None
        return StoredResource(entity_of(row[2:11]), entity_of(row[11:]), row[0], row[1] or 0) if row else None

    @contextmanager
    def watch(self) -> Iterator[SqliteTransaction]:
        """A snapshot on the watcher's connection."""
        with self._watching:
            self._watcher.execute("BEGIN")
            try:
                yield SqliteTransaction(self._watcher, self._rules)
            finally:
                self._watcher.rollback()

    def version(self) -> int:
        """SQLite's own count of commits by other connections, of this process and of others, as the watcher sees it."""
        with self._watching:
            return (self._openings << 32) + int(self._watcher.execute("PRAGMA data_version").fetchone()[0])

    def trouble(self, least_free: int) -> str:
        """Why nothing can be stored at present; after a failed write another one is tried."""
        if self._disk.free() < least_free:
            return NEARLY_FULL
        if self._disk.is_faulty or self._disk.is_frozen:
            try:
                with self.write():
                    self._writer.execute(f"PRAGMA user_version = {LATEST}")  # a page is written, and nothing changes
            except RegistryProblem:
                return FULL
        return ""

    def claim(self, name: str) -> SqliteClaim | None:
        """A lock by an exclusive transaction on a file beside the database, which works on every system."""
        path = self._path.with_name(f"{self._path.name}-{name}")
        with contextlib.ExitStack() as stack:
            try:
                _make_private(path)
                connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
                stack.callback(connection.close)
                connection.execute("BEGIN EXCLUSIVE")
            except (sqlite3.OperationalError, OSError):
                return None
            stack.pop_all()
            return SqliteClaim(connection)

    def close(self) -> None:
        """Close all connections."""
        while self._open:
            self._open.pop().close()

    def __enter__(self) -> Self:
        """The store itself."""
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the store."""
        self.close()

    def _start(self) -> None:
        writer = self._connect()
        migrate(writer, self._path)
        with self._watching:
            self._writer, self._watcher = writer, self._connect()
            self._openings += 1

    def _freeze(self) -> None:
        """Read the file as it is: on a full disk the one that readers and writers share beside it cannot be made."""
        self._disk.is_frozen = True
        try:
            self._watcher = self._connect()
            found = _schema_of(self._watcher)
        except sqlite3.Error as error:
            self.close()
            raise StoreUnusable(f"the database cannot be used: {error}.", place=str(self._path)) from None
        if found != LATEST:
            self.close()
            raise StoreUnusable("the disk is full, and the database has to be changed.", place=str(self._path))
        LOG.warning("the disk is full: %s is only read until there is room again", self._path)

    def _thaw(self, *, waits: bool = False) -> bool:
        """Open the file for writing again once the disk has room; a writer waits for another one that does so."""
        if self._disk.free() < LEAST_FREE or not self._thawing.acquire(blocking=waits):
            return False
        try:
            if self._disk.is_frozen:
                self._disk.is_frozen = False
                self._start()
                self._readers = queue.SimpleQueue()
        except sqlite3.Error:
            self._disk.is_frozen = True
        finally:
            self._thawing.release()
        return not self._disk.is_frozen

    def _reader(self, readers: queue.SimpleQueue[sqlite3.Connection]) -> sqlite3.Connection:
        try:
            return readers.get_nowait()
        except queue.Empty:
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._disk.address(), timeout=self._wait, isolation_level=None, check_same_thread=False, uri=True
        )
        try:
            _use_wal(connection, self._wait)
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA journal_size_limit = {LARGE_LOG}")
        except sqlite3.Error:
            connection.close()
            raise
        self._open.append(connection)
        return connection


def _use_wal(connection: sqlite3.Connection, wait_s: float) -> None:
    """Put the file into WAL mode; SQLite itself does not wait for a process that has locked a file without WAL."""
    until = time.monotonic() + wait_s
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(LOCKED_SECONDS)
        else:
            return


def _report_pages(_status: int, remaining: int, total: int) -> None:
    PROGRESS.info("Copying pages: %s of %s", f"{total - remaining:,}", f"{total:,}")


def _check_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_private(path)
    except OSError as error:
        raise FolderUnwritable(f"cannot be written to: {error.strerror}.", place=str(path)) from None


def _make_private(path: Path) -> None:
    """Create a file that only its owner reads, unless it exists; SQLite gives the files beside it the same mode."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE))


def migrate(connection: sqlite3.Connection, path: Path) -> None:
    """Bring the tables of a file to the newest schema, or make them."""
    if _schema_of(connection) == LATEST:  # a reader need not wait for a writer
        return
    connection.execute("BEGIN IMMEDIATE")
    found = _schema_of(connection)
    if found > LATEST:
        connection.rollback()
        raise newer_schema(found, path)
    for step in MIGRATIONS[found:]:
        for statement in step.split(";"):
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {LATEST}")
    connection.commit()


def stored_schema(path: Path) -> int:
    """The schema that a file has, which stays as it is."""
    try:
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True)) as connection:
            return _schema_of(connection)
    except sqlite3.Error as error:
        raise StoreUnusable(f"the database cannot be used: {error}.", place=str(path)) from None


def newer_schema(found: int, path: Path) -> StoreUnusable:
    """The error for a file that this Postroom does not understand."""
    return StoreUnusable(
        f"the database was written by a newer Postroom (its schema is {found}, this one knows {LATEST}).",
        place=str(path),
        remedy="Use that Postroom, or another database.",
    )


def _schema_of(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])

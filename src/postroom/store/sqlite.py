"""The embedded store: one SQLite file in WAL mode, durable at every commit."""

from __future__ import annotations

import contextlib
import os
import queue
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from postroom.errors import FolderUnwritable, StoreUnusable
from postroom.registry.problems import RegistryProblem
from postroom.registry.rules import Rules
from postroom.store.migrations import LATEST, MIGRATIONS
from postroom.store.retention import FOREVER, Retention, forget
from postroom.store.sqlite_transaction import SqliteTransaction

BUSY_SECONDS = 30.0
PRIVATE = 0o600
"""The mode of the files: passwords of sinks and links are among what they hold."""


class SqliteStore:
    """A store in one file. Readers have connections of their own; writers take turns on one."""

    def __init__(self, path: Path, rules: Rules, retention: Retention = FOREVER) -> None:
        self._path = path
        self._rules = rules
        self._retention = retention
        self._turn = threading.Lock()
        self._watching = threading.Lock()
        self._readers: queue.SimpleQueue[sqlite3.Connection] = queue.SimpleQueue()
        self._open: list[sqlite3.Connection] = []
        _check_folder(path)
        try:
            self._writer = self._connect()
            _migrate(self._writer, path)
            self._watcher = self._connect()
        except sqlite3.Error as error:
            self.close()
            raise StoreUnusable(f"the database cannot be used: {error}.", place=str(path)) from None

    @contextmanager
    def read(self) -> Iterator[SqliteTransaction]:
        """A snapshot: BEGIN and the first SELECT fix the state that all later ones see."""
        connection = self._reader()
        try:
            connection.execute("BEGIN")
            yield SqliteTransaction(connection, self._rules)
        finally:
            connection.rollback()
            self._readers.put(connection)

    @contextmanager
    def write(self) -> Iterator[SqliteTransaction]:
        """One writer at a time, in this process by the lock, among processes by BEGIN IMMEDIATE."""
        with self._turn:
            self._begin()
            try:
                transaction = SqliteTransaction(self._writer, self._rules)
                yield transaction
                if transaction.appended:
                    forget(transaction, self._retention, transaction.appended)
            except BaseException:
                self._writer.rollback()
                raise
            self._writer.commit()

    def _begin(self) -> None:
        try:
            self._writer.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            raise RegistryProblem("server_busy", "/", detail="Another process is writing.") from None

    def version(self) -> int:
        """SQLite's own count of commits by other connections, of this process and of others, as the watcher sees it."""
        with self._watching:
            return int(self._watcher.execute("PRAGMA data_version").fetchone()[0])

    def claim(self, name: str) -> AbstractContextManager[object] | None:
        """A lock on a file beside the database, in the one way that SQLite has on every system: a transaction."""
        path = self._path.with_name(f"{self._path.name}-{name}")
        with contextlib.ExitStack() as stack:
            try:
                _make_private(path)
                connection = sqlite3.connect(path, timeout=0, isolation_level=None, check_same_thread=False)
                stack.callback(connection.close)
                connection.execute("BEGIN EXCLUSIVE")
            except (sqlite3.OperationalError, OSError):
                return None
            return stack.pop_all()

    def close(self) -> None:
        """Close all connections."""
        while self._open:
            self._open.pop().close()

    def __enter__(self) -> Self:
        """The store itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the store."""
        self.close()

    def _reader(self) -> sqlite3.Connection:
        try:
            return self._readers.get_nowait()
        except queue.Empty:
            return self._connect()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        self._open.append(connection)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        return connection


def _check_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _make_private(path)
    except OSError as error:
        raise FolderUnwritable(f"cannot be written to: {error.strerror}.", place=str(path)) from None


def _make_private(path: Path) -> None:
    """A file that only its owner reads, unless it is there; SQLite gives the files beside it the same mode."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, PRIVATE))


def _migrate(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("BEGIN IMMEDIATE")
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if found > LATEST:
        connection.rollback()
        raise StoreUnusable(
            f"the database was written by a newer Postroom (its schema is {found}, this one knows {LATEST}).",
            place=str(path),
            remedy="Use that Postroom, or another database.",
        )
    for step in MIGRATIONS[found:]:
        for statement in step.split(";"):
            connection.execute(statement)
    connection.execute(f"PRAGMA user_version = {LATEST}")
    connection.commit()

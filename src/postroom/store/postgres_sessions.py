"""Connections to PostgreSQL that stay open beside the pool: the one that sees writes, and those that hold claims.

Nobody waits long on them: the event loop of a server asks for the version of the store with every request.
"""

from __future__ import annotations

import contextlib
import selectors
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.pq import ExecStatus

from postroom.registry.problems import RegistryProblem
from postroom.store.group_commit import busy

ANSWER_SECONDS = 1.0
"""A database that has not answered a trifle after so long counts as lost."""
CONNECT_SECONDS = 2
"""How long a new connection in place of one that was cut may take; libpq knows nothing shorter."""
RECONNECT_SECONDS = 0.5
VERSION = b"SELECT version FROM state"

Connection = psycopg.Connection[tuple[Any, ...]]


class SilentDatabase(psycopg.OperationalError):
    """The connection is there, and nothing comes from it."""


class PostgresSession:
    """A connection that is asked for one number at a time."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._selector = selectors.DefaultSelector()
        self._selector.register(connection.fileno(), selectors.EVENT_READ)

    def ask(self, statement: bytes, seconds: float = ANSWER_SECONDS) -> int:
        """The number that a statement selects; OperationalError when it does not come in time."""
        wire, until = self.connection.pgconn, time.monotonic() + seconds
        wire.send_query(statement)
        wire.flush()
        found: bytes | None = None
        while True:
            while wire.is_busy():
                if not self._selector.select(max(0.0, until - time.monotonic())):
                    raise SilentDatabase(f"no answer within {seconds:g} seconds")
                wire.consume_input()
            result = wire.get_result()
            if result is None:
                return int(found or 0)
            if result.status != ExecStatus.TUPLES_OK:
                raise psycopg.OperationalError(result.error_message.decode("utf-8", "replace"))
            found = result.get_value(0, 0)

    def close(self) -> None:
        """Close the connection."""
        self._selector.close()
        with contextlib.suppress(psycopg.Error):
            self.connection.close()


class VersionWatch:
    """The version of a store, on a connection of its own; once that is lost, a thread tries to get another one."""

    def __init__(self, conninfo: str) -> None:
        self._conninfo = make_conninfo(conninfo, connect_timeout=CONNECT_SECONDS)
        self._lock = threading.Lock()
        self._session: PostgresSession | None = None
        self._closed = threading.Event()
        self.lost = ""
        """Why the database counts as lost; empty while it does not."""

    def version(self) -> int:
        """The number of writes so far, by whatever process; `server_busy` at once while the database is lost."""
        with self._lock:
            if not self.lost:
                try:
                    return self._asked()
                except psycopg.OperationalError as error:
                    self._lose(error)
            raise unanswered(self.lost)

    @contextmanager
    def connection(self) -> Iterator[Connection]:
        """The connection itself, for a transaction that is over soon: whoever asks for the version waits for it."""
        with self._lock:
            try:
                self._session = self._session or self._connected()
                yield self._session.connection
            except psycopg.OperationalError as error:
                self._lose(error)
                raise unanswered(self.lost) from None

    def close(self) -> None:
        """Close the connection, and try no more."""
        self._closed.set()
        with self._lock:
            self._drop()

    def _asked(self) -> int:
        if self._session is not None:
            try:
                return self._session.ask(VERSION)
            except SilentDatabase:
                raise
            except psycopg.OperationalError:  # it was cut: another one is had, or refused, at once
                self._drop()
        self._session = self._connected()
        return self._session.ask(VERSION)

    def _connected(self) -> PostgresSession:
        return PostgresSession(psycopg.connect(self._conninfo, autocommit=True))

    def _lose(self, error: psycopg.Error) -> None:
        self._drop()
        self.lost = reason(error)
        threading.Thread(target=self._reconnect, name="postroom-reconnect", daemon=True).start()

    def _reconnect(self) -> None:
        while not self._closed.wait(RECONNECT_SECONDS):
            try:
                session = self._connected()
                session.ask(VERSION)
            except psycopg.Error as error:
                self.lost = reason(error)
                continue
            with self._lock:
                if self._closed.is_set():
                    session.close()
                else:
                    self._session, self.lost = session, ""
            return

    def _drop(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None


class PostgresClaim:
    """A session of the database that holds a lock, until the session or its connection is lost."""

    def __init__(self, session: PostgresSession) -> None:
        self._session = session
        self._asking = threading.Lock()
        self._is_lost = False

    def holds(self) -> bool:
        """Ask the session: the lock goes with it, and a new session would have to get it first."""
        with self._asking:
            if not self._is_lost:
                try:
                    self._session.ask(b"SELECT 1")
                except psycopg.OperationalError:
                    self._is_lost = True
            return not self._is_lost

    def close(self) -> None:
        """Let others have it."""
        self._session.close()


def unanswered(why: str) -> RegistryProblem:
    """The refusal while the database is away."""
    return busy(f"The database does not answer: {why}.")


def reason(error: Exception) -> str:
    """The first line of what the database says, which has no password in it."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0].rstrip(".")

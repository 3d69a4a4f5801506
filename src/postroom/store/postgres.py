"""The store for several server processes and machines: PostgreSQL 15 or newer."""

from __future__ import annotations

import contextlib
import functools
import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

import msgspec
import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from postroom.errors import StoreUnusable
from postroom.registry.entities import Entity
from postroom.registry.permissions import DEEPEST, UNRESTRICTED, Permissions
from postroom.registry.problems import RegistryProblem
from postroom.registry.rules import Rules
from postroom.registry.write.deferred_checks import DeferredChecks
from postroom.store.disk import FULL, disk_full
from postroom.store.group_commit import GroupCommit, busy
from postroom.store.interface import Store, StoredResource
from postroom.store.pending_rows import Row, Rows
from postroom.store.postgres_migrations import LATEST, MIGRATIONS
from postroom.store.postgres_search import PostgresSearch
from postroom.store.postgres_sessions import (
    Connection,
    PostgresClaim,
    PostgresSession,
    VersionWatch,
    reason,
    unanswered,
)
from postroom.store.restricted import RestrictedStore
from postroom.store.retention import FOREVER, Retention, forget
from postroom.store.sql_transaction import ENTITY_COLUMNS, LAST_CHANGE, REFERRERS, SqlTransaction
from postroom.store.tables import Table

LOG = logging.getLogger(__name__)
OLDEST = 150000
WAIT_SECONDS = 10.0
RECONNECT_SECONDS = 1.0
"""After this the pool gives up and the next request makes it try again: its own pauses grow to minutes."""
MOST_CONNECTIONS = 32
ROWS_AT_ONCE = 50
"""How many rows a cursor of the server sends together: few, for some hold large documents."""
READ = b"BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
LOCKS = 0x706F7374
"""The first number of our advisory locks; the second is that of the schema that holds the registry, or of a name."""
WRITING, MIGRATING = "postroom writing", "postroom migrating"
LOCK = f"SELECT pg_advisory_xact_lock({LOCKS}, hashtext(current_schema() || '{WRITING}'))"
CONFIGURED = b"SELECT name, value FROM configuration WHERE name <> 'modelsource'"
OWNERS = f"SELECT {ENTITY_COLUMNS} FROM entity WHERE xid IN (%s, %s)".encode()  # noqa: S608
MEMBERS = f"SELECT {ENTITY_COLUMNS} FROM entity WHERE collection = %s ORDER BY folded".encode()  # noqa: S608
COMMIT = b"UPDATE state SET version = version + 1; COMMIT"
"""Statements that go together, in one round trip."""
NOT_WRITABLE = (errors.DiskFull, errors.IoError, errors.ReadOnlySqlTransaction)

CONNECTION: dict[str, str | int | None] = {
    "application_name": "postroom",
    "connect_timeout": 10,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""What we are called, and how soon a server that is gone without a word is noticed, where the address says nothing."""
NOTICE_DEAD_CLIENTS = (
    b"SET tcp_keepalives_idle = 10",
    b"SET tcp_keepalives_interval = 5",
    b"SET tcp_keepalives_count = 3",
    b"SET tcp_user_timeout = 30000",
)
"""How soon the server notices that the machine of a claim is gone without a word, so that another one gets it."""


class PostgresTransaction(PostgresSearch, SqlTransaction):
    """A transaction on PostgreSQL."""

    def __init__(
        self,
        connection: Connection,
        rules: Rules,
        *,
        writes: bool = False,
        written: list[tuple[str, Entity | None]] | None = None,
    ) -> None:
        super().__init__(rules, writes=writes, written=written)
        self._connection = connection

    def _run(self, statement: str, values: Sequence[Any] = ()) -> Rows:
        return self._connection.execute(_translated(statement), values)

    def _run_many(self, statement: str, rows: Iterable[Row]) -> None:
        self._connection.cursor().executemany(_translated(statement), rows)

    def flush(self) -> None:
        """Send what waits to be written, to all tables in one round trip."""
        if self._pending or self._entries:
            with self._connection.pipeline():
                super().flush()

    def expect(self, path: str) -> None:
        """Read in one round trip what a write to a Resource asks for one by one."""
        parts = path.rstrip("/").removesuffix("$details").split("/")
        if len(parts) <= DEEPEST:
            return
        self.flush()
        group, resource = "/".join(parts[:3]), "/".join(parts[: DEEPEST + 1])
        versions = f"{resource}/versions"
        run = self._connection.execute
        with self._connection.pipeline():
            configured, newest = run(CONFIGURED), run(LAST_CHANGE.encode())
            owners = run(OWNERS, (group, resource))
            members, referrers = run(MEMBERS, (versions,)), run(_translated(REFERRERS % "?"), (resource,))
        self._configured = {"capabilities": b"", "modelexpanded": b""} | dict(configured.fetchall())
        self._pending.newest_change = newest.fetchone()
        found = {row[0]: row for row in owners}
        for xid in (group, resource):
            self._pending.note(xid, found.get(xid))
        self._pending.note_members(versions, members)
        self._pending.note_referrers(resource, referrers.fetchall())

    def _read_last_sequence(self) -> int:
        """Without the gaps that a sequence of the database has after a rollback; no one else writes meanwhile."""
        newest = self.last_change()
        return newest.sequence if newest else 0

    def rows(self, table: Table) -> Iterator[Row]:
        """All rows of a table, by a cursor of the server."""
        self.flush()
        with self._connection.cursor(f"{table.name}_rows", binary=True) as cursor:
            cursor.itersize = ROWS_AT_ONCE
            yield from cursor.execute(table.select().encode())

    def insert_rows(self, table: Table, rows: Iterable[Row]) -> None:
        """Add rows to a table by COPY."""
        self._start_over()
        statement = f"COPY {table.name} ({', '.join(table.columns)}) FROM STDIN"
        try:
            with self._connection.cursor().copy(statement.encode()) as copy:
                for row in rows:
                    copy.write_row(row)
        except psycopg.DataError as error:
            raise StoreUnusable(f"PostgreSQL does not take the {table.shown}: {reason(error)}.") from None


@functools.lru_cache(maxsize=1024)
def _translated(statement: str) -> bytes:
    """The statement with PostgreSQL's marks for values."""
    return statement.replace("?", "%s").encode()


class PostgresWrites:
    """What is written on a connection until the next commit."""

    def __init__(self, connection: Connection, stack: contextlib.ExitStack) -> None:
        self.connection = connection
        self._stack = stack
        self._mark = b"SAVEPOINT another"

    def mark(self) -> None:
        """Begin another write."""
        self.connection.execute(self._mark)
        self._mark = b"RELEASE another; SAVEPOINT another"

    def undo(self) -> None:
        """Take back the last write."""
        self.connection.execute(b"ROLLBACK TO another")

    def commit(self) -> None:
        """Keep everything; where the database is lost meanwhile, nobody knows whether it did."""
        try:
            self.connection.execute(COMMIT)
        except psycopg.OperationalError as error:
            if not self.connection.closed:
                raise
            raise busy(
                f"The database was lost while it committed: {reason(error)}. Look whether the change was kept."
            ) from None

    def rollback(self) -> None:
        """Keep nothing."""
        with contextlib.suppress(psycopg.Error):
            self.connection.execute(b"ROLLBACK")

    def close(self) -> None:
        """Give the connection back."""
        with contextlib.suppress(psycopg.Error):
            self._stack.close()


@contextmanager
def _explained() -> Iterator[None]:
    """Turn errors of the database during a transaction into problems."""
    try:
        yield
    except NOT_WRITABLE:
        raise disk_full() from None
    except psycopg.OperationalError as error:
        raise busy(f"The database was lost: {reason(error)}.") from None


class PostgresStore:
    """A store in one schema of a database. Readers see one state each; writers of all processes take turns."""

    permissions = UNRESTRICTED

    def __init__(
        self, url: str, rules: Rules, retention: Retention = FOREVER, write_wait_s: float = WAIT_SECONDS
    ) -> None:
        self._rules = rules
        self._retention = retention
        self._wait = write_wait_s
        self._commits = GroupCommit(self._begin, write_wait_s)
        self._locked = f"BEGIN; SET LOCAL lock_timeout = {int(write_wait_s * 1000)}; {LOCK}".encode()
        """The beginning of a write, in one round trip."""
        self._conninfo = _connection_options(url)
        self._watch = VersionWatch(self._conninfo)
        self._pool = ConnectionPool(
            self._conninfo,
            min_size=0,
            max_size=MOST_CONNECTIONS,
            timeout=write_wait_s,
            reconnect_timeout=RECONNECT_SECONDS,
            kwargs={"autocommit": True},
            open=False,
        )
        try:
            self._migrate()
        except psycopg.Error as error:
            raise StoreUnusable(f"the database cannot be used: {reason(error)}.", place=_shown(url)) from None
        self._pool.open()

    @property
    def base(self) -> Store:
        """The store itself, which has no restrictions."""
        return self

    def seen_by(self, permissions: Permissions) -> Store:
        """The store as a principal sees it."""
        return self if permissions is UNRESTRICTED else RestrictedStore(self, permissions)

    @contextmanager
    def read(self) -> Iterator[PostgresTransaction]:
        """A snapshot: the first statement fixes the state that all later ones see."""
        with _explained(), self._begun(READ) as connection:
            try:
                yield PostgresTransaction(connection, self._rules)
            finally:
                with contextlib.suppress(psycopg.Error):
                    connection.execute("ROLLBACK")

    @contextmanager
    def write(self, checks: DeferredChecks | None = None, *, is_small: bool = False) -> Iterator[PostgresTransaction]:
        """One writer at a time, in this process by its turn and among all by an advisory lock until the commit: the
        order of sequences is that of commits, and no reader of the log ever misses a row that comes late.
        """
        with _explained(), self._commits.write(is_small=is_small) as writes:
            transaction = self._writing(writes.connection, checks)
            yield transaction
            transaction.flush()
            if transaction.appended:
                forget(transaction, self._retention, transaction.appended)

    def _begin(self) -> PostgresWrites:
        with contextlib.ExitStack() as stack:
            connection = stack.enter_context(self._begun(self._locked))
            return PostgresWrites(connection, stack.pop_all())

    def resource_at_once(self, _xid: str) -> StoredResource | None:
        """Nothing: a database elsewhere takes its time, which others must not wait for."""
        return None

    @contextmanager
    def watch(self) -> Iterator[PostgresTransaction]:
        """A snapshot on the connection that is asked for the version: the pool may have none to give."""
        with self._watch.connection() as connection:
            connection.execute(READ)
            try:
                yield PostgresTransaction(connection, self._rules)
            finally:
                connection.execute("ROLLBACK")

    def version(self) -> int:
        """The number of writes so far, by whatever process; who asks never waits long."""
        return self._watch.version()

    def trouble(self, least_free: int) -> str:
        """Why nothing can be stored at present; how much room the database has is not known here."""
        try:
            with self.write():
                return ""
        except RegistryProblem as problem:
            return FULL if problem.status == 507 else problem.sentence

    def claim(self, name: str) -> PostgresClaim | None:
        """A lock of a connection of its own: when the process or its machine dies, the database lets go of it."""
        with contextlib.ExitStack() as stack:
            try:
                connection = psycopg.connect(self._conninfo, autocommit=True)
                stack.callback(connection.close)
                for statement in NOTICE_DEAD_CLIENTS:
                    connection.execute(statement)
                row = connection.execute(
                    "SELECT pg_try_advisory_lock(%s, hashtext(current_schema() || %s))", (LOCKS, name)
                ).fetchone()
            except psycopg.OperationalError:
                return None
            if not row or not row[0]:
                return None
            stack.pop_all()
            return PostgresClaim(PostgresSession(connection))

    def close(self) -> None:
        """Close all connections."""
        self._pool.close()
        self._watch.close()

    def __enter__(self) -> Self:
        """The store itself."""
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the store."""
        self.close()

    @contextmanager
    def _begun(self, begin: bytes) -> Iterator[Connection]:
        """A connection with a transaction; a kept one that was lost meanwhile is replaced."""
        if self._watch.lost:
            raise unanswered(self._watch.lost)
        with contextlib.ExitStack() as stack:
            for attempt in (1, 2):
                try:
                    connection = stack.enter_context(self._pool.connection())
                    connection.execute(begin)
                    break
                except PoolTimeout as error:
                    raise self._without_connection(error) from None
                except errors.LockNotAvailable:
                    raise busy(f"Another process has been writing for {self._wait:g} seconds.") from None
                except psycopg.OperationalError as error:
                    if attempt == 2:
                        raise unanswered(reason(error)) from None
                    self._pool.check()
            yield connection

    def _without_connection(self, error: PoolTimeout) -> RegistryProblem:
        if self._pool.get_stats().get("pool_size", 0) < MOST_CONNECTIONS:
            return unanswered(reason(error))
        return busy(f"All {MOST_CONNECTIONS} connections to the database have been in use for {self._wait:g} seconds.")

    def _writing(self, connection: Connection, checks: DeferredChecks | None) -> PostgresTransaction:
        if checks is None:
            return PostgresTransaction(connection, self._rules, writes=True)
        checks.begin(self._rules.documents)
        rules = msgspec.structs.replace(self._rules, documents=checks)
        return PostgresTransaction(connection, rules, writes=True, written=checks.written)

    def _migrate(self) -> None:
        with psycopg.connect(self._conninfo) as connection:
            if connection.info.server_version < OLDEST:
                raise StoreUnusable(
                    f"the server is PostgreSQL {connection.info.server_version // 10000}.",
                    remedy="Postroom needs 15 or newer.",
                )
            if _schema_of(connection) == LATEST:
                return
            connection.execute("SELECT pg_advisory_xact_lock(%s, hashtext(current_schema() || %s))", (LOCKS, MIGRATING))
            found = _schema_of(connection)
            if found > LATEST:
                raise StoreUnusable(
                    f"the database was written by a newer Postroom (its schema is {found}, this one knows {LATEST}).",
                    remedy="Use that Postroom, or another database.",
                )
            for step in MIGRATIONS[found:]:
                connection.execute(step.encode())
            connection.execute("UPDATE state SET schema = %s", (LATEST,))


def stored_schema(url: str) -> int:
    """The schema that a database has, which stays as it is; 0 where there is no registry."""
    try:
        with psycopg.connect(_connection_options(url)) as connection:
            return _schema_of(connection)
    except psycopg.Error as error:
        raise StoreUnusable(f"the database cannot be used: {reason(error)}.", place=_shown(url)) from None


def _schema_of(connection: Connection) -> int:
    row = connection.execute("SELECT to_regclass('state') IS NOT NULL").fetchone()
    if not row or not row[0]:
        return 0
    row = connection.execute("SELECT schema FROM state").fetchone()
    return int(row[0]) if row else 0


def _connection_options(url: str) -> str:
    try:
        return make_conninfo("", **(CONNECTION | conninfo_to_dict(url)))
    except psycopg.ProgrammingError as error:
        raise StoreUnusable(f"this is no address of a database: {reason(error)}.", place=_shown(url)) from None


def _shown(url: str) -> str:
    """The address without user, password and options."""
    scheme, _, rest = url.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2].partition('?')[0]}"

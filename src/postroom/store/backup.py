"""Backups: one SQLite file with all that a registry holds at one moment, and its digest, of either kind of store."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from shutil import copyfile
from urllib.parse import quote

import msgspec

from postroom.errors import BackupBroken, FileMissing, FolderUnwritable, StoreOccupied, StoreUnusable
from postroom.registry.rules import Rules
from postroom.store.copy_rows import Contents, contents_of, copy_rows, tables_of
from postroom.store.interface import Store
from postroom.store.migrations import LATEST
from postroom.store.sql_transaction import SqlTransaction
from postroom.store.sqlite import SqliteStore, SqliteTransaction, migrate, newer_schema


class Backup(msgspec.Struct, frozen=True):
    """What a backup says of itself."""

    made: str
    digest: str
    """As the contents had it; empty when the backup was brought to a newer schema since, so that it cannot be told."""


def back_up(source: Store, path: Path, *, replaces: bool = False) -> Contents:
    """Write all that a store holds now into a file, while others go on writing to the store.

    The file gets its name when it is complete and checked. One that is there is replaced only when asked for.
    """
    if path.exists() and not replaces:
        raise StoreOccupied("there is such a file.", place=str(path), remedy="Say --force to replace it.")
    with _unfinished(path) as part:
        try:
            with source.base.read() as tx:
                contents = _write(tables_of(tx), part)
            _seal(part, contents)
            _publish(part, path, replaces)
        except (sqlite3.Error, OSError) as error:
            raise StoreUnusable(f"the backup cannot be made: {error}.", place=str(path)) from None
    return contents


def restore(path: Path, target: Store, *, replaces: bool = False) -> Contents:
    """Copy a backup into a store that holds nothing, or whose contents are replaced: all or nothing."""
    with target.base.write() as there:
        tables = tables_of(there)
        with open_backup(path, tables.rules) as (backup, here):
            contents = copy_rows(here, tables, replaces=replaces)
        if backup.digest and contents.digest != backup.digest:
            raise BackupBroken(
                "the file was changed after it was made; nothing was restored.",
                place=str(path),
                remedy=f"To take it as it is: postroom move sqlite:///{path} TARGET",
            )
    return contents


@contextmanager
def open_backup(path: Path, rules: Rules) -> Iterator[tuple[Backup, SqlTransaction]]:
    """A backup to read. The file is not touched; one with an older schema is brought up to date elsewhere."""
    if not path.is_file():
        raise FileMissing("there is no such file.", place=str(path))
    with contextlib.ExitStack() as stack:
        try:
            connection = stack.enter_context(closing(_connect(path, "?mode=ro&immutable=1")))
            backup = _described(connection, path)
            schema = int(connection.execute("PRAGMA user_version").fetchone()[0])
        except sqlite3.Error as error:
            raise BackupBroken(f"the file cannot be read as a backup: {error}.", place=str(path)) from None
        if schema > LATEST:
            raise newer_schema(schema, path)
        if schema == LATEST:
            connection.execute("BEGIN")
            yield backup, SqliteTransaction(connection, rules)
            return
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="postroom-"))
        copy = Path(folder) / "registry.db"
        copyfile(path, copy)
        store = stack.enter_context(SqliteStore(copy, rules))
        yield Backup(backup.made, ""), stack.enter_context(store.read())


def _write(tx: SqlTransaction, part: Path) -> Contents:
    with closing(_connect(part)) as connection:
        if isinstance(tx, SqliteTransaction):
            contents = contents_of(tx)
            tx.copy_pages(connection)
            return contents
        migrate(connection, part)
        connection.execute("BEGIN")
        contents = copy_rows(tx, SqliteTransaction(connection, tx.rules))
        connection.execute("COMMIT")
        return contents


def _seal(part: Path, contents: Contents) -> None:
    """Make one file of it that says what it holds, and check that it does."""
    with closing(_connect(part)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("DROP TABLE IF EXISTS backup")
        connection.execute("CREATE TABLE backup (made TEXT NOT NULL, digest TEXT NOT NULL)")
        now = datetime.now(UTC).isoformat(timespec="seconds")
        connection.execute("INSERT INTO backup VALUES (?, ?)", (now, contents.digest))
    with closing(_connect(part, "?mode=ro&immutable=1")) as connection:
        _check(connection, part)
        if contents_of(SqliteTransaction(connection, Rules())) != contents:
            raise StoreUnusable("the disk does not give back what was written to it.", place=str(part.parent))


def _described(connection: sqlite3.Connection, path: Path) -> Backup:
    found = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'backup'").fetchone()
    if not found[0]:
        raise BackupBroken(
            "the file is a database, but no backup.",
            place=str(path),
            remedy=f"A registry in a database is copied with: postroom move sqlite:///{path} TARGET",
        )
    _check(connection, path)
    made, digest = connection.execute("SELECT made, digest FROM backup").fetchone()
    return Backup(made, digest)


def _check(connection: sqlite3.Connection, path: Path) -> None:
    found = connection.execute("PRAGMA integrity_check").fetchone()[0]
    if found != "ok":
        raise BackupBroken(f"the file is damaged: {found}.", place=str(path))


def _connect(path: Path, options: str = "") -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(str(path))}{options}", isolation_level=None, uri=True)


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    """A file beside the one that is to be made, for its owner alone; it is gone at the end."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    except OSError as error:
        raise FolderUnwritable(f"cannot be written to: {error.strerror}.", place=str(path.parent)) from None
    os.close(handle)
    part = Path(name)
    try:
        yield part
    finally:
        for one in (part, Path(f"{part}-wal"), Path(f"{part}-shm"), Path(f"{part}-journal")):
            one.unlink(missing_ok=True)


def _publish(part: Path, path: Path, replaces: bool) -> None:
    """Give the file its name once it is on disk, without a moment in which another one's work could get lost."""
    _sync(part)
    try:
        if replaces:
            part.replace(path)
        else:
            path.hardlink_to(part)
    except FileExistsError:
        raise StoreOccupied("another process has made this file.", place=str(path)) from None
    except OSError:  # a file system without links
        part.rename(path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

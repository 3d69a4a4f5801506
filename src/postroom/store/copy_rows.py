"""Copy a registry, row by row, from one store into another, and prove by digest that the copy is the same."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Iterator

import msgspec

from postroom.errors import StoreChanged, StoreOccupied, StoreUnusable
from postroom.registry.search.search_index import index_existing
from postroom.registry.transaction_interface import Transaction
from postroom.store.interface import Store
from postroom.store.pending_rows import Row
from postroom.store.sql_transaction import SqlTransaction
from postroom.store.tables import TABLES, Table

PROGRESS = logging.getLogger("postroom.progress")
STEP = 2000
"""How many rows pass between two reports of progress."""


class Contents(msgspec.Struct, frozen=True):
    """What a registry holds: the SHA-256 of all rows, table by table in the order of their keys, and their numbers."""

    digest: str
    rows: dict[str, int]


class RowDigest:
    """Takes in the rows of all tables as they pass."""

    def __init__(self, doing: str) -> None:
        self._doing = doing
        self._hash = hashlib.sha256()
        self._rows: dict[str, int] = {}
        self._encode = msgspec.msgpack.Encoder().encode

    def over(self, table: Table, rows: Iterable[Row]) -> Iterator[Row]:
        """The rows of a table: each counts as a MessagePack array, after the table's name and before their number."""
        self._hash.update(self._encode(table.name))
        count = 0
        for row in rows:
            self._hash.update(self._encode(row))
            count += 1
            if count % STEP == 0:
                PROGRESS.info("%s %s: %s", self._doing, table.shown, f"{count:,}")
            yield row
        self._hash.update(self._encode(count))
        self._rows[table.shown] = count

    def contents(self) -> Contents:
        """What has passed."""
        return Contents(f"sha256:{self._hash.hexdigest()}", self._rows)


def tables_of(tx: Transaction) -> SqlTransaction:
    """A transaction that lets its tables be read and filled."""
    if not isinstance(tx, SqlTransaction):
        raise TypeError(f"{type(tx).__name__} has no tables")
    return tx


def contents_of(tx: SqlTransaction) -> Contents:
    """What a store holds."""
    digest = RowDigest("Checking")
    for table in TABLES:
        for _ in digest.over(table, tx.rows(table)):
            pass
    return digest.contents()


def copy_rows(here: SqlTransaction, there: SqlTransaction, *, replaces: bool = False) -> Contents:
    """Copy everything into a store that holds nothing, or whose contents are replaced, and read it there again."""
    for table in reversed(TABLES):
        if replaces:
            there.delete_rows(table)
        elif next(there.rows(table), None) is not None:
            raise StoreOccupied("there is a registry in this database.", remedy="Name a database without one.")
    digest = RowDigest("Copying")
    for table in TABLES:
        there.insert_rows(table, digest.over(table, here.rows(table)))
    copied = digest.contents()
    if contents_of(there) != copied:
        raise StoreUnusable("the database does not give back what was written to it; nothing was kept.")
    index_existing(there)
    return copied


def move_registry(source: Store, target: Store) -> Contents:
    """Copy all of a store that nobody writes to into one that holds nothing: all or nothing."""
    before = source.version()
    with source.base.read() as here, target.base.write() as there:
        copied = copy_rows(tables_of(here), tables_of(there))
        if source.version() != before:
            raise StoreChanged(
                "the registry was written to meanwhile; nothing was kept.",
                remedy="Stop the services that use it, and try again.",
            )
    return copied

"""The tables of a registry, the same in every database: what a copy has to carry, and what its digest is made of."""

from __future__ import annotations

import msgspec


class Table(msgspec.Struct, frozen=True):
    """A table with its columns. Rows come in the order of the key, texts compared byte by byte."""

    name: str
    shown: str
    """What its rows are called in a report."""
    key: tuple[str, ...]
    columns: tuple[str, ...]

    def select(self) -> str:
        """The statement that reads all rows."""
        return f"SELECT {', '.join(self.columns)} FROM {self.name} ORDER BY {', '.join(self.key)}"  # noqa: S608


_STATE = ("epoch", "createdat", "modifiedat", "attributes", "content", "url", "text", "counter")

TABLES: tuple[Table, ...] = (
    Table("configuration", "configuration", ("name",), ("name", "value")),
    Table("entity", "entities", ("xid",), ("xid", "collection", "folded", *_STATE, "xref")),
    Table("history", "history", ("xid", "sequence"), ("xid", "sequence", *_STATE)),
    Table(
        "change",
        "changes",
        ("sequence",),
        ("sequence", "xid", "action", "epoch", "changed", "actor", "correlation", "time"),
    ),
    Table("record", "records", ("kind", "id"), ("kind", "id", "body")),
)


def upsert(table: str, columns: str, key: str) -> str:
    """The statement that inserts a row, or replaces the one with its key."""
    names = [name.strip() for name in columns.split(",")]
    others = ", ".join(f"{name} = excluded.{name}" for name in names if name not in key.split(", "))
    marks = ", ".join("?" * len(names))
    return f"INSERT INTO {table} ({columns}) VALUES ({marks}) ON CONFLICT ({key}) DO UPDATE SET {others}"  # noqa: S608

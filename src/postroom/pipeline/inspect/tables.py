"""The tables of a lake as people ask for them: what they hold, by which definition, with which columns."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from postroom.messages.definitions.definition import CompiledCatalog
from postroom.pipeline.inspect.aliases import aliases
from postroom.pipeline.inspect.sql import quoted, sql_tables
from postroom.pipeline.lake.lake import Lake, TableLocation
from postroom.pipeline.lake.ledger import LedgerEntry, read_ledger
from postroom.pipeline.lake.manifest import ERASURE
from postroom.pipeline.lake.reconciliation import rows_of


class TableInfo(msgspec.Struct, frozen=True):
    """One table of landed messages; `columns` maps names to Delta types, members of structs by dotted names.

    `alias` is a name that every metastore takes; `landed_at` is when the last rows came.
    """

    table: str
    definition: str
    version: str
    rows: int
    columns: dict[str, str]
    folder: str
    alias: str
    landed_at: datetime | None = None


class TableChange(msgspec.Struct, frozen=True):
    """What a batch changed: a table was `created`, got columns (`columns_added`), or was `replaced` by a new one."""

    committed: datetime
    table: str
    kind: str
    detail: str
    batch: str
    catalog: str


def list_changes(lake: Lake) -> list[TableChange]:
    """All changes of tables that the ledger knows, oldest first."""
    names = {location.folder: sql_name(location) for location in sql_tables(lake)}
    return [
        TableChange(entry.committed, names[c.table], c.kind, c.detail, f"{entry.run}-{entry.batch}", entry.catalog)
        for entry in read_ledger(lake)
        for c in entry.changes
        if c.table in names
    ]


def sql_name(location: TableLocation) -> str:
    """The name of a table as `postroom sql` takes it."""
    return f"{quoted(location.schema)}.{quoted(location.name)}"


def list_tables(lake: Lake) -> list[TableInfo]:
    """All tables of landed messages."""
    entries = read_ledger(lake)[::-1]
    catalogs: dict[str, CompiledCatalog] = {}
    tables = sql_tables(lake)
    names = aliases(lake, tables)
    return [_info(lake, location, names[location.folder], entries, catalogs) for location in tables]


def _info(
    lake: Lake, location: TableLocation, alias: str, entries: list[LedgerEntry], catalogs: dict[str, CompiledCatalog]
) -> TableInfo:
    table = lake.table(location.folder)
    definition = table.metadata().name or ""
    columns = dict(_columns(msgspec.json.decode(table.schema().to_json())["fields"], ""))
    return TableInfo(
        sql_name(location),
        definition,
        _last_version(lake, definition, entries, catalogs),
        rows_of(table),
        columns,
        location.folder,
        alias,
        next((entry.committed for entry in entries if entry.landed.get(definition, 0) > 0), None),
    )


def _columns(fields: list[dict[str, Any]], prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for field in fields:
        delta_type, name = field["type"], prefix + field["name"]
        if isinstance(delta_type, dict) and delta_type["type"] == "struct":
            found.extend(_columns(delta_type["fields"], f"{name}."))
        else:
            found.append((name, type_name(delta_type)))
    return found


def type_name(delta_type: Any) -> str:
    """A Delta type in a word or a few: `long`, `array<string>`, `map<string, long>`."""
    if isinstance(delta_type, str):
        return delta_type
    if delta_type["type"] == "array":
        return f"array<{type_name(delta_type['elementType'])}>"
    if delta_type["type"] == "map":
        return f"map<{type_name(delta_type['keyType'])}, {type_name(delta_type['valueType'])}>"
    return f"struct<{', '.join(field['name'] for field in delta_type['fields'])}>"


def _last_version(lake: Lake, definition: str, entries: list[LedgerEntry], catalogs: dict[str, CompiledCatalog]) -> str:
    """The version of the definition that the newest rows were sorted by."""
    for entry in entries:
        if definition in entry.landed and entry.kind != ERASURE:
            if entry.catalog not in catalogs:
                catalogs[entry.catalog] = lake.catalog(entry.catalog)
            found = next((d.version for d in catalogs[entry.catalog].definitions if d.xid == definition), "")
            if found:
                return found
    return ""

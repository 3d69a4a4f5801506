"""The tables of a lake as people ask for them: what they hold, by which definition, with which columns."""

from __future__ import annotations

from typing import Any

import msgspec
import pyarrow as pa
from deltalake import DeltaTable

from postroom.messages.definition import CompiledCatalog
from postroom.pipeline.lake import Lake, TablePlace
from postroom.pipeline.ledger import LedgerEntry, read_ledger


class TableInfo(msgspec.Struct, frozen=True):
    """One table of landed messages; `columns` maps names to Delta types, members of structs by dotted names."""

    table: str
    definition: str
    version: str
    rows: int
    columns: dict[str, str]
    folder: str


def list_tables(lake: Lake) -> list[TableInfo]:
    """All tables of landed messages."""
    entries = read_ledger(lake)[::-1]
    catalogs: dict[str, CompiledCatalog] = {}
    return [_info(lake, place, entries, catalogs) for place in lake.places()]


def _info(lake: Lake, place: TablePlace, entries: list[LedgerEntry], catalogs: dict[str, CompiledCatalog]) -> TableInfo:
    table = DeltaTable(lake.path(place.folder))
    definition = table.metadata().name or ""
    columns = dict(_columns(msgspec.json.decode(table.schema().to_json())["fields"], ""))
    counts = pa.table(table.get_add_actions(flatten=True)).column("num_records").to_pylist()
    return TableInfo(
        f'"{place.schema}"."{place.name}"',
        definition,
        _last_version(lake, definition, entries, catalogs),
        sum(count or 0 for count in counts),
        columns,
        place.folder,
    )


def _columns(fields: list[dict[str, Any]], prefix: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for field in fields:
        kind, name = field["type"], prefix + field["name"]
        if isinstance(kind, dict) and kind["type"] == "struct":
            found.extend(_columns(kind["fields"], f"{name}."))
        else:
            found.append((name, type_name(kind)))
    return found


def type_name(kind: Any) -> str:
    """A Delta type in a word or a few: `long`, `array<string>`, `map<string, long>`."""
    if isinstance(kind, str):
        return kind
    if kind["type"] == "array":
        return f"array<{type_name(kind['elementType'])}>"
    if kind["type"] == "map":
        return f"map<{type_name(kind['keyType'])}, {type_name(kind['valueType'])}>"
    return f"struct<{', '.join(field['name'] for field in kind['fields'])}>"


def _last_version(lake: Lake, definition: str, entries: list[LedgerEntry], catalogs: dict[str, CompiledCatalog]) -> str:
    """The version of the definition that the newest rows were sorted by."""
    for entry in entries:
        if definition in entry.landed:
            if entry.catalog not in catalogs:
                catalogs[entry.catalog] = lake.catalog(entry.catalog)
            found = next((d.version for d in catalogs[entry.catalog].definitions if d.xid == definition), "")
            if found:
                return found
    return ""

"""DDL that brings the tables of a lake into a catalog of others: Spark, DuckDB, Trino, and what speaks Hive's SQL.

Besides the tables, by their aliases, there are views: `<alias>_all` over the tables that followed one another, and
`event__<type>` over those of one type of event, where it has several definitions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal

import msgspec

from postroom.messages.definitions.definition import CompiledCatalog, Definition
from postroom.messages.definitions.templates import has_placeholder
from postroom.pipeline.inspect.aliases import aliases, plain_alias
from postroom.pipeline.inspect.sql import quoted, text
from postroom.pipeline.lake.lake import DEAD_LETTERS, LEDGER, Lake
from postroom.pipeline.lake.ledger import read_ledger
from postroom.pipeline.worker.table_layout import RECORDS

DialectName = Literal["spark", "duckdb", "trino", "hive"]
DeltaType = Any
_NUMBERS = frozenset({"byte", "short", "integer", "long", "float", "double"})


class SqlDialect(msgspec.Struct, frozen=True):
    """How a program writes what views need; `table` is given the name, the folder and the columns of a table."""

    quote: str
    types: dict[str, str]
    struct_type: Callable[[list[tuple[str, str]]], str]
    list_type: str
    map_type: str
    struct: Callable[[list[tuple[str, str]], str], str]
    json: str
    table: Callable[[str, str, list[tuple[str, str]]], str]

    def quoted(self, name: str) -> str:
        """A name in the quotes of the dialect."""
        return self.quote + name.replace(self.quote, self.quote * 2) + self.quote

    def type(self, delta: DeltaType) -> str:
        """A type of Delta in the words of the dialect."""
        if isinstance(delta, str):
            return delta if delta.startswith("decimal") else self.types.get(delta, delta)
        if delta["type"] == "struct":
            fields = [(self.quoted(field["name"]), self.type(field["type"])) for field in delta["fields"]]
            return self.struct_type(fields)
        if delta["type"] == "array":
            return self.list_type.format(self.type(delta["elementType"]))
        return self.map_type.format(self.type(delta["keyType"]), self.type(delta["valueType"]))


class _Table(msgspec.Struct, frozen=True):
    alias: str
    folder: str
    definition: str
    columns: dict[str, DeltaType]


def view_statements(lake: Lake, dialect: DialectName, catalog: str = "") -> list[str]:
    """The statements that make tables and views, each complete; `catalog` is where: names with dots between them."""
    words = DIALECTS[dialect]
    prefix = "".join(f"{words.quoted(part)}." for part in catalog.split(".") if part)
    tables = list(_tables(lake))
    made = [_table(words, prefix + words.quoted(table.alias), lake, table) for table in tables]
    for name, members in [*_successions(tables), *_events(lake, tables)]:
        made.append(_union(words, prefix, name, members))
    return made


def _tables(lake: Lake) -> Iterator[_Table]:
    found = list(lake.tables())
    names = aliases(lake, found)
    for alias, folder in [*((names[table.folder], table.folder) for table in found), *_system_tables(lake)]:
        table = lake.table(folder)
        fields = msgspec.json.decode(table.schema().to_json())["fields"]
        columns = {field["name"]: field["type"] for field in fields}
        yield _Table(alias, folder, table.metadata().name or "", columns)


def _system_tables(lake: Lake) -> Iterator[tuple[str, str]]:
    for folder in (DEAD_LETTERS, LEDGER, RECORDS):
        if lake.has(folder):
            yield folder.strip("_"), folder


def _successions(tables: list[_Table]) -> Iterator[tuple[str, list[_Table]]]:
    """Tables of one message that followed one another."""
    by_first: dict[str, list[_Table]] = {}
    for table in tables:
        by_first.setdefault(table.folder.partition("@")[0], []).append(table)
    for members in by_first.values():
        if len(members) > 1:
            yield f"{members[0].alias}_all", members


def _events(lake: Lake, tables: list[_Table]) -> Iterator[tuple[str, list[_Table]]]:
    """Tables of one type of event that several definitions have, one for each protocol for example."""
    types = _event_types(lake)
    by_type: dict[str, list[_Table]] = {}
    for table in tables:
        if table.definition in types:
            by_type.setdefault(types[table.definition], []).append(table)
    for event_type, members in by_type.items():
        if len({table.definition for table in members}) > 1:
            yield plain_alias(f"event/{event_type.replace('/', '.')}"), members


def _event_types(lake: Lake) -> dict[str, str]:
    """The type of events that definitions ask for, as the newest catalog with the definition has it."""
    found: dict[str, str] = {}
    for digest in dict.fromkeys(entry.catalog for entry in reversed(read_ledger(lake))):
        catalog: CompiledCatalog = lake.catalog(digest)
        for definition in catalog.definitions:
            found.setdefault(definition.xid, _event_type(definition))
    return {xid: event_type for xid, event_type in found.items() if event_type}


def _event_type(definition: Definition) -> str:
    values = (constraint.value for constraint in definition.envelope_constraints if constraint.path[-1] == "type")
    value = next(values, None)
    return value if isinstance(value, str) and not has_placeholder(value) else ""


def _table(words: SqlDialect, name: str, lake: Lake, table: _Table) -> str:
    columns = [(words.quoted(column), words.type(delta)) for column, delta in table.columns.items()]
    return words.table(name, lake.storage.delta(table.folder)[0], columns)


def _union(words: SqlDialect, prefix: str, name: str, tables: list[_Table]) -> str:
    merged: dict[str, DeltaType] = {}
    for table in tables:
        for column, delta in table.columns.items():
            merged[column] = merge_delta_types(merged[column], delta) if column in merged else delta
    selects = [
        f"SELECT {', '.join(_as(words, table, column, wanted) for column, wanted in merged.items())}\n"
        f"FROM {prefix}{words.quoted(table.alias)}"
        for table in tables
    ]
    return f"CREATE OR REPLACE VIEW {prefix}{words.quoted(name)} AS\n" + "\nUNION ALL\n".join(selects)


def _as(words: SqlDialect, table: _Table, column: str, wanted: DeltaType) -> str:
    name = words.quoted(column)
    return f"{_cast(words, name, table.columns.get(column), wanted)} AS {name}"


def merge_delta_types(one: DeltaType, other: DeltaType) -> DeltaType:
    """The type of a column over tables: the same, numbers as double, structs with the members of both, else text."""
    if one == other:
        return one
    if isinstance(one, str) and isinstance(other, str):
        return "double" if {one, other} <= _NUMBERS else "string"
    if isinstance(one, dict) and isinstance(other, dict) and one["type"] == other["type"] == "struct":
        types = {field["name"]: field["type"] for field in one["fields"]}
        for field in other["fields"]:
            name = field["name"]
            types[name] = merge_delta_types(types[name], field["type"]) if name in types else field["type"]
        return {"type": "struct", "fields": [{"name": name, "type": delta} for name, delta in types.items()]}
    return "string"


def _cast(words: SqlDialect, value: str, present: DeltaType, wanted: DeltaType) -> str:
    """An expression of one type as another that `merge_delta_types` gave."""
    if present == wanted:
        return value
    if present is None:
        return f"CAST(NULL AS {words.type(wanted)})"
    if isinstance(wanted, str) or isinstance(present, str):
        return f"CAST({value} AS {words.type(wanted)})" if isinstance(present, str) else words.json.format(value)
    types = {field["name"]: field["type"] for field in present["fields"]}
    members = [
        (field["name"], _cast(words, f"{value}.{words.quoted(field['name'])}", types.get(field["name"]), field["type"]))
        for field in wanted["fields"]
    ]
    return f"CASE WHEN {value} IS NOT NULL THEN {words.struct(members, words.type(wanted))} END"


def _escaped(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _named_struct(members: list[tuple[str, str]], _: str) -> str:
    return f"named_struct({', '.join(f'{_escaped(name)}, {value}' for name, value in members)})"


def _struct_pack(members: list[tuple[str, str]], _: str) -> str:
    return f"struct_pack({', '.join(f'{quoted(name)} := {value}' for name, value in members)})"


def _angles(fields: list[tuple[str, str]]) -> str:
    return f"struct<{', '.join(f'{name}: {kind}' for name, kind in fields)}>"


def _parentheses(word: str) -> Callable[[list[tuple[str, str]]], str]:
    return lambda fields: f"{word}({', '.join(f'{name} {kind}' for name, kind in fields)})"


def _spark_table(name: str, folder: str, columns: list[tuple[str, str]]) -> str:
    return f"CREATE TABLE IF NOT EXISTS {name} USING DELTA LOCATION {_escaped(folder)}"


def _duckdb_table(name: str, folder: str, columns: list[tuple[str, str]]) -> str:
    return f"CREATE OR REPLACE VIEW {name} AS SELECT * FROM delta_scan({text(folder)})"  # noqa: S608


def _trino_table(name: str, folder: str, columns: list[tuple[str, str]]) -> str:
    *schema, table = [part.replace('""', '"') for part in name[1:-1].split('"."')]
    system = f'"{schema[0]}".system' if len(schema) > 1 else "system"
    place = schema[-1] if schema else "default"
    return (
        f"CALL {system}.register_table(schema_name => {text(place)}, table_name => {text(table)}, "
        f"table_location => {text(folder)})"
    )


def _hive_table(name: str, folder: str, columns: list[tuple[str, str]]) -> str:
    listed = ",\n".join(f"  {column} {kind}" for column, kind in columns)
    handler = "io.delta.hive.DeltaStorageHandler"
    return f"CREATE EXTERNAL TABLE IF NOT EXISTS {name} (\n{listed})\nSTORED BY '{handler}' LOCATION {_escaped(folder)}"


_HIVE_TYPES = {"long": "bigint", "integer": "int", "short": "smallint", "byte": "tinyint"}
_SPARK = SqlDialect("`", _HIVE_TYPES, _angles, "array<{}>", "map<{}, {}>", _named_struct, "to_json({})", _spark_table)
DIALECTS: dict[str, SqlDialect] = {
    "spark": _SPARK,
    "hive": msgspec.structs.replace(_SPARK, json="CAST({} AS string)", table=_hive_table),
    "duckdb": SqlDialect(
        '"',
        {
            "string": "VARCHAR",
            "long": "BIGINT",
            "short": "SMALLINT",
            "byte": "TINYINT",
            "binary": "BLOB",
            "timestamp": "TIMESTAMPTZ",
        },
        _parentheses("STRUCT"),
        "{}[]",
        "MAP({}, {})",
        _struct_pack,
        "CAST(to_json({}) AS VARCHAR)",
        _duckdb_table,
    ),
    "trino": SqlDialect(
        '"',
        {
            "string": "varchar",
            "long": "bigint",
            "short": "smallint",
            "byte": "tinyint",
            "float": "real",
            "binary": "varbinary",
            "timestamp": "timestamp(6) with time zone",
        },
        _parentheses("ROW"),
        "array({})",
        "map({}, {})",
        lambda members, kind: f"CAST(ROW({', '.join(value for _, value in members)}) AS {kind})",
        "json_format(CAST({} AS JSON))",
        _trino_table,
    ),
}

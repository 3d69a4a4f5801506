"""SQL over a lake with DuckDB: read-only, and nothing but the lake can be reached.

DuckDB gets the tables as Arrow datasets, to which it pushes columns and filters down. It needs no extension for them
and no access to files, so the doors to files, networks and extensions stay closed for every statement.
"""

from __future__ import annotations

import importlib.util
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from postroom.errors import BadFlag, ExtraMissing, LakeRefused
from postroom.pipeline.inspect.aliases import aliases
from postroom.pipeline.lake.lake import Lake, TableLocation
from postroom.pipeline.storage.errors import telling_errors
from postroom.pipeline.worker.table_layout import DEAD_LETTERS, LEDGER, RECORDS

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

# Who asks which tables there are means all of them.
_ABOUT_ALL = ("information_schema", "duckdb_", "pg_catalog", "show ", "pragma")

_DATABASE, _MAIN = "memory", "main"


class QueryResult(msgspec.Struct, frozen=True):
    """The result of a query: names of columns and rows of values."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def run_query(lake: Lake, sql: str) -> QueryResult:
    """Run one SELECT over the tables `"group"."message"`, or their aliases, `dead_letters`, `ledger` and `records`."""
    connection = open_duckdb()
    import duckdb

    try:
        only_select(connection, sql)
        _make_views(connection, lake, sql)
        close_doors(connection)
        return fetch(connection, sql)
    except duckdb.Error as error:
        raise BadFlag(_sentence(error), remedy=_hint(lake, sql, error)) from None
    finally:
        connection.close()


def open_duckdb() -> DuckDBPyConnection:
    """DuckDB as it comes: it loads no extension, and never downloads one."""
    if importlib.util.find_spec("duckdb") is None:
        raise ExtraMissing("this needs `pip install 'postroom[spark]'`.", place="duckdb")
    import duckdb

    connection = duckdb.connect(
        ":memory:", config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    )
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def fetch(connection: DuckDBPyConnection, sql: str) -> QueryResult:
    """Run a query; through Arrow, because DuckDB's own Python values of timestamps need one more library.

    Values that Python has no type for, such as dates beyond the year 9999, are shown as DuckDB writes them.
    """
    import duckdb

    names = tuple(column[0] for column in connection.execute(sql).description or ())
    try:
        columns = [_values(column) for column in connection.to_arrow_table().columns]
    except duckdb.NotImplementedException:  # a type that Arrow does not have
        columns = [None] * len(names)
    as_text = [values is None for values in columns]
    if any(as_text):
        # All columns anew: another run may give other rows, or the same in another order.
        columns = [_values(column) for column in _in_texts(connection, sql, as_text).columns]
    return QueryResult(names, list(zip(*(values or [] for values in columns), strict=True)))


def _values(column: pa.ChunkedArray) -> list[Any] | None:
    """The values of a column; None where Python has none for them."""
    if not _has_plain_keys(column.type):
        return None
    try:
        values: list[Any] = column.to_pylist(maps_as_pydicts="lossy")
    except (ArithmeticError, ValueError, NotImplementedError):
        return None
    return values


def _has_plain_keys(data_type: pa.DataType) -> bool:
    """Whether all maps in a type have keys that JSON can have as names."""
    import pyarrow as pa

    if pa.types.is_map(data_type) and not (
        pa.types.is_string(data_type.key_type) or pa.types.is_integer(data_type.key_type)
    ):
        return False
    return all(_has_plain_keys(data_type.field(number).type) for number in range(data_type.num_fields))


def _in_texts(connection: DuckDBPyConnection, sql: str, as_text: list[bool]) -> pa.Table:
    """The answer again, some columns of it as DuckDB writes their values."""
    names = [f"c{number}" for number in range(len(as_text))]
    shown = [f"CAST({name} AS VARCHAR)" if text else name for name, text in zip(names, as_text, strict=True)]
    connection.execute(f"CREATE TEMP VIEW answer({', '.join(names)}) AS {sql}")
    return connection.execute(f"SELECT {', '.join(shown)} FROM temp.answer").to_arrow_table()  # noqa: S608


def only_select(connection: DuckDBPyConnection, sql: str) -> None:
    """Refuse all but one SELECT."""
    statements = [statement.type.name for statement in connection.extract_statements(sql)]
    if statements != ["SELECT"]:
        what = f"this is {' and '.join(statements)}" if statements else "there is none"
        raise BadFlag(f"a lake is only read: one SELECT is allowed, and {what}.")


def add_table(connection: DuckDBPyConnection, lake: Lake, folder: str, name: str, schema: str = _MAIN) -> None:
    """Offer a table of the lake; it is read when somebody asks, and then only what they ask for."""
    import duckdb
    from deltalake.exceptions import DeltaError

    place = f"{lake.url}/{folder}"
    try:
        with telling_errors(place, DeltaError):
            rows = lake.table(folder).to_pyarrow_dataset()
    except DeltaError as error:
        raise LakeRefused(f"this table cannot be read: {error}", place=place) from None
    full_schema = f"{_DATABASE}.{quoted(schema)}"
    connection.execute(f"CREATE SCHEMA IF NOT EXISTS {full_schema}")
    connection.execute(f"SET schema = {text(full_schema)}")
    with suppress(duckdb.CatalogException):  # of two names that differ only by case, the first
        connection.from_arrow(rows).create_view(name, replace=False)
    connection.execute(f"SET schema = {text(_MAIN)}")


def _make_views(connection: DuckDBPyConnection, lake: Lake, sql: str) -> None:
    for name, folder in (("dead_letters", DEAD_LETTERS), ("ledger", LEDGER), ("records", RECORDS)):
        if lake.has(folder):
            add_table(connection, lake, folder, name)
    names, spoken = aliases(lake, lake.tables()), sql.lower()
    for table in _named(lake, sql, names):
        add_table(connection, lake, table.folder, table.name, table.schema)
        if names[table.folder] in spoken or "show tables" in spoken:
            add_table(connection, lake, table.folder, names[table.folder])


def _named(lake: Lake, sql: str, names: dict[str, str]) -> list[TableLocation]:
    # Each view opens its table; with thousands of them only those that are spoken of should be.
    spoken = sql.lower()
    tables = sql_tables(lake)
    if any(word in spoken for word in _ABOUT_ALL):
        return tables
    return [table for table in tables if quoted(table.name)[1:-1].lower() in spoken or names[table.folder] in spoken]


def sql_tables(lake: Lake) -> list[TableLocation]:
    """All tables with names that differ in SQL, where case does not count.

    The second table of `a` and the table of a message that is really called `a@2` would have one name: then the
    message's table goes by the name of its folder.
    """
    tables = list(lake.tables())
    taken = {(table.schema.lower(), table.name.lower()) for table in tables if table.name == _folder(table)}
    found: list[TableLocation] = []
    for table in tables:
        if table.name != _folder(table):
            if (table.schema.lower(), table.name.lower()) in taken:
                table = msgspec.structs.replace(table, name=_folder(table))  # noqa: PLW2901
            taken.add((table.schema.lower(), table.name.lower()))
        found.append(table)
    return found


def _folder(table: TableLocation) -> str:
    return table.folder.rpartition("/")[2]


def close_doors(connection: DuckDBPyConnection) -> None:
    """Let nothing be reached from now on but the tables that are there."""
    # Names of our own variables must not become tables either.
    connection.execute("SET python_enable_replacements = false")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def quoted(identifier: str) -> str:
    """A name as SQL writes it, whatever is in it."""
    return '"' + identifier.replace('"', '""') + '"'


def text(value: str) -> str:
    """A text as SQL writes it."""
    return "'" + value.replace("'", "''") + "'"


def _sentence(error: Exception) -> str:
    return " ".join(str(error).partition("\n\n")[0].partition("\nLINE")[0].split())


def _hint(lake: Lake, sql: str, error: Exception) -> str:
    spoken = sql.lower()
    unquoted = (table for table in sql_tables(lake) if f"{table.schema}.{table.name}".lower() in spoken)
    meant = max(unquoted, key=lambda table: len(table.schema) + len(table.name), default=None)
    if meant is not None and f"{quoted(meant.schema)}.{quoted(meant.name)}".lower() not in spoken:
        return f"Put the two names in quotes: {quoted(meant.schema)}.{quoted(meant.name)}."
    return "`postroom tables` lists the tables." if "does not exist" in str(error) else ""

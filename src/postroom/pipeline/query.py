"""SQL over a lake with DuckDB: read-only, and nothing but the lake can be reached."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from postroom.errors import BadFlag, ExtraMissing
from postroom.pipeline.lake import Lake, TablePlace
from postroom.pipeline.layout import DEAD_LETTERS, LEDGER

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection


# Who asks which tables there are means all of them.
_ABOUT_ALL = ("information_schema", "duckdb_", "pg_catalog")


class Answer(msgspec.Struct, frozen=True):
    """Names of columns and rows of values."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def run_query(lake: Lake, sql: str) -> Answer:
    """Run one SELECT over the tables `"group"."message"`, `dead_letters` and `ledger`."""
    connection = open_duckdb()
    import duckdb

    try:
        only_select(connection, sql)
        _make_views(connection, lake, sql)
        close_doors(connection, lake)
        return fetch(connection, sql)
    except duckdb.Error as error:
        raise BadFlag(_sentence(error), remedy=_hint(error)) from None
    finally:
        connection.close()


def open_duckdb() -> DuckDBPyConnection:
    """DuckDB with its Delta extension from the installed package; it is never downloaded."""
    if importlib.util.find_spec("duckdb") is None or importlib.util.find_spec("duckdb_extension_delta") is None:
        raise ExtraMissing("this needs `pip install 'postroom[spark]'`.", place="duckdb")
    import duckdb
    import duckdb_extension_delta

    connection = duckdb.connect(
        ":memory:", config={"autoinstall_known_extensions": False, "autoload_known_extensions": False}
    )
    for folder in duckdb_extension_delta.__path__:
        for extension in Path(folder).glob(f"extensions/v{duckdb.__version__}/delta.duckdb_extension"):
            connection.load_extension(str(extension))
            connection.execute("SET TimeZone = 'UTC'")
            return connection
    raise ExtraMissing(
        f"there is no Delta extension for DuckDB {duckdb.__version__}.",
        remedy="`pip install 'postroom[spark]'` brings versions that go together.",
    )


def fetch(connection: DuckDBPyConnection, sql: str) -> Answer:
    """Run a query; through Arrow, because DuckDB's own Python values of timestamps need one more library."""
    table = connection.execute(sql).to_arrow_table()
    columns = [column.to_pylist(maps_as_pydicts="lossy") for column in table.columns]
    return Answer(tuple(table.column_names), list(zip(*columns, strict=True)))


def scan(lake: Lake, folder: str) -> str:
    """The SQL that reads a table of the lake."""
    return f"delta_scan({text(str(lake.path(folder)))})"


def only_select(connection: DuckDBPyConnection, sql: str) -> None:
    """Refuse all but one SELECT."""
    kinds = [statement.type.name for statement in connection.extract_statements(sql)]
    if kinds != ["SELECT"]:
        what = f"this is {' and '.join(kinds)}" if kinds else "there is none"
        raise BadFlag(f"a lake is only read: one SELECT is allowed, and {what}.")


def _make_views(connection: DuckDBPyConnection, lake: Lake, sql: str) -> None:
    for name, folder in (("dead_letters", DEAD_LETTERS), ("ledger", LEDGER)):
        if lake.has(folder):
            connection.execute(f"CREATE VIEW {name} AS FROM {scan(lake, folder)}")
    for place in _named(lake, sql):
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quoted(place.schema)}")
        view = f"{quoted(place.schema)}.{quoted(place.name)}"
        connection.execute(f"CREATE VIEW IF NOT EXISTS {view} AS FROM {scan(lake, place.folder)}")


def _named(lake: Lake, sql: str) -> list[TablePlace]:
    # Each view opens its table; with thousands of them only those that are spoken of should be.
    spoken = sql.lower()
    places = sql_places(lake)
    if any(word in spoken for word in _ABOUT_ALL):
        return places
    return [place for place in places if quoted(place.name)[1:-1].lower() in spoken]


def sql_places(lake: Lake) -> list[TablePlace]:
    """All tables with names that differ in SQL, where case does not count.

    The second table of `a` and the table of a message that is really called `a@2` would have one name: then the
    message's table goes by the name of its folder.
    """
    places = list(lake.places())
    taken = {(place.schema.lower(), place.name.lower()) for place in places if place.name == _folder(place)}
    found: list[TablePlace] = []
    for place in places:
        if place.name != _folder(place):
            if (place.schema.lower(), place.name.lower()) in taken:
                place = msgspec.structs.replace(place, name=_folder(place))  # noqa: PLW2901
            taken.add((place.schema.lower(), place.name.lower()))
        found.append(place)
    return found


def _folder(place: TablePlace) -> str:
    return place.folder.rpartition("/")[2]


def close_doors(connection: DuckDBPyConnection, lake: Lake) -> None:
    """Let nothing but the lake be reached from now on."""
    # Names of our own variables must not become tables either.
    connection.execute("SET python_enable_replacements = false")
    connection.execute(f"SET allowed_directories = [{text(str(lake.root) + '/')}]")
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


def _hint(error: Exception) -> str:
    return "`postroom tables` lists the tables." if "does not exist" in str(error) else ""

"""Conditions over the columns of a table, as people write them in SQL: they can only read, and only that table."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from postroom.errors import BadFlag


def rows_where(table: pa.Table, where: str) -> pa.Array:
    """For each row whether the condition holds; all do without one. What is neither true nor false does not."""
    if not where.strip():
        return pa.array([True] * table.num_rows, pa.bool_())
    import duckdb

    connection = duckdb.connect(
        ":memory:",
        config={
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            # The answer must have the order of the rows.
            "threads": 1,
        },
    )
    try:
        connection.execute("SET TimeZone = 'UTC'")
        connection.register("letters", table)
        # Names of Python variables must not become tables, nor names of files.
        connection.execute("SET python_enable_replacements = false")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        sql = f"SELECT coalesce(CAST({enclosed(where)} AS BOOLEAN), false) AS chosen FROM letters"  # noqa: S608
        if [statement.type.name for statement in connection.extract_statements(sql)] != ["SELECT"]:
            raise BadFlag("a condition is one expression.", place=where)
        found = connection.execute(sql).to_arrow_table().column("chosen").combine_chunks()
    except duckdb.Error as error:
        raise condition_error(where, error, table.schema.names) from None
    finally:
        connection.close()
    if len(found) != table.num_rows:
        raise BadFlag("a condition says yes or no for one row after the other.", place=where)
    return found


def enclosed(where: str) -> str:
    """A condition that may stand anywhere; the line ends keep a comment in it from reaching further."""
    return f"(\n{where}\n)"


def condition_error(where: str, error: Exception, columns: Sequence[str]) -> BadFlag:
    """What is wrong with a condition, in a sentence, and what it can speak of."""
    message = " ".join(str(error).partition("\n\n")[0].partition("\nLINE")[0].split())
    return BadFlag(f"{message.rstrip('.')}.", place=where, remedy=f"The columns are {', '.join(columns)}.")

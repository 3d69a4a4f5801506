"""The tables of a lake: rows, freshness, columns and some rows of each; and those that a definition lands in."""

from __future__ import annotations

from typing import Any

from postroom.http.server.response import Response
from postroom.registry.problems import RegistryProblem
from postroom.ui.lake.lake_commands import LakeUnreadable, ask_lake, lake_page, require_lake, typed, unreadable
from postroom.ui.page import PageRequest

SAMPLE_ROWS = 10
MOST_COLUMNS = 40
MOST_TABLES = 500
LONGEST_VALUE = 300
HERE = "/-/lake"
_TABLES = ("tables",)


def answer_lake(page: PageRequest) -> Response:
    """What the lake has taken in, and its tables."""
    lake = require_lake(page)
    try:
        tables, report = ask_lake(page, _TABLES, ("ledger", "--last", "0"))
    except LakeUnreadable as error:
        return unreadable(page, lake, error)
    tables.sort(key=lambda one: (one["definition"], one["table"]))
    return lake_page(
        page,
        "lake.html",
        HERE,
        {"ledger": report, "tables": tables},
        lake=lake,
        report=report,
        tables=tables[:MOST_TABLES],
        more=max(0, len(tables) - MOST_TABLES),
        command=typed("tables", "--lake", lake),
    )


def answer_table(page: PageRequest) -> Response:
    """One table, by its folder: its columns, and some of its rows."""
    lake, folder = require_lake(page), page.query.get("folder", "")
    try:
        (tables,) = ask_lake(page, _TABLES)
        table = next((one for one in tables if one["folder"] == folder), None)
        if table is None:
            raise RegistryProblem("not_found", folder or page.request.path)
        query = f"SELECT * FROM {table['table']} LIMIT {SAMPLE_ROWS}"  # noqa: S608 - the lake quotes its names
        (rows,) = ask_lake(page, ("sql", query))
    except LakeUnreadable as error:
        return unreadable(page, lake, error)
    shown = _shown_columns(table["columns"])
    return lake_page(
        page,
        "lake_table.html",
        HERE,
        table | {"sample": rows},
        table=table,
        shown=shown,
        rows=[[_cell(row, column) for column in shown] for row in rows],
        command=typed("sql", "--lake", lake, query),
    )


def answer_landed(page: PageRequest) -> Response:
    """The tables that a definition lands in; a part of its page."""
    lake, xid = require_lake(page), page.query.get("xid", "")
    try:
        (tables,) = ask_lake(page, _TABLES)
    except LakeUnreadable as error:
        return unreadable(page, lake, error)
    found = [one for one in tables if one["definition"] == xid]
    return lake_page(page, "lake_landed.html", HERE, found, tables=found, xid=xid)


def _shown_columns(columns: dict[str, str]) -> list[str]:
    """Columns whose values are shown: the payload first, then variables, metadata and when a row landed."""
    order = ("data", "var_", "ce_", "meta_", "_landed_at")
    ranked = [(next((rank for rank, start in enumerate(order) if one.startswith(start)), -1), one) for one in columns]
    return [one for rank, one in sorted(ranked, key=lambda pair: pair[0]) if rank >= 0][:MOST_COLUMNS]


def _cell(row: dict[str, Any], column: str) -> Any:
    value: Any = row
    for step in [column] if column in row else column.split("."):
        value = value.get(step) if isinstance(value, dict) else None
    if isinstance(value, str) and len(value) > LONGEST_VALUE:
        return value[:LONGEST_VALUE] + "…"
    return value

"""The newest changes, one for each request that made some, by the most telling of the entities that it wrote."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from postroom.registry.entities import Change
from postroom.registry.transaction_interface import Transaction

ROWS_LOOKED_AT = 300
MOST_NAMED = 4
_COUNTS = frozenset({"epoch", "modifiedat"})


def recent_changes(tx: Transaction, limit: int) -> list[dict[str, Any]]:
    """What was done last, the newest first."""
    last = tx.last_change()
    if last is None:
        return []
    rows = tx.changes(max(0, last.sequence - ROWS_LOOKED_AT), ROWS_LOOKED_AT)
    requests = [list(group) for _, group in groupby(rows, key=lambda row: row.correlation)]
    return [_summary(one) for one in reversed(requests[-limit:])]


def _summary(rows: list[Change]) -> dict[str, Any]:
    telling = [row for row in rows if not _only_counts(row)] or rows
    deepest = max(row.xid.count("/") for row in telling)
    chosen: dict[str, Change] = {}
    for row in telling:
        if row.xid.count("/") == deepest or row.action != "updated":
            chosen.setdefault(_resource(row.xid), row)
    shown = [{"xid": xid, "action": row.action} for xid, row in chosen.items()]
    first = rows[0]
    return {
        "time": first.time,
        "actor": first.actor,
        "changes": shown[:MOST_NAMED],
        "more": max(0, len(shown) - MOST_NAMED),
    }


def _only_counts(row: Change) -> bool:
    """Whether an entity changed only because what is in it did."""
    return row.action == "updated" and any(name.endswith("count") for name in row.changed)


def _resource(xid: str) -> str:
    """The Resource that a Version belongs to; other entities are their own."""
    return "/".join(xid.split("/")[:5])

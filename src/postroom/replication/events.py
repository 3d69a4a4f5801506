"""Rows of the change log as CloudEvents: those of xRegistry (core/events.md); the message catalog has its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from postroom.registry.entities import Change
from postroom.registry.transaction import Transaction
from postroom.replication.catalog_events import catalog_events_of

__all__ = ["Event", "catalog_events_of", "entity_kind", "event_of", "events_of"]

Event = dict[str, Any]

ENTITIES = {0: "group", 2: "resource", 4: "version"}
"""The kind of an entity by the number of slashes that follow those of a Group."""
CONFIGURATION = {"/": "registry", "/model": "model", "/modelsource": "modelsource", "/capabilities": "capabilities"}
WITHOUT_NAMES = frozenset({"created", "deleted"})


def events_of(
    tx: Transaction, changes: Iterable[Change], base: str, *, names: bool = True
) -> Iterator[tuple[int, Event]]:
    """The change events of rows, each with the sequence of its row; the same row always gives the same event.

    Every row is one event, except that a registry's own beginning is none. Without `names` the events do not say
    which attributes changed.
    """
    for change in changes:
        if change.xid == "/" and change.action == "created":
            continue
        yield change.sequence, event_of(change, base, names)


def event_of(change: Change, base: str, names: bool = True) -> Event:
    """The xRegistry event of one row, in structured form."""
    kind = entity_kind(change.xid)
    event: Event = {
        "specversion": "1.0",
        "type": f"io.xregistry.{kind}.{change.action}",
        "source": base,
        "subject": change.xid,
        "id": change.mark,
        "time": change.time,
        "xregcorrelationid": change.correlation,
    }
    if names and change.action not in WITHOUT_NAMES and kind not in ("model", "modelsource"):
        event["datacontenttype"] = "application/json"
        event["data"] = {"changed": list(change.changed)}
    return event


def entity_kind(xid: str) -> str:
    """What an xid is the xid of: `registry`, `group`, …, as the types of events call it."""
    return CONFIGURATION.get(xid) or ENTITIES[xid.count("/") - 2]

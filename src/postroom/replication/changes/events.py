"""Rows of the change log as CloudEvents: those of xRegistry (core/events.md); the message catalog has its own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from postroom.registry.entities import Change
from postroom.registry.transaction_interface import Transaction
from postroom.replication.changes.messagecatalog_events import catalog_events_of

__all__ = ["Event", "catalog_events_of", "event_of", "events_of"]

Event = dict[str, Any]

ENTITIES = {2: "group", 4: "resource", 6: "version"}
"""The type of an entity by the number of slashes in its xid."""
CONFIGURATION = {"/": "registry", "/model": "model", "/modelsource": "modelsource", "/capabilities": "capabilities"}
WITHOUT_NAMES = frozenset({"created", "deleted"})
NAMELESS = frozenset({"model", "modelsource"})


def events_of(
    tx: Transaction, changes: Iterable[Change], base: str, *, names: bool = True
) -> Iterator[tuple[int, Event]]:
    """The change events of rows, each with the sequence of its row; the same row always gives the same event.

    Every row is one event, except that a registry's own beginning is none. Without `names` the events do not say
    which attributes changed.
    """
    return ((change.sequence, event_of(change, base, names)) for change in changes if not _is_beginning(change))


def _is_beginning(change: Change) -> bool:
    """Whether a row is the creation of the registry itself, for which the specification has no event."""
    return change.xid == "/" and change.action == "created"


def event_of(change: Change, base: str, names: bool = True) -> Event:
    """The xRegistry event of one row, in structured form."""
    xid, action = change.xid, change.action
    kind = CONFIGURATION.get(xid) or ENTITIES[xid.count("/")]
    event: Event = {
        "specversion": "1.0",
        "type": f"io.xregistry.{kind}.{action}",
        "source": base,
        "subject": xid,
        "id": change.mark,
        "time": change.time,
        "xregcorrelationid": change.correlation,
    }
    if names and action not in WITHOUT_NAMES and kind not in NAMELESS:
        event["datacontenttype"] = "application/json"
        event["data"] = {"changed": list(change.changed)}
    return event

"""Rows of the change log as CloudEvents: those of xRegistry (core/events.md) and those of the message catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from postroom.registry.entities import Change
from postroom.registry.transaction import Transaction

Event = dict[str, Any]

ENTITIES = {0: "group", 2: "resource", 4: "version"}
"""The kind of an entity by the number of slashes that follow those of a Group."""
CONFIGURATION = {"/": "registry", "/model": "model", "/modelsource": "modelsource", "/capabilities": "capabilities"}
WITHOUT_NAMES = frozenset({"created", "deleted"})
CATALOG_TYPE = "io.cloudevents.messagecatalog.{}.v1"


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


def catalog_events_of(tx: Transaction, changes: Iterable[Change], base: str) -> Iterator[tuple[int, Event]]:
    """The message catalog's events of rows: of groups and definitions, without data; other rows give none."""
    for change in changes:
        subject = catalog_path(change.xid)
        if subject is None or change.action == "deprecation":
            continue
        kind = "deleted" if change.action == "deleted" else "updated"
        yield (
            change.sequence,
            {
                "specversion": "1.0",
                "type": CATALOG_TYPE.format(kind),
                "source": base,
                "subject": subject,
                "id": change.mark,
                "time": _recorded(tx, change),
            },
        )


def catalog_path(xid: str) -> str | None:
    """Where the message catalog API has a message group or a message; None for everything else."""
    match xid.split("/")[1:]:
        case ["messagegroups", group]:
            return f"/messagecatalog/{group}"
        case ["messagegroups", group, "messages", message]:
            return f"/messagecatalog/{group}/messagedefinitions/{message}"
    return None


def _recorded(tx: Transaction, change: Change) -> str:
    """The time that the catalog shows for the change: clients may have chosen it."""
    if change.action == "deleted":
        return change.time
    after = tx.superseded(change.xid, change.sequence)
    entity = after[1] if after else tx.entity(change.xid)
    return entity.modifiedat if entity else change.time

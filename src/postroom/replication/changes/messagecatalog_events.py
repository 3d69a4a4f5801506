"""Rows of the change log as events of the message catalog: its groups, definitions and their versions, without data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import unquote

from postroom.documents.dialects.messagecatalog_ids import catalog_segment, entity_id
from postroom.registry.entities import Change
from postroom.registry.read.resource_history import NumberedState, number_after, read_states
from postroom.registry.transaction_interface import Transaction

UPDATED = "io.cloudevents.messagecatalog.updated.v1"
DELETED = "io.cloudevents.messagecatalog.deleted.v1"
_SAME_REQUEST = 100
"""How many rows a request may have below one message for its last one to be found."""


def catalog_events_of(
    tx: Transaction,
    changes: Iterable[Change],
    base: str,
    *,
    names: bool = True,  # called like events_of; these events have no data that could have them
) -> Iterator[tuple[int, dict[str, Any]]]:
    """The message catalog's events of rows, each with the sequence of its row; most rows give none.

    A version is told when it comes. It goes with its definition only, and has no event of its own then.
    """
    catalog = _Catalog(tx)
    for change in changes:
        found = catalog.place(change)
        if found is None:
            continue
        subject, time = found
        kind = DELETED if change.action == "deleted" else UPDATED
        # The xRegistry event of the same change has the same source, so that the ids must differ.
        name = f"{change.mark}-catalog"
        event = {"specversion": "1.0", "type": kind, "source": base, "subject": subject, "id": name}
        yield change.sequence, {**event, "time": time}


def subject_xid(subject: str) -> str:
    """The xid of what an event is about, be it one of the catalog or of the registry; of a version its definition's."""
    match subject.split("/"):
        case ["", "messagecatalog", group]:
            return f"/messagegroups/{entity_id(unquote(group))}"
        case ["", "messagecatalog", group, "messagedefinitions", message, *_]:
            return f"/messagegroups/{entity_id(unquote(group))}/messages/{entity_id(unquote(message))}"
        case _:
            return subject


class _Catalog:
    """Where the catalog API has what changed, and which time it shows for the change."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._states: dict[str, list[NumberedState]] = {}

    def place(self, change: Change) -> tuple[str, str] | None:
        if change.action == "deprecation":
            return None
        collection, *parts = change.xid.split("/")[1:]
        match [collection, *map(catalog_segment, parts)]:
            case ["messagegroups", group]:
                return f"/messagecatalog/{group}", self._group_time(change)
            case ["messagegroups", group, "messages", message]:
                state = self._state(change.xid, change, self._last_row(change))
                time = change.time if state is None or change.action == "deleted" else state.version.modifiedat
                return f"/messagecatalog/{group}/messagedefinitions/{message}", time
            case ["messagegroups", group, "messages", message, "versions", _] if change.action != "deleted":
                state = self._state(change.xid.rsplit("/", 2)[0], change, change.sequence)
                if state is not None:
                    path = f"/messagecatalog/{group}/messagedefinitions/{message}/versions/{state.number}"
                    return path, state.version.modifiedat
        return None

    def _group_time(self, change: Change) -> str:
        after = self._tx.superseded(change.xid, change.sequence)
        group = after[1] if after else self._tx.entity(change.xid)
        return group.modifiedat if group and change.action != "deleted" else change.time

    def _last_row(self, change: Change) -> int:
        """The last row that the same request wrote below a message."""
        rows = self._tx.changes(change.sequence, _SAME_REQUEST, change.xid)
        return max((row.sequence for row in rows if row.correlation == change.correlation), default=change.sequence)

    def _state(self, xid: str, change: Change, sequence: int) -> NumberedState | None:
        """The state that the message was in after a change; None when it is gone, or is another one of that name."""
        if xid not in self._states:
            self._states[xid] = read_states(self._tx, xid)
        message, states = self._tx.entity(xid), self._states[xid]
        if message is None or message.createdat > change.time:
            return None
        number = number_after(states, sequence)
        return states[number - 1] if number <= len(states) else None

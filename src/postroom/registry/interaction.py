"""One request: one "now", one actor, every change noted once, however often an entity is touched on the way."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from datetime import UTC, datetime

import msgspec

from postroom.model.includes import Fetch, refuse_all
from postroom.model.types import Model
from postroom.registry.attachments import detach_all
from postroom.registry.authority import index
from postroom.registry.entities import Action, Change, Entity
from postroom.registry.transaction import Transaction


def timestamp() -> str:
    """Now, in UTC with microseconds, in the form that times in requests are brought to: equal texts, equal times."""
    return datetime.now(UTC).isoformat(timespec="microseconds").removesuffix("+00:00").rstrip("0").rstrip(".") + "Z"


class Interaction:
    """The frame of one write; `finish` puts the change log and the history into the same transaction."""

    def __init__(self, tx: Transaction, *, now: str = "", actor: str = "", correlation: str = "") -> None:
        self.tx = tx
        self.rules = tx.rules
        self.now = now or timestamp()
        self.actor = actor
        self.correlation = correlation or str(uuid.uuid4())
        self.checks_epochs = True
        self.fetch: Fetch = refuse_all
        self._before: dict[str, Entity | None] = {}
        self._notes: dict[str, set[str]] = {}
        self._pending: dict[str, Callable[[], None]] = {}

    @property
    def model(self) -> Model:
        """The model in force, also right after this request changed it."""
        return self.tx.model()

    def save(self, entity: Entity) -> None:
        """Create or replace an entity."""
        self._remember(entity.xid)
        self.tx.put(entity)
        index(self.tx, entity)

    def remove(self, xid: str) -> None:
        """Remove an entity and everything below it."""
        for entity in self.tx.below(xid):
            self._before.setdefault(entity.xid, entity)
            self.tx.delete(entity.xid)
        self._remember(xid)
        self.tx.delete(xid)
        detach_all(self.tx, xid)

    def touch(self, xid: str) -> None:
        """Raise an entity's epoch because a member came or went; once per request is enough."""
        entity = self.tx.entity(xid)
        if entity is None or self.is_changed(xid):
            return
        self.save(msgspec.structs.replace(entity, epoch=entity.epoch + 1, modifiedat=self.now))

    def note(self, path: str, changed: Iterable[str]) -> None:
        """Log a change of configuration, which is no entity but belongs to the Registry."""
        self._notes.setdefault(path, set()).update(changed)

    def at_end(self, name: str, check: Callable[[], None]) -> None:
        """Put off a check until everything the request asks for is written; once per name."""
        self._pending.setdefault(name, check)

    def settle(self) -> None:
        """Run the checks that were put off; they may put off more."""
        while self._pending:
            self._pending.pop(next(iter(self._pending)))()

    def is_changed(self, xid: str) -> bool:
        """Whether this request has written the entity already."""
        return xid in self._before

    def epoch_after(self, xid: str, existing: Entity | None) -> int:
        """The epoch an entity has after this request: one more than before it, however often it is written."""
        if xid in self._before:
            before = self._before[xid]
            return before.epoch + 1 if before else 1
        return existing.epoch + 1 if existing else 1

    def finish(self) -> list[Change]:
        """Write the change log and the history; the rows in the order in which entities were first touched."""
        self.settle()
        changes = []
        for xid, before in self._before.items():
            after = self.tx.entity(xid)
            change = self._change(xid, before, after)
            if change is None:
                continue
            sequence = self.tx.append_change(change)
            changes.append(msgspec.structs.replace(change, sequence=sequence))
            if before is not None:
                self.tx.append_history(before, sequence)
        self._before.clear()
        return changes + self._noted()

    def _noted(self) -> list[Change]:
        registry = self.tx.entity("/") or _NOTHING
        changes = []
        for path, names in self._notes.items():
            change = self._row(path, "updated", registry.epoch, tuple(sorted(names)))
            changes.append(msgspec.structs.replace(change, sequence=self.tx.append_change(change)))
        self._notes.clear()
        return changes

    def _remember(self, xid: str) -> None:
        if xid not in self._before:
            self._before[xid] = self.tx.entity(xid)

    def _change(self, xid: str, before: Entity | None, after: Entity | None) -> Change | None:
        action: Action = "updated" if before and after else "created" if after else "deleted"
        if (before is None and after is None) or before == after:
            return None
        names = changed_names(before, after) if before and after else ()
        return self._row(xid, action, (after or before or _NOTHING).epoch, names)

    def _row(self, xid: str, action: Action, epoch: int, changed: tuple[str, ...]) -> Change:
        return Change(
            xid=xid,
            action=action,
            epoch=epoch,
            changed=changed,
            actor=self.actor,
            correlation=self.correlation,
            time=self.now,
        )


_NOTHING = Entity(xid="", epoch=0, createdat="", modifiedat="")


def changed_names(before: Entity, after: Entity) -> tuple[str, ...]:
    """Names of the attributes that differ between two states of an entity."""
    names = before.attributes.keys() | after.attributes.keys()
    changed = {name for name in names if before.attributes.get(name) != after.attributes.get(name)}
    changed |= {name for name in ("epoch", "createdat", "modifiedat") if getattr(before, name) != getattr(after, name)}
    if before.document != after.document:
        changed.add("document")
    return tuple(sorted(changed))

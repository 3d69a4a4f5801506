"""The unit of work of a request: one "now", one actor, every change logged once, however often it is made."""

from __future__ import annotations

import functools
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Concatenate, ParamSpec, TypeVar

import msgspec

from postroom.model.includes import Fetch, refuse_fetch
from postroom.model.types import Model
from postroom.registry.changes.changelog import Changelog, ChangeRow, ConfigurationChange
from postroom.registry.changes.entity_attachments import detach_all
from postroom.registry.changes.provenance import index_version_uri
from postroom.registry.configuration.capabilities import Capabilities, read_capabilities
from postroom.registry.entities import Change, Entity
from postroom.registry.numbering.numbered_writes import SchemaNumbering, is_schema_version
from postroom.registry.permissions import UNRESTRICTED
from postroom.registry.problems import RegistryProblem
from postroom.registry.search.search_index import index_written
from postroom.registry.transaction_interface import Transaction

P = ParamSpec("P")
T = TypeVar("T")


def timestamp() -> str:
    """Now, in UTC with microseconds, in the form that times in requests are brought to: equal texts, equal times."""
    return datetime.now(UTC).isoformat(timespec="microseconds").removesuffix("+00:00").rstrip("0").rstrip(".") + "Z"


def _no_earlier_than(last: Change | None) -> str:
    """Now; or the time of the newest change, where the clock was set back since."""
    # Without the Z, the texts are in the order of the times.
    return max(timestamp(), last.time if last is not None else "", key=lambda time: time.removesuffix("Z"))


class UnitOfWork:
    """The frame of one write; `finish` puts the change log and the history into the same transaction."""

    replicates = False
    """Whether it brings what other registries wrote, instead of being a write of somebody here."""

    def __init__(
        self,
        tx: Transaction,
        *,
        now: str = "",
        actor: str = "",
        correlation: str = "",
        capabilities: Capabilities | None = None,
        fetch: Fetch = refuse_fetch,
    ) -> None:
        self.tx = tx
        self.rules = tx.rules
        self.now = now or _no_earlier_than(tx.last_change())
        self.permissions = tx.permissions
        self.actor = actor if self.replicates else tx.permissions.principal or actor
        self.correlation = correlation or str(uuid.uuid4())
        self.checks_epochs = True
        self.fetch = fetch
        if capabilities is not None:
            self.capabilities = capabilities
        self._before: dict[str, Entity | None] = {}
        self._removed: set[str] = set()
        self._notes: dict[str, ConfigurationChange] = {}
        self._pending: dict[str, Callable[[], None]] = {}
        self._depth = 0

    @property
    def model(self) -> Model:
        """The model in force, also right after this request changed it."""
        return self.tx.model()

    @functools.cached_property
    def capabilities(self) -> Capabilities:
        """The capabilities in force, also right after this request changed them."""
        return read_capabilities(self.tx)

    @functools.cached_property
    def numbering(self) -> SchemaNumbering:
        """Gives schemas their ids."""
        return SchemaNumbering(self.tx, replicates=self.replicates)

    @property
    def may_lock(self) -> bool:
        """Whether `readonly` can be set: by administrators; where access is off there are none."""
        return self.permissions.administers and self.permissions is not UNRESTRICTED

    def save(self, entity: Entity) -> None:
        """Create or replace an entity; refused where the principal may not write."""
        self.permissions.require_write(entity.xid)
        self._put(entity)

    def _put(self, entity: Entity) -> None:
        self._remember(entity.xid)
        if is_schema_version(entity.xid):
            is_new = self._is_new(entity.xid.rpartition("/versions/")[0])
            entity = self.numbering.numbered(entity, self.tx.entity(entity.xid), is_new_resource=is_new)
        self.tx.put(entity)
        index_version_uri(self.tx, entity)

    def remove(self, xid: str) -> list[Entity]:
        """Remove an entity and everything below it, which is given back; refused where the principal may not write."""
        self.permissions.require_write(xid)
        below = self.tx.below(xid)
        for entity in below:
            self._before.setdefault(entity.xid, entity)
            self._delete(entity.xid)
        self._remember(xid)
        self._delete(xid)
        detach_all(self.tx, xid)
        return below

    def touch(self, xid: str) -> None:
        """Raise an entity's epoch because a member came or went; once per request is enough. It takes no grant."""
        entity = None if self.is_changed(xid) else self.tx.entity(xid)
        if entity is None:
            return
        self._put(msgspec.structs.replace(entity, epoch=entity.epoch + 1, modifiedat=self.now))

    def note(self, path: str, changed: Iterable[str] = (), before: dict[str, object] | None = None) -> None:
        """Log a change of configuration, which is no entity but belongs to the Registry, with what was there before."""
        self._notes.setdefault(path, ConfigurationChange(set(), before)).changed.update(changed)

    def at_end(self, name: str, check: Callable[[], None]) -> None:
        """Put off a check until the operation has written everything; once per name."""
        self._pending.setdefault(name, check)

    @contextmanager
    def operation(self) -> Iterator[None]:
        """Write something whole: the checks that were put off run when the outermost operation ends well."""
        self._depth += 1
        try:
            yield
            if self._depth == 1:
                self._settle()
        finally:
            self._depth -= 1

    def _settle(self) -> None:
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
        self._settle()
        if not self.replicates and "/model" not in self._notes:
            self.rules.guard(self.tx, self._before)
        changes = self._log(Changelog(self.tx, self._before, self._removed, self._notes))
        index_written(self.tx, self._before)
        self._before.clear()
        self._removed.clear()
        self._notes.clear()
        return changes

    def finish_below(self, xid: str) -> None:
        """Log what was written of one entity so far: what follows is its next change, not the same one."""
        before = {one: entity for one, entity in self._before.items() if one == xid or one.startswith(f"{xid}/")}
        self._log(Changelog(self.tx, before, self._removed, {}))
        index_written(self.tx, before)
        for one in before:
            del self._before[one]
            self._removed.discard(one)

    def _log(self, changelog: Changelog) -> list[Change]:
        changes = []
        for row in changelog.rows():
            change = self._change(row)
            sequence = self.tx.append_change(change)
            changes.append(msgspec.structs.replace(change, sequence=sequence))
            if row.superseded is not None:
                self.tx.append_history(row.superseded, sequence)
        self._report_groups(changes)
        return changes

    def _report_groups(self, changes: Iterable[Change]) -> None:
        """Tell of Groups that went, and of those that came to somebody who does not own them anyway."""
        for change in changes:
            if change.xid.count("/") != 2:
                continue
            if change.action == "deleted":
                self.rules.group_deleted(self.tx, change.xid)
            elif change.action == "created" and self._gets_owner(change.xid):
                self.rules.group_created(self.tx, change.xid, self.permissions.principal)

    def _gets_owner(self, xid: str) -> bool:
        return bool(self.permissions.principal) and not self.replicates and not self.permissions.own.covers(xid)

    def _remember(self, xid: str) -> None:
        if xid not in self._before:
            self._before[xid] = self.tx.entity(xid)
            most = self.rules.most_entities
            if most and len(self._before) > most:
                sentence = f"one request may write at most {most:,} entities; send them in several"
                raise RegistryProblem("bad_request", "/", error_detail=sentence, status=413)

    def _is_new(self, xid: str) -> bool:
        return xid in self._before and self._before[xid] is None

    def _delete(self, xid: str) -> None:
        self._removed.add(xid)
        self.numbering.deleted(xid, self.tx.entity(xid))
        self.tx.delete(xid)

    def _change(self, row: ChangeRow) -> Change:
        return Change(
            xid=row.xid,
            action=row.action,
            epoch=row.epoch,
            changed=row.changed,
            actor=self.actor,
            correlation=self.correlation,
            time=self.now,
        )


def operation(function: Callable[Concatenate[UnitOfWork, P], T]) -> Callable[Concatenate[UnitOfWork, P], T]:
    """Make a function one operation of its unit of work, so that it returns with nothing left to be checked."""

    @functools.wraps(function)
    def run(work: UnitOfWork, /, *args: P.args, **kwargs: P.kwargs) -> T:
        with work.operation():
            return function(work, *args, **kwargs)

    return run

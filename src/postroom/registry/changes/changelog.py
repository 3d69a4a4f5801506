"""Rows of the change log for one request: one for each event that core/events.md asks for.

Names of types and default Versions may change later, so the rows are complete when the request ends.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import NamedTuple

from postroom.registry.entities import Action, Document, Entity
from postroom.registry.transaction_interface import Transaction

IDENTITY = ("versionid", "self", "xid", "epoch", "isdefault", "createdat", "modifiedat")
"""Attributes of every rendered Version beside its own and the id of its Resource."""
STAMPS = ("epoch", "createdat", "modifiedat")

Lookup = Callable[[str], Entity | None]


class ChangeRow(NamedTuple):
    """One row to be written, and the entity that its change superseded."""

    xid: str
    action: Action
    epoch: int
    changed: tuple[str, ...] = ()
    superseded: Entity | None = None


class ConfigurationChange(NamedTuple):
    """A change of the model or the capabilities: the names that changed, and the document before."""

    changed: set[str]
    before: dict[str, object] | None


class Changelog:
    """Builds the rows of a request from its entities before and after it."""

    def __init__(
        self,
        tx: Transaction,
        before: Mapping[str, Entity | None],
        removed: AbstractSet[str],
        configuration: Mapping[str, ConfigurationChange],
    ) -> None:
        self._tx = tx
        self._before = before
        self._removed = removed
        self._configuration = configuration
        self._now: dict[str, Entity | None] = {}

    def rows(self) -> Iterator[ChangeRow]:
        """All rows, a Resource before its Versions, the Registry before its configuration, deprecations last."""
        deprecations: list[ChangeRow] = []
        for xid in self._subjects():
            row = self._row(xid)
            if row is not None:
                yield row
                deprecations += self._deprecation(row)
            if xid == "/":
                yield from self._configuration_rows()
        yield from deprecations

    def _subjects(self) -> Iterator[str]:
        """The xids that were written, and the Resources whose default Version was."""
        reported: set[str] = set()
        for xid in self._before:
            resource = _resource_of(xid)
            if resource and resource not in self._before and resource not in reported and self._shows(resource, xid):
                reported.add(resource)
                yield resource
            yield xid

    def _shows(self, resource: str, version: str) -> bool:
        entity = self._is(resource)
        return entity is not None and f"{resource}/versions/{entity.attributes.get('defaultversionid')}" == version

    def _row(self, xid: str) -> ChangeRow | None:
        before, after = self._was(xid), self._is(xid)
        if xid in self._before and before == after and xid not in self._removed:
            return None
        if before is not None and (after is None or xid in self._removed):
            return ChangeRow(xid, "deleted", before.epoch, (), before)
        if after is None:
            return None
        if before is None:
            return ChangeRow(xid, "created", after.epoch)
        changed = tuple(sorted(self._names(xid, before, after)))
        return ChangeRow(xid, "updated", after.epoch, changed, before if xid in self._before else None)

    def _names(self, xid: str, before: Entity, after: Entity) -> set[str]:
        names = _differing(before, after)
        if xid == "/":
            return names | self._members[xid] | {path.removeprefix("/") for path in self._configuration}
        slashes = xid.count("/")
        if slashes == 4:
            names |= self._reference_names(before, after)
            return {f"meta.{name}" for name in names} | self._members[xid] | self._default_names(xid)
        if slashes == 6 and before.document != after.document:
            singular = self._singular(xid)
            names |= _document_names(singular, before.document) | _document_names(singular, after.document)
        return names | self._members[xid]

    @cached_property
    def _members(self) -> dict[str, set[str]]:
        """For every entity that got or lost members: the attributes that hold and count them."""
        found: dict[str, set[str]] = defaultdict(set)
        for xid, before in self._before.items():
            if xid == "/" or (before is None) == (self._is(xid) is None):
                continue
            owner, plural = xid.rsplit("/", 2)[:2]
            found[owner or "/"] |= {plural, plural + "count"}
        return found

    def _reference_names(self, before: Entity, after: Entity) -> set[str]:
        """All attributes of both metas, when the xref of a Resource has changed."""
        if before.attributes.get("xref") == after.attributes.get("xref"):
            return set()
        metas = (_target(self._was, before), _target(self._is, after))
        return {name for meta in metas if meta for name in (*meta.attributes, *STAMPS)}

    def _default_names(self, xid: str) -> set[str]:
        """The changed attributes of the default Version of a Resource: all of them, when it is another Version."""
        before, after = _default(self._was, xid), _default(self._is, xid)
        if before and after and before.xid == after.xid:
            return set() if before == after else self._names(after.xid, before, after)
        return {name for version in (before, after) if version for name in self._rendered_names(xid, version)}

    def _rendered_names(self, xid: str, version: Entity) -> set[str]:
        singular = self._singular(xid)
        own = {name for name, value in version.attributes.items() if value is not None}
        short = {"shortself"} if (self._tx.capabilities() or {}).get("shortself") else set()
        return own | {*IDENTITY, singular + "id"} | short | _document_names(singular, version.document)

    def _deprecation(self, row: ChangeRow) -> Iterator[ChangeRow]:
        if row.action == "deleted" or row.xid.count("/") not in (2, 4):
            return
        before, after = self._was(row.xid), self._is(row.xid)
        old = before.attributes.get("deprecated") if before else None
        new = after.attributes.get("deprecated") if after else None
        if old == new:
            return
        members, others = old or {}, new or {}
        names = sorted(name for name in members.keys() | others.keys() if members.get(name) != others.get(name))
        yield ChangeRow(row.xid, "deprecation", row.epoch, tuple(names))

    def _configuration_rows(self) -> Iterator[ChangeRow]:
        registry = self._is("/")
        epoch = registry.epoch if registry else 0
        for path, change in self._configuration.items():
            superseded = None
            if change.before is not None:
                superseded = Entity(xid=path, epoch=epoch, createdat="", modifiedat="", attributes=change.before)
            yield ChangeRow(path, "updated", epoch, tuple(sorted(change.changed)), superseded)

    def _singular(self, xid: str) -> str:
        group, plural = xid.split("/")[1:4:2]
        return self._tx.model().groups[group].resources[plural].singular

    def _was(self, xid: str) -> Entity | None:
        return self._before[xid] if xid in self._before else self._is(xid)

    def _is(self, xid: str) -> Entity | None:
        if xid not in self._now:
            self._now[xid] = self._tx.entity(xid)
        return self._now[xid]


def _resource_of(xid: str) -> str:
    """The Resource of a Version; empty for anything else."""
    return xid.rsplit("/", 2)[0] if xid.count("/") == 6 else ""


def _target(lookup: Lookup, resource: Entity | None) -> Entity | None:
    """The Resource that holds Versions and meta: the target of an xref."""
    return lookup(resource.attributes["xref"]) if resource and "xref" in resource.attributes else resource


def _default(lookup: Lookup, xid: str) -> Entity | None:
    """The default Version of a Resource, which for an xref is that of the target."""
    resource = _target(lookup, lookup(xid))
    if resource is None or "defaultversionid" not in resource.attributes:
        return None
    return lookup(f"{resource.xid}/versions/{resource.attributes['defaultversionid']}")


def _differing(before: Entity, after: Entity) -> set[str]:
    names = before.attributes.keys() | after.attributes.keys()
    changed = {name for name in names if before.attributes.get(name) != after.attributes.get(name)}
    return changed | {name for name in STAMPS if getattr(before, name) != getattr(after, name)}


def _document_names(singular: str, document: Document | None) -> set[str]:
    """The name of the attribute that holds a document; its base64 form counts as the same attribute."""
    return set() if document is None else {singular + "url" if document.url else singular}

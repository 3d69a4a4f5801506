"""Reading: an entity with as much below it as an answer will show, taken from a transaction once."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.model.types import GroupType, Model, ResourceType
from postroom.registry.entities import Entity
from postroom.registry.inlining import Inline
from postroom.registry.places import Place
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction import Transaction


class VersionTree(msgspec.Struct, frozen=True, kw_only=True):
    """A Version under the xid it is shown at (which for an xref is not where it is stored)."""

    xid: str
    resource_id: str
    kind: ResourceType
    entity: Entity
    isdefault: bool


class ResourceTree(msgspec.Struct, frozen=True, kw_only=True):
    """A Resource: its meta, its default Version, and its Versions when they are shown."""

    xid: str
    kind: ResourceType
    meta: Entity
    xref: str = ""
    default: VersionTree | None = None
    count: int = 0
    versions: dict[str, VersionTree] | None = None

    @property
    def id(self) -> str:
        """The id of the Resource."""
        return self.xid.rpartition("/")[2]


class GroupTree(msgspec.Struct, frozen=True, kw_only=True):
    """A Group with the sizes of its collections and those that are shown."""

    kind: GroupType
    entity: Entity
    counts: dict[str, int]
    collections: dict[str, dict[str, ResourceTree]]


class RegistryTree(msgspec.Struct, frozen=True, kw_only=True):
    """The Registry with the sizes of its collections and those that are shown."""

    model: Model
    entity: Entity
    counts: dict[str, int]
    collections: dict[str, dict[str, GroupTree]]
    modelsource: dict[str, Any]


class MetaTree(msgspec.Struct, frozen=True, kw_only=True):
    """The meta of a Resource on its own."""

    resource: ResourceTree


Tree = RegistryTree | GroupTree | ResourceTree | MetaTree | VersionTree
Collection = dict[str, GroupTree] | dict[str, ResourceTree] | dict[str, VersionTree]


def read_entity(tx: Transaction, place: Place, inline: Inline) -> Tree:
    """The entity at a place; `not_found` when it is not there."""
    match place.kind:
        case "registry":
            return read_registry(tx, inline)
        case "group":
            return read_group(tx, place.group, required(tx, place.xid), inline)
        case "resource":
            return read_resource(tx, place.resource, required(tx, place.xid), inline)
        case "meta":
            resource = read_resource(tx, place.resource, required(tx, place.resource_xid, place.xid), inline)
            return MetaTree(resource=resource)
        case _:
            return _read_version(tx, place)


def read_collection(tx: Transaction, place: Place, inline: Inline, only: set[str] | None = None) -> Collection:
    """The members of a collection, or some of them."""
    match place.kind:
        case "groups":
            return _groups(tx, place.group, inline, only)
        case "resources":
            required(tx, place.group_xid)
            return _resources(tx, place.group_xid, place.resource, inline, only)
        case _:
            resource = read_resource(
                tx, place.resource, required(tx, place.resource_xid), Inline(names={"versions": inline})
            )
            members = resource.versions or {}
            return {one: tree for one, tree in members.items() if only is None or one in only}


def required(tx: Transaction, xid: str, subject: str = "") -> Entity:
    """The entity, or `not_found`."""
    entity = tx.entity(xid)
    if entity is None:
        raise RegistryProblem("not_found", subject or xid)
    return entity


def read_registry(tx: Transaction, inline: Inline) -> RegistryTree:
    """The Registry with the Groups that are shown."""
    model = tx.model()
    return RegistryTree(
        model=model,
        entity=required(tx, "/"),
        counts={plural: tx.count(f"/{plural}") for plural in model.groups},
        collections={
            plural: _groups(tx, kind, below)
            for plural, kind in model.groups.items()
            if (below := inline.below(plural)) is not None
        },
        modelsource=tx.modelsource(),
    )


def read_group(tx: Transaction, kind: GroupType, entity: Entity, inline: Inline) -> GroupTree:
    """A Group with the Resources that are shown."""
    return GroupTree(
        kind=kind,
        entity=entity,
        counts={plural: tx.count(f"{entity.xid}/{plural}") for plural in kind.resources},
        collections={
            plural: _resources(tx, entity.xid, resource, below)
            for plural, resource in kind.resources.items()
            if (below := inline.below(plural)) is not None
        },
    )


def read_resource(tx: Transaction, kind: ResourceType, meta: Entity, inline: Inline) -> ResourceTree:
    """A Resource; a reference shows its target's data under its own ids (RES-051), one level deep (RES-057)."""
    xref = meta.attributes.get("xref", "")
    source = tx.entity(xref) if xref else meta
    if source is None or "xref" in source.attributes:
        return ResourceTree(xid=meta.xid, kind=kind, meta=meta, xref=xref)
    resource_id, default = meta.id, source.attributes["defaultversionid"]

    def tree(entity: Entity) -> VersionTree:
        xid = f"{meta.xid}/versions/{entity.id}"
        return VersionTree(xid=xid, resource_id=resource_id, kind=kind, entity=entity, isdefault=entity.id == default)

    members = tx.entities(f"{source.xid}/versions") if inline.shows("versions") else None
    return ResourceTree(
        xid=meta.xid,
        kind=kind,
        meta=source,
        xref=xref,
        default=tree(required(tx, f"{source.xid}/versions/{default}")),
        count=tx.count(f"{source.xid}/versions"),
        versions={entity.id: tree(entity) for entity in members} if members is not None else None,
    )


def _groups(tx: Transaction, kind: GroupType, inline: Inline, only: set[str] | None = None) -> dict[str, GroupTree]:
    found = tx.entities(f"/{kind.plural}")
    return {e.id: read_group(tx, kind, e, inline) for e in found if only is None or e.id in only}


def _resources(
    tx: Transaction, group_xid: str, kind: ResourceType, inline: Inline, only: set[str] | None = None
) -> dict[str, ResourceTree]:
    found = tx.entities(f"{group_xid}/{kind.plural}")
    return {e.id: read_resource(tx, kind, e, inline) for e in found if only is None or e.id in only}


def _read_version(tx: Transaction, place: Place) -> VersionTree:
    resource = read_resource(
        tx, place.resource, required(tx, place.resource_xid, place.xid), Inline(names={"versions": Inline()})
    )
    found = (resource.versions or {}).get(place.ids[5])
    if found is None:
        raise RegistryProblem("not_found", place.xid)
    return found

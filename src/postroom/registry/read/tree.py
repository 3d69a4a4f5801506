"""Entities read from a transaction as trees, with as much below them as a response includes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from postroom.deadlines import check_deadline
from postroom.model.types import GroupType, Model, ResourceType
from postroom.registry.entities import Entity
from postroom.registry.paths import EntityPath
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.filter import UNFILTERED, FilterScope
from postroom.registry.query.inline import NOTHING, Inline
from postroom.registry.transaction_interface import Transaction


class VersionTree(msgspec.Struct, frozen=True, kw_only=True):
    """A Version under the xid it is rendered with, which for an xref is not where it is stored."""

    xid: str
    resource_id: str
    type: ResourceType
    entity: Entity
    isdefault: bool


class ResourceTree(msgspec.Struct, frozen=True, kw_only=True):
    """A Resource: its meta, its default Version, and its Versions when they are included."""

    xid: str
    type: ResourceType
    meta: Entity
    xref: str = ""
    default: VersionTree | None = None
    count: int = 0
    versions: dict[str, VersionTree] | None = None
    query: str = ""

    @property
    def id(self) -> str:
        """The id of the Resource."""
        return self.xid.rpartition("/")[2]


class GroupTree(msgspec.Struct, frozen=True, kw_only=True):
    """A Group with the sizes of its collections, and the collections that are included."""

    type: GroupType
    entity: Entity
    counts: dict[str, int]
    collections: dict[str, dict[str, ResourceTree]]
    queries: dict[str, str] = {}


class RegistryTree(msgspec.Struct, frozen=True, kw_only=True):
    """The Registry with the sizes of its collections, and the collections that are included."""

    model: Model
    entity: Entity
    counts: dict[str, int]
    collections: dict[str, dict[str, GroupTree]]
    modelsource: dict[str, Any]
    queries: dict[str, str] = {}


class MetaTree(msgspec.Struct, frozen=True, kw_only=True):
    """The meta of a Resource on its own."""

    resource: ResourceTree


_MADE = (
    *("versionid", "self", "shortself", "xid", "epoch", "isdefault", "createdat", "modifiedat"),
    *("meta", "metaurl", "versions", "versionsurl", "versionscount"),
)
READ_TOGETHER = 100
"""How many Resources are read by a few statements; each may have a large document."""

T = TypeVar("T", RegistryTree, GroupTree)
Tree = RegistryTree | GroupTree | ResourceTree | MetaTree | VersionTree
Collection = dict[str, GroupTree] | dict[str, ResourceTree] | dict[str, VersionTree]


class Nested(msgspec.Struct, frozen=True):
    """What was read below an entity: sizes of collections, the included ones, and the query strings of their URLs."""

    counts: dict[str, int]
    included: dict[str, Any]
    queries: dict[str, str]


def read_entity(tx: Transaction, path: EntityPath, inline: Inline, scope: FilterScope = UNFILTERED) -> Tree:
    """Read the entity at a path; `not_found` when it does not exist or the filter excludes it."""
    found = _entity(tx, path, inline, scope)
    if found is None:
        raise RegistryProblem("not_found", path.xid)
    return found


def _entity(tx: Transaction, path: EntityPath, inline: Inline, scope: FilterScope) -> Tree | None:
    match path.kind:
        case "registry":
            return _registry(tx, inline, scope)
        case "group":
            return _group(tx, path.group, require_entity(tx, path.xid), inline, scope)
        case "resource":
            return _resource(tx, path.resource, require_entity(tx, path.xid), inline, scope)
        case "meta":
            return _meta(tx, path, inline, scope)
        case _:
            return _version(tx, path, scope)


def read_collection(
    tx: Transaction,
    path: EntityPath,
    inline: Inline,
    only: Iterable[str] | None = None,
    scope: FilterScope = UNFILTERED,
) -> Collection:
    """Read the members of a collection, or some of them."""
    match path.kind:
        case "groups":
            return _groups(tx, path.group, inline, scope, only)
        case "resources":
            require_entity(tx, path.group_xid)
            return _resources(tx, path.group_xid, path.resource, inline, scope, only)
        case _:
            meta = require_entity(tx, path.resource_xid)
            return _versions(tx, path.resource, meta, _source(tx, meta), scope, only)


def stored_collection(tx: Transaction, path: EntityPath) -> str:
    """The xid of the collection that stores the members: that of the target for an xref, empty for a dangling one."""
    if path.kind == "groups":
        return path.xid
    if path.kind == "resources":
        require_entity(tx, path.group_xid)
        return path.xid
    source = _source(tx, require_entity(tx, path.resource_xid))
    return f"{source.xid}/versions" if source else ""


def require_entity(tx: Transaction, xid: str, subject: str = "") -> Entity:
    """Read an entity; `not_found` when it does not exist."""
    entity = tx.entity(xid)
    if entity is None:
        raise RegistryProblem("not_found", subject or xid)
    return entity


def read_registry(tx: Transaction, inline: Inline) -> RegistryTree:
    """Read the Registry with the Groups that are included."""
    found = _registry(tx, inline, UNFILTERED)
    if found is None:
        raise RegistryProblem("not_found", "/")
    return found


def _registry(tx: Transaction, inline: Inline, scope: FilterScope) -> RegistryTree | None:
    model = tx.model()
    counts = {plural: tx.count(f"/{plural}") for plural in model.groups}
    tree = RegistryTree(
        model=model, entity=require_entity(tx, "/"), counts=counts, collections={}, modelsource=tx.modelsource()
    )

    def read(plural: str, below: Inline, finer: FilterScope) -> dict[str, Any]:
        return _groups(tx, model.groups[plural], below, finer)

    return _with_nested(tree, _nested(tree, counts, inline, scope, read))


def _group(
    tx: Transaction, group_type: GroupType, entity: Entity, inline: Inline, scope: FilterScope
) -> GroupTree | None:
    counts = {plural: tx.count(f"{entity.xid}/{plural}") for plural in group_type.resources}
    tree = GroupTree(type=group_type, entity=entity, counts=counts, collections={})

    def read(plural: str, below: Inline, finer: FilterScope) -> dict[str, Any]:
        return _resources(tx, entity.xid, group_type.resources[plural], below, finer)

    return _with_nested(tree, _nested(tree, counts, inline, scope, read))


def _with_nested(tree: T, nested: Nested | None) -> T | None:
    if nested is None:
        return None
    return msgspec.structs.replace(tree, counts=nested.counts, collections=nested.included, queries=nested.queries)


class _ReadAhead(msgspec.Struct, frozen=True):
    """What many Resources need of their Versions, read together: their default Versions, and how many there are."""

    defaults: dict[str, Entity] = {}
    counts: dict[str, int] = {}


def _resource(
    tx: Transaction,
    resource_type: ResourceType,
    meta: Entity,
    inline: Inline,
    scope: FilterScope,
    ahead: _ReadAhead = _ReadAhead(),  # noqa: B008  # it is frozen
) -> ResourceTree | None:
    """A Resource; a reference shows its target's data under its own ids (RES-051), one level deep (RES-057)."""
    xref, source = meta.attributes.get("xref", ""), _source(tx, meta)
    if source is None:
        dangling = ResourceTree(xid=meta.xid, type=resource_type, meta=meta, xref=xref)
        return dangling if scope.evaluate(dangling).everything else None
    default = ahead.defaults.get(_default_xid(source)) or require_entity(tx, _default_xid(source))
    versions = f"{source.xid}/versions"
    counts = {"versions": ahead.counts.get(versions) or tx.count(versions)}
    tree = ResourceTree(
        xid=meta.xid,
        type=resource_type,
        meta=source,
        xref=xref,
        default=_version_tree(resource_type, meta, source, default),
        count=counts["versions"],
    )

    def read(_: str, __: Inline, finer: FilterScope) -> dict[str, Any]:
        return _versions(tx, resource_type, meta, source, finer)

    nested = _nested(tree, counts, inline, scope, read)
    if nested is None:
        return None
    return msgspec.structs.replace(
        tree,
        count=nested.counts["versions"],
        versions=nested.included.get("versions"),
        query=nested.queries["versions"],
    )


def _nested(
    tree: Tree,
    counts: dict[str, int],
    inline: Inline,
    scope: FilterScope,
    read: Callable[[str, Inline, FilterScope], dict[str, Any]],
) -> Nested | None:
    """Read what is included or has to be counted below an entity; None when the filter excludes the entity."""
    check_deadline()
    result = scope.evaluate(tree)
    if not result.everything and not result.below:
        return None
    finer = {name: scope.below(result, name) for name in counts}
    members = {
        name: {} if finer[name].excludes_all else read(name, inline.below(name) or NOTHING, finer[name])
        for name in counts
        if inline.shows(name) or finer[name].filter is not None
    }
    if not result.everything and not any(members.values()):
        return None
    counts = {name: len(members[name]) if name in members else count for name, count in counts.items()}
    return Nested(
        counts=counts,
        included={name: found for name, found in members.items() if inline.shows(name)},
        queries={name: finer[name].query(count) for name, count in counts.items()},
    )


def _groups(
    tx: Transaction, group_type: GroupType, inline: Inline, scope: FilterScope, only: Iterable[str] | None = None
) -> dict[str, GroupTree]:
    found = ((e.id, _group(tx, group_type, e, inline, scope)) for e in _entities(tx, f"/{group_type.plural}", only))
    return {entity_id: tree for entity_id, tree in found if tree is not None}


def _resources(
    tx: Transaction,
    group_xid: str,
    resource_type: ResourceType,
    inline: Inline,
    scope: FilterScope,
    only: Iterable[str] | None = None,
) -> dict[str, ResourceTree]:
    entities = _entities(tx, f"{group_xid}/{resource_type.plural}", only)
    made: dict[str, ResourceTree] = {}
    is_plain = not scope.depends_on(made_members(resource_type))
    for start in range(0, len(entities), READ_TOGETHER):
        some = entities[start : start + READ_TOGETHER]
        defaults = _read_defaults(tx, some)
        if is_plain:  # most of what is excluded need not be counted and rendered for that
            some = [one for one in some if not _is_excluded(defaults.get(_default_xid(one)), scope)]
        ahead = _ReadAhead(defaults, tx.counts([f"{one.xid}/versions" for one in some if "xref" not in one.attributes]))
        found = ((e.id, _resource(tx, resource_type, e, inline, scope, ahead)) for e in some)
        made |= {entity_id: tree for entity_id, tree in found if tree is not None}
    return made


def _read_defaults(tx: Transaction, metas: Iterable[Entity]) -> dict[str, Entity]:
    """The default Versions of those Resources that have their own."""
    check_deadline()
    return tx.entities_by_xid([_default_xid(meta) for meta in metas if "xref" not in meta.attributes])


def _is_excluded(default: Entity | None, scope: FilterScope) -> bool:
    return default is not None and scope.excludes(default.attributes)


def made_members(resource_type: ResourceType) -> frozenset[str]:
    """The members of a rendered Resource that are no attributes of its default Version as they are stored."""
    singular = resource_type.singular
    return frozenset({*_MADE, singular, f"{singular}id", f"{singular}url", f"{singular}base64"})


def _default_xid(source: Entity) -> str:
    return f"{source.xid}/versions/{source.attributes.get('defaultversionid', '')}"


def _versions(
    tx: Transaction,
    resource_type: ResourceType,
    meta: Entity,
    source: Entity | None,
    scope: FilterScope,
    only: Iterable[str] | None = None,
) -> dict[str, VersionTree]:
    if source is None:
        return {}
    entities = _entities(tx, f"{source.xid}/versions", only)
    trees = (_version_tree(resource_type, meta, source, entity) for entity in entities)
    return {tree.entity.id: tree for tree in trees if scope.evaluate(tree).everything}


def _entities(tx: Transaction, collection: str, only: Iterable[str] | None) -> list[Entity]:
    if only is None:
        return tx.entities(collection)
    xids = [f"{collection}/{one}" for one in only]
    found = tx.entities_by_xid(xids)
    return [found[xid] for xid in xids if xid in found]


def _source(tx: Transaction, meta: Entity) -> Entity | None:
    """The meta of the Resource that holds the data: its own, or that of the target of its xref."""
    if "xref" not in meta.attributes:
        return meta
    target = tx.entity(meta.attributes["xref"])
    return None if target is None or "xref" in target.attributes else target


def _version_tree(resource_type: ResourceType, meta: Entity, source: Entity, entity: Entity) -> VersionTree:
    check_deadline()
    return VersionTree(
        xid=f"{meta.xid}/versions/{entity.id}",
        resource_id=meta.id,
        type=resource_type,
        entity=entity,
        isdefault=entity.id == source.attributes["defaultversionid"],
    )


def _meta(tx: Transaction, path: EntityPath, inline: Inline, scope: FilterScope) -> MetaTree | None:
    resource = _resource(tx, path.resource, require_entity(tx, path.resource_xid, path.xid), inline, UNFILTERED)
    tree = MetaTree(resource=resource) if resource is not None else None
    return tree if tree is not None and scope.evaluate(tree).everything else None


def _version(tx: Transaction, path: EntityPath, scope: FilterScope) -> VersionTree | None:
    meta = require_entity(tx, path.resource_xid, path.xid)
    source = _source(tx, meta)
    entity = tx.entity(f"{source.xid}/versions/{path.ids[5]}") if source else None
    if source is None or entity is None:
        return None
    tree = _version_tree(path.resource, meta, source, entity)
    return tree if scope.evaluate(tree).everything else None

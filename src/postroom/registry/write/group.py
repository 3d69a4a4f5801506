"""Writing Groups and the Registry itself, with everything nested in them."""

from __future__ import annotations

from typing import Any

from postroom.model.types import GroupType
from postroom.registry.entities import Entity
from postroom.registry.paths import EntityPath, check_id
from postroom.registry.problems import RegistryProblem
from postroom.registry.write import constraints
from postroom.registry.write.merge_attributes import (
    Body,
    as_nested,
    check_epoch,
    check_identity,
    compose,
    raise_violations,
    stamps,
)
from postroom.registry.write.resource import write_resource
from postroom.registry.write.unit_of_work import UnitOfWork

REGISTRY_MANAGED = ("specversion", "registryid", "capabilities", "model", "modelsource")


def write_registry(work: UnitOfWork, body: Body, patch: bool) -> None:
    """Update the Registry's own attributes and everything nested in it."""
    existing = work.tx.entity("/")
    if existing is None:
        raise LookupError("the registry has no root entity")
    check_identity(body, "registryid", existing.attributes["registryid"], "/", "registry")
    check_epoch(work, body, existing, "/")
    collections = take_collections(body, work.model.groups)
    created, modified = stamps(work, body, existing, "/")
    before = {n: v for n, v in existing.attributes.items() if n not in REGISTRY_MANAGED}
    attributes = compose(work, work.model.attributes, body, before if patch else None, "/", REGISTRY_MANAGED)
    kept = {name: existing.attributes[name] for name in REGISTRY_MANAGED if name in existing.attributes}
    work.save(
        Entity(
            xid="/",
            epoch=work.epoch_after("/", existing),
            createdat=created,
            modifiedat=modified,
            attributes={**attributes, **kept},
        )
    )
    write_group_collections(work, collections, patch)


def take_collections(body: Body, plurals: Any) -> dict[str, Any]:
    """Take the nested collections out of a body; their url and count attributes are ignored (REG-079)."""
    collections = {}
    for plural in plurals:
        body.pop(plural + "url", None)
        body.pop(plural + "count", None)
        if plural in body:
            collections[plural] = body.pop(plural)
    return collections


def write_group_collections(work: UnitOfWork, collections: dict[str, Any], patch: bool) -> dict[str, list[str]]:
    """Write Groups of several types; the ids that were written, by type."""
    return {
        plural: write_groups(work, work.model.groups[plural], members, patch)
        for plural, members in collections.items()
        if members is not None
    }


def write_groups(work: UnitOfWork, group_type: GroupType, members: Any, patch: bool) -> list[str]:
    """Write the Groups of a map; their ids."""
    for group_id, body in as_nested(members, "/", group_type.plural).items():
        write_group(work, group_type, group_id, body, patch)
    return list(members)


def write_group(work: UnitOfWork, group_type: GroupType, group_id: str, written: Any, patch: bool) -> bool:
    """Create or update a Group and everything nested in it; whether it is new."""
    xid = f"/{group_type.plural}/{group_id}"
    check_id(group_id, xid)
    work.permissions.require_write(xid)
    body = as_nested(written, xid, group_type.plural)
    check_identity(body, group_type.singular + "id", group_id, xid, group_type.singular)
    existing = work.tx.entity(xid)
    if existing is None:
        _refuse_other_case(work, f"/{group_type.plural}", group_id, xid)
    check_epoch(work, body, existing, xid)
    collections = take_collections(body, group_type.resources)
    rules = work.rules.of(group_type)
    body, violations = rules.read(group_type, body)
    raise_violations(violations, xid)
    created, modified = stamps(work, body, existing, xid)
    before = existing.attributes if existing and patch else None
    attributes = compose(work, group_type.attributes, body, before, xid, (group_type.singular + "id",))
    constraints.check_own_constraints(group_type, attributes, xid)
    raise_violations(list(rules.check(group_type, attributes)), xid)
    if existing is None:
        work.touch("/")
    work.save(
        Entity(
            xid=xid,
            epoch=work.epoch_after(xid, existing),
            createdat=created,
            modifiedat=modified,
            attributes=attributes,
        )
    )
    if existing is not None and existing.attributes != attributes:
        constraints.watch_group(work, xid)
    for plural, members in collections.items():
        if members is not None:
            write_resources(work, group_type, group_id, plural, members, patch)
    return existing is None


def write_resources(
    work: UnitOfWork, group_type: GroupType, group_id: str, plural: str, members: Any, patch: bool
) -> list[str]:
    """Write the Resources of a map; their ids."""
    group = f"/{group_type.plural}/{group_id}"
    collection = f"{group}/{plural}"
    for resource_id, body in as_nested(members, group, plural).items():
        check_id(resource_id, f"{collection}/{resource_id}")
        path = EntityPath(
            kind="resource",
            xid=f"{collection}/{resource_id}",
            group_type=group_type,
            resource_type=group_type.resources[plural],
        )
        write_resource(work, path, body, patch)
    return list(members)


def ensure_group(work: UnitOfWork, path: EntityPath) -> None:
    """Create the Group that a path is in, when it is not there (REG-085)."""
    if work.tx.entity(path.group_xid) is None:
        write_group(work, path.group, path.ids[1], {}, patch=False)


def _refuse_other_case(work: UnitOfWork, collection: str, entity_id: str, xid: str) -> None:
    taken = work.tx.sibling(collection, entity_id)
    if taken is not None:
        raise RegistryProblem("bad_request", xid, error_detail=f"{taken} exists already in another case")


def new_registry(registry_id: str, now: str) -> Entity:
    """The root entity of a new registry."""
    return Entity(xid="/", epoch=1, createdat=now, modifiedat=now, attributes={"registryid": registry_id})

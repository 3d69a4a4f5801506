"""What a registry can be asked to do. Every write path (HTTP, imports, dialects) goes through these few functions."""

from __future__ import annotations

import uuid
from collections import Counter
from typing import Any

import msgspec

from postroom.model.includes import Fetch, refuse_fetch
from postroom.model.shipped_models import expanded_source, model_source
from postroom.registry.configuration.capabilities_update import write_capabilities
from postroom.registry.configuration.model_update import checked_model, write_modelsource
from postroom.registry.numbering.number_existing import mark_numbered
from postroom.registry.paths import EntityPath, check_id, resolve
from postroom.registry.problems import RegistryProblem
from postroom.registry.query.inline import NOTHING
from postroom.registry.read.render import ALONE, EXPORT, render
from postroom.registry.read.tree import read_entity, read_registry
from postroom.registry.search.search_index import mark_indexed
from postroom.registry.transaction_interface import Transaction
from postroom.registry.write.delete import delete_entity, delete_members
from postroom.registry.write.group import (
    ensure_group,
    new_registry,
    take_collections,
    write_group,
    write_group_collections,
    write_groups,
    write_registry,
    write_resources,
)
from postroom.registry.write.merge_attributes import as_body, as_entities
from postroom.registry.write.resource import ResourceWrite, WriteResult, write_resource
from postroom.registry.write.unit_of_work import UnitOfWork, operation

REGISTRY_WORDS = frozenset(
    {
        *("$schema", "specversion", "registryid", "self", "shortself", "xid", "epoch", "name", "description"),
        *("documentation", "icon", "labels", "createdat", "modifiedat", "capabilities", "model", "modelsource"),
    }
)


class Imported(msgspec.Struct, frozen=True):
    """How many entities an import created and updated, by type (`schemas`, `messages`, `versions`, …)."""

    created: dict[str, int]
    updated: dict[str, int]


def initialise(tx: Transaction, model: str, fetch: Fetch = refuse_fetch, registry_id: str = "") -> None:
    """Give an empty store its root entity, with an id of its own unless one is given, and its model; leave any other
    store as it is."""
    if tx.entity("/") is not None:
        return
    expanded = expanded_source(model, fetch)
    checked_model(expanded)
    tx.put_modelsource(model_source(model), expanded)
    work = UnitOfWork(tx)
    mark_numbered(tx)
    mark_indexed(tx)
    work.save(new_registry(check_id(registry_id or f"postroom-{uuid.uuid4().hex[:12]}", "/"), work.now))
    work.finish()


@operation
def update_registry(work: UnitOfWork, body: Any, patch: bool) -> None:
    """PUT or PATCH of the Registry: capabilities first, then the model, then the rest (REG-068)."""
    work.permissions.require_write("/")
    body = as_body(body, "/")
    before = work.capabilities
    if "capabilities" in body:
        write_capabilities(work, body["capabilities"], patch, with_registry=False)
    if "modelsource" in body:
        before.require("modelsource")
        if not before.mutable("modelsource"):
            reason = before.why_immutable("modelsource")
            raise RegistryProblem("action_not_supported", "/modelsource", detail=reason, action="An update")
        write_modelsource(work, body["modelsource"] or {}, with_registry=False)
    write_registry(work, body, patch)


@operation
def put_groups(work: UnitOfWork, body: Any) -> dict[str, list[str]]:
    """POST of Group collections to the Registry."""
    body = as_body(body, "/")
    collections = take_collections(body, work.model.groups)
    if body:
        raise RegistryProblem("groups_only", "/", name=next(iter(body)))
    return write_group_collections(work, _maps_of_entities(collections, "/"), patch=False)


@operation
def put_members(work: UnitOfWork, path: EntityPath, body: Any, patch: bool) -> list[str]:
    """POST or PATCH of a collection; the ids of its members that were written."""
    body = as_entities(body, path.xid)
    if path.kind == "groups":
        return write_groups(work, path.group, body, patch)
    ensure_group(work, path)
    return write_resources(work, path.group, path.ids[1], path.resource.plural, body, patch)


@operation
def put_versions(work: UnitOfWork, path: EntityPath, body: Any, patch: bool, default: str | None) -> WriteResult:
    """POST or PATCH of Versions."""
    work.permissions.require_write(path.resource_xid)
    body = as_entities(body, path.xid)
    ensure_group(work, path)
    return ResourceWrite(work, path, patch).write_versions(body, default)


@operation
def put_resource_collections(work: UnitOfWork, path: EntityPath, body: Any) -> dict[str, list[str]]:
    """POST of Resource collections to a Group."""
    body = as_body(body, path.xid)
    collections = take_collections(body, path.group.resources)
    if body:
        raise RegistryProblem("resources_only", path.xid, name=next(iter(body)))
    collections = _maps_of_entities(collections, path.xid)
    ensure_group(work, path)
    return {
        plural: write_resources(work, path.group, path.ids[1], plural, members, patch=False)
        for plural, members in collections.items()
    }


def _maps_of_entities(collections: dict[str, Any], subject: str) -> dict[str, dict[str, Any]]:
    given = {plural: members for plural, members in collections.items() if members is not None}
    return {plural: as_entities(members, subject) for plural, members in as_entities(given, subject).items()}


@operation
def put_group(work: UnitOfWork, path: EntityPath, body: Any, patch: bool) -> bool:
    """PUT or PATCH of a Group; whether it is new."""
    work.permissions.require_write(path.xid)
    return write_group(work, path.group, path.ids[1], as_body(body, path.xid), patch)


@operation
def put_resource(work: UnitOfWork, path: EntityPath, body: Any, patch: bool, default: str | None) -> WriteResult:
    """PUT or PATCH of a Resource."""
    work.permissions.require_write(path.xid)
    body = as_body(body, path.xid)
    ensure_group(work, path)
    return write_resource(work, path, body, patch, default)


@operation
def put_meta(work: UnitOfWork, path: EntityPath, body: Any, patch: bool, default: str | None = "") -> WriteResult:
    """PUT or PATCH of a Resource's meta; a Resource that is not there is made."""
    work.permissions.require_write(path.resource_xid)
    body = as_body(body, path.xid)
    ensure_group(work, path)
    is_new = work.tx.entity(path.resource_xid) is None
    return ResourceWrite(work, path, patch).apply(own={} if is_new else None, meta=body, default=default)


@operation
def put_version(
    work: UnitOfWork, path: EntityPath, version_id: str | None, body: Any, patch: bool, default: str | None
) -> WriteResult:
    """PUT or PATCH of a Version, or POST of one to its Resource (then it may lack an id)."""
    work.permissions.require_write(path.resource_xid)
    body = as_body(body, path.xid)
    ensure_group(work, path)
    return ResourceWrite(work, path, patch).write_version(version_id, body, default)


@operation
def delete(work: UnitOfWork, path: EntityPath, epoch: int | None, members: Any, default: str | None) -> None:
    """DELETE of an entity, or of some or all members of a collection."""
    if path.is_collection:
        delete_members(work, path, None if members is None else as_entities(members, path.xid), default)
    else:
        delete_entity(work, path, epoch, default)


def import_document(tx: Transaction, tree: dict[str, Any], *, actor: str = "", correlation: str = "") -> Imported:
    """Write a whole catalog document as one unit of work: its collections, not the Registry's own attributes."""
    work = UnitOfWork(tx, actor=actor, correlation=correlation)
    work.checks_epochs = False  # epochs in a file are those of the registry it came from
    body = dict(tree)
    collections = take_collections(body, work.model.groups)
    unknown = next((name for name in body if name not in REGISTRY_WORDS and isinstance(body[name], dict)), None)
    if unknown is not None:
        raise RegistryProblem("unknown_group_type", "/", name=unknown)
    write_group_collections(work, collections, patch=False)
    created: Counter[str] = Counter()
    updated: Counter[str] = Counter()
    for change in work.finish():
        if change.xid != "/" and change.action != "deprecation":
            (created if change.action == "created" else updated)[change.xid.split("/")[-2]] += 1
    return Imported(dict(created), dict(updated))


def export_document(tx: Transaction) -> dict[str, Any]:
    """The whole registry as one rc4 document without server URLs.

    A Resource shows its default Version's attributes; `versions` is there only where there are several. A Resource
    that stands for another shows its ids and `meta.xref` only.
    """
    document = render(read_registry(tx, EXPORT.inline), EXPORT)
    for group_plural, group_type in tx.model().groups.items():
        for group in document[group_plural].values():
            for plural, resource_type in group_type.resources.items():
                group[plural] = {one: _exported(r, resource_type.singular) for one, r in group[plural].items()}
    return document


def export_entity(tx: Transaction, xid: str) -> dict[str, Any] | None:
    """A Group without its members, or a Resource, as `export_document` has it; None when it is not there."""
    if tx.entity(xid) is None:
        return None
    path = resolve(tx.model(), xid)
    if path.kind == "group":
        return render(read_entity(tx, path, NOTHING), ALONE)
    return _exported(render(read_entity(tx, path, EXPORT.inline), EXPORT), path.resource.singular)


def _exported(resource: dict[str, Any], singular: str) -> dict[str, Any]:
    identity = (singular + "id", "xid")
    meta = resource["meta"]
    if "xref" in meta:  # FLAG-012: a reference is not a copy, and could not be imported as one
        kept = {name: resource[name] for name in identity}
        return {**kept, "meta": {name: meta[name] for name in (*identity, "xref")}}
    if len(resource.get("versions", ())) <= 1:
        return {name: value for name, value in resource.items() if name != "versions"}
    return resource

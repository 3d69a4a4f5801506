"""Taking entities away, one by one or by map, each with its epoch checked."""

from __future__ import annotations

from postroom.registry.entities import Entity
from postroom.registry.paths import EntityPath
from postroom.registry.problems import RegistryProblem
from postroom.registry.read.tree import require_entity
from postroom.registry.write.merge_attributes import Body, check_epoch, check_identity
from postroom.registry.write.meta import apply_meta, choose_default, sticky_default
from postroom.registry.write.resource import ResourceWrite
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.registry.write.versions import drop, link_ancestors


def delete_entity(work: UnitOfWork, path: EntityPath, epoch: int | None, default: str | None = "") -> None:
    """Delete a Group, a Resource or a Version; `not_found` when it is not there."""
    entity = require_entity(work.tx, _stored_xid(work, path), path.xid)
    work.permissions.require_write(path.xid)
    check_epoch(work, {"epoch": epoch}, entity, path.xid)
    if path.kind == "version":
        _delete_versions(work, path, [entity.id], default)
    else:
        _delete(work, entity)


def _stored_xid(work: UnitOfWork, path: EntityPath) -> str:
    """Where an entity is kept: the Versions that an xref shows are its target's."""
    if path.kind != "version":
        return path.xid
    source = require_entity(work.tx, path.resource_xid, path.xid).attributes.get("xref", path.resource_xid)
    return f"{source}/versions/{path.ids[5]}"


def delete_members(work: UnitOfWork, path: EntityPath, members: Body | None, default: str | None = "") -> None:
    """Delete the members a map names, or all when there is no map; members that are not there are ignored."""
    if path.kind != "groups":
        require_entity(work.tx, path.group_xid)
    if path.kind == "versions":
        require_entity(work.tx, path.resource_xid)
    found = work.tx.entities(path.xid) if members is None else _named(work, path, members)
    if path.kind == "versions":
        _delete_versions(work, path, [entity.id for entity in found], default)
        return
    for entity in found:
        _delete(work, entity)


def _named(work: UnitOfWork, path: EntityPath, members: Body) -> list[Entity]:
    found = []
    for entity_id, body in members.items():
        xid = f"{path.xid}/{entity_id}"
        entity = work.tx.entity(xid)
        if entity is None:
            continue
        for holder in (body, body.get("meta")):
            if isinstance(holder, dict):
                check_identity(holder, _id_name(path), entity_id, xid, _id_name(path).removesuffix("id"))
        check_epoch(work, _epoch_holder(path, body, xid), entity, xid)
        found.append(entity)
    return found


def _id_name(path: EntityPath) -> str:
    if path.kind == "groups":
        return path.group.singular + "id"
    return path.resource.singular + "id" if path.kind == "resources" else "versionid"


def _epoch_holder(path: EntityPath, body: Body, xid: str) -> Body:
    if path.kind != "resources":
        return body
    meta = body.get("meta")
    holder = meta if isinstance(meta, dict) else {}
    if "epoch" in body and "epoch" not in holder:
        raise RegistryProblem("misplaced_epoch", xid)  # C-48
    return holder


def _delete(work: UnitOfWork, entity: Entity) -> None:
    """Delete an entity; one read-only Resource in a Group keeps all of it, as a problem undoes the whole request."""
    for deleted in (entity, *work.remove(entity.xid)):
        if deleted.attributes.get("readonly") is True and deleted.xid.count("/") == 4:
            raise RegistryProblem("readonly", deleted.xid)  # META-005
    work.touch(entity.collection.rpartition("/")[0] or "/")


def _delete_versions(work: UnitOfWork, path: EntityPath, version_ids: list[str], default: str | None) -> None:
    write = ResourceWrite(work, path, patch=True)
    write.refuse_reference()
    write.refuse_readonly()
    for version_id in version_ids:
        drop(write.drafts, version_id)
    if not write.drafts:
        _delete(work, require_entity(work.tx, path.resource_xid))  # C-56
        return
    if not version_ids and default == "":
        return
    link_ancestors(write.drafts, write.resource_type.versionmode, work.now, write.xid)
    draft = apply_meta(work, write.resource_type, write.xid, write.existing, None, patch=True)
    if draft.wanted not in write.drafts:
        draft.sticky, draft.wanted = sticky_default(write.resource_type), None  # META-018
    choose_default(draft, write.resource_type, write.drafts, default, [], write.xid)
    write.finish(draft)

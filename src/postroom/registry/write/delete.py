"""Taking entities away, one by one or by map, each with its epoch checked."""

from __future__ import annotations

from typing import Any

from postroom.registry.entities import Entity
from postroom.registry.paths import Place
from postroom.registry.problems import RegistryProblem
from postroom.registry.read.tree import require_entity
from postroom.registry.write.merge_attributes import Body, as_body, as_map, check_epoch, check_identity
from postroom.registry.write.meta import apply_meta, choose_default, sticky_default
from postroom.registry.write.resource import ResourceWrite
from postroom.registry.write.unit_of_work import Interaction
from postroom.registry.write.versions import drop, link_ancestors


def delete_entity(interaction: Interaction, place: Place, epoch: int | None, default: str | None = "") -> None:
    """Delete a Group, a Resource or a Version; `not_found` when it is not there."""
    entity = require_entity(interaction.tx, _stored_xid(interaction, place), place.xid)
    check_epoch(interaction, {"epoch": epoch}, entity, place.xid)
    if place.kind == "version":
        _delete_versions(interaction, place, [entity.id], default)
    else:
        _delete(interaction, entity)


def _stored_xid(interaction: Interaction, place: Place) -> str:
    """Where an entity is kept: the Versions that an xref shows are its target's."""
    if place.kind != "version":
        return place.xid
    source = require_entity(interaction.tx, place.resource_xid, place.xid).attributes.get("xref", place.resource_xid)
    return f"{source}/versions/{place.ids[5]}"


def delete_members(interaction: Interaction, place: Place, members: Any, default: str | None = "") -> None:
    """Delete the members a map names, or all when there is no map; members that are not there are ignored."""
    if place.kind != "groups":
        require_entity(interaction.tx, place.group_xid)
    if place.kind == "versions":
        require_entity(interaction.tx, place.resource_xid)
    if members is None:
        found = interaction.tx.entities(place.xid)
    else:
        found = _named(interaction, place, as_map(members, place.xid, "the body"))
    if place.kind == "versions":
        _delete_versions(interaction, place, [entity.id for entity in found], default)
        return
    for entity in found:
        _delete(interaction, entity)


def _named(interaction: Interaction, place: Place, members: dict[str, Any]) -> list[Entity]:
    found = []
    for entity_id, value in members.items():
        xid = f"{place.xid}/{entity_id}"
        entity = interaction.tx.entity(xid)
        body = as_body(value, xid)
        if entity is None:
            continue
        for holder in (body, body.get("meta")):
            if isinstance(holder, dict):
                check_identity(holder, _id_name(place), entity_id, xid, _id_name(place).removesuffix("id"))
        check_epoch(interaction, _epoch_holder(place, body, xid), entity, xid)
        found.append(entity)
    return found


def _id_name(place: Place) -> str:
    if place.kind == "groups":
        return place.group.singular + "id"
    return place.resource.singular + "id" if place.kind == "resources" else "versionid"


def _epoch_holder(place: Place, body: Body, xid: str) -> Body:
    if place.kind != "resources":
        return body
    meta = body.get("meta")
    holder = meta if isinstance(meta, dict) else {}
    if "epoch" in body and "epoch" not in holder:
        raise RegistryProblem("misplaced_epoch", xid)  # C-48
    return holder


def _delete(interaction: Interaction, entity: Entity) -> None:
    if entity.attributes.get("readonly") is True and entity.xid.count("/") == 4:
        raise RegistryProblem("readonly", entity.xid)  # META-005
    parent = entity.collection.rpartition("/")[0] or "/"
    interaction.remove(entity.xid)
    interaction.touch(parent)


def _delete_versions(interaction: Interaction, place: Place, version_ids: list[str], default: str | None) -> None:
    write = ResourceWrite(interaction, place, patch=True)
    write.refuse_reference()
    write.refuse_readonly()
    for version_id in version_ids:
        drop(write.drafts, version_id)
    if not write.drafts:
        _delete(interaction, require_entity(interaction.tx, place.resource_xid))  # C-56
        return
    if not version_ids and default == "":
        return
    link_ancestors(write.drafts, write.kind.versionmode, interaction.now, write.xid)
    draft = apply_meta(interaction, write.kind, write.xid, write.existing, None, patch=True)
    if draft.wanted not in write.drafts:
        draft.sticky, draft.wanted = sticky_default(write.kind), None  # META-018
    choose_default(draft, write.kind, write.drafts, default, [], write.xid)
    write.finish(draft)

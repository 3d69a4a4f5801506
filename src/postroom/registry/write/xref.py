"""Resources that stand for another one: `meta.xref`."""

from __future__ import annotations

from postroom.model.types import Model, ResourceType
from postroom.model.xids import xid_type
from postroom.registry.entities import Entity
from postroom.registry.problems import RegistryProblem
from postroom.registry.write.merge_attributes import Body


def is_reference(existing: Entity | None) -> bool:
    """Whether a stored Resource stands for another one."""
    return existing is not None and "xref" in existing.attributes


def reference_of(existing: Entity | None, meta: Body | None, patch: bool, xid: str) -> str:
    """The xref a Resource has after the write; empty when it is a Resource of its own."""
    given = meta.get("xref") if meta is not None else None
    if given is not None:
        if not isinstance(given, str) or not given.startswith("/"):
            raise RegistryProblem("malformed_xref", xid, xref=given, error_detail="it must be the xid of a resource")
        return given
    stays = meta is None or (patch and "xref" not in meta)
    return existing.attributes.get("xref", "") if existing and stays else ""


def check_target(model: Model, xid: str, reference: str) -> ResourceType:
    """The type a reference points to; refused when the model has no such type (RES-059)."""
    if reference.count("/") != 4 or xid_type(model, reference) is None:
        detail = "it must be the xid of a resource whose types the model has"
        raise RegistryProblem("malformed_xref", xid, xref=reference, error_detail=detail)
    group, plural = reference.split("/")[1::2]
    return model.groups[group].resources[plural]


def check_plain_reference(
    model: Model,
    kind: ResourceType,
    xid: str,
    reference: str,
    own: Body | None,
    versions: Body | None,
    meta: Body,
) -> None:
    """Refuse a reference to another type (RES-060), or one that comes with more than ids (RES-053)."""
    if check_target(model, xid, reference).origin != kind.origin:
        raise RegistryProblem("malformed_xref", xid, xref=reference, error_detail="it must be of the same type")
    allowed = {kind.singular + "id", "self", "shortself", "xid", "metaurl", "versionsurl", "versionscount"}
    in_meta = {"xref", "epoch", kind.singular + "id", "self", "shortself", "xid"}
    extra = [name for name, value in (own or {}).items() if name not in allowed and value is not None]
    extra += [name for name, value in meta.items() if name not in in_meta and value is not None]
    if versions is not None:
        extra.append("versions")
    if extra:
        raise RegistryProblem("extra_xref_attribute", xid, name=extra[0], singular=kind.singular)

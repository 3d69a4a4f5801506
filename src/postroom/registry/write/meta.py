"""The meta entity of a Resource: its attributes, which Version is the default, and `xref` to another Resource."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from postroom.model.types import Model, ResourceType
from postroom.model.xids import xid_type
from postroom.registry.entities import Entity
from postroom.registry.problems import RegistryProblem
from postroom.registry.write.merge_attributes import Body, check_epoch, compose, stamps
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.registry.write.versions import Drafts, newest

META_MANAGED = ("defaultversionid", "defaultversionsticky", "xref")


@dataclass
class MetaDraft:
    """A Resource's meta as it will be."""

    createdat: str
    modifiedat: str
    attributes: dict[str, Any] = field(default_factory=dict)
    sticky: bool = False
    wanted: str | None = None
    """The default Version that was asked for; None: the newest."""
    touched: bool = False
    epoch: int = 0
    """The epoch it gets; 0: the next."""
    previous: str | None = None


def apply_meta(
    work: UnitOfWork, resource_type: ResourceType, xid: str, existing: Entity | None, body: Body | None, patch: bool
) -> MetaDraft:
    """The meta after a write; without a body it stays as it is."""
    before = existing.attributes if existing else {}
    draft = MetaDraft(
        createdat=existing.createdat if existing else work.now,
        modifiedat=work.now,
        attributes={name: value for name, value in before.items() if name != "xref"},
        sticky=before.get("defaultversionsticky", sticky_default(resource_type)),
        previous=before.get("defaultversionid"),
    )
    draft.attributes.setdefault("readonly", False)
    draft.wanted = draft.previous if draft.sticky else None
    if before.get("xref"):
        draft.touched, draft.epoch = True, _epoch_after_reference(work, before["xref"], existing)
    if body is None:
        return draft
    subject = f"{xid}/meta"
    check_epoch(work, {"epoch": None} if work.is_changed(xid) else body, existing, subject)
    draft.createdat, draft.modifiedat = stamps(work, body, existing, subject)
    base = {name: value for name, value in draft.attributes.items() if name not in META_MANAGED}
    rule = body.get("compatibility")
    if isinstance(rule, str):  # META-007: case does not matter; C-51: `none` is an older word for no rule
        body = {**body, "compatibility": None if rule.lower() == "none" else rule.lower()}
    managed = (resource_type.singular + "id", *META_MANAGED)
    draft.attributes = compose(work, resource_type.metaattributes, body, base if patch else {}, subject, managed)
    draft.attributes["readonly"] = before.get("readonly", False)
    if work.may_lock and isinstance(body.get("readonly"), bool):
        draft.attributes["readonly"] = body["readonly"]
    draft.touched = True
    _read_default(draft, resource_type, body, patch, subject)
    return draft


def refit_meta(work: UnitOfWork, resource_type: ResourceType, xid: str, existing: Entity | None) -> MetaDraft:
    """The stored meta under a new model: defaults filled in, or a problem when it cannot fit."""
    draft = apply_meta(work, resource_type, xid, existing, None, patch=True)
    managed = (resource_type.singular + "id", *META_MANAGED)
    before = {name: value for name, value in draft.attributes.items() if name not in META_MANAGED}
    fitted = compose(work, resource_type.metaattributes, before, None, f"{xid}/meta", managed)
    fitted["readonly"] = before.get("readonly", False)
    if fitted != before:
        draft.attributes, draft.touched = fitted, True
    return draft


def always_sticky(resource_type: ResourceType) -> bool:
    """Whether the model of a type leaves no choice but a sticky default (META-017)."""
    allowed = resource_type.metaattributes["defaultversionsticky"].enum
    return bool(allowed) and False not in allowed


def sticky_default(resource_type: ResourceType) -> bool:
    """Whether defaults are sticky when nobody says so; a model may fix it (META-017)."""
    return bool(resource_type.metaattributes["defaultversionsticky"].default)


def _epoch_after_reference(work: UnitOfWork, xref: str, existing: Entity | None) -> int:
    """RES-056: more than it had, and more than was seen through the reference, be it as meta or as default Version."""
    target = work.tx.entity(xref)
    default = target.attributes.get("defaultversionid") if target else None
    seen = [existing, target, work.tx.entity(f"{xref}/versions/{default}") if default else None]
    return max(entity.epoch for entity in seen if entity is not None) + 1


def _read_default(draft: MetaDraft, resource_type: ResourceType, body: Body, patch: bool, subject: str) -> None:
    given, sticky = body.get("defaultversionid"), body.get("defaultversionsticky")
    for name, value, json_type in (("defaultversionid", given, str), ("defaultversionsticky", sticky, bool)):
        if value is not None and not isinstance(value, json_type):
            detail = "must be true or false" if json_type is bool else "must be the id of a Version"
            raise RegistryProblem("invalid_attribute", subject, name=name, error_detail=detail, pointer=f"/{name}")
    is_reset = sticky is None
    if sticky is None:
        sticky = sticky_default(resource_type)
    if not patch:
        draft.sticky, draft.wanted = bool(sticky), given
    elif "defaultversionsticky" in body:
        draft.sticky = bool(sticky)
        # META-011: what becomes sticky without a name is what is the default at present.
        draft.wanted = given if given is not None else draft.previous if draft.sticky and not is_reset else None
    elif "defaultversionid" in body:
        draft.sticky, draft.wanted = given is not None or always_sticky(resource_type), given  # META-011


def choose_default(
    draft: MetaDraft, resource_type: ResourceType, drafts: Drafts, flag: str | None, added: list[str], xid: str
) -> None:
    """Settle the default Version; `flag` is setdefaultversionid: empty when absent, None for `null`."""
    if flag is None:
        draft.sticky, draft.wanted, draft.touched = False, None, True
    elif flag:
        draft.sticky, draft.wanted, draft.touched = True, _flagged(flag, added, xid), True
    if draft.sticky and draft.wanted is not None and draft.wanted not in drafts:
        raise RegistryProblem("unknown_id", xid, singular="version", id=draft.wanted)
    allowed = resource_type.metaattributes["defaultversionsticky"].enum
    if allowed and draft.sticky not in allowed:
        detail = f"must be {str(not draft.sticky).lower()}"
        name = "defaultversionsticky"
        raise RegistryProblem("invalid_attribute", f"{xid}/meta", name=name, error_detail=detail, pointer=f"/{name}")
    if draft.sticky and resource_type.maxversions == 1:
        raise RegistryProblem("setdefaultversionsticky_false", xid)
    kept = draft.wanted if draft.sticky else None
    chosen = newest(drafts.values(), resource_type.versionmode).id if kept is None else kept
    if chosen != draft.previous:
        draft.touched = True
    draft.attributes["defaultversionid"] = chosen
    draft.attributes["defaultversionsticky"] = draft.sticky


def _flagged(flag: str, added: list[str], xid: str) -> str:
    if flag != "request":
        return flag
    if not added:
        raise RegistryProblem("defaultversionid_request", xid)
    if len(added) > 1:
        raise RegistryProblem("too_many_versions", xid)
    return added[0]


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
    resource_type: ResourceType,
    xid: str,
    reference: str,
    own: Body | None,
    versions: Body | None,
    meta: Body,
) -> None:
    """Refuse a reference to another type (RES-060), or one that comes with more than ids (RES-053)."""
    if check_target(model, xid, reference).origin != resource_type.origin:
        raise RegistryProblem("malformed_xref", xid, xref=reference, error_detail="it must be of the same type")
    allowed = {resource_type.singular + "id", "self", "shortself", "xid", "metaurl", "versionsurl", "versionscount"}
    in_meta = {"xref", "epoch", resource_type.singular + "id", "self", "shortself", "xid"}
    extra = [name for name, value in (own or {}).items() if name not in allowed and value is not None]
    extra += [name for name, value in meta.items() if name not in in_meta and value is not None]
    if versions is not None:
        extra.append("versions")
    if extra:
        raise RegistryProblem("extra_xref_attribute", xid, name=extra[0], singular=resource_type.singular)

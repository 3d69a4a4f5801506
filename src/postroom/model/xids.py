"""Paths of entities (`xid`) and of entity types (`xidtype`), checked against a model."""

from __future__ import annotations

from postroom.model.names import is_entity_id
from postroom.model.types import Model


def xid_type(model: Model, xid: str) -> str | None:
    """The type of an xid (`/`, `/G`, `/G/R`, `/G/R/versions`, `/G/R/meta`), or None when the model has none such."""
    if xid == "/":
        return "/"
    parts = xid.split("/")[1:]
    if not parts or not all(is_entity_id(part) for part in parts):
        return None
    group = model.groups.get(parts[0])
    if group is None or (len(parts) in (1, 3, 5) and parts[4:] not in (["meta"], ["versions"])):
        return None
    if len(parts) == 2:
        return f"/{group.plural}"
    if parts[2] not in group.resources:
        return None
    resource = f"/{group.plural}/{parts[2]}"
    if len(parts) == 4:
        return resource
    if len(parts) == 5:  # `…/versions` is no entity, but the reference server takes it, and it names a type
        return resource + ("/meta" if parts[4] == "meta" else "/versions")
    return resource + "/versions" if len(parts) == 6 and parts[4] == "versions" else None


def is_xidtype(model: Model, xidtype: str) -> bool:
    """Whether a string has the form of an xidtype, with type names that the model has."""
    if xidtype == "/":
        return True
    parts = xidtype.split("/")[1:]
    group = model.groups.get(parts[0]) if parts else None
    if group is None:
        return False
    if len(parts) == 1:
        return True
    return parts[1] in group.resources and (len(parts) == 2 or parts[2:] in (["versions"], ["meta"]))


def xid_error(model: Model, xid: str, target: str) -> str:
    """Why an xid does not fit the `target` of its attribute; empty when it does."""
    found = xid_type(model, xid)
    if found is None:
        return "must be an xid whose types the model has"
    if not target:
        return ""
    allowed = {target} if not target.endswith("[/versions]") else {target[: -len("[/versions]")]}
    if target.endswith("[/versions]"):
        allowed.add(target[: -len("[/versions]")] + "/versions")
    return "" if found in allowed else f"must name an entity of type {target}"

"""Paths of entities and collections: request paths resolved against the model."""

from __future__ import annotations

from typing import Literal
from urllib.parse import unquote_to_bytes

import msgspec

from postroom.model.names import ENTITY_ID_RULE, is_entity_id
from postroom.model.types import GroupType, Model, ResourceType
from postroom.registry.problems import RegistryProblem

Kind = Literal["registry", "groups", "group", "resources", "resource", "meta", "versions", "version"]
KINDS: tuple[Kind, ...] = ("registry", "groups", "group", "resources", "resource", "versions", "version")
COLLECTIONS = frozenset({"groups", "resources", "versions"})
DETAILS = "$details"
WITH_DETAILS = (3, 5)
"""Where in a path the ids of Resources and Versions are."""


class EntityPath(msgspec.Struct, frozen=True, kw_only=True):
    """The path of an entity or collection that the model allows, whether it exists or not."""

    kind: Kind
    xid: str
    group_type: GroupType | None = None
    resource_type: ResourceType | None = None
    details: bool = False

    @property
    def ids(self) -> list[str]:
        """The parts of the xid."""
        return self.xid.split("/")[1:] if self.xid != "/" else []

    @property
    def is_collection(self) -> bool:
        """Whether this is a map of entities."""
        return self.kind in COLLECTIONS

    @property
    def group(self) -> GroupType:
        """The Group type; only for paths below the Registry."""
        if self.group_type is None:
            raise LookupError(self.xid)
        return self.group_type

    @property
    def resource(self) -> ResourceType:
        """The Resource type; only for paths below a Group."""
        if self.resource_type is None:
            raise LookupError(self.xid)
        return self.resource_type

    @property
    def group_xid(self) -> str:
        """The xid of the Group this path leads to, or into."""
        return "/" + "/".join(self.ids[:2])

    @property
    def resource_xid(self) -> str:
        """The xid of the Resource this path leads to, or into."""
        return "/" + "/".join(self.ids[:4])

    @property
    def has_document(self) -> bool:
        """Whether the plain path stands for a document."""
        return self.kind in ("resource", "version") and self.resource.hasdocument


def resolve(model: Model, path: str) -> EntityPath:
    """Resolve a request path; 404 problems where the model has nothing there."""
    parts = _parts(path)
    for position, part in enumerate(parts):
        is_last_id = position in WITH_DETAILS and position == len(parts) - 1
        if part == DETAILS or (part.endswith(DETAILS) and not is_last_id):
            raise RegistryProblem("bad_details", path)
    details = bool(parts) and parts[-1].endswith(DETAILS)
    if details:
        parts[-1] = parts[-1].removesuffix(DETAILS)
    return msgspec.structs.replace(_entity_path(model, parts, path), details=details)


def _parts(path: str) -> list[str]:
    trimmed = path.removeprefix("/").removesuffix("/")
    if path in ("", "/"):
        return []
    try:
        parts = [unquote_to_bytes(part).decode() for part in trimmed.split("/")]
    except UnicodeDecodeError:
        raise RegistryProblem("api_not_found", path) from None
    if any(part in (".", "..") for part in parts):
        raise RegistryProblem("api_not_found", path)
    return parts


def _entity_path(model: Model, parts: list[str], path: str) -> EntityPath:
    xid = "/" + "/".join(parts)
    if not parts:
        return EntityPath(kind="registry", xid="/")
    group = model.groups.get(parts[0])
    if group is None:
        raise RegistryProblem("not_found", path, detail=f"There is no group type {parts[0]!r} in the model.")
    for entity_id in parts[1::2]:
        check_id(entity_id, path)
    resource = group.resources.get(parts[2]) if len(parts) > 2 else None
    if len(parts) > 2 and resource is None:
        raise RegistryProblem("not_found", path, detail=f"Group type {parts[0]!r} has no {parts[2]!r}.")
    if len(parts) > 4 and parts[4] != "versions" and parts[4:] != ["meta"]:
        raise RegistryProblem("not_found", path)
    if len(parts) > 6:
        raise RegistryProblem("not_found", path)
    kind: Kind = "meta" if parts[4:] == ["meta"] else KINDS[len(parts)]
    return EntityPath(kind=kind, xid=xid, group_type=group, resource_type=resource)


def check_id(entity_id: object, subject: str) -> str:
    """The id when it is legal, else `malformed_id`."""
    if not isinstance(entity_id, str) or not is_entity_id(entity_id):
        raise RegistryProblem(
            "malformed_id",
            subject,
            id=entity_id,
            error_detail=ENTITY_ID_RULE,
        )
    return entity_id

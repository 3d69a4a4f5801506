"""The `ignore` flag: parts of a request body that are removed before it is processed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from postroom.model.types import GroupType, Model
from postroom.registry.paths import EntityPath, Kind
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction

Body = dict[str, Any]
DEFAULTS = ("defaultversionid", "defaultversionsticky")
CONFIGURATION = ("capabilities", "modelsource")
INSIDE_RESOURCE: tuple[Kind, ...] = ("resource", "meta", "versions", "version")


class IgnoredParts:
    """The parts that one request asks to ignore."""

    def __init__(self, tx: Transaction, path: EntityPath, ignores: frozenset[str]) -> None:
        self._tx = tx
        self._path = path
        self._ignores = ignores

    def check(self, subject: str) -> None:
        """Refuse to ignore a read-only Resource that is the target of the request (FLAG-046)."""
        is_single = self._path.kind in INSIDE_RESOURCE
        if "readonly" in self._ignores and is_single and self._is_readonly(self._path.resource_xid):
            raise RegistryProblem("bad_flag", subject, flag="ignore", detail="The Resource itself is read-only.")

    def remove_from(self, written: Any, is_post: bool = False) -> Any:
        """The body without the ignored parts; a body that is no object is returned as it is."""
        if not self._ignores or not isinstance(written, dict):
            return written
        body = {name: value for name, value in written.items() if name not in self._root_names(is_post)}
        if self._path.kind == "meta":
            return self._without_defaults(body)
        return _each_resource(self._tx.model(), self._path, body, self._resources)

    def deletions(self, members: Any) -> Any:
        """The members of a DELETE, without read-only Resources."""
        if "readonly" not in self._ignores or self._path.kind != "resources":
            return members
        given = {entity.id: {} for entity in self._tx.entities(self._path.xid)} if members is None else members
        return self._writable(self._path.xid, given) if isinstance(given, dict) else given

    def _root_names(self, is_post: bool) -> set[str]:
        path, names = self._path, set(self._ignores & {*CONFIGURATION} if self._path.kind == "registry" else ())
        if "id" not in self._ignores or path.is_collection or (is_post and path.kind != "resource"):
            return names
        if path.kind == "registry":
            return names | {"registryid"}
        if path.kind == "group":
            return names | {path.group.singular + "id"}
        return names | {path.resource.singular + "id", *(["versionid"] if path.kind == "version" else [])}

    def _resources(self, collection: str, members: Body) -> Body:
        kept = self._writable(collection, members) if "readonly" in self._ignores else members
        return {one: self._with_meta_removed(body) for one, body in kept.items()}

    def _writable(self, collection: str, members: Body) -> Body:
        return {one: body for one, body in members.items() if not self._is_readonly(f"{collection}/{one}")}

    def _is_readonly(self, xid: str) -> bool:
        entity = self._tx.entity(xid)
        return entity is not None and bool(entity.attributes.get("readonly"))

    def _with_meta_removed(self, body: Any) -> Any:
        if isinstance(body, dict) and isinstance(body.get("meta"), dict):
            return {**body, "meta": self._without_defaults(body["meta"])}
        return body

    def _without_defaults(self, meta: Body) -> Body:
        return {name: value for name, value in meta.items() if name not in DEFAULTS or name not in self._ignores}


ChangeResources = Callable[[str, Body], Body]
"""Gets the xid of a collection and its members, returns other members."""


def _each_resource(model: Model, path: EntityPath, body: Body, change: ChangeResources) -> Body:
    """Apply a change to each map of Resources in a body."""
    match path.kind:
        case "registry":
            return _in_members(body, model.groups, lambda plural, groups: _in_groups(model, plural, groups, change))
        case "groups":
            return _in_groups(model, path.group.plural, body, change)
        case "group":
            return _in_group(path.group, path.xid, body, change)
        case "resources":
            return change(path.xid, body)
        case "resource":
            changed: Body = change(path.xid.rpartition("/")[0], {path.ids[3]: body}).get(path.ids[3], body)
            return changed
        case _:
            return body


def _in_groups(model: Model, plural: str, groups: Body, change: ChangeResources) -> Body:
    group_type = model.groups[plural]
    return {
        one: _in_group(group_type, f"/{plural}/{one}", group, change) if isinstance(group, dict) else group
        for one, group in groups.items()
    }


def _in_group(group_type: GroupType, xid: str, group: Body, change: ChangeResources) -> Body:
    return _in_members(group, group_type.resources, lambda plural, members: change(f"{xid}/{plural}", members))


def _in_members(body: Body, plurals: Mapping[str, Any], change: ChangeResources) -> Body:
    return {
        name: change(name, value) if name in plurals and isinstance(value, dict) else value
        for name, value in body.items()
    }

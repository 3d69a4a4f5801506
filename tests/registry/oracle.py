"""A registry in memory, as simple as the specification allows: what the state machine holds the real one against.

Written from core/spec.md and core/model.md of 1.0-rc4, not from the product. One model is built in (MODELSOURCE):
`files` have documents, are ordered by hand and unlimited; `pages` are ordered by `createdat` and at most three; of
`notes` there is only ever one Version.

A time is either given by a client, ("given", text), or the "now" of a request, ("now", number of the request); tuples
of the two kinds compare as instants do, because all given times are in the past.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Body = dict[str, Any]
Time = tuple[str, Any]

VERSIONED = {
    "size": {"type": "uinteger", "required": True, "default": 1},
    "color": {"type": "string", "enum": ["red", "green"]},
}
META = {"owner": {"type": "string"}}
MODELSOURCE: Body = {
    "attributes": {"motto": {"type": "string"}},
    "groups": {
        "dirs": {
            "singular": "dir",
            "attributes": {"rank": {"type": "integer"}},
            "resources": {
                "files": {"singular": "file", "attributes": VERSIONED, "metaattributes": META},
                "pages": {
                    "singular": "page",
                    "hasdocument": False,
                    "versionmode": "createdat",
                    "singleversionroot": True,
                    "maxversions": 3,
                    "attributes": VERSIONED,
                    "metaattributes": META,
                },
                "notes": {
                    "singular": "note",
                    "hasdocument": False,
                    "maxversions": 1,
                    "attributes": VERSIONED,
                    "metaattributes": META,
                },
            },
        }
    },
}
SINGULAR = {"files": "file", "pages": "page", "notes": "note"}
LIMIT = {"files": 0, "pages": 3, "notes": 1}
RESERVED = ("null", "request")
COMMON = ("name", "description", "labels")


class Refused(Exception):
    """What the specification demands to be refused, with the names of the errors that fit."""

    def __init__(self, *types: str) -> None:
        super().__init__(", ".join(types))
        self.types = types


@dataclass
class Entity:
    """What all entities have. `epoch` 0 means: not yet written."""

    epoch: int = 0
    createdat: Time = ("", "")
    modifiedat: Time = ("", "")
    attributes: Body = field(default_factory=dict)
    touched: bool = False

    def stamp(self, body: Body, now: Time) -> None:
        """epoch, createdat and modifiedat of an entity that is written."""
        check_epoch(body, self)
        created, modified = body.get("createdat"), body.get("modifiedat")
        if created is not None:
            self.createdat = ("given", created)
        elif self.epoch == 0 or "createdat" in body:
            self.createdat = now
        same = self.epoch and ("given", modified) == self.modifiedat
        self.modifiedat = now if modified is None or same else ("given", modified)
        self.raise_epoch()

    def touch(self, now: Time) -> None:
        """A change that the request did not spell out."""
        if not self.touched:
            self.modifiedat = now
            self.raise_epoch()

    def raise_epoch(self) -> None:
        """Once per request."""
        if not self.touched:
            self.epoch += 1
            self.touched = True

    def assign(self, body: Body, patch: bool, known: Mapping[str, Callable[[Any], bool]]) -> None:
        """The client's attributes: replaced, or merged when it is a patch."""
        if not patch:
            self.attributes = {}
        for name, value in body.items():
            if name not in known:
                raise Refused("unknown_attribute")
            if value is None:
                self.attributes.pop(name, None)
            elif not known[name](value):
                raise Refused("invalid_attribute")
            else:
                self.attributes[name] = value


@dataclass
class Version(Entity):
    """`ancestor` is None while the server has to find it."""

    ancestor: str | None = None
    document: Any = None


@dataclass
class Resource(Entity):
    """The entity's own attributes are those of its meta."""

    versions: dict[str, Version] = field(default_factory=dict)
    default: str = ""
    sticky: bool = False
    xref: str = ""
    counter: int = 0
    loose_epoch: bool = False
    """Set when the specification gives only a lower bound: the epoch after a reference was cleared."""


@dataclass
class Group(Entity):
    """Resources by plural name."""

    resources: dict[str, dict[str, Resource]] = field(default_factory=lambda: {plural: {} for plural in SINGULAR})


def check_epoch(body: Body, entity: Entity) -> None:
    given = body.get("epoch")
    if entity.epoch == 0 or given is None or entity.touched:
        return
    if given != entity.epoch:
        raise Refused("mismatched_epoch")


def is_text(value: Any) -> bool:
    return isinstance(value, str)


def is_labels(value: Any) -> bool:
    return isinstance(value, dict) and all(key == key.lower() and is_text(value[key]) for key in value)


TEXTS: dict[str, Callable[[Any], bool]] = {
    "name": is_text,
    "description": is_text,
    "labels": is_labels,
}
OF_REGISTRY = {**TEXTS, "motto": is_text}
OF_GROUP = {**TEXTS, "rank": lambda value: type(value) is int}
OF_META = {"labels": is_labels, "owner": is_text}
OF_VERSION = {
    **TEXTS,
    "size": lambda value: type(value) is int and value >= 0,
    "color": lambda value: value in ("red", "green"),
}
OF_DOCUMENT = {**OF_VERSION, "contenttype": is_text}


class Oracle:
    """Every operation either changes the registry wholly or is refused and changes nothing."""

    def __init__(self) -> None:
        self.root = Entity(epoch=1)
        self.groups: dict[str, Group] = {}
        self.requests = 0

    @property
    def now(self) -> Time:
        return ("now", self.requests)

    def attempt(self, operation: Callable[[], Any]) -> Any:
        """Run one request; what it returns, or the refusal."""
        before = copy.deepcopy((self.root, self.groups))
        self.requests += 1
        try:
            return operation()
        except Refused as refused:
            self.root, self.groups = before
            return refused
        finally:
            for entity in self.entities():
                entity.touched = False

    def entities(self) -> list[Entity]:
        found: list[Entity] = [self.root]
        for group in self.groups.values():
            found.append(group)
            for members in group.resources.values():
                for resource in members.values():
                    found += [resource, *resource.versions.values()]
        return found

    # Writing

    def write_root(self, body: Body, patch: bool) -> None:
        body = dict(body)
        groups = body.pop("dirs", None)
        self.root.stamp(body, self.now)
        self.root.assign(plain(body), patch, OF_REGISTRY)
        if groups is not None:
            self.write_groups(groups, patch)

    def write_groups(self, members: Body, patch: bool) -> None:
        for group_id, body in members.items():
            self.write_group(group_id, body, patch)

    def write_group(self, group_id: str, body: Any, patch: bool) -> bool:
        """Whether it is new."""
        if body is None:
            raise Refused("bad_request")
        body = dict(body)
        self._check_id(body, "dirid", group_id)
        group = self.groups.get(group_id)
        is_new = group is None
        if group is None:
            refuse_other_case(self.groups, group_id)
            group = self.groups[group_id] = Group()
            self.root.touch(self.now)
        nested = {plural: body.pop(plural) for plural in SINGULAR if plural in body}
        group.stamp(body, self.now)
        group.assign(plain(body), patch, OF_GROUP)
        for plural, members in nested.items():
            self.write_resources(group_id, plural, members, patch)
        return is_new

    def ensure_group(self, group_id: str) -> None:
        if group_id not in self.groups:
            self.write_group(group_id, {}, False)

    def write_resources(self, group_id: str, plural: str, members: Body, patch: bool) -> None:
        self.ensure_group(group_id)
        for resource_id, body in members.items():
            self.write_resource(group_id, plural, resource_id, body, patch)

    def write_resource(
        self, group_id: str, plural: str, resource_id: str, body: Any, patch: bool, flag: str = ""
    ) -> bool:
        """PUT or PATCH of a Resource; whether it is new."""
        if body is None:
            raise Refused("bad_request")
        own = dict(body)
        meta, versions = own.pop("meta", None), own.pop("versions", None)
        return self._apply(group_id, plural, resource_id, patch, own, versions, meta, flag)

    def write_meta(self, group_id: str, plural: str, resource_id: str, body: Body, patch: bool) -> None:
        self._apply(group_id, plural, resource_id, patch, None, None, body, "")

    def write_versions(
        self, group_id: str, plural: str, resource_id: str, versions: Body, patch: bool, flag: str = ""
    ) -> None:
        self._apply(group_id, plural, resource_id, patch, None, versions, None, flag)

    def write_version(
        self, group_id: str, plural: str, resource_id: str, version_id: str, body: Body, patch: bool, flag: str = ""
    ) -> None:
        """PUT or PATCH of a Version. One that `maxversions` drops at once cannot be answered, so it is refused."""
        self._apply(group_id, plural, resource_id, patch, None, {version_id: body}, None, flag)
        if version_id not in self.groups[group_id].resources[plural][resource_id].versions:
            raise Refused("bad_request")

    def post_version(self, group_id: str, plural: str, resource_id: str, body: Body, flag: str = "") -> str:
        """POST to a Resource; the id of the Version that was written."""
        existing = self.find(group_id, plural, resource_id)
        versionid = body.get("versionid")
        if versionid is None:
            # Only a Resource that stays remembers what was counted; a new one starts at 1.
            counted = existing or Resource()
            versionid = self._count(counted, counted.versions)
            self.write_version(group_id, plural, resource_id, versionid, body, False, flag)
            self.groups[group_id].resources[plural][resource_id].counter = counted.counter
        else:
            self.write_version(group_id, plural, resource_id, versionid, body, False, flag)
        return str(versionid)

    def find(self, group_id: str, plural: str, resource_id: str) -> Resource | None:
        group = self.groups.get(group_id)
        return group.resources[plural].get(resource_id) if group else None

    def _apply(
        self,
        group_id: str,
        plural: str,
        resource_id: str,
        patch: bool,
        own: Body | None,
        versions: Body | None,
        meta: Body | None,
        flag: str,
    ) -> bool:
        self.ensure_group(group_id)
        group = self.groups[group_id]
        members, singular = group.resources[plural], SINGULAR[plural]
        for part in (own, meta):
            self._check_id(part or {}, singular + "id", resource_id)
        resource = members.get(resource_id)
        is_new = resource is None
        if resource is None:
            refuse_other_case(members, resource_id)
            resource = members[resource_id] = Resource()
            group.touch(self.now)
        if meta is not None and meta.get("xref") is not None:
            self._refer(resource, plural, own, versions, meta)
            return is_new
        was_reference = bool(resource.xref)
        if was_reference:
            if meta is None or (patch and "xref" not in meta):
                raise Refused("extra_xref_attribute", "bad_request")
            self._clear(resource)
            own = own or {}
        counted = resource.counter if was_reference else None
        before = set(resource.versions)
        for version_id, body in (versions or {}).items():
            if body is None:
                raise Refused("bad_request")
            self._write_version(resource, plural, resource_id, version_id, body, patch)
        if own is not None:
            self._write_own(resource, plural, resource_id, own, versions or {}, meta, patch)
        if not resource.versions:
            raise Refused("missing_versions")
        resource.counter = resource.counter if counted is None else counted
        self._link(resource, plural)
        if meta is not None:
            self._write_meta(resource, plural, meta, patch)
        elif is_new:
            resource.createdat = self.now
        self._choose(resource, plural, meta, patch, flag)
        self._prune(resource, plural)
        if set(resource.versions) != before:
            resource.touch(self.now)
        return is_new

    def _check_id(self, body: Body, name: str, expected: str) -> None:
        if body.get(name, expected) != expected:
            raise Refused("mismatched_id")

    def _count(self, resource: Resource, taken: Any) -> str:
        resource.counter += 1
        while str(resource.counter) in taken:
            resource.counter += 1
        return str(resource.counter)

    def _write_version(
        self, resource: Resource, plural: str, resource_id: str, version_id: str, body: Body, patch: bool
    ) -> None:
        singular = SINGULAR[plural]
        if version_id in RESERVED:
            raise Refused("malformed_id")
        self._check_id(body, singular + "id", resource_id)
        self._check_id(body, "versionid", version_id)
        if version_id not in resource.versions:
            refuse_other_case(resource.versions, version_id)
        version = resource.versions.setdefault(version_id, Version())
        version.stamp(body, self.now)
        if body.get("ancestorid") is not None:
            ancestor = body["ancestorid"]
            version.ancestor = version_id if ancestor == "request" else ancestor
        body = plain(body, "versionid", singular + "id", "ancestorid", "isdefault")
        if plural == "files":
            self._write_document(version, body, patch)
        version.assign(body, patch, OF_DOCUMENT if plural == "files" else OF_VERSION)
        version.attributes.setdefault("size", 1)

    def _write_document(self, version: Version, body: Body, patch: bool) -> None:
        if "file" not in body:
            return
        version.document = body.pop("file")
        if version.document is not None and "contenttype" not in body:
            stored = version.attributes.get("contenttype") if patch else None
            body["contenttype"] = stored or "application/json"

    def _write_own(
        self,
        resource: Resource,
        plural: str,
        resource_id: str,
        own: Body,
        versions: Body,
        meta: Body | None,
        patch: bool,
    ) -> None:
        if resource.default:
            target: str | None = resource.default
            self._check_id(own, "versionid", resource.default)
        else:
            target = own.get("versionid") or (meta or {}).get("defaultversionid")
            if target is None and not versions:
                target = self._count(resource, resource.versions)
        if target is not None and target not in versions:
            self._write_version(resource, plural, resource_id, target, own, patch)

    def _link(self, resource: Resource, plural: str) -> None:
        """Ancestors: by hand (model.md, manual) or in the order of createdat."""
        versions = resource.versions
        before = {one: version.ancestor for one, version in versions.items()}
        if plural == "pages":
            previous = ""
            for one in sorted(versions, key=lambda one: by_age(resource, one)):
                versions[one].ancestor = previous or one
                previous = one
        else:
            placed = {one: version for one, version in versions.items() if version.ancestor is not None}
            if any(version.ancestor not in versions for version in placed.values()):
                raise Refused("unknown_id")
            last = newest(resource, placed) if placed else ""
            for one in sorted(set(versions) - set(placed), key=str.casefold):
                versions[one].ancestor = last or one
                last = one
            if any(circles(versions, one) for one in versions):
                raise Refused("ancestor_circular_reference")
        for one, version in versions.items():
            if version.ancestor != before[one]:
                version.touch(self.now)

    def _write_meta(self, resource: Resource, plural: str, meta: Body, patch: bool) -> None:
        resource.stamp(meta, self.now)
        if not isinstance(meta.get("defaultversionsticky") or False, bool):
            raise Refused("invalid_attribute")
        names = ("xref", "defaultversionid", "defaultversionsticky", SINGULAR[plural] + "id")
        resource.assign(plain(meta, *names), patch, OF_META)

    def _choose(self, resource: Resource, plural: str, meta: Body | None, patch: bool, flag: str) -> None:
        """The default Version (core, defaultversionid and SetDefaultVersionID Flag)."""
        was = (resource.default, resource.sticky)
        wanted: str | None = resource.default if resource.sticky else None
        if meta is not None:
            given, sticky = meta.get("defaultversionid"), meta.get("defaultversionsticky")
            if not patch:
                resource.sticky, wanted = bool(sticky), given
            elif "defaultversionsticky" in meta:
                resource.sticky = bool(sticky)
                wanted = given if given is not None else wanted
            elif "defaultversionid" in meta:
                resource.sticky, wanted = given is not None, given
        if flag == "null":
            resource.sticky, wanted = False, None
        elif flag:
            resource.sticky, wanted = True, flag
        if resource.sticky and LIMIT[plural] == 1:
            raise Refused("setdefaultversionsticky_false")
        if resource.sticky and wanted is not None:
            if wanted not in resource.versions:
                raise Refused("unknown_id")
            resource.default = wanted
        else:
            resource.default = self._newest(resource, plural)
        if (resource.default, resource.sticky) != was or flag:
            resource.touch(self.now)

    def _newest(self, resource: Resource, plural: str) -> str:
        if plural == "pages":
            return max(resource.versions, key=lambda one: by_age(resource, one))
        return newest(resource, resource.versions)

    def _prune(self, resource: Resource, plural: str) -> None:
        while LIMIT[plural] and len(resource.versions) > LIMIT[plural]:
            others = [one for one in resource.versions if one != resource.default]
            roots = [one for one in others if resource.versions[one].ancestor == one]
            self._drop(resource, min(roots or others, key=lambda one: by_age(resource, one)))
            self._link(resource, plural)

    def _drop(self, resource: Resource, version_id: str) -> None:
        del resource.versions[version_id]
        for one, version in resource.versions.items():
            if version.ancestor == version_id:
                version.ancestor = one
                version.touch(self.now)

    def _refer(self, resource: Resource, plural: str, own: Body | None, versions: Body | None, meta: Body) -> None:
        parts = meta["xref"].split("/")
        if len(parts) != 5 or parts[1] != "dirs" or parts[3] != plural:
            raise Refused("malformed_xref")
        allowed = {SINGULAR[plural] + "id"}
        if versions or set(own or {}) - allowed or set(meta) - allowed - {"xref", "epoch"}:
            raise Refused("extra_xref_attribute")
        if not resource.xref:
            check_epoch(meta, resource)
        if resource.epoch == 0:
            resource.createdat = self.now
            resource.epoch = 1
        resource.xref = meta["xref"]
        resource.versions, resource.attributes, resource.default, resource.sticky = {}, {}, "", False

    def _clear(self, resource: Resource) -> None:
        target = self.target(resource)
        resource.xref = ""
        resource.epoch = max(resource.epoch, target.epoch if target else 0)
        resource.touch(self.now)
        resource.loose_epoch = True

    def target(self, resource: Resource) -> Resource | None:
        """What a reference shows: one level only, and nothing when there is nothing."""
        _, _, group_id, plural, resource_id = resource.xref.split("/")
        found = self.find(group_id, plural, resource_id)
        return None if found is None or found.xref else found

    # Deleting

    def delete_groups(self, members: Body | None) -> None:
        for one in self._named(self.groups, members, "dirid", lambda body: body):
            self.delete_group(one, None)

    def delete_group(self, group_id: str, epoch: int | None) -> None:
        if group_id not in self.groups:
            raise Refused("not_found")
        check_epoch({"epoch": epoch}, self.groups[group_id])
        del self.groups[group_id]
        self.root.touch(self.now)

    def delete_resources(self, group_id: str, plural: str, members: Body | None) -> None:
        if group_id not in self.groups:
            raise Refused("not_found")
        found = self.groups[group_id].resources[plural]
        for one in self._named(found, members, SINGULAR[plural] + "id", epoch_in_meta):
            self.delete_resource(group_id, plural, one, None)

    def delete_resource(self, group_id: str, plural: str, resource_id: str, epoch: int | None) -> None:
        resource = self.find(group_id, plural, resource_id)
        if resource is None:
            raise Refused("not_found")
        check_epoch({"epoch": epoch}, resource)
        del self.groups[group_id].resources[plural][resource_id]
        self.groups[group_id].touch(self.now)

    def delete_versions(
        self, group_id: str, plural: str, resource_id: str, members: Body | None, flag: str = "", single: bool = False
    ) -> None:
        """DELETE of a Version (`single`), of those in a map, or of all."""
        resource = self.find(group_id, plural, resource_id)
        if resource is None or (single and not set(members or {}) & set(resource.versions)):
            raise Refused("not_found")
        gone = self._named(resource.versions, members, "versionid", lambda body: body)
        if not gone and not flag:
            return
        for one in gone:
            self._drop(resource, one)
        if not resource.versions:
            self.delete_resource(group_id, plural, resource_id, None)
            return
        self._link(resource, plural)
        if resource.default in gone:
            resource.sticky = False
        self._choose(resource, plural, None, True, flag)
        resource.touch(self.now)

    def _named(self, found: Any, members: Body | None, name: str, holder: Callable[[Body], Body]) -> list[str]:
        if members is None:
            return list(found)
        named = []
        for one, body in members.items():
            if one in found:
                self._check_id(body, name, one)
                check_epoch(holder(body), found[one])
                named.append(one)
        return named


def epoch_in_meta(body: Body) -> Body:
    meta: Body = body.get("meta", {})
    if "epoch" in body and "epoch" not in meta:
        raise Refused("misplaced_epoch")
    return meta


def plain(body: Body, *managed: str) -> Body:
    """The attributes of a body that are the client's own."""
    server = ("epoch", "createdat", "modifiedat", "self", "xid", "dirid", *managed)
    return {name: value for name, value in body.items() if name not in server}


def refuse_other_case(members: Any, one: str) -> None:
    if any(other.casefold() == one.casefold() for other in members):
        raise Refused("bad_request")


def by_age(resource: Resource, one: str) -> tuple[Time, str]:
    return (resource.versions[one].createdat, one.casefold())


def newest(resource: Resource, among: dict[str, Version]) -> str:
    ancestors = {version.ancestor for one, version in among.items() if version.ancestor != one}
    leaves = [one for one in among if one not in ancestors]
    return max(leaves or among, key=lambda one: by_age(resource, one))


def circles(versions: dict[str, Version], one: str) -> bool:
    seen = set()
    while versions[one].ancestor != one:
        if one in seen:
            return True
        seen.add(one)
        one = versions[one].ancestor or one
    return False

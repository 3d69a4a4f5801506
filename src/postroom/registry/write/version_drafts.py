"""The Versions of one Resource while a request writes them: each body becomes a draft, nothing is saved yet."""

from __future__ import annotations

import functools
from typing import Any

from postroom.model.conform import conform
from postroom.model.same_object import SameObject
from postroom.model.types import Attributes, ResourceType
from postroom.registry.entities import Entity
from postroom.registry.paths import EntityPath, check_id
from postroom.registry.problems import RegistryProblem
from postroom.registry.read.document_content import document_names, pop_document
from postroom.registry.write import constraints
from postroom.registry.write.merge_attributes import (
    SERVER_NAMES,
    Body,
    check_epoch,
    check_identity,
    compose,
    raise_violations,
    stamps,
)
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.registry.write.versions import Drafts, VersionDraft

RESERVED_VERSION_IDS = frozenset({"null", "request"})
VERSION_MANAGED = ("versionid", "isdefault", "ancestorid")
RESOURCE_LEVEL = ("meta", "metaurl", "versions", "versionsurl", "versionscount")
"""What a Resource has beside the attributes of its default Version."""


class Drafting:
    """Writes Versions into drafts; knows which were there before and which ids the server gave."""

    def __init__(self, work: UnitOfWork, path: EntityPath, existing: Entity | None, patch: bool) -> None:
        self.work = work
        self.resource_type = path.resource
        self.group_type = path.group
        self.group_xid = path.group_xid
        self.xid = path.resource_xid
        self.patch = patch
        stored = work.tx.entities(f"{self.xid}/versions") if existing else []
        self.stored = {entity.id: entity for entity in stored}
        self.drafts: Drafts = {entity.id: VersionDraft.of(entity) for entity in stored}
        self.counter = existing.counter if existing else 0
        self.handled: list[str] = []

    def added(self) -> list[str]:
        """The Versions that were not there before the request."""
        return [version_id for version_id in self.drafts if version_id not in self.stored]

    def removed(self) -> list[str]:
        """The Versions that were there before the request and are not any more."""
        return [version_id for version_id in self.stored if version_id not in self.drafts]

    def next_id(self) -> str:
        """A new id of the server's own: it counts up and never goes back (VER-005)."""
        taken = {version_id.casefold() for version_id in self.drafts}
        self.counter += 1
        while str(self.counter) in taken:
            self.counter += 1
        return str(self.counter)

    def write(self, version_id: str, written: Body) -> None:
        """Create or update one Version."""
        xid = f"{self.xid}/versions/{version_id}"
        self._check_version_id(version_id, xid)
        if "*" in self.resource_type.attributes:
            _refuse_resource_level(written, xid)
        body, violations = self.work.rules.read_version(self.resource_type, dict(written))
        raise_violations(violations, xid)
        singular = self.resource_type.singular
        check_identity(body, singular + "id", self.xid.rpartition("/")[2], xid, singular)
        check_identity(body, "versionid", version_id, xid, "version")
        draft = self.drafts.get(version_id) or VersionDraft(id=version_id, original=None)
        check_epoch(self.work, body, draft.original, xid)
        body.pop("epoch", None)
        ancestor = self._ancestor(body, draft, xid)
        stored_type = draft.attributes.get("contenttype")
        draft.document = pop_document(self.resource_type, body, draft.document, stored_type, self.patch, xid)
        draft.createdat, draft.modifiedat = stamps(self.work, body, draft.original, xid)
        before = {n: v for n, v in draft.attributes.items() if n != "ancestorid"} if self.patch else {}
        self._fill(before, body)
        managed = (singular + "id", *VERSION_MANAGED)
        draft.attributes = compose(self.work, self._attributes(), body, before, xid, managed)
        draft.attributes["ancestorid"] = draft.ancestor = ancestor
        draft.touched = True
        self.drafts[version_id] = draft
        self.handled.append(version_id)

    def refit(self) -> None:
        """Bring stored Versions in line with a new model: defaults filled in, or a problem when they cannot fit."""
        for draft in self.drafts.values():
            xid = f"{self.xid}/versions/{draft.id}"
            before = {n: v for n, v in draft.attributes.items() if n != "ancestorid"}
            body = {**before, **self._released_document(draft, xid)}
            self._fill({}, body)
            known = {n: a for n, a in self._attributes().items() if n not in SERVER_NAMES and not a.readonly}
            kept = {n: v for n, v in body.items() if n not in self.resource_type.attributes or n in known}
            for name in (self.resource_type.singular + "id", *VERSION_MANAGED):
                known.pop(name, None)
            normal, violations = conform(self.work.model, known, kept)
            raise_violations(violations, xid)
            if normal != kept or body != before:
                draft.attributes = {**normal, "ancestorid": draft.ancestor}
                draft.touched, draft.modifiedat = True, self.work.now

    def _released_document(self, draft: VersionDraft, xid: str) -> Body:
        """What a document leaves behind when its type has none any more: a URL becomes a plain attribute."""
        document = draft.document
        if self.resource_type.hasdocument or document is None:
            return {}
        if document.content:
            raise RegistryProblem("hasdocument_violation", xid, plural=self.resource_type.plural)
        draft.document, draft.touched = None, True
        return {self.resource_type.singular + "url": document.url} if document.url else {}

    def _attributes(self) -> Attributes:
        """What a Version may have beside its document, which is kept apart."""
        return _beside_document(SameObject(self.resource_type))

    def _check_version_id(self, version_id: str, xid: str) -> None:
        check_id(version_id, xid)
        if version_id in self.drafts:
            return
        if version_id in RESERVED_VERSION_IDS:
            raise RegistryProblem("malformed_id", xid, id=version_id, error_detail="this word is reserved")
        if not self.resource_type.setversionid and version_id != str(self.counter):
            raise RegistryProblem("versionid_not_allowed", self.xid, plural=self.resource_type.plural)
        taken = next((one for one in self.drafts if one.casefold() == version_id.casefold()), None)
        if taken is not None:
            raise RegistryProblem("bad_request", xid, error_detail=f"{taken} exists already in another case")

    def _ancestor(self, body: Body, draft: VersionDraft, xid: str) -> str | None:
        if "ancestorid" not in body:
            return draft.ancestor
        ancestor: Any = body.pop("ancestorid")
        if ancestor == "request":
            return draft.id
        if ancestor is not None and (not isinstance(ancestor, str) or not ancestor):
            detail = "must be the id of a Version"
            raise RegistryProblem(
                "invalid_attribute", xid, name="ancestorid", error_detail=detail, pointer="/ancestorid"
            )
        return ancestor

    def _fill(self, before: Body, body: Body) -> None:
        group = self.group
        wanted = constraints.effective_constraints(self.group_type, self.resource_type.plural, group)
        # A `null` takes away what was there, so that the default is in force again.
        merged = {name: value for name, value in {**before, **body}.items() if value is not None}
        present = set(merged)
        constraints.fill(wanted, self._inherited(), group, merged)
        body |= {name: value for name, value in merged.items() if name not in present}

    def _inherited(self) -> set[str]:
        prefix = self.resource_type.plural + "."
        inherited = self.work.rules.of(self.group_type).inherited
        return {path.removeprefix(prefix) for path in inherited if path.startswith(prefix)}

    @functools.cached_property
    def group(self) -> Body:
        """The attributes of the Group, which is written before its Resources are."""
        group = self.work.tx.entity(self.group_xid)
        return group.attributes if group else {}


@functools.lru_cache(maxsize=256)
def _beside_document(resource_type: SameObject[ResourceType]) -> Attributes:
    found = resource_type.value
    apart = document_names(found.singular) if found.hasdocument else ()
    return {name: attribute for name, attribute in found.attributes.items() if name not in apart}


def _refuse_resource_level(body: Body, xid: str) -> None:
    """Refuse extensions that would be mistaken for attributes of the Resource."""
    name = next((one for one in RESOURCE_LEVEL if one in body), None)
    if name is not None:
        detail = "it belongs to the Resource, and a Version cannot have it"
        raise RegistryProblem("invalid_attribute", xid, name=name, error_detail=detail, pointer=f"/{name}")

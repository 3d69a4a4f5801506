"""Writing a Resource: Versions, default Version's attributes, meta, in the order of core §Resource Processing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from postroom.registry import constraints
from postroom.registry.composing import (
    Body,
    as_body,
    as_map,
    check_epoch,
    check_identity,
    compose,
    stamps,
)
from postroom.registry.content import take_document
from postroom.registry.entities import Entity
from postroom.registry.formatting import mark_checks
from postroom.registry.interaction import Interaction
from postroom.registry.messaging import read_version
from postroom.registry.metas import MetaDraft, apply_meta, choose_default
from postroom.registry.places import Place, check_id
from postroom.registry.problems import RegistryProblem
from postroom.registry.versions import Drafts, VersionDraft, drop, link_ancestors, oldest
from postroom.registry.xref import check_plain_reference, clears_reference, reference_of

RESERVED_VERSION_IDS = frozenset({"null", "request"})
VERSION_MANAGED = ("versionid", "isdefault", "ancestorid")
RESOURCE_LEVEL = ("metaurl", "versionsurl", "versionscount")


@dataclass(frozen=True)
class Written:
    """What a write did to a Resource."""

    created: bool
    versions: tuple[str, ...]
    """The Versions the request named, or that were made for it."""
    new_versions: tuple[str, ...]
    default: str


class ResourceWrite:
    """One write to one Resource; `apply` runs the steps and saves what came of them."""

    def __init__(self, interaction: Interaction, place: Place, patch: bool) -> None:
        self.interaction = interaction
        self.kind = place.resource
        self.group_kind = place.group
        self.group_xid = place.group_xid
        self.xid = place.resource_xid
        self.patch = patch
        self.existing = interaction.tx.entity(self.xid)
        stored = interaction.tx.entities(f"{self.xid}/versions") if self.existing else []
        self.drafts: Drafts = {entity.id: VersionDraft.of(entity) for entity in stored}
        self.stored = {entity.id: entity for entity in stored}
        self.counter = self.existing.counter if self.existing else 0
        self.handled: list[str] = []

    @property
    def id(self) -> str:
        """The id of the Resource."""
        return self.xid.rpartition("/")[2]

    def apply(
        self, own: Body | None = None, versions: Body | None = None, meta: Body | None = None, default: str | None = ""
    ) -> Written:
        """Write the Resource's own attributes, a map of Versions and its meta; `default` is setdefaultversionid."""
        self._check_ids(own, meta)
        reference = reference_of(self.existing, meta, self.patch, self.xid)
        if reference:
            return self._refer(reference, own, versions, meta)
        clears = clears_reference(self.existing, meta, self.patch)
        for version_id, body in (versions or {}).items():
            self._write_version(version_id, as_body(body, f"{self.xid}/versions/{version_id}"))
        self._write_own(own if own is not None or not clears else {}, meta, versions or {})
        if not self.drafts:
            raise RegistryProblem("missing_versions", self.xid)
        link_ancestors(self.drafts, self.kind.versionmode, self.interaction.now, self.xid)
        draft = apply_meta(self.interaction, self.kind, self.xid, self.existing, meta, self.patch)
        choose_default(draft, self.kind, self.drafts, default, self._added(), self.xid)
        return self.finish(draft)

    def finish(self, meta: MetaDraft) -> Written:
        """Check the Versions together, drop those beyond the limit, save."""
        self._check_versions(meta)
        self._prune(meta)
        return self._save(meta)

    def write_version(self, version_id: str | None, body: Body, default: str | None = "") -> Written:
        """Write one Version; without an id the body's counts, and without that the server gives one."""
        body = {name: value for name, value in body.items() if name not in RESOURCE_LEVEL}
        if version_id is None:
            given = body.get("versionid")
            version_id = check_id(given, self.xid) if given is not None else self._next_id()
        written = self.apply(versions={version_id: body}, default=default)
        if version_id not in self.drafts:
            detail = f"older than the {self.kind.maxversions} versions that are kept, it would be dropped at once"
            raise RegistryProblem("bad_request", f"{self.xid}/versions/{version_id}", error_detail=detail)
        return written

    def _check_ids(self, own: Body | None, meta: Body | None) -> None:
        check_id(self.id, self.xid)
        for body in (own, meta):
            if body is not None:
                check_identity(body, self.kind.singular + "id", self.id, self.xid, self.kind.singular)
        if self.existing is None:
            taken = self.interaction.tx.sibling(self.xid.rpartition("/")[0], self.id)
            if taken is not None:
                raise RegistryProblem("bad_request", self.xid, error_detail=f"{taken} exists already in another case")

    def _refer(self, reference: str, own: Body | None, versions: Body | None, meta: Body | None) -> Written:
        check_plain_reference(self.interaction, self.kind, self.xid, reference, own, versions, meta)
        draft = apply_meta(self.interaction, self.kind, self.xid, self.existing, meta, self.patch)
        draft.attributes = {"xref": reference}
        draft.touched = True
        self.drafts.clear()
        return self._save(draft)

    def _write_own(self, own: Body | None, meta: Body | None, versions: Body) -> None:
        if own is None:
            return
        own = {name: value for name, value in own.items() if name not in (*RESOURCE_LEVEL, "meta", "versions")}
        target = self._default_target(own, meta, versions)
        if target is not None and target not in versions:
            self._write_version(target, own)

    def _default_target(self, own: Body, meta: Body | None, versions: Body) -> str | None:
        if self.existing is not None and self.stored:
            current: str = self.existing.attributes["defaultversionid"]
            check_identity(own, "versionid", current, self.xid, "version")
            return current
        given = own.get("versionid")
        if given is None and meta is not None:
            given = meta.get("defaultversionid")
        if given is not None:
            return check_id(given, self.xid)
        return None if versions else self._next_id()

    def _write_version(self, version_id: str, written: Body) -> None:
        xid = f"{self.xid}/versions/{version_id}"
        self._check_version_id(version_id, xid)
        body = read_version(self.kind, dict(written), xid)
        check_identity(body, self.kind.singular + "id", self.id, xid, self.kind.singular)
        check_identity(body, "versionid", version_id, xid, "version")
        draft = self.drafts.get(version_id) or VersionDraft(id=version_id, original=None)
        check_epoch(self.interaction, body, draft.original, xid)
        body.pop("epoch", None)
        ancestor = self._ancestor(body, draft)
        stored_type = draft.attributes.get("contenttype")
        draft.document = take_document(self.kind, body, draft.document, stored_type, self.patch, xid)
        draft.createdat, draft.modifiedat = stamps(self.interaction, body, draft.original, xid)
        before = {n: v for n, v in draft.attributes.items() if n != "ancestorid"} if self.patch else {}
        self._fill(before, body)
        managed = (self.kind.singular + "id", *VERSION_MANAGED)
        draft.attributes = compose(self.interaction, self._attributes(), body, before, xid, managed)
        draft.attributes["ancestorid"] = ancestor
        draft.ancestor = ancestor
        draft.touched = True
        self.drafts[version_id] = draft
        self.handled.append(version_id)

    def _attributes(self) -> dict[str, Any]:
        inline, encoded, url = self.kind.singular, self.kind.singular + "base64", self.kind.singular + "url"
        return {
            n: a
            for n, a in self.kind.attributes.items()
            if n not in (inline, encoded, url) or not self.kind.hasdocument
        }

    def _check_version_id(self, version_id: str, xid: str) -> None:
        check_id(version_id, xid)
        if version_id in self.drafts:
            return
        if version_id in RESERVED_VERSION_IDS:
            raise RegistryProblem("malformed_id", xid, id=version_id, error_detail="this word is reserved")
        if not self.kind.setversionid and version_id != str(self.counter):
            raise RegistryProblem("versionid_not_allowed", self.xid, plural=self.kind.plural)
        taken = next((one for one in self.drafts if one.casefold() == version_id.casefold()), None)
        if taken is not None:
            raise RegistryProblem("bad_request", xid, error_detail=f"{taken} exists already in another case")

    def _ancestor(self, body: Body, draft: VersionDraft) -> str | None:
        if "ancestorid" not in body:
            return draft.ancestor
        ancestor = body.pop("ancestorid")
        if ancestor == "request":
            return draft.id
        if ancestor is not None and (not isinstance(ancestor, str) or not ancestor):
            raise RegistryProblem(
                "invalid_attribute",
                self.xid,
                name="ancestorid",
                error_detail="must be the id of a Version",
                pointer="/ancestorid",
            )
        return ancestor

    def _fill(self, before: Body, body: Body) -> None:
        group = self._group()
        wanted = constraints.effective_constraints(self.group_kind, self.kind.plural, group)
        merged = {**before, **{name: value for name, value in body.items() if value is not None}}
        constraints.fill(wanted, f"{self.group_kind.plural}.{self.kind.plural}", group, merged)
        for name, value in merged.items():
            if before.get(name) is None and body.get(name) is None:
                body[name] = value

    def _group(self) -> Body:
        group = self.interaction.tx.entity(self.group_xid)
        return group.attributes if group else {}

    def _next_id(self) -> str:
        taken = {version_id.casefold() for version_id in self.drafts}
        self.counter += 1
        while str(self.counter) in taken:
            self.counter += 1
        return str(self.counter)

    def _added(self) -> list[str]:
        return [version_id for version_id in self.drafts if version_id not in self.stored]

    def _check_versions(self, meta: MetaDraft) -> None:
        constraints.match_versions(self.kind, [draft.attributes for draft in self.drafts.values()], self.xid)
        group = self._group()
        wanted = constraints.effective_constraints(self.group_kind, self.kind.plural, group)
        for draft in self.drafts.values():
            mark_checks(self.kind, draft, meta.attributes, f"{self.xid}/versions/{draft.id}")
            constraints.enforce(wanted, group, draft.attributes, self.xid)
        self._check_roots()

    def _check_roots(self) -> None:
        roots = [draft for draft in self.drafts.values() if draft.ancestor == draft.id]
        if self.kind.singleversionroot and len(roots) > 1:
            raise RegistryProblem("multiple_roots", self.xid, plural=self.kind.plural)

    def _prune(self, meta: MetaDraft) -> None:
        limit = self.kind.maxversions
        while limit and len(self.drafts) > limit:
            candidates = [d for d in self.drafts.values() if d.id != meta.attributes["defaultversionid"]]
            drop(self.drafts, oldest(candidates, self.kind.versionmode).id)
            link_ancestors(self.drafts, self.kind.versionmode, self.interaction.now, self.xid)
        self._check_roots()

    def _save(self, meta: MetaDraft) -> Written:
        added, removed = self._added(), [one for one in self.stored if one not in self.drafts]
        if self.existing is None:
            self.interaction.touch(self.group_xid)
        if self.existing is None or meta.touched or added or removed or self.counter != self.existing.counter:
            self._save_meta(meta)
        for version_id in removed:
            self.interaction.remove(f"{self.xid}/versions/{version_id}")
        for draft in self.drafts.values():
            if draft.touched:
                self._save_version(draft)
        handled = tuple(dict.fromkeys(one for one in self.handled if one in self.drafts))
        default = meta.attributes.get("defaultversionid", "")
        return Written(self.existing is None, handled, tuple(added), default)

    def _save_meta(self, meta: MetaDraft) -> None:
        self.interaction.save(
            Entity(
                xid=self.xid,
                epoch=max(self.interaction.epoch_after(self.xid, self.existing), meta.epoch_floor),
                createdat=meta.createdat,
                modifiedat=meta.modifiedat,
                attributes=meta.attributes,
                counter=self.counter,
            )
        )

    def _save_version(self, draft: VersionDraft) -> None:
        xid = f"{self.xid}/versions/{draft.id}"
        self.interaction.save(
            Entity(
                xid=xid,
                epoch=self.interaction.epoch_after(xid, draft.original),
                createdat=draft.createdat,
                modifiedat=draft.modifiedat,
                attributes=draft.attributes,
                document=draft.document,
            )
        )


def write_resource(
    interaction: Interaction, place: Place, written: Any, patch: bool, default: str | None = ""
) -> Written:
    """Create or update a Resource from its JSON form."""
    body = as_body(written, place.resource_xid)
    versions = body.pop("versions", None)
    meta = body.pop("meta", None)
    return ResourceWrite(interaction, place, patch).apply(
        own=body,
        versions=as_map(versions, place.resource_xid, "versions") if versions is not None else None,
        meta=as_body(meta, f"{place.resource_xid}/meta") if meta is not None else None,
        default=default,
    )

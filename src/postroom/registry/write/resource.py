"""Writing a Resource: Versions, default Version's attributes, meta, in the order of core §Resource Processing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from postroom.registry.entities import Entity
from postroom.registry.paths import EntityPath, check_id
from postroom.registry.problems import RegistryProblem
from postroom.registry.write import constraints
from postroom.registry.write.document_checks import VersionChecks
from postroom.registry.write.merge_attributes import Body, as_nested, check_identity, given_id
from postroom.registry.write.meta import (
    MetaDraft,
    apply_meta,
    check_plain_reference,
    check_target,
    choose_default,
    is_reference,
    reference_of,
    refit_meta,
)
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.registry.write.version_drafts import RESOURCE_LEVEL, Drafting
from postroom.registry.write.versions import VersionDraft, drop, link_ancestors, oldest, refuse_circles


@dataclass(frozen=True)
class WriteResult:
    """What a write did to a Resource."""

    created: bool
    versions: tuple[str, ...]
    """The Versions the request named, or that were made for it."""
    new_versions: tuple[str, ...]
    default: str


class ResourceWrite:
    """One write to one Resource; `apply` runs the steps and saves what came of them."""

    def __init__(self, work: UnitOfWork, path: EntityPath, patch: bool) -> None:
        work.permissions.require_write(path.resource_xid)
        self.work = work
        self.resource_type = path.resource
        self.group_type = path.group
        self.group_xid = path.group_xid
        self.xid = path.resource_xid
        self.patch = patch
        self.existing = work.tx.entity(self.xid)
        self.drafting = Drafting(work, path, self.existing, patch)
        self.drafts = self.drafting.drafts

    @property
    def id(self) -> str:
        """The id of the Resource."""
        return self.xid.rpartition("/")[2]

    def apply(
        self, own: Body | None = None, versions: Body | None = None, meta: Body | None = None, default: str | None = ""
    ) -> WriteResult:
        """Write the Resource's own attributes, a map of Versions and its meta; `default` is setdefaultversionid."""
        self._check_ids(own, meta)
        self.refuse_readonly(meta)
        reference = reference_of(self.existing, meta, self.patch, self.xid)
        if reference:
            return self._refer(reference, own, versions, meta, default)
        for version_id, body in (versions or {}).items():
            self.drafting.write(version_id, as_nested(body, f"{self.xid}/versions/{version_id}", "versions"))
        was_reference = is_reference(self.existing)
        if own is None and was_reference:
            self._write_own({}, None, versions or {})  # its meta alone names no Version that has to be made
        self._write_own(own, meta, versions or {})
        if self.existing is not None and was_reference:
            self.drafting.counter = self.existing.counter  # what takes the place of a reference is not counted
        if not self.drafts:
            raise RegistryProblem("missing_versions", self.xid)
        link_ancestors(self.drafts, self.resource_type.versionmode, self.work.now, self.xid)
        draft = apply_meta(self.work, self.resource_type, self.xid, self.existing, meta, self.patch)
        # The rule for `request` asks for a Version that is created, the text of its error for one that is processed.
        candidates = self.drafting.added() or (list(versions or ()) if own is None else [])
        choose_default(draft, self.resource_type, self.drafts, default, candidates, self.xid)
        return self.finish(draft)

    def finish(self, meta: MetaDraft) -> WriteResult:
        """Check the Versions together, drop those beyond the limit, save."""
        self._check_versions(meta)
        self._prune(meta)
        refuse_circles(self.drafts, self.xid)
        self._check_roots()
        return self._save(meta)

    def write_version(self, version_id: str | None, body: Body, default: str | None = "") -> WriteResult:
        """Write one Version; without an id the body's counts, and without that the server gives one."""
        self.refuse_reference()
        if version_id is None:
            given = given_id(body, "versionid", self.xid)
            version_id = check_id(given, self.xid) if given is not None else self.drafting.next_id()
        written = self.apply(versions={version_id: body}, default=default)
        if version_id not in self.drafts:
            detail = (
                f"older than the {self.resource_type.maxversions} versions that are kept, it would be dropped at once"
            )
            raise RegistryProblem("bad_request", f"{self.xid}/versions/{version_id}", error_detail=detail)
        return written

    def write_versions(self, versions: Body, default: str | None = "") -> WriteResult:
        """Write a map of Versions; an empty one asks for nothing, but cannot make a Resource."""
        if versions or not is_reference(self.existing):
            self.refuse_reference()
            return self.apply(versions=versions, default=default)
        return WriteResult(created=False, versions=(), new_versions=(), default="")

    def refit(self) -> None:
        """Bring a stored Resource in line with a new model."""
        if is_reference(self.existing):
            check_target(self.work.model, self.xid, reference_of(self.existing, None, True, self.xid))
            return
        self.drafting.refit()
        link_ancestors(self.drafts, self.resource_type.versionmode, self.work.now, self.xid)
        meta = refit_meta(self.work, self.resource_type, self.xid, self.existing)
        choose_default(meta, self.resource_type, self.drafts, "", [], self.xid)
        self.finish(meta)

    def refuse_reference(self) -> None:
        """Versions of a Resource that stands for another are written where they are."""
        if is_reference(self.existing):
            raise RegistryProblem("bad_request", self.xid, error_detail="its Versions are those of its xref")

    def refuse_readonly(self, meta: Body | None = None) -> None:
        """Refuse to change a Resource that is read-only (META-005), unless an administrator ends that."""
        if self.work.may_lock and meta is not None and meta.get("readonly") is False:
            return
        if self.existing is not None and self.existing.attributes.get("readonly"):
            raise RegistryProblem("readonly", self.xid)

    def _check_ids(self, own: Body | None, meta: Body | None) -> None:
        check_id(self.id, self.xid)
        for body in (own, meta):
            if body is not None:
                self._check_own_id(given_id(body, self.resource_type.singular + "id", self.xid))
        if self.existing is None:
            taken = self.work.tx.sibling(self.xid.rpartition("/")[0], self.id)
            if taken is not None:
                raise RegistryProblem("bad_request", self.xid, error_detail=f"{taken} exists already in another case")

    def _check_own_id(self, given: str | None) -> None:
        # Other servers compare the id of a Resource before they look whether it is a legal one.
        if given is not None and given != self.id:
            singular = self.resource_type.singular
            raise RegistryProblem("mismatched_id", self.xid, singular=singular, invalid_id=given, expected_id=self.id)

    def _refer(
        self, reference: str, own: Body | None, versions: Body | None, meta: Body | None, default: str | None
    ) -> WriteResult:
        flagged = {"defaultversionid": default or "null"} if default != "" else {}
        check_plain_reference(
            self.work.model, self.resource_type, self.xid, reference, own, versions, {**(meta or {}), **flagged}
        )
        draft = apply_meta(self.work, self.resource_type, self.xid, self.existing, meta, self.patch)
        draft.attributes = {"xref": reference}
        draft.touched = True
        draft.createdat = self.existing.createdat if self.existing else self.work.now
        # RES-056: what a Resource had counts when it comes back; a reference that is written again counts on.
        draft.epoch = self.existing.epoch if self.existing and not is_reference(self.existing) else 0
        self.drafts.clear()
        return self._save(draft)

    def _write_own(self, own: Body | None, meta: Body | None, versions: Body) -> None:
        if own is None:
            return
        own = {name: value for name, value in own.items() if name not in RESOURCE_LEVEL}
        target = self._default_target(own, meta, versions)
        if target is not None and target not in versions:
            self.drafting.write(target, own)

    def _default_target(self, own: Body, meta: Body | None, versions: Body) -> str | None:
        if self.existing is not None and self.drafting.stored:
            current: str = self.existing.attributes["defaultversionid"]
            check_identity(own, "versionid", current, self.xid, "version")
            return current
        given = given_id(own, "versionid", self.xid)
        if given is None and meta is not None:
            given = given_id(meta, "defaultversionid", self.xid)
        if given is not None:
            return check_id(given, self.xid)
        return None if versions else self.drafting.next_id()

    def _check_versions(self, meta: MetaDraft) -> None:
        """RES-042: formats, what all Versions share, what the Group demands, compatibility."""
        group = self.drafting.group
        checks = VersionChecks(self.work, self.resource_type, self.xid, self.drafts)
        checks.check_formats()
        constraints.match_versions(self.resource_type, [draft.attributes for draft in self.drafts.values()], self.xid)
        wanted = constraints.effective_constraints(self.group_type, self.resource_type.plural, group)
        for draft in self.drafts.values():
            constraints.enforce(wanted, group, draft.attributes, self.xid)
        checks.check_compatibility(meta.attributes, self.existing.attributes if self.existing else None)

    def _check_roots(self) -> None:
        roots = [draft for draft in self.drafts.values() if draft.ancestor == draft.id]
        if self.resource_type.singleversionroot and len(roots) > 1:
            raise RegistryProblem("multiple_roots", self.xid, plural=self.resource_type.plural)

    def _prune(self, meta: MetaDraft) -> None:
        limit = self.resource_type.maxversions
        while limit and len(self.drafts) > limit:
            candidates = [d for d in self.drafts.values() if d.id != meta.attributes["defaultversionid"]]
            drop(self.drafts, oldest(candidates, self.resource_type.versionmode).id)
            link_ancestors(self.drafts, self.resource_type.versionmode, self.work.now, self.xid)

    def _save(self, meta: MetaDraft) -> WriteResult:
        added, removed = self.drafting.added(), self.drafting.removed()
        if self.existing is None:
            self.work.touch(self.group_xid)
        counted = self.existing is not None and self.drafting.counter != self.existing.counter
        if self.existing is None or meta.touched or added or removed or counted:
            self._save_meta(meta)
        for version_id in removed:
            self.work.remove(f"{self.xid}/versions/{version_id}")
        for draft in self.drafts.values():
            self._save_version(draft)
        constraints.watch_resource(self.work, self.xid)
        handled = tuple(dict.fromkeys(one for one in self.drafting.handled if one in self.drafts))
        default = meta.attributes.get("defaultversionid", "")
        return WriteResult(self.existing is None, handled, tuple(one for one in added if one in self.drafts), default)

    def _save_meta(self, meta: MetaDraft) -> None:
        self.work.save(
            Entity(
                xid=self.xid,
                epoch=meta.epoch or self.work.epoch_after(self.xid, self.existing),
                createdat=meta.createdat,
                modifiedat=meta.modifiedat,
                attributes=meta.attributes,
                counter=self.drafting.counter,
            )
        )

    def _save_version(self, draft: VersionDraft) -> None:
        xid = f"{self.xid}/versions/{draft.id}"
        stored = draft.original
        if not draft.touched and (stored is None or stored.attributes == draft.attributes):
            return
        # REG-027: what the server notes by itself (validation marks) is no update.
        quiet = stored is not None and not draft.touched
        self.work.save(
            Entity(
                xid=xid,
                epoch=stored.epoch if stored and quiet else self.work.epoch_after(xid, stored),
                createdat=draft.createdat,
                modifiedat=draft.modifiedat,
                attributes=draft.attributes,
                document=draft.document,
            )
        )


def write_resource(
    work: UnitOfWork, path: EntityPath, written: Any, patch: bool, default: str | None = ""
) -> WriteResult:
    """Create or update a Resource from its JSON form."""
    body = as_nested(written, path.resource_xid, path.resource.plural)
    versions = body.pop("versions", None)
    meta = body.pop("meta", None)
    return ResourceWrite(work, path, patch).apply(
        own=body,
        versions=as_nested(versions, path.resource_xid, "versions") if versions is not None else None,
        meta=as_nested(meta, path.resource_xid, "meta") if meta is not None else None,
        default=default,
    )

"""Whether the documents of a Resource's Versions are what their formats say, and go with their ancestors.

The Versions say about themselves what was checked (VER-021 to VER-026); what is wrong is refused.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from functools import partial
from typing import Any

import msgspec

from postroom.model.schema_content import stated_references
from postroom.model.types import ResourceType
from postroom.registry.problems import RegistryProblem
from postroom.registry.read.document_content import proxy_name
from postroom.registry.read.referenced_documents import surroundings
from postroom.registry.rules import Judgement, ReferencedDocument, Surroundings
from postroom.registry.write.unit_of_work import UnitOfWork
from postroom.registry.write.versions import Drafts, VersionDraft

FORMAT, COMPATIBILITY = "formatvalidated", "compatibilityvalidated"
MARKS = (FORMAT, f"{FORMAT}reason", COMPATIBILITY, f"{COMPATIBILITY}reason")
UNKNOWN = "This server does not know the format."
EXTERNAL = "The document is stored outside of the registry."


class VersionChecks:
    """The checks on the Versions of one Resource during one request."""

    def __init__(
        self, work: UnitOfWork, resource_type: ResourceType, xid: str, drafts: Drafts, is_last: bool = False
    ) -> None:
        self._is_last = is_last
        self._work = work
        self._rules = work.rules.documents
        self._resource_type = resource_type
        self._xid = xid
        self._drafts = drafts
        self._capabilities = work.capabilities

    def check_formats(self) -> None:
        """Check the documents that changed; RES-042 has this before the constraints."""
        for draft in self._drafts.values():
            kept = draft.attributes.get(FORMAT) is True and not draft.touched
            for name in (FORMAT, f"{FORMAT}reason"):
                draft.attributes.pop(name, None)
            form = draft.attributes.get("format")
            if self._resource_type.validateformat and form is not None:
                judgement = Judgement("yes") if kept else self._format(draft, form)
                _mark(draft, FORMAT, judgement)

    def _format(self, draft: VersionDraft, form: str) -> Judgement:
        xid = f"{self._xid}/versions/{draft.id}"
        if not _supported(form, self._capabilities.formats):
            return self._unchecked("format_unknown", xid, UNKNOWN, format=form)
        if self._is_external(draft):
            return self._unchecked("format_external", xid, EXTERNAL)
        judgement = self._rules.check(form, _content(draft), self._around(draft))
        if judgement.dangling and not self._is_last:
            self._check_again()
            return Judgement("unknown", judgement.reason)
        if judgement.answer == "no":
            raise RegistryProblem("format_violation", xid, detail=judgement.reason, format=form)
        if judgement.answer == "unknown" and judgement.dangling:
            return self._unchecked("format_external", xid, judgement.reason)
        if judgement.answer == "unknown":
            return self._unchecked("format_unknown", xid, judgement.reason, format=form)
        return judgement

    def check_compatibility(self, meta: dict[str, Any], before: dict[str, Any] | None) -> None:
        """Check the Versions against their ancestors, all of them when the rule is new (META-009)."""
        rule = meta.get("compatibility")
        is_new = before is None or before.get("compatibility") != rule
        for draft in self._drafts.values():
            chain = self._ancestors(draft)
            kept = not is_new and draft.attributes.get(COMPATIBILITY) is True
            kept = kept and not any(one.touched for one in (draft, *chain))
            for name in (COMPATIBILITY, f"{COMPATIBILITY}reason"):
                draft.attributes.pop(name, None)
            if rule and self._resource_type.validatecompatibility and draft.attributes.get("format") is not None:
                _mark(draft, COMPATIBILITY, Judgement("yes") if kept else self._compatibility(draft, chain, rule))

    def _compatibility(self, draft: VersionDraft, chain: list[VersionDraft], rule: str) -> Judgement:
        form = draft.attributes["format"]
        if draft.attributes.get(FORMAT) is not True:
            return Judgement("unknown", draft.attributes[f"{FORMAT}reason"])
        if not chain:
            return Judgement("yes")  # SCH-027
        if not self._has_rule(form, rule):
            reason = f"This server does not know the rule {rule} for the format {form}."
            return self._unchecked("compatibility_unknown", self._xid, reason, compat=rule, format=form)
        unchecked = next((one for one in chain if one.attributes.get(FORMAT) is not True), None)
        if unchecked is not None:
            return Judgement("unknown", f"Version {unchecked.id}, which it is compared with, was not checked.")
        older = [self._document(one) for one in chain]
        judgement = self._rules.compare(form, older, _content(draft), rule, self._around(draft))
        if judgement.dangling and not self._is_last:
            self._check_again()
            return Judgement("unknown", judgement.reason)
        if judgement.answer == "no":
            detail = f"Version {draft.id} does not go with {chain[0].id}: {judgement.reason}"
            raise RegistryProblem("compatibility_violation", self._xid, detail=detail, compat=rule)
        if judgement.answer == "unknown":
            return self._unchecked("compatibility_unknown", self._xid, judgement.reason, compat=rule, format=form)
        return judgement

    def _around(self, draft: VersionDraft) -> Surroundings:
        document = self._document(draft)
        return surroundings(self._work.tx, document.xid, document.references)

    def _document(self, draft: VersionDraft) -> ReferencedDocument:
        xid = f"{self._xid}/versions/{draft.id}"
        return ReferencedDocument(xid, _content(draft), stated_references(draft.attributes))

    def _check_again(self) -> None:
        # What a document refers to may come with the same request.
        again = partial(_recheck, self._work, self._resource_type, self._xid)
        self._work.at_end(f"documents of {self._xid}", again)

    def _ancestors(self, draft: VersionDraft) -> list[VersionDraft]:
        """VER-028: the lineage, nearest first; a Version without a format is nothing to compare with."""
        chain: list[VersionDraft] = []
        seen = {draft.id}
        while draft.ancestor is not None and draft.ancestor not in seen and draft.ancestor in self._drafts:
            draft = self._drafts[draft.ancestor]
            seen.add(draft.id)
            if draft.attributes.get("format") is not None:
                chain.append(draft)
        return chain

    def _is_external(self, draft: VersionDraft) -> bool:
        by_url = draft.document is not None and draft.document.url
        return bool(by_url or draft.attributes.get(proxy_name(self._resource_type.singular)))

    def _has_rule(self, form: str, rule: str) -> bool:
        rules = [known for name, known in self._capabilities.compatibilities.items() if _supported(form, [name])]
        return any(rule.lower() in known for known in rules)

    def _unchecked(self, problem: str, subject: str, reason: str, **args: Any) -> Judgement:
        if self._resource_type.strictvalidation:
            raise RegistryProblem(problem, subject, detail=reason, **args)
        return Judgement("unknown", reason)


def _recheck(work: UnitOfWork, resource_type: ResourceType, xid: str) -> None:
    resource = work.tx.entity(xid)
    if resource is None:
        return
    drafts = {entity.id: VersionDraft.of(entity) for entity in work.tx.entities(f"{xid}/versions")}
    checks = VersionChecks(work, resource_type, xid, drafts, is_last=True)
    checks.check_formats()
    checks.check_compatibility(resource.attributes, resource.attributes)
    for draft in drafts.values():
        if draft.original is not None and draft.attributes != draft.original.attributes:
            work.save(msgspec.structs.replace(draft.original, attributes=draft.attributes))


def _mark(draft: VersionDraft, name: str, judgement: Judgement) -> None:
    draft.attributes[name] = judgement.answer == "yes"
    if judgement.answer != "yes":
        draft.attributes[f"{name}reason"] = judgement.reason


def _content(draft: VersionDraft) -> bytes:
    # VER-029: no document and an empty one are the same.
    return draft.document.content if draft.document is not None else b""


def _supported(form: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(form.lower(), pattern.lower()) for pattern in patterns)

"""Lint of single entities of a registry, as writes need it: by the rules on messages, schemas and endpoints.

An entity is looked at together with what it refers to. A reference that leads nowhere is a warning here: what it means
may come later. What the model says and whether a schema document is one is checked by the registry itself; remarks, and
what only all definitions together can tell, are left to `postroom lint`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from postroom.catalog.lint import diagnose
from postroom.documents.lint.findings import SEVERITIES, Diagnostic, Finding, Severity
from postroom.documents.lint.rule_table import RULES, LintRule
from postroom.documents.lint.subjects import LintedDocument
from postroom.messages.definitions.catalog_tree import Tree, local_path
from postroom.registry.entities import Entity
from postroom.registry.operations import export_entity
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.settings import Settings

_OTHERS = frozenset(
    {"attribute_invalid", "registry_attribute_invalid", "not_an_object", "definition_shadowed", "always_ambiguous"}
)
_RULES = tuple(
    rule
    for rule in RULES
    if rule.severity != "info" and rule.subject not in ("documents", "written") and rule.code not in _OTHERS
)
_DANGLING = frozenset({"schema_dangling", "messagegroup_dangling", "willmessage_dangling"})
_MOST_REFERENCES = 1000
_LINTED = ("messagegroups", "schemagroups", "endpoints")


def lint_entities(tx: Transaction, xids: Iterable[str]) -> list[Finding]:
    """What is wrong with entities as they are in a transaction, the worst first."""
    wanted = {unit for xid in xids if (unit := _unit(xid)) and tx.entity(unit) is not None}
    document = LintedDocument(_Collected(tx, wanted).tree)
    found = [
        _finding(rule, diagnostic)
        for rule, diagnostic in diagnose(document, Settings(), _RULES)
        if _subject(diagnostic.pointer) in wanted
    ]
    return sorted(found, key=lambda one: (SEVERITIES.index(one.severity), one.pointer, one.code))


def refuse_errors(tx: Transaction, before: Mapping[str, Entity | None]) -> None:
    """Refuse a write that leaves an entity with an error; `before` are the entities that it touched."""
    written = [xid for xid, entity in before.items() if _is_written(entity, tx.entity(xid))]
    errors = [one for one in lint_entities(tx, written) if one.severity == "error"]
    if not errors:
        return
    first, more = errors[0], len(errors) - 1
    subject = _subject(first.pointer)
    name = first.pointer.removeprefix(subject).strip("/").replace("/", ".") or subject.rpartition("/")[2]
    detail = f"{first.remedy} This is {first.code} of lint, and the setting write_rules is strict.".lstrip()
    if more:
        detail += f" There {'is 1 error' if more == 1 else f'are {more} errors'} more."
    sentence = first.sentence.removesuffix(".")
    raise RegistryProblem("invalid_attribute", subject, name=name, error_detail=sentence, detail=detail)


def _is_written(before: Entity | None, now: Entity | None) -> bool:
    if now is None:
        return False
    return before is None or (before.attributes, before.document) != (now.attributes, now.document)


def _unit(xid: str) -> str:
    """The Group or Resource that an entity belongs to; empty for what no rule is about."""
    steps = xid.split("/")[1:5]
    return "/" + "/".join(steps[: 4 if len(steps) == 4 else 2]) if len(steps) > 1 and steps[0] in _LINTED else ""


def _subject(place: str) -> str:
    """The Group or Resource that a finding is about."""
    steps = [step.replace("~1", "/").replace("~0", "~") for step in place.split("/")[1:5]]
    is_below = len(steps) == 4 and steps[2] in ("messages", "schemas")
    return "/" + "/".join(steps if is_below else steps[:2])


def _finding(rule: LintRule, diagnostic: Diagnostic) -> Finding:
    severity: Severity = "warning" if rule.code in _DANGLING else rule.severity
    return Finding(
        file="",
        pointer=diagnostic.pointer,
        severity=severity,
        code=rule.code,
        sentence=diagnostic.sentence,
        remedy=diagnostic.remedy,
    )


class _Collected:
    """Entities, their Groups and all that they refer to, as one document.

    Of messages and of what is only referred to the Versions that matter are enough, without documents.
    """

    def __init__(self, tx: Transaction, xids: Iterable[str]) -> None:
        self._tx = tx
        self.tree: Tree = {}
        self._wanted = frozenset(xids)
        pending, seen = list(self._wanted), set(self._wanted)
        while pending and len(seen) < _MOST_REFERENCES:
            entity = self._add(pending.pop())
            found = {reference for text in _texts(entity) if (reference := _reference(text))} - seen
            pending += found
            seen |= found

    def _add(self, reference: str) -> Tree:
        """Add what a reference means, if it is there, and give it for its own references."""
        _, plural, group_id, *below = reference.split("/")
        groups = self.tree.setdefault(plural, {})
        if group_id not in groups:
            group = self._tx.entity(f"/{plural}/{group_id}")
            if group is None:
                return {}
            groups[group_id] = dict(group.attributes)
        if len(below) < 2:
            return dict(groups[group_id])
        xid = f"/{plural}/{group_id}/{below[0]}/{below[1]}"
        is_whole = below[0] == "schemas" and xid in self._wanted
        entity = export_entity(self._tx, xid) if is_whole else self._versions(xid, below[3:])
        if entity is not None:
            members = groups[group_id].setdefault(below[0], {})
            members[below[1]] = {**entity, "versions": {**_versions(members.get(below[1])), **_versions(entity)}}
        return entity or {}

    def _versions(self, xid: str, named: list[str]) -> Tree | None:
        """A Resource with its default Version and another that was named."""
        meta = self._tx.entity(xid)
        if meta is None:
            return None
        ids = [str(meta.attributes.get("defaultversionid", "")), *named]
        found = (self._tx.entity(f"{xid}/versions/{one}") for one in dict.fromkeys(ids) if one)
        return {"meta": meta.attributes, "versions": {one.id: one.attributes for one in found if one is not None}}


def _versions(resource: Tree | None) -> Tree:
    return (resource or {}).get("versions") or {}


def _reference(text: str) -> str:
    """The Group, Resource or Version that a text names; empty for any other text."""
    path = local_path(text, {}) if text.startswith(("/", "#/")) else None
    steps = (path or "").partition("#")[0].split("/")[1:]
    is_one = len(steps) in (2, 4, 6) and steps[0] in _LINTED
    return "/" + "/".join(steps) if is_one else ""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)

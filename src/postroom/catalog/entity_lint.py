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
    """Entities, their Groups and all that they refer to, as one document."""

    def __init__(self, tx: Transaction, xids: Iterable[str]) -> None:
        self._tx = tx
        self.tree: Tree = {}
        self._groups = tx.model().groups
        pending, seen = list(xids), set(xids)
        while pending and len(seen) < _MOST_REFERENCES:
            entity = self._add(pending.pop())
            references = {unit for text in _texts(entity) if (unit := self._reference(text))}
            pending += references - seen
            seen |= references

    def _add(self, xid: str) -> Tree:
        _, plural, group_id, *below = xid.split("/")
        groups = self.tree.setdefault(plural, {})
        if group_id not in groups:
            groups[group_id] = export_entity(self._tx, f"/{plural}/{group_id}") or {}
        if not below:
            return dict(groups[group_id])
        entity = export_entity(self._tx, xid)
        if entity is not None:
            groups[group_id].setdefault(below[0], {})[below[1]] = entity
        return entity or {}

    def _reference(self, text: str) -> str:
        if not text.startswith(("/", "#/")):
            return ""
        unit = _unit(local_path(text, {}) or "")
        return unit if unit and unit.split("/")[1] in self._groups and self._tx.entity(unit) is not None else ""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)

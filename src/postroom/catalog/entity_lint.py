"""Lint of single entities of a registry, as writes need it: by the rules on messages, schemas and endpoints.

An entity is looked at together with what it refers to. A reference that leads nowhere is a warning here: what it means
may come later. What the model says and whether a schema document is one is checked by the registry itself; remarks, and
what only all definitions together can tell, are left to `postroom lint`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import msgspec

from postroom.catalog.lint import diagnose
from postroom.catalog.message_shape import SHAPED, message_shape
from postroom.documents.lint.findings import SEVERITIES, Diagnostic, Finding, Severity
from postroom.documents.lint.rule_table import RULES, LintRule
from postroom.documents.lint.rules.messages import SELECTORS
from postroom.documents.lint.subjects import COLLECTIONS, LintedDocument
from postroom.messages.definitions.catalog_tree import Tree, local_path
from postroom.registry.entities import Entity
from postroom.registry.problems import RegistryProblem
from postroom.registry.transaction_interface import Transaction
from postroom.settings import Settings

# What a registry sees to itself, and what only all definitions together can tell.
_OTHERS = frozenset(
    {
        "attribute_invalid",
        "registry_attribute_invalid",
        "not_an_object",
        "id_malformed",
        "id_mismatch",
        "ids_collide",
        "definition_shadowed",
        "always_ambiguous",
        "message_ids_collide",
    }
)
_RULES = tuple(
    rule
    for rule in RULES
    if rule.severity != "info" and rule.subject not in ("documents", "written") and rule.code not in _OTHERS
)
_SETTINGS = Settings()  # no rule that is left asks for one
_DANGLING = frozenset({"schema_dangling", "messagegroup_dangling", "willmessage_dangling"})
_MOST_REFERENCES = 1000
"""How many references are followed for each entity, on average; what further ones say counts as not there."""
_MOST_KEPT = 8192
"""How large the JSON of an entity and all it refers to may be for its findings to be kept in memory."""
_FOR_PEOPLE = frozenset({"name", "description", "documentation", "icon", "labels"})


def lint_entities(tx: Transaction, xids: Iterable[str]) -> list[Finding]:
    """What is wrong with entities as they are in a transaction, the worst first."""
    wanted = {unit for xid in xids if (unit := _unit(xid))}
    if not wanted:
        return []
    tree = _Collected(tx, wanted).tree
    shape = message_shape(tree, next(iter(wanted))) if len(wanted) == 1 else None
    if shape is not None and not _findings(shape, frozenset({SHAPED})):
        return []
    return list(_findings(tree, frozenset(wanted)))


def _findings(tree: Tree, wanted: frozenset[str]) -> tuple[Finding, ...]:
    collected = msgspec.json.encode(tree)
    is_kept = len(wanted) == 1 and len(collected) <= _MOST_KEPT
    return _kept_findings(collected, wanted) if is_kept else _kept_findings.__wrapped__(collected, wanted)


@lru_cache(maxsize=1024)
def _kept_findings(collected: bytes, wanted: frozenset[str]) -> tuple[Finding, ...]:
    found = [
        _finding(rule, diagnostic)
        for rule, diagnostic in diagnose(LintedDocument(msgspec.json.decode(collected)), _SETTINGS, _RULES, only=wanted)
        if _subject(diagnostic.pointer) in wanted
    ]
    return tuple(sorted(found, key=lambda one: (SEVERITIES.index(one.severity), one.pointer, one.code)))


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
    return "/" + "/".join(steps[: 4 if len(steps) == 4 else 2]) if len(steps) > 1 and steps[0] in COLLECTIONS else ""


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
    """Entities, their Groups and all that they refer to, as one document in the shape of an export.

    Of messages and of what is only referred to the Versions that matter are enough, without documents.
    """

    def __init__(self, tx: Transaction, xids: Iterable[str]) -> None:
        self._tx = tx
        self.tree: Tree = {}
        self._wanted = frozenset(xids)
        pending, seen = list(self._wanted), set(self._wanted)
        most = len(seen) * (1 + _MOST_REFERENCES)
        while pending:
            xid = pending.pop()
            entity = self._add(xid)
            # What others refer to matters where a message is made of it, and what they stand for.
            found = _references(entity if xid in self._wanted or "/messages/" in xid else entity.get("meta"))
            if xid in self._wanted and xid.startswith("/endpoints/"):
                found += self._messages_of(entity)
            new = dict.fromkeys(one for one in found if one not in seen)
            if len(seen) < most:
                pending += new
                seen |= new.keys()

    def _add(self, xid: str) -> Tree:
        """Add an entity that is there, and give it for its own references."""
        _, plural, group_id, *below = xid.split("/")
        groups = self.tree.setdefault(plural, {})
        if group_id not in groups:
            group = self._tx.entity(f"/{plural}/{group_id}")
            if group is None:
                return {}
            groups[group_id] = _looked_at(group.attributes)
        if not below:
            return dict(groups[group_id])
        collection, name, *version = below
        resources = groups[group_id].setdefault(collection, {})
        path = f"/{plural}/{group_id}/{collection}"
        # C-30: what follows a colon may pick a type of the document.
        for one in _spellings(name):
            resource = resources.get(one) or self._resource(f"{path}/{one}")
            if resource:
                resources[one] = resource
                if version:
                    self._add_version(f"{path}/{one}", resource, version[1])
                return resource
        return {}

    def _resource(self, xid: str) -> Tree:
        """A Resource with the attributes of its default Version; with all its Versions, where documents matter."""
        meta = self._tx.entity(xid)
        if meta is None:
            return {}
        default = str(meta.attributes.get("defaultversionid", ""))
        if xid in self._wanted and "/schemas/" in xid:
            versions = {one.id: _with_document(one) for one in self._tx.entities(f"{xid}/versions")}
            several = {"versions": versions} if len(versions) > 1 else {}
            return {"versionid": default, **versions.get(default, {}), "meta": meta.attributes, **several}
        version = self._tx.entity(f"{xid}/versions/{default}") if default else None
        own = {"versionid": default, **_looked_at(version.attributes)} if version is not None else {}
        return {**own, "meta": meta.attributes}

    def _add_version(self, xid: str, resource: Tree, wanted: str) -> None:
        """Add a Version that is named to the default one of its Resource."""
        default = resource.get("versionid")
        for name in _spellings(wanted):
            version = self._tx.entity(f"{xid}/versions/{name}") if name != default else None
            if version is not None and name not in resource.get("versions", {}):
                own = {key: value for key, value in resource.items() if key not in ("versionid", "meta", "versions")}
                resource["versions"] = {
                    default: own,
                    **resource.get("versions", {}),
                    name: _looked_at(version.attributes),
                }

    def _messages_of(self, endpoint: Tree) -> list[str]:
        """The messages of an endpoint's groups, unless a group has its envelope and protocol, and so have they."""
        listed = endpoint.get("messagegroups")
        found: list[str] = []
        for xid in _references(listed if isinstance(listed, list) else []):
            group = self._tx.entity(xid)
            own = {} if group is None else group.attributes
            if any(endpoint.get(one) not in (None, own.get(one)) for one in SELECTORS):
                found += (f"{xid}/messages/{one}" for one in self._tx.ids(f"{xid}/messages", "", _MOST_REFERENCES))
        return found


def _spellings(name: str) -> tuple[str, ...]:
    """An id as it is written, and without what follows a colon."""
    return (name, name.partition(":")[0]) if ":" in name else (name,)


def _looked_at(attributes: Tree) -> Tree:
    return {name: value for name, value in attributes.items() if name not in _FOR_PEOPLE}


def _with_document(version: Entity) -> Tree:
    """The attributes of a Version, and of its document as much as tells it from others."""
    document, attributes = version.document, _looked_at(version.attributes)
    if document is None:
        return attributes
    if document.url:
        return {**attributes, "schemaurl": document.url}
    return {**attributes, "schemabase64": hashlib.sha256(document.content).hexdigest()}


def _references(entity: Any) -> list[str]:
    """The Groups, Resources and Versions that texts anywhere in an entity name."""
    found: list[str] = []
    pending = [entity]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
        elif isinstance(value, str) and value.startswith(("/", "#/")):
            steps = (local_path(value, {}) or "").partition("#")[0].split("/")[1:]
            if len(steps) not in (0, 1, 3) and steps[0] in COLLECTIONS:
                found.append("/" + "/".join(steps[: 6 if len(steps) > 5 and steps[4] == "versions" else 4]))
    return found

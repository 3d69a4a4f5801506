"""Which landed messages a change of the catalog may concern, told from definitions alone.

A message that landed in a definition lands there again unless that definition changed, or another one that changed can
fit the message as well, or hides the definition from it. Whatever cannot be ruled out counts as possible.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import msgspec

from postroom.messages.definitions.constraints import Check
from postroom.messages.definitions.definition import CompiledCatalog, Definition, SchemaSource, StoredSchema
from postroom.messages.matching.definition_matcher import DefinitionMatcher
from postroom.model.json_pointers import pointer

# References of JSON Schema. Those that do not begin with # may lead to another document of the catalog.
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_KNOWN_DIALECT = re.compile(r"https?://json-schema\.org/")
# Types whose constants are equal only where their texts are.
_TEXTS = ("string", "uritemplate")
# Texts that stand in a URI as they are, so that a template has no other way to write them.
_PLAIN = re.compile(r"[A-Za-z0-9_.~/:-]*\Z")


class CatalogChanges:
    """The definitions that differ between two compiled catalogs, by what they say and by the schemas they read."""

    def __init__(self, old: CompiledCatalog, new: CompiledCatalog) -> None:
        self._old = {definition.xid: definition for definition in old.definitions}
        self._new = {definition.xid: definition for definition in new.definitions}
        self._everything = (old.assert_formats, old.schema_id_bytes) != (new.assert_formats, new.schema_id_bytes)
        self._schemas = _changed_schemas(old.schemas, new.schemas)
        self._stored = {**new.schemas, **old.schemas}
        self._matchers: dict[str, DefinitionMatcher] = {}
        self._answers: dict[str, bool] = {}

    @cached_property
    def changed(self) -> frozenset[str]:
        """The xids of definitions that are new, gone or different."""
        names = {**self._old, **self._new}
        return frozenset(xid for xid in names if self._everything or self._is_changed(xid))

    def kind(self, xid: str) -> str:
        """What happened to a definition: `added`, `removed`, `changed`, `same`; `unknown` to neither catalog."""
        if xid not in self._old:
            return "added" if xid in self._new else "unknown"
        if xid not in self._new:
            return "removed"
        return "changed" if xid in self.changed else "same"

    def may_concern(self, xid: str) -> bool:
        """Whether a message that landed in a definition by the old catalog may fare otherwise by the new one."""
        if xid not in self._answers:
            self._answers[xid] = self._may_concern(xid)
        return self._answers[xid]

    def _may_concern(self, xid: str) -> bool:
        if xid not in self._old or xid in self.changed:
            return True
        known = self._matchers.setdefault(xid, DefinitionMatcher(self._old[xid]))
        return any(can_meet(known, other) for other in self._changed_matchers)

    @cached_property
    def _changed_matchers(self) -> list[DefinitionMatcher]:
        both = (catalog.get(xid) for xid in sorted(self.changed) for catalog in (self._old, self._new))
        return [DefinitionMatcher(definition) for definition in both if definition is not None]

    def _is_changed(self, xid: str) -> bool:
        old, new = self._old.get(xid), self._new.get(xid)
        # As text: to Python 1 is the same as 1.0 and True, to a schema it is not.
        if old is None or new is None or msgspec.json.encode(old) != msgspec.json.encode(new):
            return True
        return bool(self._schemas) and old.schema is not None and self._reads_changed(old.schema)

    def _reads_changed(self, source: SchemaSource) -> bool:
        home = _schema_path(source.place)
        if home in self._schemas:
            return True
        documents = [(source.format, source.document)] if not source.place else []
        documents += [
            (stored.format or source.format, stored.document)
            for path, stored in self._stored.items()
            if home and _schema_path(path) == home
        ]
        return not all(_stands_alone(form, document) for form, document in documents)


def can_meet(known: DefinitionMatcher, other: DefinitionMatcher) -> bool:
    """Whether a message may fit two definitions, or the second one hides the first from it."""
    if known.definition.xid in other.definition.bases:
        return True  # who means a derived definition and violates it does not land in its base
    one, two = known.definition.protocol, other.definition.protocol
    if one and two and (one != two or not _channels_meet(known, other)):
        return False
    if None in (known.type, other.type) or known.type == other.type:
        return True
    # Of different types. Without an envelope a message can be mapped to both by its channel alone.
    return bool(known.channel and other.channel)


def _channels_meet(known: DefinitionMatcher, other: DefinitionMatcher) -> bool:
    path = known.wire.channel
    mine, theirs = ([check for check in one.channel if check.path == path] for one in (known, other))
    return all(_can_agree(one, two) for one in mine for two in theirs)


def _can_agree(one: Check, other: Check) -> bool:
    """Whether a text may be what both checks ask for."""
    if not {one.constraint.type, other.constraint.type}.issubset(_TEXTS) or not _demands(one) or not _demands(other):
        return True
    mine, theirs = _beginning(one), _beginning(other)
    if one.constant is not None and other.constant is not None:
        return mine == theirs
    if not _PLAIN.match(mine) or not _PLAIN.match(theirs):
        return True
    if one.constant is not None:
        return mine.startswith(theirs)
    if other.constant is not None:
        return theirs.startswith(mine)
    return mine.startswith(theirs) or theirs.startswith(mine)


def _demands(check: Check) -> bool:
    constraint = check.constraint
    return constraint.required and not constraint.accepts and (check.constant is not None or check.template is not None)


def _beginning(check: Check) -> str:
    """The text of a constant, or what comes before the first placeholder of a template."""
    if check.constant is not None:
        return check.constant
    return check.template.literals[0] if check.template is not None else ""


def _changed_schemas(old: Mapping[str, StoredSchema], new: Mapping[str, StoredSchema]) -> frozenset[str]:
    """The paths of schemas of which any version is new, gone or different."""
    if old is new:
        return frozenset()
    return frozenset(
        _schema_path(path) for path in {**old, **new} if _encoded(old.get(path)) != _encoded(new.get(path))
    )


def _encoded(stored: StoredSchema | None) -> bytes:
    return b"" if stored is None else msgspec.json.encode(stored)


def _schema_path(place: str) -> str:
    return place.partition("/versions/")[0]


def _stands_alone(form: str, document: Any) -> bool:
    """Whether a schema surely refers to no other document."""
    if not form.lower().startswith("jsonschema") or not isinstance(document, dict | bool):
        return document is None
    return all(
        isinstance(value, str) and (value.startswith("#") or (name == "$schema" and _KNOWN_DIALECT.match(value)))
        for name, value in _members(document)
        if name in (*_REFERENCES, "$schema")
    )


def _members(document: Any) -> Iterator[tuple[str, Any]]:
    """All members of all objects in a document."""
    pending = [document]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            yield from value.items()
            pending += value.values()
        elif isinstance(value, list):
            pending += value


def place_of(definition: str) -> str:
    """The JSON pointer of a definition, known by its xid, in its catalog."""
    return pointer(definition.strip("/").split("/"))


def schema_places(definitions: Iterable[Definition]) -> dict[str, list[str]]:
    """The xids of definitions by the JSON pointer of the schema that they refer to."""
    found: dict[str, list[str]] = {}
    for definition in definitions:
        if definition.schema is not None and definition.schema.place:
            place = pointer(_schema_path(definition.schema.place).strip("/").split("/"))
            found.setdefault(place, []).append(definition.xid)
    return found

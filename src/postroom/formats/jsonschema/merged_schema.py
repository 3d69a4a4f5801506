"""Merged schemas: what a JSON Schema says about the type of values, references followed and conjunctions merged."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from postroom.formats.jsonschema.referenced_documents import DocumentSet
from postroom.formats.jsonschema.schema_addresses import Located

_MOST_LAYERS = 500

# Subschemas that all apply to the same value.
Conjunction = tuple[Located, ...]


class MergedSchema(msgspec.Struct, frozen=True):
    """The merged view of a conjunction.

    `types` are the types values may have, `null` apart; `members` the named properties; `extra` all schemas of unnamed
    members (None: any); `items` the schema of list items, if there is one; `choices` the alternatives, if nothing else
    is stated; `formats` the different values of `format`; `reference_targets` the identities of the targets of
    references.
    """

    types: tuple[str, ...]
    members: dict[str, Conjunction]
    extra: tuple[Conjunction, ...] | None
    items: Conjunction | None
    choices: tuple[Conjunction, ...]
    bounds: tuple[float | None, float | None]
    formats: tuple[str, ...]
    reference_targets: tuple[int, ...]


class SchemaMerger:
    """Merges conjunctions of the schemas of some documents."""

    def __init__(self, documents: DocumentSet) -> None:
        self.documents = documents

    def merge(self, node: Conjunction) -> MergedSchema | None:
        """Merge a conjunction; None where it has dynamic references or too many parts."""
        found = self._layers(node)
        if found is None:
            return None
        layers, reference_targets = found
        members = _members(layers)
        types, limits = _types(layers)
        return MergedSchema(
            types or (("object",) if members else ()),
            members,
            _extra(layers),
            self._items(layers),
            () if members or (types and types != ("object",)) else _choices(layers),
            limits,
            tuple({schema["format"]: None for schema, _ in layers if isinstance(schema.get("format"), str)}),
            reference_targets,
        )

    def _layers(self, node: Conjunction) -> tuple[list[Located], tuple[int, ...]] | None:
        """All schemas that apply to a value of the conjunction, in the order they are written."""
        layers: list[Located] = []
        reference_targets: list[int] = []
        seen: set[int] = set()
        stack = list(reversed(node))
        while stack:
            schema, base = self.documents.with_base(*stack.pop())
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            if len(seen) > _MOST_LAYERS or "$dynamicRef" in schema or "$recursiveRef" in schema:
                return None
            inner: list[Located] = []
            if "$ref" in schema:
                target = self.documents.resolve(schema["$ref"], base)
                if target is None:
                    return None
                reference_targets.append(id(target[0]))
                inner.append(target)
            if "$ref" not in schema or not self.documents.draft.ignores_siblings:
                layers.append((schema, base))
                inner.extend((part, base) for part in _list(schema.get("allOf")))
            stack.extend(reversed(inner))
        return layers, tuple(reference_targets)

    def _items(self, layers: list[Located]) -> Conjunction | None:
        if self.documents.draft.number == 20 and any("prefixItems" in schema for schema, _ in layers):
            return None
        stated = [(schema["items"], base) for schema, base in layers if "items" in schema]
        return tuple(stated) if stated and all(isinstance(schema, dict) for schema, _ in stated) else None


def _members(layers: list[Located]) -> dict[str, Conjunction]:
    found: dict[str, Conjunction] = {}
    for schema, base in layers:
        properties = schema.get("properties")
        for name, member in properties.items() if isinstance(properties, dict) else ():
            known = found.get(name, ())
            if (member, base) not in known:
                found[name] = (*known, (member, base))
    return found


def _extra(layers: list[Located]) -> tuple[Conjunction, ...] | None:
    found: list[Conjunction] = []
    closed = False
    for schema, base in layers:
        patterns = schema.get("patternProperties")
        found.extend(((part, base),) for part in (patterns.values() if isinstance(patterns, dict) else ()))
        additional = schema.get("additionalProperties")
        closed = closed or additional is False or (isinstance(additional, dict) and bool(additional))
        if isinstance(additional, dict) and additional:
            found.append(((additional, base),))
    return tuple(found) if closed and found else None


def _choices(layers: list[Located]) -> tuple[Conjunction, ...]:
    found = [
        (schema[name], base)
        for schema, base in layers
        for name in ("oneOf", "anyOf")
        if isinstance(schema.get(name), list)
    ]
    if len(found) != 1 or any("if" in schema for schema, _ in layers):
        return ()
    choices, base = found[0]
    return tuple(((choice, base),) for choice in choices)


def _types(layers: list[Located]) -> tuple[tuple[str, ...], tuple[float | None, float | None]]:
    """The types that all layers allow, and the limits of numbers."""
    types: set[str] | None = None
    lows: list[float] = []
    highs: list[float] = []
    for schema, _ in layers:
        stated = _stated(schema)
        if stated is not None:
            types = stated if types is None else _both(types, stated)
        lows += [schema[name] for name in ("minimum", "exclusiveMinimum") if is_number(schema.get(name))]
        highs += [schema[name] for name in ("maximum", "exclusiveMaximum") if is_number(schema.get(name))]
    if types is None or len(types - {"null"}) > 1:
        values = next((found for found in map(_values, layers) if found), [])
        listed = {_type_name(value) for value in values} - {"null"}
        listed = {"number"} if listed == {"integer", "number"} else listed
        if len(listed) == 1 and (types is None or listed <= types):
            types = listed
        if listed == {"integer"}:
            numbers = [value for value in values if is_number(value)]
            lows, highs = [*lows, min(numbers)], [*highs, max(numbers)]
    return tuple(sorted((types or set()) - {"null"})), (max(lows, default=None), min(highs, default=None))


def _stated(schema: dict[str, Any]) -> set[str] | None:
    stated = schema.get("type")
    if isinstance(stated, str):
        return {stated}
    return {type_name for type_name in stated if isinstance(type_name, str)} if isinstance(stated, list) else None


def _both(first: set[str], second: set[str]) -> set[str]:
    found = first & second
    if "integer" in first | second and "number" in first | second:
        found |= (
            {"integer"}
            if ("integer" in first or "number" in first) and ("integer" in second or "number" in second)
            else set()
        )
    return found


def _values(located: Located) -> list[Any]:
    schema = located[0]
    if "const" in schema:
        return [schema["const"]]
    return _list(schema.get("enum"))


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    types: Iterable[tuple[type, str]] = ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string"))
    return next((name for python_type, name in types if isinstance(value, python_type)), "free")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def is_number(value: Any) -> bool:
    """Whether a JSON value is a number; Python counts booleans among them."""
    return isinstance(value, int | float) and not isinstance(value, bool)

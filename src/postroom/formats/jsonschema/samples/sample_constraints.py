"""Sample constraints: the keywords of all schemas that apply to one value, for one choice of alternatives."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from postroom.formats.jsonschema.merged_schema import Conjunction, is_number
from postroom.formats.jsonschema.referenced_documents import DocumentSet
from postroom.formats.jsonschema.schema_addresses import Located

_MOST_SCHEMAS = 500
_MOST_WORK = 150_000
_MOST_WORK_AT_ONCE = 10_000
_HINTS = (
    (
        "object",
        ("properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties"),
    ),
    ("array", ("items", "prefixItems", "contains", "minItems", "uniqueItems")),
    ("string", ("pattern", "minLength", "maxLength", "format")),
    ("number", ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")),
)


@dataclass
class SampleConstraints:
    """The merged keywords of a conjunction, for one choice of its alternatives."""

    types: set[str] | None = None
    values: list[Any] | None = None
    members: dict[str, Conjunction] = field(default_factory=dict)
    patterned: list[tuple[str, Located]] = field(default_factory=list)
    others: Conjunction = ()
    names: Conjunction = ()
    required: dict[str, None] = field(default_factory=dict)
    dependents: dict[str, list[str]] = field(default_factory=dict)
    closed: bool = False
    first_items: list[Conjunction] = field(default_factory=list)
    items: Conjunction = ()
    contains: list[tuple[Located, int]] = field(default_factory=list)
    unique: bool = False
    patterns: list[str] = field(default_factory=list)
    formats: list[str] = field(default_factory=list)
    lows: list[tuple[float, bool]] = field(default_factory=list)
    highs: list[tuple[float, bool]] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    sizes: dict[str, int] = field(default_factory=dict)
    hints: list[str] = field(default_factory=list)
    impossible: bool = False


class SampleTooLarge(Exception):
    """A sample value gets too large or too deep, or takes too long to generate."""


class ConstraintCollector:
    """Collects constraints, choosing among alternatives at random; its work is bounded over all tries."""

    def __init__(self, documents: DocumentSet, rng: random.Random) -> None:
        self.documents = documents
        self.rng = rng
        self.work = 0
        self._stop = _MOST_WORK_AT_ONCE

    def start(self) -> None:
        """Begin a new value; one that is taking too long leaves work for the next tries."""
        self._stop = min(self.work + _MOST_WORK_AT_ONCE, _MOST_WORK)

    @property
    def exhausted(self) -> bool:
        """Whether the work is used up."""
        return self.work >= _MOST_WORK

    def constraints(self, node: Conjunction, present: tuple[str, ...] = ()) -> SampleConstraints:
        """All constraints of a conjunction; `present` are members whose dependent schemas apply too."""
        found = SampleConstraints()
        self.work += 3  # what a value costs besides its schemas
        seen: set[int] = set()
        stack = list(reversed(node))
        while stack and len(seen) < _MOST_SCHEMAS:
            schema, base = self.documents.with_base(*stack.pop())
            if schema is False:
                found.impossible = True
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            self.work += 1
            if self.work > self._stop:
                raise SampleTooLarge
            alone = "$ref" in schema and self.documents.draft.ignores_siblings
            if not alone:
                self._add(found, schema, base)
                stack.extend((part, base) for part in self._alternatives(schema, present))
            for name in ("$ref", "$dynamicRef", "$recursiveRef"):
                target = self.documents.resolve(schema.get(name), base)
                if target is not None:
                    stack.append(target)
        return found

    def _alternatives(self, schema: dict[str, Any], present: tuple[str, ...]) -> list[Any]:
        parts = list(_list(schema.get("allOf")))
        for name in ("oneOf", "anyOf"):
            choices = [choice for choice in _list(schema.get(name)) if choice is not False]
            if choices:
                parts.append(self.rng.choice(choices))
        if "if" in schema:
            parts += [schema["if"], schema.get("then", True)] if self.rng.random() < 0.5 else [schema.get("else", True)]
        for name in ("dependentSchemas", "dependencies"):
            parts += [part for key, part in _dict(schema.get(name)).items() if key in present]
        return [part for part in parts if isinstance(part, dict | bool)]

    def _add(self, found: SampleConstraints, schema: dict[str, Any], base: str) -> None:
        _add_types(found, schema)
        _add_members(found, schema, base)
        self._add_items(found, schema, base)
        found.patterns += [schema["pattern"]] if isinstance(schema.get("pattern"), str) else []
        found.formats += [schema["format"]] if isinstance(schema.get("format"), str) else []
        _add_numbers(found, schema)
        for name in ("minLength", "minItems", "minProperties"):
            if is_number(schema.get(name)):
                found.sizes[name] = max(found.sizes.get(name, 0), int(schema[name]))
        for name in ("maxLength", "maxItems", "maxProperties"):
            if is_number(schema.get(name)):
                found.sizes[name] = min(found.sizes.get(name, int(schema[name])), int(schema[name]))
        found.hints += [type_name for type_name, names in _HINTS if any(name in schema for name in names)]

    def _add_items(self, found: SampleConstraints, schema: dict[str, Any], base: str) -> None:
        items, rest = schema.get("items"), None
        if self.documents.draft.number == 20:
            first, rest = _list(schema.get("prefixItems")), items
        else:
            first = _list(items)
            rest = schema.get("additionalItems") if isinstance(items, list) else items
        for index, part in enumerate(first):
            if index == len(found.first_items):
                found.first_items.append(())
            found.first_items[index] = (*found.first_items[index], (part, base))
        found.items = found.items if rest is None else (*found.items, (rest, base))
        if isinstance(schema.get("contains"), dict):
            least = schema.get("minContains", 1)
            found.contains.append(((schema["contains"], base), int(least) if is_number(least) else 1))
        found.unique = found.unique or schema.get("uniqueItems") is True


def _add_types(found: SampleConstraints, schema: dict[str, Any]) -> None:
    stated = schema.get("type")
    types = {stated} if isinstance(stated, str) else set(stated) if isinstance(stated, list) else None
    if types is not None:
        types |= {"integer"} if "number" in types else set()
        found.types = types if found.types is None else found.types & types
    values = [schema["const"]] if "const" in schema else schema.get("enum")
    if isinstance(values, list):
        found.values = values if found.values is None else [value for value in found.values if value in values]


def _add_members(found: SampleConstraints, schema: dict[str, Any], base: str) -> None:
    for name, part in _dict(schema.get("properties")).items():
        found.members[name] = (*found.members.get(name, ()), (part, base))
    found.patterned += [(pattern, (part, base)) for pattern, part in _dict(schema.get("patternProperties")).items()]
    for keyword in ("additionalProperties", "unevaluatedProperties"):
        if schema.get(keyword) is False:
            found.closed = True
        elif isinstance(schema.get(keyword), dict):
            found.others = (*found.others, (schema[keyword], base))
    if "propertyNames" in schema:
        found.names = (*found.names, (schema["propertyNames"], base))
    found.required.update(dict.fromkeys(name for name in _list(schema.get("required")) if isinstance(name, str)))
    for keyword in ("dependentRequired", "dependencies"):
        for name, needed in _dict(schema.get(keyword)).items():
            if isinstance(needed, list | str):
                found.dependents.setdefault(name, []).extend([needed] if isinstance(needed, str) else needed)


def _add_numbers(found: SampleConstraints, schema: dict[str, Any]) -> None:
    for name, bounds in (("inimum", found.lows), ("aximum", found.highs)):
        plain = schema.get("m" + name)
        exclusive = schema.get("exclusiveM" + name)
        if is_number(plain) and plain is not None:
            # Draft 4 writes a boolean beside the bound, later drafts a bound of its own.
            bounds.append((plain, exclusive is True))
        if is_number(exclusive) and exclusive is not None:
            bounds.append((exclusive, True))
    step = schema.get("multipleOf")
    if is_number(step) and step is not None and step > 0:
        found.steps.append(step)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}

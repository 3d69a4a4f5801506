"""Builds the types of a schema document, refusing what the specification does not allow."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

from postroom.errors import SchemaRefused
from postroom.formats.jsonstructure import types
from postroom.formats.jsonstructure.annotations import check_annotations, description
from postroom.formats.jsonstructure.definitions import Definitions
from postroom.formats.jsonstructure.document import COMPOSITION, StructureDocument
from postroom.formats.jsonstructure.enum_values import check_values
from postroom.formats.jsonstructure.extends import Inheritance
from postroom.formats.jsonstructure.keyword_rules import KEYWORDS, check_rules, rules_of
from postroom.formats.jsonstructure.validation.patterns import matcher
from postroom.formats.jsonstructure.validation.primitives import COMPOUNDS, PRIMITIVES
from postroom.model.json_pointers import pointer

_DEEPEST = 120
_MOST_TYPES = 200_000
_ONLY_ON = {
    "required": ("object",),
    "additionalProperties": ("object",),
    "choices": ("choice",),
    "selector": ("choice",),
    "tuple": ("tuple",),
    "abstract": ("object", "tuple"),
    "$extends": ("object", "tuple", "choice"),
}
# Keywords beside a reference or in front of a union that narrow what is meant.
_NARROWING = frozenset((*KEYWORDS, "enum", "const"))
_RESERVED = frozenset(("$schema", "$uses"))


class Builder:
    """Builds the types of one document."""

    def __init__(self, document: StructureDocument, addins: tuple[str, ...] = ()) -> None:
        self._document = document
        self._json = document.json
        self._inheritance = Inheritance(document.json, addins)
        self._definitions = Definitions(document)
        self._count = 0

    def root(self, fragment: str = "") -> types.JsonType:
        """The type at a fragment, by default the document's root type."""
        if fragment:
            named = self._definitions.reference("#/" + fragment.lstrip("#/"), "", {})
        elif "$root" in self._json:
            named = self._definitions.reference(self._json["$root"], "/$root", {})
        elif "type" in self._json or self._definitions.is_conditional(self._json):
            named = self._definitions.reference("#", "", {})
        else:
            raise SchemaRefused(
                "the document has no root type.", remedy="Give it $root, or refer to one of its definitions."
            )
        self._finish()
        found = types.resolved(named)
        if isinstance(found, types.JsonObjectType):
            found.reserved = _RESERVED
        return found

    def everything(self) -> None:
        """Build every type of the document, to find what is wrong with any."""
        if "type" in self._json or "$root" in self._json or self._definitions.is_conditional(self._json):
            self.root()
        self._definitions.everything()
        self._finish()

    def _finish(self) -> None:
        # A queue, not recursion: a long chain of references is no deep nesting.
        pending = self._definitions.pending
        while pending:
            named, schema, at = pending.pop()
            named.target = self.schema(schema, at, 0)
        _refuse_cycles(self._definitions.types)

    def _require_composition(self, at: str) -> None:
        if not self._document.composition:
            raise SchemaRefused(
                "conditional composition is not enabled in this document.",
                place=at,
                remedy="Use the extended meta-schema, or add JSONStructureConditionalComposition to $uses.",
            )

    def schema(self, schema: Any, at: str, depth: int, *, condition: bool = False) -> types.JsonType:
        """The type that a schema describes; in a condition it may leave its type open."""
        self._count += 1
        if depth > _DEEPEST or self._count > _MOST_TYPES:
            raise SchemaRefused("the schema is nested too deeply or too large.", place=at)
        if not isinstance(schema, dict):
            raise SchemaRefused("a schema is an object.", place=at)
        check_annotations(schema, at)
        for name in ("allOf", "anyOf", "oneOf"):
            if name in schema and (not isinstance(schema[name], list) or not schema[name]):
                raise SchemaRefused(f"{name} is a list of at least one schema.", place=f"{at}/{name}")
        if any(name in schema for name in COMPOSITION):
            self._require_composition(at)
            return self._conditional(schema, at, depth, condition=condition)
        return self._typed(schema, at, depth, condition=condition)

    def _typed(self, schema: dict[str, Any], at: str, depth: int, *, condition: bool) -> types.JsonType:
        stated = schema.get("type")
        if stated is None and condition:
            return self._open(schema, at, depth)
        if "type" not in schema:
            if "$ref" in schema:
                raise SchemaRefused(
                    "$ref stands inside type only.",
                    place=f"{at}/$ref",
                    remedy='Write {"type": {"$ref": "…"}}.',
                )
            raise SchemaRefused("a schema has a type.", place=at)
        if isinstance(stated, list):
            return self._union(schema, at, depth)
        if isinstance(stated, dict):
            if not stated.keys() <= {"$ref", "description"} or "$ref" not in stated:
                raise SchemaRefused("an object as type holds a $ref and nothing else.", place=f"{at}/type")
            narrowing = {name: schema[name] for name in schema if name in _NARROWING}
            named = self._definitions.reference(stated["$ref"], f"{at}/type/$ref", narrowing)
            return types.TypeReference(at=at, description=description(schema) or named.description, target=named)
        return self._named_type(schema, stated, at, depth)

    def _open(self, schema: dict[str, Any], at: str, depth: int) -> types.JsonType:
        if any(name in schema for name in ("properties", "required", "additionalProperties")):
            found = self._inheritance.declared(schema, at)
            members = {
                name: self.schema(member, member_at, depth + 1, condition=True)
                for name, (member, member_at) in found.schemas.items()
            }
            extra = self._extra(schema, at, depth)
            return types.JsonObjectType(
                at=at,
                members=members,
                required=frozenset(found.required),
                alternatives=tuple(found.alternatives),
                extra=True if extra is None else extra,
            )
        return types.JsonAnyType(at=at, values=check_values(schema, None, {}, at))

    def _named_type(self, schema: dict[str, Any], type_name: Any, at: str, depth: int) -> types.JsonType:
        if not isinstance(type_name, str) or (type_name not in PRIMITIVES and type_name not in COMPOUNDS):
            raise SchemaRefused(f"{str(type_name)[:80]!r} is no type.", place=f"{at}/type")
        check_rules(schema, type_name, at)
        for name, type_names in _ONLY_ON.items():
            if name in schema and type_name not in type_names:
                raise SchemaRefused(f"{name} belongs to {' and '.join(type_names)} types.", place=f"{at}/{name}")
        rules = rules_of(schema, type_name)
        if type_name in PRIMITIVES:
            values = check_values(schema, type_name, rules, at)
            return types.JsonPrimitiveType(
                at=at, description=description(schema), rules=rules, name=type_name, values=values
            )
        for name in ("enum", "const"):
            if name in schema:
                raise SchemaRefused(f"{name} belongs to primitive types.", place=f"{at}/{name}")
        written = dict(rules)
        self._compile_rules(rules, at, depth)
        type_ = self._compound(schema, type_name, rules, at, depth)
        type_.written = written
        return type_

    def _compound(
        self, schema: dict[str, Any], type_name: str, rules: dict[str, Any], at: str, depth: int
    ) -> types.JsonType:
        text = description(schema)
        if type_name == "any":
            return types.JsonAnyType(at=at, description=text)
        if type_name in ("object", "tuple"):
            return self._object_or_tuple(schema, type_name, rules, at, depth)
        if type_name == "choice":
            return self._choice(schema, at, depth)
        inner = "values" if type_name == "map" else "items"
        if inner not in schema:
            raise SchemaRefused(f"a type {type_name} has {inner}.", place=at)
        type_ = self.schema(schema[inner], f"{at}/{inner}", depth + 1)
        if type_name == "map":
            return types.JsonMapType(at=at, description=text, rules=rules, values=type_)
        unique = type_name == "set" or rules.get("uniqueItems") is True
        return types.JsonArrayType(
            at=at, description=text, rules=rules, items=type_, unique=unique, contains=rules.pop("contains", None)
        )

    def _object_or_tuple(
        self, schema: dict[str, Any], type_name: str, rules: dict[str, Any], at: str, depth: int
    ) -> types.JsonType:
        if schema.get("abstract") is True and "additionalProperties" in schema:
            raise SchemaRefused("an abstract type is always open.", place=f"{at}/additionalProperties")
        if "properties" in schema and not schema["properties"] and "$extends" not in schema:
            raise SchemaRefused(f"a type {type_name} has at least one property.", place=f"{at}/properties")
        found = self._inheritance.members(schema, at)
        members = {
            name: self.schema(member, member_at, depth + 1) for name, (member, member_at) in found.schemas.items()
        }
        if type_name == "tuple":
            if not found.order or set(found.order) != members.keys() or len(set(found.order)) < len(found.order):
                raise SchemaRefused("tuple names every property once, in their order.", place=f"{at}/tuple")
            order = tuple((name, members[name]) for name in found.order)
            return types.JsonTupleType(at=at, description=description(schema), members=order)
        return types.JsonObjectType(
            at=at,
            description=description(schema),
            rules=rules,
            members=members,
            required=frozenset(found.required),
            alternatives=tuple(found.alternatives),
            extra=self._extra(schema, at, depth),
        )

    def _extra(self, schema: dict[str, Any], at: str, depth: int) -> types.JsonType | bool | None:
        extra = schema.get("additionalProperties")
        if extra is None and "additionalProperties" not in schema:
            return None
        return extra if isinstance(extra, bool) else self.schema(extra, f"{at}/additionalProperties", depth + 1)

    def _choice(self, schema: dict[str, Any], at: str, depth: int) -> types.JsonType:
        choices = schema.get("choices")
        if not isinstance(choices, dict) or not choices:
            raise SchemaRefused("a choice has choices, a map from names to schemas.", place=f"{at}/choices")
        selector = schema.get("selector")
        if ("selector" in schema) != ("$extends" in schema) or not isinstance(selector, str | None):
            raise SchemaRefused("an inline choice has both $extends and selector.", place=f"{at}/selector")
        if selector is not None:
            self._inheritance.check_selector(schema, selector, choices, at)
        alternatives = {
            name: self.schema(choice, at + pointer(["choices", name]), depth + 1) for name, choice in choices.items()
        }
        return types.JsonChoiceType(at=at, description=description(schema), choices=alternatives, selector=selector)

    def _union(self, schema: dict[str, Any], at: str, depth: int) -> types.JsonType:
        stated = schema["type"]
        if not stated:
            raise SchemaRefused("a union has at least one type.", place=f"{at}/type")
        check_rules(schema, None, at)
        alternatives = [
            self._alternative(schema, one, at, f"{at}/type/{number}", depth) for number, one in enumerate(stated)
        ]
        return types.JsonUnionType(at=at, description=description(schema), alternatives=tuple(alternatives))

    def _alternative(self, schema: dict[str, Any], stated: Any, at: str, member_at: str, depth: int) -> types.JsonType:
        if isinstance(stated, str):
            if stated in COMPOUNDS and stated != "any":
                raise SchemaRefused(f"a union cannot define a type {stated} in place.", place=member_at)
            # Constraint keywords are for schemas of one type: beside a union only enum and const count, whose values
            # say themselves which type they mean.
            fitting = check_values(schema, stated, {}, at, fitting=True) if stated in PRIMITIVES else None
            values = {} if fitting is None else {"enum": fitting}
            return self._named_type({**values, "type": stated}, stated, at, depth + 1)
        if isinstance(stated, dict) and "$ref" in stated:
            return self._typed({"type": stated}, member_at, depth + 1, condition=False)
        if isinstance(stated, dict) and stated.get("type") in ("array", "set", "map"):
            return self.schema(stated, member_at, depth + 1)
        raise SchemaRefused("a union lists primitive types, references, arrays, sets and maps.", place=member_at)

    def _conditional(self, schema: dict[str, Any], at: str, depth: int, *, condition: bool) -> types.JsonType:
        rest = {name: value for name, value in schema.items() if name not in COMPOSITION}
        base = self._typed(rest, at, depth, condition=condition) if "type" in rest or condition else None
        if isinstance(base, types.JsonObjectType) and base.extra is None:
            # Members that only a condition names belong to the value as well.
            base = dataclasses.replace(base, extra=True)

        def parts(name: str) -> tuple[types.JsonType, ...]:
            listed = enumerate(schema.get(name, ()))
            return tuple(self.schema(part, f"{at}/{name}/{n}", depth + 1, condition=True) for n, part in listed)

        def part(name: str) -> types.JsonType | None:
            return self.schema(schema[name], f"{at}/{name}", depth + 1, condition=True) if name in schema else None

        return types.JsonConditionalType(
            at=at,
            description=description(schema),
            base=base,
            all_of=parts("allOf"),
            any_of=parts("anyOf"),
            one_of=parts("oneOf"),
            forbidden=part("not"),
            test=part("if"),
            then=part("then"),
            otherwise=part("else"),
            source={name: schema[name] for name in COMPOSITION if name in schema},
        )

    def _compile_rules(self, rules: dict[str, Any], at: str, depth: int) -> None:
        """Replace schemas among the constraints by their types."""
        for name in ("contains", "propertyNames", "keyNames", "has"):
            if name in rules:
                if name in ("propertyNames", "keyNames") and rules[name].get("type") != "string":
                    raise SchemaRefused(f"{name} is a schema of type string.", place=f"{at}/{name}")
                rules[name] = self.schema(rules[name], f"{at}/{name}", depth + 1, condition=True)
        for name in ("patternProperties", "patternKeys"):
            if name in rules:
                rules[name] = {
                    pattern: (matcher(pattern, at), self.schema(one, at + pointer([name, pattern]), depth + 1))
                    for pattern, one in rules[name].items()
                }


def _refuse_cycles(roots: Iterable[types.JsonType]) -> None:
    """Raise SchemaRefused for a type that refers to itself without a member, item or value in between: no value could
    ever be checked against it."""
    done: set[int] = set()
    for start in roots:
        if id(start) not in done:
            _visit(start, done)


def _visit(start: types.JsonType, done: set[int]) -> None:
    open_: set[int] = {id(start)}
    stack = [(start, _parts(start))]
    while stack:
        type_, parts = stack[-1]
        part = next(parts, None)
        if part is None:
            stack.pop()
            open_.discard(id(type_))
            done.add(id(type_))
        elif id(part) in open_:
            raise SchemaRefused("the type refers to itself and to nothing else.", place=part.at)
        elif id(part) not in done:
            open_.add(id(part))
            stack.append((part, _parts(part)))


def _parts(type_: types.JsonType) -> Iterator[types.JsonType]:
    if isinstance(type_, types.TypeReference) and type_.target is not None:
        yield type_.target
    elif isinstance(type_, types.JsonUnionType):
        yield from type_.alternatives
    elif isinstance(type_, types.JsonConditionalType):
        single = (type_.base, type_.forbidden, type_.test, type_.then, type_.otherwise)
        yield from (part for part in single if part is not None)
        yield from (*type_.all_of, *type_.any_of, *type_.one_of)

"""Attributes of a model as JSON Schema (draft 7, which all editors know)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from postroom.model.types import Attribute, Attributes, Item

Schema = dict[str, Any]

_SCALARS: dict[str, Schema] = {
    "boolean": {"type": "boolean"},
    "decimal": {"type": "number"},
    "integer": {"type": "integer"},
    "uinteger": {"type": "integer", "minimum": 0},
    "string": {"type": "string"},
    "timestamp": {"type": "string", "pattern": r"^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)?$"},
    "xid": {"type": "string", "pattern": "^/"},
    "xidtype": {"type": "string", "pattern": "^/"},
    "uri": {"type": "string"},
    "url": {"type": "string"},
}
_ANY_TEXT: Schema = {"type": "string"}


def object_schema(attributes: Attributes, replaced: Mapping[str, Schema] | None = None) -> Schema:
    """An object with these attributes; some may be described otherwise than the model does.

    What a server fills in (ids, times, defaults, what is read-only) need not be in a file.
    """
    names = {name: one for name, one in attributes.items() if name != "*"}
    known = {**{name: attribute_schema(one) for name, one in names.items()}, **(replaced or {})}
    schema: Schema = {"type": "object", "properties": known}
    required = [name for name, one in names.items() if _is_asked_for(one)]
    if required:
        schema["required"] = required
    others = attributes.get("*")
    if others is None or (others.type == "object" and others.attributes):
        schema["additionalProperties"] = False if others is None else attribute_schema(others)
    conditions = [one for attribute in names.values() for one in _conditions(attribute)]
    return {**schema, "allOf": conditions} if conditions else schema


def attribute_schema(attribute: Attribute) -> Schema:
    """The values that an attribute may have."""
    if attribute.item is not None and attribute.enum:
        words: Schema = {"enum": list(attribute.enum)} if attribute.strict else {"examples": list(attribute.enum)}
        schema = map_of(words) if attribute.type == "map" else {"type": "array", "items": words}
        return {"description": attribute.description, **schema} if attribute.description else schema
    schema = _type_schema(attribute.type, attribute.attributes, attribute.item)
    if attribute.enum and attribute.strict:
        schema = {"enum": list(attribute.enum)}
    elif attribute.enum or attribute.ifvalues:  # offered by editors, and anything else is fine as well
        schema = {"anyOf": [{"enum": list(attribute.enum or attribute.ifvalues)}, schema]}
    if attribute.default is not None:
        schema["default"] = attribute.default
    return {"description": attribute.description, **schema} if attribute.description else schema


def map_of(schema: Schema) -> Schema:
    """A map with values of one kind."""
    return {"type": "object", "additionalProperties": schema}


def ignoring_case(words: Iterable[str]) -> str:
    """A pattern for words in any case; JSON Schema has no flag for that."""
    return "^(" + "|".join("".join(map(_either_case, word)) for word in words) + ")$"


def _either_case(letter: str) -> str:
    if letter.isalpha():
        return f"[{letter.upper()}{letter.lower()}]"
    return letter if letter.isdigit() or letter in "/-_" else f"\\{letter}"


def _type_schema(kind: str, attributes: Attributes, item: Item | None) -> Schema:
    if kind == "object":
        return object_schema(attributes)
    if kind in ("map", "array") and item is not None:
        inner = _type_schema(item.type, item.attributes, item.item)
        return map_of(inner) if kind == "map" else {"type": "array", "items": inner}
    return {} if kind == "any" else dict(_SCALARS.get(kind, _ANY_TEXT))


def _is_asked_for(attribute: Attribute) -> bool:
    filled = attribute.readonly or attribute.default is not None or attribute.name.endswith(("id", "at"))
    return attribute.required and not filled


def _conditions(attribute: Attribute) -> Iterable[Schema]:
    """The members that stand beside an attribute while it has a certain value."""
    for value, clause in attribute.ifvalues.items():
        chosen = {"properties": {attribute.name: {"pattern": ignoring_case([value])}}, "required": [attribute.name]}
        beside = {name: attribute_schema(one) for name, one in clause.siblingattributes.items()}
        yield {"if": chosen, "then": {"properties": beside}}

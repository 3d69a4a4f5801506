"""Payload schemas as trees of members: names, types, what must be there, what is allowed, and what it means.

JSON Schema, JSON Structure and Avro are read as they are written. Of other formats the members are those of the table
columns that payloads fill, which say nothing about what has to be there.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from postroom.errors import PostroomError
from postroom.formats.column_types import flattened, type_name
from postroom.formats.format_table import format_named, parse_schema
from postroom.formats.schema import Library
from postroom.model.json_pointers import steps_of

MOST_MEMBERS = 2_000
MOST_STEPS = 50_000
"""Documents may refer to themselves in so many ways that following all of them takes for ever."""
DEEPEST = 12
_LIMITS = {
    "minimum": "≥ {}",
    "maximum": "≤ {}",
    "exclusiveMinimum": "> {}",
    "exclusiveMaximum": "< {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} items",
    "maxItems": "at most {} items",
    "pattern": "like {}",
    "multipleOf": "a multiple of {}",
}
_MOST_VALUES = 24


class SchemaMember(msgspec.Struct, frozen=True, kw_only=True):
    """A member of payloads; `required` is None where the schema does not say."""

    name: str
    path: str
    depth: int
    type: str
    required: bool | None = None
    description: str = ""
    limits: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    """What it may be, where that is a list."""


def schema_members(name: str, document: Any, fragment: str, library: Library | None) -> list[SchemaMember]:
    """The members of payloads of a schema, in the order they are declared; none where it cannot be read."""
    known = format_named(name)
    family = known.family.name if known else ""
    try:
        if family in ("JsonSchema", "JsonStructure"):
            found = _json_members(_JsonDocument(document, library), fragment)
        elif family == "Avro":
            found = _AvroDocument().members(_parsed(document), "", 0)
        else:
            found = _column_members(name, document, fragment, library)
        return list(islice(found, MOST_MEMBERS))
    except (PostroomError, msgspec.DecodeError):
        return []


def _parsed(document: Any) -> Any:
    return msgspec.json.decode(document) if isinstance(document, str | bytes) else document


def _column_members(name: str, document: Any, fragment: str, library: Library | None) -> Iterator[SchemaMember]:
    columns = parse_schema(name, document, fragment, library).columns()
    for path, column, description in flattened("data", columns):
        if path == "data":
            continue
        steps = path.removeprefix("data").lstrip(".").replace("[]", "").replace("{}", "").split(".")
        if path.endswith(("[]", "{}")):
            continue
        yield SchemaMember(
            name=steps[-1],
            path=".".join(steps),
            depth=len(steps) - 1,
            type=type_name(column),
            description=description,
        )


class _JsonDocument:
    """A JSON Schema or JSON Structure document and what its references lead to."""

    def __init__(self, document: Any, library: Library | None) -> None:
        self.root = _parsed(document)
        self.library = library
        self._steps = 0

    def resolved(self, schema: Any) -> tuple[dict[str, Any], str]:
        """A schema with what it refers to, and the reference."""
        self._steps += 1
        found = schema if isinstance(schema, dict) and self._steps < MOST_STEPS else {}
        inner = found.get("type")
        reference = found.get("$ref") or (inner.get("$ref") if isinstance(inner, dict) else None) or ""
        if not isinstance(reference, str) or not reference:
            return found, ""
        target = self._target(reference)
        kept = {key: value for key, value in found.items() if key not in ("$ref", "type")}
        return ({**target, **kept} if isinstance(target, dict) else kept), reference

    def _target(self, reference: str) -> Any:
        if reference.startswith("#"):
            return _value_at(self.root, reference[1:]) if reference[1:2] in ("/", "") else {}
        path, _, fragment = reference.partition("#")
        found = self.library.find(path) if self.library is not None else None
        document = found.document if found is not None else {}
        return _value_at(_parsed(document), fragment)


def _value_at(value: Any, pointer: str) -> Any:
    for step in steps_of(pointer):
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _json_members(document: _JsonDocument, fragment: str) -> Iterator[SchemaMember]:
    root = document.root
    start = fragment or (root.get("$root", "") if isinstance(root, dict) else "")
    if start:
        pointer = start.removeprefix("#")
        found = _value_at(root, pointer if pointer.startswith("/") else f"/definitions/{pointer}")
        root = found if isinstance(found, dict) else root
    yield from _members_of(document, root, "", 0, ())


def _members_of(
    document: _JsonDocument, schema: Any, above: str, depth: int, seen: tuple[str, ...]
) -> Iterator[SchemaMember]:
    found, reference = document.resolved(schema)
    if depth > DEEPEST or (reference and reference in seen):
        return
    seen = (*seen, reference) if reference else seen
    for part in found.get("allOf") or ():
        yield from _members_of(document, part, above, depth, seen)
    if base := found.get("$extends"):
        yield from _members_of(document, {"$ref": base}, above, depth, seen)
    properties = found.get("properties")
    required = found.get("required")
    demanded = required if isinstance(required, list) else []
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        path = f"{above}.{name}" if above else str(name)
        target, _ = document.resolved(inner)
        yield SchemaMember(
            name=str(name),
            path=path,
            depth=depth,
            type=_json_type(document, inner),
            required=name in demanded,
            description=str(target.get("description") or target.get("title") or ""),
            limits=_limits(target),
            values=_values(target),
        )
        yield from _members_of(document, _inside(document, inner), path, depth + 1, seen)
    for choice in ("oneOf", "anyOf"):
        for option in found.get(choice) or ():
            yield from _members_of(document, option, above, depth, seen)


def _inside(document: _JsonDocument, schema: Any) -> Any:
    """What has the members of a value: its items, where it is a list or a map."""
    for _ in range(DEEPEST):
        target, _reference = document.resolved(schema)
        further = target.get("items")
        if not isinstance(further, dict):
            further = target.get("values")
        if not isinstance(further, dict) and not target.get("properties"):
            further = target.get("additionalProperties")
        if not isinstance(further, dict):
            return schema
        schema = further
    return schema


def _json_type(document: _JsonDocument, schema: Any, depth: int = 0) -> str:
    target, reference = document.resolved(schema)
    given = target.get("type")
    if isinstance(given, dict):
        return _json_type(document, given, depth + 1)
    named = given if isinstance(given, str) else ""
    if isinstance(given, list):
        named = " or ".join(one if isinstance(one, str) else _json_type(document, one, depth + 1) for one in given)
    inner = target.get("items")
    if named in ("array", "set") and isinstance(inner, dict) and depth < 4:
        return f"{'list' if named == 'array' else 'set'} of {_json_type(document, inner, depth + 1)}"
    if named == "map" and isinstance(target.get("values"), dict) and depth < 4:
        return f"map of {_json_type(document, target['values'], depth + 1)}"
    if not named:
        options = next((target[one] for one in ("oneOf", "anyOf") if isinstance(target.get(one), list)), None)
        if options and depth < 4:
            named = " or ".join(dict.fromkeys(_json_type(document, one, depth + 1) for one in options[:6]))
        elif "properties" in target:
            named = "object"
        elif "enum" in target or "const" in target:
            named = "value"
        else:
            named = reference.rpartition("/")[2] or "any"
    form = target.get("format")
    return f"{named} ({form})" if isinstance(form, str) and form else named


def _limits(schema: dict[str, Any]) -> tuple[str, ...]:
    found = [words.format(schema[name]) for name, words in _LIMITS.items() if name in schema]
    if "default" in schema:
        found.append(f"default {_shown(schema['default'])}")
    return tuple(found)


def _values(schema: dict[str, Any]) -> tuple[str, ...]:
    if "const" in schema:
        return (_shown(schema["const"]),)
    listed = schema.get("enum")
    return _listed([_shown(one) for one in listed] if isinstance(listed, list) else [])


def _listed(values: list[str]) -> tuple[str, ...]:
    more = len(values) - _MOST_VALUES
    return (*values[:_MOST_VALUES], *((f"… and {more:,} more",) if more > 0 else ()))


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


class _AvroDocument:
    """An Avro schema, whose named types may be used again."""

    def __init__(self) -> None:
        self._named: dict[str, dict[str, Any]] = {}

    def members(self, schema: Any, above: str, depth: int) -> Iterator[SchemaMember]:
        """The fields of the record that a schema is, or has inside of it."""
        record = self._record(schema)
        if record is None or depth > DEEPEST:
            return
        for field in record.get("fields") or ():
            inner = field.get("type")
            path = f"{above}.{field.get('name')}" if above else str(field.get("name"))
            optional = isinstance(inner, list) and "null" in inner
            limits = (f"default {_shown(field['default'])}",) if field.get("default") is not None else ()
            yield SchemaMember(
                name=str(field.get("name")),
                path=path,
                depth=depth,
                type=self._type(inner),
                required=not optional and "default" not in field,
                description=str(field.get("doc") or ""),
                limits=limits,
                values=_listed([str(one) for one in self._symbols(inner)]),
            )
            yield from self.members(inner, path, depth + 1)

    def _record(self, schema: Any) -> dict[str, Any] | None:
        if isinstance(schema, list):
            return next((found for one in schema if (found := self._record(one)) is not None), None)
        if isinstance(schema, str):
            return None  # a name: its fields are shown where it is declared
        if not isinstance(schema, dict):
            return None
        inner = schema.get("type")
        if inner in ("record", "error"):
            self._named[str(schema.get("name"))] = schema
            return schema
        if inner == "array":
            return self._record(schema.get("items"))
        if inner == "map":
            return self._record(schema.get("values"))
        return self._record(inner) if isinstance(inner, dict | list) else None

    def _type(self, schema: Any) -> str:
        if isinstance(schema, list):
            return " or ".join(self._type(one) for one in schema)
        if not isinstance(schema, dict):
            return str(schema)
        inner = schema.get("type")
        if logical := schema.get("logicalType"):
            return f"{logical}"
        if inner == "array":
            return f"list of {self._type(schema.get('items'))}"
        if inner == "map":
            return f"map of {self._type(schema.get('values'))}"
        if inner in ("record", "enum", "fixed", "error"):
            return f"{schema.get('name', inner)}"
        return self._type(inner)

    def _symbols(self, schema: Any) -> list[Any]:
        if isinstance(schema, list):
            return [symbol for one in schema for symbol in self._symbols(one)]
        return list(schema.get("symbols") or ()) if isinstance(schema, dict) else []

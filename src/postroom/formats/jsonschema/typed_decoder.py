"""Schemas that msgspec can express: payloads decoded, accepted and shaped for their columns in one pass.

Accepting is all that happens here: what a typed decoder takes is valid, and its value is what the filler would make of
it. Whatever it refuses may still be valid (`1.0` is an integer, the last of two equal keys wins), and every schema that
it cannot express exactly (patterns, conditions, recursion …) is judged by the exact validator alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict, Union

import msgspec
from msgspec.structs import astuple

from postroom.formats.batch_decode import MemberColumns, decode_all
from postroom.formats.column_types import BOOLEAN, DOUBLE, INT64, JSON_TEXT, STRING, ColumnType, ListOf, MapOf, StructOf
from postroom.formats.jsonschema import typed_scalars as scalars
from postroom.formats.jsonschema.drafts import dialect
from postroom.formats.jsonschema.referenced_documents import Documents
from postroom.formats.jsonschema.schema_addresses import Located
from postroom.formats.jsonschema.typed_scalars import Inexpressible

_MOST_TYPES = 1_000
_MOST_LITERALS = 1_000
_DEEPEST = 32

# What is left to do with a decoded value, as plain dicts and lists: free-form parts become JSON text.
Finish = Callable[[Any], Any]


class Typed(NamedTuple):
    """A msgspec type, and what is left to do with its values."""

    type: Any
    finish: Finish | None = None


def _finished(decode: Callable[[bytes], Any], finish: Finish | None, closed: bool) -> Callable[[bytes], Any]:
    if closed:
        # Only msgspec's own classes refuse members without a name; tables want plain values.
        builtins = msgspec.to_builtins
        return _finished(lambda payload: builtins(decode(payload)), finish, closed=False)
    if finish is None:
        return decode

    def fill(payload: bytes) -> Any:
        value = decode(payload)
        return value if value is None else finish(value)

    return fill


def fast_decoder(documents: Documents, start: Located, column: ColumnType) -> Callable[[bytes], Any] | None:
    """The function that turns payloads of a schema into values of its columns; None when msgspec cannot express it.

    Members that are absent are left out. The function raises msgspec.DecodeError, or another ValueError, when the exact
    validator has to decide.
    """
    compiler = _Compiler(documents)
    try:
        typed = compiler.typed(start, column, 0)
        return _finished(msgspec.json.Decoder(typed.type).decode, typed.finish, compiler.closed)
    except (Inexpressible, TypeError, ValueError, OverflowError):
        # msgspec itself refuses types with a TypeError or ValueError: unions it cannot tell apart, odd names.
        return None


class FastMembers:
    """Reads many payloads of a schema by member. That is twice as quick, but gives no values of their own.

    A strict one refuses members without a column, at any depth.
    """

    def __init__(self, types: dict[str, Any], required: list[str], column: StructOf, *, strict: bool = False) -> None:
        self._names = tuple(types)
        # Only msgspec's own classes refuse members without a name; tables want plain values.
        self._classes = [number for number, field in enumerate(column.fields) if strict and _has_struct(field.type)]
        # None by default, though null is a value of its own: a type that allows it fills its column the same way.
        fields = [
            (f"f{index}", kind) if name in required else (f"f{index}", kind, None)
            for index, (name, kind) in enumerate(types.items())
        ]
        rename = {f"f{index}": name for index, name in enumerate(types)}
        struct = msgspec.defstruct(
            "Payload", fields, rename=rename, kw_only=True, gc=False, forbid_unknown_fields=strict
        )
        self.decode: Callable[[Any], Any] = msgspec.json.Decoder(struct).decode
        self._nothing = struct(**dict.fromkeys(rename))

    def decode_all(self, payloads: Sequence[Any], fallback: set[int]) -> MemberColumns:
        """The members of all payloads; nothing for those whose places are added to `fallback`."""
        refused: set[int] = set()
        values = decode_all(self.decode, payloads, refused)
        fallback |= refused
        return self.members(values, refused)

    def members(self, values: list[Any], refused: set[int]) -> MemberColumns:
        """The members of values that were decoded, nothing in the places that are in doubt."""
        for place in refused:
            values[place] = self._nothing
        found = MemberColumns.of_rows(self._names, list(map(astuple, values)))
        if not self._classes:
            return found
        columns = list(found.columns)
        for number in self._classes:
            columns[number] = msgspec.to_builtins(columns[number])
        return MemberColumns(self._names, columns, len(found))


def fast_members(
    documents: Documents, start: Located, column: ColumnType, *, strict: bool = False
) -> FastMembers | None:
    """What reads many payloads by member; None unless they are plain objects all of whose members are expressible."""
    compiler = _Compiler(documents, strict=strict)
    try:
        typed = compiler.typed(start, column, 0)
        stated = compiler.open.get(typed.type) if isinstance(typed.type, type) else None
        if stated is None or typed.finish is not None or compiler.closed or not isinstance(column, StructOf):
            return None
        return FastMembers(*stated, column, strict=strict)
    except (Inexpressible, TypeError, ValueError, OverflowError):
        return None


def _has_struct(column: ColumnType) -> bool:
    if isinstance(column, ListOf):
        return _has_struct(column.item)
    return _has_struct(column.value) if isinstance(column, MapOf) else isinstance(column, StructOf)


class _Compiler:
    """Makes types. `closed` is set where the schema forbids members without a name; a strict one always does."""

    def __init__(self, documents: Documents, *, strict: bool = False) -> None:
        self.documents = documents
        self.strict = strict
        self.made = 0
        self.inside: list[int] = []
        self.closed = False
        # The members of objects, and which of them are required, by the types that were made for them.
        self.open: dict[type, tuple[dict[str, Any], list[str]]] = {}

    def typed(self, located: Located, column: ColumnType, depth: int) -> Typed:
        self.made += 1
        schema, base = self.documents.enter(*located)
        if self.made > _MOST_TYPES or depth > _DEEPEST or id(schema) in self.inside:
            raise Inexpressible
        if schema is True:
            return _anything(column)
        if not isinstance(schema, dict) or ("$schema" in schema and dialect(schema["$schema"]) != self.documents.draft):
            raise Inexpressible
        self.inside.append(id(schema))
        found = self._stated(schema, base, column, depth)
        self.inside.pop()
        return found

    def _stated(self, schema: dict[str, Any], base: str, column: ColumnType, depth: int) -> Typed:
        schema = scalars.with_plain_types(schema)
        stated = scalars.assertions(schema, self.documents.draft)
        if "$ref" in schema and (stated == {"$ref"} or self.documents.draft.ignores_siblings):
            target = self.documents.follow_plainly(schema["$ref"], base)
            if target is None:
                raise Inexpressible
            return self.typed(target, column, depth + 1)
        if not stated:
            return _anything(column)
        if stated <= {"type", "enum", "const"} and stated != {"type"}:
            return _literal(schema, column)
        if stated in ({"oneOf"}, {"anyOf"}):
            return self._nullable(schema, base, column, depth)
        if stated & scalars.NEVER:
            raise Inexpressible
        return self._union(schema, base, column, depth)

    def _nullable(self, schema: dict[str, Any], base: str, column: ColumnType, depth: int) -> Typed:
        """One alternative beside `null`."""
        choices = schema["oneOf"] if "oneOf" in schema else schema["anyOf"]
        real = [choice for choice in choices if choice != {"type": "null"}]
        if len(real) != 1 or not isinstance(real[0], dict) or real[0].get("type") not in scalars.KINDS:
            raise Inexpressible
        found = self.typed((real[0], base), column, depth + 1)
        return Typed(Union[found.type, None] if len(choices) == 2 else found.type, found.finish)  # noqa: UP007

    def _union(self, schema: dict[str, Any], base: str, column: ColumnType, depth: int) -> Typed:
        stated = schema.get("type", "object" if "properties" in schema else None)
        kinds = [stated] if isinstance(stated, str) else stated
        if not isinstance(kinds, list) or not kinds:
            raise Inexpressible
        found = [self._kind(kind, schema, base, column, depth) for kind in kinds if kind != "null"]
        finishes = [typed.finish for typed in found if typed.finish is not None]
        types = tuple(typed.type for typed in found) + ((None,) if "null" in kinds else ())
        # Several kinds share a column only as JSON text, which is made the same way for all.
        return Typed(Union[types], finishes[0] if finishes else None)  # noqa: UP007 - made from a list

    def _kind(self, kind: str, schema: dict[str, Any], base: str, column: ColumnType, depth: int) -> Typed:
        if kind == "object":
            return self._object(schema, base, column, depth + 1)
        if kind == "array":
            return self._array(schema, base, column, depth + 1)
        if column != JSON_TEXT and column != _COLUMNS.get(kind):
            raise Inexpressible
        return Typed(scalars.scalar(kind, schema, self.documents.draft, column), _as_text(column))

    def _array(self, schema: dict[str, Any], base: str, column: ColumnType, depth: int) -> Typed:
        if any(name in schema for name in scalars.ODD_ARRAYS):
            raise Inexpressible
        inner = column.item if isinstance(column, ListOf) else JSON_TEXT
        items = self.typed((schema.get("items", True), base), inner, depth)
        made = scalars.sized(list[items.type], schema, "Items")  # type: ignore[name-defined]  # made at run time
        if column == JSON_TEXT:
            return Typed(made, _encode)
        if not isinstance(column, ListOf):
            raise Inexpressible
        return Typed(made, None if items.finish is None else _finish_items(items.finish))

    def _object(self, schema: dict[str, Any], base: str, column: ColumnType, depth: int) -> Typed:
        if any(name in schema for name in scalars.ODD_OBJECTS):
            raise Inexpressible
        if isinstance(column, StructOf):
            return self._struct(schema, base, column, depth)
        if schema.get("properties") or schema.get("required"):
            raise Inexpressible
        extra = schema.get("additionalProperties", True)
        inner = column.value if isinstance(column, MapOf) else JSON_TEXT
        values = self.typed((extra, base), inner, depth)
        made = scalars.sized(dict[str, values.type], schema, "Properties")  # type: ignore[name-defined]  # as above
        if column == JSON_TEXT:
            return Typed(made, _encode)
        if not isinstance(column, MapOf):
            raise Inexpressible
        return Typed(made, None if values.finish is None else _finish_values(values.finish))

    def _struct(self, schema: dict[str, Any], base: str, column: StructOf, depth: int) -> Typed:
        properties, extra = schema.get("properties"), schema.get("additionalProperties", True)
        required = schema.get("required", [])
        if (
            not isinstance(properties, dict)
            or extra not in (True, False, {})
            or not isinstance(required, list)
            or not set(required) <= set(properties)
            or [field.source for field in column.fields] != list(properties)
            or any(field.name != field.source for field in column.fields)
            or "minProperties" in schema
            or "maxProperties" in schema
        ):
            raise Inexpressible
        members = {
            field.source: self.typed((properties[field.source], base), field.type, depth) for field in column.fields
        }
        finishes = [(name, member.finish) for name, member in members.items() if member.finish is not None]
        types = {name: member.type for name, member in members.items()}
        self.closed = self.closed or extra is False
        is_closed = extra is False or self.strict
        made = _closed_struct(types, required) if is_closed else _open_struct(types, required)
        self.open[made] = types, required
        return Typed(made, _finish_members(finishes) if finishes else None)


def _open_struct(types: dict[str, Any], required: list[str]) -> Any:
    members = {name: kind if name in required else NotRequired[kind] for name, kind in types.items()}
    return TypedDict("Payload", members)  # type: ignore[operator]  # made at run time


def _closed_struct(types: dict[str, Any], required: list[str]) -> Any:
    fields: list[Any] = []
    for index, (name, kind) in enumerate(types.items()):
        # Not None by default: null is a value of its own, which the type may not allow.
        absent = (Union[kind, msgspec.UnsetType], msgspec.UNSET)  # noqa: UP007 - made at run time
        fields.append((f"f{index}", kind) if name in required else (f"f{index}", *absent))
    rename = {f"f{index}": name for index, name in enumerate(types)}
    return msgspec.defstruct("Payload", fields, rename=rename, forbid_unknown_fields=True, kw_only=True, gc=False)


_COLUMNS = {"string": STRING, "integer": INT64, "number": DOUBLE, "boolean": BOOLEAN}


def _anything(column: ColumnType) -> Typed:
    if column != JSON_TEXT:
        raise Inexpressible
    return Typed(Any, _encode)


def _literal(schema: dict[str, Any], column: ColumnType) -> Typed:
    values = [schema["const"]] if "const" in schema else schema["enum"]
    if ("const" in schema and "enum" in schema) or not isinstance(values, list) or len(values) > _MOST_LITERALS:
        raise Inexpressible
    kept = scalars.literals(values, schema.get("type"))
    wanted = {STRING if isinstance(value, str) else INT64 for value in kept if value is not None}
    if column != JSON_TEXT and wanted - {column}:
        raise Inexpressible
    return Typed(Literal[tuple(kept)], _as_text(column))


def _encode(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _as_text(column: ColumnType) -> Finish | None:
    return _encode if column == JSON_TEXT else None


def _finish_items(finish: Finish) -> Finish:
    return lambda items: [None if item is None else finish(item) for item in items]


def _finish_values(finish: Finish) -> Finish:
    return lambda members: {name: None if item is None else finish(item) for name, item in members.items()}


def _finish_members(finishes: list[tuple[str, Finish]]) -> Finish:
    def finish_members(members: dict[str, Any]) -> dict[str, Any]:
        for name, finish in finishes:
            value = members.get(name)
            if value is not None:
                members[name] = finish(value)
        return members

    return finish_members

"""Typed decoders: schemas that msgspec can express, decoded into the form of their columns in one pass.

A typed decoder only accepts: what it accepts is valid, and its value is what the filler would make of it. Whatever it
refuses may still be valid (`1.0` is an integer, the last of two equal keys wins), and every schema that
it cannot express exactly (patterns, conditions, recursion …) is judged by the exact validator alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple, NotRequired, TypedDict, Union

import msgspec
from msgspec.structs import astuple

from postroom.formats.batch_decode import MemberColumns, decode_all
from postroom.formats.column_types import BOOLEAN, DOUBLE, INT64, JSON_TEXT, STRING, ColumnType, ListOf, MapOf, StructOf
from postroom.formats.fill_columns import finish_items, finish_values
from postroom.formats.jsonschema import typed_scalars as scalars
from postroom.formats.jsonschema.drafts import draft_by_uri
from postroom.formats.jsonschema.referenced_documents import DocumentSet
from postroom.formats.jsonschema.schema_addresses import Located
from postroom.formats.jsonschema.typed_scalars import Inexpressible

_MOST_TYPES = 1_000
_MOST_LITERALS = 1_000
_DEEPEST = 32

# Finishes a decoded value of plain dicts and lists: free-form parts become JSON text.
Finish = Callable[[Any], Any]


class DecoderType(NamedTuple):
    """A msgspec type, and the function that finishes its values."""

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


def build_decoder(documents: DocumentSet, start: Located, column: ColumnType) -> Callable[[bytes], Any] | None:
    """The function that turns payloads of a schema into values of its columns; None when msgspec cannot express it.

    Members that are absent are left out. The function raises msgspec.DecodeError, or another ValueError, when the exact
    validator has to decide.
    """
    compiler = _TypeCompiler(documents)
    try:
        typed = compiler.decoder_type(start, column, 0)
        return _finished(msgspec.json.Decoder(typed.type).decode, typed.finish, compiler.forbids_unknown)
    except (Inexpressible, TypeError, ValueError, OverflowError):
        # msgspec itself refuses types with a TypeError or ValueError: unions it cannot tell apart, odd names.
        return None


class MemberDecoder:
    """Decodes many payloads of a schema into member columns, twice as quickly as into values.

    A strict one refuses members without a column, at any depth.
    """

    def __init__(self, types: dict[str, Any], required: list[str], column: StructOf, *, strict: bool = False) -> None:
        self._names = tuple(types)
        # Only msgspec's own classes refuse members without a name; tables want plain values.
        self._classes = [number for number, field in enumerate(column.fields) if strict and _has_struct(field.type)]
        # None by default, though null is a value of its own: a type that allows it fills its column the same way.
        fields = [
            (f"f{index}", member_type) if name in required else (f"f{index}", member_type, None)
            for index, (name, member_type) in enumerate(types.items())
        ]
        rename = {f"f{index}": name for index, name in enumerate(types)}
        struct = msgspec.defstruct(
            "Payload", fields, rename=rename, kw_only=True, gc=False, forbid_unknown_fields=strict
        )
        self.decode: Callable[[Any], Any] = msgspec.json.Decoder(struct).decode
        self._nothing = struct(**dict.fromkeys(rename))

    def decode_all(self, payloads: Sequence[Any], fallback: set[int]) -> MemberColumns:
        """The members of all payloads; nothing for those whose indexes are added to `fallback`."""
        refused: set[int] = set()
        values = decode_all(self.decode, payloads, refused)
        fallback |= refused
        return self.members(values, refused)

    def members(self, values: list[Any], refused: set[int]) -> MemberColumns:
        """The members of decoded values, nothing at the indexes in `refused`."""
        for index in refused:
            values[index] = self._nothing
        found = MemberColumns.of_rows(self._names, list(map(astuple, values)))
        if not self._classes:
            return found
        columns = list(found.columns)
        for number in self._classes:
            columns[number] = msgspec.to_builtins(columns[number])
        return MemberColumns(self._names, columns, len(found))


def build_member_decoder(
    documents: DocumentSet, start: Located, column: ColumnType, *, strict: bool = False
) -> MemberDecoder | None:
    """The decoder into member columns; None unless payloads are plain objects all of whose members are expressible."""
    compiler = _TypeCompiler(documents, strict=strict)
    try:
        typed = compiler.decoder_type(start, column, 0)
        stated = compiler.open.get(typed.type) if isinstance(typed.type, type) else None
        if stated is None or typed.finish is not None or compiler.forbids_unknown or not isinstance(column, StructOf):
            return None
        return MemberDecoder(*stated, column, strict=strict)
    except (Inexpressible, TypeError, ValueError, OverflowError):
        return None


def _has_struct(column: ColumnType) -> bool:
    if isinstance(column, ListOf):
        return _has_struct(column.item)
    return _has_struct(column.value) if isinstance(column, MapOf) else isinstance(column, StructOf)


class _TypeCompiler:
    """Compiles types. `forbids_unknown` is set where the schema forbids undeclared members; `strict` always forbids
    them."""

    def __init__(self, documents: DocumentSet, *, strict: bool = False) -> None:
        self.documents = documents
        self.strict = strict
        self.made = 0
        self.inside: list[int] = []
        self.forbids_unknown = False
        # The members of objects, and which of them are required, by the types that were made for them.
        self.open: dict[type, tuple[dict[str, Any], list[str]]] = {}

    def decoder_type(self, located: Located, column: ColumnType, depth: int) -> DecoderType:
        self.made += 1
        schema, base = self.documents.with_base(*located)
        if self.made > _MOST_TYPES or depth > _DEEPEST or id(schema) in self.inside:
            raise Inexpressible
        if schema is True:
            return _anything(column)
        if not isinstance(schema, dict) or (
            "$schema" in schema and draft_by_uri(schema["$schema"]) != self.documents.draft
        ):
            raise Inexpressible
        self.inside.append(id(schema))
        found = self._stated(schema, base, column, depth)
        self.inside.pop()
        return found

    def _stated(self, schema: dict[str, Any], base: str, column: ColumnType, depth: int) -> DecoderType:
        schema = scalars.with_plain_types(schema)
        stated = scalars.assertions(schema, self.documents.draft)
        if "$ref" in schema and (stated == {"$ref"} or self.documents.draft.ignores_siblings):
            target = self.documents.resolve_plain_pointer(schema["$ref"], base)
            if target is None:
                raise Inexpressible
            return self.decoder_type(target, column, depth + 1)
        if not stated:
            return _anything(column)
        if stated <= {"type", "enum", "const"} and stated != {"type"}:
            return _literal(schema, column)
        if stated in ({"oneOf"}, {"anyOf"}):
            return self._nullable(schema, base, column, depth)
        if stated & scalars.UNSUPPORTED_KEYWORDS:
            raise Inexpressible
        return self._union(schema, base, column, depth)

    def _nullable(self, schema: dict[str, Any], base: str, column: ColumnType, depth: int) -> DecoderType:
        """One alternative beside `null`."""
        choices = schema["oneOf"] if "oneOf" in schema else schema["anyOf"]
        real = [choice for choice in choices if choice != {"type": "null"}]
        if len(real) != 1 or not isinstance(real[0], dict) or real[0].get("type") not in scalars.TYPE_NAMES:
            raise Inexpressible
        found = self.decoder_type((real[0], base), column, depth + 1)
        return DecoderType(Union[found.type, None] if len(choices) == 2 else found.type, found.finish)  # noqa: UP007

    def _union(self, schema: dict[str, Any], base: str, column: ColumnType, depth: int) -> DecoderType:
        stated = schema.get("type", "object" if "properties" in schema else None)
        type_names = [stated] if isinstance(stated, str) else stated
        if not isinstance(type_names, list) or not type_names:
            raise Inexpressible
        found = [
            self._of_type(type_name, schema, base, column, depth) for type_name in type_names if type_name != "null"
        ]
        finishes = [typed.finish for typed in found if typed.finish is not None]
        types = tuple(typed.type for typed in found) + ((None,) if "null" in type_names else ())
        # Several kinds share a column only as JSON text, which is made the same way for all.
        return DecoderType(Union[types], finishes[0] if finishes else None)  # noqa: UP007 - made from a list

    def _of_type(
        self, type_name: str, schema: dict[str, Any], base: str, column: ColumnType, depth: int
    ) -> DecoderType:
        if type_name == "object":
            return self._object(schema, base, column, depth + 1)
        if type_name == "array":
            return self._array(schema, base, column, depth + 1)
        if column != JSON_TEXT and column != _COLUMNS.get(type_name):
            raise Inexpressible
        return DecoderType(scalars.scalar(type_name, schema, self.documents.draft, column), _as_text(column))

    def _array(self, schema: dict[str, Any], base: str, column: ColumnType, depth: int) -> DecoderType:
        if any(name in schema for name in scalars.UNSUPPORTED_ARRAY_KEYWORDS):
            raise Inexpressible
        inner = column.item if isinstance(column, ListOf) else JSON_TEXT
        items = self.decoder_type((schema.get("items", True), base), inner, depth)
        made = scalars.sized(list[items.type], schema, "Items")  # type: ignore[name-defined]  # made at run time
        if column == JSON_TEXT:
            return DecoderType(made, _encode)
        if not isinstance(column, ListOf):
            raise Inexpressible
        return DecoderType(made, None if items.finish is None else finish_items(items.finish))

    def _object(self, schema: dict[str, Any], base: str, column: ColumnType, depth: int) -> DecoderType:
        if any(name in schema for name in scalars.UNSUPPORTED_OBJECT_KEYWORDS):
            raise Inexpressible
        if isinstance(column, StructOf):
            return self._struct(schema, base, column, depth)
        if schema.get("properties") or schema.get("required"):
            raise Inexpressible
        extra = schema.get("additionalProperties", True)
        inner = column.value if isinstance(column, MapOf) else JSON_TEXT
        values = self.decoder_type((extra, base), inner, depth)
        made = scalars.sized(dict[str, values.type], schema, "Properties")  # type: ignore[name-defined]  # as above
        if column == JSON_TEXT:
            return DecoderType(made, _encode)
        if not isinstance(column, MapOf):
            raise Inexpressible
        return DecoderType(made, None if values.finish is None else finish_values(values.finish))

    def _struct(self, schema: dict[str, Any], base: str, column: StructOf, depth: int) -> DecoderType:
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
            field.source: self.decoder_type((properties[field.source], base), field.type, depth)
            for field in column.fields
        }
        finishes = [(name, member.finish) for name, member in members.items() if member.finish is not None]
        types = {name: member.type for name, member in members.items()}
        self.forbids_unknown = self.forbids_unknown or extra is False
        is_closed = extra is False or self.strict
        made = _closed_struct(types, required) if is_closed else _open_struct(types, required)
        self.open[made] = types, required
        return DecoderType(made, _finish_members(finishes) if finishes else None)


def _open_struct(types: dict[str, Any], required: list[str]) -> Any:
    members = {
        name: member_type if name in required else NotRequired[member_type] for name, member_type in types.items()
    }
    return TypedDict("Payload", members)  # type: ignore[operator]  # made at run time


def _closed_struct(types: dict[str, Any], required: list[str]) -> Any:
    fields: list[Any] = []
    for index, (name, member_type) in enumerate(types.items()):
        # Not None by default: null is a value of its own, which the type may not allow.
        absent = (Union[member_type, msgspec.UnsetType], msgspec.UNSET)  # noqa: UP007 - made at run time
        fields.append((f"f{index}", member_type) if name in required else (f"f{index}", *absent))
    rename = {f"f{index}": name for index, name in enumerate(types)}
    return msgspec.defstruct("Payload", fields, rename=rename, forbid_unknown_fields=True, kw_only=True, gc=False)


_COLUMNS = {"string": STRING, "integer": INT64, "number": DOUBLE, "boolean": BOOLEAN}


def _anything(column: ColumnType) -> DecoderType:
    if column != JSON_TEXT:
        raise Inexpressible
    return DecoderType(Any, _encode)


def _literal(schema: dict[str, Any], column: ColumnType) -> DecoderType:
    values = [schema["const"]] if "const" in schema else schema["enum"]
    if ("const" in schema and "enum" in schema) or not isinstance(values, list) or len(values) > _MOST_LITERALS:
        raise Inexpressible
    kept = scalars.literals(values, schema.get("type"))
    wanted = {STRING if isinstance(value, str) else INT64 for value in kept if value is not None}
    if column != JSON_TEXT and wanted - {column}:
        raise Inexpressible
    return DecoderType(Literal[tuple(kept)], _as_text(column))


def _encode(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _as_text(column: ColumnType) -> Finish | None:
    return _encode if column == JSON_TEXT else None


def _finish_members(finishes: list[tuple[str, Finish]]) -> Finish:
    def finish_members(members: dict[str, Any]) -> dict[str, Any]:
        for name, finish in finishes:
            value = members.get(name)
            if value is not None:
                members[name] = finish(value)
        return members

    return finish_members

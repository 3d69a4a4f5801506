"""Descriptors as schema texts and back: some clients send and ask for a schema as a serialised descriptor."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from google.protobuf import descriptor_pb2
from google.protobuf.message import DecodeError

from postroom.errors import SchemaRefused
from postroom.formats.protobuf.protoc import compile_texts
from postroom.formats.protobuf.schema_files import ROOT, collect_files
from postroom.formats.schema import SchemaDocument

Field = descriptor_pb2.FieldDescriptorProto
File = descriptor_pb2.FileDescriptorProto

_TYPES = {number: name.removeprefix("TYPE_").lower() for name, number in Field.Type.items()}
_LABELS = {Field.LABEL_REPEATED: "repeated ", Field.LABEL_REQUIRED: "required "}
_HIGHEST_NUMBER = 536_870_911
_HIGHEST_VALUE = 2**31 - 1
_EDITIONS = {number: name.removeprefix("EDITION_") for name, number in descriptor_pb2.Edition.items()}
_UNSAID = ("uninterpreted_option", "map_entry")


def descriptor_of(source: SchemaDocument) -> bytes:
    """The serialised descriptor of a schema document, without those of what it imports."""
    texts = collect_files(source)
    found = descriptor_pb2.FileDescriptorSet.FromString(compile_texts(dict(texts.files), ROOT, texts.shift))
    file = next(one for one in found.file if one.name == ROOT)
    file.ClearField("source_code_info")
    return bytes(file.SerializeToString())


def text_of(serialised: bytes) -> str:
    """The schema text of a serialised descriptor; SchemaRefused when it is none."""
    try:
        file = File.FromString(serialised)
    except DecodeError:
        raise SchemaRefused("this is no descriptor of a Protobuf file.") from None
    if not file.message_type and not file.enum_type and not file.service and not file.extension:
        raise SchemaRefused("this is no descriptor of a Protobuf file.")
    return "\n".join(_file(file)) + "\n"


def _file(file: Any) -> Iterator[str]:
    if file.syntax == "editions":
        yield f'edition = "{_EDITIONS[file.edition]}";'
    else:
        yield f'syntax = "{file.syntax or "proto2"}";'
    if file.package:
        yield f"package {file.package};"
    yield ""
    public, weak = set(file.public_dependency), set(file.weak_dependency)
    for index, name in enumerate(file.dependency):
        kind = "public " if index in public else "weak " if index in weak else ""
        yield f'import {kind}"{name}";'
    yield from (f"option {option};" for option in _options(file.options))
    says_optional = file.syntax in ("", "proto2")
    for enum in file.enum_type:
        yield from ("", *_enum(enum))
    for message in file.message_type:
        yield from ("", *_message(message, says_optional))
    yield from _extensions(file.extension, says_optional)
    for service in file.service:
        yield from ("", *_service(service))


def _message(message: Any, says_optional: bool) -> Iterator[str]:
    yield f"message {message.name} {{"
    yield from _indented(_members(message, says_optional))
    yield "}"


def _members(message: Any, says_optional: bool) -> Iterator[str]:
    yield from (f"option {option};" for option in _options(message.options))
    maps = {one.name: one for one in message.nested_type if one.options.map_entry}
    shown: set[int] = set()
    for field in message.field:
        if field.HasField("oneof_index") and not field.proto3_optional:
            if field.oneof_index not in shown:
                shown.add(field.oneof_index)
                yield from _oneof(message, field.oneof_index, says_optional)
            continue
        yield from _field(field, says_optional, maps)
    for nested in message.nested_type:
        if nested.name not in maps and not _is_group(message, nested.name):
            yield from _message(nested, says_optional)
    for enum in message.enum_type:
        yield from _enum(enum)
    for start, end in ((one.start, one.end - 1) for one in message.extension_range):
        yield f"extensions {_range(start, end, _HIGHEST_NUMBER)};"
    yield from _extensions(message.extension, says_optional)
    ranges = [_range(one.start, one.end - 1, _HIGHEST_NUMBER) for one in message.reserved_range]
    yield from _reserved(ranges, message.reserved_name)


def _oneof(message: Any, index: int, says_optional: bool) -> Iterator[str]:
    yield f"oneof {message.oneof_decl[index].name} {{"
    for field in message.field:
        if field.HasField("oneof_index") and field.oneof_index == index:
            yield from _indented(_field(field, says_optional, {}, in_oneof=True))
    yield "}"


def _field(field: Any, says_optional: bool, maps: dict[str, Any], *, in_oneof: bool = False) -> Iterator[str]:
    entry = maps.get(field.type_name.rpartition(".")[2]) if field.type == Field.TYPE_MESSAGE else None
    if entry is not None:
        key, value = (_type(one) for one in entry.field)
        label, kind = "", f"map<{key}, {value}>"
    else:
        label, kind = _label(field, says_optional, in_oneof), _type(field)
    yield f"{label}{kind} {field.name} = {field.number}{_field_options(field)};"


def _label(field: Any, says_optional: bool, in_oneof: bool) -> str:
    if in_oneof:
        return ""
    if field.label == Field.LABEL_OPTIONAL:
        return "optional " if field.proto3_optional or says_optional else ""
    return _LABELS[field.label]


def _type(field: Any) -> str:
    return str(field.type_name) if field.type_name else _TYPES[field.type]


def _field_options(field: Any) -> str:
    given = list(_options(field.options))
    if field.HasField("default_value"):
        is_text = field.type in (Field.TYPE_STRING, Field.TYPE_BYTES)
        value = field.default_value
        # The default of bytes is escaped already.
        text = f'"{value}"' if field.type == Field.TYPE_BYTES else _quoted(value) if is_text else value
        given.append(f"default = {text}")
    if field.json_name and field.json_name != _json_name(field.name):
        given.append(f"json_name = {_quoted(field.json_name)}")
    return _bracketed(given)


def _bracketed(options: list[str]) -> str:
    return f" [{', '.join(options)}]" if options else ""


def _json_name(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(one[:1].upper() + one[1:] for one in others)


def _enum(enum: Any) -> Iterator[str]:
    yield f"enum {enum.name} {{"
    yield from _indented(f"option {option};" for option in _options(enum.options))
    for value in enum.value:
        yield f"  {value.name} = {value.number}{_bracketed(list(_options(value.options)))};"
    ranges = [_range(one.start, one.end, _HIGHEST_VALUE) for one in enum.reserved_range]
    yield from _indented(_reserved(ranges, enum.reserved_name))
    yield "}"


def _extensions(fields: Iterable[Any], says_optional: bool) -> Iterator[str]:
    for field in fields:
        yield f"extend {field.extendee} {{"
        yield from _indented(_field(field, says_optional, {}))
        yield "}"


def _service(service: Any) -> Iterator[str]:
    yield f"service {service.name} {{"
    for method in service.method:
        asked = f"{'stream ' if method.client_streaming else ''}{method.input_type}"
        answered = f"{'stream ' if method.server_streaming else ''}{method.output_type}"
        yield f"  rpc {method.name}({asked}) returns ({answered});"
    yield "}"


def _is_group(message: Any, name: str) -> bool:
    return any(one.type == Field.TYPE_GROUP and one.type_name.endswith(f".{name}") for one in message.field)


def _reserved(ranges: list[str], names: Iterable[str]) -> Iterator[str]:
    if ranges:
        yield f"reserved {', '.join(ranges)};"
    quoted = ", ".join(map(_quoted, names))
    if quoted:
        yield f"reserved {quoted};"


def _range(start: int, end: int, highest: int) -> str:
    return str(start) if start == end else f"{start} to {'max' if end >= highest else end}"


def _options(options: Any) -> Iterator[str]:
    for field, value in options.ListFields():
        if field.is_extension or field.name in _UNSAID or field.is_repeated:
            continue
        if field.name == "features":
            yield from (f"features.{one}" for one in _options(value))
        if field.enum_type is not None:
            yield f"{field.name} = {field.enum_type.values_by_number[value].name}"
        elif isinstance(value, bool):
            yield f"{field.name} = {str(value).lower()}"
        elif isinstance(value, str):
            yield f"{field.name} = {_quoted(value)}"


def _quoted(text: str) -> str:
    return msgspec.json.encode(text).decode()


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"  {line}" if line else line for line in lines)

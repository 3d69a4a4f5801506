"""Schema files whose parser verifies text.

The parser refuses text that is not UTF-8 in proto3 but hands it out as bytes in proto2. The same proto2 file written
as an edition keeps its meaning and has text verified, at the parser's own speed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf import descriptor_pb2

_SHIPPED = "google/protobuf/"
_Features = descriptor_pb2.FeatureSet
_Field = descriptor_pb2.FieldDescriptorProto


def verified(file: descriptor_pb2.FileDescriptorProto) -> descriptor_pb2.FileDescriptorProto:
    """The file with verified text."""
    if file.syntax == "proto3" or file.name.startswith(_SHIPPED):
        return file
    made = descriptor_pb2.FileDescriptorProto()
    made.CopyFrom(file)
    if made.syntax != "editions":
        made.syntax = "editions"
        made.edition = descriptor_pb2.EDITION_2023
        made.options.features.MergeFrom(
            _Features(
                field_presence=_Features.EXPLICIT,
                enum_type=_Features.CLOSED,
                repeated_field_encoding=_Features.EXPANDED,
                message_encoding=_Features.LENGTH_PREFIXED,
                json_format=_Features.LEGACY_BEST_EFFORT,
            )
        )
        each_field(made, _as_edition)
    made.options.features.utf8_validation = _Features.VERIFY
    each_field(made, _verify)
    return made


def each_message(file: Any) -> Iterator[Any]:
    """All messages that a file describes, those inside of others included."""
    waiting = [*file.message_type]
    while waiting:
        message = waiting.pop()
        yield message
        waiting += message.nested_type


def each_field(file: Any, change: Callable[[Any], None]) -> None:
    """Change all fields that a file describes, extensions included."""
    for field in file.extension:
        change(field)
    for message in each_message(file):
        for field in (*message.field, *message.extension):
            change(field)


def _as_edition(field: Any) -> None:
    if field.label == _Field.LABEL_REQUIRED:
        field.label = _Field.LABEL_OPTIONAL
        field.options.features.field_presence = _Features.LEGACY_REQUIRED
    if field.type == _Field.TYPE_GROUP:
        field.type = _Field.TYPE_MESSAGE
        field.options.features.message_encoding = _Features.DELIMITED
    if field.options.HasField("packed"):
        if field.options.packed:
            field.options.features.repeated_field_encoding = _Features.PACKED
        field.options.ClearField("packed")


def _verify(field: Any) -> None:
    if field.options.features.HasField("utf8_validation"):
        field.options.features.ClearField("utf8_validation")

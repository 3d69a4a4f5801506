"""Schema files whose messages can be merged without losing what is wrong with them.

A parser that reads many payloads into one message keeps all that it sets aside, unless a field is read over: a member
of a `oneof` by another, the entries of a map by key. Here each member stands for itself, every message is merged into
the one before, and only times are kept apart, because their values count. On the wire nothing differs.
"""

from __future__ import annotations

from typing import Any

from google.protobuf import descriptor_pb2

from postroom.formats.protobuf import well_known_types
from postroom.formats.protobuf.utf8_verification import each_field, each_message

APART = (well_known_types.TIMESTAMP, well_known_types.DURATION)
_Field = descriptor_pb2.FieldDescriptorProto
_MESSAGES = (_Field.TYPE_MESSAGE, _Field.TYPE_GROUP)


def make_mergeable(file: descriptor_pb2.FileDescriptorProto) -> None:
    """Change a file so that its messages can be merged."""
    for message in each_message(file):
        message.options.ClearField("map_entry")
        message.ClearField("oneof_decl")
    each_field(file, _make_mergeable)


def _make_mergeable(field: Any) -> None:
    field.ClearField("oneof_index")
    field.ClearField("proto3_optional")
    if field.type not in _MESSAGES:
        return
    field.label = _Field.LABEL_OPTIONAL
    if field.type_name.removeprefix(".") in APART:
        field.label = _Field.LABEL_REPEATED
        if field.options.features.HasField("field_presence"):
            field.options.features.ClearField("field_presence")

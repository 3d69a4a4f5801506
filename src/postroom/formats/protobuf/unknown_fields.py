"""Fields of messages that their schema does not declare, kept as they came.

They have a number and bytes, but neither a name nor a type. So they are shown as the base64 of all unknown fields of a
message, under a name that no field can have; messages inside of it by the names of their fields.
"""

from __future__ import annotations

import base64
from typing import Any

from google.protobuf.unknown_fields import UnknownFieldSet

from postroom.formats.protobuf.fields import entry_of, member_name

UNKNOWN = "$unknown"


def unknown_of(message: Any) -> dict[str, Any] | None:
    """The unknown fields of a message and of those in it; None where there are none."""
    left: dict[str, Any] = {}
    if len(UnknownFieldSet(message)):
        left[UNKNOWN] = base64.b64encode(_only_unknown(message)).decode()
    for field, value in message.ListFields():
        if field.message_type is None:
            continue
        entry = entry_of(field)
        found: Any
        if entry is not None:
            found = _of_values(value) if entry.value.message_type is not None else None
        else:
            found = _of_items(value) if field.is_repeated else unknown_of(value)
        if found:
            left[member_name(field)] = found
    return left or None


def _of_values(values: Any) -> dict[str, Any]:
    found = ((str(key), unknown_of(value)) for key, value in values.items())
    return {key: one for key, one in found if one is not None}


def _of_items(items: Any) -> list[Any]:
    found = [unknown_of(item) for item in items]
    while found and found[-1] is None:
        found.pop()
    return found


def _only_unknown(message: Any) -> bytes:
    copy = type(message)()
    copy.CopyFrom(message)
    for field, _ in copy.ListFields():
        if field.is_extension:
            copy.ClearExtension(field)
        else:
            copy.ClearField(field.name)
    packed: bytes = copy.SerializePartialToString()
    return packed

"""Headers in front of Avro's binary encoding: single-object encoding, or the id of a schema registry."""

from __future__ import annotations

from typing import Any

from postroom.formats.avro.codec.binary_reader import DEEPEST, Read
from postroom.formats.avro.value_errors import Misfit
from postroom.formats.schema import Frame, Violation
from postroom.formats.schema_id_framing import registry_frame

SINGLE_OBJECT = b"\xc3\x01"
CONTAINER = b"Obj\x01"
_SINGLE_OBJECT_LENGTH = 10


def frame_of(payload: bytes, id_bytes: int) -> Frame | None:
    """The header of single-object encoding, or of a schema registry."""
    if payload.startswith(SINGLE_OBJECT) and len(payload) >= _SINGLE_OBJECT_LENGTH:
        return Frame(payload[2:_SINGLE_OBJECT_LENGTH], _SINGLE_OBJECT_LENGTH)
    return registry_frame(payload, id_bytes, is_sure=False)


def read_to_end(read: Read, payload: bytes, start: int) -> tuple[Any, list[Violation]]:
    """Read the value that begins at an offset of a payload and must end with it."""
    try:
        value, end = read(payload, start, 0)
    except Misfit as misfit:
        return None, [_CONTAINED if payload.startswith(CONTAINER) else misfit.violation()]
    except RecursionError:
        return None, [_TOO_DEEP]
    if end == len(payload):
        return value, []
    return None, [_CONTAINED if payload.startswith(CONTAINER) else _trailing(len(payload) - end)]


def _trailing(count: int) -> Violation:
    return Violation("", "payload_trailing_bytes", "at its end", f"followed by {count} more byte{'s'[: count > 1]}")


_TOO_DEEP = Violation("", "payload_depth", f"nested at most {DEEPEST} deep", "deeper")
_CONTAINED = Violation("", "payload_container", "one value", "an Avro container file")

"""What producers put in front of Avro's plain binary encoding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from postroom.formats.avro.misfits import Misfit
from postroom.formats.avro.reading import DEEPEST, Read
from postroom.formats.schema import Violation

SINGLE_OBJECT = b"\xc3\x01"
CONTAINER = b"Obj\x01"
_SINGLE_OBJECT_LENGTH = 10
_REGISTRY_MAGIC = 0
_REGISTRY_LENGTH = 5


def judge_binary(read: Read, fingerprint: Callable[[], bytes], payload: bytes) -> tuple[Any, list[Violation]]:
    """Read a binary payload, whatever is in front of it.

    In this order: single-object encoding with the schema's own fingerprint, which cannot be there by chance; the plain
    encoding; the five bytes of a schema registry (a zero and an id of four bytes) and the plain encoding.
    """
    if payload.startswith(SINGLE_OBJECT) and payload[2:_SINGLE_OBJECT_LENGTH] == fingerprint():
        return _judge_from(read, payload, _SINGLE_OBJECT_LENGTH)
    try:
        value, end = read(payload, 0, 0)
        if end == len(payload):
            return value, []
        problem = _trailing(len(payload) - end)
    except Misfit as misfit:
        problem = misfit.violation()
    except RecursionError:
        return None, [_TOO_DEEP]
    return _judge_framed(read, payload, problem)


def _judge_framed(read: Read, payload: bytes, problem: Violation) -> tuple[Any, list[Violation]]:
    if payload.startswith(SINGLE_OBJECT) and len(payload) >= _SINGLE_OBJECT_LENGTH:
        found = payload[2:_SINGLE_OBJECT_LENGTH].hex()
        return None, [Violation("", "payload_fingerprint", "written by this schema", f"written by the schema {found}")]
    if payload.startswith(CONTAINER):
        return None, [Violation("", "payload_container", "one value", "an Avro container file")]
    if payload[:1] == b"\0" and len(payload) >= _REGISTRY_LENGTH:
        value, problems = _judge_from(read, payload, _REGISTRY_LENGTH)
        # Ids are small numbers: two zeros are a header, and what is wrong is wrong behind it.
        if not problems or payload[1] == 0:
            return value, problems
    return None, [problem]


def _judge_from(read: Read, payload: bytes, start: int) -> tuple[Any, list[Violation]]:
    try:
        value, end = read(payload, start, 0)
    except Misfit as misfit:
        return None, [misfit.violation()]
    except RecursionError:
        return None, [_TOO_DEEP]
    return (value, []) if end == len(payload) else (None, [_trailing(len(payload) - end)])


def _trailing(count: int) -> Violation:
    return Violation("", "payload_trailing_bytes", "at its end", f"followed by {count} more byte{'s'[: count > 1]}")


_TOO_DEEP = Violation("", "payload_depth", f"nested at most {DEEPEST} deep", "deeper")

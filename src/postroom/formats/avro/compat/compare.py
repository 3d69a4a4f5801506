"""Whether payloads of one schema can be read with another, by the resolution rules of the specification.

A mismatch is shown by a payload that was written with one schema and seen to be refused with the other.
"""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from typing import Any

import fastavro
from fastavro.read import SchemaResolutionError

from postroom.errors import SchemaRefused
from postroom.formats.avro.codec.binary_writer import write
from postroom.formats.avro.compat.resolution_rules import Mismatch, Resolution
from postroom.formats.avro.render_schema import render_schema
from postroom.formats.avro.samples import Step, bare, reached_types, sample_along_path
from postroom.formats.avro.types import AvroType, UnionType
from postroom.formats.avro.value_errors import Misfit
from postroom.formats.schema import Verdict
from postroom.formats.show_value import show_value

# It compares each type of the writer's union with each of the reader's.
_MOST_BRANCHES = 200_000


class _NoCounterexample(Exception):
    pass


def compare(writer: AvroType, reader: AvroType) -> Verdict:
    """Compare two schemas; a no comes with a payload that a reader of the other schema was seen to refuse."""
    try:
        mismatch = Resolution().mismatch(writer, reader)
    except RecursionError:
        return Verdict(answer="undecided", reason="the schemas are nested too deeply to be compared.")
    if mismatch is None:
        return Verdict(answer="compatible")
    if mismatch.is_undecided:
        return _undecided(mismatch, mismatch.reason)
    try:
        payload, shown = _counterexample(writer, reader, mismatch.steps)
    except _NoCounterexample as error:
        return _undecided(mismatch, f"{mismatch.reason} But {error}")
    return Verdict(
        answer="incompatible",
        reason=mismatch.reason,
        writer_at=mismatch.writer_at,
        reader_at=mismatch.reader_at,
        counterexample=payload,
        shown=shown,
    )


def _undecided(mismatch: Mismatch, reason: str) -> Verdict:
    return Verdict(answer="undecided", reason=reason, writer_at=mismatch.writer_at, reader_at=mismatch.reader_at)


def _counterexample(writer: AvroType, reader: AvroType, steps: Sequence[Step]) -> tuple[bytes, str]:
    """Return a payload with a value at the end of the steps, and the payload in words."""
    try:
        # Always the same payload for the same pair of schemas.
        value = sample_along_path(writer, steps, random.Random(0))  # noqa: S311 - payloads, not secrets
        payload = write(writer, value)
    except (SchemaRefused, Misfit, RecursionError):
        raise _NoCounterexample("no payload could be found that has a value there.") from None
    if _largest_union(writer) * _largest_union(reader) > _MOST_BRANCHES:
        raise _NoCounterexample("fastavro takes too long to be asked about unions of so many types.")
    if not _is_refused(payload, render_schema(writer), render_schema(reader)):
        raise _NoCounterexample("fastavro, asked to, reads a payload with such a value.")
    return payload, show_value(bare(value))


def _largest_union(schema: AvroType) -> int:
    return max((len(found.branches) for found in reached_types(schema) if isinstance(found, UnionType)), default=1)


def _is_refused(payload: bytes, writer: Any, reader: Any) -> bool:
    try:
        fastavro.schemaless_reader(io.BytesIO(payload), writer, reader)
    except SchemaResolutionError:
        return True
    except (
        ValueError,
        KeyError,
        TypeError,
        IndexError,
        AttributeError,
        EOFError,
        fastavro.schema.SchemaParseException,
    ):
        # It failed for another reason, which proves nothing.
        return False
    return False

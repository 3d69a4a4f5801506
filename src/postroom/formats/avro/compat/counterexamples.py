"""Payloads that show a mismatch: written with one schema, and seen to be refused with the other."""

from __future__ import annotations

import io
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import fastavro
from fastavro.read import SchemaResolutionError

from postroom.errors import SchemaRefused
from postroom.formats.avro.codec.binary_writer import write
from postroom.formats.avro.render_schema import rendered
from postroom.formats.avro.samples import Step, bare, reached_types, sample_through
from postroom.formats.avro.types import AvroType, Union
from postroom.formats.avro.value_errors import Misfit
from postroom.formats.show_value import show_value

# It compares each type of the writer's union with each of the reader's.
_MOST_BRANCHES = 200_000


@dataclass(frozen=True)
class Witness:
    """A payload of the writer's that the reader refuses."""

    payload: bytes
    shown: str


def witness(writer: AvroType, reader: AvroType, steps: Sequence[Step]) -> Witness | str:
    """A payload with something at the end of the steps; or why there is none."""
    try:
        # Always the same payload for the same pair of schemas.
        value = sample_through(writer, steps, random.Random(0))  # noqa: S311 - payloads, not secrets
        payload = write(writer, value)
    except (SchemaRefused, Misfit, RecursionError):
        return "no payload could be found that has a value there."
    if _largest_union(writer) * _largest_union(reader) > _MOST_BRANCHES:
        return "fastavro takes too long to be asked about unions of so many types."
    if not _is_refused(payload, rendered(writer), rendered(reader)):
        return "fastavro, asked to, reads a payload with such a value."
    return Witness(payload, show_value(bare(value)))


def _largest_union(kind: AvroType) -> int:
    return max((len(found.branches) for found in reached_types(kind) if isinstance(found, Union)), default=1)


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

"""Protobuf: payloads read by its own runtime (upb), schemas compiled by its own compiler."""

from __future__ import annotations

import functools
import json
import random
from collections.abc import Callable, Sequence
from typing import Any

import msgspec
from google.protobuf.descriptor import Descriptor
from google.protobuf.json_format import MessageToJson, SerializeToJsonError
from google.protobuf.message import DecodeError

from postroom.errors import SchemaRefused
from postroom.formats.batch_decode import decode_all
from postroom.formats.column_types import ColumnType
from postroom.formats.fill_columns import ColumnMismatch
from postroom.formats.protobuf import columns, samples, well_known_types, wire_format
from postroom.formats.protobuf.batch_check import BatchChecker, batch_checker
from postroom.formats.protobuf.compat import compare
from postroom.formats.protobuf.compat.renamed_fields import Rename, renaming
from postroom.formats.protobuf.compile_schema import CompiledSchema, compile_schema
from postroom.formats.protobuf.fields import message_class
from postroom.formats.protobuf.message_reader import MessageReader, Read, Suspicious, unknown_fields
from postroom.formats.protobuf.message_writer import MessageWriter
from postroom.formats.protobuf.root_message import root_message
from postroom.formats.schema import Frame, FramedReader, FramedSchema, PayloadSchema, SchemaDocument, Verdict, Violation
from postroom.formats.schema_id_framing import registry_frame
from postroom.formats.schema_versions import HEADER_FIRST_BYTES, Versions

_REFUSALS = (DecodeError, Suspicious, well_known_types.OutOfRange)
_NOT_FILLED = (*_REFUSALS, RecursionError, ColumnMismatch, TypeError)


class Protobuf:
    """One message type of a parsed Protobuf schema."""

    def __init__(self, schema: CompiledSchema, message: Descriptor) -> None:
        self._compiled = schema
        self._descriptor = message
        self._class: Any = message_class(message)
        self._parse = self._class.FromString

    def validate(self, payload: bytes, contenttype: str = "") -> tuple[Any, list[Violation]]:
        """Decode and validate a payload in binary form, or in Protobuf's JSON if the content type says JSON, with what
        may stand in front of it."""
        if payload[:1] not in HEADER_FIRST_BYTES:
            return self.validate_unframed(payload, contenttype)
        result = self._alone.validate(payload, contenttype)
        return result.value, result.violations

    @functools.cached_property
    def _alone(self) -> Versions:
        return Versions(self, "")

    def frame(self, payload: bytes, contenttype: str, id_bytes: int) -> Frame | None:
        """The header of a registry. Neither a message nor JSON starts with a zero byte: no field has number 0."""
        return registry_frame(payload, id_bytes, is_sure=True)

    def validate_unframed(self, payload: bytes, contenttype: str) -> tuple[Any, list[Violation]]:
        """Validate a payload as one without a header."""
        if contenttype and _is_json(contenttype):
            return self._validate_json(payload)
        try:
            message = self._parse(payload)
            is_complete = self._is_complete
            if is_complete is None or is_complete(message):
                return self._read(message), []
        except _REFUSALS:
            pass
        except RecursionError:
            return None, [_TOO_DEEP]
        return self._validate_slowly(payload)

    def validate_framed(self, payload: bytes, start: int, contenttype: str) -> tuple[Any, list[Violation]]:
        """Validate what stands behind a header: JSON, or the indexes of a message type and the message."""
        if contenttype and _is_json(contenttype):
            return self._validate_json(payload[start:])
        indexes = wire_format.indexes_of(payload, start)
        if indexes is None:
            return self._validate_slowly(payload)
        violations = self._wrong_message(indexes)
        return (None, violations) if violations else self.validate_unframed(payload[indexes.end :], "")

    def strip_header(self, payload: bytes, start: int) -> bytes | None:
        """The message behind a header; None unless it is one of this type."""
        if payload[start : start + 1] == b"\0" and self._is_first:
            return payload[start + 1 :]
        indexes = wire_format.indexes_of(payload, start)
        return None if indexes is None or self._wrong_message(indexes) else payload[indexes.end :]

    def behind_id(self, contenttype: str) -> bytes:
        """The indexes of the message in its file."""
        if contenttype and _is_json(contenttype):
            return b""
        indexes: list[int] = []
        message: Descriptor | None = self._descriptor
        while message is not None:
            home = message.containing_type
            siblings = message.file.message_types_by_name.values() if home is None else home.nested_types
            indexes.append([one.full_name for one in siblings].index(message.full_name))
            message = home
        return wire_format.written_indexes(indexes[::-1])

    def reader_for(self, writer: PayloadSchema) -> FramedReader | None:
        """How this schema reads what another wrote: by the other, under the names that members have here."""
        if not isinstance(writer, Protobuf):
            return writer if isinstance(writer, FramedSchema) else None
        rename = renaming(writer._compiled, writer._descriptor, self._compiled, self._descriptor)
        return writer if rename is None else RenamingReader(writer, rename)

    def full_name(self) -> str:
        """The name of the message with its package."""
        return self._descriptor.full_name

    def fingerprint(self) -> bytes:
        """Empty: Protobuf has no fingerprints."""
        return b""

    def has_fast_path(self, contenttype: str) -> bool:
        """Whether `fill` is for payloads of this content type: those in binary form."""
        return not _is_json(contenttype)

    def fill(self, payload: bytes) -> tuple[Any, bool]:
        """A valid payload in the shape of its columns and True; (None, False) when `validate` has to decide."""
        try:
            return self._fill(payload), True
        except _NOT_FILLED:
            return None, False

    def fill_all(self, payloads: Sequence[Any], fallback: set[int]) -> list[Any]:
        """Read payloads into columns; add the indexes of those that `validate` has to decide to `fallback`."""
        return decode_all(self._fill, payloads, fallback, _NOT_FILLED)

    def fill_all_and_undeclared(
        self, payloads: Sequence[Any], fallback: set[int], undeclared: dict[int, str]
    ) -> list[Any]:
        """`fill_all` that also puts undeclared fields into `undeclared`, by index."""
        refused: set[int] = set()
        values = decode_all(self._fill_closed, payloads, refused, _NOT_FILLED)
        for index in tuple(refused):
            values[index], is_filled = self.fill(payloads[index])
            if is_filled:
                refused.discard(index)
                left = self.undeclared(bytes(payloads[index]), "")
                if left is not None:
                    undeclared[index] = left
        fallback |= refused
        return values

    def undeclared(self, payload: bytes, contenttype: str = "") -> str | None:
        """The unknown fields of a valid payload as JSON text; None where there are none. JSON has no such fields."""
        if contenttype and _is_json(contenttype):
            return None
        try:
            left = unknown_fields(self._parse(payload))
        except DecodeError:  # of a version that this one does not read
            return None
        return None if left is None else msgspec.json.encode(left).decode()

    def accepts_all(self, payloads: Sequence[bytes], contenttype: str, fallback: set[int]) -> None:
        """Add the indexes of payloads that do not surely fit; columns can hold whatever fits."""
        if self._checker is None or _is_json(contenttype):
            fallback.update(range(len(payloads)))
        else:
            self._checker.accepts_all(payloads, fallback)

    def encode(self, value: Any, contenttype: str = "") -> bytes:
        """The binary form of a value, or Protobuf's JSON if the content type says JSON.

        SchemaRefused, with a pointer, for a value that no message can hold.
        """
        message, violations = self._written(value)
        if violations:
            first = violations[0]
            raise SchemaRefused(
                f"the data does not fit: expected {first.expected}, found {first.found}.", place=first.at or "/"
            )
        if contenttype and _is_json(contenttype):
            try:
                return MessageToJson(message, indent=None, descriptor_pool=self._descriptor.file.pool).encode()
            except (SerializeToJsonError, ValueError, TypeError) as error:
                raise SchemaRefused(f"the data has no form in JSON: {error}.") from None
        payload: bytes = self._class.SerializePartialToString(message)
        return payload

    def columns(self) -> ColumnType:
        """The columns values of this schema fill."""
        return self._columns

    def sample(self, rng: random.Random) -> Any:
        """A value that fits; SchemaRefused when a message needs itself."""
        return samples.sample(self._compiled, self._descriptor, rng)

    @functools.cached_property
    def _columns(self) -> ColumnType:
        return columns.columns(self._compiled, self._descriptor)

    @functools.cached_property
    def _is_complete(self) -> Callable[[Any], bool] | None:
        """The function that tells whether required members are there; None where nothing is required."""
        required = [
            (message.full_name, field.name)
            for message in self._compiled.reachable(self._descriptor)
            for field in message.fields
            if field.is_required
        ]
        if not required:
            return None
        if len(required) == 1 and required[0][0] == self._descriptor.full_name:
            # Asking for one member is three times faster than asking for all.
            has, name = self._class.HasField, required[0][1]
            return lambda message: has(message, name)
        whole: Callable[[Any], bool] = self._class.IsInitialized
        return whole

    @functools.cached_property
    def _checker(self) -> BatchChecker | None:
        return batch_checker(self._compiled, self._descriptor)

    @functools.cached_property
    def _read(self) -> Read:
        return MessageReader(self._compiled, strict=True).compile(self._descriptor)

    @functools.cached_property
    def _fill(self) -> Read:
        """The function that reads payloads into the shape of their columns, or raises."""
        return self._filling(self._read)

    @functools.cached_property
    def _fill_closed(self) -> Read:
        """The function that reads payloads into the shape of their columns, or raises, also for undeclared fields."""
        read = MessageReader(self._compiled, strict=True, closed=True).compile(self._descriptor)
        return self._filling(read)

    def _filling(self, read: Read) -> Read:
        parse, is_complete = self._parse, self._is_complete
        finish = columns.compile_finisher(self._columns)

        def fill(payload: bytes) -> Any:
            message = parse(payload)
            if is_complete is not None and not is_complete(message):
                raise Suspicious
            value = read(message)
            return value if finish is None or value is None else finish(value)

        return fill

    @functools.cached_property
    def _read_loosely(self) -> Read:
        return MessageReader(self._compiled, strict=False).compile(self._descriptor)

    def _validate_slowly(self, payload: bytes) -> tuple[Any, list[Violation]]:
        try:
            message = self._parse(payload)
            missing = wire_format.missing_members(message)
            return (None, missing) if missing else (self._read(message), [])
        except _REFUSALS:
            return self._explained(payload)
        except RecursionError:
            return None, [_TOO_DEEP]

    def _explained(self, payload: bytes) -> tuple[Any, list[Violation]]:
        violations = wire_format.explain(payload, self._descriptor, self._compiled)
        if violations:
            return None, violations
        try:
            return self._read_loosely(self._parse(payload)), []
        except DecodeError:
            expected = f"a {self._descriptor.name} in Protobuf's binary form"
            return None, [Violation("", "payload_not_protobuf", expected, "other bytes")]
        except well_known_types.OutOfRange as error:
            return None, [Violation("", "payload_range", "times and durations in their range", str(error))]
        except RecursionError:
            return None, [_TOO_DEEP]

    @functools.cached_property
    def _is_first(self) -> bool:
        return _followed(self._compiled, (0,)) == self._descriptor.full_name

    def _wrong_message(self, indexes: wire_format.Indexes) -> list[Violation]:
        found = _followed(self._compiled, indexes.numbers)
        if found == self._descriptor.full_name:
            return []
        return [
            Violation("", "payload_wire_header", f"a {self._descriptor.full_name}", found or "no message of the schema")
        ]

    def _validate_json(self, payload: bytes) -> tuple[Any, list[Violation]]:
        try:
            value = json.loads(payload.decode(), object_pairs_hook=_unique, parse_constant=_no_constant)
        except (ValueError, RecursionError) as error:
            found = str(error).splitlines()[0] if str(error) else type(error).__name__
            return None, [Violation("", "payload_not_json", "JSON", found[:200])]
        try:
            message, violations = self._written(value)
            violations = violations or wire_format.missing_members(message)
            return (value, violations) if violations else (self._read_loosely(message), [])
        except RecursionError:
            return None, [_TOO_DEEP]

    def _written(self, value: Any) -> tuple[Any, list[Violation]]:
        message = self._class()
        writer = MessageWriter(self._compiled)
        writer.write(message, value)
        return message, writer.violations


class RenamingReader:
    """Payloads that one version wrote, under the names of another."""

    def __init__(self, writer: Protobuf, rename: Rename) -> None:
        self._writer = writer
        self._rename = rename

    def validate_framed(self, payload: bytes, start: int, contenttype: str) -> tuple[Any, list[Violation]]:
        """Validate what stands behind a header."""
        value, violations = self._writer.validate_framed(payload, start, contenttype)
        return (None, violations) if violations else (self._rename(value), [])


def parse(source: SchemaDocument) -> Protobuf:
    """The schema, ready for payloads."""
    schema = compile_schema(source)
    return Protobuf(schema, root_message(schema.file, source.fragment))


def check(source: SchemaDocument) -> None:
    """Raise SchemaRefused unless the document is a Protobuf schema; with a fragment, one that has that message."""
    schema = compile_schema(source)
    if source.fragment:
        root_message(schema.file, source.fragment)


def readable(writer: SchemaDocument, reader: SchemaDocument) -> Verdict:
    """Whether every payload the writer's schema produces can be read with the reader's."""
    return compare.readable(compile_schema(writer), compile_schema(reader), writer.fragment, reader.fragment)


_TOO_DEEP = Violation("", "payload_nesting", f"nested at most {wire_format.DEEPEST} deep", "nested deeper")


@functools.lru_cache(256)
def _is_json(contenttype: str) -> bool:
    media_type = contenttype.partition(";")[0].strip().lower()
    return media_type.endswith(("/json", "+json"))


def _followed(schema: CompiledSchema, indexes: tuple[int, ...]) -> str:
    messages: list[Any] = list(schema.file.message_types_by_name.values())
    name = ""
    for index in indexes:
        if index >= len(messages):
            return ""
        name, messages = messages[index].full_name, list(messages[index].nested_types)
    return name


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a member occurs twice in one object")
    return found


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")

"""The versions of a payload schema: which of them wrote a payload, and how it is decoded then.

A payload is decoded with the version that it was written with, or not at all. Only where nothing tells which that was,
and there is only one, that one is used.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from postroom.errors import FormatUnknown, SchemaRefused
from postroom.formats.column_types import ColumnType
from postroom.formats.fill_columns import json_text
from postroom.formats.schema import (
    Frame,
    FramedReader,
    FramedSchema,
    LenientSchema,
    OpenSchema,
    PayloadSchema,
    Violation,
)
from postroom.formats.schema_id_framing import GUID_LENGTH, ID_BYTES, guid_in
from postroom.formats.undeclared_members import undeclared_value

HEADER_FIRST_BYTES = (b"\0", b"\xc3")
"""The first bytes of headers."""

# Versions that are parsed to decode payloads, or for their fingerprints.
MOST_WRITERS = 1_000
# Versions that are tried on a payload behind bytes that may or may not be a header.
_MOST_TRIED = 20
_MOST_SHOWN = 10


class Version(msgspec.Struct, frozen=True):
    """A version of a schema: its name, the ids that registries gave it, and what parses it and tells its GUID."""

    name: str
    ids: tuple[int | str, ...]
    parse: Callable[[], PayloadSchema]
    guid: Callable[[], str] = str


class WriterVersion(msgspec.Struct, frozen=True, gc=False):
    """The version that wrote a payload, and the id or fingerprint in front of it."""

    version: str
    id: str


class ReadPlan(NamedTuple):
    """How to decode a payload: without a header (no writer), behind the header of a writer, or not at all (problem)."""

    writer: WriterVersion | None = None
    start: int = 0
    problem: Violation | None = None


class Validated(NamedTuple):
    """The value of a payload or its violations, the version that wrote it if a header says so, and the only schema that
    was involved, if it was one."""

    value: Any
    violations: list[Violation]
    writer: WriterVersion | None
    schema: PayloadSchema | None


UNFRAMED = ReadPlan()


class Versions:
    """A schema that decodes payloads, and all versions that may have written them."""

    def __init__(
        self, reader: PayloadSchema, own: str, versions: Sequence[Version] = (), id_bytes: int = ID_BYTES
    ) -> None:
        self.reader = reader
        self.own = own
        self.header_length = 1 + id_bytes
        """How long the headers are that have ids."""
        self._id_bytes = id_bytes
        self._framed = reader if isinstance(reader, FramedSchema) else None
        self._open = reader if isinstance(reader, OpenSchema) else None
        self._versions = {version.name: version for version in versions} or {own: Version(own, (), lambda: reader)}
        self._parsed: dict[str, PayloadSchema | Violation] = {own: reader}
        self._framed_readers: dict[str, FramedReader | Violation] = {}
        self._plans = {} if self._framed is None else self._plans_by_header()
        self.headers_first = len(self._versions) > 1 or bool(self._plans)
        """Whether to look for a header before decoding a payload without one."""

    def validate(self, payload: bytes, contenttype: str = "", header: bytes = b"") -> Validated:
        """Decode a payload and validate it, with the version that wrote it, which a header of the message may name."""
        if header and self._framed is not None:
            plan, payload = self._plan_for_stated(header), header + payload
        else:
            plan = self.read_plan(payload, contenttype) if payload[:1] in HEADER_FIRST_BYTES else UNFRAMED
        if plan.problem is not None:
            return Validated(None, [plan.problem], None, self.reader)
        if plan.writer is None:
            validate = self.reader.validate if self._framed is None else self._framed.validate_unframed
            return Validated(*validate(payload, contenttype), None, self.reader)
        reading = self.framed_reader(plan.writer)
        if isinstance(reading, Violation):
            return Validated(None, [reading], None, self.reader)
        schema: Any = self._parsed[plan.writer.version]
        alone: Any = schema if schema is reading else None
        return Validated(*reading.validate_framed(payload, plan.start, contenttype), plan.writer, alone)

    def knows(self, payload: bytes, header: bytes = b"") -> bool:
        """Whether what stands in front of a payload, or in a header of the message, is the id, the GUID or the
        fingerprint of a version."""
        stated = header or payload
        if stated[: self.header_length] in self._plans:
            return True
        if header:
            return guid_in(header) in self._guids
        if self._framed is None or payload[:1] == b"\0":
            return False
        frame = self._framed.frame(payload, "", self._id_bytes)
        return frame is not None and isinstance(frame.id, bytes) and frame.id in self._fingerprints

    def header(self, contenttype: str) -> bytes:
        """What stands in front of payloads of the reader's own version; empty where that lists no id."""
        plans = self._plans.items()
        ids = [header for header, plan in plans if plan.writer is not None and plan.writer.version == self.own]
        return ids[0] + self._framed.behind_id(contenttype) if ids and self._framed is not None else b""

    def undeclared(
        self, payload: bytes, contenttype: str, writer: WriterVersion | None, header: bytes = b""
    ) -> str | None:
        """The members of a valid payload that the reader's columns do not have, as JSON; None for none."""
        if writer is not None and header:
            start = self._plan_for_stated(header).start
            return self.undeclared_framed(header + payload, start, contenttype, writer)
        if writer is not None:
            return self.undeclared_framed(payload, self.read_plan(payload, contenttype).start, contenttype, writer)
        return None if self._open is None else self._open.undeclared(payload, contenttype)

    def undeclared_framed(self, payload: bytes, start: int, contenttype: str, writer: WriterVersion) -> str | None:
        """The undeclared members of a payload that a version wrote behind a header."""
        if self._open is not None and self._framed is not None:
            bare = self._framed.strip_header(payload, start)
            return None if bare is None else self._open.undeclared(bare, contenttype)
        schema = self._schema(writer.version)
        if writer.version == self.own or not isinstance(schema, FramedSchema):
            return None
        # Decoding with another schema skips what only the writer has, valid or not.
        if isinstance(schema, LenientSchema):
            value = schema.decode_leniently(payload, start, contenttype)
        else:
            value = schema.validate_framed(payload, start, contenttype)[0]
        left = undeclared_value(self._columns, value)
        return None if left is None else json_text(left)

    @functools.cached_property
    def _columns(self) -> ColumnType:
        return self.reader.columns()

    def plan_for_header(self, header: bytes) -> ReadPlan | None:
        """How to decode payloads behind a header whose id a version lists."""
        return self._plans.get(header)

    def read_plan(self, payload: bytes, contenttype: str) -> ReadPlan:
        """How to decode a payload that begins like a header."""
        known = self._plans.get(payload[: self.header_length])
        if known is not None:
            return known
        reader = self._framed
        frame = None if reader is None else reader.frame(payload, contenttype, self._id_bytes)
        if reader is None or frame is None:
            return UNFRAMED
        if isinstance(frame.id, bytes):
            return self._plan_for_fingerprint(
                frame.id, frame.start, lambda: reader.validate_unframed(payload, contenttype)[1]
            )
        if frame.is_sure:
            return self._plan_for_only_version(str(frame.id), frame.start)
        if not reader.validate_unframed(payload, contenttype)[1]:
            # Ambiguous: it decodes with and without a header, where the catalog has ids or versions at all.
            both = self.headers_first and frame.is_likely and self._fits_behind(frame, payload, contenttype)
            return self._unknown(f"the schema id {frame.id}") if both else UNFRAMED
        if frame.is_likely or self._fits_behind(frame, payload, contenttype):
            return self._plan_for_only_version(str(frame.id), frame.start)
        return UNFRAMED

    def framed_reader(self, writer: WriterVersion) -> FramedReader | Violation:
        """The reader of what a version wrote, made once; or why there is none."""
        if writer.version not in self._framed_readers:
            self._framed_readers[writer.version] = self._make_framed_reader(writer)
        return self._framed_readers[writer.version]

    def _plan_for_fingerprint(self, fingerprint: bytes, start: int, wrong: Callable[[], list[Violation]]) -> ReadPlan:
        """How to decode a payload with a fingerprint; `wrong` returns its violations without a header."""
        name = self._fingerprints.get(fingerprint)
        if name is not None:
            return ReadPlan(WriterVersion(name, fingerprint.hex()), start)
        return self._unknown(f"the schema fingerprint {fingerprint.hex()}") if wrong() else UNFRAMED

    def _plan_for_stated(self, header: bytes) -> ReadPlan:
        """How to decode a payload whose schema a header of the message names, by its id or its GUID."""
        known = self._plans.get(header[: self.header_length])
        if known is not None:
            return known
        guid = guid_in(header)
        if guid:
            name = self._guids.get(guid)
            found = WriterVersion(name, guid) if name is not None else None
            return ReadPlan(found, GUID_LENGTH) if found else self._plan_for_only_version(guid, GUID_LENGTH)
        if header[:1] == b"\0" and len(header) >= self.header_length:
            number = int.from_bytes(header[1 : self.header_length])
            return self._plan_for_only_version(str(number), self.header_length)
        return self._unknown(f"a header that names no schema ({header[:_MOST_SHOWN].hex()})")

    def _plan_for_only_version(self, schema_id: str, start: int) -> ReadPlan:
        """How to decode a payload whose id no version lists: by the only version, if that lists none."""
        if len(self._versions) > 1 or self._plans:
            return self._unknown(f"the schema id {schema_id}")
        (only,) = self._versions
        return ReadPlan(WriterVersion(only, schema_id), start)

    def _fits_behind(self, frame: Frame, payload: bytes, contenttype: str) -> bool:
        for name in [self.own, *(name for name in self._versions if name != self.own)][:_MOST_TRIED]:
            schema = self._schema(name)
            if isinstance(schema, FramedSchema) and not schema.validate_framed(payload, frame.start, contenttype)[1]:
                return True
        return False

    def _make_framed_reader(self, writer: WriterVersion) -> FramedReader | Violation:
        schema = self._schema(writer.version)
        if isinstance(schema, Violation) or self._framed is None:
            return schema if isinstance(schema, Violation) else _unusable(writer.version, "it has no headers")
        if writer.version == self.own:
            return self._framed
        try:
            found = self._framed.reader_for(schema)
        except SchemaRefused as error:
            return _unusable(writer.version, str(error))
        return found or _unusable(writer.version, "its format has no headers")

    def _schema(self, name: str) -> PayloadSchema | Violation:
        if name not in self._parsed:
            if len(self._parsed) >= MOST_WRITERS:
                return _unusable(name, f"payloads of more than {MOST_WRITERS:,} versions came")
            try:
                self._parsed[name] = self._versions[name].parse()
            except (SchemaRefused, FormatUnknown) as error:
                self._parsed[name] = _unusable(name, str(error))
        return self._parsed[name]

    def _plans_by_header(self) -> dict[bytes, ReadPlan]:
        """How to decode payloads whose header has an id that a version lists; ids that several list are left out."""
        found: dict[bytes, ReadPlan | None] = {}
        for version in self._versions.values():
            for number in dict.fromkeys(version.ids):
                if isinstance(number, int) and 0 <= number < 1 << 8 * self._id_bytes:
                    header = b"\0" + number.to_bytes(self._id_bytes)
                    plan = ReadPlan(WriterVersion(version.name, str(number)), self.header_length)
                    found[header] = None if header in found else plan
        return {header: plan for header, plan in found.items() if plan is not None}

    @functools.cached_property
    def _guids(self) -> dict[str, str]:
        """Versions by their GUIDs; of those that say the same, the reader's own."""
        own = [self._versions[self.own]] if self.own in self._versions else []
        found: dict[str, str] = {}
        for version in [*own, *self._versions.values()][:MOST_WRITERS]:
            guid = version.guid()
            if guid:
                found.setdefault(guid, version.name)
        return found

    @functools.cached_property
    def _fingerprints(self) -> dict[bytes, str]:
        found: dict[bytes, str] = {}
        for name in [self.own, *self._versions][:MOST_WRITERS]:
            schema = self._schema(name)
            if isinstance(schema, FramedSchema) and schema.fingerprint():
                found.setdefault(schema.fingerprint(), name)
        return found

    def _unknown(self, found: str) -> ReadPlan:
        return ReadPlan(problem=Violation("", "schema_id_unknown", self._shown, found))

    @functools.cached_property
    def _shown(self) -> str:
        names = [_shown(version) for version in sorted(self._versions.values(), key=_order)[:_MOST_SHOWN]]
        return ", ".join(names + (["…"] if len(self._versions) > _MOST_SHOWN else []))


def _order(version: Version) -> tuple[bool, int, str]:
    is_number = version.name.isdecimal() and len(version.name) < 20
    return not is_number, int(version.name) if is_number else 0, version.name


def _shown(version: Version) -> str:
    ids = ", ".join(str(number) for number in version.ids[:_MOST_SHOWN])
    return f"version {version.name or '1'} ({f'schemaids {ids}' if ids else 'no schemaids'})"


def _unusable(name: str, why: str) -> Violation:
    return Violation("", "schema_unusable", "a schema that can be used", f"version {name}: {why}")

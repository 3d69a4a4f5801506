"""The versions of a payload schema: which of them wrote a payload, and how it is read then.

A payload is read with the schema that it was written with, or not at all. Only where nothing says which that was, and
there is only one it could be, that one is taken.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import msgspec

from postroom.errors import FormatUnknown, SchemaRefused
from postroom.formats.column_types import ColumnType
from postroom.formats.fill_columns import json_text
from postroom.formats.schema import Frame, FramedSchema, LenientSchema, OpenSchema, PayloadSchema, Reading, Violation
from postroom.formats.schema_id_framing import HEADER
from postroom.formats.undeclared_members import left_of

FIRST_BYTES = (b"\0", b"\xc3")
"""What headers begin with."""

# Versions that are parsed to read payloads, or for their fingerprints.
MOST_WRITERS = 1_000
# Versions that are tried on what stands behind a header which may be none.
_MOST_TRIED = 20
_MOST_SHOWN = 10


class Version(msgspec.Struct, frozen=True):
    """A version of a schema: its name, the ids that registries gave it, and what parses it."""

    name: str
    ids: tuple[int | str, ...]
    parse: Callable[[], PayloadSchema]


class WriterVersion(msgspec.Struct, frozen=True, gc=False):
    """The version that wrote a payload, and the id or fingerprint in front of it."""

    version: str
    id: str


class Way(NamedTuple):
    """How a payload is to be read: as it stands, as what a writer wrote behind a header, or not at all."""

    writer: WriterVersion | None = None
    start: int = 0
    problem: Violation | None = None


class Judged(NamedTuple):
    """What became of a payload, which version wrote it if a header says so, and by which schema alone it was judged."""

    value: Any
    violations: list[Violation]
    writer: WriterVersion | None
    schema: PayloadSchema | None


AS_IT_STANDS = Way()


class Versions:
    """A schema that reads payloads, and all versions that may have written them."""

    def __init__(self, reader: PayloadSchema, own: str, versions: Sequence[Version] = ()) -> None:
        self.reader = reader
        self.own = own
        self._framed = reader if isinstance(reader, FramedSchema) else None
        self._open = reader if isinstance(reader, OpenSchema) else None
        self._versions = {version.name: version for version in versions} or {
            own: Version(own, (), lambda: reader),
        }
        self._parsed: dict[str, PayloadSchema | Violation] = {own: reader}
        self._readings: dict[str, Reading | Violation] = {}
        self._ways = {} if self._framed is None else self._named_ways()
        self._fingerprints: dict[bytes, str] | None = None
        self.headers_first = len(self._versions) > 1 or bool(self._ways)
        """Whether a header is looked for before a payload is read as it stands."""

    def judge(self, payload: bytes, contenttype: str = "") -> Judged:
        """Decode a payload and validate it, with the version that wrote it."""
        way = self.way(payload, contenttype) if payload[:1] in FIRST_BYTES else AS_IT_STANDS
        if way.problem is not None:
            return Judged(None, [way.problem], None, self.reader)
        if way.writer is None:
            judge = self.reader.judge if self._framed is None else self._framed.judge_bare
            return Judged(*judge(payload, contenttype), None, self.reader)
        reading = self.reading(way.writer)
        if isinstance(reading, Violation):
            return Judged(None, [reading], None, self.reader)
        schema: Any = self._parsed[way.writer.version]
        alone: Any = schema if schema is reading else None
        return Judged(*reading.judge_behind(payload, way.start, contenttype), way.writer, alone)

    def undeclared(self, payload: bytes, contenttype: str, writer: WriterVersion | None) -> str | None:
        """What a valid payload has and the columns of the reader do not, as JSON text; None for nothing."""
        if writer is not None:
            return self.undeclared_behind(payload, self.way(payload, contenttype).start, contenttype, writer)
        return None if self._open is None else self._open.undeclared(payload, contenttype)

    def undeclared_behind(self, payload: bytes, start: int, contenttype: str, writer: WriterVersion) -> str | None:
        """The undeclared part of what a version wrote behind a header."""
        if self._open is not None and self._framed is not None:
            bare = self._framed.bare(payload, start)
            return None if bare is None else self._open.undeclared(bare, contenttype)
        schema = self._schema(writer.version)
        if writer.version == self.own or not isinstance(schema, FramedSchema):
            return None
        # Reading with another schema passes over what only the writer has, whatever it stands for.
        if isinstance(schema, LenientSchema):
            value = schema.shown_behind(payload, start, contenttype)
        else:
            value = schema.judge_behind(payload, start, contenttype)[0]
        left = left_of(self._columns, value)
        return None if left is None else json_text(left)

    @functools.cached_property
    def _columns(self) -> ColumnType:
        return self.reader.columns()

    def known(self, header: bytes) -> Way | None:
        """How payloads are read behind a header whose id a version lists."""
        return self._ways.get(header)

    def way(self, payload: bytes, contenttype: str) -> Way:
        """How a payload is to be read that begins like a header."""
        known = self._ways.get(payload[:HEADER])
        if known is not None:
            return known
        reader = self._framed
        frame = None if reader is None else reader.frame(payload, contenttype)
        if reader is None or frame is None:
            return AS_IT_STANDS
        if isinstance(frame.id, bytes):
            return self._way_of_fingerprint(frame.id, frame.start, lambda: reader.judge_bare(payload, contenttype)[1])
        if frame.is_sure:
            return self._way_of_only(frame.id, frame.start)
        if not reader.judge_bare(payload, contenttype)[1]:
            # Two readings, and nothing says which is meant, where the catalog speaks of ids or versions at all.
            both = self.headers_first and frame.is_likely and self._fits_behind(frame, payload, contenttype)
            return self._unknown(f"the schema id {frame.id}") if both else AS_IT_STANDS
        if frame.is_likely or self._fits_behind(frame, payload, contenttype):
            return self._way_of_only(frame.id, frame.start)
        return AS_IT_STANDS

    def reading(self, writer: WriterVersion) -> Reading | Violation:
        """How what a version wrote is read, made once; or why it cannot be."""
        if writer.version not in self._readings:
            self._readings[writer.version] = self._make_reading(writer)
        return self._readings[writer.version]

    def _way_of_fingerprint(self, fingerprint: bytes, start: int, wrong: Callable[[], list[Violation]]) -> Way:
        """The way that a fingerprint shows; `wrong` tells what is wrong with the payload as it stands."""
        if self._fingerprints is None:
            self._fingerprints = self._all_fingerprints()
        name = self._fingerprints.get(fingerprint)
        if name is not None:
            return Way(WriterVersion(name, fingerprint.hex()), start)
        return self._unknown(f"the schema fingerprint {fingerprint.hex()}") if wrong() else AS_IT_STANDS

    def _way_of_only(self, number: int, start: int) -> Way:
        """The way where an id says nothing: by the only version, if there is only one."""
        if len(self._versions) > 1:
            return self._unknown(f"the schema id {number}")
        return Way(WriterVersion(self.own, str(number)), start)

    def _fits_behind(self, frame: Frame, payload: bytes, contenttype: str) -> bool:
        for name in [self.own, *(name for name in self._versions if name != self.own)][:_MOST_TRIED]:
            schema = self._schema(name)
            if isinstance(schema, FramedSchema) and not schema.judge_behind(payload, frame.start, contenttype)[1]:
                return True
        return False

    def _make_reading(self, writer: WriterVersion) -> Reading | Violation:
        schema = self._schema(writer.version)
        if isinstance(schema, Violation) or self._framed is None:
            return schema if isinstance(schema, Violation) else _unusable(writer.version, "it has no headers")
        if writer.version == self.own:
            return self._framed
        try:
            found = self._framed.written_by(schema)
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

    def _named_ways(self) -> dict[bytes, Way]:
        """How payloads are read whose header has an id that a version lists; what several list says nothing."""
        found: dict[bytes, Way | None] = {}
        for version in self._versions.values():
            for number in set(version.ids):
                if isinstance(number, int) and 0 <= number < 2**32:
                    header = b"\0" + number.to_bytes(4)
                    way = Way(WriterVersion(version.name, str(number)), HEADER)
                    found[header] = None if header in found else way
        return {header: way for header, way in found.items() if way is not None}

    def _all_fingerprints(self) -> dict[bytes, str]:
        found: dict[bytes, str] = {}
        for name in [self.own, *self._versions][:MOST_WRITERS]:
            schema = self._schema(name)
            if isinstance(schema, FramedSchema) and schema.fingerprint():
                found.setdefault(schema.fingerprint(), name)
        return found

    def _unknown(self, found: str) -> Way:
        return Way(problem=Violation("", "schema_id_unknown", self._shown, found))

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

"""Avro: schemas, payloads in its binary and JSON encodings, and reading one schema's payloads with another."""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Sequence
from typing import Any

from postroom.errors import FormatUnknown, SchemaRefused
from postroom.formats.avro import columns, payload_framing, render_schema, samples
from postroom.formats.avro.codec import binary_reader, binary_writer, compiled_reader, json_codec, resolving_reader
from postroom.formats.avro.compat import compare
from postroom.formats.avro.named_references import Neighbours
from postroom.formats.avro.names import is_name
from postroom.formats.avro.parse_schema import Parser
from postroom.formats.avro.types import AvroType, simple_name
from postroom.formats.avro.value_errors import Misfit
from postroom.formats.batch_decode import MemberColumns, decode_all
from postroom.formats.column_types import ColumnType, StructOf
from postroom.formats.schema import Frame, FramedReader, FramedSchema, PayloadSchema, SchemaDocument, Verdict, Violation
from postroom.formats.schema_id_framing import registry_frame
from postroom.formats.schema_text import load_json
from postroom.formats.schema_versions import HEADER_FIRST_BYTES, Versions

_VERSION = re.compile(r"(?:1(?:\.(\d+))?(?:\.\d+)?)?\Z")
# From this version on, the default of a union may fit any of its types.
_ANY_BRANCH = 12
_MEDIA_TYPE_OF_JSON = re.compile(r"\s*[^/;]+/(?:[^;]*\+)?json\s*(?:;|\Z)", re.IGNORECASE)


class Avro:
    """One parsed Avro schema."""

    def __init__(self, schema: AvroType) -> None:
        self.type = schema

    @functools.cached_property
    def _read(self) -> binary_reader.Read:
        return binary_reader.compile_reader(self.type)

    @functools.cached_property
    def _read_leniently(self) -> binary_reader.Read:
        return binary_reader.compile_lenient_reader(self.type)

    @functools.cached_property
    def _fingerprint(self) -> bytes:
        return render_schema.fingerprint(self.type)

    @functools.cached_property
    def _columns(self) -> ColumnType:
        return columns.columns(self.type)

    def validate(self, payload: bytes, contenttype: str = "") -> tuple[Any, list[Violation]]:
        """Decode and validate a payload: Avro's JSON encoding if the content type is one of JSON, else binary, with
        what may stand in front of it."""
        if payload[:1] not in HEADER_FIRST_BYTES:
            return self.validate_unframed(payload, contenttype)
        result = self._alone.validate(payload, contenttype)
        return result.value, result.violations

    @functools.cached_property
    def _alone(self) -> Versions:
        return Versions(self, "")

    def frame(self, payload: bytes, contenttype: str, id_bytes: int) -> Frame | None:
        """What stands in front of a payload."""
        if contenttype and _is_json(contenttype):
            return registry_frame(payload, id_bytes, is_sure=True)
        return payload_framing.frame_of(payload, id_bytes)

    def validate_unframed(self, payload: bytes, contenttype: str) -> tuple[Any, list[Violation]]:
        """Validate a payload as one without a header."""
        if contenttype and _is_json(contenttype):
            return json_codec.read_json(self.type, payload)
        return payload_framing.read_to_end(self._read, payload, 0)

    def validate_framed(self, payload: bytes, start: int, contenttype: str) -> tuple[Any, list[Violation]]:
        """Validate what stands behind a header."""
        if contenttype and _is_json(contenttype):
            return json_codec.read_json(self.type, payload[start:])
        return payload_framing.read_to_end(self._read, payload, start)

    def decode_leniently(self, payload: bytes, start: int, contenttype: str) -> Any:
        """The value behind a header; values of logical types stay as they are where they stand for nothing."""
        value, violations = self.validate_framed(payload, start, contenttype)
        if not violations or _is_json(contenttype):
            return value
        return payload_framing.read_to_end(self._read_leniently, payload, start)[0]

    def strip_header(self, payload: bytes, start: int) -> bytes | None:
        """What stands behind a header."""
        return payload[start:]

    def behind_id(self, contenttype: str) -> bytes:
        """Nothing: a payload follows its id."""
        return b""

    def reader_for(self, writer: PayloadSchema) -> FramedReader | None:
        """How this schema reads what another wrote."""
        if isinstance(writer, Avro):
            return ResolvedReader(writer, self.type, self._columns)
        return writer if isinstance(writer, FramedSchema) else None

    def full_name(self) -> str:
        """The full name of a record, an enum or a fixed type."""
        return getattr(self.type, "name", "")

    def fingerprint(self) -> bytes:
        """The fingerprint of the schema's canonical form."""
        return self._fingerprint

    def has_fast_path(self, contenttype: str) -> bool:
        """Whether `fill` is for payloads of this content type: those in binary."""
        return not (contenttype and _is_json(contenttype))

    def fill(self, payload: bytes) -> tuple[Any, bool]:
        """A binary payload in the shape of its columns and True; (None, False) when `validate` has to decide."""
        fallback: set[int] = set()
        found = self.fill_all([payload], fallback)
        return (None, False) if fallback else (found[0], True)

    def fill_all(self, payloads: Sequence[Any], fallback: set[int]) -> list[Any] | MemberColumns:
        """Read binary payloads into columns; add the indexes of those that `validate` has to decide to `fallback`."""
        if self._fast is None or not isinstance(self._columns, StructOf):
            fallback.update(range(len(payloads)))
            return [None] * len(payloads)
        return _filled(self._fast, self._columns, payloads, fallback)

    @functools.cached_property
    def _fast(self) -> compiled_reader.FastRead | None:
        return compiled_reader.compile_fast_reader(self.type, self._columns)

    def encode(self, value: Any, contenttype: str = "") -> bytes:
        """The value in the plain binary encoding, or in Avro's JSON if the content type is one of JSON.

        SchemaRefused when it does not fit.
        """
        write = json_codec.write_json if _is_json(contenttype) else binary_writer.write
        try:
            return write(self.type, value)
        except Misfit as misfit:
            raise SchemaRefused(f"the data does not fit its schema: {misfit}.") from None
        except RecursionError:
            raise SchemaRefused("the data is nested too deeply.") from None

    def columns(self) -> ColumnType:
        """The columns values of this schema fill."""
        return self._columns

    def sample(self, rng: random.Random) -> Any:
        """A value that fits; SchemaRefused when the type has none."""
        return samples.sample(self.type, rng)


class ResolvedReader:
    """Payloads that one schema wrote, read with another."""

    def __init__(self, writer: Avro, reader: AvroType, columns: ColumnType) -> None:
        self._writer = writer
        self._columns = columns
        self._read = resolving_reader.resolving_reader(writer.type, reader)
        self._fast = compiled_reader.compile_resolving_fast_reader(writer.type, reader, columns)

    def has_fast_path(self, contenttype: str) -> bool:
        """Whether `fill_all` is for payloads of this content type: those in binary."""
        return self._fast is not None and self._writer.has_fast_path(contenttype)

    def fill_all(self, payloads: Sequence[bytes], fallback: set[int]) -> list[Any] | MemberColumns:
        """Read what stands behind headers into columns."""
        if self._fast is None or not isinstance(self._columns, StructOf):
            fallback.update(range(len(payloads)))
            return [None] * len(payloads)
        return _filled(self._fast.read, self._columns, payloads, fallback)

    def may_drop(self) -> bool:
        """Whether the writer has fields that the reader does not have."""
        return self._fast is None or self._fast.drops

    def validate_framed(self, payload: bytes, start: int, contenttype: str) -> tuple[Any, list[Violation]]:
        """Validate what stands behind a header."""
        if not _is_json(contenttype):
            return payload_framing.read_to_end(self._read, payload, start)
        value, violations = self._writer.validate_framed(payload, start, contenttype)
        # Only the binary encoding is resolved, and there is one for every value.
        return (
            (None, violations) if violations else payload_framing.read_to_end(self._read, self._writer.encode(value), 0)
        )


def _filled(
    read: compiled_reader.FastRead, columns: StructOf, payloads: Sequence[Any], fallback: set[int]
) -> MemberColumns:
    """The columns of payloads, with nothing for those whose indexes are added to `fallback`."""
    names = tuple(field.name for field in columns.fields)
    refused: set[int] = set()
    rows = decode_all(read, payloads, refused, compiled_reader.FALLBACK_ERRORS)
    for index in refused:
        rows[index] = (None,) * len(names)
    fallback |= refused
    return MemberColumns.of_rows(names, rows)


def parse(source: SchemaDocument) -> Avro:
    """The schema, ready for payloads."""
    return Avro(_type(source))


def check(source: SchemaDocument) -> None:
    """Raise SchemaRefused unless the document is an Avro schema."""
    _type(source)


def readable(writer: SchemaDocument, reader: SchemaDocument) -> Verdict:
    """Whether payloads of the writer's schema resolve with the reader's."""
    return compare.compare(_type(writer), _type(reader))


def _is_json(contenttype: str) -> bool:
    return _MEDIA_TYPE_OF_JSON.match(contenttype) is not None


def _type(source: SchemaDocument) -> AvroType:
    version = _VERSION.match(source.version)
    if version is None:
        raise FormatUnknown(
            f"the schema format 'Avro/{source.version}' is not one we read.", remedy="We read Avro/1.x."
        )
    parser = Parser(Neighbours(source.library), any_branch=int(version[1] or _ANY_BRANCH) >= _ANY_BRANCH)
    try:
        root = parser.type(_document(source.document))
        return _select_type(source.fragment.lstrip("#/:"), root, parser)
    except RecursionError:
        raise SchemaRefused("the document is nested too deeply.") from None


def _document(document: Any) -> Any:
    if isinstance(document, bytes):
        # A byte order mark is not part of the JSON.
        document = document.removeprefix(b"\xef\xbb\xbf")
    text = document.decode("ascii", "replace") if isinstance(document, bytes) else document
    if isinstance(text, str) and is_name(text.strip()):
        return text.strip()
    return load_json(document)


def _select_type(name: str, root: AvroType, parser: Parser) -> AvroType:
    """The type that a fragment names: by its full name, else by the one type of that simple name."""
    if not name:
        return root
    if name in parser.names:
        return parser.names[name]
    found = [found_type for full, found_type in parser.names.items() if simple_name(full) == name]
    if len(found) != 1:
        known = ", ".join(list(parser.names)[:10]) or "no named type"
        raise SchemaRefused(
            f"{name!r} means {len(found)} types of this document." if found else f"there is no type {name!r} here.",
            remedy=f"The document has {known}.",
        )
    return found[0]

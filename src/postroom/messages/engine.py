"""The engine: records in, sorted messages out. A plain function of its input; Spark, service and CLI call it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple
from weakref import WeakMethod

import msgspec

from postroom.errors import FormatUnknown, RecordRefused, SchemaRefused
from postroom.formats.column_types import BINARY, STRING, ColumnType
from postroom.formats.fill_columns import ColumnMismatch, Filler, filler
from postroom.formats.format_table import parse_schema
from postroom.formats.schema import CheckingSchema, FastSchema, FramedSchema, OpenSchema, PayloadSchema, Violation
from postroom.formats.schema_versions import HEADER_FIRST_BYTES, Version, Versions, WriterVersion
from postroom.messages.definitions.constraints import shorten
from postroom.messages.definitions.definition import CompiledCatalog, Definition, SchemaSource
from postroom.messages.definitions.schema_documents import SchemaDocuments
from postroom.messages.matching.columnar import Land, land_groups
from postroom.messages.matching.definition_index import DefinitionIndex, Fit, channel_of
from postroom.messages.matching.group_events import ColumnSlice, group_columns, group_lines
from postroom.messages.matching.message_keys import KeyReader
from postroom.messages.matching.outcome import JudgedRecord, Match, Reason, Sorted
from postroom.messages.matching.payload_decoders import (
    CheckingDecoder,
    Decoder,
    ExactDecoder,
    PlainDecoder,
    QuickDecoder,
)
from postroom.messages.matching.record_readers import EventReader
from postroom.messages.matching.transport_metadata import NO_TRANSPORT, Transport, transport_reader
from postroom.messages.matching.versioned_decoders import VersionDecoder
from postroom.model.json_pointers import pointer
from postroom.protocols.cloudevents import ENVELOPE, Malformed, Message, is_json, media_type, unwrap
from postroom.protocols.protocol_table import wire_named
from postroom.protocols.records import Record, parse_record

log = logging.getLogger(__name__)

MOST_REASONS = 5


class Decoded(NamedTuple):
    """A payload in the shape of its columns, or what is wrong with it; who wrote it, if a header says so; and what it
    has and its columns do not."""

    data: Any
    violations: Sequence[Violation] = ()
    writer: WriterVersion | None = None
    undeclared: str | None = None


class Engine:
    """Sorts messages by the definitions of one compiled catalog.

    An engine like it, for an earlier state of the catalog, spares the work that was done for what is the same. Who
    makes rows of messages asks to keep what came with them, and what of their payloads nobody declared.
    """

    def __init__(
        self,
        catalog: CompiledCatalog,
        *,
        nulls: str = "strict",
        max_record_mb: int = 64,
        max_batch: int | None = None,
        like: Engine | None = None,
        keep_transport: bool = False,
        keep_undeclared: bool = False,
    ) -> None:
        self.definitions = catalog.definitions
        self._documents = SchemaDocuments(catalog.schemas)
        self._assert_formats = catalog.assert_formats
        self._schema_id_bytes = catalog.schema_id_bytes
        self._stored = catalog.schemas
        self._scope = f"the endpoint {catalog.endpoint}" if catalog.endpoint else "the catalog"
        self.index: DefinitionIndex = DefinitionIndex(catalog.definitions, None if like is None else like.index)
        self._nulls_absent = nulls == "absent"
        self._max_record_mb = max_record_mb
        self._max_record_bytes = max_record_mb * 1_000_000
        self._max_batch = max_batch
        self._schemas: dict[str, PayloadSchema | None] = {}
        self._unusable: dict[str, str] = {}
        """Why schemas that the catalog has cannot be used."""
        self._versions: dict[str, Versions] = {}
        self._writers: dict[tuple[str, str], PayloadSchema] = {}
        self._keys = KeyReader(self._key_versions(catalog))
        self._fillers: dict[str, Filler] = {}
        self._fast_schemas: dict[str, FastSchema | None] = {}
        self.keeps_undeclared = keep_undeclared
        before = None if like is None else like.events
        self.events: EventReader = EventReader(
            self.index,
            _weakly(self._decoder),
            before,
            keep_transport=keep_transport,
            keep_undeclared=keep_undeclared,
        )
        if like is not None and like._stored is catalog.schemas:
            self._inherit(like)

    def _inherit(self, like: Engine) -> None:
        """Take over the schemas that another engine parsed for the same definitions."""
        mine, theirs = self.index.by_xid, like.index.by_xid
        self._schemas = {x: schema for x, schema in like._schemas.copy().items() if mine.get(x) is theirs[x]}
        self._fillers = {x: made for x, made in like._fillers.copy().items() if mine.get(x) is theirs[x]}
        self._unusable = {x: why for x, why in like._unusable.copy().items() if mine.get(x) is theirs[x]}

    def match_line(self, line: bytes) -> list[Match]:
        """The matches of one line of JSON Lines. Never raises: what is no record is malformed."""
        return list(map(self._match, self.opened(line)))

    def _match(self, message: Message | Malformed) -> Match:
        """The match of a message; a payload that surely fits need not be decoded for it."""
        if isinstance(message, Malformed):
            return _malformed(message).match
        fits = self.index.fits(message)
        if len(fits) == 1:
            (fit,) = fits
            if self._surely_fits(fit.definition, message):
                return match_of(fit.definition, fit.variables)
        return self.sort_fitting(message, fits).match

    def _surely_fits(self, definition: Definition, message: Message) -> bool:
        """Whether the fast path of a payload schema accepts a payload that has no header in front."""
        try:
            schema = self._fast_schemas[definition.xid]
        except KeyError:
            parsed: Any = self.schema(definition)
            schema = self._fast_schemas[definition.xid] = parsed if isinstance(parsed, FastSchema) else None
        if schema is None or message.fault is not None or message.body.startswith(HEADER_FIRST_BYTES):
            return False
        if _schema_header(message):
            return False
        try:
            contenttype = message.contenttype or definition.contenttype
            return schema.has_fast_path(contenttype) and schema.fill(message.body)[1]
        except Exception:  # noqa: BLE001 - whatever a library raises, the exact judge says what is wrong with the payload
            return False

    def judge(self, records: list[bytes] | ColumnSlice, land: Land) -> Iterator[JudgedRecord]:
        """Judge records that are lines of JSON, or in columns. Those that the columnar judge accepts go to `land`, by
        definition; the others come back one by one, judged exactly."""
        longest = self._max_record_bytes
        if isinstance(records, list):
            remaining = land_groups(group_lines(self.events, records, longest), len(records), land)
            for row in remaining:
                yield JudgedRecord(row, records[row], self.sort_exactly(records[row]))
        else:
            remaining = land_groups(group_columns(self.events, records, longest), len(records), land)
            for row, (line, record) in zip(remaining, records.records(remaining), strict=True):
                yield JudgedRecord(row, line, self.sort_exactly(line, record))

    def match_by_column(self, lines: list[bytes], land: Land) -> list[int]:
        """Hand lines that surely fit to `land`, for those who need no values: payloads are only checked, where their
        schema can do that. The rows of the others come back."""
        return land_groups(group_lines(self._unread_events, lines, self._max_record_bytes), len(lines), land)

    @cached_property
    def _unread_events(self) -> EventReader:
        return EventReader(self.index, _weakly(self._checking_decoder), self.events)

    def sort_exactly(self, line: bytes, record: Record | None = None) -> list[Sorted]:
        """Judge the messages of one line exactly; a record that was read already says the same as its line."""
        return [self.judged(message) for message in self.opened(line, record)]

    def opened(self, line: bytes, record: Record | None = None) -> list[Message | Malformed]:
        """The messages of one line, or why it has none."""
        if len(line) > self._max_record_bytes:
            limit, size = f"at most {self._max_record_mb} MB", f"{len(line) / 1_000_000:.1f} MB"
            return [Malformed("", "record_too_large", limit, size)]
        try:
            found = parse_record(line) if record is None else record
            return self._unwrapped(found, self._max_batch)
        except RecordRefused as error:
            return [Malformed("", "record_broken", "a record or a CloudEvent", error.sentence)]

    def sort(self, record: Record) -> list[Sorted]:
        """Sort the messages of one record: one, or those of a CloudEvents batch."""
        return [self.judged(message) for message in self._unwrapped(record)]

    def _unwrapped(self, record: Record, max_batch: int | None = None) -> list[Message | Malformed]:
        record, fault = self._keys.read(record)
        messages = unwrap(record, max_batch, self._max_record_bytes)
        if fault is None:
            return messages
        return [one if isinstance(one, Malformed) else msgspec.structs.replace(one, fault=fault) for one in messages]

    def judged(self, message: Message | Malformed) -> Sorted:
        """Sort what came out of a record, a message or not."""
        return _malformed(message) if isinstance(message, Malformed) else self.sort_message(message)

    def payload(self, definition: Definition, message: Message) -> Any:
        """The payload of a message that landed, as its schema reads it; its bytes where there is no schema."""
        versions = self.versions(definition)
        if versions is None:
            return message.body
        return versions.validate(message.body, type_of(definition, message), _schema_header(message)).value

    def sort_message(self, message: Message) -> Sorted:
        """Find the definition of a message, then judge its payload."""
        return self.sort_fitting(message, self.index.fits(message))

    def sort_fitting(self, message: Message, fits: list[Fit]) -> Sorted:
        """Judge the payload of a message by the definitions that are known to fit."""
        if not fits:
            return self._not_fitting(message)
        if len(fits) > 1:
            fits = self._written_by(fits, message) or fits
        candidates = tuple(fit.definition.xid for fit in fits)
        everything = [self._judge(fit, message, candidates) for fit in fits]
        judged = [result for result in everything if not _passes_by(result, message)]
        if not judged:
            return self._sort_event(message, everything)
        unknown = [result for result in judged if _has_unknown_schema(result)]
        if message.attributes is None and len(unknown) == len(judged):
            # A definition that asks for less may be the one whose schema it is.
            others = self._written_by(self.index.fits_at_all(message), message)
            return self.sort_fitting(message, others) if others else _unknown_schema(unknown)
        if len(judged) == 1:
            return judged[0]
        valid = [result for result in judged if result.match.outcome == "landed"]
        if len(valid) == 1:
            return valid[0]
        return Sorted(Match("ambiguous", candidates=candidates, reasons=tuple(_undecided(judged)[:MOST_REASONS])))

    def _written_by(self, fits: list[Fit], message: Message) -> list[Fit]:
        """Of definitions that fit, those whose schema wrote the payload by the id, the GUID or the fingerprint that it
        comes with: payloads that name their schema need no envelope."""
        header = _schema_header(message)
        if message.fault is not None or not (header or message.body.startswith(HEADER_FIRST_BYTES)):
            return []
        known = ((fit, self.versions(fit.definition)) for fit in fits)
        return [fit for fit, versions in known if versions is not None and versions.knows(message.body, header)]

    def _sort_event(self, message: Message, passed: list[Sorted]) -> Sorted:
        """Sort an event by definitions of events alone; those that it passed by are near misses at most."""
        fits = self.index.fits(message, of_events=True)
        if fits:
            return self.sort_fitting(message, fits)
        return self._not_fitting(message, [result.match.reasons[0] for result in passed])

    def schema(self, definition: Definition) -> PayloadSchema | None:
        """The parsed payload schema, made once; None when there is none or it cannot be had."""
        if definition.xid not in self._schemas:
            self._schemas[definition.xid] = self._parse(definition)
        return self._schemas[definition.xid]

    def versions(self, definition: Definition) -> Versions | None:
        """The payload schema with the versions that may have written payloads; None where there is no schema."""
        schema = self.schema(definition)
        if schema is None or definition.schema is None:
            return None
        if definition.xid not in self._versions:
            self._versions[definition.xid] = self._versions_of(definition.schema, schema)
        return self._versions[definition.xid]

    def _key_versions(self, catalog: CompiledCatalog) -> dict[str, Versions]:
        """The schemas of keys with their versions, by topic; keys whose schema cannot be used stay as they are."""
        found: dict[str, Versions] = {}
        for topic, source in catalog.key_schemas().items():
            try:
                found[topic] = self._versions_of(source, self._parse_source(source))
            except (SchemaRefused, FormatUnknown) as error:
                log.warning("keys of %s are not read: %s", topic, error)
        return found

    def _versions_of(self, source: SchemaSource, schema: PayloadSchema) -> Versions:
        found = [
            Version(
                version.version,
                ids,
                partial(self._parse_version, version),
                partial(self._documents.guid, version.place),
            )
            for version, ids in self._documents.versions(source)
        ]
        # A part of a document is not what the version of that document wrote.
        is_part = any(version.fragment != source.fragment for version, _ in self._documents.versions(source))
        own = f"{source.version}#{source.fragment}" if is_part else source.version
        return Versions(schema, own, found, self._schema_id_bytes)

    def _parse_version(self, source: SchemaSource) -> PayloadSchema:
        """The schema of a version, parsed once for all definitions that refer to it alike."""
        key = (source.place, source.fragment)
        if key not in self._writers:
            self._writers[key] = self._parse_source(source)
        return self._writers[key]

    def data_column(self, definition: Definition) -> ColumnType:
        """The type of the `data` column: from the schema, else the text or bytes as they came."""
        schema = self.schema(definition)
        if schema is not None:
            return schema.columns()
        media = media_type(definition.contenttype)
        return STRING if is_json(media) or media.startswith("text/") or media.endswith("xml") else BINARY

    def _filler(self, definition: Definition, schema: PayloadSchema) -> Filler:
        if definition.xid not in self._fillers:
            self._fillers[definition.xid] = filler(schema.columns())
        return self._fillers[definition.xid]

    def _decoder(self, definition: Definition) -> Decoder | None:
        """What decodes payloads of a definition for the columnar judge."""
        if definition.schema is None:
            return PlainDecoder(text=self.data_column(definition) == STRING)
        schema = self.schema(definition)
        if schema is None:
            return None
        versions, fill = self.versions(definition), self._filler(definition, schema)
        framed = schema if isinstance(schema, FramedSchema) else None
        undeclared = schema.undeclared if isinstance(schema, OpenSchema) else None
        exact = ExactDecoder(schema.validate if framed is None else framed.validate_unframed, fill, undeclared)
        bare = QuickDecoder(schema, exact) if isinstance(schema, FastSchema) else exact
        return bare if framed is None or versions is None else VersionDecoder(versions, framed, bare, fill)

    def _checking_decoder(self, definition: Definition) -> Decoder | None:
        """What checks payloads of a definition for those who need no values."""
        schema = self.schema(definition)
        return CheckingDecoder(schema) if isinstance(schema, CheckingSchema) else self._decoder(definition)

    def _parse(self, definition: Definition) -> PayloadSchema | None:
        source = definition.schema
        if source is None or source.missing:
            return None
        try:
            return self._parse_source(source)
        except (SchemaRefused, FormatUnknown) as error:
            log.warning("%s: payloads are not checked: %s", definition.xid, error)
            self._unusable[definition.xid] = error.sentence.rstrip(".")
            return None

    def _unchecked(self, definition: Definition) -> str | msgspec.UnsetType:
        """Why payloads of a definition are not checked; nothing when they are, or when it has no schema."""
        source = definition.schema
        if source is None or self.schema(definition) is not None:
            return msgspec.UNSET
        return f"its schema {source.reference}: {source.missing or self._unusable[definition.xid]}"

    def _parse_source(self, source: SchemaSource) -> PayloadSchema:
        if source.missing:
            raise SchemaRefused(f"{source.missing}.")
        document, library = self._documents.of(source)
        return parse_schema(source.format, document, source.fragment, library, assert_formats=self._assert_formats)

    def _not_fitting(self, message: Message, more: Sequence[Reason] = ()) -> Sorted:
        addressed = self.index.addressed(message)
        if not addressed:
            misses = [*(self.index.near_misses(message) or [self._nothing_known(message)]), *more]
            return Sorted(Match("unmatched", reasons=tuple(misses[:MOST_REASONS])))
        reasons = [reason for _, found in addressed for reason in found]
        closest = addressed[0][0]
        candidates = tuple(definition.xid for definition, _ in addressed)
        match = Match("invalid", closest.xid, candidates=candidates, reasons=tuple(reasons[:MOST_REASONS]))
        return Sorted(match, closest)

    def _nothing_known(self, message: Message) -> Reason:
        """The reason for a message that no definition comes near to."""
        if message.attributes is not None:
            event_type = message.attributes.get("type", "none")
            return Reason(
                "", "/envelopemetadata/type", "no_definition", f"a type of {self._scope}", shorten(event_type)
            )
        went, path = channel_of(message), wire_named(message.protocol).channel
        if went is not None:
            noun = "an address" if path[-1] == "to" else f"a {path[-1]}"
            at = pointer(("protocoloptions", *path))
            return Reason("", at, "no_definition", f"{noun} of {self._scope}", shorten(went))
        if self.definitions and not any(definition.protocol for definition in self.definitions):
            return Reason("", "/envelope", "envelope_missing", ENVELOPE, "no envelope")
        found = message.protocol or "none"
        return Reason("", "/protocoloptions", "no_definition", f"a protocol of {self._scope}", found)

    def _judge(self, fit: Fit, message: Message, candidates: tuple[str, ...]) -> Sorted:
        definition = fit.definition
        versions = self.versions(definition)
        decoded = self._decode(definition, versions, message)
        if decoded.violations:
            reasons = tuple(payload_reason(definition, violation) for violation in decoded.violations[:MOST_REASONS])
            match = Match("invalid", definition.xid, fit.variables, candidates, reasons)
            return Sorted(match, definition)
        return Sorted(
            Match("landed", definition.xid, fit.variables, candidates, (), self._unchecked(definition)),
            definition,
            message.attributes or fit.attributes or {},
            _declared_metadata(definition, message),
            decoded.data,
            versions is not None or definition.schema is None,
            decoded.writer,
            decoded.undeclared,
            message.protocol,
            self._transport(definition, message) if self.events.keeps_transport else NO_TRANSPORT,
        )

    def _transport(self, definition: Definition, message: Message) -> Transport:
        read = transport_reader(definition, message.protocol).read
        return read(message.metadata, binary=message.mode == "binary", keep=self.keeps_undeclared)

    def _decode(self, definition: Definition, versions: Versions | None, message: Message) -> Decoded:
        if message.fault is not None:
            return Decoded(None, [Violation("", *message.fault)])
        if versions is None:
            return _unchecked(self.data_column(definition), message.body)
        try:
            return self._checked(definition, versions, message)
        except Exception as error:
            # A defect of ours or of a library must not stop the stream for all messages around this one.
            log.exception("%s: a payload could not be checked", definition.xid)
            found = f"{type(error).__name__}: {shorten(str(error))}"
            return Decoded(None, [Violation("", "check_failed", "a payload that can be checked", found)])

    def _checked(self, definition: Definition, versions: Versions, message: Message) -> Decoded:
        contenttype, header = type_of(definition, message), _schema_header(message)
        value, violations, writer, schema = versions.validate(message.body, contenttype, header)
        has_null = self._nulls_absent and any(v.code == "null_not_allowed" for v in violations)
        if has_null and schema is not None:
            value, violations = _judge_without_nulls(schema, value, contenttype, violations)
        if violations:
            return Decoded(None, violations)
        try:
            data = self._filler(definition, versions.reader)(value)
        except ColumnMismatch as error:
            return Decoded(None, [Violation(error.at, "column_mismatch", error.expected, error.found)])
        left = versions.undeclared(message.body, contenttype, writer, header) if self.keeps_undeclared else None
        return Decoded(data, [], writer, left)


def _passes_by(result: Sorted, message: Message) -> bool:
    """Whether an event only happens to be where a definition without an envelope expects other messages."""
    is_event = message.attributes is not None
    return is_event and result.match.outcome == "invalid" and not (result.definition and result.definition.envelope)


def _has_unknown_schema(result: Sorted) -> bool:
    return any(reason.code == "schema_id_unknown" for reason in result.match.reasons)


def _unknown_schema(judged: list[Sorted]) -> Sorted:
    """What becomes of a payload with the id of a schema that none of the definitions knows."""
    if len(judged) == 1:
        return judged[0]
    candidates = judged[0].match.candidates
    found = next(r.found for r in judged[0].match.reasons if r.code == "schema_id_unknown")
    reason = Reason(
        "", "/data", "schema_id_unknown", f"none of the {len(candidates)} definitions that fit has it", found
    )
    return Sorted(Match("ambiguous", candidates=candidates, reasons=(reason,)))


def _undecided(judged: list[Sorted]) -> list[Reason]:
    """Why nothing decides between definitions: the payload is valid for several, or what is wrong with it for each."""
    valid = [result for result in judged if result.match.outcome == "landed"]
    found = f"{len(valid)} definitions"
    reasons = [Reason(result.match.message or "", "", "fits_as_well", "one definition", found) for result in valid]
    faults = [result.match.reasons for result in judged if result.match.outcome != "landed"]
    firsts = [reason for some in faults for reason in some[:1]]
    return [*reasons, *firsts, *(reason for some in faults for reason in some[1:])]


def _weakly(decoder_of: Callable[[Definition], Decoder | None]) -> Callable[[Definition], Decoder | None]:
    """A method that does not keep its engine alive: engines come and go with the states of a catalog."""
    method = WeakMethod(decoder_of)

    def found(definition: Definition) -> Decoder | None:
        living = method()
        return None if living is None else living(definition)

    return found


def match_of(definition: Definition, variables: dict[str, str]) -> Match:
    """The match of a message that one definition fits."""
    return Match("landed", definition.xid, variables, (definition.xid,))


def type_of(definition: Definition, message: Message) -> str:
    """The content type of a message's payload."""
    return message.contenttype or definition.contenttype


def _schema_header(message: Message) -> bytes:
    """What a header of a message says about the schema of its payload."""
    return wire_named(message.protocol).schema_header(message.metadata)


def _unchecked(column: ColumnType, body: bytes) -> Decoded:
    if column == BINARY:
        return Decoded(body)
    try:
        return Decoded(body.decode())
    except UnicodeDecodeError:
        return Decoded(None, [Violation("", "payload_not_text", "UTF-8 text", shorten(body))])


def _judge_without_nulls(
    schema: PayloadSchema, value: Any, contenttype: str, violations: list[Violation]
) -> tuple[Any, list[Violation]]:
    try:
        return schema.validate(schema.encode(_without_nulls(value), contenttype), contenttype)
    except SchemaRefused:  # a value that the format cannot even write
        return value, violations


def _without_nulls(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nulls(member) for name, member in value.items() if member is not None}
    return [_without_nulls(item) for item in value] if isinstance(value, list) else value


def _declared_metadata(definition: Definition, message: Message) -> dict[str, Any]:
    if not definition.protocol_constraints:
        return {}
    wire = wire_named(definition.protocol)
    return {"_".join(c.path): wire.lookup(message.metadata, c.path) for c in definition.protocol_constraints}


def payload_reason(definition: Definition, violation: Violation) -> Reason:
    """A violation of the payload schema as a reason."""
    return Reason(definition.xid, "/data" + violation.at, violation.code, violation.expected, violation.found)


def _malformed(why: Malformed) -> Sorted:
    return Sorted(Match("malformed", reasons=(Reason("", why.at, why.code, why.expected, shorten(why.found)),)))

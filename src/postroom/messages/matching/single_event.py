"""The express lane: most records of a stream are plain events that fit the one definition they mean.

It takes those off the line in a few steps and leaves everything else, with or without fault, to the exact engine. It
may only accept what the engine accepts; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import msgspec

from postroom.formats.batch_decode import DECODE_ERRORS, MemberColumns
from postroom.messages.definitions.definition import Definition
from postroom.messages.matching.definition_index import Filter, Index
from postroom.messages.matching.match_plan import Landed, Plan
from postroom.messages.matching.payload_decoders import Kept, Writers
from postroom.messages.matching.record_readers import (
    BODY_MEMBERS,
    MOST_NAMES,
    RECORD,
    HeaderReader,
    Line,
    LineReader,
    event_attributes,
    event_type,
    is_structured,
)
from postroom.protocols.cloudevents import JSON_DATA, is_json, unpack
from postroom.protocols.protocol_table import canonical_protocol

DecoderOf = Callable[[Definition], "Decoder | None"]

_MOST_PLANS = 100_000
_LONGEST_NAME = 100


class Decoder(Protocol):
    """How the payloads of one definition become values of its columns. A body is bytes, or text, or raw JSON."""

    def one(self, body: Any, contenttype: str) -> tuple[Any, bool] | None:
        """The value of a payload and True; None when it is not surely valid."""
        ...

    def all(
        self, bodies: Sequence[Any], contenttypes: list[str], bad: set[int], writers: Writers, kept: Kept = None
    ) -> list[Any] | MemberColumns:
        """The same for many; the places of those in doubt are added to `bad`, those in it are passed over.

        Who wrote payloads behind a header is added to `writers`, what payloads have and their columns do not to `kept`,
        where that is given.
        """
        ...


Planned = tuple[Plan, Decoder] | None


class EventReader:
    """Takes plain events off lines, one by one; what reads lines is shared with an express lane like it."""

    def __init__(
        self,
        index: Index,
        decoder_of: DecoderOf,
        like: EventReader | None = None,
        *,
        keep_transport: bool = False,
        keep_undeclared: bool = False,
    ) -> None:
        self.index = index
        self.keeps_transport = keep_transport
        self.keeps_undeclared = keep_undeclared
        self._decoder_of = decoder_of
        attributes = event_attributes(index)
        is_same = like is not None and like.names == attributes
        self.event: Any = like.event if like is not None and is_same else event_type(attributes)
        self.names: tuple[str, ...] = tuple(n for n in self.event.__struct_fields__ if n not in BODY_MEMBERS)
        self.read_event = msgspec.json.Decoder(self.event).decode
        self.lines: LineReader = like.lines if like is not None and is_same else LineReader(self.names)
        self._plans: dict[tuple[str, str | None], Planned] = {}
        self._readers: dict[str, HeaderReader] = {}
        self._json_types: dict[str | None, bool] = {None: True, "application/json": True}
        self._modes: dict[str | None, bool | None] = {}

    def take(self, line: bytes) -> Landed | None:
        """Land one line, or leave it."""
        try:
            if line.startswith(RECORD):
                return self._take_record(line)
            event = self.read_event(line)
            return self._structured(self.planned("", event.type), event, {})
        except DECODE_ERRORS:
            return None

    def _take_record(self, line: bytes) -> Landed | None:
        try:
            record = self.lines.read(line)
        except DECODE_ERRORS:
            return self._take_any(self.lines.read_any(line))
        kind = type(record)
        protocol = self.lines.protocols[kind]
        if kind not in self.lines.plain:
            return self._take_any(Line(protocol, record.metadata, record.payload))
        event = record.metadata.headers
        stated = event.datacontenttype
        mode = self.mode(stated)
        if mode:
            event = self.read_event(record.payload)
        elif mode is None or stated == "" or event.specversion is None:
            return None
        found = self.planned(protocol, event.type)
        if found is not None and found[0].wants_metadata:
            return self._take_any(self.lines.read_any(line))
        return (
            self._structured(found, event, {}) if mode else self._land(found, event, {}, record.payload, stated or "")
        )

    def _take_any(self, record: Line) -> Landed | None:
        opened = self.opened(record)
        if opened is None:
            return None
        event, structured, _ = opened
        found = self.planned(record.protocol, event.type)
        if structured:
            return self._structured(found, event, record.metadata)
        return self._land(found, event, record.metadata, record.payload, event.datacontenttype or "")

    def mode(self, contenttype: str | None) -> bool | None:
        """Whether a content type announces a structured event; None for what is neither that nor a payload's own."""
        if contenttype in self._modes:
            return self._modes[contenttype]
        found = is_structured(contenttype)
        if len(self._modes) < MOST_NAMES and len(contenttype or "") <= _LONGEST_NAME:
            self._modes[contenttype] = found
        return found

    def knows(self, attributes: Iterable[str]) -> bool:
        """Whether an event can hold all of these attributes."""
        return set(attributes) <= set(self.names)

    def reader(self, protocol: str) -> HeaderReader:
        """What reads the headers of a protocol."""
        reader = self._readers.get(protocol)
        if reader is None:
            reader = HeaderReader(protocol)
            if len(self._readers) < MOST_NAMES and len(protocol) <= _LONGEST_NAME:
                self._readers[protocol] = reader
        return reader

    def opened(self, record: Line) -> tuple[Any, bool, bool] | None:
        """The event that a record carries, whether it is a structured one, and whether it is all that headers carry."""
        reader = self.reader(record.protocol)
        try:
            headers = reader.read(record.metadata)
        except TypeError:  # a name that is no text
            return None
        if headers is None:
            return None
        attributes, stated, is_whole = headers
        mode = self.mode(stated)
        if mode:
            return self.read_event(record.payload), True, False
        if mode is None or not reader.marks_event(attributes.get("specversion")):
            return None
        if reader.can_be_plain:
            self.lines.learn(record)
        if stated and not (reader.has_content_type and "datacontenttype" in attributes):
            attributes["datacontenttype"] = stated
        if "data" in attributes or "data_base64" in attributes:
            return None  # headers with the names of what is no attribute
        try:
            return self.event(**attributes), False, is_whole
        except TypeError:  # an attribute that no definition names
            return None

    def _structured(self, found: Planned, event: Any, metadata: dict[str, Any]) -> Landed | None:
        if event.specversion != "1.0":
            return None
        stated = event.datacontenttype
        if event.data_base64 is not None:
            return None if event.data else self._land(found, event, metadata, unpack(event.data_base64), stated or "")
        if not (self._json_types.get(stated) or self.is_json(stated)):
            return None
        return self._land(found, event, metadata, event.data, stated or JSON_DATA)

    def _land(self, found: Planned, event: Any, metadata: dict[str, Any], body: Any, contenttype: str) -> Landed | None:
        if found is None:
            return None
        plan, decoder = found
        variables = plan.variables(event, metadata)
        if variables is None:
            return None
        data = decoder.one(body, contenttype or plan.definition.contenttype)
        if data is None:
            return None
        return Landed(plan.definition, event, variables, plan.metadata(metadata), data[0], data[1])

    def planned(self, protocol: str, kind: str | None) -> Planned:
        """How events of a type on a protocol land, worked out once; None when the exact engine has to decide."""
        known = self._plans.get((protocol, kind))
        if known is not None or (protocol, kind) in self._plans:
            return known
        if kind is None or not self.index.has_type(kind) or len(protocol) > _LONGEST_NAME:
            return None  # nothing is remembered about types that anybody may invent
        candidates = self.index.contenders(canonical_protocol(protocol), kind)
        found = None
        if len(candidates) == 1 and self._can_plan(candidates[0]):
            decoder = self._decoder_of(candidates[0].definition)
            found = None if decoder is None else (Plan(candidates[0], self.names), decoder)
        if len(self._plans) < _MOST_PLANS:
            self._plans[protocol, kind] = found
        return found

    def _can_plan(self, candidate: Filter) -> bool:
        return bool(candidate.definition.envelope) and self.knows(check.path[0] for check in candidate.envelope)

    def is_json(self, contenttype: str | None) -> bool:
        """Whether a content type means JSON."""
        known = self._json_types.get(contenttype)
        if known is None:
            known = is_json(contenttype or "")
            if len(self._json_types) < MOST_NAMES:
                self._json_types[contenttype] = known
        return known

"""The express lane: most records of a stream are plain events that fit the one definition they mean.

It takes those off the line in a few steps and leaves everything else, with or without fault, to the exact engine. It
may only accept what the engine accepts; a test compares the two.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

import msgspec

from postroom.messages.bundles import Pile
from postroom.messages.definition import Definition
from postroom.messages.matching import Filter, Index
from postroom.messages.plans import TEXTS, Landed, Plan
from postroom.protocols.cloudevents import EVENT_MEDIA, JSON_DATA, is_json, media_type
from postroom.protocols.headers import decoded
from postroom.protocols.records import JSON_EVENT
from postroom.protocols.table import canonical_protocol, wire_named
from postroom.protocols.wire import attribute_name

DecoderOf = Callable[[Definition], "Decoder | None"]
MetadataOf = Callable[[int], dict[str, Any]]

_MOST_NAMES = 512
_MOST_PLANS = 100_000
_LONGEST_NAME = 100
_DOUBTS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_RECORD = b'{"protocol"'
_TYPE = b'"type"'
_MOST_SEEMING = 4
_ABSENT = msgspec.Raw(b"")


class _Line(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    protocol: str
    metadata: dict[str, Any] = {}
    payload: str = ""


class Decoder(Protocol):
    """How the payloads of one definition become values of its columns."""

    def one(self, body: bytes, contenttype: str) -> tuple[Any, bool] | None:
        """The value of a payload and True; None when it is not surely valid."""
        ...

    def all(self, bodies: list[Any], contenttypes: list[str], bad: set[int]) -> list[Any]:
        """The same for many; the places of those in doubt are added to `bad`, those in it are passed over."""
        ...


class RecordColumns(msgspec.Struct, gc=False):
    """Records whose headers were read already: attributes by name, stated content types, bodies; rows that are odd are
    left to the exact engine. The metadata of a row is asked for only where a definition wants it."""

    attributes: dict[str, list[str | None]]
    contenttypes: list[str]
    bodies: list[bytes]
    metadata: MetadataOf
    odd: frozenset[int] = frozenset()


class Express:
    """Takes plain events off a stream of lines, or of records."""

    def __init__(self, index: Index, decoder_of: DecoderOf) -> None:
        self._index = index
        self._decoder_of = decoder_of
        self._event = _event_type(index)
        self._names = tuple(name for name in self._event.__struct_fields__ if name not in ("data", "data_base64"))
        self._read_event = msgspec.json.Decoder(self._event).decode
        self._read_line = msgspec.json.Decoder(_Line).decode
        self._plans: dict[tuple[str, str | None], tuple[Plan, Decoder] | None] = {}
        self._readers: dict[str, HeaderReader] = {}
        self._json_types: dict[str | None, bool] = {None: True, "application/json": True}

    def take(self, line: bytes) -> Landed | None:
        """Land one line, or leave it."""
        try:
            if line.startswith(_RECORD):
                record = self._read_line(line)
                return self.take_record(record.protocol, record.metadata, record.payload.encode())
            return self._structured("", self._read_event(line), {})
        except _DOUBTS:
            return None

    def take_record(self, protocol: str, metadata: dict[str, Any], payload: bytes) -> Landed | None:
        """Land one record, or leave it."""
        try:
            opened = self._opened(protocol, metadata, payload)
        except _DOUBTS:
            return None
        if opened is None:
            return None
        event, structured = opened
        if structured:
            return self._structured(protocol, event, metadata)
        return self._land(protocol, event, metadata, payload, event.datacontenttype or "")

    def piles(self, lines: list[bytes]) -> Iterator[tuple[list[Pile], list[int]]]:
        """Read lines and put those together that mean the same definition, and the rows of the others.

        Lines that seem to have one type are dealt with together, so that all they are made of is near at hand in memory
        and gone before the next ones come. What they seem to be decides nothing.
        """
        seeming: dict[bytes, list[int]] = {}
        for row, line in enumerate(lines):
            at = line.find(_TYPE)
            kind = line[at + 6 : line.find(b'"', at + 10)]
            rows = seeming.get(kind)
            if rows is None:
                seeming[kind] = [row]
            else:
                rows.append(row)
        if len(seeming) > _MOST_SEEMING * (len(self._index.filters) + 10):
            seeming = {b"": list(range(len(lines)))}
        for rows in seeming.values():
            yield self._piled(rows, lines)

    def _piled(self, rows: list[int], lines: list[bytes]) -> tuple[list[Pile], list[int]]:
        heap = _Heap(self)
        read_event, bare, left = self._read_event, heap.bare, heap.left.append
        for row in rows:
            line = lines[row]
            try:
                if line.startswith(_RECORD):
                    self._pile_record(heap, row, self._read_line(line))
                    continue
                event = read_event(line)
            except _DOUBTS:
                left(row)
                continue
            pile = bare.get(event.type) or heap.begin_bare(event.type)
            if pile is None:
                left(row)
            else:
                pile[0](row)
                pile[1](event)
        return heap.piles(), heap.left

    def piles_of_columns(self, protocol: str, records: RecordColumns) -> tuple[list[Pile], list[int]]:
        """The same for records whose headers were read already, by column."""
        heap = _Heap(self)
        reader = self._reader(protocol)
        stated = records.contenttypes
        columns = dict(records.attributes)
        if not (reader.has_content_type and "datacontenttype" in columns):
            own = columns.get("datacontenttype", itertools.repeat(None))
            columns["datacontenttype"] = [said or known for said, known in zip(stated, own, strict=False)]
        events = map(self._event, *(columns.get(name, itertools.repeat(None)) for name in self._names))
        modes = {kind: _mode(kind) for kind in set(stated)}
        for row, (event, body, kind) in enumerate(zip(events, records.bodies, stated, strict=False)):
            mode = modes[kind]
            if row in records.odd or mode is None:
                heap.left.append(row)
            elif mode:
                self._pile_structured(heap, protocol, row, body, records.metadata)
            elif reader.marks_event(event.specversion):
                heap.add(protocol, row, event, body, records.metadata, False)
            else:
                heap.left.append(row)
        return heap.piles(), heap.left

    def _pile_structured(self, heap: _Heap, protocol: str, row: int, body: bytes, metadata: MetadataOf) -> None:
        try:
            event = self._read_event(body)
        except _DOUBTS:
            heap.left.append(row)
        else:
            heap.add(protocol, row, event, b"", metadata, True)

    def knows(self, attributes: Iterable[str]) -> bool:
        """Whether an event can hold all of these attributes."""
        return set(attributes) <= set(self._names)

    def _pile_record(self, heap: _Heap, row: int, record: _Line) -> None:
        body = record.payload.encode()
        opened = self._opened(record.protocol, record.metadata, body)
        if opened is None:
            heap.left.append(row)
            return
        event, structured = opened
        heap.add(record.protocol, row, event, body, lambda _: record.metadata, structured)

    def _reader(self, protocol: str) -> HeaderReader:
        reader = self._readers.get(protocol)
        if reader is None:
            reader = HeaderReader(protocol)
            if len(self._readers) < _MOST_NAMES:
                self._readers[protocol] = reader
        return reader

    def _opened(self, protocol: str, metadata: dict[str, Any], payload: bytes) -> tuple[Any, bool] | None:
        """The event that a record carries, and whether it is a structured one."""
        reader = self._reader(protocol)
        headers = reader.read(metadata)
        if headers is None:
            return None
        attributes, stated = headers
        media = media_type(stated) if stated else ""
        if media == JSON_EVENT:
            return self._read_event(payload), True
        if media.startswith(EVENT_MEDIA) or not reader.marks_event(attributes.get("specversion")):
            return None
        if stated and not (reader.has_content_type and "datacontenttype" in attributes):
            attributes["datacontenttype"] = stated
        try:
            return self._event(**attributes), False
        except TypeError:  # an attribute that no definition names
            return None

    def _structured(self, protocol: str, event: Any, metadata: dict[str, Any]) -> Landed | None:
        if event.specversion != "1.0" or event.data_base64 is not None:
            return None
        stated = event.datacontenttype
        if not (self._json_types.get(stated) or self.is_json(stated)):
            return None
        return self._land(protocol, event, metadata, bytes(event.data), stated or JSON_DATA)

    def _land(
        self, protocol: str, event: Any, metadata: dict[str, Any], body: bytes, contenttype: str
    ) -> Landed | None:
        found = self.planned(protocol, event.type)
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

    def planned(self, protocol: str, kind: str | None) -> tuple[Plan, Decoder] | None:
        """How events of a type on a protocol land, worked out once; None when the exact engine has to decide."""
        if (protocol, kind) in self._plans:
            return self._plans[protocol, kind]
        if kind is None or not self._index.has_type(kind) or len(protocol) > _LONGEST_NAME:
            return None  # nothing is remembered about types that anybody may invent
        candidates = self._index.contenders(canonical_protocol(protocol), kind)
        found = None
        if len(candidates) == 1 and self._can_plan(candidates[0]):
            decoder = self._decoder_of(candidates[0].definition)
            found = None if decoder is None else (Plan(candidates[0], self._names), decoder)
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
            if len(self._json_types) < _MOST_NAMES:
                self._json_types[contenttype] = known
        return known


class _Heap:
    """Events as they come, put together by protocol, type and mode."""

    def __init__(self, express: Express) -> None:
        self.left: list[int] = []
        self.bare: dict[str | None, tuple[Callable[[int], None], Callable[[Any], None]]] = {}
        self._express = express
        self._piles: dict[tuple[str, str | None, bool], Pile] = {}

    def begin_bare(self, kind: str | None) -> tuple[Callable[[int], None], Callable[[Any], None]] | None:
        """How rows and events of a type get onto their pile, for the many that come without a protocol."""
        pile = self._begin("", kind, structured=True)
        if pile is None:
            return None
        self.bare[kind] = found = (pile.rows.append, pile.events.append)
        return found

    def add(self, protocol: str, row: int, event: Any, body: Any, metadata: MetadataOf, structured: bool) -> None:
        """Put an event on its pile."""
        key = (protocol, event.type, structured)
        pile = self._piles.get(key) or self._begin(*key)
        if pile is None:
            self.left.append(row)
            return
        pile.rows.append(row)
        pile.events.append(event)
        if not structured:
            pile.bodies.append(body)
        if pile.plan.wants_metadata:
            pile.metadata.append(metadata(row))

    def _begin(self, protocol: str, kind: str | None, structured: bool) -> Pile | None:
        found = self._express.planned(protocol, kind)
        if found is None or (not protocol and found[0].wants_metadata):
            return None
        pile = self._piles[protocol, kind, structured] = Pile(found[0], found[1].all, structured)
        return pile

    def piles(self) -> list[Pile]:
        """All piles."""
        return [pile for pile in self._piles.values() if pile.rows]


class HeaderReader:
    """Reads the CloudEvents attributes and the content type off the headers of one protocol."""

    def __init__(self, protocol: str) -> None:
        self._wire = wire_named(protocol)
        self.protocol = protocol
        self._names: dict[str, str] = {}
        option = self._wire.option(self._wire.headers) if self._wire.headers else None
        self._headers = option.name if option is not None else ""
        self._convert = decoded if self._wire.percent_encoded else None
        self._content_type = self._wire.contenttype
        self._has_prefix = bool(self._wire.prefixes[0])
        self.has_content_type = self._wire.contenttype_attribute

    def marks_event(self, specversion: str | None) -> bool:
        """Whether this value tells an event in binary mode; where headers have no prefix, any may be called so."""
        return specversion is not None if self._has_prefix else specversion == "1.0"

    def read(self, metadata: dict[str, Any]) -> tuple[dict[str, Any], str] | None:
        """Attributes by name, and the stated content type; None for headers that are out of the ordinary."""
        container = metadata.get(self._headers)
        pairs = container.items() if type(container) is dict else _pairs(container)
        if pairs is None:
            return None
        attributes: dict[str, Any] = {}
        names, convert = self._names, self._convert
        for name, value in pairs:
            attribute = names.get(name)
            if attribute is None:
                attribute = self._learn(name)
            if attribute:
                if type(value) is not str:
                    return None
                attributes[attribute] = value if convert is None else convert(value)
        stated = self._wire.content_type(metadata) if self._content_type else ""
        return attributes, stated

    def _learn(self, name: Any) -> str:
        attribute = attribute_name(str(name), self._wire.prefixes)
        if len(self._names) < _MOST_NAMES:
            self._names[name] = attribute
        return attribute


def _mode(contenttype: str) -> bool | None:
    """Whether a content type announces a structured event; None for what is neither that nor a payload's own."""
    media = media_type(contenttype) if contenttype else ""
    if media == JSON_EVENT:
        return True
    return None if media.startswith(EVENT_MEDIA) else False


def _pairs(container: Any) -> Iterable[tuple[str, Any]] | None:
    if container is None:
        return ()
    if type(container) is not list:
        return None
    try:
        return [(item["name"], item.get("value")) for item in container]
    except (TypeError, KeyError, AttributeError):
        return None


def _event_type(index: Index) -> Any:
    """The type of an event: the attributes that definitions name, and those that CloudEvents has."""
    declared = {check.path[0] for candidate in index.filters for check in candidate.envelope}
    others = sorted(name for name in declared if name.isidentifier() and name not in (*TEXTS, "data", "data_base64"))
    fields: list[tuple[str, Any, Any]] = [(name, str | None, None) for name in TEXTS]
    fields += [(name, Any, None) for name in others[:_MOST_NAMES]]
    fields += [("data", msgspec.Raw, _ABSENT), ("data_base64", str | None, None)]
    return msgspec.defstruct("Event", fields, gc=False, forbid_unknown_fields=True)


def attributes_of(event: Any) -> dict[str, Any]:
    """The attributes of an event that are there."""
    found = msgspec.structs.asdict(event)
    del found["data"], found["data_base64"]
    return {name: value for name, value in found.items() if value is not None}

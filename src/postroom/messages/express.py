"""The express lane: most records of a stream are plain events that fit the one definition they mean.

It takes those off the line in a few steps and leaves everything else, with or without fault, to the exact engine. It
may only accept what the engine accepts; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from postroom.messages.definition import Definition
from postroom.messages.matching import Index
from postroom.messages.plans import TEXTS, Landed, Plan, decoded
from postroom.protocols.cloudevents import is_json, media_type
from postroom.protocols.records import JSON_BATCH, JSON_EVENT
from postroom.protocols.table import canonical_protocol, wire_named
from postroom.protocols.wire import attribute_name

# What the payload of a definition becomes; None when it is not surely valid.
Decode = Callable[[bytes | str | msgspec.Raw], tuple[Any, bool] | None]
DecoderOf = Callable[[Definition], Decode | None]

_MOST_NAMES = 512
_RECORD = b'{"protocol"'
_ABSENT = msgspec.Raw(b"")


class _Line(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    protocol: str
    metadata: dict[str, Any] = {}
    payload: str = ""


class Express:
    """Takes plain events off a stream of lines."""

    def __init__(self, index: Index, decoder_of: DecoderOf) -> None:
        self._index = index
        self._decoder_of = decoder_of
        self._event = _event_type(index)
        self._read_event = msgspec.json.Decoder(self._event).decode
        self._read_line = msgspec.json.Decoder(_Line).decode
        self._plans: dict[tuple[str, str], tuple[Plan, Decode] | None] = {}
        self._readers: dict[str, HeaderReader] = {}
        self._json_types: dict[str | None, bool] = {None: True, "application/json": True}

    def take(self, line: bytes) -> Landed | None:
        """Land one line, or leave it."""
        try:
            if line.startswith(_RECORD):
                return self._record(self._read_line(line))
            return self._structured("", self._read_event(line), {})
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None

    def _record(self, line: _Line) -> Landed | None:
        reader = self._readers.get(line.protocol)
        if reader is None:
            reader = self._readers[line.protocol] = HeaderReader(line.protocol)
        headers = reader.read(line.metadata)
        if headers is None:
            return None
        attributes, stated = headers
        media = media_type(stated) if stated else ""
        if media == JSON_EVENT:
            return self._structured(reader.protocol, self._read_event(line.payload), line.metadata)
        if media == JSON_BATCH or "specversion" not in attributes:
            return None
        if stated and "datacontenttype" not in attributes:
            attributes["datacontenttype"] = stated
        try:
            event = self._event(**attributes)
        except TypeError:  # an attribute that no definition names
            return None
        return self._land(reader.protocol, event, line.metadata, line.payload)

    def _structured(self, protocol: str, event: Any, metadata: dict[str, Any]) -> Landed | None:
        if event.specversion != "1.0" or event.data_base64 is not None:
            return None
        return self._land(protocol, event, metadata, event.data)

    def _land(self, protocol: str, event: Any, metadata: dict[str, Any], body: str | msgspec.Raw) -> Landed | None:
        key = (protocol, event.type)
        found = self._plans[key] if key in self._plans else self._planned(protocol, event.type)
        if found is None or not (self._json_types.get(event.datacontenttype) or self._is_json(event.datacontenttype)):
            return None
        plan, decode = found
        variables = plan.variables(event, metadata)
        if variables is None:
            return None
        data = decode(body)
        if data is None:
            return None
        return Landed(plan.definition, event, variables, plan.metadata(metadata), data[0], data[1])

    def _planned(self, protocol: str, kind: str | None) -> tuple[Plan, Decode] | None:
        if kind is None or not self._index.has_type(kind):
            return None  # nothing is remembered about types that anybody may invent
        candidates = self._index.contenders(canonical_protocol(protocol), kind)
        found = None
        if len(candidates) == 1:
            decode = self._decoder_of(candidates[0].definition)
            found = None if decode is None else (Plan(candidates[0]), decode)
        self._plans[protocol, kind] = found
        return found

    def _is_json(self, contenttype: str | None) -> bool:
        known = is_json(contenttype or "")
        if len(self._json_types) < _MOST_NAMES:
            self._json_types[contenttype] = known
        return known


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
        self._in_headers = len(self._content_type) == 2 and self._content_type[0] == self._headers

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
    return msgspec.defstruct("Event", fields, gc=False, forbid_unknown_fields=True, kw_only=True)


def attributes_of(event: Any) -> dict[str, Any]:
    """The attributes of an event that are there."""
    found = msgspec.structs.asdict(event)
    del found["data"], found["data_base64"]
    return {name: value for name, value in found.items() if value is not None}

"""Readers of events for the columnar judge: off lines of JSON, and off the headers of records.

They read the usual forms; the others are left to `protocols.cloudevents`, which knows every form that there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from operator import attrgetter
from typing import Any, Union

import msgspec
from msgspec.structs import astuple

from postroom.messages.definitions.definition import Definition
from postroom.messages.matching.columnar import STRING_ATTRIBUTES, Plan
from postroom.messages.matching.definition_index import DefinitionIndex, DefinitionMatcher
from postroom.messages.matching.payload_decoders import Decoder
from postroom.messages.matching.transport_metadata import Transport, TransportReader, fixed_paths, moment_of
from postroom.protocols.cloudevents import AnnouncedMode, announced_mode, binary_attributes, is_json_event
from postroom.protocols.protocol import CONTENT_ENCODING, HeaderBroken, Wire, attribute_name, is_attribute_name
from postroom.protocols.protocol_table import PROTOCOLS, canonical_protocol, wire_named

MOST_NAMES = 512
RECORD = b'{"protocol"'
BODY_MEMBERS = ("data", "data_base64")

DecoderOf = Callable[[Definition], Decoder | None]
Planned = tuple[Plan, Decoder] | None

_MOST_OTHERS = 32
_MOST_PLANS = 100_000
_LONGEST_NAME = 100
_CONTENT_TYPE = "content-type"
_ABSENT = msgspec.Raw(b"")
_metadata_of = attrgetter("metadata")
_STRING = {str}
_TEXTS_OR_UNSET = {str, msgspec.UnsetType}
_TEXTS_OR_ABSENT = {*_TEXTS_OR_UNSET, type(None)}


class RecordLine(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A record as it stands on a line."""

    protocol: str
    metadata: dict[str, Any] = {}
    payload: str = ""


def event_attributes(index: DefinitionIndex) -> tuple[str, ...]:
    """The attributes of events: those that CloudEvents has, and those that definitions name."""
    declared = frozenset[str]().union(*{candidate.names for candidate in index.filters})
    others = sorted(
        name
        for name in declared
        if name.isidentifier() and is_attribute_name(name) and name not in (*STRING_ATTRIBUTES, *BODY_MEMBERS)
    )
    return (*STRING_ATTRIBUTES, *others[:MOST_NAMES])


def event_type(attributes: tuple[str, ...]) -> Any:
    """The type of an event with these attributes."""
    fields: list[tuple[str, Any, Any]] = [
        (name, str | None if name in STRING_ATTRIBUTES else Any, None) for name in attributes
    ]
    fields += [("data", msgspec.Raw, _ABSENT), ("data_base64", str | None, None)]
    return msgspec.defstruct("Event", fields, gc=False, forbid_unknown_fields=True)


class LineReader:
    """Reads lines of records. Which headers carry nothing is learned from those that are not plain."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._others: dict[str, None] = {}
        self.read_any = msgspec.json.Decoder(RecordLine).decode
        self._wires = {spelling: wire for wire in PROTOCOLS if _can_be_plain(wire) for spelling in wire.spellings}
        others = [s for wire in PROTOCOLS for s in wire.spellings if s not in self._wires]
        self.general: dict[Any, str] = {_general_type(spelling): spelling for spelling in others}
        """The protocols whose lines are never plain, by the types of lines."""
        self.plain: dict[Any, str] = {}
        """The protocols of plain lines, by their types, those of earlier times included."""
        self._carriages: dict[Any, PlainTransport] = {}
        self._build()

    def _build(self) -> None:
        plain = {self._plain_type(wire, spelling): spelling for spelling, wire in self._wires.items()}
        # Known before they are read: other threads may be about to ask.
        self.plain.update(plain)
        self.read: Callable[[bytes], Any] = msgspec.json.Decoder(Union[(*plain, *self.general)]).decode

    def learn(self, protocol: str, metadata: dict[str, Any]) -> None:
        """Look at a record that could be plain, for headers that carry nothing."""
        wire = self._wires.get(protocol)
        container = None if wire is None else metadata.get(wire.headers)
        if wire is None or type(container) is not dict:
            return
        known = len(self._others)
        for name in container:
            says_more = name.lower() in (_CONTENT_TYPE, CONTENT_ENCODING) or name == wire.schema_id
            silent = not attribute_name(name, wire.prefixes) and not says_more
            if silent and len(self._others) < _MOST_OTHERS and len(name) <= _LONGEST_NAME:
                self._others[name] = None
        if len(self._others) > known:
            self._build()

    def _plain_type(self, wire: Wire, spelling: str) -> Any:
        # A header's name is lower-cased before it names an attribute, so no header carries the others.
        carried = [name for name in self._names if name == name.lower() and name != "datacontenttype"]
        fields: list[Any] = [(name, str, None) for name in (*carried, "datacontenttype")]
        renamed = {name: wire.prefixes[0] + name for name in carried} | {"datacontenttype": _CONTENT_TYPE}
        for number, name in enumerate(tuple(self._others)):
            fields.append((f"_other{number}_", Any, msgspec.UNSET))
            renamed[f"_other{number}_"] = name
        absent = {name: None for name in self._names if name not in renamed}
        headers = _strict("Headers", fields, rename=renamed, namespace=absent)
        known = dict.fromkeys((*(option.name for option in wire.options), *(name for (name,) in fixed_paths(wire))))
        names = {f"option{number}": name for number, name in enumerate(known) if name != wire.headers}
        options = [(option, Any, msgspec.UNSET) for option in names]
        metadata = _strict("Metadata", [("headers", headers), *options], rename=names | {"headers": wire.headers})
        made = _line_type(spelling, ("metadata", metadata))
        self._carriages[made] = PlainTransport(wire, {name: option for option, name in names.items()}, renamed)
        return made

    def transport(self, records: list[Any], *, binary: bool, keep: bool) -> list[Transport] | None:
        """What plain records of one type carry besides their events; None where each has to be looked at."""
        carriage = self._carriages.get(type(records[0])) if records else None
        return None if carriage is None else carriage.read(records, binary=binary, keep=keep)


class PlainTransport:
    """Where plain records of one type have what is not part of their events."""

    def __init__(self, wire: Wire, options: dict[str, str], headers: dict[str, str]) -> None:
        self._read = TransportReader(wire, wire, ()).read
        self._headers = wire.headers
        self._others = {name for field, name in headers.items() if field.startswith("_other")}
        self._unsaid = [attrgetter(field) for field, name in headers.items() if name in self._others]
        self._left = [option for name, option in options.items() if (name,) not in fixed_paths(wire)]
        self._fixed = [options[name] for (name,) in fixed_paths(wire)]

    def read(self, records: list[Any], *, binary: bool, keep: bool) -> list[Transport] | None:
        """What they carry, where that is plain: texts and whole numbers, and nothing else or always the same."""
        metadata = list(map(_metadata_of, records))
        fields = metadata[0].__struct_fields__
        columns = dict(zip(fields, zip(*map(astuple, metadata), strict=True), strict=True))
        # What is left in binary mode, and in structured mode, where all headers are.
        headers = columns["headers"]
        unsaid = [list(map(get, headers)) for get in self._unsaid] if binary else [headers]
        if not all(map(_is_constant, (*(columns[option] for option in self._left), *unsaid))):
            return None
        channels, keys, moments = (columns[option] for option in self._fixed)
        if not (_TEXTS_OR_UNSET.issuperset(map(type, channels)) and _TEXTS_OR_UNSET.issuperset(map(type, keys))):
            return None
        sent = _read_all(moment_of, moments)
        if sent.count(None) != moments.count(msgspec.UNSET):
            return None
        first = self._read(self._metadata(records[0]), binary=binary, keep=keep)
        found = list(zip(_read_all(None, channels), _read_all(str.encode, keys), sent, repeat(first[3]), strict=False))
        return found if found[0] == first else None

    def _metadata(self, record: Any) -> dict[str, Any]:
        metadata: dict[str, Any] = msgspec.to_builtins(record.metadata)
        headers = metadata[self._headers].items()
        # A header that could carry an attribute and is not there is None.
        there = {name: value for name, value in headers if value is not None or name in self._others}
        return {**metadata, self._headers: there}


def _read_all(read: Callable[[Any], Any] | None, column: Sequence[Any]) -> Sequence[Any]:
    """A column with what is set read, and None for what is not."""
    unset = column.count(msgspec.UNSET)
    if unset == 0:
        return column if read is None else list(map(read, column))
    if unset == len(column):
        return [None] * unset
    return [None if value is msgspec.UNSET else read(value) if read else value for value in column]


def _is_constant(column: Sequence[Any]) -> bool:
    """Whether all values are the same and surely written alike; to Python 1, 1.0 and true are the same."""
    first = column[0]
    if isinstance(first, msgspec.Struct):
        is_exact = _TEXTS_OR_ABSENT.issuperset(map(type, astuple(first)))
    else:
        is_exact = type(first) in _TEXTS_OR_UNSET or set(map(type, column)) == {int}
    return is_exact and column.count(first) == len(column)


def _can_be_plain(wire: Wire) -> bool:
    """Whether lines of a protocol may be plain."""
    if [len(path) for path in fixed_paths(wire)] != [1, 1, 1]:
        return False
    return wire.headers_as_map and not wire.percent_encoded and wire.contenttype == (wire.headers, _CONTENT_TYPE)


def _general_type(spelling: str) -> Any:
    return _line_type(spelling, ("metadata", dict[str, Any], {}))


def _line_type(spelling: str, metadata: tuple[Any, ...]) -> Any:
    return _strict("RecordLine", [metadata, ("payload", str, "")], tag_field="protocol", tag=spelling)


def _strict(name: str, fields: list[Any], **options: Any) -> Any:
    return msgspec.defstruct(name, fields, gc=False, forbid_unknown_fields=True, **options)


class EventReader:
    """Reads events, and knows the one definition that events of a type can mean, if there is only one.

    What reads lines is shared with the reader that it is `like`.
    """

    def __init__(
        self,
        index: DefinitionIndex,
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
        self._modes: dict[str, AnnouncedMode] = {}

    def mode(self, contenttype: str) -> AnnouncedMode:
        """The mode that a content type announces."""
        found = self._modes.get(contenttype)
        if found is None:
            found = announced_mode(contenttype)
            if len(self._modes) < MOST_NAMES and len(contenttype) <= _LONGEST_NAME:
                self._modes[contenttype] = found
        return found

    def knows(self, attributes: Iterable[str]) -> bool:
        """Whether an event can hold all of these attributes."""
        return set(attributes) <= set(self.names)

    def opened(self, protocol: str, metadata: dict[str, Any], payload: str) -> tuple[Any, bool] | None:
        """The event of a record, and whether it is a structured one; None for what the exact judge has to read."""
        wire = wire_named(protocol)
        headers = wire.read_headers(metadata)
        mode = self.mode(headers.contenttype)
        if headers.contentencoding or wire.schema_header(metadata):
            return None
        if mode == "structured":
            return self.read_event(payload), True
        try:
            attributes = None if mode else binary_attributes(wire, headers)
        except HeaderBroken:
            return None
        if attributes is None or not _STRING.issuperset(map(type, attributes.values())):
            return None
        if "data" in attributes or "data_base64" in attributes:
            return None  # headers with the names of what is no attribute
        self.lines.learn(protocol, metadata)
        try:
            return self.event(**attributes), False
        except TypeError:  # an attribute that no definition names
            return None

    def planned(self, protocol: str, event_type: str | None) -> Planned:
        """How events of a type on a protocol land, worked out once; None when the exact engine has to decide."""
        known = self._plans.get((protocol, event_type))
        if known is not None or (protocol, event_type) in self._plans:
            return known
        if event_type is None or not self.index.has_type(event_type) or len(protocol) > _LONGEST_NAME:
            return None  # nothing is remembered about types that anybody may invent
        candidates = self.index.contenders(canonical_protocol(protocol), event_type)
        found = None
        if len(candidates) == 1 and self._can_plan(candidates[0]):
            decoder = self._decoder_of(candidates[0].definition)
            found = None if decoder is None else (Plan(candidates[0], self.names), decoder)
        if len(self._plans) < _MOST_PLANS:
            self._plans[protocol, event_type] = found
        return found

    def _can_plan(self, candidate: DefinitionMatcher) -> bool:
        stated = candidate.definition.message_type
        can_land = stated is None or is_json_event(str(stated.value))  # no others are read
        return bool(candidate.envelope) and can_land and self.knows(check.path[0] for check in candidate.envelope)

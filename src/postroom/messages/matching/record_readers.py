"""Readers of events for the columnar judge: off lines of JSON, and off the headers of records.

They read the usual forms; the others are left to `protocols.cloudevents`, which knows every form that there is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import repeat
from operator import attrgetter, itemgetter
from typing import Any, Union

import msgspec
from msgspec.structs import astuple

from postroom.messages.definitions.definition import Definition
from postroom.messages.matching.columnar import STRING_ATTRIBUTES, Plan, metadata_getter
from postroom.messages.matching.definition_index import DefinitionIndex, DefinitionMatcher
from postroom.messages.matching.payload_decoders import Decoder
from postroom.messages.matching.transport_metadata import Transport, TransportReader, fixed_paths, moment_of
from postroom.protocols.cloudevents import EVENT_MEDIA, is_json_event, media_type
from postroom.protocols.header_values import decoded
from postroom.protocols.protocol import CONTENT_ENCODING, Wire, attribute_name, is_attribute_name
from postroom.protocols.protocol_table import PROTOCOLS, canonical_protocol, wire_named
from postroom.protocols.records import JSON_EVENT

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
_name_and_value = itemgetter("name", "value")
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


def is_structured(contenttype: str | None) -> bool | None:
    """Whether a content type announces a structured event; None for what is neither that nor a payload's own."""
    media = media_type(contenttype) if contenttype else ""
    if media == JSON_EVENT:
        return True
    return None if media.startswith(EVENT_MEDIA) else False


class LineReader:
    """Reads lines of records. Which headers carry nothing is learned from those that are not plain."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names
        self._others: dict[str, None] = {}
        self.read_any = msgspec.json.Decoder(RecordLine).decode
        self._wires = {spelling: wire for wire in PROTOCOLS if can_be_plain(wire) for spelling in wire.spellings}
        others = [s for wire in PROTOCOLS for s in wire.spellings if s not in self._wires]
        self._general: dict[Any, str] = {_general_type(spelling): spelling for spelling in others}
        self.plain: dict[Any, str] = {}
        """The protocols of plain lines, by their types, those of earlier times included."""
        self.protocols = dict(self._general)
        self._carriages: dict[Any, PlainTransport] = {}
        self._build()

    def _build(self) -> None:
        plain = {self._plain_type(wire, spelling): spelling for spelling, wire in self._wires.items()}
        # Known before they are read: other threads may be about to ask.
        self.plain.update(plain)
        self.protocols.update(plain)
        self.read: Callable[[bytes], Any] = msgspec.json.Decoder(Union[(*plain, *self._general)]).decode

    def learn(self, record: RecordLine) -> None:
        """Look at a record that could be plain, for headers that carry nothing."""
        wire = wire_named(record.protocol)
        container = record.metadata.get(wire.headers)
        if type(container) is not dict:
            return
        known = len(self._others)
        for name in container:
            says_more = name.lower() in (_CONTENT_TYPE, CONTENT_ENCODING)
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

    def transport(self, records: list[Any], *, binary: bool) -> list[Transport] | None:
        """What plain records of one kind carry besides their events; None where each has to be looked at."""
        carriage = self._carriages.get(type(records[0])) if records else None
        return None if carriage is None else carriage.read(records, binary=binary)


class PlainTransport:
    """Where plain records of one kind have what is not part of their events."""

    def __init__(self, wire: Wire, options: dict[str, str], headers: dict[str, str]) -> None:
        self._read = TransportReader(wire, wire, ()).read
        self._headers = wire.headers
        self._others = {name for field, name in headers.items() if field.startswith("_other")}
        self._unsaid = [attrgetter(field) for field, name in headers.items() if name in self._others]
        self._left = [option for name, option in options.items() if (name,) not in fixed_paths(wire)]
        self._fixed = [options[name] for (name,) in fixed_paths(wire)]

    def read(self, records: list[Any], *, binary: bool) -> list[Transport] | None:
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
        first = self._read(self._metadata(records[0]), binary=binary)
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


def can_be_plain(wire: Wire) -> bool:
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


class HeaderReader:
    """Reads the CloudEvents attributes and the content type off the headers of one protocol."""

    def __init__(self, protocol: str) -> None:
        self._wire = wire_named(protocol)
        self.protocol = protocol
        self._names: dict[str, str] = {}
        self._has_odd_names = False
        option = self._wire.option(self._wire.headers) if self._wire.headers else None
        self._headers = option.name if option is not None else ""
        self._convert = decoded if self._wire.percent_encoded else None
        path = self._wire.contenttype
        self._is_header = len(path) > 1 and path[0] == self._wire.headers and path[1] == _CONTENT_TYPE
        self._content_type = metadata_getter(self._wire, path) if path and not self._is_header else None
        encoding = self._wire.contentencoding
        is_header = bool(encoding) and encoding[0] == self._wire.headers
        self._content_encoding = metadata_getter(self._wire, encoding) if encoding and not is_header else None
        self._has_prefix = bool(self._wire.prefixes[0])
        self.has_content_type = self._wire.contenttype_attribute
        self.can_be_plain = can_be_plain(self._wire)

    def marks_event(self, specversion: str | None) -> bool:
        """Whether this value tells an event in binary mode; where headers have no prefix, any may be called so."""
        return specversion is not None if self._has_prefix else specversion == "1.0"

    def read(self, metadata: dict[str, Any]) -> tuple[dict[str, Any], str, bool] | None:
        """Attributes by name, the stated content type, and whether there is nothing else; None for headers that are out
        of the ordinary."""
        container = metadata.get(self._headers)
        pairs = container.items() if type(container) is dict else _pairs(container)
        if pairs is None:
            return None
        attributes: dict[str, Any] = {}
        names, convert = self._names, self._convert
        stated = None
        for name, value in pairs:
            attribute = names.get(name)
            if attribute is None:
                attribute = self._learn(name)
            if attribute:
                if type(value) is not str:
                    return None
                if attribute == _CONTENT_TYPE:
                    if stated is not None:
                        return None
                    stated = value
                elif attribute == CONTENT_ENCODING:
                    return None  # only the exact judge unpacks payloads
                else:
                    attributes[attribute] = value if convert is None else convert(value)
        carried = len(attributes) + (stated is not None)
        is_whole = carried == len(pairs) and stated != "" and "datacontenttype" not in attributes
        if type(container) is list:
            is_whole = is_whole and sum(map(len, container)) == 2 * carried
        if self._content_encoding is not None and self._content_encoding(metadata) is not None:
            return None
        if self._content_type is not None:
            found = self._content_type(metadata)
            stated = found if type(found) is str else ""
        return attributes, stated or "", is_whole and not self._has_odd_names

    def _learn(self, name: Any) -> str:
        attribute = attribute_name(str(name), self._wire.prefixes)
        if attribute and not self._wire.headers_ignore_case and not str(name).endswith(attribute):
            self._has_odd_names = True  # the attribute does not say how the header was spelled
        if not attribute and self._is_header and str(name).lower() == _CONTENT_TYPE:
            attribute = _CONTENT_TYPE
        if not attribute and self._wire.contentencoding and str(name).lower() == CONTENT_ENCODING:
            attribute = CONTENT_ENCODING
        if len(self._names) < MOST_NAMES and len(str(name)) <= _LONGEST_NAME:
            self._names[name] = attribute
        return attribute


def _pairs(container: Any) -> Collection[tuple[str, Any]] | None:
    if container is None:
        return ()
    if type(container) is not list:
        return None
    try:
        return list(map(_name_and_value, container))
    except (TypeError, KeyError):
        pass
    try:
        return [(item["name"], item.get("value")) for item in container]
    except (TypeError, KeyError, AttributeError):
        return None


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
        self._readers: dict[str, HeaderReader] = {}
        self._modes: dict[str | None, bool | None] = {}

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

    def opened(self, record: RecordLine) -> tuple[Any, bool, bool] | None:
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

    def _can_plan(self, candidate: DefinitionMatcher) -> bool:
        stated = candidate.definition.message_type
        can_land = stated is None or is_json_event(str(stated.value))  # no others are read
        return bool(candidate.envelope) and can_land and self.knows(check.path[0] for check in candidate.envelope)

"""What came with a message besides its envelope and payload: channel, key, time, and all that nobody declared.

`extra` is the record's metadata without what other columns show: what the definition declares, the headers that carry
the envelope, and the channel, key and time themselves.
"""

from __future__ import annotations

import binascii
import functools
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from operator import itemgetter
from typing import Any

import msgspec

from postroom.messages.definitions.definition import Definition
from postroom.protocols.cloudevents import body_type_counts
from postroom.protocols.protocol import Wire, attribute_name
from postroom.protocols.protocol_table import wire_named

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_PAIR = {"name", "value"}
_name_of = itemgetter("name")
_value_of = itemgetter("value")
_LONGEST_TIME = len("2026-01-01T00:00:00.000000Z")
_MOST_SHAPES = 512
_LONGEST = 8_000
_LAST_MS = 253_402_300_799_999

Path = tuple[str, ...]
Metadata = dict[str, Any]
Shape = tuple[Any, ...]
Getter = Callable[[Metadata], Any]


# Where a message went, its key, when it was sent (microseconds since 1970), and the rest as JSON text.
Transport = tuple[str | None, bytes | None, int | None, str | None]

NO_TRANSPORT: Transport = (None, None, None, None)


def transport_reader(definition: Definition, protocol: str) -> TransportReader:
    """What reads the metadata of messages of a definition that came by a protocol."""
    wire = wire_named(definition.protocol)
    declared = [constraint.path[:2] for constraint in definition.protocol_constraints]
    # Columns show the first of several headers of one name, however often it is declared: the others are left.
    paths = tuple({_found_by(wire, path): path for path in reversed(declared)}.values())[::-1]
    return _transport_reader(protocol, definition.protocol if paths else protocol, paths)


def _found_by(wire: Wire, path: Path) -> Path:
    """A path in the spelling by which all those that find the same are one."""
    return (path[0], path[1].lower()) if len(path) > 1 and wire.ignores_case(path[1]) else path


def fixed_paths(wire: Wire) -> tuple[Path, Path, Path]:
    """Where a protocol has what gets a column in every table: channel, key, time."""
    return wire.channel, wire.key, wire.sent


class _Known(msgspec.Struct, frozen=True, gc=False):
    """Where metadata of one shape has channel, key and time, and which members are left, or which parts of them."""

    channel: Getter | None
    key: Getter | None
    sent: Getter | None
    members: tuple[tuple[str, tuple[Any, ...] | None], ...]

    def left(self, metadata: Metadata) -> Metadata:
        """What is left of metadata."""
        return {name: _part(metadata[name], keys) for name, keys in self.members}


class TransportReader:
    """Reads the metadata of records of one protocol; `declared` are the paths that have columns of their own, as the
    protocol of the definition has them."""

    def __init__(self, wire: Wire, definition_wire: Wire, declared: tuple[Path, ...]) -> None:
        self._wire = wire
        self._definition_wire = definition_wire
        self._declared = declared
        self._known: dict[tuple[Shape, bool], _Known] = {}

    def read(self, metadata: Metadata, binary: bool, keep: bool = True) -> Transport:
        """What a record's metadata says; in binary mode some headers are the envelope. Without `keep` no `extra`."""
        if not self._wire.name:
            return NO_TRANSPORT
        shape = shape_of(metadata)
        known = None if shape is None else self._known.get((shape, binary))
        if known is not None:
            sent = None if known.sent is None else moment_of(known.sent(metadata))
            if (sent is None) == (known.sent is None):
                channel = None if known.channel is None else known.channel(metadata)
                key = None if known.key is None else known.key(metadata).encode()
                return channel, key, sent, _json(known.left(metadata)) if known.members and keep else None
        channel, key, sent, left = self._taken_apart(metadata, binary)
        if shape is not None and known is None:
            self._learn(metadata, (shape, binary), left)
        return channel, key, sent, _json(left) if left and keep else None

    def _taken_apart(self, metadata: Metadata, binary: bool) -> tuple[str | None, bytes | None, int | None, Metadata]:
        wire, left = self._wire, dict(metadata)
        channel = _taken(wire, left, wire.channel, _text)
        key = _taken(wire, left, wire.key, _text_bytes)
        if wire.key and (key is None or "key_base64" in left):  # a key that was read has its bytes beside it
            key = _taken(wire, left, (f"{wire.key[0]}_base64",), _unpacked) or key
        sent = _taken(wire, left, wire.sent, moment_of)
        for path in self._declared:
            _taken(self._definition_wire, left, path, _some)
        if binary:
            self._take_envelope(left)
        return channel, key, sent, {name: value for name, value in left.items() if value not in ({}, [])}

    def _learn(self, metadata: Metadata, shape: tuple[Shape, bool], left: Metadata) -> None:
        """Remember what is left of metadata of one shape, where the values do not matter for that."""
        wire = self._wire
        values = [wire.lookup(metadata, path) if path else None for path in fixed_paths(wire)]
        is_moment = values[2] is None or (type(values[2]) is not str and moment_of(values[2]) is not None)
        is_usual = all(value is None or type(value) is str for value in values[:2]) and is_moment
        named = [attribute_name(header, wire.prefixes) for _, header, _ in _headers_of(metadata.get(wire.headers))]
        if not is_usual or "datacontenttype" in named or "key_base64" in metadata:
            return
        if len(self._known) < _MOST_SHAPES and len(str(shape)) < _LONGEST:
            members = tuple((name, _keys_left(metadata[name], value)) for name, value in left.items())
            channel, key, sent = (_getter(wire, metadata, path) for path in fixed_paths(wire))
            self._known[shape] = _Known(channel, key, sent, members)

    def _take_envelope(self, left: Metadata) -> None:
        """Take out the headers that an event's attributes were read from, and its content type."""
        wire = self._wire
        stated = wire.content_type(left)
        name = _spelling(wire, left, wire.headers)
        headers = _headers_of(left.get(name))
        numbers = {
            attribute: number
            for number, header, value in headers
            if value is not None and (attribute := attribute_name(header, wire.prefixes))
        }
        attribute_type = headers[numbers["datacontenttype"]][2] if "datacontenttype" in numbers else None
        counts = stated if stated and body_type_counts(wire, numbers) else attribute_type
        if attribute_type != counts:
            numbers.pop("datacontenttype", None)
        shown = {number for attribute, number in numbers.items() if self._says(headers[number][1], attribute)}
        if stated and stated == counts:
            if wire.contenttype[0] == wire.headers:
                shown.add(_number_of(wire, left[name], wire.contenttype[1]))
            else:
                _taken(wire, left, wire.contenttype, _some)
        if shown:
            left[name] = _without(left[name], shown)

    def _says(self, header: str, attribute: str) -> bool:
        """Whether the name of an attribute says all that the name of its header does."""
        return self._wire.headers_ignore_case or header.endswith(attribute)


@functools.lru_cache(maxsize=1024)
def _transport_reader(protocol: str, definition_protocol: str, paths: tuple[Path, ...]) -> TransportReader:
    return TransportReader(wire_named(protocol), wire_named(definition_protocol), paths)


def shape_of(metadata: Metadata) -> Shape | None:
    """The names and types of all that is in metadata; None where something is empty, or not as usual."""
    found: list[Any] = []
    try:
        for name, value in metadata.items():
            found += (name, type(value))
            if type(value) is list:
                values = tuple(map(_value_of, value))
                if sum(map(len, value)) != 2 * len(values) or not all(values):
                    return None
                found += [tuple(map(_name_of, value)), tuple(map(type, values))]
            elif type(value) is dict:
                if not all(value.values()):
                    return None
                found += [tuple(value), tuple(map(type, value.values()))]
            elif value is None or value == "":
                return None
        return tuple(found)
    except (TypeError, KeyError):
        return None


def _json(value: Any) -> str:
    """A value as JSON, names in order."""
    return msgspec.json.encode(value, order="deterministic").decode()


def _keys_left(whole: Any, part: Any) -> tuple[Any, ...] | None:
    """Which members or items of a container are left; None for all of it."""
    if isinstance(whole, dict):
        return tuple(part)
    if isinstance(whole, list):
        kept = {id(item) for item in part}
        return tuple(number for number, item in enumerate(whole) if id(item) in kept)
    return None


def _part(whole: Any, keys: tuple[Any, ...] | None) -> Any:
    if keys is None:
        return whole
    return {name: whole[name] for name in keys} if isinstance(whole, dict) else [whole[number] for number in keys]


def _getter(wire: Wire, metadata: Metadata, path: Path) -> Getter | None:
    """What gets the value at a path of metadata of one shape; None where there is none."""
    if not path or wire.lookup(metadata, path) is None:
        return None
    name = _spelling(wire, metadata, path[0])
    outer = itemgetter(name)
    if len(path) == 1:
        return outer
    inner = itemgetter(path[1])
    return lambda found: inner(outer(found))


def _taken(wire: Wire, left: Metadata, path: Path, read: Callable[[Any], Any]) -> Any:
    """Take the value at a path out of metadata, if it can be read; None, and nothing is taken, where it cannot."""
    if not path:
        return None
    name = _spelling(wire, left, path[0])
    container = left.get(name)
    if len(path) == 1:
        found = None if container is None else read(container)
        if found is not None:
            del left[name]
        return found
    option = wire.option(path[0])
    if option is not None and option.shape == "named":
        headers = _headers_of(container)
        number = _number_of(wire, container, path[1])
        found = None if number < 0 or headers[number][2] is None else read(headers[number][2])
        if found is not None:
            left[name] = _without(container, {number})
        return found
    if not isinstance(container, dict) or container.get(path[1]) is None:
        return None
    found = read(container[path[1]])
    if found is not None:
        left[name] = {member: value for member, value in container.items() if member != path[1]}
    return found


def _spelling(wire: Wire, metadata: Metadata, name: str) -> str:
    """The name by which metadata has an option."""
    option = None if name in metadata else wire.option(name)
    spellings = () if option is None else (option.name, *option.aliases)
    return next((spelling for spelling in spellings if spelling in metadata), name)


def _headers_of(container: Any) -> list[tuple[int, str, Any]]:
    """Headers with their numbers among what there is."""
    if isinstance(container, dict):
        return [(number, str(name), value) for number, (name, value) in enumerate(container.items())]
    if not isinstance(container, list):
        return []
    pairs = [item if isinstance(item, dict) and "name" in item else {"name": ""} for item in container]
    return [(number, str(pair["name"]), pair.get("value")) for number, pair in enumerate(pairs)]


def _number_of(wire: Wire, container: Any, name: str) -> int:
    """The number of the header that `Wire.lookup` finds by a name; -1 for none."""
    exactly = not wire.ignores_case(name) or (isinstance(container, dict) and name in container)
    wanted = name if exactly else name.lower()
    found = (n for n, header, _ in _headers_of(container) if (header if exactly else header.lower()) == wanted)
    return next(found, -1)


def _without(container: Any, numbers: set[int]) -> Any:
    """Headers without some of them; a pair that says more than name and value stays."""
    if isinstance(container, dict):
        return {name: value for number, (name, value) in enumerate(container.items()) if number not in numbers}
    return [item for number, item in enumerate(container) if number not in numbers or not _PAIR.issuperset(item)]


def _some(value: Any) -> Any:
    return value


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _text_bytes(value: Any) -> bytes | None:
    return value.encode() if isinstance(value, str) else None


def _unpacked(value: Any) -> bytes | None:
    try:
        return binascii.a2b_base64(value, strict_mode=True) if isinstance(value, str) else None
    except (binascii.Error, ValueError):
        return None


def moment_of(value: Any) -> int | None:
    """A point in time in microseconds: milliseconds since 1970, RFC 3339 in UTC, or the date of an HTTP header. None
    where a column of microseconds would not say the same."""
    if type(value) is int:
        return value * 1000 if 0 <= value <= _LAST_MS else None
    if not isinstance(value, str):
        return None
    return _microseconds(value, datetime.fromisoformat) if value[:1].isdigit() else _microseconds(value, _http_date)


def _microseconds(text: str, read: Callable[[str], datetime]) -> int | None:
    try:
        moment = read(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.utcoffset() != timedelta(0) or (text[:1].isdigit() and not _is_plain_time(text)):
        return None
    return (moment - _EPOCH) // _MICROSECOND


def _is_plain_time(text: str) -> bool:
    return len(text) <= _LONGEST_TIME and text[10:11] == "T" and text.endswith("Z") and text[11:13] != "24"


def _http_date(text: str) -> datetime:
    moment = parsedate_to_datetime(text)
    if format_datetime(moment, usegmt=True) != text:
        raise ValueError(text)
    return moment

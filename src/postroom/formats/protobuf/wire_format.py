"""The wire format: a slow, careful walk over the bytes of a payload that says what does not fit, and where.

Only payloads that the fast path refused or doubted come here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import DecodeError, Message

from postroom.formats.protobuf import well_known_types
from postroom.formats.protobuf.compile_schema import CompiledSchema
from postroom.formats.protobuf.fields import is_map, member_name, message_class
from postroom.formats.schema import Violation
from postroom.model.json_pointers import pointer

MOST_VIOLATIONS = 20
DEEPEST = 100
VARINT, FIXED64, BYTES, GROUP, END_GROUP, FIXED32 = range(6)
_WIRE_NAMES = ("a varint", "8 bytes", "a length and bytes", "a group", "the end of a group", "4 bytes")
_F = FieldDescriptor
_VARINTS = {_F.TYPE_INT32, _F.TYPE_INT64, _F.TYPE_UINT32, _F.TYPE_UINT64, _F.TYPE_SINT32, _F.TYPE_SINT64}
WIRE_TYPES = {
    **dict.fromkeys((*_VARINTS, _F.TYPE_BOOL, _F.TYPE_ENUM), VARINT),
    **dict.fromkeys((_F.TYPE_FIXED64, _F.TYPE_SFIXED64, _F.TYPE_DOUBLE), FIXED64),
    **dict.fromkeys((_F.TYPE_FIXED32, _F.TYPE_SFIXED32, _F.TYPE_FLOAT), FIXED32),
    **dict.fromkeys((_F.TYPE_STRING, _F.TYPE_BYTES, _F.TYPE_MESSAGE), BYTES),
    _F.TYPE_GROUP: GROUP,
}
_LAST_NUMBER = 2**29 - 1


class Indexes(NamedTuple):
    """The way to a message of a document, as Confluent's serialisers write it behind the id; and where it ends."""

    numbers: tuple[int, ...]
    end: int


class _Broken(Exception):
    def __init__(self, sentence: str) -> None:
        super().__init__(sentence)
        self.sentence = sentence


class _Field(NamedTuple):
    number: int
    wire: int
    value: Any


def indexes_of(payload: bytes, start: int) -> Indexes | None:
    """The way to a message that stands at a place of a payload; None where there is none."""
    try:
        count, at = _zigzag(payload, start)
        if count == 0:
            return Indexes((0,), at)
        if not 0 < count <= DEEPEST:
            return None
        numbers = []
        for _ in range(count):
            number, at = _zigzag(payload, at)
            numbers.append(number)
    except _Broken:
        return None
    return Indexes(tuple(numbers), at) if min(numbers) >= 0 else None


def explain(payload: bytes, message: Descriptor, compiled: CompiledSchema) -> list[Violation]:
    """What in a payload does not fit a message type; nothing when only unknown fields were met."""
    walk = _Walk(compiled)
    walk.message(payload, message, (), 0)
    return walk.violations


def missing_members(message: Message) -> list[Violation]:
    """The required members that a parsed message lacks."""
    found: list[Violation] = []
    waiting: list[tuple[tuple[object, ...], Any]] = [((), message)]
    while waiting and len(found) < MOST_VIOLATIONS:
        steps, current = waiting.pop()
        message_type = type(current)
        found += [
            Violation(pointer(steps), "payload_required", field.name, "nothing")
            for field in message_type.DESCRIPTOR.fields
            if field.is_required and not message_type.HasField(current, field.name)
        ]
        waiting += _submessages(current, steps)
    return found


def _submessages(message: Any, steps: tuple[object, ...]) -> Iterator[tuple[tuple[object, ...], Any]]:
    for field, value in type(message).ListFields(message):
        name = member_name(field)
        if is_map(field):
            if field.message_type.fields_by_name["value"].message_type is not None:
                yield from (((*steps, name, key), item) for key, item in value.items())
        elif field.message_type is not None:
            items = enumerate(value) if field.is_repeated else [(None, value)]
            yield from (((*steps, name) if at is None else (*steps, name, at), item) for at, item in items)


class _Walk:
    def __init__(self, compiled: CompiledSchema) -> None:
        self.compiled = compiled
        self.violations: list[Violation] = []

    def add(self, steps: tuple[object, ...], code: str, expected: str, found: str) -> None:
        if len(self.violations) < MOST_VIOLATIONS:
            self.violations.append(Violation(pointer(steps), code, expected, found))

    def message(
        self, payload: bytes, message: Descriptor, steps: tuple[object, ...], depth: int, is_entry: bool = False
    ) -> None:
        if depth > DEEPEST:
            self.add(steps, "payload_nesting", f"nested at most {DEEPEST} deep", "nested deeper")
            return
        members = {member.number: member for member in self.compiled.members(message)}
        counts: Counter[int] = Counter()
        try:
            for field in _fields(payload, depth):
                if len(self.violations) >= MOST_VIOLATIONS:
                    return
                member = members.get(field.number)
                if member is None and is_entry:
                    # The parser passes over a whole entry that has more.
                    self.add(steps, "payload_map_entry", "a key and a value", f"also a field {field.number}")
                elif member is not None:
                    here = steps if is_entry else (*steps, *_steps(member, counts, field.value))
                    self.field(field, member, here, depth)
        except _Broken as broken:
            self.add(steps, "payload_not_protobuf", f"a {message.name} in Protobuf's binary form", broken.sentence)
        if message.full_name in (well_known_types.TIMESTAMP, well_known_types.DURATION):
            self.moment(payload, message, steps)

    def field(self, field: _Field, member: FieldDescriptor, steps: tuple[object, ...], depth: int) -> None:
        wire = WIRE_TYPES[member.type]
        if field.wire != wire:
            if field.wire == BYTES and member.is_repeated and wire in (VARINT, FIXED32, FIXED64):
                self.packed(field.value, wire, member, steps)
            else:
                self.add(steps, "payload_wire_type", _WIRE_NAMES[wire], f"{_WIRE_NAMES[field.wire]} (the type differs)")
        elif member.message_type is not None:
            self.message(field.value, member.message_type, steps, depth + 1, is_map(member))
        else:
            self.scalar(field.value, member, steps)

    def packed(self, payload: bytes, wire: int, member: FieldDescriptor, steps: tuple[object, ...]) -> None:
        if wire != VARINT:
            size = 4 if wire == FIXED32 else 8
            if len(payload) % size:
                self.add(steps, "payload_not_protobuf", f"values of {size} bytes each", f"{len(payload)} bytes")
            return
        at = 0
        try:
            while at < len(payload):
                value, at = _varint(payload, at)
                self.scalar(value, member, steps)
        except _Broken as broken:
            self.add(steps, "payload_not_protobuf", "packed varints", broken.sentence)

    def scalar(self, value: Any, member: FieldDescriptor, steps: tuple[object, ...]) -> None:
        if member.type == _F.TYPE_STRING:
            try:
                value.decode()
            except UnicodeDecodeError as error:
                self.add(steps, "payload_not_text", "UTF-8 text", f"byte {value[error.start]:#04x} at {error.start}")
        elif member.enum_type is not None and member.enum_type.is_closed:
            number = (value & 0xFFFFFFFF ^ 0x80000000) - 0x80000000
            if number not in member.enum_type.values_by_number:
                names = ", ".join(list(member.enum_type.values_by_name)[:10])
                self.add(steps, "payload_enum", f"one of {names}", str(number))

    def moment(self, payload: bytes, message: Descriptor, steps: tuple[object, ...]) -> None:
        try:
            parsed = message_class(message).FromString(payload)
            if message.full_name == well_known_types.TIMESTAMP:
                well_known_types.timestamp_text(parsed)
            else:
                well_known_types.duration_text(parsed)
        except well_known_types.OutOfRange as error:
            if message.full_name == well_known_types.TIMESTAMP:
                self.add(steps, "payload_range", "a point in time of the years 1 to 9999", str(error))
            else:
                self.add(
                    steps, "payload_range", "a duration of at most 10,000 years, its parts of one sign", str(error)
                )
        except DecodeError:
            return


def _steps(member: FieldDescriptor, counts: Counter[int], value: Any) -> tuple[object, ...]:
    if not member.is_repeated:
        return (member_name(member),)
    counts[member.number] += 1
    index = counts[member.number] - 1
    entry = member.message_type
    return (member_name(member), _key(entry, value, index) if entry is not None and is_map(member) else index)


def _key(entry: Descriptor, value: Any, index: int) -> object:
    """The key of a map's entry; its index where the entry cannot be parsed."""
    try:
        parsed: Any = message_class(entry).FromString(value)
        key: object = parsed.key
    except (DecodeError, TypeError):
        return index
    return str(key).lower() if isinstance(key, bool) else key


def _fields(payload: bytes, depth: int) -> Iterator[_Field]:
    at = 0
    while at < len(payload):
        field, at = _field(payload, at, depth)
        yield field


def _field(payload: bytes, start: int, depth: int) -> tuple[_Field, int]:
    number, wire, at = _tag(payload, start)
    if wire == VARINT:
        value, at = _varint(payload, at)
        return _Field(number, wire, value), at
    if wire == GROUP:
        end, after = _group_end(payload, at, number, depth)
        return _Field(number, wire, payload[at:end]), after
    if wire == BYTES:
        length, at = _varint(payload, at)
    elif wire in (FIXED32, FIXED64):
        length = 4 if wire == FIXED32 else 8
    else:
        raise _Broken(f"wire type {wire} at byte {start}")
    if at + length > len(payload):
        raise _Broken(f"an end after {len(payload)} bytes, where field {number} needs {at + length}")
    return _Field(number, wire, payload[at : at + length]), at + length


def _tag(payload: bytes, at: int) -> tuple[int, int, int]:
    tag, after = _varint(payload, at)
    number, wire = tag >> 3, tag & 7
    if not 0 < number <= _LAST_NUMBER:
        raise _Broken(f"the field number {number} at byte {at}")
    return number, wire, after


def _group_end(payload: bytes, at: int, number: int, depth: int) -> tuple[int, int]:
    opened = [number]
    while at < len(payload):
        inner, wire, after = _tag(payload, at)
        if wire == END_GROUP:
            if inner != opened.pop():
                raise _Broken(f"the end of another group at byte {at}")
            if not opened:
                return at, after
            at = after
        elif wire == GROUP:
            if len(opened) + depth > DEEPEST:
                raise _Broken(f"groups nested deeper than {DEEPEST}")
            opened.append(inner)
            at = after
        else:
            _, at = _field(payload, at, depth)
    raise _Broken(f"a group that does not end within its {len(payload)} bytes")


def _varint(payload: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(10):
        if at + shift >= len(payload):
            raise _Broken(f"an end after {len(payload)} bytes, inside a number")
        byte = payload[at + shift]
        value |= (byte & 0x7F) << (7 * shift)
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at + shift + 1
    raise _Broken(f"a number of more than 10 bytes at byte {at}")


def written_indexes(numbers: Sequence[int]) -> bytes:
    """The way to a message, as it stands behind an id."""
    if list(numbers) == [0]:
        return b"\0"
    return b"".join(_varint_of(2 * number) for number in (len(numbers), *numbers))


def _varint_of(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*found, number))


def _zigzag(payload: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(payload, at)
    return (value >> 1) ^ -(value & 1), at

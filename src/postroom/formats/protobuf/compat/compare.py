"""Comparison of two Protobuf schemas: can everything the writer produces be read by the reader?

The rules look at descriptors. A broken rule makes a payload to show it, the smallest one that holds given members at
a given depth, and the runtime reads that payload with both schemas before it is reported.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from postroom.formats.protobuf import well_known_types
from postroom.formats.protobuf.compat import same_meaning
from postroom.formats.protobuf.compat.field_type_changes import candidates, is_safe, type_name
from postroom.formats.protobuf.compile_schema import CompiledSchema
from postroom.formats.protobuf.fields import MapEntry, is_map, map_entry, member_name, message_class
from postroom.formats.protobuf.message_writer import MessageWriter
from postroom.formats.protobuf.root_message import relative_name, root_message, top_messages, unused_messages
from postroom.formats.schema import Verdict
from postroom.formats.show_value import show_value
from postroom.formats.work_budget import spend

Path = tuple[tuple[Descriptor, FieldDescriptor], ...]
_DEEPEST_EXAMPLE = 60
_MOST_MEMBERS = 5_000
_MOST_PAIRS = 5_000
_MOST_TRIES = 60
_F = FieldDescriptor
Members = dict[str, Any]


class _NoCounterexample(Exception):
    pass


class BrokenRule(NamedTuple):
    """A rule that is broken: why, where in both schemas, and values of the message that may show it."""

    reason: str
    writer_at: str
    reader_at: str
    examples: list[Members]


class _Pair(NamedTuple):
    writer: Descriptor
    reader: Descriptor
    path: Path


def readable(
    writer: CompiledSchema, reader: CompiledSchema, writer_fragment: str = "", reader_fragment: str = ""
) -> Verdict:
    """Compare two documents, or one message of each where fragments name them."""
    if writer_fragment or reader_fragment:
        pairs = [(root_message(writer.file, writer_fragment), root_message(reader.file, reader_fragment))]
        return _SchemaComparison(writer, reader).verdict(pairs, [])
    pairs, removed = _message_pairs(writer, reader)
    return _SchemaComparison(writer, reader).verdict([*pairs, *_method_pairs(writer, reader)], removed)


def _message_pairs(
    writer: CompiledSchema, reader: CompiledSchema
) -> tuple[list[tuple[Descriptor, Descriptor]], list[Descriptor]]:
    """Messages of the same name without the package; and those the reader lacks though payloads may hold them."""
    there = {relative_name(message): message for message in top_messages(reader.file)}
    pairs = [(m, there[relative_name(m)]) for m in top_messages(writer.file) if relative_name(m) in there]
    roots, other_roots = unused_messages(writer.file), unused_messages(reader.file)
    removed = [message for message in roots if relative_name(message) not in there]
    if removed and len(roots) == len(other_roots) == 1:
        return [(roots[0], other_roots[0]), *pairs], []
    return pairs, removed


def _method_pairs(writer: CompiledSchema, reader: CompiledSchema) -> Iterator[tuple[Descriptor, Descriptor]]:
    for name, service in writer.file.services_by_name.items():
        other = reader.file.services_by_name.get(name)
        for method in service.methods:
            same = other.methods_by_name.get(method.name) if other is not None else None
            if same is not None:
                yield method.input_type, same.input_type
                yield method.output_type, same.output_type


class _SchemaComparison:
    def __init__(self, writer: CompiledSchema, reader: CompiledSchema) -> None:
        self.writer = writer
        self.reader = reader
        self.notes: dict[str, None] = {}
        self.undecided = ""

    def verdict(self, roots: list[tuple[Descriptor, Descriptor]], removed: list[Descriptor]) -> Verdict:
        if removed:
            return self._removed(removed[0])
        seen: set[tuple[str, str]] = set()
        for root in roots:
            found = self._walk(root, seen)
            if found is not None:
                return found
        if self.undecided:
            return Verdict(answer="undecided", reason=self.undecided)
        return Verdict(answer="compatible", reason=" ".join(list(self.notes)[:5]))

    def _walk(self, root: tuple[Descriptor, Descriptor], seen: set[tuple[str, str]]) -> Verdict | None:
        waiting = deque([_Pair(*root, ())])
        while waiting:
            pair = waiting.popleft()
            names = (pair.writer.full_name, pair.reader.full_name)
            # The same well-known type on both sides needs no look.
            if names in seen or (names[0] == names[1] and names[0] in well_known_types.NAMES):
                continue
            seen.add(names)
            if len(seen) > _MOST_PAIRS:
                self.undecided = f"the schemas have more than {_MOST_PAIRS} pairs of messages to compare."
                return None
            for broken in self._breaks(pair):
                found = self._demonstrate(broken, root, pair)
                if found is not None:
                    return found
            waiting += self._inner(pair)
        return None

    def _demonstrate(self, broken: BrokenRule, root: tuple[Descriptor, Descriptor], pair: _Pair) -> Verdict | None:
        sides = ((self.writer, root[0]), (self.reader, root[1]))
        for example in broken.examples[:_MOST_TRIES]:
            spend(100)
            try:
                payload, value = _payload_at(self.writer, root[0], pair.path, pair.writer, example)
            except _NoCounterexample:
                continue
            lost = same_meaning.lost_meaning(payload, *sides)
            if lost:
                return Verdict(
                    answer="incompatible",
                    reason=f"{broken.reason}: {lost}.",
                    writer_at=broken.writer_at,
                    reader_at=broken.reader_at,
                    counterexample=payload,
                    shown=f"{relative_name(root[0])} {show_value(value)}",
                )
        self.undecided = self.undecided or f"{broken.reason}, but no payload was found that shows it."
        return None

    def _removed(self, message: Descriptor) -> Verdict:
        name = relative_name(message)
        try:
            payload, value = _payload_at(self.writer, message, (), message, {})
        except _NoCounterexample:
            return Verdict(answer="undecided", reason=f"the reader has no message {name}, which may have no payloads.")
        return Verdict(
            answer="incompatible",
            reason=f"the reader's document has no message {name}.",
            writer_at=message.full_name,
            counterexample=payload,
            shown=f"{name} {show_value(value)}",
        )

    def _breaks(self, pair: _Pair) -> Iterator[BrokenRule]:
        written = self.writer.members(pair.writer)
        read = {member.number: member for member in self.reader.members(pair.reader)}
        names = {member_name(member): member for member in read.values()}
        for field in written:
            spend()
            member, namesake = read.get(field.number), names.get(member_name(field))
            if namesake is not None and namesake.number != field.number:
                reason = f"{field.name} moved from number {field.number} to {namesake.number}"
                yield BrokenRule(reason, field.full_name, namesake.full_name, _examples(field, namesake))
            elif member is not None:
                yield from self._field(field, member)
            elif pair.reader.GetOptions().map_entry:
                # The runtime passes over a whole entry that has more than a key and a value.
                reason = f"{field.name} has no place in the entries of a map"
                yield BrokenRule(reason, field.full_name, pair.reader.full_name, _examples(field, field))
        self._note(pair)
        yield from _required(written, read.values(), pair.writer.full_name)
        yield from _oneofs(written, pair.reader)

    def _field(self, field: FieldDescriptor, member: FieldDescriptor) -> Iterator[BrokenRule]:
        if member_name(field) != member_name(member):
            self.notes[f"{field.full_name} is called {member.name} by the reader: JSON payloads break."] = None
        paths = (field.full_name, member.full_name)
        if field.is_repeated and not member.is_repeated:
            pairs = [{member_name(field): _many(field, value)} for value in _values(field, member)]
            yield BrokenRule(f"{field.name} was a list and is a single value", *paths, pairs)
        elif is_map(member) and field.is_repeated and field.message_type is not None and not is_map(field):
            yield BrokenRule(f"{field.name} was a list and is a map", *paths, [{member_name(field): [{}, {}]}])
        elif not is_safe(field, member):
            reason = f"{field.name} changed its type from {type_name(field)} to {type_name(member)}"
            yield BrokenRule(reason, *paths, _examples(field, member))

    def _note(self, pair: _Pair) -> None:
        """What only JSON payloads, or payloads older than the writer, show."""
        reserved = [range(span.start, span.end) for span in _proto(pair.writer).reserved_range]
        for member in pair.reader.fields:
            if any(member.number in numbers for numbers in reserved):
                self.notes[
                    f"{member.full_name} takes number {member.number}, which the writer reserves: "
                    "payloads older than the writer may hold something else there."
                ] = None

    def _inner(self, pair: _Pair) -> Iterator[_Pair]:
        read = {member.number: member for member in self.reader.members(pair.reader)}
        for field in self.writer.members(pair.writer):
            member = read.get(field.number)
            if member is not None and field.message_type is not None and member.message_type is not None:
                yield _Pair(field.message_type, member.message_type, (*pair.path, (pair.writer, field)))


def _proto(message: Descriptor) -> Any:
    proto = descriptor_pb2.DescriptorProto()
    message.CopyToProto(proto)
    return proto


def _required(written: list[FieldDescriptor], read: Iterable[FieldDescriptor], at: str) -> Iterator[BrokenRule]:
    required = {field.number for field in written if field.is_required}
    for member in read:
        if member.is_required and member.number not in required:
            yield BrokenRule(
                f"{member.name} is required by the reader only",
                at,
                member.full_name,
                [{}],
            )


def _oneofs(written: list[FieldDescriptor], reader: Descriptor) -> Iterator[BrokenRule]:
    by_number = {field.number: field for field in written}
    for oneof in reader.oneofs:
        known = [by_number[member.number] for member in oneof.fields if member.number in by_number]
        first = known[0] if known else None
        for field in known[1:]:
            if first is not None and not _exclude(first, field):
                examples = [
                    {member_name(first): one, member_name(field): other}
                    for one, other in zip(_values(first, first), _values(field, field), strict=False)
                ]
                reason = f"{first.name} and {field.name} exclude each other for the reader only"
                yield BrokenRule(reason, field.full_name, oneof.full_name, examples)


def _exclude(one: FieldDescriptor, other: FieldDescriptor) -> bool:
    oneof, another = one.containing_oneof, other.containing_oneof
    return oneof is not None and another is not None and oneof.full_name == another.full_name


def _examples(field: FieldDescriptor, member: FieldDescriptor) -> list[Members]:
    entry = map_entry(field)
    if entry is not None:
        return [{member_name(field): {_keys(entry)[0]: value}} for value in _values(entry.value, entry.value)]
    values = _values(field, member)
    return [{member_name(field): [value] if field.is_repeated else value} for value in values]


def _values(field: FieldDescriptor, member: FieldDescriptor) -> list[Any]:
    return [{}] if field.message_type is not None else candidates(field, member)


def _many(field: FieldDescriptor, value: Any) -> Any:
    entry = map_entry(field)
    return [value, value] if entry is None else dict.fromkeys(_keys(entry), _values(entry.value, entry.value)[0])


def _keys(entry: MapEntry) -> tuple[str, str]:
    return ("true", "false") if entry.key.type == _F.TYPE_BOOL else ("1", "2")


def _payload_at(
    compiled: CompiledSchema, root: Descriptor, path: Path, message: Descriptor, members: dict[str, Any]
) -> tuple[bytes, Any]:
    """A payload whose message at the end of a path has the members, and the same as a value."""
    value: Any = {**_RequiredMembers(compiled).message(message), **members}
    for parent, field in reversed(path):
        value = {**_RequiredMembers(compiled).message(parent), member_name(field): _held(field, value)}
    made = message_class(root)()
    writer = MessageWriter(compiled)
    writer.write(made, value)
    if writer.violations or not type(made).IsInitialized(made):
        raise _NoCounterexample
    payload: bytes = type(made).SerializeToString(made)
    return payload, value


def _held(field: FieldDescriptor, value: Any) -> Any:
    entry = map_entry(field)
    if entry is not None:
        key = value.get("key", _least_value(entry.key))
        held = value.get("value", {} if entry.value.message_type is not None else _least_value(entry.value))
        return {str(key).lower() if isinstance(key, bool) else str(key): held}
    return [value] if field.is_repeated else value


class _RequiredMembers:
    """The required members of messages, and nothing else."""

    def __init__(self, compiled: CompiledSchema) -> None:
        self.compiled = compiled
        self.left = _MOST_MEMBERS

    def message(self, message: Descriptor, depth: int = 0) -> dict[str, Any]:
        self.left -= 1
        if depth > _DEEPEST_EXAMPLE or self.left < 0:
            raise _NoCounterexample
        found: dict[str, Any] = {}
        for field in message.fields:
            if field.is_required:
                inner = field.message_type
                found[field.name] = _least_value(field) if inner is None else self._inner(inner, depth)
        return found

    def _inner(self, message: Descriptor, depth: int) -> Any:
        if message.full_name in well_known_types.NAMES:
            raise _NoCounterexample
        return self.message(message, depth + 1)


def _least_value(field: FieldDescriptor) -> Any:
    if field.enum_type is not None:
        return field.enum_type.values[0].number
    if field.type == FieldDescriptor.TYPE_BOOL:
        return False
    if field.type == FieldDescriptor.TYPE_STRING:
        return ""
    return b"" if field.type == FieldDescriptor.TYPE_BYTES else 0

"""Checking messages without reading their values: only what a parser passes over is looked at."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

from google.protobuf import message_factory
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.unknown_fields import UnknownFieldSet

from postroom.formats.protobuf import wellknown
from postroom.formats.protobuf.compiled import Compiled
from postroom.formats.protobuf.members import entry_of, held_message, is_map
from postroom.formats.protobuf.reading import Suspicious, look

Check = Callable[[Any], Any]


def reachable(compiled: Compiled, message: Descriptor) -> dict[str, Descriptor]:
    """A message type and all that its members lead to, by name."""
    found = {message.full_name: message}
    waiting = [message]
    while waiting:
        for member in compiled.members(waiting.pop()):
            inner = member.message_type
            if inner is not None and inner.full_name not in found:
                found[inner.full_name] = inner
                waiting.append(inner)
    return found


def has_required(compiled: Compiled, message: Descriptor) -> bool:
    """Whether a message or anything inside it has a required member."""
    return any(field.is_required for inner in reachable(compiled, message).values() for field in inner.fields)


class Checker:
    """Raises Suspicious or OutOfRange for messages that reading them strictly would raise it for."""

    def __init__(self, compiled: Compiled) -> None:
        self._compiled = compiled
        self._checks: dict[str, Check] = {}

    def checks(self, message: Descriptor) -> Check:
        """The function that checks messages of a type."""
        for name, inner in reachable(self._compiled, message).items():
            self._checks[name] = _KNOWN.get(name) or self._check(inner)
        return self._checks[message.full_name]

    def _check(self, message: Descriptor) -> Check:
        known = frozenset(member.number for member in self._compiled.members(message))
        steps = list(self._steps(message))

        def check_alone(held: Any) -> None:
            if UnknownFieldSet(held):
                look(held, known)

        def check(held: Any) -> None:
            if UnknownFieldSet(held):
                look(held, known)
            for step in steps:
                step(held)

        return check if steps else check_alone

    def _steps(self, message: Descriptor) -> Iterator[Check]:
        has = message_factory.GetMessageClass(message).HasField
        for member in message.fields:
            inner = held_message(member)
            if inner is not None and inner.full_name not in _FREE:
                yield self._message_step(member, inner.full_name, has)
            if _has_text(member) and not self._compiled.verifies_text(member):
                yield _text_step(member)

    def _message_step(self, member: FieldDescriptor, inner: str, has: Any) -> Check:
        name, checks = member.name, self._checks

        def each(held: Any) -> None:
            items = getattr(held, name)
            if items:
                check = checks[inner]
                for item in items.values() if is_a_map else items:
                    check(item)

        def one(held: Any) -> None:
            if has(held, name):
                checks[inner](getattr(held, name))

        is_a_map = is_map(member)
        return each if member.is_repeated else one


def _has_text(member: FieldDescriptor) -> bool:
    return any(field.type == FieldDescriptor.TYPE_STRING for field in entry_of(member) or (member,))


def _text_step(member: FieldDescriptor) -> Check:
    name = member.name

    def one(held: Any) -> None:
        if type(getattr(held, name)) is not str:
            raise Suspicious

    def each(held: Any) -> None:
        items = getattr(held, name)
        for item in itertools.chain(items.keys(), items.values()) if is_a_map else items:
            if type(item) is bytes:
                raise Suspicious

    is_a_map = is_map(member)
    return each if member.is_repeated else one


# Free-form parts hold whatever parses.
_FREE = wellknown.FREE_FORM | wellknown.WRAPPERS | {wellknown.FIELD_MASK}
_KNOWN: dict[str, Check] = {
    wellknown.TIMESTAMP: wellknown.timestamp_text,
    wellknown.DURATION: wellknown.duration_text,
    **dict.fromkeys(_FREE, lambda message: None),
}

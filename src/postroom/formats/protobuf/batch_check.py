"""Batch check: whether payloads surely fit, many at once and without their values.

All payloads are parsed into one message; what the parser set aside in any of them is found there, once for all.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import Any, cast

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from postroom.errors import SchemaRefused
from postroom.formats.protobuf import well_known_types
from postroom.formats.protobuf.compile_schema import CompiledSchema
from postroom.formats.protobuf.fields import message_class
from postroom.formats.protobuf.mergeable_messages import APART

_MOST_TOGETHER = 256
_MOST_BYTES = 2**20
_seconds, _nanos = attrgetter("seconds"), attrgetter("nanos")


def batch_checker(compiled: CompiledSchema, message: Descriptor) -> BatchChecker | None:
    """The checker of a message type; None where payloads have to be read to be validated."""
    reachable = list(compiled.reachable(message))
    names = {found.full_name for found in reachable}
    # Any holds messages that only reading opens, and message sets have a wire format of their own.
    if well_known_types.ANY in names or message.full_name in well_known_types.NAMES or any(map(_is_set, reachable)):
        return None
    try:
        merged = compiled.mergeable.FindMessageTypeByName(message.full_name)
        return BatchChecker(compiled, message_class(message), message_class(merged), reachable)
    except (TypeError, KeyError, SchemaRefused):
        return None


class BatchChecker:
    """Checks payloads of one message type; it may only accept, whatever else has to be validated."""

    def __init__(self, compiled: CompiledSchema, exact: Any, merged: Any, reachable: Iterable[Descriptor]) -> None:
        self._merged = merged
        self._parse = exact.FromString
        self._is_complete = exact.IsInitialized
        self._declared: dict[str, frozenset[int] | None] = {}
        self._requires = False
        for message in reachable:
            members = compiled.members(message)
            self._requires = self._requires or any(member.is_required for member in members)
            # An entry of a map has nothing but what is declared.
            numbers = None if message.GetOptions().map_entry else frozenset(member.number for member in members)
            self._declared[message.full_name] = numbers

    def accepts_all(self, payloads: Sequence[bytes], fallback: set[int]) -> None:
        """Add the indexes of payloads that do not surely fit to `fallback`."""
        longest = max(map(len, payloads), default=0)
        together = max(1, min(_MOST_TOGETHER, _MOST_BYTES // (longest + 1)))
        for start in range(0, len(payloads), together):
            some = payloads[start : start + together]
            if not self._accepts(some):
                singly = enumerate(some, start)
                fallback.update(index for index, payload in singly if len(some) == 1 or not self._accepts((payload,)))

    def _accepts(self, payloads: Sequence[bytes]) -> bool:
        merged = self._merged()
        try:
            deque(map(self._merged.MergeFromString.__get__(merged), payloads), maxlen=0)
        except DecodeError:
            return False
        if self._requires and not all(map(self._is_complete, map(self._parse, payloads))):
            return False
        return self._is_clean(merged)

    def _is_clean(self, merged: Any) -> bool:
        """Whether nothing of a declared field was set aside, and all times are in their range."""
        waiting = [merged]
        while waiting:
            message = waiting.pop()
            cls = type(message)
            if UnknownFieldSet(message) and not self._are_undeclared(message, cls.DESCRIPTOR.full_name):
                return False
            for field, value in cls.ListFields(message):
                held = field.message_type
                if held is None:
                    continue
                if held.full_name not in APART:
                    waiting.append(value)
                elif not _are_in_range(held.full_name, value):
                    return False
        return True

    def _are_undeclared(self, message: Any, name: str) -> bool:
        declared = self._declared[name]
        unknown = cast(Iterable[Any], UnknownFieldSet(message))
        return declared is not None and not any(field.field_number in declared for field in unknown)


def _is_set(message: Descriptor) -> bool:
    return bool(message.GetOptions().message_set_wire_format)


def _are_in_range(name: str, times: Any) -> bool:
    """Whether times surely are in their range, each part by itself: a payload may spread a time over several places."""
    seconds, nanos = list(map(_seconds, times)), list(map(_nanos, times))
    first, last = well_known_types.SECONDS if name == well_known_types.TIMESTAMP else (0, well_known_types.LONGEST)
    return bool(
        first <= min(seconds) and max(seconds) <= last and min(nanos) >= 0 and max(nanos) < well_known_types.NANOS
    )

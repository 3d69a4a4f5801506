"""Plans: what it takes to land an event in the one definition it can mean, worked out before any event comes.

A plan may only accept. Whatever it does not accept, with reasons or without, is judged by the exact rules of
`matching`; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from operator import attrgetter
from typing import Any

import msgspec

from postroom.messages.definitions.constraints import Check
from postroom.messages.definitions.definition import Definition
from postroom.messages.definitions.property_types import checker
from postroom.messages.matching.definition_index import Filter
from postroom.protocols.protocol import Wire

TEXTS = ("specversion", "id", "source", "type", "subject", "time", "datacontenttype", "dataschema")
"""Attributes that an event of ours always has as text, or not at all."""

Metadata = dict[str, Any]
Variables = dict[str, str]
Getter = Callable[[Any], Any]


class Landed(msgspec.Struct, frozen=True, gc=False):
    """An event in its definition: all that its table row holds."""

    definition: Definition
    event: Any
    variables: Variables
    metadata: dict[str, Any]
    data: Any
    checked: bool


class Plan:
    """How one definition takes events off one protocol; `others` are the attributes that other definitions declare."""

    def __init__(self, candidate: Filter, others: Iterable[str] = ()) -> None:
        self.definition = candidate.definition
        self._wire = candidate.wire
        constants = [c for c in candidate.envelope if c.constant is not None and c.constraint.required]
        # The plan is found by the type, so that is known to be right.
        self.constants = [(c.path[0], c.constant) for c in constants if c.path != ("type",)]
        self.asks_version = ("specversion", "1.0") in self.constants
        self.required = [c.path[0] for c in candidate.envelope if c.constant is None and c.constraint.required]
        doubtful = [c for c in candidate.envelope if c not in constants and not _is_settled(c)]
        self.values = [(c.path[0], _acceptance(c)) for c in doubtful]
        self.templates = [(c.path[0], c.template) for c in candidate.envelope if c.template is not None]
        self.protocol = [(metadata_getter(self._wire, c.path), c) for c in candidate.protocol]
        declared = candidate.definition.protocol_constraints
        self.declared = [("_".join(c.path), metadata_getter(self._wire, c.path)) for c in declared]
        self.wants_metadata = bool(self.protocol or self.declared)
        named = dict.fromkeys((*TEXTS, *(c.path[0] for c in candidate.envelope)))
        self.attributes = [(name, attrgetter(name)) for name in named]
        self.members = [*self.attributes, *((name, attrgetter(name)) for name in ("data", "data_base64"))]
        """The attributes, and what else an event of structured mode has."""
        undeclared = [name for name in others if name not in named]
        together = _together(undeclared, always_tuple=True)
        self.undeclared = None if together is None else (undeclared, together)
        self._getters = dict(self.attributes)
        self._constants = _together([name for name, _ in self.constants])
        self._equal = _packed([constant for _, constant in self.constants])
        self._required = _together(self.required, always_tuple=True)

    def variables(self, event: Any, metadata: Metadata) -> Variables | None:
        """The variables an event binds; None when it is not sure to fit."""
        if self._constants is not None and self._constants(event) != self._equal:
            return None
        if self._required is not None and None in self._required(event):
            return None
        getters = self._getters
        for name, accepts in self.values:
            value = getters[name](event)
            if value is not None and not accepts(value):
                return None
        bound: Variables = {}
        for name, template in self.templates:
            value = getters[name](event)
            if value is None:
                continue
            found = template.extract(value) if type(value) is str else None
            if found is None:
                return None
            if not bound:
                bound = found
            elif any(bound.setdefault(name, text) != text for name, text in found.items()):
                return None
        for get, check in self.protocol:
            if check.problem(get(metadata), bound) is not None:
                return None
        return bound

    def metadata(self, metadata: Metadata) -> dict[str, Any]:
        """The protocol metadata that the definition declares."""
        return {name: get(metadata) for name, get in self.declared} if self.declared else {}


def _together(names: list[str], always_tuple: bool = False) -> Getter | None:
    if not names:
        return None
    # attrgetter gives a tuple for two names or more; naming one twice makes it a tuple.
    return attrgetter(*(names * 2 if always_tuple and len(names) == 1 else names))


def _packed(constants: list[str | None]) -> Any:
    return tuple(constants) if len(constants) != 1 else constants[0]


def _is_settled(check: Check) -> bool:
    """Whether nothing is left to look at: a template has its own turn, and any text is a text."""
    settled = check.constraint.type in ("string", "uritemplate", "any") and check.path[0] in TEXTS
    return check.template is not None or (check.constant is None and settled)


def _acceptance(check: Check) -> Callable[[Any], bool]:
    if check.constant is not None:
        constant = check.constant
        return lambda value: bool(value == constant)
    return surely_timestamp if check.constraint.type == "timestamp" else checker(check.constraint.type)


def surely_timestamp(value: Any) -> bool:
    """Whether a text is RFC 3339 without doubt: in UTC, in capitals, without a leap second."""
    try:
        datetime.fromisoformat(value)
        # It also takes weeks, basic forms, commas and, in newer Pythons, the hour 24.
        plain = value[10] == "T" and value[13] == ":" and value[-1] == "Z" and value[19] in "Z."
        return plain and value[5] in "01" and value[11:13] != "24"
    except (ValueError, TypeError, IndexError):
        return False


def metadata_getter(wire: Wire, path: tuple[str, ...]) -> Callable[[Metadata], Any]:
    """The value at a path of a record's metadata, found directly where it is spelled as we spell it."""
    option = wire.option(path[0])
    if option is None or len(path) > 2:
        return lambda metadata: wire.lookup(metadata, path)
    name = option.name
    if len(path) == 1:

        def value(metadata: Metadata) -> Any:
            found = metadata.get(name)
            return wire.lookup(metadata, path) if found is None else found

        return value
    inner = path[1]

    def member(metadata: Metadata) -> Any:
        container = metadata.get(name)
        found = container.get(inner) if type(container) is dict else None
        return wire.lookup(metadata, path) if found is None else found

    return member

"""Placing values in the metadata of a protocol: topics, keys, headers, sections."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from postroom.messages.definitions.constraints import Check
from postroom.messages.definitions.definition import Definition
from postroom.messages.making.sample_values import inventor
from postroom.protocols.cloudevents import ENVELOPE, header_text
from postroom.protocols.protocol import Wire
from postroom.protocols.protocol_table import wire_named

_TEXT_TYPES = ("string", "uritemplate", "symbol", "uri", "urireference")


class Placement:
    """Where the value of one constraint goes, and what it is: a constant, from a template, given, or invented."""

    def __init__(self, check: Check, path: tuple[str, ...]) -> None:
        self.check = check
        self.path = path
        self.name = ".".join(check.path)
        constraint = check.constraint
        self.template = check.template
        self.constant = constraint.value if check.constant is not None else None
        is_open = check.constant is None and check.template is None
        # MSG-053: a timestamp that says "now" is stamped.
        self.invent = inventor(constraint) if is_open and (constraint.required or constraint.value) else None

    def put(
        self,
        metadata: dict[str, Any],
        wire: Wire,
        values: Mapping[str, str],
        given: Mapping[str, Any],
        rng: random.Random,
    ) -> None:
        """Add the value to the metadata of a message, where there is one; `given` are values for open places."""
        value = self.value(values, given, rng)
        if value is not None:
            put(metadata, wire, self.path, header_text(value) if self.is_text(wire) else value)

    def is_text(self, wire: Wire) -> bool:
        """Whether numbers and booleans travel as text there."""
        option = wire.option(self.path[0])
        return (option is not None and option.shape == "named") or self.check.constraint.type in _TEXT_TYPES

    def value(self, values: Mapping[str, str], given: Mapping[str, Any], rng: random.Random) -> Any:
        """The value in one message, or None."""
        if self.constant is not None:
            return self.constant
        if self.template is not None:
            return self.template.expand(values)
        if self.name in given:
            return given[self.name]
        return None if self.invent is None else self.invent(rng)


def put(metadata: dict[str, Any], wire: Wire, path: tuple[str, ...], value: Any) -> None:
    """Set the value at a path of new metadata, in the shape that the protocol's records have."""
    if len(path) == 1:
        metadata[path[0]] = value
        return
    option = wire.option(path[0])
    if wire.headers_as_map or (option is not None and option.shape == "section"):
        metadata[path[0]] = {**metadata.get(path[0], {}), path[1]: value}
    else:
        metadata[path[0]] = [*metadata.get(path[0], ()), {"name": path[1], "value": value}]


def placements(definition: Definition) -> list[Placement]:
    """The places of a definition's protocol options and, with an envelope of its own kind, of that one's attributes."""
    wire = wire_named(definition.protocol)
    made = [Placement(Check(c, definition.xid), c.path) for c in definition.protocol_constraints]
    if definition.envelope != ENVELOPE:
        prefix = (wire.headers,) if wire.headers else ()
        made += [Placement(Check(c, definition.xid), (*prefix, *c.path)) for c in definition.envelope_constraints]
    return made


def without(wire: Wire, metadata: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """Metadata that lacks what is at a path."""
    rest = {name: value for name, value in metadata.items() if name != path[0]}
    holder = metadata.get(path[0])
    if len(path) == 1 or holder is None:
        return rest

    def is_meant(name: Any) -> bool:
        return name == path[1] or (wire.headers_ignore_case and str(name).lower() == path[1].lower())

    kept: Any
    if isinstance(holder, dict):
        kept = {name: value for name, value in holder.items() if not is_meant(name)}
    else:
        kept = [item for item in holder if not is_meant(item["name"])]
    return {**rest, path[0]: kept} if kept else rest

"""Placement of values in the metadata of a protocol: topics, keys, headers, sections."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from postroom.messages.definitions.constraints import Check
from postroom.messages.definitions.definition import Definition
from postroom.messages.making.sample_values import sampler_for
from postroom.protocols.cloudevents import ENVELOPE, header_text
from postroom.protocols.protocol import Wire
from postroom.protocols.protocol_table import wire_named

_STRING_TYPES = ("string", "uritemplate", "symbol", "uri", "urireference")


class Placement:
    """Where the value of one constraint goes, and what it is: a constant, from a template, an input, or a sample."""

    def __init__(self, check: Check, path: tuple[str, ...]) -> None:
        self.check = check
        self.path = path
        self.name = ".".join(check.path)
        constraint = check.constraint
        self.template = check.template
        self.constant = constraint.value if check.constant is not None else None
        is_open = check.constant is None and check.template is None
        # MSG-053: a timestamp that says "now" is stamped.
        self.sample = sampler_for(constraint) if is_open and (constraint.required or constraint.value) else None

    def put(self, metadata: dict[str, Any], wire: Wire, value: Any) -> None:
        """Add a value to the metadata of a message; None adds nothing."""
        if value is not None:
            put(metadata, wire, self.path, header_text(value) if self.is_string(wire) else value)

    def is_string(self, wire: Wire) -> bool:
        """Whether numbers and booleans are sent as strings there."""
        option = wire.option(self.path[0])
        return (option is not None and option.shape == "named") or self.check.constraint.type in _STRING_TYPES

    def value(self, values: Mapping[str, str], options: Mapping[str, Any], rng: random.Random) -> Any:
        """The value in one message, or None, with values of placeholders and of options that the caller gave."""
        if self.constant is not None:
            return self.constant
        if self.template is not None:
            return self.template.expand(values) if self.template.is_filled_by(values) else None
        if self.name in options:
            return options[self.name]
        return None if self.sample is None else self.sample(rng)


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
    """The placements of protocol options and, with an envelope other than CloudEvents, of its attributes."""
    wire = wire_named(definition.protocol)
    made = [Placement(Check(c, definition.xid), c.path) for c in definition.protocol_constraints]
    if definition.envelope != ENVELOPE:
        prefix = (wire.headers,) if wire.headers else ()
        made += [Placement(Check(c, definition.xid), (*prefix, *c.path)) for c in definition.envelope_constraints]
    return made


def without(wire: Wire, metadata: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
    """Return metadata without the value at a path."""
    rest = {name: value for name, value in metadata.items() if name != path[0]}
    holder = metadata.get(path[0])
    if len(path) == 1 or holder is None:
        return rest

    def is_removed(name: Any) -> bool:
        return name == path[1] or (wire.ignores_case(path[1]) and str(name).lower() == path[1].lower())

    kept: Any
    if isinstance(holder, dict):
        kept = {name: value for name, value in holder.items() if not is_removed(name)}
    else:
        kept = [item for item in holder if not is_removed(item["name"])]
    return {**rest, path[0]: kept} if kept else rest

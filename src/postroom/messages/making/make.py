"""Making: a definition as a template. What is made here, matching lands."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from typing import Any

from postroom.errors import MakeRefused
from postroom.messages.definitions.constraints import Check
from postroom.messages.definitions.definition import Definition
from postroom.messages.engine import Engine
from postroom.messages.making.message_parts import Draft
from postroom.messages.making.metadata_placement import placements
from postroom.messages.making.payload_encoding import AUTO, BodyMaker, is_json_text
from postroom.messages.making.protocol_templates import Route, RouteMap
from postroom.messages.making.sample_values import inventor
from postroom.messages.making.template_inputs import Given, Places, is_open
from postroom.messages.making.uuids import Chance
from postroom.messages.matching.definition_matcher import DefinitionMatcher
from postroom.messages.matching.explain import explain_reason
from postroom.messages.matching.outcome import Reason
from postroom.protocols.cloudevents import ENVELOPE, Message, unwrap
from postroom.protocols.protocol import Wire
from postroom.protocols.protocol_table import canonical_protocol, wire_named
from postroom.protocols.records import Record

__all__ = ["AUTO", "Draft", "Maker"]

Way = tuple[str, str, tuple[str, ...]]
"""Protocol, mode, and the names of what is given beside placeholders."""

MODES = ("", "binary", "structured")
_MOST_ROUTES = 256
_CHANCE = Chance()
# Two processes never give the same ids.
os.register_at_fork(after_in_child=_CHANCE.seed)


class Maker:
    """Makes conformant messages of one definition. What all of them share is worked out once."""

    def __init__(self, definition: Definition, engine: Engine) -> None:
        self.definition = definition
        self.engine = engine
        self.body = BodyMaker(definition, engine)
        self.filter = DefinitionMatcher(definition)
        self.is_event = definition.envelope == ENVELOPE
        self.envelope = self.filter.envelope
        self.placements = placements(definition)
        self._places = Places(definition.xid, self.envelope if self.is_event else None, self.placements)
        self.variables = self._places.variables
        """The placeholders that need a value, in the order they appear."""
        self._skeleton = {c.path[0]: c.constraint.value for c in self.envelope if _is_made(c)}
        if self.is_event and definition.contenttype:
            self._skeleton.setdefault("datacontenttype", definition.contenttype)
        self._templates = {c.path[0]: c.template for c in self.envelope if c.template is not None}
        self._inventors = {c.path[0]: inventor(c.constraint) for c in self.envelope if is_open(c) and _is_made(c)}
        self._roads = RouteMap(self._templates, self._inventors, self.placements, self.body)
        self._is_typed = not self.is_event or bool(self._skeleton.get("datacontenttype"))
        self._routes: dict[Way, Route | None] = {}
        self._proven: set[tuple[str, str]] = set()

    def make(
        self,
        variables: Mapping[str, Any],
        data: Any = None,
        *,
        protocol: str = "",
        mode: str = "",
        rng: random.Random | None = None,
    ) -> Record:
        """A record of this definition; everything missing or wrong is said at once."""
        rng = rng or _CHANCE
        given = self._places.sort(variables)
        way = (protocol, mode, given.names)
        route = self._routes.get(way)
        if route is not None and (self._is_typed or self._is_json(data)):
            return route.record(given, data, rng)
        return self._make_exactly(given, data, way, rng)

    def _make_exactly(self, given: Given, data: Any, way: Way, rng: random.Random) -> Record:
        """The way of the first message of its kind, and of those that no route serves."""
        draft = self._draft(given, data, way[0], way[1], rng)
        record = draft.record()
        # Definitions may contradict themselves: what is made for a protocol and a mode is tried once.
        if (draft.protocol, draft.mode) not in self._proven:
            self._prove(record)
            self._proven.add((draft.protocol, draft.mode))
        if way not in self._routes and len(self._routes) < _MOST_ROUTES and (self._is_typed or self._is_json(data)):
            self._routes[way] = self._roads.route(draft, given)
        return record

    def draft(
        self,
        variables: Mapping[str, Any],
        data: Any = None,
        *,
        protocol: str = "",
        mode: str = "",
        rng: random.Random | None = None,
    ) -> Draft:
        """The parts of a message before they are put on the wire."""
        return self._draft(self._places.sort(variables), data, protocol, mode, rng or _CHANCE)

    def _is_json(self, data: Any) -> bool:
        """Whether data becomes JSON, whatever it is; otherwise the content type of a message may depend on it."""
        return self.body.schema is None and not isinstance(data, bytes | str)

    def _draft(self, given: Given, data: Any, protocol: str, mode: str, rng: random.Random) -> Draft:
        wire = self._wire(protocol)
        if mode not in MODES:
            raise self._refused(f"there is no mode {mode!r}.", "Say binary or structured.")
        attributes = self._attributes(given, rng) if self.is_event else None
        metadata: dict[str, Any] = {}
        for placement in self.placements:
            placement.put(metadata, wire, given.values, given.options, rng)
        contenttype = self.definition.contenttype
        if attributes is not None:
            contenttype = str(attributes.get("datacontenttype", ""))
        body = self.body.make(data, contenttype, rng)
        if attributes is not None and body and not contenttype and not is_json_text(body):
            attributes["datacontenttype"] = _kind_of(body)  # without a content type, data is JSON
        name = wire.name if protocol or self.definition.protocol else ""
        if attributes is None and not name:
            raise self._refused("it has neither envelope nor protocol.", "Say the protocol, like HTTP or KAFKA.")
        return Draft(name, metadata, attributes, body, mode or self.definition.mode or "binary")

    def _wire(self, protocol: str) -> Wire:
        own = self.definition.protocol
        if protocol and own and canonical_protocol(protocol) != own:
            raise self._refused(f"the definition is for {own}, not for {protocol}.")
        wire = wire_named(protocol or own)
        if protocol and not own and not wire.options:
            raise MakeRefused(f"there is no protocol {protocol!r} that we know.", remedy="Try KAFKA, MQTT/5.0, HTTP.")
        return wire

    def _attributes(self, given: Given, rng: random.Random) -> dict[str, Any]:
        made = self._skeleton.copy()
        for name, template in self._templates.items():
            made[name] = template.expand(given.values)
        for name, invent in self._inventors.items():
            if name not in given.attributes:
                made[name] = invent(rng)
        made.update(given.attributes)
        return made

    def _prove(self, record: Record) -> None:
        found = [reason for message in unwrap(record) for reason in self._faults(message)]
        if found:
            says = "; ".join(explain_reason(reason) for reason in found[:3])
            raise self._refused(f"no message can be made that fits it: {says}.", "`postroom lint` says more.")

    def _faults(self, message: Any) -> list[Reason]:
        if isinstance(message, Message):
            return [] if self.filter.variables(message) is not None else self.filter.reasons(message)
        return [Reason("", message.at, message.code, message.expected, message.found)]

    def _refused(self, sentence: str, remedy: str = "") -> MakeRefused:
        return MakeRefused(sentence, place=self.definition.xid, remedy=remedy)


def _is_made(check: Check) -> bool:
    """Whether every message gets it: what has a value or must be there, and the time (MSG-060)."""
    return not is_open(check) or check.constraint.required or _is_stamped(check)


def _is_stamped(check: Check) -> bool:
    # MSG-053: a timestamp whose value is "now" is stamped.
    return check.path == ("time",) or check.constraint.value is not None


def _kind_of(body: bytes) -> str:
    try:
        body.decode()
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "text/plain"

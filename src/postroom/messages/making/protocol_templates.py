"""Routes: how messages of one definition get onto one protocol in one mode, worked out once.

The exact way (`Draft.record`) is asked a single time, with marks in place of what differs from message to message.
Where the marks come out is where values go: that makes a form, and a message is a form filled in. Where marks do not
come out one by one, there is no route, and every message goes the exact way. A test compares the two.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import partial
from typing import Any

import msgspec

from postroom.messages.definitions.templates import Template
from postroom.messages.making.compiled_template import DATA, Fill, filler
from postroom.messages.making.message_parts import Draft
from postroom.messages.making.metadata_placement import Placement, put
from postroom.messages.making.payload_encoding import BodyMaker
from postroom.messages.making.placeholder_marks import Marks
from postroom.messages.making.sample_values import Invent
from postroom.messages.making.template_inputs import Given
from postroom.protocols.cloudevents import data_member, header_value
from postroom.protocols.protocol import Wire
from postroom.protocols.protocol_table import wire_named
from postroom.protocols.records import Record

_BODY = b"0"


class Route:
    """Fills in a form, message by message."""

    def __init__(self, protocol: str, fill: Fill, contenttype: str, bodies: BodyMaker) -> None:
        self._protocol = protocol
        self._fill = fill
        self._contenttype = contenttype
        self._member = data_member(contenttype)
        self._body_of = bodies.make
        self._shortcut = bodies.shortcut(contenttype)

    def record(self, given: Given, data: Any, rng: random.Random) -> Record:
        """The record of one message."""
        metadata, event = self._fill(given, rng)
        body = self._shortcut(data) if type(data) is dict else None
        if event is None:
            payload = self._body_of(data, self._contenttype, rng) if body is None else body
        elif body is None:
            payload = self._event_with(event, self._body_of(data, self._contenttype, rng))
        else:
            payload = event + body + b"}"
        return Record(self._protocol, metadata, payload)

    def _event_with(self, event: bytes, body: bytes) -> bytes:
        attributes = event.removesuffix(DATA)
        if not body:
            return attributes + b"}"
        name, member = self._member(body)
        return attributes + b"," + msgspec.json.encode({name: member})[1:]


class RouteMap:
    """Finds the routes of one definition, whose attributes are templates or invented where they are not fixed."""

    def __init__(
        self,
        templates: Mapping[str, Template],
        inventors: Mapping[str, Invent],
        placements: list[Placement],
        bodies: BodyMaker,
    ) -> None:
        self._templates = templates
        self._inventors = inventors
        self._placements = placements
        self._bodies = bodies

    def route(self, draft: Draft, given: Given) -> Route | None:
        """The route of messages like this one; None when they have to go the exact way."""
        wire = wire_named(draft.protocol)
        marks = Marks()
        attributes = None if draft.attributes is None else self._marked(draft.attributes, given, marks)
        metadata = self._placed(wire, given, marks)
        contenttype = self._bodies.definition.contenttype
        if attributes is not None:
            contenttype = str(attributes.get("datacontenttype", ""))
        if contenttype in marks or wire.content_type(metadata) in marks:
            return None  # what the content type is decides where it goes
        record = Draft(draft.protocol, metadata, attributes, _BODY, draft.mode).record()
        event = None if record.payload == _BODY else attributes
        fill = filler(record.metadata, event, marks, partial(header_value, wire))
        return None if fill is None else Route(record.protocol, fill, contenttype, self._bodies)

    def _marked(self, attributes: dict[str, Any], given: Given, marks: Marks) -> dict[str, Any]:
        marked = dict(attributes)
        marked |= {name: marks.template(template) for name, template in self._templates.items()}
        for name, invent in self._inventors.items():
            if name not in given.attributes:
                marked[name] = marks.invention(invent)
        marked |= {name: marks.given(name) for name in given.attributes}
        return marked

    def _placed(self, wire: Wire, given: Given, marks: Marks) -> dict[str, Any]:
        metadata: dict[str, Any] = {}
        for placement in self._placements:
            mark = marks.placement(placement, wire, placement.name in given.options)
            if mark is not None:
                put(metadata, wire, placement.path, mark)
            elif placement.constant is not None:
                placement.put(metadata, wire, {}, {}, random.Random(0))  # noqa: S311 - a constant needs no chance
        return metadata

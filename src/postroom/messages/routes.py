"""Routes: how messages of one definition get onto one protocol in one mode, worked out once.

The exact way (`Draft.record`) is asked a single time, with marks in place of what differs from message to message.
Where the marks come out is where values go. Where they do not come out one by one, there is no route, and every message
goes the exact way. A test compares the two.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import msgspec

from postroom.messages.bodies import BodyMaker, MakeBody
from postroom.messages.drafts import Draft
from postroom.messages.giving import Given
from postroom.messages.inventing import Invent, identity, now
from postroom.messages.placing import Placement, put
from postroom.messages.templates import Template
from postroom.protocols.cloudevents import data_member, header_text, header_value
from postroom.protocols.records import Record
from postroom.protocols.table import wire_named
from postroom.protocols.wire import Wire

Source = Callable[[Any], Any]
Gap = tuple[int, str, Source]
"""The sheet and the member that a value goes to, and what gives it."""

_BODY = b"0"
_PLAIN = (identity, now)
"""What these invent looks the same in a header of any protocol."""


class Gaps(msgspec.Struct):
    """What differs from message to message, by what gives the values: placeholders, chance, or the caller."""

    templates: list[Gap] = []
    inventions: list[Gap] = []
    given: list[Gap] = []


class Form:
    """What messages share: sheets with gaps. The first one is the metadata, the others are parts of it."""

    def __init__(self) -> None:
        self.sheets: list[dict[str, Any]] = [{}]
        self.maps: list[tuple[str, int]] = []
        self.lists: list[tuple[str, int, int]] = []
        self.gaps = Gaps()
        self.event = 0
        """The sheet that is the event of structured mode, if there is one."""


class Route:
    """Fills in a form, message by message."""

    def __init__(self, protocol: str, form: Form, contenttype: str, body_of: MakeBody) -> None:
        self._protocol = protocol
        self._sheets = form.sheets
        self._maps, self._lists, self._event = form.maps, form.lists, form.event
        self._templates, self._inventions, self._given = form.gaps.templates, form.gaps.inventions, form.gaps.given
        self._member = data_member(contenttype)
        self._body_of = body_of

    def record(self, given: Given, data: Any, rng: random.Random) -> Record:
        """The record of one message."""
        sheets = list(map(dict.copy, self._sheets))
        texts = given.values
        for sheet, name, expand in self._templates:
            sheets[sheet][name] = expand(texts)
        # In the order in which the exact way asks chance: a seed gives the same message.
        for sheet, name, invent in self._inventions:
            sheets[sheet][name] = invent(rng)
        for sheet, name, take in self._given:
            sheets[sheet][name] = take(given)
        body = self._body_of(data, rng)
        if self._event:
            body = self._event_text(sheets[self._event], body)
        metadata = sheets[0]
        for name, sheet in self._maps:
            metadata[name] = sheets[sheet]
        for name, start, end in self._lists:
            metadata[name] = sheets[start:end]
        return Record(self._protocol, metadata, body)

    def _event_text(self, event: dict[str, Any], body: bytes) -> bytes:
        if body:
            name, data = self._member(body)
            event[name] = data
        return msgspec.json.encode(event)


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
        marks = _Marks()
        attributes = None if draft.attributes is None else self._marked(draft.attributes, given, marks)
        metadata = self._placed(wire, given, marks)
        contenttype = self._bodies.definition.contenttype
        if attributes is not None:
            contenttype = str(attributes.get("datacontenttype", ""))
        if contenttype in marks or wire.content_type(metadata) in marks:
            return None  # what the content type is decides where it goes
        record = Draft(draft.protocol, metadata, attributes, _BODY, draft.mode).record()
        form = Form()
        filled = _Filling(form, marks)
        filled.add_metadata(record.metadata)
        if record.payload == _BODY:
            filled.give(wire)
        elif attributes is not None:
            form.event = filled.add(attributes)
            filled.give(None)
        if not filled.is_complete:
            return None
        return Route(record.protocol, form, contenttype, self._bodies.shortcut(contenttype))

    def _marked(self, attributes: dict[str, Any], given: Given, marks: _Marks) -> dict[str, Any]:
        marked = dict(attributes)
        marked |= {name: marks.template(template) for name, template in self._templates.items()}
        for name, invent in self._inventors.items():
            if name not in given.attributes:
                marked[name] = marks.invention(invent)
        marked |= {name: marks.given(name) for name in given.attributes}
        return marked

    def _placed(self, wire: Wire, given: Given, marks: _Marks) -> dict[str, Any]:
        metadata: dict[str, Any] = {}
        for placement in self._placements:
            mark = marks.placement(placement, wire, placement.name in given.options)
            if mark is not None:
                put(metadata, wire, placement.path, mark)
            elif placement.constant is not None:
                placement.put(metadata, wire, {}, {}, random.Random(0))  # noqa: S311 - a constant needs no chance
        return metadata


class _Mark(msgspec.Struct):
    kind: str
    source: Source
    is_attribute: bool = True

    def as_header(self, wire: Wire) -> Source:
        """What gives the value of a header; placements look after themselves."""
        source = self.source
        is_text = self.kind == "templates" and not wire.percent_encoded
        if not self.is_attribute or source in _PLAIN or is_text:
            return source
        return lambda given: header_value(wire, source(given))


class _Marks(dict[str, _Mark]):
    """Texts that stand for values to come. They look the same in a header of any protocol."""

    def template(self, template: Template) -> str:
        return self._new(_Mark("templates", template.expander()))

    def invention(self, invent: Invent) -> str:
        return self._new(_Mark("inventions", invent))

    def given(self, name: str) -> str:
        return self._new(_Mark("given", lambda given: given.attributes[name]))

    def placement(self, placement: Placement, wire: Wire, is_given: bool) -> str | None:
        """A mark for a value of the metadata; None where it is always the same."""
        if placement.constant is not None:
            return None
        if placement.template is not None:
            return self._new(_Mark("templates", placement.template.expander(), is_attribute=False))
        name, invent = placement.name, placement.invent
        if is_given:
            kind, source = "given", _option(name)
        elif invent is not None:
            kind, source = "inventions", invent
        else:
            return None
        made = (lambda given: header_text(source(given))) if placement.is_text(wire) else source
        return self._new(_Mark(kind, made, is_attribute=False))

    def _new(self, mark: _Mark) -> str:
        text = uuid4().hex
        self[text] = mark
        return text


def _option(name: str) -> Source:
    return lambda given: given.options[name]


class _Filling:
    """Puts what came out with marks in it onto the sheets of a form."""

    def __init__(self, form: Form, marks: _Marks) -> None:
        self._form = form
        self._marks = marks
        self._found: dict[str, tuple[int, str]] = {}
        self._twice = False
        self.is_complete = False

    def add_metadata(self, metadata: dict[str, Any]) -> None:
        form = self._form
        self._note(0, metadata)
        for name, value in metadata.items():
            if isinstance(value, dict):
                form.maps.append((name, self.add(value)))
            elif isinstance(value, list) and all(isinstance(pair, dict) for pair in value):
                numbers = [self.add(pair) for pair in value]
                form.lists.append((name, len(form.sheets) - len(numbers), len(form.sheets)))

    def add(self, sheet: dict[str, Any]) -> int:
        """The number of a new sheet."""
        self._form.sheets.append({})
        self._note(len(self._form.sheets) - 1, sheet)
        return len(self._form.sheets) - 1

    def _note(self, number: int, sheet: dict[str, Any]) -> None:
        self._form.sheets[number] = dict(sheet)
        for name, value in sheet.items():
            if isinstance(value, str) and value in self._marks:
                self._twice |= value in self._found
                self._found[value] = (number, name)

    def give(self, wire: Wire | None) -> None:
        """Say what gives the values; `wire` is where attributes are headers, if they are."""
        self.is_complete = not self._twice and len(self._found) == len(self._marks)
        for text, mark in self._marks.items():
            if text in self._found:
                source = mark.source if wire is None else mark.as_header(wire)
                getattr(self._form.gaps, mark.kind).append((*self._found[text], source))

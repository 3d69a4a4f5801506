"""Compiled message templates: functions generated for the messages of one definition on one protocol in one mode.

`MessageDraft.record` renders any message exactly. To compile a template it is called once, with a marker (a unique
string) in place of each value that differs from message to message. Where a marker comes out is where the value goes.
The generated function names each value in the order of the markers, in which exact rendering asks the random
generator as well, and then writes everything down at once:

    def fill(inputs, rng):
     values, plain = inputs.values, inputs.plain
     v0 = c6 % c7(values) if plain else c8(values)
     v1 = c9(rng)
     return {c0: {c1: c2}}, f"{c3}{v0}{c4}{v1}{c5}".encode()

Where markers do not come out one by one there is no template, and every message is rendered exactly. A test compares
the two.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Literal
from uuid import uuid4

import msgspec

from postroom.codegen import GeneratedCode
from postroom.messages.definitions.templates import Expander, Template
from postroom.messages.making.metadata_placement import Placement, without
from postroom.messages.making.payload_encoding import PayloadEncoder
from postroom.messages.making.sample_values import Sampler, now
from postroom.messages.making.template_inputs import TemplateInputs
from postroom.messages.making.uuids import random_uuid
from postroom.protocols.cloudevents import (
    JSON_DATA,
    data_member,
    header_text,
    header_value,
    media_type,
    with_content_type,
    wrap,
)
from postroom.protocols.content_encodings import packed_for
from postroom.protocols.content_types import is_same_type
from postroom.protocols.protocol import Wire
from postroom.protocols.protocol_table import wire_named
from postroom.protocols.records import Record

Source = Callable[[Any], Any]
"""A sampler, or a function that takes a value from the inputs."""

Write = Callable[[Any], Any]

Fill = Callable[[TemplateInputs, random.Random], tuple[dict[str, Any], bytes | None]]
"""It returns the metadata of a message and, in structured mode, the JSON of its event up to the data."""

_DATA = b',"data":'
_SAMPLE_PAYLOAD = b"0"
_PLAIN_SAMPLERS = (random_uuid, now)
"""Their strings are the same in JSON and in headers of any protocol."""
_MAX_DEPTH = 3  # what is deeper is no header, and the same in all messages
_MAX_CONSTANTS = 2_000


class MessageDraft(msgspec.Struct, frozen=True):
    """The parts of a message before it is rendered; `attributes` is None for one without an envelope, of which
    `contenttype` then is the content type."""

    protocol: str
    metadata: dict[str, Any]
    attributes: dict[str, Any] | None
    payload: bytes
    mode: str
    contenttype: str = ""

    def record(self) -> Record:
        """Render the message as a record of its protocol."""
        record = self.unpacked_record()
        wire = wire_named(self.protocol)
        payload = packed_for(wire, record.metadata, record.payload)
        return record if payload is record.payload else Record(record.protocol, record.metadata, payload)

    def unpacked_record(self) -> Record:
        """Render the message without the content encoding that its metadata announce."""
        wire = wire_named(self.protocol)
        if self.attributes is None:
            return Record(self.protocol, with_content_type(wire, self.metadata, self.contenttype), self.payload)
        stated = wire.content_type(self.metadata)
        told = self.attributes.get("datacontenttype")
        # The definition may state the content type; a message has it once.
        if not stated or (self.mode != "structured" and (told is None or is_same_type(stated, str(told)))):
            return wrap(self.protocol, self.metadata, self.attributes, self.payload, self.mode)
        metadata = without(wire, self.metadata, wire.contenttype)
        record = wrap(self.protocol, metadata, self.attributes, self.payload, self.mode)
        if self.mode == "structured" and media_type(stated) == JSON_DATA:
            return Record(record.protocol, self.metadata, record.payload)  # as many producers label such events
        return record


class CompiledTemplate:
    """Makes records of one definition on one protocol in one mode."""

    def __init__(self, protocol: str, fill: Fill, contenttype: str, payloads: PayloadEncoder, is_packed: bool) -> None:
        self._protocol = protocol
        self._fill = fill
        self._contenttype = contenttype
        self._is_packed = is_packed
        self._member = data_member(contenttype)
        self._encode = payloads.encode
        self._encode_object = payloads.object_encoder(contenttype)

    def record(self, inputs: TemplateInputs, data: Any, rng: random.Random) -> Record:
        """Make one record."""
        metadata, event = self._fill(inputs, rng)
        encoded = self._encode_object(data) if type(data) is dict else None
        if event is None:
            payload = self._encode(data, self._contenttype, rng) if encoded is None else encoded
        elif encoded is None:
            payload = self._event_with(event, self._encode(data, self._contenttype, rng))
        else:
            payload = event + encoded + b"}"
        return Record(self._protocol, metadata, self._pack(metadata, payload) if self._is_packed else payload)

    def _pack(self, metadata: dict[str, Any], payload: bytes) -> bytes:
        return packed_for(wire_named(self._protocol), metadata, payload)

    def _event_with(self, event: bytes, data: bytes) -> bytes:
        attributes = event.removesuffix(_DATA)
        if not data:
            return attributes + b"}"
        name, member = self._member(data)
        return attributes + b"," + msgspec.json.encode({name: member})[1:]


class TemplateCompiler:
    """Compiles the templates of one definition; its attributes are templates or sampled where they are not fixed."""

    def __init__(
        self,
        templates: Mapping[str, Template],
        samplers: Mapping[str, Sampler],
        placements: list[Placement],
        payloads: PayloadEncoder,
    ) -> None:
        self._templates = templates
        self._samplers = samplers
        self._placements = placements
        self._payloads = payloads

    def compile(self, draft: MessageDraft, inputs: TemplateInputs) -> CompiledTemplate | None:
        """Compile the template of messages like this one; None when they have to be rendered exactly."""
        wire, function = wire_named(draft.protocol), _FillFunction()
        attributes = None if draft.attributes is None else self._attributes(draft.attributes, inputs, function)
        metadata = self._metadata(wire, inputs, function)
        contenttype = self._payloads.definition.contenttype
        if attributes is not None:
            contenttype = str(attributes.get("datacontenttype", ""))
        stated = (contenttype, wire.content_type(metadata), wire.content_encoding(metadata))
        if not function.slots.keys().isdisjoint(stated):
            return None  # what the content type is decides where it goes, and the encoding how the payload looks
        parts = (draft.protocol, metadata, attributes, _SAMPLE_PAYLOAD, draft.mode, draft.contenttype)
        record = MessageDraft(*parts).unpacked_record()
        event = None if record.payload == _SAMPLE_PAYLOAD else attributes
        fill = function.define(record.metadata, event, partial(header_value, wire))
        is_packed = bool(wire.content_encoding(record.metadata))
        return None if fill is None else CompiledTemplate(record.protocol, fill, contenttype, self._payloads, is_packed)

    def _attributes(
        self, attributes: dict[str, Any], inputs: TemplateInputs, function: _FillFunction
    ) -> dict[str, Any]:
        filled = (name for name in self._templates if name in attributes)
        marked = attributes | {name: function.marker(self._templates[name]) for name in filled}
        for name, sample in self._samplers.items():
            if name not in inputs.attributes:
                marked[name] = function.marker(sample, "rng")
        return marked | {name: function.marker(_attribute_input(name)) for name in inputs.attributes}

    def _metadata(self, wire: Wire, inputs: TemplateInputs, function: _FillFunction) -> dict[str, Any]:
        metadata: dict[str, Any] = {}
        for placement in self._placements:
            value, name = placement.constant, placement.name
            if value is None and placement.template is not None:
                if not placement.template.is_filled_by(inputs.values):
                    continue
                value = function.marker(placement.template, is_attribute=False)
            elif value is None and name in inputs.options:
                value = function.marker(_written(placement, wire, _option_input(name)), is_attribute=False)
            elif value is None and placement.sample is not None:
                value = function.marker(_written(placement, wire, placement.sample), "rng", is_attribute=False)
            placement.put(metadata, wire, value)
        return metadata


class _Slot(msgspec.Struct, frozen=True):
    """The value that a marker stands for; attributes are written as headers or JSON, other metadata as it is."""

    variable: str
    source: Template | Source
    argument: Literal["inputs", "rng"]
    is_attribute: bool

    @property
    def is_string(self) -> bool:
        """Whether the value is a string in every message."""
        return isinstance(self.source, Template) or self.source in _PLAIN_SAMPLERS

    def written(self, write: Write) -> Expander | Source:
        """Return the source of the value as `write` writes it."""
        source = self.source
        if isinstance(source, Template):
            return source.expander(write if self.is_attribute else str)
        if not self.is_attribute or source in _PLAIN_SAMPLERS:
            return source
        take = source
        return lambda argument: write(take(argument))


class _FillFunction:
    """The slots and the source of a fill function; what it needs of a definition are constants of the code."""

    def __init__(self) -> None:
        self.slots: dict[str, _Slot] = {}
        """By marker."""
        self._found: Counter[str] = Counter()
        self._code = GeneratedCode("message template")
        self._constant = self._code.constant

    def marker(
        self, source: Template | Source, argument: Literal["inputs", "rng"] = "inputs", *, is_attribute: bool = True
    ) -> str:
        """Add a slot and return its marker."""
        marker = uuid4().hex
        self.slots[marker] = _Slot(f"v{len(self.slots)}", source, argument, is_attribute)
        return marker

    def define(self, metadata: dict[str, Any], event: dict[str, Any] | None, write: Write) -> Fill | None:
        """Generate the function; None when markers do not come out one by one. `write` writes attributes as headers."""
        result = f"{self._value(metadata)}, {'None' if event is None else self._event(event)}"
        if self._found != Counter(self.slots.keys()) or len(self._code.names) > _MAX_CONSTANTS:
            return None
        steps = self._steps(write if event is None else None)
        lines = ("def fill(inputs, rng):", " values, plain = inputs.values, inputs.plain", *steps, f" return {result}")
        fill: Fill = self._code.define("fill", lines)
        return fill

    def _value(self, value: Any, depth: int = 0) -> str:
        """An expression that creates a value with markers in it."""
        if isinstance(value, str) and value in self.slots:
            self._found[value] += 1
            return self.slots[value].variable
        if isinstance(value, dict) and depth < _MAX_DEPTH:
            pairs = (f"{self._constant(name)}: {self._value(member, depth + 1)}" for name, member in value.items())
            return f"{{{', '.join(pairs)}}}"
        if isinstance(value, list) and depth < _MAX_DEPTH:
            return f"[{', '.join(self._value(member, depth + 1) for member in value)}]"
        return self._constant(value)

    def _event(self, attributes: dict[str, Any]) -> str:
        """An expression for the JSON of an event up to its data."""
        string = _json(attributes).removesuffix("}") + _DATA.decode()
        for marker, slot in self.slots.items():
            if not slot.is_string:  # it may have no quotes
                string = string.replace(f'"{marker}"', marker)
        pieces = re.split(f"({'|'.join(self.slots)})", string) if self.slots else [string]
        return f'f"{"".join(f"{{{self._value(piece)}}}" for piece in pieces)}".encode()'

    def _steps(self, write: Write | None) -> Iterator[str]:
        """The lines that name the values; without `write` attributes are in JSON."""
        for slot in self.slots.values():
            source = slot.written(write or (_unquoted_json if slot.is_string else _json))
            yield f" {slot.variable} = {self._call(source, slot.argument)}"

    def _call(self, source: Expander | Source, argument: str) -> str:
        if not isinstance(source, Expander):
            return f"{self._constant(source)}({argument})"
        exact = f"{self._constant(source.exact)}(values)"
        if source.form is None:
            return exact
        return f"{self._constant(source.form)} % {self._constant(source.strings)}(values) if plain else {exact}"


def _attribute_input(name: str) -> Source:
    return lambda inputs: inputs.attributes[name]


def _option_input(name: str) -> Source:
    return lambda inputs: inputs.options[name]


def _written(placement: Placement, wire: Wire, source: Source) -> Source:
    return (lambda argument: header_text(source(argument))) if placement.is_string(wire) else source


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _unquoted_json(string: str) -> str:
    return _json(string)[1:-1]

"""The maker of conformant messages: a definition used as a template."""

from __future__ import annotations

import os
import random
from collections.abc import Mapping
from typing import Any

from postroom.errors import MakeRefused
from postroom.messages.definitions.constraints import Check
from postroom.messages.definitions.definition import Definition
from postroom.messages.engine import Engine
from postroom.messages.making.compiled_template import CompiledTemplate, MessageDraft, TemplateCompiler
from postroom.messages.making.metadata_placement import placements
from postroom.messages.making.payload_encoding import AUTO, PayloadEncoder, is_json_value
from postroom.messages.making.sample_values import sampler_for
from postroom.messages.making.template_inputs import TemplateInputs, TemplateParameters, is_open
from postroom.messages.making.uuids import UnseededRandom
from postroom.messages.matching.definition_matcher import DefinitionMatcher
from postroom.messages.matching.explain import explain_reason
from postroom.messages.matching.outcome import Reason
from postroom.protocols.cloudevents import ENVELOPE, Message, is_json_format, unwrap
from postroom.protocols.content_encodings import EncodingFault, pack
from postroom.protocols.protocol import Wire
from postroom.protocols.protocol_table import canonical_protocol, wire_named
from postroom.protocols.records import Record

__all__ = ["AUTO", "Maker"]

TemplateKey = tuple[str, str, tuple[str, ...]]
"""Protocol, mode, and the names of inputs that are no placeholders."""

MODES = ("", "binary", "structured")
_MAX_TEMPLATES = 256
_RNG = UnseededRandom()
# Two processes never make the same ids.
os.register_at_fork(after_in_child=_RNG.seed)


class Maker:
    """Makes conformant messages of one definition. What all of them share is computed once.

    With `schema_ids`, payloads begin with the id of their schema, as serialisers of schema registries write it.
    """

    def __init__(self, definition: Definition, engine: Engine, *, schema_ids: bool = False) -> None:
        self.definition = definition
        self.engine = engine
        self._schema_ids = schema_ids
        self.payloads = PayloadEncoder(definition, engine)
        self.matcher = DefinitionMatcher(definition)
        self.is_event = definition.envelope == ENVELOPE
        self.envelope = self.matcher.envelope
        self.placements = placements(definition)
        self._parameters = TemplateParameters(definition.xid, self.envelope if self.is_event else None, self.placements)
        self.variables = self._parameters.variables
        """The placeholders that need a value, in the order they appear."""
        self._constants = {c.path[0]: c.constraint.value for c in self.envelope if _is_made(c)}
        stated = definition.message_type
        self._message_type = "" if stated is None or self.is_event else str(stated.value)
        if self.is_event and definition.contenttype:
            self._constants.setdefault("datacontenttype", definition.contenttype)
        self._templates = {c.path[0]: c.template for c in self.envelope if c.template is not None}
        self._samplers = {c.path[0]: sampler_for(c.constraint) for c in self.envelope if is_open(c) and _is_made(c)}
        self._compiler = TemplateCompiler(self._templates, self._samplers, self.placements, self.payloads)
        self._is_typed = not self.is_event or bool(self._constants.get("datacontenttype"))
        self._typed = [
            check
            for check in (*self.envelope, *(placement.check for placement in self.placements))
            if check.template is not None and not check.takes_any_string
        ]
        """Templates whose values have to be of a type as well."""
        self._compiled: dict[TemplateKey, CompiledTemplate | None] = {}
        self._verified: set[tuple[str, str]] = set()

    def make(
        self,
        variables: Mapping[str, Any],
        data: Any = None,
        *,
        protocol: str = "",
        mode: str = "",
        rng: random.Random | None = None,
    ) -> Record:
        """Make a record of this definition; MakeRefused names everything missing or wrong."""
        rng = rng or _RNG
        inputs = self._bind(variables)
        key = (protocol, mode, inputs.names)
        template = self._compiled.get(key)
        if template is not None and (self._is_typed or self._is_json(data)):
            return self.with_schema_id(template.record(inputs, data, rng), mode)
        return self.with_schema_id(self._make_exactly(inputs, data, key, rng), mode)

    def with_schema_id(self, record: Record, mode: str) -> Record:
        """A record with the id of its schema in front of its payload, where that is asked for."""
        if not self._schema_ids:
            return record
        if self.is_event and (mode or self.definition.mode) == "structured":
            raise self._refused("an event in structured mode has no place for a schema id.", "Make it in binary mode.")
        wire = wire_named(record.protocol)
        if wire.content_encoding(record.metadata):
            raise self._refused("there is a content encoding around the payload.", "Make it without schema ids.")
        versions = self.engine.versions(self.definition)
        header = b"" if versions is None else versions.header(wire.content_type(record.metadata))
        if not header:
            remedy = "List it in `schemaids`, or name the registry that gave it with --schema-registry."
            raise self._refused("the version of its schema has no id.", remedy)
        return Record(record.protocol, record.metadata, header + record.payload)

    def _make_exactly(self, inputs: TemplateInputs, data: Any, key: TemplateKey, rng: random.Random) -> Record:
        """Make the first message of a key, or one that no compiled template can make."""
        draft = self._draft(inputs, data, key[0], key[1], rng)
        record = draft.record()
        # Definitions may contradict themselves: what is made for a protocol and a mode is tried once.
        if (draft.protocol, draft.mode) not in self._verified:
            self._verify(record)
            self._verified.add((draft.protocol, draft.mode))
        is_new = key not in self._compiled and len(self._compiled) < _MAX_TEMPLATES
        if is_new and (self._is_typed or self._is_json(data)):
            self._compiled[key] = self._compiler.compile(draft, inputs)
        return record

    def draft(
        self,
        variables: Mapping[str, Any],
        data: Any = None,
        *,
        protocol: str = "",
        mode: str = "",
        rng: random.Random | None = None,
    ) -> MessageDraft:
        """Make the parts of a message, for rendering or for breaking."""
        return self._draft(self._bind(variables), data, protocol, mode, rng or _RNG)

    def _bind(self, variables: Mapping[str, Any]) -> TemplateInputs:
        inputs = self._parameters.bind(variables)
        for check in self._typed:
            if check.template is not None and check.template.is_filled_by(inputs.values):
                reason = check.problem(check.template.expand(inputs.values), {})
                if reason is not None:
                    raise self._refused(f"{explain_reason(reason)}.")
        return inputs

    def _is_json(self, data: Any) -> bool:
        """Whether data becomes JSON, whatever it is; otherwise the content type of a message may depend on it."""
        return self.payloads.schema is None and not isinstance(data, bytes | str)

    def _draft(self, inputs: TemplateInputs, data: Any, protocol: str, mode: str, rng: random.Random) -> MessageDraft:
        wire = self._wire(protocol)
        if mode not in MODES:
            raise self._refused(f"there is no mode {mode!r}.", "Say binary or structured.")
        form = mode or self.definition.mode or "binary"
        if self.is_event and form == "structured" and not is_json_format(self.definition.format):
            sentence = f"events are written in JSON, and the definition wants them in {self.definition.format}."
            raise self._refused(sentence, "Make them in binary mode, or define them in JSON.")
        attributes = self._attributes(inputs, rng) if self.is_event else None
        metadata: dict[str, Any] = {}
        for placement in self.placements:
            placement.put(metadata, wire, placement.value(inputs.values, inputs.options, rng))
        contenttype = self.definition.contenttype
        if attributes is not None:
            contenttype = str(attributes.get("datacontenttype", ""))
        payload = self.payloads.encode(data, contenttype, rng)
        if attributes is not None and payload and not contenttype and not is_json_value(payload):
            attributes["datacontenttype"] = _media_type_of(payload)  # without a content type, data is JSON
        name = wire.name if protocol or self.definition.protocol else ""
        if attributes is None and not name:
            raise self._refused("it has neither envelope nor protocol.", "Say the protocol, like HTTP or KAFKA.")
        self._check_encoding(wire.content_encoding(metadata))
        return MessageDraft(name, metadata, attributes, payload, form, self._message_type)

    def _check_encoding(self, stated: str) -> None:
        try:
            pack(b"", stated)
        except EncodingFault as fault:
            sentence = f"the content encoding {fault.found!r} is not {fault.expected}."
            raise self._refused(sentence, "Define the message with gzip, or with none.") from None

    def _wire(self, protocol: str) -> Wire:
        own = self.definition.protocol
        if protocol and own and canonical_protocol(protocol) != own:
            raise self._refused(f"the definition is for {own}, not for {protocol}.")
        wire = wire_named(protocol or own)
        if protocol and not own and not wire.options:
            raise MakeRefused(f"there is no protocol {protocol!r} that we know.", remedy="Try KAFKA, MQTT/5.0, HTTP.")
        return wire

    def _attributes(self, inputs: TemplateInputs, rng: random.Random) -> dict[str, Any]:
        made = self._constants.copy()
        for name, template in self._templates.items():
            if template.is_filled_by(inputs.values):
                made[name] = template.expand(inputs.values)
            else:  # it need not be there
                del made[name]
        for name, sample in self._samplers.items():
            if name not in inputs.attributes:
                made[name] = sample(rng)
        made.update(inputs.attributes)
        return made

    def _verify(self, record: Record) -> None:
        found = [reason for message in unwrap(record) for reason in self._faults(message)]
        if found:
            details = "; ".join(explain_reason(reason) for reason in found[:3])
            raise self._refused(f"no message can be made that fits it: {details}.", "`postroom lint` says more.")

    def _faults(self, message: Any) -> list[Reason]:
        if isinstance(message, Message):
            if message.fault is not None:
                return [Reason("", "/payload", *message.fault)]
            return [] if self.matcher.variables(message) is not None else self.matcher.reasons(message)
        return [Reason("", message.at, message.code, message.expected, message.found)]

    def _refused(self, sentence: str, remedy: str = "") -> MakeRefused:
        return MakeRefused(sentence, place=self.definition.xid, remedy=remedy)


def _is_made(check: Check) -> bool:
    """Whether every message gets it: what has a value or must be there, and the time (MSG-060)."""
    if check.constant is not None:
        return check.has_own_value or check.constraint.required
    return not is_open(check) or check.constraint.required or _is_stamped(check)


def _is_stamped(check: Check) -> bool:
    # MSG-053: a timestamp whose value is "now" is stamped.
    return check.path == ("time",) or check.constraint.value is not None


def _media_type_of(payload: bytes) -> str:
    try:
        payload.decode()
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "text/plain"

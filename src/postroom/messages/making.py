"""Making: a definition as a template. What is made here, matching lands."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import msgspec

from postroom.errors import MakeRefused
from postroom.messages.bodies import AUTO, BodyMaker, is_json_text
from postroom.messages.constraints import Check, shorten
from postroom.messages.definition import Definition
from postroom.messages.engine import Engine
from postroom.messages.explaining import explain_reason
from postroom.messages.filtering import Filter
from postroom.messages.inventing import Invent, inventor
from postroom.messages.outcome import Reason
from postroom.messages.placing import Placement, placements, without
from postroom.protocols.cloudevents import ENVELOPE, JSON_DATA, Message, header_text, media_type, unwrap, wrap
from postroom.protocols.records import Record
from postroom.protocols.table import canonical_protocol, wire_named
from postroom.protocols.wire import Wire

__all__ = ["AUTO", "Draft", "Maker"]

MODES = ("", "binary", "structured")
# CloudEvents has these whether a definition names them or not (MSG-056).
_OPTIONAL = ("subject", "dataschema", "time")


class Draft(msgspec.Struct, frozen=True):
    """A message about to go on the wire. `attributes` is None for a message without an envelope."""

    protocol: str
    metadata: dict[str, Any]
    attributes: dict[str, Any] | None
    body: bytes
    mode: str

    def record(self) -> Record:
        """The message on the wire."""
        if self.attributes is None:
            return Record(self.protocol, self.metadata, self.body)
        wire = wire_named(self.protocol)
        if not (wire.contenttype and wire.contenttype[0] in self.metadata):
            return wrap(self.protocol, self.metadata, self.attributes, self.body, self.mode)
        # The definition may state the content type; a message has it once.
        metadata = without(wire, self.metadata, wire.contenttype)
        record = wrap(self.protocol, metadata, self.attributes, self.body, self.mode)
        if self.mode == "structured" and media_type(wire.content_type(self.metadata)) == JSON_DATA:
            return Record(record.protocol, self.metadata, record.payload)  # as many producers label such events
        return record


class Maker:
    """Makes conformant messages of one definition. What all of them share is worked out once."""

    def __init__(self, definition: Definition, engine: Engine) -> None:
        self.definition = definition
        self.engine = engine
        self.body = BodyMaker(definition, engine)
        self.filter = Filter(definition)
        self.is_event = definition.envelope == ENVELOPE
        self.envelope = self.filter.envelope
        self.placements = placements(definition)
        templates = [c.template for c in (*self.envelope, *(p.check for p in self.placements)) if c.template]
        self.variables = tuple(dict.fromkeys(name for template in templates for name in template.names))
        """The placeholders that need a value, in the order they appear."""
        self._templates = [(c.path[0], c.template) for c in self.envelope if c.template is not None]
        self._constants = {c.path[0]: c.constraint.value for c in self.envelope if c.constant is not None}
        self._skeleton = {c.path[0]: self._constants.get(c.path[0]) for c in self.envelope if _is_made(c)}
        if self.is_event and definition.contenttype:
            self._skeleton.setdefault("datacontenttype", definition.contenttype)
        self._invented = [(c.path[0], inventor(c.constraint)) for c in self.envelope if _is_open(c) and _is_made(c)]
        self._open: dict[str, Check | Placement | None] = self._open_places()
        self._proven: set[tuple[str, str]] = set()

    def make(self, variables: Mapping[str, Any], data: Any = None, **options: Any) -> Record:
        """A record of this definition (options as for `draft`); everything missing or wrong is said at once."""
        draft = self.draft(variables, data, **options)
        record = draft.record()
        # Definitions may contradict themselves: what is made for a protocol and a mode is tried once.
        if (draft.protocol, draft.mode) not in self._proven:
            self._prove(record)
            self._proven.add((draft.protocol, draft.mode))
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
        rng = rng or random.Random()  # noqa: S311 - sample data, no secrets
        values, given, options = self._given(variables)
        wire = self._wire(protocol)
        if mode not in MODES:
            raise self._refused(f"there is no mode {mode!r}.", "Say binary or structured.")
        attributes = self._attributes(values, given, rng) if self.is_event else None
        metadata: dict[str, Any] = {}
        for placement in self.placements:
            placement.put(metadata, wire, values, options, rng)
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

    def _open_places(self) -> dict[str, Check | Placement | None]:
        """What may be given beside placeholders: attributes and options that the definition leaves open, by name."""
        places: dict[str, Check | Placement | None] = {}
        for placement in self.placements:
            if _is_open(placement.check):
                places[f"protocoloptions.{placement.name}"] = places[placement.name] = placement
        if self.is_event:
            declared = {check.path[0] for check in self.envelope}
            places |= {name: None for name in _OPTIONAL if name not in declared}
            places |= {check.path[0]: check for check in self.envelope if _is_open(check)}
        return places

    def _given(self, given: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Any], dict[str, Any]]:
        """Values of placeholders, attributes and options; names are placeholders first, then what is left open."""
        values: dict[str, str] = {}
        attributes: dict[str, Any] = {}
        options: dict[str, Any] = {}
        problems: list[str] = []
        for name, value in given.items():
            text = header_text(value)
            if not _is_text(text):
                problems.append(f"{name} is not text that can be sent")
            elif name in self.variables:
                values[name] = text
            elif name in self._open:
                place = self._open[name]
                if isinstance(place, Placement):
                    options[place.name] = _fitting(place.check, value, problems)
                else:
                    attributes[name] = _fitting(place, value, problems)
            else:
                problems.append(self._unknown(name))
        missing = [name for name in self.variables if not values.get(name)]
        if missing:
            problems.append(f"values are missing for {', '.join(missing)}")
        if problems:
            remedy = f"Give each one, like {missing[0]}=VALUE." if missing else ""
            raise self._refused(f"{'; '.join(problems)}.", remedy)
        return values, attributes, options

    def _unknown(self, name: str) -> str:
        fixed = self._constants.get(name)
        if fixed is not None:
            return f"{name} is fixed: it is {shorten(fixed)!r}"
        known = sorted({*self.variables, *(name for name in self._open if not name.startswith("protocoloptions."))})
        return f"the definition has no variable {name!r}; it has: {', '.join(known) or 'none'}"

    def _wire(self, protocol: str) -> Wire:
        own = self.definition.protocol
        if protocol and own and canonical_protocol(protocol) != own:
            raise self._refused(f"the definition is for {own}, not for {protocol}.")
        wire = wire_named(protocol or own)
        if protocol and not own and not wire.options:
            raise MakeRefused(f"there is no protocol {protocol!r} that we know.", remedy="Try KAFKA, MQTT/5.0, HTTP.")
        return wire

    def _attributes(self, values: Mapping[str, str], given: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
        made = self._skeleton.copy()
        for name, template in self._templates:
            made[name] = template.expand(values)
        invent: Invent
        for name, invent in self._invented:
            if name not in given:
                made[name] = invent(rng)
        made.update(given)
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


def _fitting(check: Check | None, value: Any, problems: list[str]) -> Any:
    if check is None:
        return value
    value = _typed(check.constraint.type, value)
    reason = check.problem(value, {})
    if reason is not None:
        problems.append(explain_reason(reason))
    return value


def _is_open(check: Check) -> bool:
    return check.constant is None and check.template is None


def _is_made(check: Check) -> bool:
    """Whether every message gets it: what has a value or must be there, and the time (MSG-060)."""
    return not _is_open(check) or check.constraint.required or _is_stamped(check)


def _is_stamped(check: Check) -> bool:
    # MSG-053: a timestamp whose value is "now" is stamped.
    return check.path == ("time",) or check.constraint.value is not None


def _is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        return False
    return True


def _kind_of(body: bytes) -> str:
    try:
        body.decode()
    except UnicodeDecodeError:
        return "application/octet-stream"
    return "text/plain"


def _typed(kind: str, value: Any) -> Any:
    """Text given for a number or a boolean becomes one; what does not parse is left for the check to name."""
    if not isinstance(value, str) or kind not in ("integer", "number", "boolean"):
        return value
    try:
        return msgspec.json.decode(value.encode())
    except msgspec.DecodeError:
        return value

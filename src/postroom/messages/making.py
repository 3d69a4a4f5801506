"""Making: a definition as a template. What is made here, matching lands."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from postroom.errors import MakeRefused, SchemaRefused
from postroom.formats.schema import PayloadSchema
from postroom.messages.constraints import Check
from postroom.messages.definition import Constraint, Definition
from postroom.messages.engine import Engine, payload_reason
from postroom.messages.explaining import explain_reason
from postroom.messages.property_types import is_now
from postroom.protocols.cloudevents import ENVELOPE, header_text, is_json, wrap
from postroom.protocols.records import Record
from postroom.protocols.table import canonical_protocol, wire_named
from postroom.protocols.wire import Wire


class Auto:
    """Stands for a payload to be invented."""


AUTO = Auto()


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
        return wrap(self.protocol, self.metadata, self.attributes, self.body, self.mode)


class Maker:
    """Makes conformant messages of one definition."""

    def __init__(self, definition: Definition, engine: Engine) -> None:
        self.definition = definition
        self.engine = engine
        self.envelope = [Check(c, definition.xid) for c in definition.envelope_constraints]
        self.protocol = [Check(c, definition.xid) for c in definition.protocol_constraints]

    @property
    def variables(self) -> list[str]:
        """The placeholders that need a value, in the order they appear."""
        templates = [check.template for check in (*self.envelope, *self.protocol) if check.template]
        return list(dict.fromkeys(name for template in templates for name in template.names))

    def make(self, variables: Mapping[str, Any], data: Any = None, **options: Any) -> Record:
        """A record of this definition (options as for `draft`); everything missing or wrong is said at once."""
        return self.draft(variables, data, **options).record()

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
        attributes, values = self._split(variables)
        self._require(values)
        wire = self._wire(protocol)
        return Draft(
            wire.name if protocol or self.definition.protocol else "",
            self._metadata(wire, values),
            self._attributes(values, attributes, rng) if self.definition.envelope == ENVELOPE else None,
            self._body(data, rng),
            mode or self.definition.mode or "binary",
        )

    def _split(self, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
        """Given names are placeholders first, then envelope attributes without a fixed value."""
        placeholders = set(self.variables)
        free = {check.path[0] for check in self.envelope if check.constant is None and check.template is None}
        unknown = [name for name in given if name not in placeholders and name not in free]
        if unknown:
            known = ", ".join(sorted(placeholders | free)) or "none"
            raise MakeRefused(
                f"the definition has no variable {', '.join(map(repr, unknown))}; it has: {known}.",
                place=self.definition.xid,
            )
        values = {name: header_text(value) for name, value in given.items() if name in placeholders}
        types = {check.path[0]: check.constraint.type for check in self.envelope}
        return {name: _typed(types[name], value) for name, value in given.items() if name not in placeholders}, values

    def _require(self, values: Mapping[str, str]) -> None:
        missing = [name for name in self.variables if not values.get(name)]
        if missing:
            raise MakeRefused(
                f"values are missing for {', '.join(missing)}.",
                place=self.definition.xid,
                remedy=f"Give each one, like {missing[0]}=VALUE.",
            )

    def _wire(self, protocol: str) -> Wire:
        own = self.definition.protocol
        if protocol and own and canonical_protocol(protocol) != own:
            raise MakeRefused(f"the definition is for {own}, not for {protocol}.", place=self.definition.xid)
        wire = wire_named(protocol or own)
        if protocol and not wire.options:
            raise MakeRefused(f"there is no protocol {protocol!r} that we know.", remedy="Try KAFKA, MQTT/5.0, HTTP.")
        return wire

    def _attributes(self, values: Mapping[str, str], given: Mapping[str, Any], rng: random.Random) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for check in self.envelope:
            name = check.path[0]
            value = given.get(name, _fill(check, values))
            if value is None and (check.constraint.required or name == "time"):
                value = _invent(check.constraint, rng)
            if value is not None:
                made[name] = value
        if self.definition.contenttype and "datacontenttype" not in made:
            made["datacontenttype"] = self.definition.contenttype
        return made

    def _metadata(self, wire: Wire, values: Mapping[str, str]) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for check in self.protocol:
            value = _fill(check, values)
            if value is None:
                continue
            if len(check.path) == 1:
                made[check.path[0]] = value
            else:
                _place(made, wire, check.path, value)
        return made

    def _body(self, data: Any, rng: random.Random) -> bytes:
        schema = self.engine.schema(self.definition)
        if data is None:
            if schema is None:
                return b""
            raise MakeRefused(
                "the definition needs data.",
                place=self.definition.xid,
                remedy="Give some, or `auto` to invent it.",
            )
        if isinstance(data, Auto):
            if schema is None:
                return b"{}"
            data = self._invented(schema, rng)
        if schema is None:
            return data if isinstance(data, bytes) else header_text(data).encode()
        contenttype = self.definition.contenttype
        body = data if isinstance(data, bytes) else self._encoded(schema, data, contenttype)
        _, violations = schema.judge(body, contenttype)
        if violations and isinstance(data, bytes) and not is_json(contenttype):
            # People write down in JSON what a payload in a binary format, or in XML, is to say.
            value = _read_json(data)
            if value is not None:
                body = self._encoded(schema, value, contenttype)
                _, violations = schema.judge(body, contenttype)
        if violations:
            reasons = [explain_reason(payload_reason(self.definition, violation)) for violation in violations[:5]]
            raise MakeRefused(f"the data does not fit: {'; '.join(reasons)}.", place=self.definition.xid)
        return body

    def _encoded(self, schema: PayloadSchema, data: Any, contenttype: str) -> bytes:
        try:
            return schema.encode(data, contenttype)
        except SchemaRefused as error:
            place = f"{self.definition.xid}{error.place}"
            raise MakeRefused(error.sentence, place=place, remedy=error.remedy) from None

    def _invented(self, schema: Any, rng: random.Random) -> Any:
        try:
            return schema.sample(rng)
        except SchemaRefused as error:
            raise MakeRefused(error.sentence, place=self.definition.xid, remedy=error.remedy) from None


def _read_json(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _typed(kind: str, value: Any) -> Any:
    """Text given for a number or a boolean becomes one; what does not parse is left for the check to name."""
    if not isinstance(value, str) or kind not in ("integer", "number", "boolean"):
        return value
    try:
        return msgspec.json.decode(value.encode())
    except msgspec.DecodeError:
        return value


def _fill(check: Check, values: Mapping[str, str]) -> Any:
    if check.template is not None:
        return check.template.expand(values)
    if is_now(check.constraint.value):
        return None
    return check.constraint.value if check.constant is not None else None


def _invent(constraint: Constraint, rng: random.Random) -> Any:
    """A value for a required attribute that the definition leaves open."""
    makers: dict[str, Callable[[], Any]] = {
        "timestamp": lambda: datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "integer": lambda: rng.randrange(1000),
        "number": lambda: round(rng.random(), 3),
        "boolean": lambda: rng.random() < 0.5,
        "uri": lambda: f"https://example.com/{rng.randrange(10_000)}",
        "duration": lambda: f"PT{rng.randrange(1, 60)}S",
        "binary": lambda: "cG9zdHJvb20=",
    }
    if constraint.path == ("id",):
        return str(uuid.UUID(int=rng.getrandbits(128), version=4))
    if constraint.path == ("source",):
        return "/postroom/make"
    maker = makers.get(constraint.type)
    return maker() if maker else f"{constraint.path[-1]}{rng.randrange(10_000)}"


def _place(metadata: dict[str, Any], wire: Wire, path: tuple[str, ...], value: Any) -> None:
    option = wire.option(path[0])
    as_map = wire.headers_as_map or (option is not None and option.shape == "section")
    if as_map:
        metadata.setdefault(path[0], {})[path[1]] = value
    else:
        metadata.setdefault(path[0], []).append({"name": path[1], "value": value})

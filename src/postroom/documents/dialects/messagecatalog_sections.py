"""The content of a definition in a message catalog: literals and templates in the sections of its format."""

from __future__ import annotations

import re
from typing import Any

from postroom.documents.dialects.name_tables import (
    AMQP_CATALOG_PROPERTIES,
    AMQP_CATALOG_SECTIONS,
    MQTT_CATALOG_PUBLISH,
    NATS_CATALOG,
)
from postroom.documents.dialects.protocol_options import family_of, named_list
from postroom.documents.dialects.uri_templates import at_level_1
from postroom.messages.definitions.inheritance import envelope_attributes
from postroom.protocols.protocol_table import PROTOCOLS, canonical_protocol

Tree = dict[str, Any]

FORMATS: dict[str, Tree] = {
    "CloudEvents": {"envelope": "CloudEvents/1.0"},
    "AMQP": {"protocol": "AMQP/1.0"},
    "MQTT": {"protocol": "MQTT/5.0"},
    "NATS": {"protocol": "NATS"},
}
NATIVE = "xRegistry"
"""The format of groups and messages that name neither an envelope nor a protocol."""
CONTENT = (
    *("envelope", "envelopemetadata", "envelopeoptions", "protocol", "protocoloptions"),
    *("datacontenttype", "dataschemaformat", "dataschema", "dataschemauri", "dataschemaxid"),
)
"""What documents of formats that are defined elsewhere can say about a message."""
_PROTOCOLS = "messages.protocol"
MQTT_CONSTRAINTS: Tree = {
    _PROTOCOLS: {"default": "MQTT/5.0", "enum": ["MQTT/3.1.1", "MQTT/5.0"]},
    "messages.envelope": {"enum": [""]},
}
"""The format MQTT has definitions of both its versions, which no protocol of a group says, and none in an envelope."""
_COMMON = ("version", "format", "id", "description", "createdtimeutc")
_OF_DEFINITIONS = ("authority", "updatedtimeutc")
_PLACEHOLDER = re.compile(r"\{[A-Za-z0-9_]+\}")
# Properties that have other types only, so that a template in them is a value without one.
_UNTEMPLATED = frozenset(
    ("specversion", "time", "content-encoding", "absolute-expiry-time", "creation-time", "group-sequence")
)
_WRITTEN = {
    "sections": {ours: theirs for theirs, ours in AMQP_CATALOG_SECTIONS.items()},
    "properties": {ours: theirs for theirs, ours in AMQP_CATALOG_PROPERTIES.items()},
    "publish": {ours: theirs for theirs, ours in MQTT_CATALOG_PUBLISH.items()},
    "nats": {ours: theirs for theirs, ours in NATS_CATALOG.items()},
}


_CLOSED = {
    "header": frozenset(("durable", "priority", "ttl")),
    "properties": frozenset(AMQP_CATALOG_PROPERTIES) | frozenset(AMQP_CATALOG_PROPERTIES.values()),
}
_OPEN_AMQP = frozenset((*AMQP_CATALOG_SECTIONS, *AMQP_CATALOG_SECTIONS.values(), "applicationdata")) - {
    *_CLOSED,
    "footer",
}
_NATS_NAMES = frozenset((*NATS_CATALOG, *NATS_CATALOG.values(), "payload"))


def canonical_format(given: str) -> str:
    """A format as we write it: the four that the catalog defines in its spelling, any other as it is given."""
    known = format_of({"envelope": given}, {})
    family = family_of(given)
    return family if family in FORMATS else known


def implied_format(version: Tree) -> str:
    """The format whose sections a document has that does not name one; empty where that may be another document."""
    sections = {name for name, value in version.items() if isinstance(value, dict)}
    if "attributes" in sections:
        return "CloudEvents"
    if sections & {"publish", "userproperty"}:
        return "MQTT"
    if sections & _OPEN_AMQP or _is_amqp(version):
        return "AMQP"
    names = version.keys() - {*_COMMON, *_OF_DEFINITIONS}
    return "NATS" if names <= _NATS_NAMES and isinstance(version.get("subject"), str) else ""


def _is_amqp(version: Tree) -> bool:
    """Whether it has only sections whose names other documents have as well, and in them what AMQP has."""
    closed = [(version[name], known) for name, known in _CLOSED.items() if name in version]
    footer = version.get("footer")
    has_footer = isinstance(footer, dict) and version.keys() <= {*_COMMON, *_OF_DEFINITIONS, *_CLOSED, "footer"}
    return (has_footer or any(isinstance(one, dict) and one and one.keys() <= known for one, known in closed)) and all(
        isinstance(one, dict) and one.keys() <= known and not any(isinstance(value, dict) for value in one.values())
        for one, known in [*closed, *([(footer, footer.keys())] if has_footer and isinstance(footer, dict) else [])]
    )


def section_format(version: Tree, *stated: Any) -> str:
    """The format of a version: as it, its definition or its group state it, or as its sections imply."""
    named = next((one for one in stated if isinstance(one, str) and one), "")
    return canonical_format(named) if named else implied_format(version)


def format_of(message: Tree, group: Tree) -> str:
    """The format a catalog has for a message; empty when it has none."""
    envelope = message.get("envelope", group.get("envelope"))
    if isinstance(envelope, str) and envelope:
        return "CloudEvents" if envelope.lower().startswith("cloudevents") else envelope
    family = family_of(message.get("protocol", group.get("protocol"))) or _constrained_family(group)
    return family if family in FORMATS else ""


def _constrained_family(group: Tree) -> str:
    """The protocol of which a group takes several versions."""
    constraints = group.get("constraints")
    constraint = constraints.get(_PROTOCOLS) if isinstance(constraints, dict) else None
    allowed = constraint.get("enum") if isinstance(constraint, dict) else None
    families = set(map(family_of, allowed)) if isinstance(allowed, list) else set()
    return families.pop() if len(families) == 1 else ""


def other_constraints(group: Tree) -> Tree:
    """The constraints of a group beside those of the format MQTT."""
    constraints = group.get("constraints")
    given = constraints if isinstance(constraints, dict) else {}
    return {key: value for key, value in given.items() if value != MQTT_CONSTRAINTS.get(key)}


def without_mqtt(group: Tree) -> Tree:
    """A group without the constraints of the format MQTT."""
    rest = {name: value for name, value in group.items() if name != "constraints"}
    others = other_constraints(group)
    return {**rest, "constraints": others} if others else rest


def with_usual_protocol(group: Tree, messages: Any) -> Tree:
    """A group of the format MQTT with the version that is usual instead, unless a message in it has another one."""
    usual = MQTT_CONSTRAINTS[_PROTOCOLS]["default"]
    found = messages.values() if isinstance(messages, dict) else ()
    if group.get("envelope") or group.get("protocol") or _constrained_family(group) != "MQTT":
        return group
    if any(isinstance(one, dict) and one.get("protocol", usual) != usual for one in found):
        return group
    return {**without_mqtt(group), "protocol": usual}


def group_selectors(form: str) -> Tree:
    """What a group of a format says in a registry: envelope, protocol or constraints."""
    if form == NATIVE:
        return {}
    if form == "MQTT":
        return {"constraints": MQTT_CONSTRAINTS}
    if form not in FORMATS and canonical_protocol(form) in {wire.name.upper() for wire in PROTOCOLS}:
        return {"protocol": form}
    return dict(FORMATS.get(form, {"envelope": form}))


def read_document(document: Tree, form: str) -> Tree:
    """What the document of a version says, as attributes of a message."""
    if form in FORMATS:
        return read_sections(document, form)
    return {name: document[name] for name in CONTENT if document.get(name) is not None}


def read_sections(version: Tree, chosen: Any) -> Tree:
    """What a version says, as members of a message."""
    if chosen == "CloudEvents":
        return _read_cloudevents(version)
    if chosen == "AMQP":
        return _read_amqp(version)
    if chosen == "MQTT":
        return _read_mqtt(version)
    if chosen == "NATS":
        return _read_nats(version)
    rest = {name: value for name, value in version.items() if name not in _COMMON}
    return {**({"envelope": chosen} if isinstance(chosen, str) else {}), **rest}


def write_sections(message: Tree, group: Tree, chosen: str) -> Tree:
    """A message as the sections of its format."""
    given = message.get("protocoloptions")
    options: Tree = given if isinstance(given, dict) else {}
    reference = message.get("dataschemauri")
    if chosen == "CloudEvents":
        metadata = envelope_attributes(message)
        attributes = {name: _value(one) for name, one in metadata.items()} if isinstance(metadata, dict) else {}
        return {"attributes": {**attributes, **_schema(reference)}}
    if chosen == "AMQP":
        return _write_amqp(options, reference)
    if chosen == "MQTT":
        return _write_mqtt(options, reference, message.get("protocol", group.get("protocol")))
    if chosen == "NATS":
        return _write_nats(options, reference)
    metadata = message.get("envelopemetadata")
    return {"envelopemetadata": metadata} if metadata is not None else {}


def _read_cloudevents(version: Tree) -> Tree:
    read: Tree = {"envelope": "CloudEvents/1.0"}
    attributes = version.get("attributes")
    if not isinstance(attributes, dict):
        return read
    metadata = {name: _property(value, name) for name, value in attributes.items() if value is not None}
    reference = attributes.get("dataschema")
    if isinstance(reference, str) and reference and not _PLACEHOLDER.search(at_level_1(reference)):
        read["dataschemauri"] = reference
        del metadata["dataschema"]
    return {**read, "envelopemetadata": metadata}


def _read_amqp(version: Tree) -> Tree:
    options: Tree = {}
    for name, ours in AMQP_CATALOG_SECTIONS.items():
        section = version.get(name, version.get(ours))  # some write the names that the protocol has
        if isinstance(section, dict):
            names = AMQP_CATALOG_PROPERTIES if name == "properties" else {}
            listed = {str(names.get(key, key)): one for key, one in section.items() if one is not None}
            # The header has bare values in the model of 1.0, the others have property objects.
            options[ours] = {
                key: _bare(one) if name == "header" else _property(one, key if names else "")
                for key, one in listed.items()
            }
    return {"protocol": "AMQP/1.0", "protocoloptions": options, **_reference(version.get("applicationdata"))}


def _write_amqp(options: Tree, reference: Any) -> Tree:
    written: Tree = {}
    for name, section in options.items():
        theirs = _WRITTEN["sections"].get(name)
        if theirs and isinstance(section, dict):
            names = _WRITTEN["properties"] if name == "properties" else {}
            written[theirs] = {names.get(key, key): _value(one) for key, one in section.items()}
    return {**written, **({"applicationdata": _schema(reference)} if reference else {})}


def _read_mqtt(version: Tree) -> Tree:
    publish = version.get("publish")
    publish = publish if isinstance(publish, dict) else {}
    options = {
        ours: _bare(publish[name]) for name, ours in MQTT_CATALOG_PUBLISH.items() if publish.get(name) is not None
    }
    properties = version.get("userproperty")
    if isinstance(properties, dict):
        options["user_properties"] = _named(properties)
    number = publish.get("mqttversion") or "5.0"
    return {"protocol": f"MQTT/{number}", "protocoloptions": options, **_reference(version.get("payload"))}


def _write_mqtt(options: Tree, reference: Any, protocol: Any) -> Tree:
    publish: Tree = {"mqttversion": str(protocol).partition("/")[2] or "5.0"}
    publish |= {_WRITTEN["publish"][name]: _value(one) for name, one in options.items() if name in _WRITTEN["publish"]}
    written: Tree = {"publish": publish}
    properties = options.get("user_properties")
    if isinstance(properties, list):
        written["userproperty"] = _by_name(properties)
    return {**written, **({"payload": _schema(reference)} if reference else {})}


def _read_nats(version: Tree) -> Tree:
    options = {NATS_CATALOG[name]: _bare(version[name]) for name in NATS_CATALOG if version.get(name) is not None}
    if isinstance(version.get("headers"), dict):
        options["headers"] = _named(version["headers"])
    read = {"protocol": "NATS", **({"protocoloptions": options} if options else {})}
    return {**read, **_reference(version.get("payload"))}


def _write_nats(options: Tree, reference: Any) -> Tree:
    written = {_WRITTEN["nats"].get(name, name): _value(one) for name, one in options.items()}
    headers = named_list(options.get("headers"))
    if isinstance(headers, list):
        written["headers"] = _by_name(headers)
    return {**written, **({"payload": _schema(reference)} if reference else {})}  # C-74: as MQTT has it


def _named(values: Tree) -> list[Tree]:
    return [{"name": name, **_property(value)} for name, value in values.items() if value is not None]


def _by_name(values: list[Any]) -> Tree:
    return {
        one["name"]: _value({key: part for key, part in one.items() if key != "name"})
        for one in values
        if isinstance(one, dict) and isinstance(one.get("name"), str)
    }


def _schema(reference: Any) -> Tree:
    return {"dataschema": reference} if isinstance(reference, str) and reference else {}


def _reference(section: Any) -> Tree:
    found = section.get("dataschema") if isinstance(section, dict) else None
    return {"dataschemauri": found} if isinstance(found, str) and found else {}


def _property(value: Any, name: str = "") -> Tree:
    """A literal, a template, or (empty) a property of any value."""
    if value == "":
        return {}
    written = at_level_1(value) if isinstance(value, str) else value
    if isinstance(written, str) and name not in _UNTEMPLATED and _PLACEHOLDER.search(written):
        return {"type": "uritemplate", "value": written}
    return {"value": written}


def _bare(value: Any) -> Any:
    if value == "":
        return {}
    return at_level_1(value) if isinstance(value, str) else value


def _value(value: Any) -> Any:
    return value.get("value", "") if isinstance(value, dict) else value

"""Protocol options of messages: bare values and underscores in 1.0-rc4, property objects and hyphens in 0.5."""

from __future__ import annotations

from typing import Any

from postroom.documents.dialects.name_tables import NOW, OLD_NOW, OLD_PROPERTY_TYPES, PROPERTY_TYPES
from postroom.messages.definitions.inheritance import unwrapped
from postroom.protocols.protocol_table import canonical_protocol

Tree = dict[str, Any]

_MQTT_NAMES = (
    "topic_name",
    "payload_format",
    "message_expiry_interval",
    "response_topic",
    "correlation_data",
    "content_type",
    "user_properties",
)
_MQTT_READ = {name.replace("_", "-"): name for name in _MQTT_NAMES}
_MQTT_WRITTEN = {name: name.replace("_", "-") for name in _MQTT_NAMES}


def family_of(protocol: Any) -> str:
    """The name of a protocol without its version, in upper case."""
    return canonical_protocol(protocol).partition("/")[0] if isinstance(protocol, str) else ""


def read_property(value: Any) -> Any:
    """A property object with the type names and the "now" of 1.0-rc4."""
    return _translated(value, PROPERTY_TYPES, OLD_NOW, NOW)


def write_property(value: Any) -> Any:
    """A property object with the type names and the "now" of 0.5."""
    return _translated(value, OLD_PROPERTY_TYPES, NOW, OLD_NOW)


def _translated(value: Any, types: dict[str, str], now: str, other_now: str) -> Any:
    if not isinstance(value, dict):
        return value
    old_type, is_now = value.get("type"), value.get("value") == now
    new_type = types.get(old_type) if isinstance(old_type, str) else None
    if new_type is None and not is_now:
        return value
    return {**value, **({"type": new_type} if new_type else {}), **({"value": other_now} if is_now else {})}


def read_properties(value: Any) -> Any:
    """A map of property objects, nested under `attributes` or not."""
    return {name: read_property(one) for name, one in unwrapped(value).items()} if isinstance(value, dict) else value


def write_properties(value: Any) -> Any:
    """A map of property objects in the names of 0.5."""
    return {name: write_property(one) for name, one in value.items()} if isinstance(value, dict) else value


def bare(value: Any) -> Any:
    """A property of which only the value is known, as that value (C-05)."""
    return value["value"] if isinstance(value, dict) and value.keys() == {"value"} else read_property(value)


def boxed(value: Any) -> Any:
    """A bare value as a property object; a list is no value but a repeatable thing."""
    return write_property(value) if isinstance(value, dict) else {"value": value}


def read_options(protocol: Any, options: Any) -> Any:
    """The options of a 0.5 message in the form of 1.0-rc4."""
    reader = _READERS.get(family_of(protocol))
    return reader(options) if reader is not None and isinstance(options, dict) else options


def write_options(protocol: Any, options: Any) -> Any:
    """The options of a message in the form of 0.5."""
    writer = _WRITERS.get(family_of(protocol))
    return writer(options) if writer is not None and isinstance(options, dict) else options


def named_list(value: Any) -> Any:
    """A map, or a list of objects with one member each, as a list of objects with a name."""
    if isinstance(value, dict):
        return [_named(name, one) for name, one in value.items()]
    if not isinstance(value, list):
        return value
    return [
        _named(*next(iter(one.items()))) if isinstance(one, dict) and len(one) == 1 and "name" not in one else one
        for one in value
    ]


def _named(name: str, value: Any) -> Tree:
    return {"name": name, **(read_property(value) if isinstance(value, dict) else {"value": value})}


def _read_mqtt(options: Tree) -> Tree:
    read: Tree = {}
    for name, value in options.items():
        ours = _MQTT_READ.get(name, name)
        read[ours] = named_list(value) if ours == "user_properties" else bare(value)
    return read


def _write_mqtt(options: Tree) -> Tree:
    written: Tree = {}
    for name, value in options.items():
        theirs = _MQTT_WRITTEN.get(name, name)
        written[theirs] = _one_key_objects(value) if theirs == "user-properties" else boxed(value)
    return written


def _one_key_objects(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [
        {one["name"]: write_property({key: part for key, part in one.items() if key != "name"})}
        if isinstance(one, dict) and isinstance(one.get("name"), str)
        else one
        for one in value
    ]


def _read_kafka(options: Tree) -> Tree:
    read: Tree = {}
    for name, value in options.items():
        if name == "timestamp":  # 1.0 has no place for it
            continue
        if name == "headers" and isinstance(value, dict):
            read[name] = {header: bare(one) for header, one in value.items()}
        elif name == "key" and isinstance(value, dict) and value.get("type") == "binary":  # C-12
            read["key_base64"] = bare({member: part for member, part in value.items() if member != "type"})
        else:
            read[name] = bare(value)
    return read


def _write_kafka(options: Tree) -> Tree:
    written: Tree = {}
    for name, value in options.items():
        if name == "headers" and isinstance(value, dict):
            written[name] = {header: boxed(one) for header, one in value.items()}
        elif name == "key_base64":
            written["key"] = {**boxed(value), "type": "binary"}
        else:
            written[name] = boxed(value)
    return written


def _read_amqp(options: Tree) -> Tree:
    return {
        name.replace("_", "-"): {key: read_property(one) for key, one in section.items()}
        if isinstance(section, dict)
        else section
        for name, section in options.items()
    }


def _write_amqp(options: Tree) -> Tree:
    return {
        name.replace("_", "-"): {key: boxed(one) for key, one in section.items()}
        if isinstance(section, dict)
        else section
        for name, section in options.items()
    }


def _read_http(options: Tree) -> Tree:
    return {name: named_list(value) if name in ("query", "headers") else bare(value) for name, value in options.items()}


def _write_http(options: Tree) -> Tree:
    written = dict(options)
    query = options.get("query")
    if isinstance(query, list) and _is_plain_map(query):
        written["query"] = {
            one["name"]: one["value"]
            if one.keys() == {"name", "value"}
            else {key: part for key, part in one.items() if key != "name"}
            for one in query
        }
    return written


def _is_plain_map(query: list[Any]) -> bool:
    names = [one.get("name") for one in query if isinstance(one, dict)]
    return len(names) == len(query) == len(set(map(str, names))) and all(isinstance(name, str) for name in names)


_READERS = {"MQTT": _read_mqtt, "KAFKA": _read_kafka, "AMQP": _read_amqp, "HTTP": _read_http}
_WRITERS = {"MQTT": _write_mqtt, "KAFKA": _write_kafka, "AMQP": _write_amqp, "HTTP": _write_http}

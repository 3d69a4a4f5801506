"""Rules on the protocol options of messages."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from typing import Any

from postroom.documents.lint.findings import Diagnostic
from postroom.documents.lint.members import section, text
from postroom.documents.lint.subjects import LintedMessage
from postroom.documents.lint.written_properties import TYPE_VARIANTS, Property
from postroom.messages.definitions.catalog_tree import Tree
from postroom.messages.definitions.templates import has_placeholder
from postroom.protocols.mqtt import MQTT_3_1_1, MQTT_5_0
from postroom.protocols.protocol import Option

EXCLUSIVE = (("method", "status"), ("key", "key_base64"))
RANGES = {"qos": (0, 2), "payload_format": (0, 1)}
# Under these names older texts nest the options.
NESTED = ("options", "properties")
# What the text allows where it gives an option a type that is no text.
ALLOWED_TYPES = {
    "boolean": ("boolean",),
    "integer": ("integer", "uinteger", "ulong"),
    "timestamp": ("timestamp",),
    "binary": ("binary", "string", "uritemplate"),
}
CLOSED_SECTIONS = ("properties", "header")

# The text asks for letters, digits and `_`; names that AMQP's own specifications give have these as well (`x-opt-…`,
# `cloudEvents:type`).
_AMQP_NAME = re.compile(r"\A[A-Za-z0-9_.:\-]+\Z")
_TOKEN = re.compile(r"\A[A-Za-z0-9!#$%&'*+.^_`|~\-]+\Z")
_STATUS = re.compile(r"\A[1-5][0-9][0-9]\Z")


def _options(message: LintedMessage) -> Tree:
    return section(message.own, "protocoloptions")


def option_unknown(message: LintedMessage) -> Iterator[Diagnostic]:
    """A protocol we know has options we know; others are never looked at."""
    known = [option.name for option in message.wire.options]
    if not known:
        return
    for name, given in _options(message).items():
        option = message.wire.option(name)
        if option is None and not _is_newer(message, name):
            yield _unknown(message.at("protocoloptions", name), name, given, known, message.wire.name)
        elif option is not None and option.name in CLOSED_SECTIONS and option.members and isinstance(given, dict):
            for inner, value in given.items():
                if inner not in option.members:
                    pointer = message.at("protocoloptions", name, inner)
                    yield _unknown(pointer, inner, value, list(option.members), f"{message.wire.name} {name}")


def _unknown(pointer: str, name: str, value: Any, known: Sequence[str], where: str) -> Diagnostic:
    sentence = f"{where} has no option {name!r}; it is not looked at."
    return Diagnostic(pointer, sentence, meant_option(name, value, known))


def meant_option(name: str, value: Any, known: Sequence[str]) -> str:
    """What the author of an unknown option may have meant."""
    if name.lower() in NESTED and isinstance(value, dict):
        return "Move what is in it one level up."
    plain = {_letters(one): one for one in known}
    if _letters(name) in plain:
        return f"Did you mean {plain[_letters(name)]}?"
    close = difflib.get_close_matches(name.lower(), known, n=1, cutoff=0.7)
    return f"Did you mean {close[0]}?" if close else f"There are {', '.join(known)}."


def _letters(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.lower())


def _is_newer(message: LintedMessage, name: str) -> bool:
    return message.wire is MQTT_3_1_1 and MQTT_5_0.option(name) is not None


def option_of_mqtt5(message: LintedMessage) -> Iterator[Diagnostic]:
    """MQTT 3.1.1 knows qos, retain and topic_name only."""
    for name in _options(message):
        if message.wire.option(name) is None and _is_newer(message, name):
            remedy = "Remove it, or use MQTT/5.0."
            yield Diagnostic(message.at("protocoloptions", name), f"MQTT/3.1.1 has no {name}; MQTT/5.0 has.", remedy)


def option_variant(message: LintedMessage) -> Iterator[Diagnostic]:
    """Other spellings of an option are read; one is the present one."""
    for name in _options(message):
        option = message.wire.option(name)
        if option is not None and option.name != name:
            sentence = f"{name} is another spelling of {option.name}."
            yield Diagnostic(message.at("protocoloptions", name), sentence, f"Write {option.name}.")


def option_twice(message: LintedMessage) -> Iterator[Diagnostic]:
    """Two spellings of one option."""
    seen: dict[str, str] = {}
    for name in _options(message):
        option = message.wire.option(name)
        if option is not None and seen.setdefault(option.name, name) != name:
            sentence = f"{name} and {seen[option.name]} are the same option."
            yield Diagnostic(message.at("protocoloptions", name), sentence, "Keep one of them.")


def options_exclusive(message: LintedMessage) -> Iterator[Diagnostic]:
    """A request has a method, a response a status; a key is text or bytes."""
    given = section(message.effective, "protocoloptions")
    for first, second in EXCLUSIVE:
        both = message.wire.option(first) is not None and given.get(first) is not None and given.get(second) is not None
        if both and (first in _options(message) or second in _options(message)):
            name = second if second in _options(message) else first
            sentence = f"{first} and {second} exclude each other."
            yield Diagnostic(message.at("protocoloptions", name), sentence, "Keep one of them.")


def option_out_of_range(message: LintedMessage) -> Iterator[Diagnostic]:
    """Numbers that MQTT gives a range, HTTP's methods and status codes."""
    for one in message.option_properties:
        if one.option is None or one.option.shape != "value" or one.value is None or has_placeholder(one.value):
            continue
        wanted = _demand(one.option, one.value)
        if wanted:
            yield Diagnostic(
                one.value_pointer, f"{one.name} is {one.value!r}; it must be {wanted}.", "Correct the value."
            )


def _demand(option: Option, value: Any) -> str:
    if option.name in RANGES:
        low, high = RANGES[option.name]
        number = int(value) if isinstance(value, str) and re.fullmatch("-?[0-9]{1,9}", value) else value
        is_number = isinstance(number, int) and not isinstance(number, bool)
        return f"from {low} to {high}" if is_number and not low <= number <= high else ""
    if option.name == "status":
        return "" if _STATUS.match(str(value)) else "a status code from 100 to 599"
    if option.name == "method":
        return "" if isinstance(value, str) and _TOKEN.match(value) else "the name of an HTTP method"
    return ""


def shape_wrong(message: LintedMessage) -> Iterator[Diagnostic]:
    """Headers and the like are lists of objects with a name, sections are objects."""
    for name, given in _options(message).items():
        option = message.wire.option(name)
        pointer = message.at("protocoloptions", name)
        if option is None or option.shape == "value":
            continue
        if not isinstance(given, dict | list) or (option.shape == "section" and isinstance(given, list)):
            wanted = "an object" if option.shape == "section" else "a list of objects with name and value"
            yield Diagnostic(pointer, f"{name} must be {wanted}.", "Correct its shape.")
        elif isinstance(given, list):
            for number, item in enumerate(given):
                if not isinstance(item, dict) or not text(item, "name"):
                    place = message.at("protocoloptions", name, number)
                    yield Diagnostic(place, f"each of {name} is an object with a name.", "Add `name`.")


def query_as_map(message: LintedMessage) -> Iterator[Diagnostic]:
    """The query of a message is a list of names and values; a map is read as well."""
    for name in ("query", "headers", "user_properties"):
        option = message.wire.option(name)
        given = _options(message).get(name)
        if (
            option is not None
            and option.shape == "named"
            and not message.wire.headers_as_map
            and isinstance(given, dict)
        ):
            sentence = f"{name} is a map, which is read as a list of names and values."
            yield Diagnostic(message.at("protocoloptions", name), sentence, 'Write a list of {"name": …, "value": …}.')


def header_name(message: LintedMessage) -> Iterator[Diagnostic]:
    """Names of HTTP headers are tokens, names in AMQP sections ASCII."""
    for one in message.option_properties:
        if one.option is None or one.option.shape == "value":
            continue
        is_http = message.wire.name == "HTTP" and one.option.name == "headers"
        if is_http and not _TOKEN.match(one.name):
            yield Diagnostic(
                one.pointer, f"{one.name!r} is not the name of an HTTP header.", "Use letters, digits and -."
            )
        elif message.wire.name == "AMQP/1.0" and not _AMQP_NAME.match(one.name):
            remedy = "Use letters, digits and _; names of other specifications may have -, . and : too."
            yield Diagnostic(one.pointer, f"{one.name!r} is not a symbol, which names in AMQP are.", remedy)


def names_collide(message: LintedMessage) -> Iterator[Diagnostic]:
    """Names in a section that differ in case only cannot be stored side by side."""
    for name, given in _options(message).items():
        seen: dict[str, str] = {}
        for key in given if isinstance(given, dict) else ():
            if seen.setdefault(key.lower(), key) != key:
                pointer = message.at("protocoloptions", name, key)
                sentence = f"{key!r} and {seen[key.lower()]!r} differ in case only, and keys are lower-case."
                yield Diagnostic(pointer, sentence, "Rename one of them.")


def message_id_fixed(message: LintedMessage) -> Iterator[Diagnostic]:
    """Each AMQP message has its own message-id; only a template makes sense."""
    for one in message.option_properties:
        if _is_message_id(message, one) and one.value is not None and one.type != "uritemplate":
            sentence = "every message has its own message-id, and this definition prescribes one."
            yield Diagnostic(one.value_pointer, sentence, "Leave the value out, or make it a uritemplate.")


def _is_message_id(message: LintedMessage, one: Property) -> bool:
    in_properties = one.option is not None and one.option.name == "properties"
    return message.wire.name == "AMQP/1.0" and in_properties and one.name == "message-id"


def option_type(message: LintedMessage) -> Iterator[Diagnostic]:
    """The type that an option has by the protocol cannot be another one."""
    for one in message.option_properties:
        stated = text(one.written, "type").lower()
        allowed = ALLOWED_TYPES.get(one.default, ())
        in_model = one.option is not None and one.option.name == "properties"  # whose types the model has
        if not one.bare and stated and allowed and not in_model and TYPE_VARIANTS.get(stated, stated) not in allowed:
            sentence = f"{one.name} is of type {one.default}, not {stated}."
            yield Diagnostic(f"{one.pointer}/type", sentence, f"Write {one.default}, or leave the type out.")

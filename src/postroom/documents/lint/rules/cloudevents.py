"""Rules on CloudEvents attributes."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from postroom.documents.lint.findings import Diagnostic
from postroom.documents.lint.members import section, text
from postroom.documents.lint.subjects import LintedDocument, LintedMessage
from postroom.documents.lint.written_properties import EVENT_TYPES, Property
from postroom.messages.definitions.compile import ALWAYS_REQUIRED
from postroom.messages.definitions.property_types import NOW, is_now
from postroom.messages.definitions.schema_references import is_same_schema
from postroom.messages.definitions.templates import has_placeholder
from postroom.protocols.cloudevents import is_json_format

SPECVERSION = "1.0"
# Short names are too near to good names of extensions.
CORE_ATTRIBUTES = ("specversion", "subject", "dataschema", "datacontenttype")

_NAME = re.compile(r"\A[a-z0-9]+\Z")


def _attributes(message: LintedMessage) -> list[Property]:
    return message.envelope_properties if message.is_event else []


def _attribute(message: LintedMessage, name: str) -> Property | None:
    return next((one for one in _attributes(message) if one.name == name), None)


def attribute_name(message: LintedMessage) -> Iterator[Diagnostic]:
    """Attribute names are lower-case letters and digits."""
    for one in _attributes(message):
        if not _NAME.match(one.name):
            plain = re.sub("[^a-z0-9]", "", one.name.lower())
            remedy = f"Write {plain}." if plain else "Use lower-case letters and digits."
            yield Diagnostic(one.pointer, f"CloudEvents attributes are not called {one.name!r}.", remedy)


def attribute_misspelt(message: LintedMessage) -> Iterator[Diagnostic]:
    """An extension attribute that looks like one of the attributes that all events have."""
    for one in _attributes(message):
        if one.name in EVENT_TYPES or one.name in (*ALWAYS_REQUIRED, *CORE_ATTRIBUTES):
            continue
        close = difflib.get_close_matches(one.name.lower(), CORE_ATTRIBUTES, n=1, cutoff=0.85)
        if close:
            sentence = f"{one.name} is taken for an extension attribute."
            yield Diagnostic(one.pointer, sentence, f"Did you mean {close[0]}?")


def specversion_other(message: LintedMessage) -> Iterator[Diagnostic]:
    """specversion is the string 1.0."""
    one = _attribute(message, "specversion")
    if one is None:
        return
    if one.value not in (None, SPECVERSION):
        sentence = f"specversion is {SPECVERSION!r}; no event with {one.value!r} is a CloudEvent of this version."
        yield Diagnostic(one.value_pointer, sentence, f"Write {SPECVERSION!r}, or leave specversion out.")
    elif one.type != "string":
        yield Diagnostic(f"{one.pointer}/type", "specversion is a string.", "Leave the type out.")


def always_required(message: LintedMessage) -> Iterator[Diagnostic]:
    """Every event has specversion, type, id and source, so they cannot be optional."""
    for one in _attributes(message):
        if one.name in ALWAYS_REQUIRED and one.written.get("required") is False:
            sentence = f"every CloudEvent has {one.name}; it cannot be optional."
            yield Diagnostic(f"{one.pointer}/required", sentence, "Leave `required` out.")


def id_fixed(message: LintedMessage) -> Iterator[Diagnostic]:
    """Each event has its own id."""
    one = _attribute(message, "id")
    if one is not None and one.value is not None:
        sentence = "every event has its own id, and this definition prescribes one."
        yield Diagnostic(one.value_pointer, sentence, "Leave the value out.")


def time_fixed(message: LintedMessage) -> Iterator[Diagnostic]:
    """The time of an event is when it happened."""
    one = _attribute(message, "time")
    if one is not None and one.value is not None and not is_now(one.value) and not has_placeholder(one.value):
        sentence = f"the definition prescribes the time {one.value!r}."
        yield Diagnostic(one.value_pointer, sentence, f"Leave the value out, or write {NOW} for the current time.")


def dataschema_differs(message: LintedMessage) -> Iterator[Diagnostic]:
    """The attribute dataschema is the address of the payload schema."""
    one = _attribute(message, "dataschema")
    uri = text(message.effective, "dataschemauri")
    if one is None or not isinstance(one.value, str) or not uri or has_placeholder(one.value):
        return
    if not is_same_schema(one.value, uri):
        sentence = f"the attribute dataschema is {one.value!r}, and dataschemauri is {uri!r}."
        yield Diagnostic(one.value_pointer, sentence, "Make them the same, or leave the attribute out.")


def event_format_unknown(message: LintedMessage) -> Iterator[Diagnostic]:
    """Events in structured mode are read and made in JSON only."""
    stated = text(section(message.own, "envelopeoptions"), "format")
    if message.is_event and not is_json_format(stated):
        sentence = f"events in {stated} are neither read nor made."
        yield Diagnostic(message.at("envelopeoptions", "format"), sentence, "Use application/cloudevents+json.")


def type_open(document: LintedDocument) -> Iterator[Diagnostic]:
    """A definition that fixes no type takes events of every type."""
    for message in document.messages:
        value = section(section(message.effective, "envelopemetadata"), "type").get("value")
        if message.is_event and value is None and not message.borrowed and message.xid not in document.bases:
            yield Diagnostic(
                message.at(), "no type is given, so events of every type may be meant.", "Give `type` a value."
            )


def type_other_than_id(message: LintedMessage) -> Iterator[Diagnostic]:
    """A message is called like the type of its events."""
    one = _attribute(message, "type")
    if one is not None and isinstance(one.value, str) and one.value.lower() != message.entry.id.lower():
        sentence = f"the message is called {message.entry.id!r} and its type is {one.value!r}."
        yield Diagnostic(one.value_pointer, sentence, "Call the message like its type, if you can.")

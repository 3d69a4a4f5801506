"""Validation of documents against the metaschema of their format."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterator
from typing import Any

from postroom.documents.dialects.uri_templates import has_expression, template_error
from postroom.http.messagecatalog.metaschemas import COMMON, LOOSE, MQTT_5_ONLY, SECTIONS, FieldRule, SectionRule
from postroom.model.conform import AttributeViolation
from postroom.model.scalar_types import normal_timestamp, scalar_error

Tree = dict[str, Any]
Steps = tuple[str, ...]

LONGEST_TEMPLATE = 4096
NOW = ("0000-01-01", "0001-01-01", "01-01-0000")
_OTHER, _ATTRIBUTE = FieldRule(kind="any"), FieldRule(kind="attribute")
_MEDIA_TYPE = re.compile(r"[A-Za-z0-9!#$&^_.+\-]+/[A-Za-z0-9!#$&^_.+*\-]+(?:\s*;.*)?\Z", re.DOTALL)
_NAMES: dict[str, tuple[re.Pattern[str], str]] = {
    "cloudevents": (re.compile(r"(?!data\Z)[a-z][a-z0-9]{0,62}\Z"), "lower-case letters and digits, and not data"),
    "symbol": (re.compile(r"[!-~]{1,255}\Z"), "an AMQP symbol: printable ASCII"),
    "text": (re.compile(r"[^\x00-\x1f\x7f]{1,256}\Z"), "text without control characters"),
    "token": (re.compile(r"[!-9;-~]{1,255}\Z"), "printable ASCII without a colon"),
}


def violations(document: Tree, form: str) -> Iterator[AttributeViolation]:
    """All violations in a document of a known format."""
    sections, loose = SECTIONS[form], {**COMMON, **LOOSE.get(form, {})}
    for name, value in document.items():
        if name in sections:
            yield from _section(value, sections[name], (name,))
        elif name in loose:
            yield from _field(value, loose[name], (name,))
        elif isinstance(value, dict):
            known = ", ".join(sections)
            yield AttributeViolation("invalid", (name,), f"there is no such section in {form}; it has {known}")
        elif form in LOOSE:  # where fields are in no section, what is unknown may be one that is misspelt
            known = ", ".join((*LOOSE[form], *sections))
            yield AttributeViolation("invalid", (name,), f"there is no such field in {form}; it has {known}")
    for name, section in sections.items():
        if any(field.fixed for field in section.fields.values()) and not isinstance(document.get(name), dict):
            yield AttributeViolation("invalid", (name,), "this section has to be there")
    if form == "MQTT":
        yield from _mqtt(document)


def _section(section: Any, known: SectionRule, steps: Steps) -> Iterator[AttributeViolation]:
    if section is None:
        return
    if not isinstance(section, dict):
        yield AttributeViolation("invalid", steps, "must be an object")
        return
    for name, value in section.items():
        if name in known.fields:
            yield from _field(value, known.fields[name], (*steps, name))
        elif not known.others:
            words = ", ".join(known.fields)
            yield AttributeViolation("invalid", (*steps, name), f"there is no such field here; there are {words}")
        else:
            pattern, rule = _NAMES[known.others]
            if not pattern.match(name):
                yield AttributeViolation("invalid", (*steps, name), f"the name must be {rule}")
            yield from _field(value, _OTHER if known.others != "cloudevents" else _ATTRIBUTE, (*steps, name))
    for name, field in known.fields.items():
        if field.fixed and section.get(name) in (None, ""):
            yield AttributeViolation("invalid", (*steps, name), "must be there, with a text of its own")


def _field(value: Any, field: FieldRule, steps: Steps) -> Iterator[AttributeViolation]:
    if value is None or value == "":  # CAT-011: not listed, or any content
        return
    if isinstance(value, str) and not field.allowed and has_expression(value):
        detail = _template_error(value) or ("must be a literal, without placeholders" if field.fixed else "")
    else:
        detail = _CHECKS[field.kind](value) or _bounds_error(value, field)
    if detail:
        yield AttributeViolation("invalid", steps, detail)


def _template_error(text: str) -> str:
    if len(text) > LONGEST_TEMPLATE:
        return f"is longer than {LONGEST_TEMPLATE} characters, and it is a template"
    return template_error(text)


def _bounds_error(value: Any, field: FieldRule) -> str:
    if field.allowed and value not in field.allowed:
        return f"must be one of: {', '.join(field.allowed)}"
    if field.kind == "integer" and not field.least <= value <= field.most:
        return f"must be from {field.least} to {field.most}"
    return ""


def _any(value: Any) -> str:
    return "" if isinstance(value, str | int | float | bool) else "must be a text, a number, true or false"


def _attribute(value: Any) -> str:
    """CloudEvents has no numbers but integers of 32 bits."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if is_number and not (isinstance(value, int) and -(2**31) <= value < 2**31):
        return "must be an integer of 32 bits, as numbers in CloudEvents are"
    return _any(value)


def _binary(value: Any) -> str:
    try:
        base64.b64decode(value, validate=True)
    except (TypeError, ValueError, binascii.Error):
        return "must be base64"
    return ""


def _timestamp(value: Any) -> str:
    is_time = isinstance(value, str) and (value.startswith(NOW) or normal_timestamp(value) is not None)
    return "" if is_time else "must be an RFC 3339 timestamp"


def _media_type(value: Any) -> str:
    return "" if isinstance(value, str) and _MEDIA_TYPE.match(value) else "must be a media type"


def _topic(value: Any) -> str:
    if not isinstance(value, str):
        return "must be a text"
    return "must be the name of a topic, without the wildcards + and #" if set(value) & {"+", "#", "\0"} else ""


def _scalar(kind: str) -> Callable[[Any], str]:
    return lambda value: scalar_error(kind, value)


_CHECKS: dict[str, Callable[[Any], str]] = {
    "any": _any,
    "attribute": _attribute,
    "binary": _binary,
    "boolean": _scalar("boolean"),
    "integer": _scalar("integer"),
    "mediatype": _media_type,
    "string": _scalar("string"),
    "timestamp": _timestamp,
    "topic": _topic,
    "uri": _scalar("uriabsolute"),
    "urireference": _scalar("uri"),
}


def _mqtt(document: Tree) -> Iterator[AttributeViolation]:
    publish = document.get("publish")
    if not isinstance(publish, dict) or publish.get("mqttversion") != "3.1.1":
        return
    found = [("publish", name) for name in MQTT_5_ONLY if publish.get(name) is not None]
    for steps in [*found, *([("userproperty",)] if document.get("userproperty") else [])]:
        yield AttributeViolation("invalid", steps, "MQTT 3.1.1 has no such thing, MQTT 5.0 has")

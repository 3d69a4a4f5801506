"""Rules on properties: their type, their value, their template."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from typing import Any

from postroom.documents.lint.findings import Diagnostic
from postroom.documents.lint.members import text
from postroom.documents.lint.subjects import LintedMessage
from postroom.documents.lint.written_properties import TYPE_VARIANTS, Property
from postroom.messages.definitions.compile import ALWAYS_REQUIRED, TAKEN_FROM_DEFINITION
from postroom.messages.definitions.constraints import is_required
from postroom.messages.definitions.property_types import NOW, checker, is_now
from postroom.messages.definitions.templates import has_placeholder
from postroom.model.json_pointers import pointer

TYPES = (
    "any",
    "binary",
    "boolean",
    "duration",
    "integer",
    "number",
    "string",
    "symbol",
    "timestamp",
    "uri",
    "urireference",
    "uritemplate",
)
MEMBERS = frozenset({"name", "description", "type", "value", "required", "specurl"})
# Types that the options of AMQP have besides those of all properties (MSG-084, MSG-095).
AMQP_TYPES = ("ulong", "uuid", "uinteger")
# MSG-051: which types may hold placeholders, by where the property stands.
OPEN_TYPES = {
    "envelopemetadata": ("string", "uritemplate"),
    "HTTP": ("string", "uritemplate"),
    "AMQP/1.0": ("string", "symbol", "uri", "uritemplate"),
}
OTHER_OPEN_TYPES = ("string", "symbol", "uritemplate")
TEXTUAL = frozenset({"string", "symbol", "uri", "urireference", "uritemplate", "any"})

_PLACEHOLDER = re.compile(r"\{[A-Za-z0-9_]+\}")


def property_bare(message: LintedMessage) -> Iterator[Diagnostic]:
    """Attributes of an envelope are objects; a bare value is read as one that has only a value."""
    for one in message.doubtful_properties:
        if one.bare and one.area == "envelopemetadata" and one.value is not None:
            yield Diagnostic(
                one.pointer,
                f"{one.name} is a bare value where an object with a value is asked for.",
                "Write {" + f'"value": {_shown(one.value)}' + "}.",
            )


def member_misspelt(message: LintedMessage) -> Iterator[Diagnostic]:
    """Members of a property that nobody reads and that look like one that is read."""
    for one in message.doubtful_properties:
        for name in () if one.bare else one.written.keys() - MEMBERS:
            close = difflib.get_close_matches(name.lower(), sorted(MEMBERS), n=1, cutoff=0.75)
            if close and close[0] not in one.written:
                yield Diagnostic(one.pointer + pointer((name,)), f"{name} is not read.", f"Did you mean {close[0]}?")


def description_empty(message: LintedMessage) -> Iterator[Diagnostic]:
    """A description that is there says something."""
    for one in message.doubtful_properties:
        if not one.bare and one.written.get("description") == "":
            yield Diagnostic(f"{one.pointer}/description", "the description is empty.", "Write one, or leave it out.")


def type_unknown(message: LintedMessage) -> Iterator[Diagnostic]:
    """The type of a property is one of twelve."""
    for one in message.doubtful_properties:
        stated = one.written.get("type")
        if not isinstance(stated, str) or one.bare:
            continue
        allowed = (*TYPES, *AMQP_TYPES) if message.wire.name == "AMQP/1.0" and one.option else TYPES
        if stated.lower() in allowed or stated.lower() in TYPE_VARIANTS:
            continue
        close = difflib.get_close_matches(stated.lower(), TYPES, n=1)
        remedy = f"Did you mean {close[0]}?" if close else f"Use one of {', '.join(TYPES)}."
        yield Diagnostic(f"{one.pointer}/type", f"{stated!r} is not a type that properties have.", remedy)


def type_variant(message: LintedMessage) -> Iterator[Diagnostic]:
    """Types of older texts are read, but have another name today."""
    for one in message.doubtful_properties:
        stated = text(one.written, "type")
        present = TYPE_VARIANTS.get(stated.lower(), stated.lower())
        if stated != present and not one.bare:
            yield Diagnostic(
                f"{one.pointer}/type", f"the type {stated} is called {present} today.", f"Write {present}."
            )


def value_invalid(message: LintedMessage) -> Iterator[Diagnostic]:
    """A value has the type that its property declares."""
    for one in message.doubtful_properties:
        value = one.value
        if value is None or _is_open(one):
            continue
        if isinstance(value, dict | list):
            fits = one.type == "any"
        else:
            fits = (one.type == "timestamp" and is_now(value)) or _has_type(one.type, value)
        if not fits:
            sentence = f"{_shown(value)} is not a value of type {one.type}."
            yield Diagnostic(one.value_pointer, sentence, "Correct the value, or the type.")


def required_of_value(message: LintedMessage) -> Iterator[Diagnostic]:
    """A fixed value is in every message, so that to write `required: false` beside it says nothing."""
    taken = ALWAYS_REQUIRED + TAKEN_FROM_DEFINITION if message.is_event else ()
    for one in message.doubtful_properties:
        is_compared = one.option is None or one.option.decides
        is_own = one.area == "envelopemetadata" and one.name in taken
        if (
            one.written.get("required") is False
            and is_compared
            and not is_own
            and is_required(one.value, one.type, False)
        ):
            sentence = "`required` is false, and the fixed value is in every message all the same."
            yield Diagnostic(f"{one.pointer}/required", sentence, "Leave out `required`, or the value.")


def template_broken(message: LintedMessage) -> Iterator[Diagnostic]:
    """The placeholders of a URI template are letters, digits and underscores in braces."""
    for one in message.doubtful_properties:
        if one.type == "uritemplate" and isinstance(one.value, str) and _has_other_braces(one.value):
            yield Diagnostic(
                one.value_pointer,
                f"{_shown(one.value)} has braces that are no placeholder; they are taken literally.",
                "Placeholders are {name}, with letters, digits and underscores only.",
            )


def braces_literal(message: LintedMessage) -> Iterator[Diagnostic]:
    """Braces in other texts that look like a placeholder and are none."""
    for one in message.doubtful_properties:
        if one.type != "uritemplate" and isinstance(one.value, str) and _has_other_braces(one.value):
            yield Diagnostic(one.value_pointer, f"the braces in {_shown(one.value)} are taken literally.")


def placeholder_in_type(message: LintedMessage) -> Iterator[Diagnostic]:
    """Only texts of some types may hold placeholders."""
    for one in message.doubtful_properties:
        area = one.area if one.area == "envelopemetadata" else message.wire.name
        allowed = OPEN_TYPES.get(area, OTHER_OPEN_TYPES)
        if _is_open(one) and one.type not in (*allowed, "timestamp", "any"):
            sentence = f"a value of type {one.type} may not hold a placeholder."
            yield Diagnostic(one.value_pointer, sentence, "Give the property the type uritemplate.")


def timestamp_template(message: LintedMessage) -> Iterator[Diagnostic]:
    """A timestamp is the time of a message, not a template."""
    for one in message.doubtful_properties:
        if one.type == "timestamp" and has_placeholder(one.value):
            yield Diagnostic(
                one.value_pointer,
                f"a timestamp cannot hold a placeholder; {_shown(one.value)} demands any time and binds nothing.",
                "Leave the value out.",
            )


def now_variant(message: LintedMessage) -> Iterator[Diagnostic]:
    """Older spellings of "the current time"."""
    for one in message.doubtful_properties:
        if one.type == "timestamp" and is_now(one.value) and one.value != NOW:
            sentence = f"{one.value} is another spelling of the current time."
            yield Diagnostic(one.value_pointer, sentence, f"Write {NOW}.")


def value_none(message: LintedMessage) -> Iterator[Diagnostic]:
    """The word None as a value is mostly what a generator left behind."""
    for one in message.doubtful_properties:
        if one.value == "None":
            sentence = f"{one.name} must literally be the word 'None'."
            yield Diagnostic(one.value_pointer, sentence, "Leave the value out if none is meant.")


def _is_open(one: Property) -> bool:
    return isinstance(one.value, str) and has_placeholder(one.value)


def _has_type(kind: str, value: Any) -> bool:
    if kind in TEXTUAL and kind != "any" and isinstance(value, bool | int | float):
        return False
    if kind == "ulong" or kind == "uinteger":
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return checker(kind)(value)


def _has_other_braces(value: str) -> bool:
    rest = _PLACEHOLDER.sub("", value)
    return "{" in rest or "}" in rest


def _shown(value: Any, limit: int = 80) -> str:
    shown = repr(value)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"

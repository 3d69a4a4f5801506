"""Violations from the errors of jsonschema-rs."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from postroom.formats.schema import Violation
from postroom.formats.show_value import shorten, show_value
from postroom.model.json_pointers import pointer

MOST_OPTIONS = 20
TOO_COSTLY = "payload_too_costly"


def violation_of_error(error: Any) -> Violation:
    """The violation of a validator's error."""
    return violation_of_kind(pointer(error.instance_path), error.kind, error.instance)


def violation_of_kind(at: str, kind: Any, value: Any) -> Violation:
    """The violation of an error kind of the validator, for a value at a JSON pointer."""
    keyword: str = kind.name
    is_null = keyword == "type" and value is None
    code = "null_not_allowed" if is_null else "payload_" + _snake(keyword)
    describe = _bounded_text if gave_up(kind) else _EXPECTATIONS.get(keyword, lambda _: f"valid under {keyword}")
    return Violation(at, code, describe(kind), show_value(value))


def gave_up(kind: Any) -> bool:
    """Whether the regex engine gave up, which is an error kind of its own under the same keyword."""
    return type(kind).__name__ in ("BacktrackLimitExceeded", "RegexEngineFailure")


def violation_of_keyword(at: str, keyword: str, expected: str, value: Any) -> Violation:
    """The violation of a keyword, where we know ourselves what was expected."""
    return Violation(at, "payload_" + _snake(keyword), expected, show_value(value))


def too_costly(length: int) -> Violation:
    """The violation of a payload that takes too long to validate at all."""
    return Violation("", TOO_COSTLY, "a payload that can be checked in bounded time", f"{length} bytes that cannot")


def unexplained(length: int) -> Violation:
    """The violation of a payload that does not fit, where finding out why takes too long."""
    return Violation("", "payload_invalid", "valid under its schema", f"{length} bytes that are not")


def first_line(error: object) -> str:
    """The first line of an error's text, or its type where it has none."""
    return shorten(str(error).splitlines()[0]) if str(error) else type(error).__name__


def _snake(keyword: str) -> str:
    return re.sub("([A-Z])", r"_\1", keyword.lstrip("$")).lower()


def _options(values: list[Any]) -> str:
    listed = ", ".join(map(show_value, values[:MOST_OPTIONS]))
    return f"{listed} and {len(values) - MOST_OPTIONS} more" if len(values) > MOST_OPTIONS else listed


def _bounded_text(_: Any) -> str:
    return "text that its pattern can be tried on in bounded time"


_EXPECTATIONS: dict[str, Callable[[Any], str]] = {
    "type": lambda kind: " or ".join(kind.types),
    "enum": lambda kind: "one of " + _options(kind.options),
    "const": lambda kind: show_value(kind.value),
    "required": lambda kind: str(kind.property),
    "falseSchema": lambda _: "absent",
    "additionalProperties": lambda kind: ", ".join(kind.unexpected[:MOST_OPTIONS]),
    "unevaluatedProperties": lambda kind: "without " + ", ".join(kind.unexpected[:MOST_OPTIONS]),
    "pattern": lambda kind: f"text like {kind.pattern}",
    "format": lambda kind: f"text in the format {kind.format}",
    "minimum": lambda kind: f"at least {kind.limit}",
    "maximum": lambda kind: f"at most {kind.limit}",
    "exclusiveMinimum": lambda kind: f"more than {kind.limit}",
    "exclusiveMaximum": lambda kind: f"less than {kind.limit}",
    "multipleOf": lambda kind: f"a multiple of {kind.multiple_of}",
    "minLength": lambda kind: f"text of at least {kind.limit} characters",
    "maxLength": lambda kind: f"text of at most {kind.limit} characters",
    "minItems": lambda kind: f"a list of at least {kind.limit} items",
    "maxItems": lambda kind: f"a list of at most {kind.limit} items",
    "minProperties": lambda kind: f"an object of at least {kind.limit} members",
    "maxProperties": lambda kind: f"an object of at most {kind.limit} members",
    "uniqueItems": lambda _: "a list without repeated items",
    "contains": lambda _: "a list that contains what the schema asks for",
    "propertyNames": lambda kind: f"an object whose names fit ({first_line(kind.error.message)})",
}

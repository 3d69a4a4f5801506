"""Regular expressions and named formats of text, matched in linear time."""

from __future__ import annotations

from collections.abc import Callable

import jsonschema_rs

from postroom.errors import SchemaRefused
from postroom.formats.regex_cost import affordable, states

Matcher = Callable[[str], bool]

# The formats of the validation companion; others are annotations.
FORMATS = frozenset(
    (
        *("ipv4", "ipv6", "email", "idn-email", "hostname", "idn-hostname", "iri", "iri-reference"),
        *("uri-template", "relative-json-pointer", "regex"),
    )
)
# What is kept for each character of a text.
_MOST_STATES = 1_000
_ERRORS = (jsonschema_rs.ValidationError, ValueError)


def full_matcher(pattern: str, at: str) -> Matcher:
    """A matcher for texts that match a pattern from end to end."""
    return matcher(f"^(?:{pattern})$", at, pattern)


def matcher(pattern: str, at: str, given: str = "") -> Matcher:
    """A matcher for texts in which a pattern is found; SchemaRefused for one we cannot use."""
    try:
        # jsonschema-rs translates ECMAScript patterns for an engine without backtracking.
        found = jsonschema_rs.Draft202012Validator({"pattern": pattern}, pattern_options=jsonschema_rs.RegexOptions())
    except _ERRORS:
        raise SchemaRefused(
            f"the pattern {(given or pattern)[:200]!r} is not a regular expression that can be matched in linear time.",
            place=at,
            remedy="Look-around and back-references are not supported.",
        ) from None
    is_valid: Matcher = found.is_valid
    if states(pattern) > _MOST_STATES:
        raise SchemaRefused(
            f"the pattern {(given or pattern)[:200]!r} repeats too much, counted out.",
            place=at,
            remedy="Use fewer or smaller repeats such as {1,100}.",
        )
    if states(pattern) == 0:
        return is_valid
    return lambda text: affordable(pattern, text) and is_valid(text)


def has_format(name: str) -> Matcher:
    """A matcher for texts of a named format."""
    is_valid: Matcher = jsonschema_rs.Draft202012Validator({"format": name}, validate_formats=True).is_valid
    return is_valid

"""The constraint keywords: on which types each may stand, and which values it may have."""

from __future__ import annotations

import decimal
import sys
from collections.abc import Callable
from typing import Any

import msgspec

from postroom.errors import SchemaRefused
from postroom.formats.jsonstructure.validation.patterns import full_matcher, matcher
from postroom.formats.jsonstructure.validation.primitives import NUMERIC
from postroom.formats.jsonstructure.validation.string_types import ENCODINGS

_STRING = frozenset(("string",))
_DECIMALS = frozenset(("decimal", "number", "double", "float"))
_BINARY = frozenset(("binary",))
_LISTS = frozenset(("array", "set"))
_OBJECT = frozenset(("object",))
_MAP = frozenset(("map",))

_MOST_DIGITS = 308
_COMPRESSIONS = ("gzip", "deflate", "zlib", "brotli")


class Keyword(msgspec.Struct, frozen=True):
    """A constraint keyword: the types it may constrain, whether a value of it is allowed, and what would be."""

    type_names: frozenset[str]
    allows: Callable[[Any], bool]
    wants: str


def number_of(value: Any) -> int | float | decimal.Decimal | None:
    """The number that a bound means: a JSON number, or its text for the types that travel as text."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value if abs(value) <= sys.float_info.max else None
    if not isinstance(value, str) or len(value) > 200:
        return None
    try:
        found = decimal.Decimal(value)
    except decimal.InvalidOperation:
        return None
    # An exponent of a billion is a trap, not a bound.
    return found if found.is_finite() and abs(found.adjusted()) < _MOST_DIGITS else None


def is_count(value: Any) -> bool:
    """Whether a value is an integer that counts something a machine could hold."""
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53


def _is_number(value: Any) -> bool:
    return number_of(value) is not None


def _is_positive(value: Any) -> bool:
    found = number_of(value)
    return found is not None and found > 0


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_names(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(name, str) for name in value)


def _is_dependencies(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_names(names) for names in value.values())


def _is_schema(value: Any) -> bool:
    return isinstance(value, dict)


_COUNT = "an integer of 0 or more"
KEYWORDS: dict[str, Keyword] = {
    "maxLength": Keyword(_STRING, is_count, _COUNT),
    "precision": Keyword(_DECIMALS, lambda value: is_count(value) and value > 0, "an integer above 0"),
    "scale": Keyword(_DECIMALS, is_count, _COUNT),
    "contentEncoding": Keyword(
        _BINARY | _STRING,
        lambda value: isinstance(value, str) and value in ENCODINGS,
        "one of " + ", ".join(ENCODINGS),
    ),
    "contentCompression": Keyword(
        _BINARY | _STRING, lambda value: value in _COMPRESSIONS, "one of " + ", ".join(_COMPRESSIONS)
    ),
    "contentMediaType": Keyword(
        _BINARY | _STRING, lambda value: isinstance(value, str) and "/" in value, "a media type"
    ),
    "minimum": Keyword(NUMERIC, _is_number, "a number"),
    "maximum": Keyword(NUMERIC, _is_number, "a number"),
    "exclusiveMinimum": Keyword(NUMERIC, _is_number, "a number"),
    "exclusiveMaximum": Keyword(NUMERIC, _is_number, "a number"),
    "multipleOf": Keyword(NUMERIC, _is_positive, "a number above 0"),
    "minLength": Keyword(_STRING, is_count, _COUNT),
    "pattern": Keyword(_STRING, _is_text, "a regular expression"),
    "format": Keyword(_STRING, _is_text, "the name of a format"),
    "minItems": Keyword(_LISTS, is_count, _COUNT),
    "maxItems": Keyword(_LISTS, is_count, _COUNT),
    "uniqueItems": Keyword(_LISTS, lambda value: isinstance(value, bool), "a boolean"),
    "contains": Keyword(_LISTS, _is_schema, "a schema"),
    "minContains": Keyword(_LISTS, is_count, _COUNT),
    "maxContains": Keyword(_LISTS, is_count, _COUNT),
    "minProperties": Keyword(_OBJECT, is_count, _COUNT),
    "maxProperties": Keyword(_OBJECT, is_count, _COUNT),
    "dependentRequired": Keyword(_OBJECT, _is_dependencies, "a map from names to lists of names"),
    "patternProperties": Keyword(_OBJECT, _is_schema, "a map from patterns to schemas"),
    "propertyNames": Keyword(_OBJECT, _is_schema, "a schema of type string"),
    "minEntries": Keyword(_MAP, is_count, _COUNT),
    "maxEntries": Keyword(_MAP, is_count, _COUNT),
    "patternKeys": Keyword(_MAP, _is_schema, "a map from patterns to schemas"),
    "keyNames": Keyword(_MAP, _is_schema, "a schema of type string"),
    "has": Keyword(_OBJECT | _MAP, _is_schema, "a schema"),
}

_ORDERED = (
    ("minimum", "maximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("minContains", "maxContains"),
    ("minProperties", "maxProperties"),
    ("minEntries", "maxEntries"),
    ("scale", "precision"),
)


def check_rules(schema: dict[str, Any], type_name: str | None, at: str) -> None:
    """Raise SchemaRefused for a keyword on a type it cannot constrain, or with a value it cannot have; beside a union,
    where None stands for the type, for the latter only."""
    for name in KEYWORDS.keys() & schema.keys():
        keyword = KEYWORDS[name]
        if type_name is not None and type_name not in keyword.type_names:
            raise SchemaRefused(
                f"{name} constrains {_listed(keyword.type_names)}, not the type {type_name}.", place=f"{at}/{name}"
            )
        if not keyword.allows(schema[name]):
            raise SchemaRefused(f"{name} must be {keyword.wants}.", place=f"{at}/{name}")
    for low, high in _ORDERED:
        if low in schema and high in schema and _exceeds(schema[low], schema[high]):
            raise SchemaRefused(f"{low} is greater than {high}, so nothing fits.", place=f"{at}/{low}")
    if "pattern" in schema:
        full_matcher(schema["pattern"], f"{at}/pattern")
    for name in ("patternProperties", "patternKeys"):
        for pattern in schema.get(name, ()):
            matcher(pattern, f"{at}/{name}")


def rules_of(schema: dict[str, Any], type_name: str) -> dict[str, Any]:
    """The keywords that constrain a type. Those of the validation companion count wherever they are written: real
    documents use them with the meta-schema of Core as well."""
    return {
        name: value
        for name, value in schema.items()
        if (keyword := KEYWORDS.get(name)) is not None and type_name in keyword.type_names
    }


def _exceeds(low: Any, high: Any) -> bool:
    least, most = number_of(low), number_of(high)
    return least is not None and most is not None and least > most


def _listed(type_names: frozenset[str]) -> str:
    return "numbers" if type_names == NUMERIC else " and ".join(sorted(type_names)) or "this"

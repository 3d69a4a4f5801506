"""The keywords of JSON Schema that hold schemas, and whether those apply to the same value or to parts of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

UNEVALUATED = ("unevaluatedProperties", "unevaluatedItems")
# Those that apply to the same value: the ones whose result decides what they have evaluated, and the others.
CHOICES = ("allOf", "anyOf", "oneOf", "if")
FOLLOWERS = ("not", "then", "else", "dependentSchemas", "dependencies")
# Those that apply to members and items: the ones of which one applies to a member, and those that may all apply.
SINGLE = ("items", "additionalItems", "prefixItems", "additionalProperties", "propertyNames", "properties")
EVERY = ("patternProperties", "contains", *UNEVALUATED)
APPLICATORS = frozenset((*CHOICES, *FOLLOWERS, *SINGLE, *EVERY))
MAPS = ("dependentSchemas", "dependencies", "properties", "patternProperties", "$defs", "definitions")


def subschemas(schema: dict[str, Any], names: tuple[str, ...]) -> Iterator[Any]:
    """The subschemas under some keywords, whether they hold one, a list or a map of them; booleans apart."""
    for name in names:
        held = schema.get(name)
        if isinstance(held, list):
            yield from (item for item in held if isinstance(item, dict))
        elif isinstance(held, dict) and name in MAPS:
            yield from (item for item in held.values() if isinstance(item, dict))
        elif isinstance(held, dict):
            yield held

"""Annotations and names: how each must be written."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from postroom.errors import SchemaRefused
from postroom.model.json_pointers import pointer

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_AT_ROOT_ONLY = ("$schema", "$id", "$root", "$offers", "definitions", "$import", "$importdefs")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


# Not altnames, altenums, symbols and descriptions: real documents write lists and plain texts there, and the companion
# says that they never bear on validation.
_ANNOTATIONS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "name": (_is_text, "text"),
    "description": (_is_text, "text"),
    "unit": (_is_text, "text"),
    "symbol": (_is_text, "text"),
    "currency": (_is_text, "text"),
    "examples": (lambda value: isinstance(value, list), "a list of values"),
    "abstract": (lambda value: isinstance(value, bool), "a boolean"),
    "identity": (lambda value: isinstance(value, list) and all(map(_is_text, value)), "a list of names"),
    "relations": (lambda value: isinstance(value, dict), "a map from names to relations"),
}


def check_annotations(schema: dict[str, Any], at: str) -> None:
    """Raise SchemaRefused for an annotation that is not written as it must be."""
    for name in _ANNOTATIONS.keys() & schema.keys():
        allows, expected = _ANNOTATIONS[name]
        if not allows(schema[name]):
            raise SchemaRefused(f"{name} must be {expected}.", place=f"{at}/{name}")
    if at:
        for name in _AT_ROOT_ONLY:
            if name in schema:
                raise SchemaRefused(f"{name} stands at the root of a document only.", place=f"{at}/{name}")


def check_names(names: dict[str, Any], at: str, what: str) -> None:
    """Raise SchemaRefused for a name that is no identifier."""
    for name in names:
        if not _IDENTIFIER.fullmatch(name):
            raise SchemaRefused(
                f"{name[:80]!r} is no name for {what}: names are letters, digits and underscores.",
                place=at + pointer([name]),
                remedy="Other spellings go into altnames.",
            )


def description(schema: dict[str, Any]) -> str:
    """What a schema says about itself."""
    found = schema.get("description")
    if isinstance(found, str):
        return found
    variants = schema.get("descriptions")
    if not isinstance(variants, dict):
        return ""
    return str(variants.get("lang:en") or next(iter(variants.values()), ""))

"""Constraints of declarations beside their content: keys, alternatives, assertions, open content."""

from __future__ import annotations

from typing import Any

from postroom.formats.xsd.xml_names import VERSIONING, XML, XS, XSI, namespace_of


def constraints(declaration: Any) -> set[str]:
    """The keys, references and unique values that an element demands, in words."""
    found = set()
    for rule in getattr(declaration, "identities", None) or ():
        constraint_type = type(rule).__name__.removeprefix("Xsd").lower()
        paths = [rule.selector.path, *(field.path for field in rule.fields)] if rule.selector is not None else []
        refer = getattr(getattr(rule, "refer", None), "name", "") or ""
        found.add(f"the {constraint_type} {rule.local_name!r} over {' '.join(paths)} {refer}".strip())
    return found


def alternatives(declaration: Any) -> tuple[str, ...]:
    """The conditions that an element's type depends on."""
    return tuple(
        f"{alternative.path} {alternative.type.name}"
        for alternative in getattr(declaration, "alternatives", None) or ()
    )


def asserted(xsd_type: Any) -> set[str]:
    """The assertions of a type."""
    return {str(rule.path) for rule in getattr(xsd_type, "assertions", None) or ()}


def open_content(xsd_type: Any) -> bool:
    """Whether a type lets in elements between those that it names."""
    opened = getattr(xsd_type, "open_content", None)
    return opened is not None and getattr(opened, "mode", "none") != "none"


def own_names(known: Any) -> list[str]:
    """The names that a schema declares by itself, without those that every schema has."""
    return [tag for tag in known if namespace_of(tag) not in (XS, XML, XSI, VERSIONING)]

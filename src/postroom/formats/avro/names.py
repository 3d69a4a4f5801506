"""Names of Avro types: which are allowed, and how they are qualified."""

from __future__ import annotations

import re
from typing import Any, TypeGuard

from postroom.errors import SchemaRefused
from postroom.formats.avro.types import PRIMITIVES

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def is_name(text: Any) -> TypeGuard[str]:
    """Whether a text may name a field or a symbol."""
    return isinstance(text, str) and _NAME.match(text) is not None


def full_name(definition: dict[str, Any], namespace: str, at: str) -> str:
    """The full name of a definition inside a namespace; SchemaRefused when it has no proper one."""
    name = definition.get("name")
    if not isinstance(name, str) or not name:
        raise SchemaRefused(f"this {definition.get('type')} has no name.", place=at)
    own = definition.get("namespace")
    if own is not None and not isinstance(own, str):
        raise SchemaRefused("a namespace is a text.", place=f"{at}/namespace")
    full = name if "." in name else qualified(name, namespace if own is None else own)
    if not all(map(is_name, full.split("."))):
        raise SchemaRefused(f"{full!r} is not a name: letters, digits and _ only, and no digit first.", place=at)
    if full.rpartition(".")[2] in PRIMITIVES:
        raise SchemaRefused(f"{full!r} redefines a primitive type.", place=at)
    return full


def qualified(name: str, namespace: str) -> str:
    """A name as it reads inside a namespace."""
    return f"{namespace}.{name}" if namespace and "." not in name else name


def namespace_of(name: str) -> str:
    """The namespace of a full name."""
    return name.rpartition(".")[0]


def alias_names(definition: dict[str, Any], namespace: str | None, at: str) -> tuple[str, ...]:
    """The aliases of a definition, qualified unless the namespace is None (aliases of fields have none)."""
    aliases = definition.get("aliases")
    if aliases is None:
        return ()
    if not isinstance(aliases, list):
        raise SchemaRefused("aliases are a list of names.", place=f"{at}/aliases")
    for index, alias in enumerate(aliases):
        parts = alias.split(".") if isinstance(alias, str) and namespace is not None else [alias]
        if not all(map(is_name, parts)):
            raise SchemaRefused(f"the alias {alias!r} is not a name.", place=f"{at}/aliases/{index}")
    return tuple(aliases) if namespace is None else tuple(qualified(alias, namespace) for alias in aliases)

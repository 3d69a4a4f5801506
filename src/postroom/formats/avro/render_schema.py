"""Types as a schema document again, for libraries that read those: full names, each type defined once."""

from __future__ import annotations

from typing import Any

from postroom.formats.avro.types import NO_DEFAULT, Array, AvroType, Enum, Field, Fixed, Map, Record, Union


def rendered(kind: AvroType) -> Any:
    """The document of a type, with what resolution needs: names, aliases and defaults, no logical types."""
    return _rendered(kind, set())


def _rendered(kind: AvroType, defined: set[str]) -> Any:
    if isinstance(kind, Array):
        return {"type": "array", "items": _rendered(kind.items, defined)}
    if isinstance(kind, Map):
        return {"type": "map", "values": _rendered(kind.values, defined)}
    if isinstance(kind, Union):
        return [_rendered(branch, defined) for branch in kind.branches]
    if not isinstance(kind, Record | Enum | Fixed):
        return kind.kind
    if kind.name in defined:
        return kind.name
    defined.add(kind.name)
    document: dict[str, Any] = {"type": kind.kind, "name": kind.name, "aliases": list(kind.aliases)}
    if isinstance(kind, Enum):
        document["symbols"] = list(kind.symbols)
        if kind.default is not None:
            document["default"] = kind.default
    elif isinstance(kind, Fixed):
        document["size"] = kind.size
    else:
        document["fields"] = [_field(field, defined) for field in kind.fields]
    return document


def _field(field: Field, defined: set[str]) -> dict[str, Any]:
    document = {"name": field.name, "type": _rendered(field.type, defined), "aliases": list(field.aliases)}
    return document if field.default is NO_DEFAULT else {**document, "default": field.default}

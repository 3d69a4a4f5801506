"""The definitions of a document: the types that references mean, built or still to be built."""

from __future__ import annotations

from typing import Any

import msgspec

from postroom.errors import SchemaRefused
from postroom.formats.jsonstructure.annotations import check_names, description
from postroom.formats.jsonstructure.document import COMPOSITION, StructureDocument
from postroom.formats.jsonstructure.local_references import follow, steps
from postroom.formats.jsonstructure.types import TypeReference
from postroom.model.json_pointers import pointer

_DEEPEST = 120


def is_type(value: Any) -> bool:
    """Whether an object declares a type; other objects below definitions are namespaces."""
    if not isinstance(value, dict):
        return False
    stated = value.get("type")
    return isinstance(stated, str | list) or (isinstance(stated, dict) and "$ref" in stated)


class Definitions:
    """The named types of one document; each once, however often it is referred to."""

    def __init__(self, document: StructureDocument) -> None:
        self._json = document.json
        self._composition = document.composition
        self._named: dict[tuple[str, bytes], TypeReference] = {}
        self.pending: list[tuple[TypeReference, dict[str, Any], str]] = []
        """Types that are referred to but not built yet, with their schemas and JSON pointers."""

    @property
    def types(self) -> list[TypeReference]:
        """All that were referred to so far."""
        return list(self._named.values())

    def everything(self) -> None:
        """Name every type below definitions, although nothing may refer to it."""
        self._namespace(self._json.get("definitions", {}), ("definitions",))

    def _namespace(self, namespace: dict[str, Any], path: tuple[str, ...]) -> None:
        if len(path) > _DEEPEST:
            raise SchemaRefused("the namespaces are nested too deeply.", place=pointer(path[:8]))
        check_names(namespace, pointer(path), "a type")
        for name, value in namespace.items():
            at = pointer((*path, name))
            if not isinstance(value, dict):
                raise SchemaRefused("definitions hold types and namespaces, which are objects.", place=at)
            if is_type(value) or self.is_conditional(value):
                # Abstract types are built as well, although nothing may refer to them.
                self._name(value, at, {})
            else:
                if "type" in value and not is_type(value["type"]) and not isinstance(value["type"], dict):
                    raise SchemaRefused("type is a name, a union or a reference.", place=f"{at}/type")
                if "properties" in value and not is_type(value["properties"]):
                    raise SchemaRefused("a type with properties needs the keyword type.", place=at)
                self._namespace(value, (*path, name))

    def reference(self, reference: Any, at: str, narrowing: dict[str, Any]) -> TypeReference:
        """The type that a reference means, narrowed by the keywords beside it."""
        path = steps(reference, at)
        target = follow(self._json, path, at)
        if path and path[0] != "definitions":
            raise SchemaRefused(f"{reference} is not below definitions.", place=at)
        if not is_type(target) and not self.is_conditional(target):
            raise SchemaRefused(f"{reference} is no type.", place=at)
        for count in range(1, len(path)):
            if is_type(follow(self._json, path[:count], at)):
                raise SchemaRefused(f"{reference} leads into another type.", place=at)
        if target.get("abstract") is True:
            raise SchemaRefused(f"{reference} is abstract; only $extends may refer to it.", place=at)
        return self._name(target, pointer(path), narrowing)

    def _name(self, target: dict[str, Any], at: str, narrowing: dict[str, Any]) -> TypeReference:
        key = (at, msgspec.json.encode(narrowing, order="deterministic"))
        named = self._named.get(key)
        if named is None:
            named = self._named[key] = TypeReference(at=at, description=description(target))
            self.pending.append((named, {**target, **narrowing}, at))
        return named

    def is_conditional(self, schema: dict[str, Any]) -> bool:
        """Whether a schema is put together from others, in a document that allows that."""
        return self._composition and any(name in schema for name in COMPOSITION)

"""Types that other documents of the catalog define, by name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from postroom.errors import SchemaRefused
from postroom.formats.avro.names import namespace_of, qualified
from postroom.formats.schema import Library, LibraryDocument
from postroom.formats.schema_text import load_json

_MOST_DOCUMENTS = 200
_DEEPEST = 100
_NAMED = ("record", "error", "enum", "fixed")


@dataclass(frozen=True)
class NeighbourDefinition:
    """A named type as another document writes it, and the namespace around it."""

    schema: dict[str, Any]
    namespace: str
    at: str


class Neighbours:
    """Looks names up in a library; documents are read on the first name that the own document does not define."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._known: dict[str, NeighbourDefinition] | None = None
        self._read = 0

    def definition(self, name: str) -> NeighbourDefinition | None:
        """What defines a full name, if anything does."""
        if self._known is None:
            self._known = {}
            for found in self._library.neighbours():
                if not self._learn(found):
                    break
        if name not in self._known:
            found_by_name = self._library.find(name)
            if found_by_name is not None:
                self._learn(found_by_name)
        return self._known.get(name)

    def _learn(self, found: LibraryDocument) -> bool:
        """Take in the names that a document defines; False when enough documents were read."""
        self._read += 1
        if self._read > _MOST_DOCUMENTS or self._known is None:
            return False
        try:
            schema = load_json(found.document)
        except SchemaRefused:
            # Documents of other formats live in the same group.
            return True
        for name, definition in _definitions(schema, "", f"{found.location}#", 0):
            self._known.setdefault(name, definition)
        return True


def _definitions(schema: Any, namespace: str, at: str, depth: int) -> Iterator[tuple[str, NeighbourDefinition]]:
    """All named types inside a part of a document."""
    if depth > _DEEPEST:
        return
    if isinstance(schema, list):
        for index, branch in enumerate(schema):
            yield from _definitions(branch, namespace, f"{at}/{index}", depth + 1)
    if not isinstance(schema, dict):
        return
    if schema.get("type") in _NAMED and isinstance(schema.get("name"), str):
        own = schema.get("namespace")
        name = qualified(schema["name"], own if isinstance(own, str) else namespace)
        yield name, NeighbourDefinition(schema, namespace, at)
        namespace = namespace_of(name)
    for member in ("items", "values"):
        yield from _definitions(schema.get(member), namespace, f"{at}/{member}", depth + 1)
    fields = schema.get("fields")
    for index, field in enumerate(fields if isinstance(fields, list) else ()):
        if isinstance(field, dict):
            yield from _definitions(field.get("type"), namespace, f"{at}/fields/{index}/type", depth + 1)

"""The schema documents of a compiled catalog, and what they refer to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from postroom.formats.references import CatalogLibrary
from postroom.formats.schema import EmptyLibrary, Found, Library
from postroom.messages.definition import SchemaSource, StoredSchema


class Documents:
    """Documents by their paths: a default version under its schema's path, the others under their own."""

    def __init__(self, schemas: Mapping[str, StoredSchema]) -> None:
        self._schemas = schemas

    def of(self, source: SchemaSource) -> tuple[Any, Library]:
        """The document of a definition's schema, and the library that its references are looked up in."""
        if not source.place:
            return source.document, EmptyLibrary()
        return self._schemas[source.place].document, CatalogLibrary(source.place, self._read, self._names)

    def _read(self, path: str) -> Found | None:
        stored = self._schemas.get(path)
        if stored is None:
            schema, _, version = path.partition("/versions/")
            stored = self._schemas.get(schema)
            if stored is None or stored.version != version:
                return None
        return Found(path, stored.document)

    def _names(self, place: str) -> Iterable[str]:
        prefix = "/".join(place.split("/")[:4]) + "/"
        return [path for path in self._schemas if path.startswith(prefix) and "/versions/" not in path]

"""The schema documents of a compiled catalog, and what they refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from postroom.errors import FormatUnknown, SchemaRefused
from postroom.formats.format_table import parse_schema
from postroom.formats.schema import Library, LibraryDocument
from postroom.formats.schema_identity import document_bytes, numbered_type, schema_identity
from postroom.formats.schema_library import CatalogLibrary
from postroom.formats.schema_versions import MOST_WRITERS
from postroom.messages.definitions.definition import CompiledCatalog, SchemaSource, StoredSchema
from postroom.model.schema_content import content_digest, content_guid


class SchemaDocuments:
    """Documents by their paths: a default version under its schema's path, the others under their own."""

    def __init__(self, schemas: Mapping[str, StoredSchema], fetch: Callable[[str], Any] | None = None) -> None:
        self._schemas = schemas
        self._fetch = fetch or self._fetched
        self._paths: dict[str, list[str]] = {}
        for path in schemas:
            self._paths.setdefault(path.partition("/versions/")[0], []).append(path)

    def of(self, source: SchemaSource) -> tuple[Any, Library]:
        """The document of a definition's schema, and the library that its references are looked up in."""
        home = source.place or source.reference
        stored = self._schemas[source.place] if source.place else None
        references = () if stored is None else stored.references
        library = CatalogLibrary(home, self._read, self._names, self._fetch, references)
        return source.document if stored is None else stored.document, library

    def guid(self, path: str) -> str:
        """The GUID of the version at a path: the one that is stated, or what follows from the content."""
        stored = self._schemas[path]
        if stored.guid or stored.document is None:
            return stored.guid
        identity = schema_identity(stored.format, document_bytes(stored.format, stored.document))
        return "" if identity is None else content_guid(content_digest(identity, stored.qualifiers.encode()))

    def versions(self, source: SchemaSource) -> list[tuple[SchemaSource, tuple[int | str, ...]]]:
        """All versions of the schema that a definition refers to, with the ids that registries gave them."""
        schema_path = source.place.partition("/versions/")[0]
        return [self._version(source, path) for path in self._paths.get(schema_path, ()) if schema_path]

    def _version(self, source: SchemaSource, path: str) -> tuple[SchemaSource, tuple[int | str, ...]]:
        stored = self._schemas[path]
        missing = "" if stored.document is not None else "its document is not in the catalog"
        own = SchemaSource(
            format=stored.format or source.format,
            place=path,
            # What an id names is a whole document of Avro: of a union, its index is written, too.
            fragment="" if numbered_type(stored.format or source.format) == "AVRO" else source.fragment,
            reference=source.reference,
            version=stored.version,
            missing=missing,
        )
        return own, stored.ids

    def _fetched(self, url: str) -> Any:
        stored = self._schemas.get(url)
        return None if stored is None else stored.document

    def _read(self, path: str) -> LibraryDocument | None:
        stored = self._schemas.get(path)
        if stored is None:
            schema, _, version = path.partition("/versions/")
            stored = self._schemas.get(schema)
            if stored is None or stored.version != version:
                return None
        return None if stored.document is None else LibraryDocument(path, stored.document, stored.references)

    def _names(self, path: str) -> Iterable[str]:
        prefix = "/".join(path.split("/")[:4]) + "/"
        return [other for other in self._schemas if other.startswith(prefix) and "/versions/" not in other]


def with_fetched(catalog: CompiledCatalog, fetch: Callable[[str], str | None]) -> CompiledCatalog:
    """The catalog with the external documents that its schemas refer to, so that workers fetch none."""
    fetched: dict[str, StoredSchema] = {}

    def remember(url: str) -> str | None:
        document = fetched[url].document if url in fetched else fetch(url)
        if document is not None:
            fetched[url] = StoredSchema(format="", version="", document=document)
        return document

    documents = SchemaDocuments(catalog.schemas, remember)
    sources = [definition.schema for definition in catalog.definitions if definition.schema is not None]
    versions = {
        (version.place, version.fragment): version
        for source in sources
        for version, _ in documents.versions(source)[:MOST_WRITERS]
    }
    for source in (*(source for source in sources if not source.place), *versions.values()):
        if source.missing:
            continue
        document, library = documents.of(source)
        try:
            parse_schema(source.format, document, source.fragment, library)
        except (SchemaRefused, FormatUnknown):
            continue  # the engine reports what is wrong with it
    return msgspec.structs.replace(catalog, schemas={**catalog.schemas, **fetched})

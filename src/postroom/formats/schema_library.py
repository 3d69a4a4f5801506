"""The library of a catalog: finds the schema documents that references mean."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from urllib.parse import unquote

from postroom.formats.schema import LibraryDocument
from postroom.urls import join_url, parse_url

# The document at a path of the catalog, and its path with the version; None when there is none.
ReadDocument = Callable[[str], LibraryDocument | None]
# The paths of all schemas beside one.
ListSchemas = Callable[[str], Iterable[str]]
# The document at an absolute URL, where a setting allows the host.
FetchDocument = Callable[[str], Any | None]

References = tuple[tuple[str, str], ...]

MOST_REFERENCED = 200
_SUFFIXES = (".json", ".avsc", ".proto", ".xsd", ".jstruct.json", ".schema.json")


class CatalogLibrary:
    """The schema documents of a catalog, seen from one of them.

    A reference is, in this order: a name that the referring schema states in its `references`, the path or pointer of a
    schema, a path relative to the referring schema, the id of a schema of the same group (with or without the suffix of
    a file name), an absolute URL.
    """

    def __init__(
        self,
        home: str,
        read: ReadDocument,
        schemas: ListSchemas,
        fetch: FetchDocument | None = None,
        references: References = (),
    ) -> None:
        self._home = home
        self._load = read
        self._schemas = schemas
        self._fetch = fetch
        self._references = {home: dict(references)}

    def find(self, reference: str, base: str = "") -> LibraryDocument | None:
        """The document that a reference means."""
        reference = reference.partition("#")[0] or reference.removeprefix("#")
        base = base or self._home
        stated = self._references.get(base, {}).get(reference)
        if stated is not None:
            return self._read(stated)
        if "://" in base:  # a document from elsewhere speaks of its own neighbours
            reference = join_url(base, reference) or reference
        for path in _paths(reference, base):
            found = self._read(path)
            if found is not None:
                return found
        url = parse_url(reference)
        if self._fetch is None or url is None or not url.scheme:
            return None
        document = self._fetch(reference)
        return None if document is None else LibraryDocument(reference, document)

    def neighbours(self) -> Iterator[LibraryDocument]:
        """The documents that references lead to, from one to the next, and the others of the same schema group."""
        yield from self._referenced()
        for path in self._schemas(self._home):
            if path != _schema(self._home):
                found = self._read(path)
                if found is not None:
                    yield found

    def _referenced(self) -> Iterator[LibraryDocument]:
        waiting = list(self._references[self._home].values())
        seen: set[str] = set()
        while waiting and len(seen) < MOST_REFERENCED:
            path = waiting.pop(0)
            found = None if path in seen else self._read(path)
            seen.add(path)
            if found is not None:
                yield found
                waiting += [inner for _, inner in found.references]

    def _read(self, path: str) -> LibraryDocument | None:
        found = self._load(path)
        if found is not None and found.references:
            self._references[found.location] = dict(found.references)
        return found


def _paths(reference: str, base: str) -> Iterator[str]:
    url = parse_url(reference)
    if url is None:
        return
    path = unquote(url.path)
    groups = base.split("/")[1:2] or [""]
    inside = path.find(f"/{groups[0]}/")
    if groups[0] and inside >= 0:
        yield path[inside:]
        return
    if url.scheme or not path:
        return
    yield posixpath.normpath(posixpath.join(posixpath.dirname(_schema(base)), path))
    name = posixpath.basename(path)
    for suffix in ("", *_SUFFIXES):
        if name.endswith(suffix):
            yield posixpath.join(posixpath.dirname(_schema(base)), name.removesuffix(suffix))


def _schema(base: str) -> str:
    return "/".join(base.split("/")[:5])

"""Catalog sources: a file or folder, a running service, a store. Each becomes one document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from postroom.documents.reading import document_files, read_document
from postroom.documents.service import read_service
from postroom.errors import DocumentRefused, SourceUnknown
from postroom.settings import Settings

Tree = dict[str, Any]

GROUP_TYPES = ("endpoints", "messagegroups", "schemagroups")
STORE_SCHEMES = ("sqlite", "postgresql", "postgres")


def group_types(document: Tree) -> tuple[str, ...]:
    """The names under which a document has groups: those of the messaging model, and those of its own model."""
    source = document.get("modelsource")
    own = source.get("groups") if isinstance(source, dict) else None
    return (*GROUP_TYPES, *(name for name in own or () if name not in GROUP_TYPES))


def scheme_of(source: str) -> str:
    """The scheme of an address in lower case; empty for a path."""
    before, separator, _ = source.partition("://")
    return before.lower() if separator else ""


def read_source(source: str, settings: Settings) -> Tree:
    """The catalog document that a source stands for."""
    scheme = scheme_of(source)
    if scheme in ("http", "https"):
        return read_service(source, settings)
    if scheme in STORE_SCHEMES:
        return read_store(source)
    if scheme:
        raise SourceUnknown(
            f"a catalog cannot be read from {scheme}://.",
            place=source,
            remedy="Give a file, a folder, http(s)://…, or sqlite:///path.db.",
        )
    return read_files(Path(source), settings)


def read_files(path: Path, settings: Settings) -> Tree:
    """A file, or a folder whose files together are one catalog."""
    merged: Tree = {}
    for file in document_files(path):
        document = read_document(file, settings)
        if not isinstance(document, dict):
            raise DocumentRefused("a catalog is a JSON object.", place=str(file))
        if path.is_file() and not any(isinstance(document.get(kind), dict) for kind in group_types(document)):
            raise DocumentRefused(
                "this is no catalog: it has none of messagegroups, schemagroups, endpoints.", place=str(file)
            )
        _add(merged, document, str(file))
    if not any(kind in merged for kind in group_types(merged)):
        raise DocumentRefused("no file in this folder has messagegroups, schemagroups or endpoints.", place=str(path))
    return merged


def read_store(url: str) -> Tree:
    """The catalog that a store holds."""
    from postroom.registry.operations import export_document
    from postroom.store import open_store

    with open_store(url, create=False) as store, store.read() as transaction:
        return export_document(transaction)


def _add(merged: Tree, document: Tree, place: str) -> None:
    for kind in group_types(document):
        groups = document.get(kind)
        if not isinstance(groups, dict):
            continue
        collected = merged.setdefault(kind, {})
        for name, group in groups.items():
            if name in collected:
                raise DocumentRefused(f"another file of the folder has {kind} {name!r} as well.", place=place)
            collected[name] = group
    for name, value in document.items():
        if name not in group_types(document):
            merged.setdefault(name, value)

"""Catalog sources: a file or folder, a running service, a store. Each becomes one document."""

from __future__ import annotations

import logging
from collections.abc import Collection
from pathlib import Path
from typing import Any

from postroom.catalog.service import read_service
from postroom.documents.catalog_files import read_catalog
from postroom.documents.dialects.convert import ParsedCatalog
from postroom.documents.dialects.release_candidates import RC4
from postroom.errors import SourceUnknown
from postroom.settings import Settings
from postroom.urls import STORE_SCHEMES, scheme_of

Tree = dict[str, Any]

log = logging.getLogger(__name__)


def read_source(source: str, settings: Settings) -> Tree:
    """Read the catalog of a source as one document in the names of 1.0-rc4."""
    return _noted(read_parsed(source, settings))


def read_parsed(source: str, settings: Settings, more_types: Collection[str] = ()) -> ParsedCatalog:
    """Read the catalog of a source as one document, with its dialect and notes of the reader.

    Files may have groups of more types than those of messages: a target knows which.
    """
    scheme = scheme_of(source)
    if scheme in ("http", "https"):
        return read_service(source, settings)
    if scheme in STORE_SCHEMES:
        return ParsedCatalog(read_store(source), RC4.name)
    if scheme:
        raise SourceUnknown(
            f"a catalog cannot be read from {scheme}://.",
            place=source,
            remedy="Give a file, a folder, http(s)://…, sqlite:///path.db or postgresql://host/database.",
        )
    return read_catalog(Path(source), settings, more_types)


def read_files(path: Path, settings: Settings) -> Tree:
    """A file, or a folder whose files together are one catalog, in any dialect."""
    return _noted(read_catalog(path, settings))


def _noted(parsed: ParsedCatalog) -> Tree:
    for note in parsed.notes:
        log.info("%s: %s", note.place, note.sentence)
    return parsed.tree


def read_store(url: str) -> Tree:
    """The catalog that a store holds."""
    from postroom.catalog.open_store import open_store
    from postroom.registry.operations import export_document

    with open_store(url, create=False) as store, store.read() as transaction:
        return export_document(transaction)

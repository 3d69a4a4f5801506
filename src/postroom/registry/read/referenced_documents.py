"""Lookup of the documents of the same registry that a Version's document may refer to."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Protocol

from postroom.model.schema_content import References, stated_references
from postroom.registry.entities import Entity
from postroom.registry.rules import ReferencedDocument, Surroundings


class DocumentSource(Protocol):
    """The part of a transaction that finds documents."""

    def entity(self, xid: str) -> Entity | None:
        """The entity with exactly this xid."""

    def entities(self, collection: str) -> list[Entity]:
        """The members of a collection, in the order of their ids."""


def surroundings(tx: DocumentSource, xid: str, references: References = ()) -> Surroundings:
    """The documents that the document of one Version may refer to."""
    return Surroundings(xid, partial(_read, tx), partial(_names, tx), references)


def _read(tx: DocumentSource, path: str) -> ReferencedDocument | None:
    resource_xid, _, version_id = path.partition("/versions/")
    resource = tx.entity(resource_xid) if resource_xid.count("/") == 4 else None
    if resource is not None and "xref" in resource.attributes:
        resource_xid = resource.attributes["xref"]
        resource = tx.entity(resource_xid)
    if resource is None:
        return None
    chosen = version_id or resource.attributes.get("defaultversionid", "")
    version = tx.entity(f"{resource_xid}/versions/{chosen}")
    if version is None or version.document is None or version.document.url:
        return None
    return ReferencedDocument(version.xid, version.document.content, stated_references(version.attributes))


def _names(tx: DocumentSource, xid: str) -> Iterable[str]:
    collection = "/".join(xid.split("/")[:4])
    return [entity.xid for entity in tx.entities(collection)]

"""One of two compared catalogs: its messages with what they inherit, its payload schemas with what they refer to."""

from __future__ import annotations

from typing import Any

from postroom.errors import DefinitionRefused
from postroom.formats.schema import Library
from postroom.messages.definitions.catalog_tree import Tree, find_message, members
from postroom.messages.definitions.definition import SchemaSource
from postroom.messages.definitions.inheritance import base_reference, chain_of, merged
from postroom.messages.definitions.schema_documents import SchemaDocuments
from postroom.messages.definitions.schema_sources import schema_source, stored_schemas

# A schema as formats compare it: its format, its document, and where to look up references.
WrittenSchema = tuple[str, Any, Library | None]
_MAX_XREFS = 20


class ComparedCatalog:
    """A catalog that is compared with another one."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._stored = stored_schemas(tree, members(tree, "schemagroups"))
        self._documents = SchemaDocuments(self._stored)

    def effective(self, xid: str, message: Tree) -> tuple[Tree, str]:
        """A message with what it inherits or stands for, and the reference to a base that cannot be had."""
        for _ in range(_MAX_XREFS):
            target = xref_target(message)
            group, _, name = target.rpartition("/messages/")
            found = members(_group(self.tree, group), "messages").get(name) if target else None
            if found is None:
                break
            xid, message = target, found
        place = find_message(self.tree, xid)
        if place is None:
            return message, ""
        try:
            chain = chain_of(self.tree, place)
        except DefinitionRefused:
            return message, ""
        last = find_message(self.tree, chain[-1][0])
        return merged(chain), base_reference(last.message) if last is not None else ""

    def payload(self, message: Tree) -> SchemaSource | None:
        """Where the schema of an effective message is."""
        return schema_source(self.tree, message)

    def written(self, source: SchemaSource) -> WrittenSchema | None:
        """The schema of a message; None where it cannot be had."""
        if source.missing or (source.place and source.place not in self._stored):
            return None
        document, library = self._documents.of(source)
        return source.format, document, library

    def version(self, schema: str, version: str, form: str) -> WrittenSchema | None:
        """The document of one Version of a schema; None where it cannot be had."""
        for place in (f"{schema}/versions/{version}", schema):
            stored = self._stored.get(place)
            if stored is not None and (place != schema or stored.version == version):
                document, library = self._documents.of(SchemaSource(format="", place=place))
                return stored.format or form, document, library
        return None


def xref_target(message: Tree) -> str:
    """The xid of the message that this one stands for; empty when it stands for itself."""
    meta = message.get("meta")
    target = meta.get("xref") if isinstance(meta, dict) else None
    return target if isinstance(target, str) else ""


def _group(tree: Tree, xid: str) -> Tree:
    kind, _, name = xid.strip("/").partition("/")
    found: Tree = members(tree, kind).get(name, {})
    return found

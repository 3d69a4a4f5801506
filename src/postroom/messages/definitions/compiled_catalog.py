"""A compiled catalog, kept up to date: after a change only the definitions that depend on it are compiled anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from postroom.errors import DefinitionRefused
from postroom.messages.definitions.catalog_tree import (
    CatalogMessage,
    Tree,
    catalog_messages,
    find_base,
    find_message,
    local_path,
    xref_target,
)
from postroom.messages.definitions.compile import compile_definition, key_schema_path
from postroom.messages.definitions.definition import CompiledCatalog, Definition, StoredSchema
from postroom.messages.definitions.inheritance import base_reference
from postroom.messages.definitions.schema_sources import schema_reference, schema_source, stored_schemas

_MAX_BASES = 1_000
"""More bases than any definition may have: a longer chain is a circle, or refused."""


class CompiledMessage(NamedTuple):
    """The definition of one message or why it was refused, and the xids of the Groups and Resources it depends on."""

    definition: Definition | None
    refused: DefinitionRefused | None
    dependencies: frozenset[str]
    schema_group: str = ""


class Compilation:
    """The definitions of a catalog, each with its dependencies. Nothing is fetched from elsewhere."""

    def __init__(
        self, tree: Tree, messages: Mapping[str, CompiledMessage], schemas: Mapping[str, Mapping[str, StoredSchema]]
    ) -> None:
        self.tree = tree
        self._messages = messages
        self._schemas = schemas
        """The documents of each schema group that is used."""
        self.refused = [message.refused for message in messages.values() if message.refused is not None]

    def catalog(self, before: CompiledCatalog | None = None) -> CompiledCatalog:
        """What `compile_catalog` makes of the same tree; documents are those of the catalog before if none changed."""
        found = [message.definition for message in self._messages.values() if message.definition is not None]
        found.sort(key=lambda definition: definition.xid)
        documents = {path: schema for group in sorted(self._schemas) for path, schema in self._schemas[group].items()}
        if before is not None and before.schemas == documents:
            documents = before.schemas
        return CompiledCatalog(tuple(found), documents)

    def updated(self, tree: Tree, changed: AbstractSet[str]) -> Compilation:
        """The compilation of the catalog as it is now, in which these Groups and Resources changed."""
        dependent = {xid for xid, message in self._messages.items() if not message.dependencies.isdisjoint(changed)}
        messages = dict(self._messages)
        for xid in sorted(dependent | {xid for xid in changed if find_message(tree, xid) is not None}):
            entry = find_message(tree, xid)
            if entry is None or xref_target(entry):
                messages.pop(xid, None)
            else:
                messages[xid] = _compiled(tree, entry)
        touched = {xid.split("/")[2] for xid in changed if xid.startswith("/schemagroups/")}
        kept = {group: found for group, found in self._schemas.items() if group not in touched}
        return Compilation(tree, messages, _documents(tree, messages.values(), kept))


def compilation(tree: Tree) -> Compilation:
    """Compile a whole catalog."""
    messages = {entry.xid: _compiled(tree, entry) for entry in catalog_messages(tree) if not xref_target(entry)}
    return Compilation(tree, messages, _documents(tree, messages.values(), {}))


def _compiled(tree: Tree, entry: CatalogMessage) -> CompiledMessage:
    dependencies = frozenset(_dependencies(tree, entry))
    try:
        definition = compile_definition(tree, entry)
    except DefinitionRefused as error:
        error.__context__ = None  # it is kept, and its context would be kept with it
        return CompiledMessage(None, error.with_traceback(None), dependencies)
    steps = definition.schema.place.split("/") if definition.schema is not None else []
    dependencies |= {path for path in (key_schema_path(definition),) if path}
    return CompiledMessage(definition, None, dependencies, steps[2] if len(steps) > 2 else "")


def _documents(
    tree: Tree, messages: Iterable[CompiledMessage], known: Mapping[str, Mapping[str, StoredSchema]]
) -> dict[str, Mapping[str, StoredSchema]]:
    """All documents of the schema groups that are used: schemas refer to their neighbours."""
    groups = {message.schema_group for message in messages}
    return {group: known[group] if group in known else stored_schemas(tree, [group]) for group in groups if group}


def _dependencies(tree: Tree, entry: CatalogMessage) -> Iterator[str]:
    """The message, its bases and their schemas, those that are missing included, and the Groups of the messages."""
    seen: set[str] = set()
    current: CatalogMessage | None = entry
    while current is not None and current.xid not in seen and len(seen) < _MAX_BASES:
        seen.add(current.xid)
        yield _first(current.xid, 4)
        yield _first(current.xid, 2)
        yield from _schemas(tree, current.message)
        path = local_path(base_reference(current.message), tree)
        if path is None:
            return
        yield _first(path, 4)
        yield _first(path, 2)
        current = find_base(tree, path)


def _schemas(tree: Tree, message: Tree) -> Iterator[str]:
    path = local_path(schema_reference(message), tree)
    if path is not None:
        schema = _first(path.partition("#")[0], 4)
        yield schema
        yield schema.partition(":")[0]  # C-30: `:Name` after an id picks one type of the document
        source = schema_source(tree, message)
        if source is not None and source.place:  # of the schema that this one stands for
            yield _first(source.place, 4)


def _first(path: str, count: int) -> str:
    return "/" + "/".join(path.strip("/").split("/")[:count])

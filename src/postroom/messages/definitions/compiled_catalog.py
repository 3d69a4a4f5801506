"""A compiled catalog, kept up to date: after a change only the definitions that depend on it are compiled anew."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from postroom.errors import DefinitionRefused
from postroom.messages.definitions.catalog_tree import Place, Tree, find_message, local_path, message_places
from postroom.messages.definitions.compile import compile_definition
from postroom.messages.definitions.definition import CompiledCatalog, Definition, StoredSchema
from postroom.messages.definitions.endpoint_messages import borrowed_from
from postroom.messages.definitions.inheritance import base_reference
from postroom.messages.definitions.schema_sources import schema_reference, stored_schemas

_MOST_NEEDED = 1_000
"""More bases than any definition may have: a longer chain is a circle, or refused."""


class Entry(NamedTuple):
    """What became of one message, and the xids of all Groups and Resources that had a say in it."""

    definition: Definition | None
    refused: DefinitionRefused | None
    needs: frozenset[str]
    schema_group: str = ""


class Compilation:
    """The definitions of a catalog, each with what it was made of. Nothing is fetched from elsewhere."""

    def __init__(
        self, tree: Tree, entries: Mapping[str, Entry], schemas: Mapping[str, Mapping[str, StoredSchema]]
    ) -> None:
        self.tree = tree
        self._entries = entries
        self._schemas = schemas
        """The documents of each schema group that is used."""
        self.refused = [entry.refused for entry in entries.values() if entry.refused is not None]

    def catalog(self, before: CompiledCatalog | None = None) -> CompiledCatalog:
        """What `compile_catalog` makes of the same tree; documents are those of the catalog before if none changed."""
        found = [entry.definition for entry in self._entries.values() if entry.definition is not None]
        found.sort(key=lambda definition: definition.xid)
        documents = {path: schema for group in sorted(self._schemas) for path, schema in self._schemas[group].items()}
        if before is not None and before.schemas == documents:
            documents = before.schemas
        return CompiledCatalog(tuple(found), documents)

    def updated(self, tree: Tree, changed: AbstractSet[str]) -> Compilation:
        """The compilation of the catalog as it is now, where these Groups and Resources are not what they were."""
        dependent = {xid for xid, entry in self._entries.items() if not entry.needs.isdisjoint(changed)}
        entries = dict(self._entries)
        for xid in sorted(dependent | {xid for xid in changed if find_message(tree, xid) is not None}):
            place = find_message(tree, xid)
            if place is None or borrowed_from(place):
                entries.pop(xid, None)
            else:
                entries[xid] = _entry(tree, place)
        touched = {xid.split("/")[2] for xid in changed if xid.startswith("/schemagroups/")}
        kept = {group: found for group, found in self._schemas.items() if group not in touched}
        return Compilation(tree, entries, _documents(tree, entries.values(), kept))


def compilation(tree: Tree) -> Compilation:
    """Compile a whole catalog."""
    entries = {place.xid: _entry(tree, place) for place in message_places(tree) if not borrowed_from(place)}
    return Compilation(tree, entries, _documents(tree, entries.values(), {}))


def _entry(tree: Tree, place: Place) -> Entry:
    needs = frozenset(_needs(tree, place))
    try:
        definition = compile_definition(tree, place)
    except DefinitionRefused as error:
        error.__context__ = None  # it is kept, and would keep what led to it
        return Entry(None, error.with_traceback(None), needs)
    home = definition.schema.place.split("/") if definition.schema is not None else []
    return Entry(definition, None, needs, home[2] if len(home) > 2 else "")


def _documents(
    tree: Tree, entries: Iterable[Entry], known: Mapping[str, Mapping[str, StoredSchema]]
) -> dict[str, Mapping[str, StoredSchema]]:
    """All documents of the schema groups that are used: schemas refer to their neighbours."""
    groups = {entry.schema_group for entry in entries}
    return {group: known[group] if group in known else stored_schemas(tree, [group]) for group in groups if group}


def _needs(tree: Tree, place: Place) -> Iterator[str]:
    """The message, its bases and their schemas, those that are missing included, and the Groups of the messages."""
    seen: set[str] = set()
    present: Place | None = place
    while present is not None and present.xid not in seen and len(seen) < _MOST_NEEDED:
        seen.add(present.xid)
        yield _first(present.xid, 4)
        yield _first(present.xid, 2)
        yield from _schemas(tree, present.message)
        path = local_path(base_reference(present.message), tree)
        if path is None:
            return
        yield _first(path, 4)
        yield _first(path, 2)
        present = find_message(tree, path)


def _schemas(tree: Tree, message: Tree) -> Iterator[str]:
    path = local_path(schema_reference(message), tree)
    if path is not None:
        schema = _first(path.partition("#")[0], 4)
        yield schema
        yield schema.partition(":")[0]  # C-30: `:Name` after an id picks one type of the document


def _first(path: str, count: int) -> str:
    return "/" + "/".join(path.strip("/").split("/")[:count])

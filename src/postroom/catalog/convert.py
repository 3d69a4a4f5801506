"""Convert catalogs from any source to a dialect, with notes of the reader and the list of what is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from postroom.catalog.export import read_portable
from postroom.documents.dialects.convert import FOREIGN, write_tree
from postroom.documents.dialects.dialect import Loss, ReadNote, Tree
from postroom.documents.dialects.name_tables import RESOURCES
from postroom.documents.dialects.preserved_members import EXTRAS
from postroom.documents.dialects.walk_tree import group_types, map_objects, objects
from postroom.messages.gc_pause import no_garbage_collection
from postroom.registry.read.document_content import document_names
from postroom.settings import Settings

_DOCUMENTS = frozenset(document_names("schema"))
_NOT_IN_VERSIONS = frozenset(("meta", "versions", "defaultversionid", EXTRAS))

Merge = Callable[[str, Any, Any], Any]


class Conversion(msgspec.Struct, frozen=True):
    """A document in a dialect, the dialects it was read from, notes of the reader and losses of the writer."""

    document: Tree
    read_as: str
    notes: tuple[ReadNote, ...] = ()
    losses: tuple[Loss, ...] = ()


def convert(sources: Sequence[str], dialect: str, settings: Settings, *, extras: bool = True) -> Conversion:
    """The catalog of a source in another dialect; of several sources the later ones lie over the earlier ones."""
    with no_garbage_collection():
        return _convert(sources, dialect, settings, extras)


def _convert(sources: Sequence[str], dialect: str, settings: Settings, extras: bool) -> Conversion:
    parsed_sources = [read_portable(source, settings) for source in sources]
    tree = parsed_sources[0].tree if len(parsed_sources) == 1 else overlay(parsed.tree for parsed in parsed_sources)
    written = write_tree(tree, dialect, extras=extras)
    read_as = ", ".join(dict.fromkeys(parsed.dialect for parsed in parsed_sources))
    notes = tuple(note for parsed in parsed_sources for note in parsed.notes)
    return Conversion(written.document, read_as, notes, written.losses)


def dump(source: str, dialect: str, settings: Settings) -> Conversion:
    """The catalog of a source as one document; in the dialects of 1.0 the documents of schemas stand in Versions."""
    made = convert([source], dialect, settings)
    if dialect in FOREIGN:
        return made
    return msgspec.structs.replace(made, document=with_schema_versions(made.document))


def with_schema_versions(document: Tree) -> Tree:
    """A document of 1.0 in which every schema has `versions`, as the published JSON Schema of documents demands."""
    groups = objects(document, "schemagroups")
    changed = {
        name: {**group, "schemas": map_objects(group["schemas"], "", lambda schema, _: _with_versions(schema))}
        for name, group in groups.items()
        if objects(group, "schemas")
    }
    return {**document, "schemagroups": {**document["schemagroups"], **changed}} if changed else document


def _with_versions(schema: Tree) -> Tree:
    """A schema with its Versions, which alone have documents: the default one's is not there twice."""
    found = schema.get("meta")
    meta = found if isinstance(found, dict) else {}
    if "xref" in meta:
        return schema
    plain = {name: value for name, value in schema.items() if name not in _DOCUMENTS}
    if objects(schema, "versions"):
        return plain
    chosen = str(meta.get("defaultversionid") or schema.get("versionid") or "1")
    version = {name: value for name, value in schema.items() if name not in _NOT_IN_VERSIONS}
    xid = {"xid": f"{schema['xid']}/versions/{chosen}"} if "xid" in schema else {}
    return {**plain, "versions": {chosen: {**version, **xid}}}


def overlay(trees: Iterable[Tree]) -> Tree:
    """Lay catalogs over each other, later ones over earlier ones, without changing them (core primer, "Shadowing").

    Groups are put together: the later one's attributes count, and its messages or schemas take the place of those with
    the same id, whole with their Versions.
    """
    made: Tree = {}
    for tree in trees:
        made = _over(made, tree, group_types({**made, **tree}), _groups)
    return made


def _groups(group_type: str, below: Any, above: Any) -> Any:
    if not _both_objects(below, above):
        return above
    inner = (RESOURCES[group_type],) if group_type in RESOURCES else ()
    joined = {
        name: _over(below[name], group, inner, _resources) if _both_objects(below.get(name), group) else group
        for name, group in above.items()
    }
    return {**below, **joined}


def _resources(_: str, below: Any, above: Any) -> Any:
    return {**below, **above} if _both_objects(below, above) else above


def _both_objects(below: Any, above: Any) -> bool:
    return isinstance(below, dict) and isinstance(above, dict)


def _over(below: Tree, above: Tree, names: Iterable[str], merge: Merge) -> Tree:
    """The members of both; some, and what is kept for other dialects, are put together."""
    made = {**below, **above}
    for name in names:
        if name in below and name in above:
            made[name] = merge(name, below[name], above[name])
    if EXTRAS in below and EXTRAS in above:
        made[EXTRAS] = [*below[EXTRAS], *above[EXTRAS]]
    return made

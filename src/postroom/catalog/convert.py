"""Convert catalogs from any source to a dialect, with notes of the reader and the list of what is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from postroom.catalog.export import export_source
from postroom.documents.catalog_files import read_catalog
from postroom.documents.dialects.convert import ParsedCatalog, write_tree
from postroom.documents.dialects.dialect import Loss, ReadNote, Tree
from postroom.documents.dialects.name_tables import RESOURCES
from postroom.documents.dialects.preserved_members import EXTRAS
from postroom.documents.dialects.walk_tree import group_types
from postroom.messages.gc_pause import no_garbage_collection
from postroom.settings import Settings
from postroom.urls import scheme_of

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
    parsed_sources = [_read(source, settings) for source in sources]
    tree = parsed_sources[0].tree if len(parsed_sources) == 1 else overlay(parsed.tree for parsed in parsed_sources)
    written = write_tree(tree, dialect, extras=extras)
    read_as = ", ".join(dict.fromkeys(parsed.dialect for parsed in parsed_sources))
    notes = tuple(note for parsed in parsed_sources for note in parsed.notes)
    return Conversion(written.document, read_as, notes, written.losses)


def _read(source: str, settings: Settings) -> ParsedCatalog:
    if scheme_of(source):
        return ParsedCatalog(export_source(source, settings), "1.0-rc4")
    return read_catalog(Path(source), settings)


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

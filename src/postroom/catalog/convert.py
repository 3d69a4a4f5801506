"""A catalog from anywhere, in the words of a dialect, with what was understood differently and what is lost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import msgspec

from postroom.catalog.export import read_whole
from postroom.documents.dialects.convert import Reading, write_tree
from postroom.documents.dialects.dialect import Loss, Note, Tree
from postroom.documents.files import read_catalog
from postroom.documents.overlay import layered
from postroom.messages.gc_pause import no_garbage_collection
from postroom.settings import Settings
from postroom.urls import scheme_of


class Conversion(msgspec.Struct, frozen=True):
    """A document in a dialect, the dialects it was read from, notes of the reader and losses of the writer."""

    document: Tree
    read_as: str
    notes: tuple[Note, ...] = ()
    losses: tuple[Loss, ...] = ()


def convert(sources: Sequence[str], dialect: str, settings: Settings, *, extras: bool = True) -> Conversion:
    """The catalog of a source in another dialect; of several sources the later ones lie over the earlier ones."""
    with no_garbage_collection():
        return _convert(sources, dialect, settings, extras)


def _convert(sources: Sequence[str], dialect: str, settings: Settings, extras: bool) -> Conversion:
    readings = [_read(source, settings) for source in sources]
    tree = readings[0].tree if len(readings) == 1 else layered(reading.tree for reading in readings)
    written = write_tree(tree, dialect, extras=extras)
    read_as = ", ".join(dict.fromkeys(reading.dialect for reading in readings))
    notes = tuple(note for reading in readings for note in reading.notes)
    return Conversion(written.document, read_as, notes, written.losses)


def _read(source: str, settings: Settings) -> Reading:
    if scheme_of(source):
        return Reading(read_whole(source, settings), "1.0-rc4")
    return read_catalog(Path(source), settings)

"""A catalog from anywhere, in the words of a dialect, with what was understood differently and what is lost."""

from __future__ import annotations

from pathlib import Path

import msgspec

from postroom.documents.dialects.converting import Reading, write_tree
from postroom.documents.dialects.dialect import Loss, Note, Tree
from postroom.documents.dumping import read_whole
from postroom.documents.files import read_catalog
from postroom.documents.sources import scheme_of
from postroom.settings import Settings


class Conversion(msgspec.Struct, frozen=True):
    """A document in a dialect, the dialects it was read from, notes of the reader and losses of the writer."""

    document: Tree
    read_as: str
    notes: tuple[Note, ...] = ()
    losses: tuple[Loss, ...] = ()


def convert(source: str, dialect: str, settings: Settings, *, extras: bool = True) -> Conversion:
    """The catalog of a source in another dialect."""
    if scheme_of(source):
        reading = Reading(read_whole(source, settings), "1.0-rc4")
    else:
        reading = read_catalog(Path(source), settings)
    written = write_tree(reading.tree, dialect, extras=extras)
    return Conversion(written.document, reading.dialect, reading.notes, written.losses)

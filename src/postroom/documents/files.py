"""A catalog in files of any dialect: one file, or a folder whose files together are one catalog."""

from __future__ import annotations

from pathlib import Path

from postroom.documents.dialects.convert import Reading, read_tree
from postroom.documents.dialects.dialect import Note, Tree
from postroom.documents.multi_file import GROUP_TYPES, Shelf, Snag, group_types
from postroom.errors import DocumentRefused, FileMissing
from postroom.settings import Settings

__all__ = ["GROUP_TYPES", "group_types", "read_catalog"]


def read_catalog(path: Path, settings: Settings) -> Reading:
    """The catalog in a file or folder, with the dialects it was written in and what was understood differently."""
    notes: list[Note] = []

    def tell(snag: Snag) -> None:
        # A reference that leads nowhere leaves a catalog that can be used; a part that is missing does not.
        if snag.code in ("group_twice", "file_circle"):
            raise DocumentRefused(snag.sentence, place=str(snag.file))
        if snag.code != "file_not_fetched" and snag.place.count("/") == 1:
            raise (FileMissing if snag.code == "file_missing" else DocumentRefused)(snag.sentence, place=str(snag.file))
        notes.append(Note(f"{snag.file}#{snag.place}", snag.sentence))

    shelf = Shelf(path, settings, _understand, tell)
    shelf.read()
    for file, reading in shelf.readings.items():
        notes += [Note(f"{file}#{note.place}", note.sentence) for note in reading.notes]
    dialects = dict.fromkeys(reading.dialect for reading in shelf.readings.values())
    return Reading(shelf.tree, ", ".join(dialects), tuple(notes))


def _understand(document: Tree) -> Reading | None:
    reading = read_tree(document)
    if reading is None and any(isinstance(document.get(kind), dict) for kind in group_types(document)):
        return Reading(document, "1.0-rc4")
    return reading

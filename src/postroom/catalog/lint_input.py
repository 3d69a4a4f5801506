"""Gathering the documents of a source for lint, which has to know the file and the words that each group is in."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

from postroom.catalog.sources import read_source
from postroom.documents.dialects.convert import FOREIGN, Reading, translated
from postroom.documents.dialects.detect import dialect_of
from postroom.documents.lint.source_pointers import own_place, own_words
from postroom.documents.multi_file import Origin, Shelf, Snag, group_types
from postroom.messages.definitions.catalog_tree import Tree
from postroom.model.json_pointers import pointer
from postroom.settings import Settings
from postroom.urls import scheme_of


class Gathered:
    """One catalog document, and where each place of it was written."""

    def __init__(self, tree: Tree, file: str) -> None:
        self.tree = tree
        self.file = file
        self.snags: list[Snag] = []
        self.shelf: Shelf | None = None

    @cached_property
    def documents(self) -> dict[Path, Tree]:
        """The older documents among the files."""
        found = self.shelf.documents if self.shelf is not None else {}
        return {file: document for file, document in found.items() if dialect_of(document) in FOREIGN}

    def written(self, place: str) -> tuple[str, str]:
        """The file that a pointer into the tree leads into, and the pointer in the words of that file."""
        if self.shelf is None:
            return self.file, place
        steps = [step.replace("~1", "/").replace("~0", "~") for step in place.split("/")[1:3]]
        kind, name = steps[0] if steps else "", steps[1] if len(steps) > 1 else ""
        if not kind and not self.shelf.is_folder:
            return self.file, place
        home = self.shelf.members.get(kind, Path(self.file))
        return self.written_in(self.shelf.origins.get((kind, name), Origin(home)), place)

    def worded(self, file: str, sentence: str) -> str:
        """A sentence in the words of a file."""
        document = self.documents.get(Path(file))
        return own_words(sentence) if document and dialect_of(document).startswith("0.5") else sentence

    def written_in(self, origin: Origin, place: str) -> tuple[str, str]:
        """The same for a file that is known."""
        document = self.shelf.documents.get(origin.file) if self.shelf is not None else None
        if document is None:
            return str(origin.file), place
        if origin.way:  # the collection is the part of another file
            collection: Tree = document
            for step in origin.way[1:]:
                collection = collection[step]
            kind = place.split("/")[1]
            below = own_place({kind: collection}, place).removeprefix("/" + kind)
            return str(origin.file), pointer(origin.way[1:]) + below
        return str(origin.file), own_place(document, place) if dialect_of(document) in FOREIGN else place


def gather(source: str, settings: Settings) -> Gathered:
    """The catalog of a source: of all files of a folder together, of a service or of a store."""
    if scheme_of(source):
        return Gathered(read_source(source, settings), source)
    gathered = Gathered({}, source)
    gathered.shelf = Shelf(Path(source), settings, _understand, gathered.snags.append)
    gathered.shelf.read()
    gathered.tree = gathered.shelf.tree
    return gathered


def _understand(document: Tree) -> Reading | None:
    """Older dialects are looked at in the names of 1.0; a document of 1.0 exactly as it is written."""
    if not dialect_of(document) and not any(kind in document for kind in group_types(document)):
        return None
    return Reading(translated(document), "")

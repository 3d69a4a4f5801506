"""Gathering the documents of a source for lint, which has to know the file that each group comes from."""

from __future__ import annotations

from pathlib import Path

from postroom.documents.dialects.converting import translated
from postroom.documents.lint.findings import Remark
from postroom.documents.reading import document_files, read_document
from postroom.documents.sources import group_types, read_files, read_source, scheme_of
from postroom.errors import DocumentRefused
from postroom.messages.tree import Tree
from postroom.model.pointers import pointer
from postroom.settings import Settings


class Gathered:
    """One catalog document, and the file of each of its groups."""

    def __init__(self, tree: Tree, file: str) -> None:
        self.tree = tree
        self.file = file
        self.files: dict[str, str] = {}
        self.twice: list[tuple[str, Remark]] = []

    def file_of(self, place: str) -> str:
        """The file that a pointer leads into."""
        return self.files.get("/".join(place.split("/")[:3]), self.file)

    def add(self, document: Tree, file: str) -> None:
        """Take in the groups of another file; one that is there already is a finding."""
        kinds = group_types(document)
        for kind in kinds:
            groups = document.get(kind)
            if not isinstance(groups, dict):
                continue
            collected = self.tree.setdefault(kind, {})
            for name, group in groups.items():
                place = pointer((kind, name))
                if name in collected:
                    sentence = f"{self.files[place]} has {kind} {name!r} as well; this one is not looked at."
                    self.twice.append((file, Remark(place, sentence)))
                    continue
                collected[name] = group
                self.files[place] = file
        for name, value in document.items():
            if name not in kinds or not isinstance(value, dict):
                self.tree.setdefault(name, value)
                self.files.setdefault(pointer((name,)), file)


def gather(source: str, settings: Settings) -> Gathered:
    """The catalog of a source: of all files of a folder together, of a service or of a store."""
    path = Path(source)
    if scheme_of(source):
        return Gathered(read_source(source, settings), source)
    gathered = Gathered({}, source)
    for file in document_files(path):
        document = read_document(file, settings)
        if not isinstance(document, dict):
            raise DocumentRefused("a catalog is a JSON object.", place=str(file))
        # Older dialects are looked at in the names of 1.0; a document of 1.0 exactly as it is written.
        gathered.add(translated(document), str(file))
    if not any(kind in gathered.tree for kind in group_types(gathered.tree)):
        read_files(path, settings)  # says that this is no catalog
    return gathered

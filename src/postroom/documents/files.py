"""A catalog in files of any dialect: one file, or a folder whose files together are one catalog.

What a file refers to is read from the same folder only: parts of it (`schemaGroupsUrl`), and groups of other files
(`orders.cereg#/definitionGroups/…`). Nothing outside of the folder is read, nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from postroom.documents.dialects.converting import Reading, read_tree
from postroom.documents.dialects.detecting import dialect_of
from postroom.documents.dialects.dialect import Note, Tree
from postroom.documents.dialects.references import as_xid
from postroom.documents.dialects.walking import groups, messages
from postroom.documents.reading import document_files, read_document
from postroom.errors import DocumentRefused, FileMissing
from postroom.settings import Settings

GROUP_TYPES = ("endpoints", "messagegroups", "schemagroups")
_PARTS = ("endpoints", "definitionGroups", "schemaGroups", "messagegroups", "schemagroups")
_NO_CATALOG = "this is no catalog: it has none of messagegroups, schemagroups, endpoints, nor their older names."


def group_types(document: Tree) -> tuple[str, ...]:
    """The names under which a document has groups: those of the messaging model, and those of its own model."""
    source = document.get("modelsource")
    own = source.get("groups") if isinstance(source, dict) else None
    return (*GROUP_TYPES, *(name for name in own or () if name not in GROUP_TYPES))


def read_catalog(path: Path, settings: Settings) -> Reading:
    """The catalog in a file or folder, with the dialects it was written in and what was understood differently."""
    return _Shelf(path, settings).read()


class _Shelf:
    """The files of one folder: those that were given, and those that they refer to."""

    def __init__(self, path: Path, settings: Settings) -> None:
        self.path = path
        self.settings = settings
        self.is_folder = path.is_dir()
        self.root = (path if self.is_folder else path.parent).resolve()
        self.merged: Tree = {}
        self.origins: dict[tuple[str, str], Path] = {}
        self.dialects: dict[str, None] = {}
        self.notes: list[Note] = []
        self.read_already: dict[Path, Reading | None] = {}

    def read(self) -> Reading:
        """All given files, and the groups they refer to."""
        for file in document_files(self.path):
            reading = self._file(file)
            if reading is not None:
                self._add(reading, file)
            elif not self.is_folder:
                raise DocumentRefused(_NO_CATALOG, place=str(file))
        if not any(kind in self.merged for kind in group_types(self.merged)):
            raise DocumentRefused(
                "no file in this folder has messagegroups, schemagroups or endpoints.", place=str(self.path)
            )
        return Reading(self.merged, ", ".join(self.dialects), tuple(self.notes))

    def _file(self, file: Path) -> Reading | None:
        known = file.resolve()
        if known not in self.read_already:
            document = self._whole(self._object(file), file, (known,))
            reading = read_tree(document)
            if reading is None and any(isinstance(document.get(kind), dict) for kind in group_types(document)):
                reading = Reading(document, "1.0-rc4")
            self.read_already[known] = reading
        return self.read_already[known]

    def _object(self, file: Path) -> Tree:
        document = read_document(file, self.settings)
        if not isinstance(document, dict):
            raise DocumentRefused("a catalog is a JSON object.", place=str(file))
        return document

    def _whole(self, document: Tree, file: Path, chain: tuple[Path, ...]) -> Tree:
        """The document with the parts that it has in other files."""
        whole = document
        for part in _PARTS:
            for member in (part + "Url", part + "url"):
                address = document.get(member)
                if not isinstance(address, str) or part in document:
                    continue
                if "://" in address:
                    self._note(file, f"/{member}", f"{address} is not fetched.")
                    continue
                found = self._part(address, part, file, chain)
                rest = {name: value for name, value in whole.items() if name != member}
                whole = rest if found is None else {**rest, part: found}
        return whole

    def _part(self, address: str, part: str, file: Path, chain: tuple[Path, ...]) -> Any:
        name, _, fragment = address.partition("#")
        target = self._inside(name, file)
        if target is None:
            raise DocumentRefused(f"{part} are in {address}, outside of the folder; it is not read.", place=str(file))
        if not target.is_file():
            raise FileMissing(f"{part} are in {address}, and there is no such file.", place=str(file))
        if target in chain:
            circle = " → ".join(one.name for one in (*chain, target))
            raise DocumentRefused(f"the files refer to each other in a circle: {circle}.", place=str(file))
        document = self._object(target)
        if self.is_folder and dialect_of(document):
            return None  # it is one of the files of this catalog anyway
        document = self._whole(document, target, (*chain, target))
        for step in (unquote(step) for step in fragment.split("/")[1:]):
            document = document.get(step.replace("~1", "/").replace("~0", "~"), {})
        return document.get(part, document) if not fragment else document

    def _inside(self, name: str, file: Path) -> Path | None:
        target = (file.parent / unquote(name)).resolve()
        return target if target.is_relative_to(self.root) else None

    def _add(self, reading: Reading, file: Path) -> None:
        self.dialects[reading.dialect] = None
        self.notes += [Note(f"{file}#{note.place}", note.sentence) for note in reading.notes]
        tree = reading.tree
        kinds = group_types(tree)
        for kind in kinds:
            found = tree.get(kind)
            if not isinstance(found, dict):
                continue
            collected = self.merged.setdefault(kind, {})
            for name, group in found.items():
                if name in collected:
                    raise DocumentRefused(f"another file of the folder has {kind} {name!r} as well.", place=str(file))
                collected[name] = group
                self.origins[kind, name] = file
        for name, value in tree.items():
            if name not in kinds:
                self.merged.setdefault(name, value)
        self._follow(tree, file)

    def _follow(self, tree: Tree, file: Path) -> None:
        """Read what references of a file lead to, and write them as references within the one catalog."""
        for holder, key, reference in list(_file_references(tree)):
            name, _, fragment = reference.partition("#")
            xid = as_xid("#" + fragment)
            target = self._inside(name, file)
            if target is None:
                self._note(file, "", f"{reference} leads out of the folder; it is not read.")
            elif not target.is_file():
                self._note(file, "", f"{reference} leads to a file that is not there.")
            else:
                holder[key] = xid
                self._include(target, xid)

    def _include(self, target: Path, xid: str) -> None:
        """Take the group of another file into the catalog, unless that file belongs to it anyway."""
        reading = None if self.is_folder else self._file(target)
        steps = xid.split("/")[1:]
        found = reading.tree.get(steps[0]) if reading is not None else None
        group = found.get(steps[1]) if isinstance(found, dict) and len(steps) > 1 else None
        if isinstance(group, dict) and steps[1] not in self.merged.get(steps[0], {}):
            self.merged.setdefault(steps[0], {})[steps[1]] = group
            self._follow({steps[0]: {steps[1]: group}}, target)

    def _note(self, file: Path, place: str, sentence: str) -> None:
        self.notes.append(Note(f"{file}#{place}" if place else str(file), sentence))


def _file_references(tree: Tree) -> Iterator[tuple[Any, Any, str]]:
    """Where references to other files are: the holder, the key in it, and the reference."""
    for kind, _, group in groups(tree):
        listed = group.get("messagegroups") if kind == "endpoints" else None
        for position, reference in enumerate(listed if isinstance(listed, list) else ()):
            if _is_file_reference(reference):
                yield listed, position, reference
    for _, _, message in messages(tree):
        for name in ("basemessage", "dataschemauri"):
            if _is_file_reference(message.get(name)):
                yield message, name, message[name]


def _is_file_reference(reference: Any) -> bool:
    if not isinstance(reference, str) or reference.startswith(("#", "/")) or "://" in reference:
        return False
    name, separator, fragment = reference.partition("#")
    return bool(separator and name and fragment.startswith("/")) and not name.startswith("urn:")

"""The files of one folder as one catalog: those that were given, and what they refer to.

Parts of a file may be in another (`schemaGroupsUrl`), and references may lead to groups of another
(`orders.cereg#/definitionGroups/…`). Nothing outside of the folder is read, nothing is fetched.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

from postroom.documents.dialects.convert import Reading
from postroom.documents.dialects.detect import dialect_of
from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.name_tables import SERVICE_COLLECTIONS
from postroom.documents.dialects.references import as_xid, pointer_steps
from postroom.documents.file_references import FileReference, file_references, schema_files
from postroom.documents.read_files import document_files, read_document
from postroom.documents.schema_files import schema_content
from postroom.errors import DocumentRefused
from postroom.model.json_pointers import pointer
from postroom.settings import Settings

GROUP_TYPES = ("endpoints", "messagegroups", "schemagroups")
_PARTS = ("endpoints", "definitionGroups", "schemaGroups", "messagegroups", "schemagroups")
_NO_CATALOG = "this is no catalog: it has none of messagegroups, schemagroups, endpoints, nor their older names."

Code = Literal["group_twice", "file_outside", "file_missing", "file_circle", "file_not_fetched"]


class Snag(NamedTuple):
    """What keeps files from being one catalog: the file, the place in its tree, which kind, and a sentence."""

    file: Path
    place: str
    code: Code
    sentence: str


class Origin(NamedTuple):
    """Where a group was written: the file, and for a part of another file the way to the collection (after "")."""

    file: Path
    way: tuple[str, ...] = ()


def group_types(document: Tree) -> tuple[str, ...]:
    """The names under which a document has groups: those of the messaging model, and those of its own model."""
    source = document.get("modelsource")
    own = source.get("groups") if isinstance(source, dict) else None
    return (*GROUP_TYPES, *(name for name in own or () if name not in GROUP_TYPES))


class Shelf:
    """Puts files together. `understand` makes a tree of a document; `tell` hears of every snag, and may raise."""

    def __init__(
        self,
        path: Path,
        settings: Settings,
        understand: Callable[[Tree], Reading | None],
        tell: Callable[[Snag], None],
    ) -> None:
        self.path = path
        self.settings = settings
        self.understand = understand
        self.tell = tell
        self.is_folder = path.is_dir()
        self.tree: Tree = {}
        self.origins: dict[tuple[str, str], Origin] = {}
        self.members: dict[str, Path] = {}
        self.documents: dict[Path, Tree] = {}
        self.readings: dict[Path, Reading] = {}
        self._parts: dict[tuple[Path, str], Origin] = {}
        self._known: dict[Path, Reading | None] = {}

    @cached_property
    def root(self) -> Path:
        """The folder that nothing is read outside of."""
        return (self.path if self.is_folder else self.path.parent).resolve()

    def read(self) -> None:
        """All given files, and the groups they refer to."""
        for file in document_files(self.path):
            reading = self._file(file)
            if reading is not None:
                self._add(reading, file)
            elif not self.is_folder:
                raise DocumentRefused(_NO_CATALOG, place=str(file))
        if not any(kind in self.tree for kind in group_types(self.tree)):
            raise DocumentRefused(
                "no file in this folder has messagegroups, schemagroups or endpoints.", place=str(self.path)
            )

    def _file(self, file: Path) -> Reading | None:
        known = file.resolve()
        if known not in self._known:
            document = self._whole(self._object(file), file, (known,))
            self._known[known] = self.understand(document)
        return self._known[known]

    def _object(self, file: Path) -> Tree:
        document = read_document(file, self.settings)
        if not isinstance(document, dict):
            raise DocumentRefused("a catalog is a JSON object.", place=str(file))
        self.documents[file] = document
        return document

    def _whole(self, document: Tree, file: Path, chain: tuple[Path, ...]) -> Tree:
        """The document with the parts that it has in other files."""
        whole = document
        for part in _PARTS:
            for member in (part + "Url", part + "url", part + "URL"):  # C-70
                address = document.get(member)
                if not isinstance(address, str) or part in document:
                    continue
                if "://" in address:
                    self.tell(Snag(file, f"/{member}", "file_not_fetched", f"{address} is not fetched."))
                    continue
                found = self._part(address, part, member, file, chain)
                rest = {name: value for name, value in whole.items() if name != member}
                whole = rest if found is None else {**rest, part: found}
        return whole

    def _part(self, address: str, part: str, member: str, file: Path, chain: tuple[Path, ...]) -> Any:
        """The collection of groups that an address leads to; None where there is none, or it is read anyway."""
        name, _, fragment = address.partition("#")
        target = self._inside(name, file)
        if target is None:
            self._no_part(
                file, member, "file_outside", f"{part} are in {address}, outside of the folder; it is not read."
            )
            return None
        if target.resolve() in chain:
            circle = " → ".join(one.name for one in (*chain, target))
            self._no_part(file, member, "file_circle", f"the files refer to each other in a circle: {circle}.")
            return None
        if not target.is_file():
            self._no_part(file, member, "file_missing", f"{part} are in {address}, and there is no such file.")
            return None
        document = self._object(target)
        if self.is_folder and dialect_of(document):
            return None  # it is one of the files of this catalog anyway
        document = self._whole(document, target, (*chain, target.resolve()))
        steps = pointer_steps(fragment) or ((part,) if part in document else ())
        for step in steps:
            document = document.get(step, {}) if isinstance(document, dict) else {}
        self._parts[file, part] = Origin(target, ("", *steps))
        return document

    def _no_part(self, file: Path, member: str, code: Code, sentence: str) -> None:
        self.tell(Snag(file, f"/{member}", code, sentence))

    def _inside(self, name: str, file: Path) -> Path | None:
        """The file a name means; None for one outside of the folder, also by way of a link."""
        target = file.parent / unquote(name)
        try:
            return target if target.resolve().is_relative_to(self.root) else None
        except (OSError, ValueError):
            return None

    def _add(self, reading: Reading, file: Path) -> None:
        self.readings[file] = reading
        tree = reading.tree
        kinds = group_types(tree)
        for kind in kinds:
            found = tree.get(kind)
            for name, group in found.items() if isinstance(found, dict) else ():
                self._add_group(kind, name, group, file)
            if isinstance(found, dict):
                self.tree.setdefault(kind, {})
        for name, value in tree.items():
            if name not in kinds or not isinstance(value, dict):
                self.tree.setdefault(name, value)
                self.members.setdefault(name, file)
        self._follow(tree, file)
        self._take_schemas(tree, file)

    def _add_group(self, kind: str, name: str, group: Any, file: Path) -> bool:
        theirs = next((old for old, ours in SERVICE_COLLECTIONS.items() if ours == kind), kind)
        origin = self._parts.get((file, kind)) or self._parts.get((file, theirs)) or Origin(file)
        known = self.origins.get((kind, name))
        if known is not None and known.file.resolve() == origin.file.resolve():
            return False
        if known is not None:
            sentence = f"{known.file} has {kind} {name!r} as well."
            self.tell(Snag(origin.file, pointer((kind, name)), "group_twice", sentence))
            return False
        self.tree.setdefault(kind, {})[name] = group
        self.origins[kind, name] = origin
        return True

    def _follow(self, tree: Tree, file: Path) -> None:
        """Read what references of a file lead to, and write them as references within the one catalog."""
        for found in list(file_references(tree)):
            name, _, fragment = found.reference.partition("#")
            target = self._target(name, found, file)
            if target is not None:
                found.holder[found.key] = as_xid("#" + fragment)
                self._include(target, as_xid("#" + fragment))

    def _take_schemas(self, tree: Tree, file: Path) -> None:
        """Read the documents of schemas that are in files of their own."""
        for found in list(schema_files(tree)):
            target = self._target(found.reference, found, file)
            if target is not None:
                del found.holder[found.key]
                found.holder.update(schema_content(target, self.settings))

    def _target(self, name: str, found: FileReference, file: Path) -> Path | None:
        """The file that a reference names; None, and a snag, when it is not there or outside of the folder."""
        target = self._inside(name, file)
        if target is None:
            sentence = f"{found.reference} leads out of the folder; it is not read."
            self.tell(Snag(file, pointer(found.steps), "file_outside", sentence))
        elif not target.is_file():
            sentence = f"{found.reference} leads to a file that is not there."
            self.tell(Snag(file, pointer(found.steps), "file_missing", sentence))
            return None
        return target

    def _include(self, target: Path, xid: str) -> None:
        """Take the group of another file into the catalog, unless that file belongs to it anyway."""
        reading = None if self.is_folder else self._file(target)
        steps = xid.split("/")[1:]
        found = reading.tree.get(steps[0]) if reading is not None else None
        group = found.get(steps[1]) if isinstance(found, dict) and len(steps) > 1 else None
        given = {file.resolve(): file for file in self.readings}
        home = given.get(target.resolve(), target)
        if isinstance(group, dict) and self._add_group(steps[0], steps[1], group, home):
            self._follow({steps[0]: {steps[1]: group}}, home)

"""Catalogs in files of any dialect: one file, or a folder whose files together are one catalog.

Parts of a file may be in another (`schemaGroupsUrl`), and references may lead to groups of another
(`orders.cereg#/definitionGroups/…`). Nothing outside of the folder is read. What is on a server is fetched only where
the setting allow_fetch names its host.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote

from postroom.documents.dialects.convert import ParsedCatalog, read_tree
from postroom.documents.dialects.detect import dialect_of, with_schema_of
from postroom.documents.dialects.dialect import ReadNote, Tree
from postroom.documents.dialects.name_tables import RESOURCES, SERVICE_COLLECTIONS
from postroom.documents.dialects.references import as_xid, pointer_steps
from postroom.documents.dialects.walk_tree import group_types, groups, objects
from postroom.documents.media_types import form_of_type
from postroom.documents.read_files import RepeatedMember, document_files, parse_document, read_document
from postroom.documents.schema_files import schema_content
from postroom.errors import DocumentRefused, FileMissing
from postroom.model.json_pointers import pointer
from postroom.outbound.client import allowed_fetcher
from postroom.outbound.policy import FetchRefused, UrlRefused, check_host
from postroom.settings import Settings
from postroom.urls import join_url

_PARTS = ("endpoints", "definitionGroups", "schemaGroups", "messagegroups", "schemagroups")
_ALLOW = "Name the host in the setting allow_fetch, or put the document into this folder and refer to it there."
_NO_CATALOG = "this is no catalog: it has none of messagegroups, schemagroups, endpoints, nor their older names."
_ALONE = "A group alone goes under messagegroups/GROUP, a definition alone under messagegroups/GROUP/messages/MESSAGE."
# What a group or a definition has that is no document by itself.
_OF_ENTITIES = frozenset(("messages", "definitions", "envelope", "protocol", "metadata", "messageid", "messagegroupid"))

Code = Literal[
    "group_twice",
    "file_outside",
    "file_missing",
    "file_circle",
    "file_not_fetched",
    "member_twice",
    "member_conflict",
]


# A file, or the URL of a document that was fetched.
Place = Path | str


class FileProblem(NamedTuple):
    """What keeps files from being one catalog: the file, the pointer into its tree, a code and a sentence."""

    file: Place
    pointer: str
    code: Code
    sentence: str


class GroupOrigin(NamedTuple):
    """The file that a group was written in; in a file that is a part of another one, the path to the collection."""

    file: Place
    steps: tuple[str, ...] | None = None


def read_catalog(path: Path, settings: Settings, more_types: Collection[str] = ()) -> ParsedCatalog:
    """The catalog in a file or folder, with the dialects it was written in and what was understood differently.

    `more_types` are group types of other models than that of messages, which are not in the documents themselves.
    """
    notes: list[ReadNote] = []

    def report(problem: FileProblem) -> None:
        # A reference that leads nowhere leaves a catalog that can be used; a part that is missing does not.
        if problem.code in ("group_twice", "file_circle"):
            raise DocumentRefused(problem.sentence, place=str(problem.file))
        if problem.code in ("file_missing", "file_outside") and problem.pointer.count("/") == 1:
            raise (FileMissing if problem.code == "file_missing" else DocumentRefused)(
                problem.sentence, place=str(problem.file)
            )
        if problem.code == "file_not_fetched" and problem.pointer.endswith("Url"):  # a root of 0.5, as a file has it
            raise DocumentRefused(problem.sentence, place=f"{problem.file}#{problem.pointer}", remedy=_ALLOW)
        notes.append(ReadNote(f"{problem.file}#{problem.pointer}", problem.sentence))

    files = CatalogFiles(path, settings, partial(_parse, more_types), report, more_types)
    files.read()
    for file, parsed in files.parsed_files.items():
        notes += [ReadNote(f"{file}#{note.place}", note.sentence) for note in parsed.notes]
    dialects = dict.fromkeys(parsed.dialect for parsed in files.parsed_files.values())
    return ParsedCatalog(files.tree, ", ".join(dialects), tuple(notes))


def _parse(more_types: Collection[str], document: Tree) -> ParsedCatalog | None:
    parsed = read_tree(document)
    named = (*group_types(document), *more_types)
    if parsed is None and any(isinstance(document.get(group_type), dict) for group_type in named):
        return ParsedCatalog(document, "1.0-rc4")
    return parsed


class CatalogFiles:
    """The files of one catalog. `parse` makes a tree of a document; `report` gets every problem, and may raise."""

    def __init__(
        self,
        path: Path,
        settings: Settings,
        parse: Callable[[Tree], ParsedCatalog | None],
        report: Callable[[FileProblem], None],
        more_types: Collection[str] = (),
    ) -> None:
        self.path = path
        self.settings = settings
        self.parse = parse
        self.report = report
        self.more_types = more_types
        self.is_folder = path.is_dir()
        self.tree: Tree = {}
        self.origins: dict[tuple[str, str], GroupOrigin] = {}
        self.members: dict[str, Path] = {}
        self.documents: dict[Place, Tree] = {}
        self.parsed_files: dict[Path, ParsedCatalog] = {}
        self._parts: dict[tuple[Place, str], GroupOrigin] = {}
        self._known: dict[Place, ParsedCatalog | None] = {}

    @cached_property
    def root(self) -> Path:
        """The folder that nothing is read outside of."""
        return (self.path if self.is_folder else self.path.parent).resolve()

    def read(self) -> None:
        """All given files, and the groups they refer to."""
        for file in document_files(self.path):
            parsed = self._file(file)
            if parsed is not None:
                self._add(parsed, file)
            elif not self.is_folder:
                found = self.documents.get(file, {})
                remedy = "" if _OF_ENTITIES.isdisjoint(found) else _ALONE
                raise DocumentRefused(_NO_CATALOG, place=str(file), remedy=remedy)
        if not self.parsed_files:
            raise DocumentRefused(
                "no file in this folder has messagegroups, schemagroups or endpoints.", place=str(self.path)
            )

    def _file(self, file: Place) -> ParsedCatalog | None:
        known = _resolved(file)
        if known not in self._known:
            found = self._object(file) if isinstance(file, Path) else self._fetched(file)
            document = self._whole(found, file, (known,))
            self._known[known] = self.parse(document)
        return self._known[known]

    def _object(self, file: Path) -> Tree:
        document = read_document(file, self.settings, lambda member: self.report(_member_twice(file, member)))
        if not isinstance(document, dict):
            raise DocumentRefused("a catalog is a JSON object.", place=str(file))
        self.documents[file] = with_schema_of(document, file.name)
        return self.documents[file]

    def _whole(self, document: Tree, file: Place, chain: tuple[Place, ...]) -> Tree:
        """The document with the parts that it has in other files."""
        whole = document
        for part in _PARTS:
            for member in (part + "Url", part + "url", part + "URL"):  # C-70
                address = document.get(member)
                if not isinstance(address, str) or part in document:
                    continue
                url = _url(address, file)
                if url and (error := self._fetch_error(url)):
                    self._report_part(file, member, "file_not_fetched", f"{address} is not fetched: {error}.")
                    continue
                found = self._part(url or address, part, member, file, chain)
                rest = {name: value for name, value in whole.items() if name != member}
                whole = rest if found is None else {**rest, part: found}
        return whole

    def _part(self, address: str, part: str, member: str, file: Place, chain: tuple[Place, ...]) -> Any:
        """The collection of groups that an address leads to; None where there is none, or it is read anyway."""
        name, _, fragment = address.partition("#")
        target: Place | None = name if isinstance(file, str) or "://" in name else self._inside(name, file)
        if target is None:
            self._report_part(
                file, member, "file_outside", f"{part} are in {address}, outside of the folder; it is not read."
            )
            return None
        if _resolved(target) in chain:
            circle = " → ".join(str(one).rpartition("/")[2] for one in (*chain, target))
            self._report_part(file, member, "file_circle", f"the files refer to each other in a circle: {circle}.")
            return None
        if isinstance(target, Path) and not target.is_file():
            self._report_part(file, member, "file_missing", f"{part} are in {address}, and there is no such file.")
            return None
        document = self._object(target) if isinstance(target, Path) else self._fetched(target)
        if self.is_folder and dialect_of(document) and isinstance(target, Path):
            return None  # it is one of the files of this catalog anyway
        document = self._whole(document, target, (*chain, _resolved(target)))
        steps = pointer_steps(fragment) or ((part,) if part in document else ())
        for step in steps:
            document = document.get(step, {}) if isinstance(document, dict) else {}
        self._parts[file, part] = GroupOrigin(target, steps)
        return document

    def _fetch_error(self, url: str) -> str:
        """Why a document cannot be fetched; empty when it is there."""
        try:
            self._fetched(url.partition("#")[0])
        except FetchRefused as refused:
            return str(refused)
        return ""

    def _fetched(self, url: str) -> Tree:
        """A document on a server that the setting allow_fetch names."""
        if url not in self.documents:
            settings = self.settings
            fetch = allowed_fetcher(settings.allow_fetch, settings.timeout_s, settings.max_document_mb)
            reply = fetch.fetch(url)
            if not reply.is_success:
                raise FetchRefused(f"it answers with status {reply.status}")
            document = parse_document(reply.body, url, settings, form_of_type(reply.headers.get("content-type", "")))
            if not isinstance(document, dict):
                raise DocumentRefused("a catalog is a JSON object.", place=url)
            self.documents[url] = with_schema_of(document, url.partition("?")[0])
        return self.documents[url]

    def _report_part(self, file: Place, member: str, code: Code, sentence: str) -> None:
        self.report(FileProblem(file, f"/{member}", code, sentence))

    def _inside(self, name: str, file: Path) -> Path | None:
        """The file a name means; None for one outside of the folder, also through a symbolic link."""
        target = file.parent / unquote(name)
        try:
            return target if target.resolve().is_relative_to(self.root) else None
        except (OSError, ValueError):
            return None

    def _add(self, parsed: ParsedCatalog, file: Path) -> None:
        self.parsed_files[file] = parsed
        tree = parsed.tree
        names = (*group_types(tree), *self.more_types)
        for group_type in names:
            found = tree.get(group_type)
            for name, group in found.items() if isinstance(found, dict) else ():
                self._add_group(group_type, name, group, file)
            if isinstance(found, dict):
                self.tree.setdefault(group_type, {})
        for name, value in tree.items():
            if name not in names or not isinstance(value, dict):
                self.tree.setdefault(name, value)
                self.members.setdefault(name, file)
        self._follow(tree, file)
        self._inline_schemas(tree, file)

    def _add_group(self, group_type: str, name: str, group: Any, file: Place) -> bool:
        theirs = next((old for old, ours in SERVICE_COLLECTIONS.items() if ours == group_type), group_type)
        origin = self._parts.get((file, group_type)) or self._parts.get((file, theirs)) or GroupOrigin(file)
        known = self.origins.get((group_type, name))
        if known is not None and _resolved(known.file) == _resolved(origin.file):
            return False
        if known is not None:
            sentence = f"{known.file} has {group_type} {name!r} as well."
            self.report(FileProblem(origin.file, pointer((group_type, name)), "group_twice", sentence))
            return False
        self.tree.setdefault(group_type, {})[name] = group
        self.origins[group_type, name] = origin
        return True

    def _follow(self, tree: Tree, file: Place) -> None:
        """Read what references of a file lead to, and write them as references within the one catalog."""
        for found in list(file_references(tree)):
            name, _, fragment = found.reference.partition("#")
            url = _url(found.reference, file)
            target = self._fetched_target(url, found, file) if url else self._target(name, found, file)
            if target is not None:
                found.holder[found.key] = as_xid("#" + fragment)
                self._include(target, as_xid("#" + fragment))

    def _fetched_target(self, url: str, found: FileReference, file: Place) -> str | None:
        """The document on a server that a reference leads to; None where it stays a reference to somewhere else."""
        found.holder[found.key] = url
        document = url.partition("#")[0]
        try:
            check_host(document, self.settings.allow_fetch)
        except UrlRefused:
            return None
        if found.steps[2] != "messagegroups":
            return None  # schemas and base messages are fetched when they are needed
        if error := self._fetch_error(url):
            self.report(FileProblem(file, pointer(found.steps), "file_not_fetched", f"{url} is not fetched: {error}."))
            return None
        return document

    def _inline_schemas(self, tree: Tree, file: Path) -> None:
        """Read the documents of schemas that are in files of their own."""
        for found in list(schema_file_references(tree)):
            target = self._target(found.reference, found, file)
            if target is not None:
                del found.holder[found.key]
                found.holder.update(schema_content(target, self.settings))

    def _target(self, name: str, found: FileReference, file: Place) -> Path | None:
        """The file that a reference names; None, and a problem, when it is not there or outside of the folder."""
        target = self._inside(name, Path(file))
        if target is None:
            sentence = f"{found.reference} leads out of the folder; it is not read."
            self.report(FileProblem(file, pointer(found.steps), "file_outside", sentence))
        elif not target.is_file():
            sentence = f"{found.reference} leads to a file that is not there."
            self.report(FileProblem(file, pointer(found.steps), "file_missing", sentence))
            return None
        return target

    def _include(self, target: Place, xid: str) -> None:
        """Take the group of another file into the catalog, unless that file belongs to it anyway."""
        parsed = None if self.is_folder and isinstance(target, Path) else self._file(target)
        steps = xid.split("/")[1:]
        found = parsed.tree.get(steps[0]) if parsed is not None else None
        group = found.get(steps[1]) if isinstance(found, dict) and len(steps) > 1 else None
        given: dict[Place, Place] = {file.resolve(): file for file in self.parsed_files}
        home = given.get(_resolved(target), target)
        if isinstance(group, dict) and self._add_group(steps[0], steps[1], group, home):
            self._follow({steps[0]: {steps[1]: group}}, home)


def _resolved(place: Place) -> Place:
    return place.resolve() if isinstance(place, Path) else place


def _url(address: str, file: Place) -> str:
    """The URL that an address in a file means; empty when it is that of another file."""
    if "://" in address:
        return address
    return (join_url(file, address) or "") if isinstance(file, str) else ""


def _member_twice(file: Path, member: RepeatedMember) -> FileProblem:
    name = member.pointer.rpartition("/")[2].replace("~1", "/").replace("~0", "~")
    if member.differs:
        sentence = f"{name} is there twice with different values, of which the last one counts. Keep the one you mean."
        return FileProblem(file, member.pointer, "member_conflict", sentence)
    return FileProblem(file, member.pointer, "member_twice", f"{name} is there twice with the same value. Keep one.")


class FileReference(NamedTuple):
    """A reference to another file, the path to it in the tree, and the object or list that holds it under a key."""

    steps: tuple[str | int, ...]
    holder: Any
    key: Any
    reference: str


def file_references(tree: Tree) -> Iterator[FileReference]:
    """All references to other files: message groups of endpoints, bases and schemas of messages."""
    for group_type, name, group in groups(tree):
        listed = group.get("messagegroups") if group_type == "endpoints" else None
        for position, reference in enumerate(listed if isinstance(listed, list) else ()):
            if is_file_reference(reference) or is_document_url(reference):
                yield FileReference((group_type, name, "messagegroups", position), listed, position, reference)
        if RESOURCES[group_type] != "messages":
            continue
        for message_id, message in objects(group, "messages").items():
            for key in ("basemessage", "dataschemauri"):
                if key in message and is_file_reference(message[key]):
                    yield FileReference((group_type, name, "messages", message_id, key), message, key, message[key])


def schema_file_references(tree: Tree) -> Iterator[FileReference]:
    """All Versions of schemas whose document is in a file: `schemaurl: schemas/loaf.avsc`."""
    for group_type, name, group in groups(tree):
        for schema_id, schema in objects(group, "schemas").items() if group_type == "schemagroups" else ():
            steps: tuple[str, ...] = (group_type, name, "schemas", schema_id)
            holders = [(steps, schema)]
            holders += [((*steps, "versions", each), version) for each, version in objects(schema, "versions").items()]
            for above, holder in holders:
                address = holder.get("schemaurl")
                if isinstance(address, str) and is_file_name(address):
                    yield FileReference((*above, "schemaurl"), holder, "schemaurl", address)


def is_file_name(address: str) -> bool:
    """Whether an address names a file beside the one it stands in, and nothing on the network or in a catalog."""
    is_elsewhere = address.startswith(("#", "/", "urn:")) or "://" in address
    return bool(address) and not is_elsewhere and "#" not in address


def is_file_reference(reference: Any) -> bool:
    """Whether it names a file and a pointer into it, and no service."""
    if not isinstance(reference, str) or reference.startswith(("#", "/")) or "://" in reference:
        return False
    name, separator, fragment = reference.partition("#")
    return bool(separator and name and fragment.startswith("/")) and not name.startswith("urn:")


def is_document_url(reference: Any) -> bool:
    """Whether it leads into a document on a server: a pointer follows the URL."""
    return isinstance(reference, str) and reference.startswith(("http://", "https://")) and "#/" in reference

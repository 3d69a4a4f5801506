"""Entities as the registry stores them and as 0.5 shows them, and the order of their versions."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable
from typing import Any

import msgspec

from postroom.documents.dialects.dialect import Tree
from postroom.documents.dialects.name_tables import OLD_MESSAGE_ATTRIBUTES
from postroom.documents.dialects.preserved_members import EXTRAS
from postroom.documents.dialects.references import as_pointer, as_xid
from postroom.http.v0_5.names import plural, singular, uri_name, v0_5_path
from postroom.http.v0_5.translate import (
    HIDDEN,
    EntityTranslation,
    extras_below,
    extras_in,
    group_translation,
    resource_translation,
)
from postroom.messages.definitions.catalog_tree import version_order
from postroom.messages.definitions.inheritance import base_reference
from postroom.model.types import GroupType, ResourceType
from postroom.registry.entities import Document, Entity
from postroom.registry.paths import EntityPath
from postroom.registry.query.inline import NOTHING, Inline
from postroom.registry.read.document_content import inline_form
from postroom.registry.read.tree import ResourceTree, VersionTree, read_collection, read_entity, require_entity
from postroom.registry.transaction_interface import Transaction

COMMON = (
    *("id", "name", "description", "tags", "version", "epoch", "self"),
    *("createdBy", "createdOn", "modifiedBy", "modifiedOn", "docs", "type", "format"),
)
"""Attributes of Resources that 0.5 has in headers: its own, and the one that both domains add."""
OF_THE_SERVER = ("id", "version", "epoch", "self")
_CONTENT = frozenset((*OLD_MESSAGE_ATTRIBUTES.values(), "metadata", "uri", "definition"))
_NOT_IN_CONTENT = ("version", "epoch", "self", "createdOn", "modifiedOn")
_LONGEST_CHAIN = 100
_DOTTED = re.compile(r"(\d{1,18})((?:\.\d+)*)\Z", re.ASCII)
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_WITH_VERSIONS = Inline(names={"versions": NOTHING})


class GroupView(msgspec.Struct, frozen=True, kw_only=True):
    """A Group; `document` has its attributes only."""

    group_type: GroupType
    entity: Entity
    translation: EntityTranslation
    stored: Tree
    document: Tree


class VersionView(msgspec.Struct, frozen=True, kw_only=True):
    """A Version of a Resource; `document` says all of it but the bytes of its document."""

    path: EntityPath
    tree: VersionTree
    translation: EntityTranslation
    stored: Tree
    document: Tree
    xref: str = ""

    @property
    def resource_type(self) -> ResourceType:
        """The type of the Resource."""
        return self.path.resource

    @property
    def uri(self) -> str:
        """Where the Resource is, when it is not stored here."""
        found: str = self.document.get(uri_name(self.resource_type), "")
        return found

    @property
    def metadata(self) -> Tree:
        """What `?meta` shows. Where a Resource is its attributes, those of its type are its content, extensions not."""
        if self.resource_type.hasdocument:
            return self.document
        return {name: value for name, value in self.document.items() if self.is_metadata(name, value)}

    def is_metadata(self, name: str, value: Any) -> bool:
        """Whether an attribute can stand in a header: a common one, or an extension that is a plain value."""
        if name in (*COMMON, uri_name(self.resource_type)):
            return True
        is_content = name in _CONTENT or name in self.resource_type.attributes
        return not is_content and isinstance(value, str | int | float)

    @property
    def content(self) -> Tree:
        """The entity that a Resource without a document is."""
        left_out = (*_NOT_IN_CONTENT, uri_name(self.resource_type))
        return {} if self.uri else {name: one for name, one in self.document.items() if name not in left_out}

    @property
    def inlined(self) -> Tree:
        """The member that carries the content inside of JSON: `RESOURCE`, or `RESOURCEBase64`.

        "Embedded schema string or object": a string is the text of a document, so JSON that is a string is text, too.
        """
        if self.uri:
            return {}
        if not self.resource_type.hasdocument:
            return {plural(self.resource_type).removesuffix("s"): self.content}
        entity, one = self.tree.entity, singular(self.resource_type)
        content = (entity.document or Document()).content
        form = inline_form(self.resource_type, entity.attributes.get("contenttype"))
        value = _json_value(content) if form == "json" else None
        text = _text(content) if value is None or isinstance(value, str) else None
        shown = value if text is None else text
        return {one + "Base64": base64.b64encode(content).decode()} if shown is None else {one: shown}


def _json_value(content: bytes) -> Any:
    """What JSON says; None for null, and for what is no JSON."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def _text(content: bytes) -> str | None:
    """A text; None where there is none, or where the bytes are something else."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return None
    return text if text and not _CONTROL.search(text) else None


def _plain(attributes: Tree) -> Tree:
    return {name: value for name, value in attributes.items() if name not in HIDDEN}


def _timed(entity: Entity) -> Tree:
    times = {"createdat": entity.createdat, "modifiedat": entity.modifiedat}
    return {**_plain(entity.attributes), **times, EXTRAS: extras_in(entity.attributes)}


def version_number(version_id: str) -> int | str:
    """A version as 0.5 writes it: a number where it is one."""
    is_number = version_id.isascii() and version_id.isdigit() and str(int(version_id)) == version_id
    return int(version_id) if is_number else version_id


def next_version(tx: Transaction, path: EntityPath) -> str | None:
    """The id that makes a new version the latest; None where the registry's own count does."""
    ids = [entity.id for entity in tx.entities(f"{path.xid}/versions")]
    number = require_entity(tx, path.xid).counter + 1
    while str(number) in ids:
        number += 1
    latest = max(ids, key=version_order, default="0")
    if not path.resource.setversionid or version_order(str(number)) > version_order(latest):
        return None
    return following_version(latest)


def following_version(latest: str) -> str:
    """An id after the latest in the order of versions, in its form where that is made of numbers."""
    found = _DOTTED.match(latest)
    if found is None:
        return "1" + "0" * len(latest)
    return str(int(found[1]) + 1).zfill(len(found[1])) + re.sub(r"\d", "0", found[2])


class EntityViews:
    """Reads views in one transaction; URLs begin with the base."""

    def __init__(self, tx: Transaction, base: str) -> None:
        self.tx = tx
        self.base = base

    def group(self, group_type: GroupType, entity: Entity) -> GroupView:
        """A Group."""
        translation = group_translation(group_type)
        written = translation.write(_timed(entity))
        document = {
            "id": entity.id,
            "name": written.get("name") or entity.id,
            "epoch": entity.epoch,
            "self": self.base + v0_5_path(entity.xid),
            **{name: value for name, value in written.items() if name not in (*OF_THE_SERVER, "name")},
        }
        return GroupView(
            group_type=group_type,
            entity=entity,
            translation=translation,
            stored=_plain(entity.attributes),
            document=document,
        )

    def latest(self, path: EntityPath) -> VersionView:
        """The Resource at a path: its latest version, whichever Version is the default in 1.0."""
        tree = read_entity(self.tx, path, _WITH_VERSIONS)
        if not isinstance(tree, ResourceTree):
            raise TypeError(path.xid)
        return self._latest(path, tree)

    def version(self, path: EntityPath) -> VersionView:
        """The version at a path."""
        tree = read_entity(self.tx, path, NOTHING)
        if not isinstance(tree, VersionTree):
            raise TypeError(path.xid)
        return self._state(_resource_of(path), tree, self._xref(path))

    def versions(self, path: EntityPath, only: Iterable[str] | None = None) -> dict[str, VersionView]:
        """The versions in a collection, oldest first."""
        found: dict[str, Any] = dict(read_collection(self.tx, path, NOTHING, only))
        resource, xref = _resource_of(path), self._xref(path)
        return {one: self._state(resource, found[one], xref) for one in sorted(found, key=version_order)}

    def resources(self, path: EntityPath, only: Iterable[str] | None = None) -> dict[str, VersionView]:
        """The latest versions of the Resources in a collection."""
        inline = NOTHING if path.resource.maxversions == 1 else _WITH_VERSIONS
        found: dict[str, Any] = dict(read_collection(self.tx, path, inline, only))
        paths = {one: msgspec.structs.replace(path, kind="resource", xid=f"{path.xid}/{one}") for one in found}
        return {one: self._latest(paths[one], tree) for one, tree in found.items()}

    def absent(self, path: EntityPath) -> VersionView:
        """A Resource that does not exist yet, without any attributes."""
        nothing = Entity(xid=f"{path.xid}/versions/0", epoch=0, createdat="", modifiedat="")
        translation = self._words(path, nothing, require_entity(self.tx, path.group_xid))
        tree = VersionTree(xid=nothing.xid, resource_id=path.ids[3], type=path.resource, entity=nothing, isdefault=True)
        return VersionView(path=path, tree=tree, translation=translation, stored={}, document={})

    def _xref(self, path: EntityPath) -> str:
        xref: str = require_entity(self.tx, path.resource_xid).attributes.get("xref", "")
        return xref

    def _latest(self, path: EntityPath, tree: ResourceTree) -> VersionView:
        versions = tree.versions or {}
        newest = versions[max(versions, key=version_order)] if versions else tree.default
        return self._state(path, newest or _nowhere(tree), tree.xref)

    def _words(self, path: EntityPath, entity: Entity, group: Entity) -> EntityTranslation:
        around = _bases(self.tx, entity.attributes)
        return resource_translation(path.group, path.resource, path.xid, _plain(group.attributes), around)

    def _state(self, path: EntityPath, tree: VersionTree, xref: str) -> VersionView:
        group, entity = require_entity(self.tx, path.group_xid), tree.entity
        translation = self._words(path, entity, group)
        below = extras_below(group.attributes, path.resource, path.ids[3], entity.id)
        extras = [*extras_in(entity.attributes), *below]
        written = translation.write({**_timed(entity), EXTRAS: extras})
        elsewhere = _elsewhere(path.resource, entity, written)
        document = {
            "id": path.ids[3],
            "name": written.get("name") or path.ids[3],
            "version": version_number(entity.id),
            "epoch": entity.epoch,
            "self": self.base + v0_5_path(tree.xid),
            **{name: value for name, value in written.items() if name not in (*OF_THE_SERVER, "name")},
            **({"uri": as_pointer(xref, service=True)} if xref else {}),
            **elsewhere,
        }
        if path.resource.plural == "messages" and not elsewhere:
            # D5R-039: a definition always has metadata, and those of CloudEvents are nested.
            is_event = str(document.get("format", "")).lower().startswith("cloudevents")
            document.setdefault("metadata", {"attributes": {}} if is_event else {})
        stored = _plain(entity.attributes)
        return VersionView(path=path, tree=tree, translation=translation, stored=stored, document=document, xref=xref)


def _resource_of(path: EntityPath) -> EntityPath:
    return msgspec.structs.replace(path, kind="resource", xid=path.resource_xid)


def _nowhere(tree: ResourceTree) -> VersionTree:
    """What a reference to nowhere shows: that it is one."""
    empty = msgspec.structs.replace(tree.meta, xid=f"{tree.xid}/versions/0", attributes={})
    return VersionTree(xid=empty.xid, resource_id=tree.id, type=tree.type, entity=empty, isdefault=True)


def stored_uri(resource_type: ResourceType) -> str:
    """Under which name the registry keeps where a Resource is."""
    return resource_type.singular + "url" if resource_type.hasdocument else uri_name(resource_type).lower()


def _elsewhere(resource_type: ResourceType, entity: Entity, written: Tree) -> Tree:
    if not resource_type.hasdocument:
        uri = written.get(stored_uri(resource_type))
        if not isinstance(uri, str) or not uri:
            return {}
        del written[stored_uri(resource_type)]
        return {uri_name(resource_type): uri}
    uri = entity.document.url if entity.document else ""
    return {uri_name(resource_type): uri, stored_uri(resource_type): uri} if uri else {}


def _bases(tx: Transaction, message: Tree) -> Tree:
    """The messages that one derives from, as far as they are in this registry."""
    around: Tree = {}
    for _ in range(_LONGEST_CHAIN):
        reference = as_xid(base_reference(message))
        parts = str(reference).split("/")
        base = _stored_message(tx, parts) if reference.startswith("/") and len(parts) in (5, 7) else None
        if base is None or parts[4] in around.get(parts[1], {}).get(parts[2], {}).get("messages", {}):
            break
        group = tx.entity("/".join(parts[:3]))
        owner = around.setdefault(parts[1], {}).setdefault(parts[2], _plain(group.attributes) if group else {})
        owner.setdefault("messages", {})[parts[4]] = {"versions": {parts[6]: base}} if len(parts) > 5 else base
        message = base
    return around


def _stored_message(tx: Transaction, parts: list[str]) -> Tree | None:
    xid = "/".join(parts[:5])
    meta = tx.entity(xid)
    if meta is not None and "xref" in meta.attributes:
        xid = meta.attributes["xref"]
        meta = tx.entity(xid)
    if meta is None:
        return None
    chosen = parts[6] if len(parts) > 5 else meta.attributes.get("defaultversionid", "")
    version = tx.entity(f"{xid}/versions/{chosen}")
    return None if version is None else version.attributes
